# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2034 # sourced; it sets what its users read
# Tests of `serve`: it listens on this machine's loopback, on a port that the kernel chooses, and reads in $SRV.
# shellcheck source-path=SCRIPTDIR source=policy.sh
. "$(dirname "${BASH_SOURCE[0]}")/policy.sh"

BASE=
PORT=
SERVE=
CODE=
BODY=
HEADERS=

[ "$(command -v curl)" ] || skip "needs curl"

listening() {
	grep -q 'serving on http' "$SCRATCH/serve.log"
}

# serve [OPTION...]: in the background; sets SERVE, PORT and BASE
serve() {
	background SERVE limit serve --listen 127.0.0.1:0 "$@" 2>"$SCRATCH/serve.log"
	wait_for 5 listening
	BASE=$(sed -n 's/.*serving on \(http:.*\)\/$/\1/p' "$SCRATCH/serve.log")
	PORT=${BASE##*:}
}

# ask [CURL-OPTION...] PATH: sets CODE, BODY, HEADERS
ask() {
	CODE=$(curl -sS --max-time 10 -o "$SCRATCH/body" -D "$SCRATCH/headers" -w '%{http_code}' \
		"${@:1:$#-1}" "$BASE${!#}") || fail "curl: $*"
	BODY=$(cat "$SCRATCH/body")
	HEADERS=$(tr -d '\r' <"$SCRATCH/headers")
}

# expect_code CODE [CURL-OPTION...] PATH
expect_code() {
	ask "${@:2}"
	[ "$CODE" = "$1" ] || fail "$CODE, not $1: ${*:2}"$'\n'"$BODY"
}

# refuses CODE REGEX [CURL-OPTION...] PATH: with a reason in JSON
refuses() {
	expect_code "$1" "${@:3}"
	jq -re .error <<<"$BODY" 2>/dev/null | grep -Eq -- "$2" ||
		fail "the reason of ${*:3} does not match '$2': $BODY"
}

body_field() {
	jq -r "$1" <<<"$BODY"
}

header() {
	sed -n "s/^$1: //Ip" <<<"$HEADERS"
}

# metric NAME [LABEL-REGEX]: the sum over its samples
metric() {
	ask /metrics
	metric_of "$@"
}

metric_of() {
	awk -v name="$1" -v labels="${2-}" '
		index($1, name "{") == 1 && $1 ~ labels { sum += $2; found = 1 }
		END { if (!found) print "none"; else printf "%d\n", sum }' <<<"$BODY"
}
