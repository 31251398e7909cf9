#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Links build/static/xdp-limit, which needs no library at run time, of Debian's static libraries.
#
#	scripts/static.sh OBJECT...
set -eu -o pipefail
cd "$(dirname "$0")/.."

directory=build/static
libraries=(microhttpd xdp bpf elf z nl-3 json-c yaml ncurses tinfo)
# What the C library would load libraries for at run time, to look names up. Only libnl calls it, for what nobody
# here asks of libnl: traps, too.
loading=(getaddrinfo getnameinfo getprotobyname getprotobynumber)
compiler=${CC:-cc}

# archive_of NAME: where libNAME.a is; its bare name when there is none
archive_of() {
	$compiler -print-file-name="lib$1.a"
}

has_archive() {
	local file

	file=$(archive_of "$1")
	[ -e "$file" ]
}

# Debian's libmicrohttpd.a can do HTTPS, by GnuTLS, of which there is no static library. HTTPS is never turned
# on here, so of GnuTLS only its beginning and its end are called, and these may do nothing. All else is a trap;
# GnuTLS's allocators are variables, and point nowhere.
without_gnutls() {
	local symbol

	for symbol in $(nm --quiet --undefined-only "$(archive_of microhttpd)" | grep -o '\bgnutls_[a-z0-9_]*' | sort -u); do
		case $symbol in
		gnutls_global_init | gnutls_global_deinit) echo "int $symbol(void) { return 0; }" ;;
		gnutls_malloc | gnutls_calloc | gnutls_realloc | gnutls_strdup | gnutls_free) echo "void *$symbol;" ;;
		*) echo "void $symbol(void) { __builtin_trap(); }" ;;
		esac
	done
}

for library in "${libraries[@]}"; do
	has_archive "$library" || {
		echo "static: lib$library.a is missing: scripts/setup.sh build" >&2
		exit 1
	}
done
# libelf of newer systems compresses with it.
! has_archive zstd || libraries+=(zstd)
mkdir -p "$directory"
{
	without_gnutls
	printf 'void __wrap_%s(void) { __builtin_trap(); }\n' "${loading[@]}"
} >"$directory/traps.c"
$compiler -static "$@" "$directory/traps.c" "${loading[@]/#/-Wl,--wrap=}" "${libraries[@]/#/-l}" -o "$directory/xdp-limit"
echo "$directory/xdp-limit: needs no library at run time"
