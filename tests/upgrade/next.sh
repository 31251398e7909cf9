#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes the version after this one, for tests/net/upgrade.sh: the same sources with the next ABI number, a
# larger value, another size of a map, and a map of another name.
#
#	tests/upgrade/next.sh DIRECTORY VERSION
set -eu -o pipefail
cd "$(dirname "$0")/../.."

directory=$1
version=$2
mkdir -p "$directory/tests"
cp -r Makefile bpf include lib user scripts "$directory"
cp -r tests/faults "$directory/tests"
abi=$(sed -n 's/^#define XDP_LIMIT_ABI \([0-9]*\)$/\1/p' include/abi.h)

sed -e "s/^#define XDP_LIMIT_ABI .*/#define XDP_LIMIT_ABI $((abi + 1))/" \
	-e 's/^#define GUARD_CAPACITY .*/#define GUARD_CAPACITY 32/' \
	-e 's/^struct switches {/&\n\t__u64 of_the_next[4];/' include/abi.h >"$directory/include/abi.h.tmp"
if [ "$(diff include/abi.h "$directory/include/abi.h.tmp" | grep -c '^>')" -ne 3 ]; then
	echo "next.sh: include/abi.h is not what it expects" >&2
	exit 1
fi
mv "$directory/include/abi.h.tmp" "$directory/include/abi.h"
sed -i 's/\bledger SEC(/ledger_2 SEC(/' "$directory/bpf/maps.h"
sed -i 's/= "ledger",/= "ledger_2",/' "$directory/user/kernel_running.c"
"${MAKE:-make}" -C "$directory" BUILD=build VERSION="$version.1" all >/dev/null
