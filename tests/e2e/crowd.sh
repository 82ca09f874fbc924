#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# quick: 1000
# While a few callers interleave a call that one worker takes in is served by another, and waits for nobody to look after it.
. "$(dirname "$0")/lib.sh"
fresh
cat >"$T/etc/few.sh" <<'EOS'
# A few pipelines at a time, as configure and make have them, that come and go.
for ((i = 0; i < 60; i++)); do
	for ((k = 0; k < 1 + i % 5; k++)); do
		{ cat /etc/passwd | sed 's/a/b/' | tail -n 1 >/dev/null; read -r x </etc/hostname; cat nothing; } 2>/dev/null &
	done
	wait
	cat /etc/passwd | sed s/a/b/ >out
done
EOS
# On a machine that is busy with others a worker may be kept from its call for as long as the watch waits: three tries.
for try in 1 2 3; do
	rm -rf "$T/j"
	"$USHER" run --profile -p "$T/etc/allow.rules" --journal "$T/j" -- bash "$T/etc/few.sh" >/dev/null 2>"$T/err"
	status=$?
	nudged=$(sed -n 's/^usher: profile: nudged *//p' "$T/err" | cut -d' ' -f 1)
	[ "$nudged" != 0 ] || break
done
same "it ends well" 0 "$status"
same "no call waits until somebody looks" 0 "$nudged"
check "the journal is whole" "$USHER" verify "$T/j"
finish
