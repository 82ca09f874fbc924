#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What rules on the network do: UDP that cannot exist, limits, one namespace with nothing but loopback, rewrites.
. "$(dirname "$0")/lib.sh"
need python3
fresh
rules() { # NAME, text on stdin
	cat >"$T/etc/$1"
	chmod 600 "$T/etc/$1"
}
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

# Led elsewhere
echo moved >moved.txt
fetch="import urllib.request as u; print(u.urlopen('http://127.0.0.1:1/moved.txt', timeout=5).read())"
{ echo "$BASE"; echo "rewrite connect tcp:127.0.0.1:1 -> tcp:127.0.0.1:$PORT"; } | rules moved.rules
check "nothing is there natively" bash -c "! python3 -c \"$fetch\""
same "rewrite connect" "b'moved\\n'" "$(supervise "$T/etc/moved.rules" python3 -c "$fetch")"
finish
