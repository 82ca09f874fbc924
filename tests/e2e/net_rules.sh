#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# waits
# What rules on the network do: UDP that cannot exist, limits, one namespace with nothing but loopback, rewrites.
. "$(dirname "$0")/lib.sh"
need python3
fresh
BASE='default deny
allow read,exec,stat /**
allow write /dev/** $TMPDIR/** memfd:**'
journal() { records "$(ls -dt "$T"/journal.* | head -n 1)"; } # the latest

# UDP
udp='import socket
for f in socket.AF_INET, socket.AF_INET6:
	try: socket.socket(f, socket.SOCK_DGRAM); print("made")
	except OSError as e: print(e.errno)'
{ echo "$BASE"; echo 'allow net tcp:127.0.0.1:*'; } | rules tcp.rules
{ echo "$BASE"; echo 'allow send udp:127.0.0.1:53'; } | rules udp.rules
same "UDP natively" "made made" "$(python3 -c "$udp" | xargs)"
same "no rule could allow UDP" "97 97" "$(supervise "$T/etc/tcp.rules" python3 -c "$udp" | xargs)"
same "a rule could allow UDP" "made made" "$(supervise "$T/etc/udp.rules" python3 -c "$udp" | xargs)"
same "UDP under an ask" "made made" "$(supervise agent python3 -c "$udp" | xargs)"

# Servers that listen on all addresses: this machine alone hears them, unasked, and the network where a rule says so, as the manual has it.
{ grep '^allow bind tcp:0.0.0.0:3000' "$DOCS/man/usher.1" | sed 's/3000/21800-21989/g'; echo "include builtin:agent"; } | rules listen.rules
listen='import socket
for host, family, ports in ((h, f, p) for h, f in (("0.0.0.0", socket.AF_INET), ("::", socket.AF_INET6)) for p in (range(21890, 21990), [0], None)):
	s = socket.socket(family)
	if ":" in host: s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
	for port in ports or ():
		try: s.bind((host, port)); break
		except OSError: pass
	s.listen(); s.listen(3)
	print(s.getsockname()[0], s.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16).strip(b"\0").decode() or "all", end=" ")
	socket.create_connection(("127.0.0.1", s.getsockname()[1]), 5)
	if ":" in host: socket.create_connection(("::1", s.getsockname()[1]), 5)
s = socket.socket(); s.bind(("0.0.0.0", 0)); l = socket.socket(); l.bind(("127.0.0.1", 0)); l.listen(); s.connect(l.getsockname())
print(s.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16).strip(b"\0").decode() or "all", l.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16).strip(b"\0").decode() or "all")'
v4="0.0.0.0 lo 0.0.0.0 lo 0.0.0.0 lo" v6=":: lo :: lo :: lo"
same "all addresses natively: a port, one that is free, without a bind" "${v4//lo/all} ${v6//lo/all} all all" "$(python3 -c "$listen")"
same "all addresses, heard by this machine alone; what connects is not bound to it" "$v4 $v6 all all" "$(supervise agent python3 -c "$listen" 2>&1)"
check "the record says so" grep -q '"call":"listen".*"object":"tcp:\[::\]:21[89].*"heard":"loopback"' <<<"$(journal)"
rules open <<<"default allow"; OPEN=$R
rules own <<<$'allow bind tcp:*:* loopback\ndefault allow'
for p in "$OPEN $R" "$R $OPEN"; do
	rm -rf "$T/own"; "$USHER" run -p "${p% *}" -p "${p#* }" --journal "$T/own" -- python3 -c 'import socket; s = socket.socket(); s.bind(("0.0.0.0", 0)); s.listen()' 2>"$T/err"
	same "and by which rule, of two layers" "\"$R:1\"" "$(records "$T/own" | sed -n 's/.*"call":"listen".*"rule":\([^,]*\).*"heard":"loopback".*/\1/p')"
done
same "by a rule of one's own to the network" "0.0.0.0 all 0.0.0.0 lo 0.0.0.0 lo :: all :: lo :: lo all all" "$(supervise "$T/etc/listen.rules" python3 -c "$listen" 2>&1)"

# Files that were sockets, and are nobody's: refused as natively, and not asked about; who has one hears nothing of the look.
stale='import errno, os, socket, subprocess, sys, tempfile
d = tempfile.mkdtemp(dir="/tmp"); kinds = socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM; live = []
for t in kinds:
	for n in "left", "live":
		s = socket.socket(socket.AF_UNIX, t); s.bind(f"{d}/{n}{int(t)}")
		if n == "left": s.close(); continue
		if t != socket.SOCK_DGRAM: s.listen()
		s.setblocking(False); live.append(s)
open(d + "/file", "w").close()
probe = """import errno, socket, sys
def says(n, t):
	s = socket.socket(socket.AF_UNIX, t)
	try: s.connect(n); return "ok"
	except OSError as e: return errno.errorcode[e.errno]
for n in sys.argv[1:]: print(*{says(n, t) for t in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM)})"""
names = ["left1", "left5", "left2", "file", "missing"] + [f"live{int(t)}" for t in kinds if sys.argv[1:]]
print(*subprocess.run([*sys.argv[1:], sys.executable, "-c", probe, *(d + "/" + n for n in names)], text=True, stdout=subprocess.PIPE).stdout.split(), end=" ")
def heard(s):
	try: return s.accept() if s.type != socket.SOCK_DGRAM else s.recv(9)
	except BlockingIOError: return None
print(*{bool(heard(s)) for s in live}); subprocess.run(["rm", "-r", d])'
same "sockets that are nobody's, natively" "ECONNREFUSED ECONNREFUSED ECONNREFUSED ECONNREFUSED ENOENT False" "$(python3 -c "$stale")"
same "and here; somebody's are asked about, unheard" "ECONNREFUSED ECONNREFUSED ECONNREFUSED ECONNREFUSED ENOENT EACCES EACCES EACCES False" \
	"$(python3 -c "$stale" "$USHER" run --journal="$T/stale" -- 2>"$T/stale.said")"
check "what is nobody's was no question" [ "$(grep -c '^allow connect' "$T/stale.said")" = 3 ]

# Isolation
echo "$BASE" | rules none.rules
{ echo "$BASE"; echo 'allow net unix:$TMPDIR/**'; } | rules unix.rules
look='import os, re; print(os.readlink("/proc/self/ns/net"), *sorted(re.findall(r"(\w+):", open("/proc/self/net/dev").read())))'
here=$(readlink /proc/self/ns/net)
inside() { supervise "$@" python3 -c "$look"; }
if is_root && unshare -n true 2>/dev/null; then
	got=$(inside "$T/etc/none.rules")
	same "nothing can be allowed: loopback alone" lo "${got#* }"
	check "in a namespace of its own" [ "${got% *}" != "$here" ]
	check "which the journal says" grep -q '"isolate":"net"' <<<"$(journal | head -n 1)"
	got=$(OPTIONS=--isolate=none inside "$T/etc/none.rules")
	same "--isolate=none" "$here" "${got%% *}"
else
	skip "--isolate=auto" "needs root"
fi
got=$(inside "$T/etc/tcp.rules")
same "something can be allowed: no namespace" "$here" "${got%% *}"
if unshare -Un true 2>/dev/null || { is_root && unshare -n true 2>/dev/null; }; then
	own='import socket, os
s = socket.create_server(("127.0.0.1", 0)); c = socket.create_connection(s.getsockname()); d, _ = s.accept(); d.send(b"met"); print(c.recv(9), os.getuid(), os.getgid(), os.stat(".").st_uid)'
	same "--isolate=net: servers and clients meet inside" "b'met' $(id -u) $(id -g) $(id -u)" "$(OPTIONS=--isolate=net supervise allow python3 -c "$own")"
	got=$(OPTIONS=--isolate=net inside "$T/etc/allow.rules")
	same "--isolate=net: loopback alone" lo "${got#* }"
else
	skip "--isolate=net" "no user namespaces"
fi
# Sockets with a name still work from inside.
unixes='import socket, os
p = os.environ["TMPDIR"] + "/s"; s = socket.socket(socket.AF_UNIX); s.bind(p); s.listen(); c = socket.socket(socket.AF_UNIX); c.connect(p)
d, _ = s.accept(); d.send(b"met"); print(c.recv(9)); a, b = socket.socketpair(); r, w = os.pipe(); socket.send_fds(a, [b"x"], [w]); print(len(socket.recv_fds(b, 9, 1)[1])); os.unlink(p)'
same "unix sockets natively" "bmet 1" "$(python3 -c "$unixes" | xargs)"
same "unix sockets where no network can be allowed" "bmet 1" "$(supervise "$T/etc/unix.rules" python3 -c "$unixes" | xargs)"

# Ports that nobody listens on
cat >"$T/etc/vacant.py" <<'P'
import errno, select, socket, sys
def meets(host, port, *, waits=True):
    s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET); s.setblocking(waits)
    rc = s.connect_ex((host, port))
    if rc == errno.EINPROGRESS:
        select.select([], [s], [], 5); rc = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    return errno.errorcode.get(rc, "met")
def listens(host):
    s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    if ":" in host: s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    s.bind((host, PORT)); s.listen(); return s
l = socket.socket(); l.bind(("127.0.0.1", 0)); PORT = l.getsockname()[1]
def row(): print(*(meets(h, PORT) for h in ("127.0.0.1", "127.0.0.2", "0.0.0.0", "::1", "::ffff:127.0.0.1", "::")), meets("127.0.0.1", PORT, waits=False))
row(); l.listen(); row(); l.close(); row()
for host in "127.0.0.2", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1":
    l = listens(host); row(); l.close()
P
if vacant_ports; then
	{ echo 'deny connect tcp:127.0.0.0/8:* tcp:[::1]:* vacant errno=ECONNREFUSED'; echo 'deny connect tcp:*:* errno=EHOSTDOWN'; echo 'default allow'; } | rules vacant.rules
	{ echo 'deny connect tcp:127.0.0.0/8:* tcp:[::1]:* vacant errno=ENETDOWN'; echo 'default allow'; } | rules found.rules
	native=$(python3 "$T/etc/vacant.py")
	check "a port that nobody listens on natively" grep -q ECONNREFUSED <<<"$native"
	same "one that is vacant is refused, any other is decided on: each as the kernel finds a listener" "$(sed 's/met/EHOSTDOWN/g' <<<"$native")" "$(supervise "$T/etc/vacant.rules" python3 "$T/etc/vacant.py")"
	same "none is vacant that somebody listens on, and each else is" "$(sed 's/ECONNREFUSED/ENETDOWN/g' <<<"$native")" "$(supervise "$T/etc/found.rules" python3 "$T/etc/vacant.py")"
	check "by that rule" grep -q '"verdict":"deny".*found.rules:1"' <<<"$(journal)"
	later='import errno, select, socket, sys
free = socket.socket(); free.bind(("127.0.0.1", 0)); port = free.getsockname()[1]
name = lambda rc: errno.errorcode.get(rc, rc)
def tells(s, host): # what a connect that does not wait is told, step by step
    told = [name(s.connect_ex((host, port)))]
    p = select.poll(); p.register(s, select.POLLOUT | select.POLLIN); told += [e for _, e in p.poll(5000)]
    return told
def new(host):
    s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET); s.setblocking(False); return s
for host in "127.0.0.1", "127.0.0.2", "0.0.0.0", "::1", "::ffff:127.0.0.1", "::":
    s = new(host); print(host, *tells(s, host), name(s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)), name(s.connect_ex((host, port))))
    s = new(host); print(*tells(s, host), name(s.connect_ex((host, port))), end=" ")
    try: s.getpeername()
    except OSError as e: print(name(e.errno))
s = new("127.0.0.1"); s.connect_ex(("127.0.0.1", port)); s.connect_ex(("127.0.0.1", port))
l = socket.create_server(("127.0.0.1", 0)); s.setblocking(True); s.connect(l.getsockname()); s.setblocking(False); print(*tells(s, "127.0.0.1")); l.accept()[0].send(b"met"); print(s.recv(9))
s = new("127.0.0.1"); s.setsockopt(socket.IPPROTO_TCP, 30, 1); print(name(s.connect_ex(("127.0.0.1", port))))
'
	same "one that does not wait is told later, as natively" "$(python3 -c "$later")" "$(ASK=deny supervise agent python3 -c "$later" 2>&1)"
	check "the record says by what it was refused" grep -q '"type":"call".*"object":"tcp:127.0.0.1:.*"result":"ECONNREFUSED"' <<<"$(journal)"
	# Of UDP: whether somebody would get a datagram
	cat >"$T/etc/nobody.py" <<'P'
import errno, os, select, socket
def new(host, port=0, connect=None):
    s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
    if ":" in host: s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    s.bind((host, port))
    if connect: s.connect(connect)
    return s
def meets(s, host, port, receiver):
    rc = s.connect_ex((host, port))
    if rc == 0:
        s.send(b"x")
        if receiver in select.select([s, receiver], [], [], 5)[0]: return receiver.recv(9) and "met"
        rc = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    return errno.errorcode[rc]
free = new("127.0.0.1"); port = free.getsockname()[1]; free.close()
for host in "127.0.0.1", "127.0.0.2", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1":
    r = new(host, port)
    for to in "127.0.0.1", "127.0.0.2", "0.0.0.0", "::1", "::ffff:127.0.0.1", "::":
        print(meets(socket.socket(socket.AF_INET6 if ":" in to else socket.AF_INET, socket.SOCK_DGRAM), to, port, r), end=" ")
    r.close(); print()
# One that is connected gets from its peer alone, whatever address that is bound to.
for peer, host in ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::1", "::1"), ("::", "::1"), ("::", "::ffff:127.0.0.1"):
    b = new(peer); a = new(host, port, (host, b.getsockname()[1]))
    print(meets(new(peer), host, port, a), meets(b, host, port, a)); a.close(); b.close()
P
	{ echo 'deny connect udp:127.0.0.0/8:* udp:[::1]:* vacant errno=ENETDOWN'; echo 'default allow'; } | rules nobody.rules
	datagrams=$(python3 "$T/etc/nobody.py")
	check "datagrams that nobody gets natively, and such that somebody does" grep -qz 'met.*ECONNREFUSED' <<<"$datagrams"
	same "vacant is where nobody would get a datagram" "$(sed 's/ECONNREFUSED/ENETDOWN/g' <<<"$datagrams")" "$(supervise "$T/etc/nobody.rules" python3 "$T/etc/nobody.py")"
	# As getaddrinfo puts the addresses of localhost in order
	order="import errno, socket
free = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); free.bind(('::', 0)); port = free.getsockname()[1]; free.close()
for host, family in ('::1', socket.AF_INET6), ('127.0.0.1', socket.AF_INET):
	for p in 0, port: print(socket.socket(family, socket.SOCK_DGRAM).connect_ex((host, p)) in (0, errno.ECONNREFUSED))"
	same "names are looked up and nobody asked" "True True True True" "$(ASK=deny supervise agent python3 -c "$order" 2>&1 | xargs)"
	tries="import socket, threading, time
port = $(free_port)
def serves():
	time.sleep(0.3); s = socket.create_server(('127.0.0.1', port)); s.accept(); time.sleep(9)
threading.Thread(target=serves, daemon=True).start()
for i in range(600):
	try: socket.create_connection(('127.0.0.1', port)); print('reached'); break
	except ConnectionRefusedError: time.sleep(0.05)"
	same "a client that comes before its server, natively" reached "$(python3 -c "$tries")"
	same "under builtin:agent, nobody asked" reached "$(ASK=deny supervise agent python3 -c "$tries" 2>&1)"
	if unshare -Un true 2>/dev/null || { is_root && unshare -n true 2>/dev/null; }; then
		same "in a namespace of its own" "$(sed 's/ECONNREFUSED/ENETDOWN/g' <<<"$native")" "$(OPTIONS=--isolate=net supervise "$T/etc/found.rules" python3 "$T/etc/vacant.py")"
	fi
else
	skip "vacant ports" "no inet_diag"
fi

# A server outside, for what follows
PORT=$(free_port)
python3 -m http.server --bind 127.0.0.1 "$PORT" >/dev/null 2>&1 & server=$!
at_exit "kill $server 2>/dev/null"
wait_for listening "$PORT" || not_ok server "it does not start"
many="import socket
n = 0
for i in range(8):
	try: socket.create_connection(('127.0.0.1', $PORT)).close(); n += 1
	except OSError as e: print(e.errno)
print(n)"
same "a limit natively" 8 "$(python3 -c "$many")"
{ echo "$BASE"; echo "allow connect tcp:127.0.0.1:$PORT limit=5/h"; } | rules limit.rules
same "a limit refuses" "13 13 13 5" "$(supervise "$T/etc/limit.rules" python3 -c "$many" | xargs)"
check "and the count is in the journal" grep -a '"count":5' <<<"$(journal | grep -a '"verdict":"deny"' | tail -n 1)"
check "as is the rule" grep -a 'limit.rules:4' <<<"$(journal | grep -a '"verdict":"deny"' | tail -n 1)"
{ echo "$BASE"; echo "allow connect tcp:127.0.0.1:$PORT limit=5/h else=ask"; } | rules ask.rules
same "a limit asks" 8 "$(ASK="exec:$T/etc/yes" supervise "$T/etc/ask.rules" python3 -c "$many" | xargs)"
same "three times" 3 "$(journal | grep -ac '"type":"answer"')"
# Nobody but who is asked answers: the rule itself allows what is within its limit, and no more.
same "and not beyond it unasked" "13 13 13 5" "$(ASK=deny supervise "$T/etc/ask.rules" python3 -c "$many" 2>/dev/null | xargs)"
cat >"$T/etc/held" <<H
#!/bin/sh
cat >/dev/null
echo >>"$T/held"
echo '{"answer":"'\$1'","scope":"session"}'
H
chmod 755 "$T/etc/held"
: >"$T/held"
same "a denial for the session holds beyond it" "13 13 13 5" "$(ASK="exec:$T/etc/held deny" supervise "$T/etc/ask.rules" python3 -c "$many" | xargs)"
same "and is given once" 1 "$(wc -l <"$T/held")"
: >"$T/held"
same "so does an answer that allows" 8 "$(ASK="exec:$T/etc/held allow" supervise "$T/etc/ask.rules" python3 -c "$many" | xargs)"
same "which is given once, too" 1 "$(wc -l <"$T/held")"

# One call that sends many is many.
cat >"$T/batch.py" <<'P'
import ctypes, socket, struct, sys
c = ctypes.CDLL(None, use_errno=True)
r = socket.socket(2, 2); r.bind(("127.0.0.1", int(sys.argv[1]))); r.setblocking(False)
s, port = socket.socket(2, 2), r.getsockname()[1]
to = ctypes.create_string_buffer(struct.pack("=H", 2) + struct.pack(">H", port) + bytes([127, 0, 0, 1]) + bytes(8), 16)
byte = ctypes.create_string_buffer(b"x", 1)
part = ctypes.create_string_buffer(struct.pack("QQ", ctypes.addressof(byte), 1))
all = ctypes.create_string_buffer(struct.pack("QI4xQQQQI4xI4x", ctypes.addressof(to), 16, ctypes.addressof(part), 1, 0, 0, 0, 0) * 10)
said, n = [c.sendmmsg(s.fileno(), all, 10, 0) for i in range(3)], 0
try:
	while r.recv(9): n += 1
except BlockingIOError: print(n, *said)
P
if [ "$(uname -m)" = x86_64 ]; then
	PORTU=$(free_port)
	same "(control) thirty messages in three calls natively" "30 10 10 10" "$(python3 "$T/batch.py" "$PORTU")"
	{ echo "$BASE"; echo "allow send udp:127.0.0.1:$PORTU limit=2/h"; echo "allow bind udp:127.0.0.1:*"; } | rules batch.rules
	same "a limit counts the messages of a call" "2 1 1 -1" "$(supervise "$T/etc/batch.rules" python3 "$T/batch.py" "$PORTU")"
fi

# Led elsewhere
echo moved >moved.txt
fetch="import urllib.request as u; print(u.urlopen('http://127.0.0.1:1/moved.txt', timeout=5).read())"
{ echo "$BASE"; echo "rewrite connect tcp:127.0.0.1:1 -> tcp:127.0.0.1:$PORT"; } | rules moved.rules
check "nothing is there natively" bash -c "! python3 -c \"$fetch\""
same "rewrite connect" "b'moved\\n'" "$(supervise "$T/etc/moved.rules" python3 -c "$fetch")"

# To another family: the socket is exchanged under its number
cat >"$T/serve.py" <<'P'
import http.server as h, os, socket, socketserver, sys, threading
class H(h.SimpleHTTPRequestHandler):
	def address_string(self): return "somebody"
	def log_message(self, *a): pass
class Six(h.ThreadingHTTPServer): address_family = socket.AF_INET6
class Unix(socketserver.ThreadingUnixStreamServer):
	def get_request(self): return super().get_request()[0], ("", 0)
six = Six(("::1", int(sys.argv[1])), H)
unix = Unix(sys.argv[2], H)
os.chmod(sys.argv[2], 0o777)
threading.Thread(target=six.serve_forever).start()
unix.serve_forever()
P
PORT6=$(free_port)
mkdir "$T/served"
echo moved >"$T/served/moved.txt"
(cd "$T/served" && exec python3 "$T/serve.py" "$PORT6" "$T/served/sock" 2>"$T/serve.err") & six=$!
at_exit "kill $six 2>/dev/null"
if ! wait_for test -S "$T/served/sock"; then
	skip "to another family" "no IPv6: $(tail -n 1 "$T/serve.err")"
	finish
fi
{ echo "$BASE"; echo "rewrite connect tcp:127.0.0.1:1 -> tcp:[::1]:$PORT6"; } | rules six.rules
{ echo "$BASE"; echo "rewrite connect tcp:127.0.0.1:1 -> unix:$T/served/sock"; } | rules unix.rules
same "rewrite IPv4 to IPv6 (python)" "b'moved\\n'" "$(supervise "$T/etc/six.rules" python3 -c "$fetch")"
peers='import socket, os, fcntl, select
s = socket.socket(); s.settimeout(9); n = s.fileno(); e = select.epoll(); e.register(s, select.EPOLLOUT)
s.connect(("127.0.0.1", 1)); p = socket.socket(fileno=os.dup(n)).getpeername(); print(p if isinstance(p, str) else p[0], s.fileno() == n, fcntl.fcntl(n, fcntl.F_GETFD), bool(fcntl.fcntl(n, fcntl.F_GETFL) & os.O_NONBLOCK), e.poll(5)[0][0] == n)
e.modify(s, select.EPOLLIN); s.sendall(b"GET /moved.txt HTTP/1.0\r\n\r\n"); print(e.poll(5)[0][1] & select.EPOLLIN)
b = b""
while d := s.recv(9999): b += d
print(b[-6:]); e.unregister(s)'
same "the new socket is like the old (IPv6)" "::1 True 1 True True 1 b'moved\\n'" "$(supervise "$T/etc/six.rules" python3 -c "$peers" | tr '\n' ' ' | sed 's/ $//')"
same "the new socket is like the old (unix)" "$T/served/sock True 1 True True 1 b'moved\\n'" "$(supervise "$T/etc/unix.rules" python3 -c "$peers" | tr '\n' ' ' | sed -e 's/ $//' -e "s#/proc/self/fd/[0-9]*#$T/served/sock#")"
last='import socket, os, select
s = socket.socket(); os.dup2(s.fileno(), 511); s.close(); s = socket.socket(fileno=511); e = select.epoll(); e.register(s, select.EPOLLOUT)
s.connect(("127.0.0.1", 1)); print(e.poll(5))'
same "the last number there can be stays in its epoll set" "[(511, 4)]" "$(ulimit -n 512 && supervise "$T/etc/unix.rules" python3 -c "$last")"
if command -v curl >/dev/null; then
	for r in six unix; do same "curl ($r)" moved "$(supervise "$T/etc/$r.rules" curl -s --max-time 9 http://127.0.0.1:1/moved.txt)"; done
fi
if command -v node >/dev/null; then
	for r in six unix; do same "node ($r)" moved "$(supervise "$T/etc/$r.rules" node -e 'require("http").get("http://127.0.0.1:1/moved.txt", r => r.pipe(process.stdout))')"; done
fi
if command -v go >/dev/null; then
	mkdir "$T/go"
	printf 'package main\nimport ("io"; "net/http"; "os")\nfunc main() { r, err := http.Get("http://127.0.0.1:1/moved.txt"); if err != nil { panic(err) }; io.Copy(os.Stdout, r.Body) }\n' >"$T/go/main.go"
	if (cd "$T/go" && HOME=$T/go GO111MODULE=off go build -o client main.go) 2>"$T/go.log"; then
		for r in six unix; do same "Go, which registers first ($r)" moved "$(supervise "$T/etc/$r.rules" "$T/go/client")"; done
	else not_ok go "$(tail -n 3 "$T/go.log")"; fi
fi
# show=asked
for r in six unix; do sed 's/^\(rewrite .*\)/\1 show=asked/' "$T/etc/$r.rules" | rules "$r-asked.rules"; done
{ echo "$BASE"; echo "rewrite connect tcp:*:1 -> tcp:127.0.0.1:$PORT show=asked"; echo "allow net tcp:127.0.0.1:*"; } | rules four-asked.rules
asked='import socket, os, ctypes
A = ("127.0.0.1", 1); s = socket.create_connection(A); print(s.getpeername(), socket.socket(fileno=os.dup(s.fileno())).getpeername())
r = os.fork()
if not r: print("child", s.getpeername(), flush=True); os._exit(0)
os.waitpid(r, 0); a, b = socket.socketpair(); socket.send_fds(a, [b"x"], [s.fileno()]); print(socket.socket(fileno=socket.recv_fds(b, 9, 1)[1][0]).getpeername())
l = socket.create_server(("127.0.0.1", 0)); c = socket.create_connection(l.getsockname()); x, _ = l.accept(); print(x.getpeername() == c.getsockname(), c.getpeername() == l.getsockname())
libc = ctypes.CDLL(None, use_errno=True); buf = ctypes.create_string_buffer(16); n = ctypes.c_int(3); g = libc.getpeername
print(g(s.fileno(), buf, ctypes.byref(n)), n.value, buf.raw[:4], g(s.fileno(), buf, ctypes.byref(ctypes.c_int(-1))), ctypes.get_errno(), g(s.fileno(), 1, ctypes.byref(n)), ctypes.get_errno(), g(99, buf, ctypes.byref(n)), ctypes.get_errno())
try: socket.socket().getpeername()
except OSError as e: print(e.errno)
for i in range(300):
	with socket.create_connection(A) as q: assert q.getpeername() == A'
want="('127.0.0.1', 1) ('127.0.0.1', 1)
child ('127.0.0.1', 1)
('127.0.0.1', 1)
True True
0 16 b'\\x02\\x00\\x00\\x00' -1 22 -1 14 -1 9
107"
same "show=asked: copies, children, passed on, odd lengths" "$want" "$(supervise "$T/etc/four-asked.rules" python3 -c "$asked" 2>&1)"
show="import socket; s = socket.create_connection(('127.0.0.1', 1)); print(*s.getpeername())"
for r in six unix; do same "show=asked in another family ($r)" "127.0.0.1 1" "$(supervise "$T/etc/$r-asked.rules" python3 -c "$show")"; done
if command -v curl >/dev/null; then
	for r in four six unix; do same "curl's remote_ip ($r)" "127.0.0.1:1" "$(supervise "$T/etc/$r-asked.rules" curl -s --max-time 9 -o /dev/null -w '%{remote_ip}:%{remote_port}' http://127.0.0.1:1/moved.txt)"; done
fi
if command -v node >/dev/null; then
	for r in four six unix; do same "node's remoteAddress ($r)" "127.0.0.1 1" "$(supervise "$T/etc/$r-asked.rules" node -e 'require("http").get("http://127.0.0.1:1/moved.txt", r => { console.log(r.socket.remoteAddress, r.socket.remotePort); r.resume() })')"; done
fi
same "without it the true peer" "127.0.0.1 $PORT" "$(supervise "$T/etc/moved.rules" python3 -c "$show")"

udp='import socket
try: s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(("127.0.0.1", 1)); print("connected")
except OSError as e: print(e.errno)'
{ echo "$BASE"; echo "rewrite connect udp:127.0.0.1:1 -> udp:[::1]:$PORT6"; } | rules six.rules
check "datagrams do not change their family: a load error" bash -c "! '$USHER' check '$T/etc/six.rules' 2>&1 | grep -q '^0 errors'"

# A unix stream to TCP; a program that is staged by sockets of all kinds
{ echo "$BASE"; echo 'allow net unix:$TMPDIR/** udp:127.0.0.1:*'; echo "rewrite connect unix:/run/nobody.sock unix:@nobody -> tcp:127.0.0.1:$PORT"; } | rules tcp-asked.rules
tounix='import socket
for a in "/run/nobody.sock", "\0nobody":
	s = socket.socket(socket.AF_UNIX)
	try: s.connect(a)
	except OSError as e: print(e.errno); continue
	s.sendall(b"GET /moved.txt HTTP/1.0\r\n\r\n"); b = b""
	while d := s.recv(9999): b += d
	print(b[-6:])
d = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
try: d.connect("\0nobody")
except OSError as e: print(e.errno)'
same "rewrite a unix stream to TCP" "b'moved\n' b'moved\n' 91" "$(supervise "$T/etc/tcp-asked.rules" python3 -c "$tounix" | xargs -d '\n')"

# Datagrams led elsewhere, message by message
dgram='import socket, os
r = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for i in range(2)]
for i in range(2): r[i].bind(("127.0.0.1", int(os.environ["P%d" % i])))
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b"one", ("127.0.0.1", int(os.environ["P0"]))); s.sendmsg([b"two"], [], 0, ("127.0.0.1", int(os.environ["P0"])))
r[1].settimeout(5); print(r[1].recv(9), r[1].recv(9))
t = os.environ["TMPDIR"]; u = [socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for i in range(2)]
for i in range(2): u[i].bind("%s/d%d" % (t, i))
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.sendto(b"three", t + "/d0"); u[1].settimeout(5); print(u[1].recv(9))
for i in range(2): os.unlink("%s/d%d" % (t, i))'
P0=$(free_port) P1=$(free_port)
export P0 P1
{ echo "$BASE"; echo "rewrite send udp:127.0.0.1:$P0 -> udp:127.0.0.1:$P1"; echo 'rewrite send unix:$TMPDIR/d0 -> unix:$TMPDIR/d1'; echo 'allow net unix:$TMPDIR/** udp:127.0.0.1:*'; } | rules send.rules
same "rewrite send (udp, unix)" "b'one' b'two' b'three'" "$(supervise "$T/etc/send.rules" python3 -c "$dgram" | xargs -d '\n')"

# bind led elsewhere
serve="import socket; s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(('0.0.0.0', 1)); s.listen(); print(*s.getsockname())"
PORT=$(free_port)
{ echo "$BASE"; echo "rewrite bind tcp:0.0.0.0:1 -> tcp:127.0.0.1:$PORT"; } | rules bind.rules
same "rewrite bind" "127.0.0.1 $PORT" "$(supervise "$T/etc/bind.rules" python3 -c "$serve")"
names='import socket, os
t = os.environ["TMPDIR"]
for a in "/run/nobody/sock" if os.path.exists("/run/nobody") else "/etc/nobody.sock", "\0nobody", t + "/here":
	s = socket.socket(socket.AF_UNIX)
	try: s.bind(a)
	except OSError as e: print(e.errno); continue
	s.listen(); n = s.getsockname(); c = socket.socket(socket.AF_UNIX); c.connect(n); x = s.accept()[0]; x.send(b"met"); print(n, c.recv(9))
print(sorted(os.listdir(t))); os.unlink(t + "/moved"); os.unlink(t + "/here")'
{ echo "$BASE"; echo 'rewrite bind unix:/etc/nobody.sock -> unix:$TMPDIR/moved'; echo 'rewrite bind unix:@nobody -> unix:@somebody-of-this-test'; echo 'allow net unix:$TMPDIR/** unix:@**'; echo 'allow create /etc/nobody.sock'; } | rules names.rules
mkdir "$T/names"; chmod 777 "$T/names"
same "rewrite bind (unix)" "$T/names/moved b'met' b'\\x00somebody-of-this-test' b'met' $T/names/here b'met' ['here', 'moved']" "$(TMPDIR=$T/names supervise "$T/etc/names.rules" python3 -c "$names" 2>&1 | xargs -d '\n')"
finish
