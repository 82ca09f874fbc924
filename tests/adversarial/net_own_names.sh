#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 63: a rule that lets the tree connect to the unix sockets that it bound itself (own), with a daemon outside: by its name, by a name that the tree's own socket had, or has in turns with it,
# and by a file that got the number of the tree's. Natively each reaches the daemon.
command -v python3 >/dev/null || { echo "skip row 63: no python3"; exit 77; }
"$USHER" doctor 2>/dev/null | grep -q '^ok *unix-names' || { echo "skip row 63: the kernel has no unix_diag"; exit 77; }
T=$(mktemp -d) || exit 1
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$T"' EXIT
export XDG_STATE_HOME=$T/state
printf 'allow connect unix:** own\ndeny connect unix:**\ndefault allow\n' >"$T/rules"
chmod 600 "$T/rules"
cat >"$T/daemon.py" <<'P'
import os, socket, sys, time
how, d = sys.argv[1:3]
while how == "after" and not os.path.exists(d + "/ended"): time.sleep(0.01)
s = socket.socket(socket.AF_UNIX); s.bind(d + "/daemon"); s.listen(); s.settimeout(0.05)
open(d + "/there", "w").close()
hits = 0
while not os.path.exists(d + "/over"):
    try: s.accept()[0].close(); hits += 1
    except OSError: pass
print("reached" if hits else "not reached")
P
cat >"$T/tree.py" <<'P'
import ctypes, os, socket, sys, threading, time
how, d = sys.argv[1:3]
KINDS = (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM)
def bound(name, kind=socket.SOCK_STREAM):
    s = socket.socket(socket.AF_UNIX, kind); s.bind(name)
    if kind != socket.SOCK_DGRAM: s.listen()
    return s
def connects(name, kind=socket.SOCK_STREAM):
    try: socket.socket(socket.AF_UNIX, kind).connect(name); return True
    except OSError: return False
def wait(name):
    while not os.path.exists(d + "/" + name): time.sleep(0.01)
for kind in KINDS:
    s = bound(d + "/own", kind); os.rename(d + "/own", d + "/moved")
    os.chdir(d); assert connects("moved", kind) and connects(d + "/moved", kind)
    if os.fork() == 0: s.close(); os._exit(0 if connects(d + "/moved", kind) else 1)
    assert os.wait()[1] == 0
    s.close(); os.unlink(d + "/moved")
s = bound(d + "/own")
if how == "after": s.close(); os.unlink(d + "/own"); open(d + "/ended", "w").close()
wait("there")
if how == "moved": os.rename(d + "/daemon", d + "/own"); connects(d + "/own")
elif how == "swap":
    end = time.monotonic() + float(os.environ.get("RACE_SECONDS", "2"))
    libc = ctypes.CDLL(None)
    def turn():
        while True: libc.renameat2(-100, b"own", -100, b"daemon", 2)
    def take():
        while True: s.accept()[0].close()
    for f in turn, take: threading.Thread(target=f, daemon=True).start()
    while time.monotonic() < end: connects("own")
elif how == "link": os.unlink(d + "/own"); os.symlink("daemon", d + "/own"); connects(d + "/own")
else: connects(d + "/daemon")
P
bad=0 n=0
for how in alone moved link after swap; do
	for run in natively supervised; do
		d=$T/$((n += 1))
		mkdir "$d"
		timeout 120 python3 "$T/daemon.py" $how "$d" >"$d/said" 2>&1 &
		daemon=$!
		in=()
		[ $run = natively ] || in=("$USHER" run -p "$T/rules" --journal "$T/j$n" --)
		"${in[@]}" timeout 60 python3 "$T/tree.py" $how "$d" >"$d/out" 2>&1 || { cat "$d/out"; bad=1; }
		: >"$d/over"
		wait $daemon
		wants="not reached"
		[ $run = supervised ] || wants=reached
		if [ "$(cat "$d/said")" = "$wants" ]; then echo "ok row 63: a daemon's unix socket, $how, $run: $wants"; else echo "not ok row 63: a daemon's unix socket, $how, $run: $(cat "$d/said")"; bad=1; fi
	done
done
exit $bad
