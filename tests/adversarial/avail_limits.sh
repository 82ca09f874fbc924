#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 73: `limit` statements end the tree with status 124 and a note that names the limit. The control: with room enough the same ends by itself.
T=$(mktemp -d /tmp/usher-limits.XXXXXX) || exit 1
trap 'rm -rf "$T"' EXIT
chmod 755 "$T"
cp "$USHER" "$T/usher"
bad=0

try() { # USER LIMIT WORD SCRIPT: one that reaches the limit; then the same with room
	local who=$1 limit=$2 word=$3 n status
	n=$((++N))
	printf 'default allow\nlimit %s\n' "$limit" >"$T/$n.rules"
	printf 'default allow\nlimit %s\n' "$5" >"$T/$n.wide.rules"
	mkdir "$T/$n"
	[ "$who" = root ] || chown "$who" "$T/$n"
	local as=()
	[ "$who" = "$(id -un)" ] || as=(setpriv "--reuid=$who" "--regid=$who" --clear-groups)
	HOME=$T/$n timeout 60 "${as[@]}" "$T/usher" run -p "$T/$n.rules" --journal "$T/$n/j" -- /bin/sh -c "$4" >"$T/out" 2>&1
	status=$?
	if [ "$status" = 124 ] && "$T/usher" log --json "$T/$n/j" 2>/dev/null | grep -q "\"limit\":\"$word\""; then
		echo "ok row 73: limit $limit ($who)"
	else
		echo "not ok row 73: limit $limit ($who): status $status: $(tail -n 2 "$T/out")"
		bad=1
	fi
	HOME=$T/$n timeout 60 "${as[@]}" "$T/usher" run -p "$T/$n.wide.rules" --journal "$T/$n/k" -- /bin/sh -c "${6:-$4}" >"$T/out" 2>&1
	status=$?
	if [ "$status" = 0 ]; then
		echo "ok row 73: control: limit $5 ($who)"
	else
		echo "not ok row 73: control: limit $5 ($who): status $status: $(tail -n 2 "$T/out")"
		bad=1
	fi
}

users=$(id -un)
[ "$(id -u)" != 0 ] || users="root 1000"
for u in $users; do
	try "$u" "wall 300ms" wall 'trap "" TERM; setsid sleep 20 & sleep 20' "wall 1m" 'sleep 0.1'
	try "$u" "cpu 300ms" cpu 'i=0; while :; do i=$((i+1)); done' "cpu 1m" 'i=0; while [ $i -lt 100 ]; do i=$((i+1)); done'
	try "$u" "processes 20" processes 'i=0; while [ $i -lt 40 ]; do sleep 20 & i=$((i+1)); done; wait' "processes 100" 'i=0; while [ $i -lt 40 ]; do sleep 0.3 & i=$((i+1)); done; wait'
	try "$u" "memory 100M" memory 'head -c 300M /dev/zero | tail >/dev/null; sleep 20' "memory 4G" 'head -c 3M /dev/zero | tail >/dev/null'
	try "$u" "files 40" files 'exec 3</etc/passwd; python3 -c "
f = []
for i in range(100): f.append(open(\"/etc/passwd\"))"; sleep 20' "files 400" 'python3 -c "
f = []
for i in range(100): f.append(open(\"/etc/passwd\"))"'
	try "$u" "files 40" files 'cd "$HOME"; python3 -c "
f = []
for i in range(100): f.append(open(\"made\", \"w\"))"; sleep 20' "files 400" 'cd "$HOME"; python3 -c "
f = []
for i in range(100): f.append(open(\"made\", \"w\"))"'
	# Many writers, one of which goes too far; the size by write, by truncate and by a raised limit.
	try "$u" "filesize 1M" filesize 'cd "$HOME"; for i in 1 2 3 4 5 6 7 8; do head -c ${i}00K /dev/zero >f$i & done; head -c 2M /dev/zero >g; wait; sleep 20' \
		"filesize 4M" 'cd "$HOME"; for i in 1 2 3 4 5 6 7 8; do head -c ${i}00K /dev/zero >f$i & done; head -c 2M /dev/zero >g; wait'
	try "$u" "filesize 1M" filesize 'cd "$HOME"; python3 -c "import os, time
open(\"t\", \"w\").close()
os.truncate(\"t\", 5000000)"; sleep 20' "filesize 8M" 'cd "$HOME"; python3 -c "import os, time
open(\"t\", \"w\").close()
os.truncate(\"t\", 5000000)"'
	try "$u" "filesize 1M" filesize 'cd "$HOME"; ulimit -S -f unlimited 2>/dev/null; ulimit -f unlimited 2>/dev/null; head -c 3M /dev/zero >h; sleep 20' \
		"filesize 8M" 'cd "$HOME"; head -c 3M /dev/zero >h'
	# Descendants that leave: a session of their own, a parent that has gone, a parent that waits for nobody.
	try "$u" "cpu 500ms" cpu 'for i in 1 2 3; do (setsid sh -c "(while :; do :; done) & exit" &); done; sleep 20' "cpu 1m" '(setsid sh -c "(exit 0) & exit" &); sleep 0.1'
	try "$u" "memory 150M" memory 'for i in 1 2 3 4 5 6; do (setsid sh -c "head -c 40M /dev/zero | tail >/dev/null; sleep 20" &) ; done; for i in 1 2 3 4 5 6; do python3 -c "
import time
x = bytearray(40 << 20)
time.sleep(20)" & done; wait' "memory 4G" 'true'
	# A bomb that doubles itself, but gives up by itself should nothing stop it.
	try "$u" "processes 30" processes 'b() { [ "$1" -gt 7 ] || { b $(($1+1)) & b $(($1+1)) & sleep 20; }; }; b 0' "processes 3000" 'true'
done
# Where usher may make a control group, time is counted that nobody waits for.
if [ "$(id -u)" = 0 ]; then
	try root "cpu 1s" cpu 'python3 -c "
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    if os.fork() == 0:
        t = time.process_time()
        while time.process_time() - t < 0.02: pass
        os._exit(0)
    time.sleep(0.03)"' "cpu 1m" 'true'
fi

# A control group that was handed to an ordinary user (as systemd does): the tree is in one below it, cannot write it, and nothing of it stays.
groups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
D=$groups/usher-test-$$
if [ "$(id -u)" = 0 ] && [ -n "$groups" ] && mkdir "$D" 2>/dev/null && chown -R 1000 "$D"; then
	within() { bash -c 'echo $$ >"$0/cgroup.procs"; exec setpriv --reuid=1000 --regid=1000 --clear-groups "$@"' "$D" "$@"; }
	printf 'default allow\nlimit cpu 300ms\n' >"$T/group.rules"
	mkdir "$T/g" && chown 1000 "$T/g"
	touch='for g in '$D' '$D'/usher-*; do for f in cgroup.procs cgroup.kill cgroup.freeze; do ( exec 3>$g/$f ) 2>/dev/null && echo open; done; done; :'
	if [ -n "$(within sh -c "$touch")" ]; then echo "ok row 57: control: its user may write it"; else echo "not ok row 57: control: its user may write it"; bad=1; fi
	HOME=$T/g within "$T/usher" run -p "$T/group.rules" --ask=deny --journal "$T/g/j" -- sh -c "grep ^0:: /proc/self/cgroup; $touch; while :; do :; done" >"$T/out" 2>"$T/err"
	status=$?
	if [ "$status" = 124 ] && grep -q "^0::.*/usher-test-$$/usher-" "$T/out" && ! grep -q open "$T/out" && grep -q '"cgroup":\["cpu"\]' "$T"/g/j/*.jsonl && ! ls -d "$D"/*/ >/dev/null 2>&1; then
		echo "ok rows 57 and 73: a delegated control group holds the tree, and is closed to it"
	else
		echo "not ok rows 57 and 73: a delegated control group: status $status: $(cat "$T/out" "$T/err" | tail -n 4) $(ls -d "$D"/*/ 2>&1)"
		bad=1
	fi
	rmdir "$D"
fi
exit $bad
