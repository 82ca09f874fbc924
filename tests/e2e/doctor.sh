#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usher doctor: says what this kernel has, exits 0 where run works.
. "$(dirname "$0")/lib.sh"
fresh
out=$("$USHER" doctor 2>&1)
rc=$?
if [ $rc = 0 ]; then ok "status 0 on a kernel that has what run needs"; else not_ok "doctor exits $rc" "$out"; fi
for w in unix-names vacant-ports filter landlock pidfd sync-wake-up wait-killable ptrace; do
	if grep -qi -- "$w" <<<"$out"; then ok "names $w"; else not_ok "names $w" "$out"; fi
done
# In a pid namespace that has another's /proc each number leads to another process: run says what to do, and doctor.
if unshare -pf --mount-proc true 2>/dev/null; then
	within() { unshare -pf "$@"; } # [--mount-proc] COMMAND...
elif unshare -rpf --mount-proc true 2>/dev/null; then
	within() { unshare -rpf "$@"; }
fi
if declare -F within >/dev/null; then
	same "the control: a pid namespace with its own /proc" 3 "$(within --mount-proc "$USHER" run -p "$T/etc/allow.rules" --journal "$T/own" -- sh -c 'exit 3' >/dev/null 2>&1; echo $?)"
	out=$(within "$USHER" run -p "$T/etc/allow.rules" --journal "$T/foreign" -- sh -c 'exit 3' 2>&1)
	same "one with another's /proc: run ends with 125 and says why" "125 mount this one's there" "$? $(grep -o "mount this one's there" <<<"$out")"
	out=$(within "$USHER" doctor 2>&1)
	same "and doctor with 1" "1 missing  proc" "$? $(grep -o '^missing  proc' <<<"$out")"
else
	skip "a pid namespace with another's /proc"
fi
# What it says of each namespace is what run then does, also where parts of /proc are hidden, as in most containers. Not in /tmp, which mount empties.
away=/var/tmp/usher-doctor.$$
mkdir -p $away && at_exit "rm -rf $away" && cp "$USHER" "$T/etc/allow.rules" $away
agrees() { # WHAT COMMAND...
	local w said did
	"${@:2}" $away/usher doctor >"$T/doctor" 2>&1
	for w in pid ipc uts cgroup net mount; do
		said=$(awk -v n="namespace-$w" '$2 == n { print $1 == "ok" ? "works" : "does not" }' "$T/doctor")
		did=$(cd / && "${@:2}" $away/usher run -p $away/allow.rules --isolate=$w --journal "$away/j$RANDOM" -- true >"$T/out" 2>&1 && echo works || echo "does not")
		same "$1: --isolate=$w" "$did" "$said"
	done
}
agrees "here" env
if unshare -rm true 2>/dev/null; then
	agrees "parts of /proc are hidden" unshare -rm sh -c 'mount --bind /dev/null /proc/version && exec unshare -rm "$@"' sh
else
	skip "parts of /proc are hidden" "no user namespaces"
fi
# Inside a session the filter's one listener is taken: doctor says so with status 1 and run refuses with 125.
supervise allow "$USHER" doctor >"$T/doctor" 2>&1
same "status 1 inside a session" 1 $?
supervise allow "$USHER" run -p "$T/etc/allow.rules" --journal "$T/l" -- true >"$T/out" 2>&1
same "run inside run ends with 125" 125 $?
check "and doctor says why" grep -q '^missing  outside' "$T/doctor"
same "run inside run says why, and nothing else" 1 "$(grep -c '^usher: this is inside a session of usher already' "$T/out")$(grep -v '^usher: this is inside' "$T/out")"
# With the rules of the session itself, which are out of reach, with namespaces, and where nobody can keep a journal.
supervise allow "$USHER" run -p "$T/etc/allow.rules" --isolate=pid -- true >"$T/out" 2>&1
same "whatever else could be said" "usher: this is inside a session" "$(head -c 31 "$T/out")"
finish
