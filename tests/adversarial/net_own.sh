#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 63: a rule that lets the tree connect to what it listens on itself (own), with a daemon outside on the same port: alone there, after the tree's has ended, sharing
# it (SO_REUSEPORT; also where the tree takes that back, or says it late, or between two listens of one socket), and in turns with the tree, which goes on connecting; and after the tree has closed its own, to which a connect that did not wait was still under way, as its
# queue was full (closed, or shut down), or not begun (TCP_FASTOPEN_CONNECT). Natively each reaches the daemon.
command -v python3 >/dev/null || { echo "skip row 63: no python3"; exit 77; }
T=$(mktemp -d) || exit 1
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$T"' EXIT
export XDG_STATE_HOME=$T/state
printf 'allow connect tcp:127.0.0.0/8:* own\ndeny connect tcp:*:*\ndefault allow\n' >"$T/rules"
chmod 600 "$T/rules"
cat >"$T/both.py" <<'P'
import os, socket, sys, threading, time
how, who, d = sys.argv[1:4]
REUSE = how in ("shared", "parted") or (how in ("late", "again") and who == "daemon")
def listener(port, room=64):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT if REUSE else socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", port)); s.listen(room); s.settimeout(0.002); return s
def reached(s):
    try: s.accept()[0].close(); return True
    except OSError: return False
def connects(port):
    s = socket.socket(); s.settimeout(1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    try: s.connect(("127.0.0.1", port)); return True
    except OSError: return False
    finally: s.close()
start = time.monotonic()
# The control goes on until the daemon was reached, which on a busy machine takes its time.
def goes_on():
    past = time.monotonic() - start
    return past < float(os.environ.get("RACE_SECONDS", "2")) or ("CONTROL" in os.environ and past < 40 and not os.path.exists(d + "/hit"))
if who == "daemon":
    s = listener(0); port = s.getsockname()[1]
    if how in ("after", "turns", "full", "shut", "deferred", "parted", "late", "again"): s.close(); s = None
    open(d + "/port.new", "w").write(str(port)); os.rename(d + "/port.new", d + "/port")
    if how == "after":
        while not os.path.exists(d + "/ended"): time.sleep(0.01)
        s = listener(port); open(d + "/there", "w").close()
    hits = 0
    while how in ("full", "shut", "deferred", "parted", "late", "again") and not s and not os.path.exists(d + "/over"):
        time.sleep(0.01)
        try: s = os.path.exists(d + "/ended") and listener(port)
        except OSError: pass # it is held
    if s: open(d + "/there", "w").close()
    while not os.path.exists(d + "/over"):
        if how == "turns":
            try: s = listener(port)
            except OSError: continue
            hits += reached(s); s.close()
        else: hits += reached(s)
        if hits: open(d + "/hit", "w").close()
    print("reached" if hits else "not reached")
else:
    port = int(open(d + "/port").read())
    if how == "alone": connects(port)
    elif how == "after":
        s = listener(port)
        assert connects(port)
        s.close(); open(d + "/ended", "w").close()
        while not os.path.exists(d + "/there"): time.sleep(0.01)
        connects(port)
    elif how in ("full", "shut", "deferred"):
        s = listener(port, 64 if how == "deferred" else 0)
        cs = [socket.socket() for i in range(1 if how == "deferred" else 4)]
        for c in cs:
            if how != "deferred": c.setblocking(False)
            else: c.setsockopt(socket.IPPROTO_TCP, 34, 1); c.setsockopt(socket.IPPROTO_TCP, 30, 1) # TCP_FASTOPEN_NO_COOKIE, _CONNECT
            c.connect_ex(("127.0.0.1", port))
        s.shutdown(socket.SHUT_RD) if how == "shut" else s.close()
        open(d + "/ended", "w").close()
        while not os.path.exists(d + "/there") and time.monotonic() < start + 3: time.sleep(0.01)
        try: c.send(b"x")
        except OSError: pass
        # what found no room is said again after a second or more
        while os.path.exists(d + "/there") and not os.path.exists(d + "/hit") and time.monotonic() < start + 20: time.sleep(0.01)
    elif how in ("parted", "late"):
        s = listener(port)
        for on in 1, 0:
            try: s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, on)
            except OSError: pass
            open(d + "/ended", "w").close()
            while not os.path.exists(d + "/there") and time.monotonic() < start + 3: time.sleep(0.01)
        for i in range(64): connects(port)
    elif how == "again":
        s = listener(port)
        s.shutdown(socket.SHUT_RDWR)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1); open(d + "/ended", "w").close()
        while not os.path.exists(d + "/there") and time.monotonic() < start + 3: time.sleep(0.01)
        s.listen(64)
        for i in range(64): connects(port)
    elif how == "shared":
        s = listener(port)
        for i in range(64): connects(port)
    else:
        on = True
        def turn():
            while on:
                try: s = listener(port)
                except OSError: continue
                reached(s); s.close()
        t = threading.Thread(target=turn); t.start()
        while goes_on(): connects(port)
        on = False; t.join()
P
bad=0 n=0
for how in alone after shared turns full shut deferred parted late again; do
	for run in natively supervised; do
		d=$T/$((n += 1))
		mkdir "$d"
		timeout 120 python3 "$T/both.py" $how daemon "$d" >"$d/said" 2>&1 &
		daemon=$!
		until [ -e "$d/port" ]; do sleep 0.02; done
		in=(env CONTROL=1)
		[ $run = natively ] || in=("$USHER" run -p "$T/rules" --journal "$d/j" --)
		"${in[@]}" timeout 60 python3 "$T/both.py" $how tree "$d" >"$d/out" 2>&1 || { cat "$d/out"; bad=1; }
		: >"$d/over"
		wait $daemon
		wants="not reached"
		[ $run = supervised ] || wants=reached
		if [ "$(cat "$d/said")" = "$wants" ]; then echo "ok row 63: a daemon outside on the tree's port, $how, $run: $wants"; else echo "not ok row 63: a daemon outside on the tree's port, $how, $run: $(cat "$d/said")"; bad=1; fi
	done
done
# Of an address elsewhere it says nothing, whatever the tree listens on.
printf 'allow connect tcp:*:* own\ndeny connect tcp:*:*\ndefault allow\n' >"$T/rules"
cat >"$T/far.py" <<'P'
import errno, socket
s = socket.socket(); s.bind(("0.0.0.0", 0)); s.listen()
c = socket.socket(); c.setblocking(False)
print("refused" if c.connect_ex(("192.0.2.1", s.getsockname()[1])) == errno.EACCES else "tried")
P
for run in natively supervised; do
	in=() wants=tried
	[ $run = natively ] || { in=("$USHER" run -p "$T/rules" --journal "$T/far" --) wants=refused; }
	out=$("${in[@]}" python3 "$T/far.py" 2>&1)
	if [ "$out" = $wants ]; then echo "ok row 63: another machine's port, $run: $wants"; else echo "not ok row 63: another machine's port, $run: $out"; bad=1; fi
done
exit $bad
