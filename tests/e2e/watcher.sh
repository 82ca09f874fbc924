#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usher's own processes while a command runs: every thread confined, nothing dumpable, nothing inherited, one holder of the listener.
. "$(dirname "$0")/lib.sh"

fresh
mkfifo "$T/hold"
supervise agent sh -c "cat '$T/hold' >/dev/null; exit 0" 2>"$T/err" &
shell=$!
exec 9<>"$T/hold" # nobody waits for the other end
at_exit "exec 9>&-"

# All below the shell that started usher, by what they are called.
family() { # PID
	local c
	for c in $(cat "/proc/$1/task/"*/children 2>/dev/null); do
		echo "$c"
		family "$c"
	done
}
named() { # NAME
	local p
	for p in $(family $$); do
		[ "$(cat "/proc/$p/comm" 2>/dev/null)" = "$1" ] && echo "$p" && return
	done
	return 1
}
started() { named guardian >/dev/null && family $$ | xargs -I{} cat /proc/{}/comm 2>/dev/null | grep -qx cat; }
wait_for started || { not_ok "usher starts" "$(cat "$T/err")"; finish; }
usher=$(named usher) keeper=$(named doorkeeper) guardian=$(named guardian)

field() { sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status"; } # PID[/task/TID] NAME
for name in usher keeper guardian; do
	p=${!name} threads=0 open=()
	for t in /proc/$p/task/*; do
		threads=$((threads + 1))
		t=${t#/proc/}
		[ "$(field "$t" NoNewPrivs)" = 1 ] || open+=("$t: may gain privileges")
		[ "$(field "$t" Seccomp)" = 2 ] || open+=("$t ($(field "$t" Name)): no filter")
	done
	same "$name: every thread ($threads) has a filter and no_new_privs" "" "${open[*]}"
	check "$name: no core dumps" grep -q '^Max core file size  *[01]  *[01] ' "/proc/$p/limits"
	same "$name: not dumpable: its files are root's" 0 "$(stat -c %u "/proc/$p/fd")"
	if ! is_root; then
		check "$name: cannot be read by its user" sh -c "! ls /proc/$p/fd >/dev/null 2>&1 && ! cat /proc/$p/environ >/dev/null 2>&1"
		check "$name: the control: a process of the same user can" ls /proc/self/fd
		continue
	fi
	left=()
	for f in /proc/$p/fdinfo/*; do
		n=${f##*/}
		flags=$(sed -n 's/^flags:[[:space:]]*//p' "$f" 2>/dev/null)
		[ "$n" -le 2 ] || [ -z "$flags" ] || [ $((flags & 02000000)) != 0 ] || left+=("$n -> $(readlink "/proc/$p/fd/$n")")
	done
	same "$name: all descriptors are closed on exec" "" "${left[*]}"
done
if sanitized; then
	skip "keys in locked memory" "the sanitizer makes mlock do nothing"
else
	check "usher: keys are in locked memory" test "$(field "$usher" VmLck | cut -d ' ' -f 1)" -gt 0
fi
if is_root; then
	holders=()
	for p in $(family $$); do
		ls -l "/proc/$p/fd" 2>/dev/null | grep -q 'anon_inode:seccomp' && holders+=("$(cat "/proc/$p/comm")")
	done
	same "usher alone holds the listener" usher "${holders[*]}"
	same "the keeper and the guardian have forgotten what the command was told" "" "$(grep -h rw-s "/proc/$keeper/maps" "/proc/$guardian/maps")"
	same "the control: there is something to read" "2" "$(grep -l r-xp "/proc/$keeper/maps" "/proc/$guardian/maps" | wc -l)"
	same "the keeper and the guardian hold hardly anything" "yes" \
		"$([ "$(ls "/proc/$keeper/fd" | wc -l)" -le 6 ] && [ "$(ls "/proc/$guardian/fd" | wc -l)" -le 7 ] && echo yes)"
fi
echo >&9
exec 9>&-
wait "$shell"
same "the command ends as if nobody had looked" 0 $?
finish
