#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usher doctor: says what this kernel has, exits 0 where run works.
. "$(dirname "$0")/lib.sh"
fresh
out=$("$USHER" doctor 2>&1)
rc=$?
if [ $rc = 0 ]; then ok "status 0 on a kernel that has what run needs"; else not_ok "doctor exits $rc" "$out"; fi
for w in filter landlock pidfd sync-wake-up wait-killable ptrace; do
	if grep -qi -- "$w" <<<"$out"; then ok "names $w"; else not_ok "names $w" "$out"; fi
done
# Inside a session the filter's one listener is taken: doctor says so with status 1 and run refuses with 125.
supervise allow "$USHER" doctor >"$T/out" 2>&1
same "status 1 inside a session" 1 $?
supervise allow "$USHER" run -p "$T/etc/allow.rules" --journal "$T/l" -- true >"$T/out" 2>&1
same "run inside run ends with 125" 125 $?
if grep -q '^usher' "$T/out"; then ok "and says why"; else not_ok "and says why" "$(cat "$T/out")"; fi
finish
