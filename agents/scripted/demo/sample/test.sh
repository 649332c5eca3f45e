#!/bin/sh
# Checks src/total.sh; exits 1 when a sum is wrong.
set -u
failed=0

check() {
	want=$1
	shift
	got=$(sh src/total.sh "$@")
	if [ "$got" = "$want" ]; then
		echo "ok: total of '$*' is $got"
	else
		echo "FAIL: total of '$*' is $got, want $want"
		failed=1
	fi
}

check 0
check 6 1 2 3
check 40 42 -2
exit $failed
