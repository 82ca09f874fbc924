#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 56: a lease on a file that may be read and not changed holds up whoever opens it, outside the tree as well, for 45 seconds and again.
# The control: natively the same program takes one, and an open that does not wait is told to come back.
T=$(mktemp -d /tmp/usher-lease.XXXXXX) || exit 1
trap 'rm -rf "$T"' EXIT
mkdir "$T/home"
echo text >"$T/file"
printf 'deny write %s log=none\ndefault allow\n' "$T/file" >"$T/kept.rules"
printf 'default allow\n' >"$T/free.rules"
chmod 600 "$T"/*.rules
cat >"$T/lease.py" <<'P'
import fcntl, os, sys
# lease.py FILE KIND: takes a lease and says so, then waits for the end of its input
fd = os.open(sys.argv[1], os.O_RDONLY)
try:
    if sys.argv[2] == "delegation":
        fcntl.fcntl(fd, 1040, bytes([0, 0, 0, 0, 0, 0, 0, 0]))
    else:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, {"read": fcntl.F_RDLCK, "write": fcntl.F_WRLCK}[sys.argv[2]])
    print("taken", flush=True)
except OSError as e:
    print("refused", e.errno, flush=True)
sys.stdin.read()
P
cat >"$T/outside.py" <<'P'
import os, signal, subprocess, sys
# outside.py FILE FLAGS COMMAND...: starts what may take a lease, opens the file as somebody outside, and says both
taker = subprocess.Popen(sys.argv[3:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
said = taker.stdout.readline().strip()
try:
    os.close(os.open(sys.argv[1], os.O_NONBLOCK | getattr(os, sys.argv[2])))
    print(said, "opened")
except OSError as e:
    print(said, "held up" if e.errno == 11 else e)
taker.stdin.close()
taker.wait()
P
bad=0
try() { # NAME KIND FLAGS RULES WANTED
	local native got
	native=$(python3 "$T/outside.py" "$T/file" "$3" python3 "$T/lease.py" "$T/file" "$2")
	got=$(cd "$T/home" && HOME=$T/home python3 "$T/outside.py" "$T/file" "$3" "$USHER" run -p "$T/$4.rules" --ask=deny --journal "$T/home/$1" -- python3 "$T/lease.py" "$T/file" "$2")
	if [ "$native" != "taken held up" ]; then
		echo "skip row 56: leases: $1: natively $native"
	elif [ "$got" = "$5" ]; then
		echo "ok row 56: leases: $1"
	else
		echo "not ok row 56: leases: $1: $got"
		bad=1
	fi
}
try read read O_WRONLY kept "refused 22 opened"
try write write O_RDONLY kept "refused 22 opened"
try delegation delegation O_WRONLY kept "refused 22 opened"
try free write O_RDONLY free "taken held up"
exit $bad
