#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 63: rules that let the tree connect and send to the unix sockets that it bound itself (own), with a daemon outside that takes streams or datagrams: by its name, by one by which every socket may be reached, by a name that the tree's own socket had, or has in turns with it,
# and by a file that got the number of the tree's. Natively each reaches the daemon.
command -v python3 >/dev/null || { echo "skip row 63: no python3"; exit 77; }
"$USHER" doctor 2>/dev/null | grep -q '^ok *unix-names' || { echo "skip row 63: the kernel has no unix_diag"; exit 77; }
T=$(mktemp -d) || exit 1
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$T"' EXIT
export XDG_STATE_HOME=$T/state
printf 'allow connect,send unix:**/free/**\nallow connect,send unix:** own\ndeny connect,send unix:**\ndefault allow\n' >"$T/rules"
chmod 600 "$T/rules"
cat >"$T/daemon.py" <<'P'
import os, socket, sys, time
how, d, kind = sys.argv[1:4]
while how == "after" and not os.path.exists(d + "/ended"): time.sleep(0.01)
s = socket.socket(socket.AF_UNIX, getattr(socket, kind)); s.bind(d + "/daemon"); s.settimeout(0.05)
if kind == "SOCK_STREAM": s.listen()
open(d + "/there", "w").close()
hits = 0
while not os.path.exists(d + "/over"):
    if hits == 1: open(d + "/hit", "w").close()
    try: s.accept()[0].close() if kind == "SOCK_STREAM" else s.recv(9); hits += 1
    except OSError: pass
print("reached" if hits else "not reached")
P
cat >"$T/tree.py" <<'P'
import array, ctypes, os, socket, sys, threading, time
how, d, reached = sys.argv[1:4]
reached = getattr(socket, reached)
libc = ctypes.CDLL(None)
KINDS = (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM)
def bound(name, kind=socket.SOCK_STREAM):
    s = socket.socket(socket.AF_UNIX, kind); s.bind(name)
    if kind != socket.SOCK_DGRAM: s.listen()
    return s
def connects(name, kind=socket.SOCK_STREAM):
    s = socket.socket(socket.AF_UNIX, kind)
    try: s.connect(name); return kind != socket.SOCK_DGRAM or s.send(b"x") == 1
    except OSError: return False
def sends(name):
    s, n = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), 0
    for how in (lambda: s.sendto(b"x", name)), (lambda: s.sendmsg([b"x"], [], 0, name)), (lambda: several(s, name)):
        try: n += how() > 0
        except OSError: pass
    return n
# sendmmsg: an address, its vector, nothing of control messages
def several(s, name):
    keep = [array.array("B", b"\1\0" + name.encode() + b"\0"), array.array("B", b"x")]
    keep.append(array.array("L", [keep[1].buffer_info()[0], 1]))
    keep.append(array.array("L", [keep[0].buffer_info()[0], len(keep[0]), keep[2].buffer_info()[0], 1, 0, 0, 0, 0]))
    return libc.sendmmsg(s.fileno(), ctypes.c_void_p(keep[3].buffer_info()[0]), 1, 0)
def tries(name): connects(name, reached) if reached == socket.SOCK_STREAM else (connects(name, reached), sends(name))
def wait(name):
    while not os.path.exists(d + "/" + name): time.sleep(0.01)
for kind in KINDS:
    s = bound(d + "/own", kind); os.link(d + "/own", d + "/moved"); os.unlink(d + "/own")
    os.rename(d + "/moved", d + "/own"); os.rename(d + "/own", d + "/moved")
    os.chdir(d); assert connects("moved", kind) and connects(d + "/moved", kind)
    assert kind != socket.SOCK_DGRAM or sends("moved") == 3
    if os.fork() == 0: s.close(); os._exit(0 if connects(d + "/moved", kind) else 1)
    assert os.wait()[1] == 0
    s.close(); os.unlink(d + "/moved")
# Where all may be reached its own may come, by itself and with the directory above.
os.mkdir(d + "/free"); os.mkdir(d + "/with")
s = bound(d + "/with/own", reached); os.rename(d + "/with", d + "/free/with"); assert connects(d + "/free/with/own", reached)
os.rename(d + "/free/with/own", d + "/free/own"); os.rename(d + "/free/own", d + "/back"); os.rename(d + "/back", d + "/free/own")
assert connects(d + "/free/own", reached)
s.close()
s = bound(d + "/own", reached)
if how == "after": s.close(); os.unlink(d + "/own"); open(d + "/ended", "w").close()
wait("there")
if how == "moved": os.rename(d + "/daemon", d + "/own"); tries(d + "/own")
elif how in ("swap", "freeswap"):
    start = time.monotonic()
    # The control goes on until the daemon was reached, which on a busy machine takes its time.
    def goes_on():
        past = time.monotonic() - start
        return past < float(os.environ.get("RACE_SECONDS", "2")) or ("CONTROL" in os.environ and past < 40 and not os.path.exists(d + "/hit"))
    def turn():
        while True: libc.renameat2(-100, b"own", -100, b"daemon", 2)
    def take():
        while True: s.accept()[0].close() if reached == socket.SOCK_STREAM else s.recv(9)
    for f in turn, take: threading.Thread(target=f, daemon=True).start()
    while goes_on():
        if how == "swap": tries("own"); continue
        try: os.rename("own", "free/x")
        except OSError: continue
        tries("free/x")
        os.rename("free/x", "own")
elif how == "hard":
    os.unlink(d + "/own")
    try: os.link(d + "/daemon", d + "/own"); tries(d + "/own")
    except PermissionError: pass
elif how == "free":
    os.mkdir(d + "/to")
    for a, b in ("daemon", "free/daemon"), ("daemon", "to/daemon"), ("to", "free/to"):
        try: os.rename(d + "/" + a, d + "/" + b); tries(d + "/" + b)
        except OSError: pass
    tries(d + "/free/to/daemon")
elif how == "link": os.unlink(d + "/own"); os.symlink("daemon", d + "/own"); tries(d + "/own")
else: tries(d + "/daemon")
P
bad=0 n=0
for how in {alone,moved,link,hard,free,after,swap,freeswap}:SOCK_{STREAM,DGRAM}; do
	for run in natively supervised; do
		d=$T/$((n += 1)) kind=${how#*:}
		mkdir "$d"
		timeout 120 python3 "$T/daemon.py" ${how%:*} "$d" $kind >"$d/said" 2>&1 &
		daemon=$!
		in=(env CONTROL=1)
		[ $run = natively ] || in=("$USHER" run -p "$T/rules" --journal "$T/j$n" --)
		"${in[@]}" timeout 60 python3 "$T/tree.py" ${how%:*} "$d" $kind >"$d/out" 2>&1 || { cat "$d/out"; bad=1; }
		: >"$d/over"
		wait $daemon
		wants="not reached"
		[ $run = supervised ] || wants=reached
		if [ "$(cat "$d/said")" = "$wants" ]; then echo "ok row 63: a daemon's unix socket, $how, $run: $wants"; else echo "not ok row 63: a daemon's unix socket, $how, $run: $(cat "$d/said")"; bad=1; fi
	done
done
exit $bad
