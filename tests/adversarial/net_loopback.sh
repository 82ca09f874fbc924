#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 98: what rules let listen for this machine alone (loopback), and a machine beside it that connects. It is heard natively; under usher the socket is
# tried to be opened to the network again: by options, bound anew, by a program that may listen to all, by others that hold it.
command -v python3 >/dev/null || { echo "skip row 98: no python3"; exit 77; }
if [ "${IN_NAMESPACE:-}" != 1 ]; then
	[ "$(id -u)" = 0 ] && unshare -n true 2>/dev/null || { echo "skip row 98: no network namespace"; exit 77; }
	IN_NAMESPACE=1 exec unshare -n bash "$0" "$@"
fi
T=$(mktemp -d) || exit 1
unshare -n sleep 600 & # the machine beside it
beside=$!
trap 'kill $beside 2>/dev/null; rm -rf "$T"' EXIT
there() { nsenter -t $beside -n "$@"; }
for i in $(seq 100); do [ "$(readlink /proc/$beside/ns/net)" != "$(readlink /proc/self/ns/net)" ] && break; sleep 0.02; done
ip link set lo up && ip link add near type veth peer name far 2>/dev/null && ip link set far netns $beside && ip link set near up && there ip link set far up &&
	ip addr add 192.0.2.1/24 dev near && ip addr add 2001:db8::1/64 dev near nodad && there ip addr add 192.0.2.2/24 dev far &&
	there ip addr add 2001:db8::2/64 dev far nodad || { echo "skip row 98: no pair of interfaces"; exit 77; }
cp "$USHER" "$T/usher" && chmod 755 "$T" "$T/usher"
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
cp "$python" "$T/other" && chmod 755 "$T/other"
cat >"$T/rules" <<R
allow bind tcp:*:0 tcp:*:1024-65535 by=$T/other
allow bind tcp:[fe80::]/10:* tcp:*:0 tcp:*:1024-65535 loopback
allow net tcp:127.0.0.0/8:* tcp:[::1]:*
deny net tcp:*:* udp:*:*
default allow
R
cat >"$T/layer" <<'R'
allow bind tcp:*:*
default allow
R
cat >"$T/probe.py" <<'P'
import mmap, os, random, socket, subprocess, sys
SO_BINDTODEVICE, SO_BINDTOIFINDEX = 25, 62
V4, V6 = socket.AF_INET, socket.AF_INET6

def trying(f, *a):
    try: return f(*a)
    except OSError as e: print(e, file=sys.stderr)
def bound(family=V4, host=None, port=0):
    s = socket.socket(family); s.bind((host or ("0.0.0.0" if family == V4 else "::"), port)); return s
def listening(*a): s = bound(*a); s.listen(); return s
def opened(s, option, value): trying(s.setsockopt, socket.SOL_SOCKET, option, value); return s
def near(s): return opened(s, SO_BINDTODEVICE, b"near")
def none(s): return opened(opened(s, SO_BINDTODEVICE, b""), SO_BINDTOIFINDEX, 0)

def any4(): return listening()
def any6(): return listening(V6)
def one4(): return listening(V4, "192.0.2.1")
def one6(): return listening(V6, "2001:db8::1")
def unbound4(): s = socket.socket(); s.listen(); return s
def unbound6(): s = socket.socket(V6); s.listen(); return s
def twice(): s = listening(); s.listen(5); return s
def device_behind(): return none(listening())
def device_before():
    s = near(bound())
    s.listen(); return s
def again(): s = listening(); s.shutdown(socket.SHUT_RDWR); none(s); s.listen(); return s
def anew():
    s = listening(); s.shutdown(socket.SHUT_RDWR); none(s)
    trying(s.bind, ("0.0.0.0", 0)); s.listen(); return s
def multipath(): s = socket.socket(V4, socket.SOCK_STREAM, 262); s.bind(("0.0.0.0", 0)); s.listen(); return s
def by_child():
    s = bound(); subprocess.run([sys.executable, "-c", f"import socket; socket.socket(fileno={s.fileno()}).listen()"], pass_fds=[s.fileno()]); return s
def by_descriptor():
    a, b = socket.socketpair(); s = bound()
    socket.send_fds(a, [b"x"], [s.fileno()]); got = socket.recv_fds(b, 1, 1)[1][0]
    t = socket.socket(fileno=got); t.listen(); return t
def shared():
    s, t = socket.socket(), socket.socket()
    for x in s, t: x.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    s.bind(("0.0.0.0", 0)); t.bind(s.getsockname()); s.listen(); t.listen(); return t
def was_others():
    """Bound by who may listen to all, which its holder then may, too; and bound anew by this program, which may not."""
    s = socket.socket()
    subprocess.run([other, "-c", f"import socket; socket.socket(fileno={s.fileno()}).bind(('0.0.0.0', 0))"], pass_fds=[s.fileno()])
    s.listen(); s.shutdown(socket.SHUT_RDWR)
    s.bind(("0.0.0.0", 0)); s.listen(); return s
def together(at, me, i):
    at[me] = i + 1
    while at[1 - me] < i + 1: os.sched_yield()
    for _ in range(random.randrange(60)): pass
def raced():
    """It listens on loopback; while it is made to once more it is shut down and bound anew, to all."""
    for turn in range(40):
        tries, at = [listening(V4, "127.0.0.1") for _ in range(100)], mmap.mmap(-1, 4096)
        child = os.fork()
        for i, s in enumerate(tries):
            port = s.getsockname()[1]
            together(at, not child, i)
            if child: trying(s.listen); continue
            trying(s.shutdown, socket.SHUT_RDWR); trying(s.bind, ("0.0.0.0", port))
        if not child: os._exit(0)
        os.waitpid(child, 0)
        for s in tries:
            if s.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) and s.getsockname()[0] == "0.0.0.0" and not s.getsockopt(socket.SOL_SOCKET, SO_BINDTOIFINDEX): return s
    return listening()

ATTACKS = [any4, any6, one4, one6, unbound4, unbound6, twice, device_behind, device_before, again, anew, multipath, by_child, by_descriptor, shared, was_others, raced]
how, other, beside, command = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
if how == "--attack":
    s = [a for a in ATTACKS if a.__name__ == command[0]][0]()
    print(*s.getsockname()[:2], flush=True); sys.stdin.readline(); sys.exit()

def heard(host, port):
    code = f"import socket; socket.create_connection(({host!r}, {port}), 0.5)"
    return subprocess.run(["nsenter", "-t", beside, "-n", sys.executable, "-c", code], stderr=subprocess.DEVNULL).returncode == 0
def here(host, port):
    try: socket.create_connection((host, port), 2).close(); return True
    except OSError: return False
LOCAL = {"0.0.0.0": "127.0.0.1", "::": "::1"}
for a in ATTACKS if how != "by who may" else (any4, any6, twice, by_descriptor):
    p = subprocess.Popen(command + [other if how == "by who may" else sys.executable, sys.argv[0], "--attack", other, beside, a.__name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    said = p.stdout.readline().split()
    got = bool(said) and any(heard(h, int(said[1])) for h in ("192.0.2.1", "2001:db8::1"))
    ok = got == (how in ("natively", "by who may"))
    if said and said[0] in LOCAL and how != "natively": ok = ok and here(LOCAL[said[0]], int(said[1]))
    p.stdin.close(); p.wait()
    print("ok" if ok else "not ok", f"row 98: {a.__name__} {how}: {'heard by the other machine' if got else 'by this one alone' if said else 'refused'}")
P
run() { # name, command
	"$python" "$T/probe.py" "$1" "$T/other" $beside "${@:2}"
}
user=(setpriv --reuid=1000 --regid=1000 --clear-groups)
run natively
export XDG_STATE_HOME=$T/state
mkdir -m 1777 "$T/state" "$T/mine"
chmod 600 "$T/rules" "$T/layer"
run "as root" "$T/usher" run -p "$T/rules" --
run "beside a layer that allows all" "$T/usher" run -p "$T/rules" -p "$T/layer" --
chown -R 1000 "$T/rules" "$T/state"
if "${user[@]}" "$python" -c 1 2>/dev/null; then
	run "as a user" "${user[@]}" env HOME="$T/mine" "$T/usher" run -p "$T/rules" --
fi
chown root "$T/rules"
run "by who may" "$T/usher" run -p "$T/rules" --
