#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 54: pidfd_send_signal() to the process group of a process outside that has ended: the group lives on, and its number can no more be asked for.
# And kill() of that group by its number.
# The control: natively the signal arrives. Without the floor usher itself sends what is allowed. As root each as root and as uid 1000.
PATH=/usr/bin:/bin:$PATH
command -v python3 >/dev/null || { echo "skip row 54: no python3"; exit 77; }
T=$(mktemp -d /tmp/usher-group.XXXXXX) || exit 1
trap 'rm -rf "$T"' EXIT
chmod 755 "$T"
cp "$USHER" "$T/usher"
bad=0
# A group of two; its leader ends when told to. Says on its output whether the other one got the signal.
cat >"$T/group.py" <<'P'
import os, signal, sys, time
os.setpgid(0, 0)
r, w = os.pipe()
leader = os.getpid()
if os.fork() == 0:
    signal.signal(signal.SIGTERM, lambda *_: (print("hit", flush=True), os._exit(0)))
    os.close(w)
    open("leader.new", "w").write(str(leader))
    os.rename("leader.new", "leader")
    os.read(r, 1)  # the leader has ended
    signal.alarm(60)
    while not os.path.exists("tried"):
        time.sleep(0.01)
    time.sleep(0.2)
    print("missed", flush=True)
    os._exit(0)
os.close(r)
while not os.path.exists("opened") and not os.path.exists("tried"):
    time.sleep(0.01)
P
cat >"$T/attack.py" <<'P'
import ctypes, os, select, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
fd = os.pidfd_open(int(open("leader").read()))
open("opened", "w").close()
select.select([fd], [], [], 5)  # it has ended
while "Pid:\t-1" not in open("/proc/self/fdinfo/%d" % fd).read():  # and was collected
    pass
sys.exit(0 if libc.syscall(424, fd, signal.SIGTERM, None, ctypes.c_uint(4)) == 0 else 1)
P
cat >"$T/kill.py" <<'P'
import os, select, signal
leader = int(open("leader").read())
fd = os.pidfd_open(leader)
open("opened", "w").close()
select.select([fd], [], [], 5)
while os.path.exists("/proc/%d" % leader):
    pass
os.kill(-leader, signal.SIGTERM)
P
one() { # USER, what stands in front of the attack
	local drop= u=$1 dir
	shift
	[ "$u" = "$(id -u)" ] || drop="setpriv --reuid=$u --regid=$u --clear-groups"
	dir=$(mktemp -d "$T/w.XXXXXX")
	[ -z "$drop" ] || chown "$u:$u" "$dir"
	(
		cd "$dir" || exit 1
		printf 'default allow\n' >all.rules
		[ -z "$drop" ] || chown "$u:$u" all.rules
		chmod 600 all.rules
		$drop python3 "$T/group.py" >seen &
		until [ -e leader ]; do sleep 0.02; done
		HOME=$dir timeout -k 5 20 $drop "$@" python3 "$T/$attack.py" >attack.out 2>&1 </dev/null
		: >tried
		for _ in $(seq 500); do [ ! -s seen ] || break; sleep 0.02; done
		cat seen
	)
}
users=$(id -u)
[ "$users" != 0 ] || users="0 1000"
for attack in attack kill; do for u in $users; do
	out=$(one "$u")
	if [ "$out" != hit ]; then
		echo "skip row 54: a group whose leader has ended, uid $u: $out natively ($attack; before Linux 6.9)"
		continue
	fi
	echo "ok row 54: control: natively the signal arrives ($attack), uid $u"
	for how in "" --floor=off; do
		# shellcheck disable=SC2086
		out=$(one "$u" "$T/usher" run $how -p all.rules --journal journal --)
		if [ "$out" = missed ]; then echo "ok row 54: a group whose leader has ended ($attack) $how, uid $u"; else echo "not ok row 54: a group whose leader has ended ($attack) $how, uid $u: $out"; bad=1; fi
	done
done; done
exit $bad
