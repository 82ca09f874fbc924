#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# users: root
# Names and addresses: dnsmasq with dig and getaddrinfo, hosts with several addresses, the clouds' metadata addresses. All in
# a network namespace that the test makes, with a resolv.conf of its own.
if [ -z "${INSIDE:-}" ]; then
	[ "$(id -u)" = 0 ] && unshare -nm true 2>/dev/null || { echo "skip net_names: needs network namespaces"; exit 77; }
	INSIDE=1 exec unshare -nm "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
need ip dnsmasq dig python3 curl mount
ip link set lo up
for a in 10.9.0.1/32 10.9.0.2/32 10.9.0.3/32 169.254.169.254/32; do ip addr add $a dev lo; done
for a in fd09::1/128 fd00:ec2::254/128; do ip addr add $a dev lo nodad; done
echo "nameserver 127.0.0.1" >"$T/etc/resolv.conf"
echo "nameserver 127.0.0.2" >"$T/etc/second.conf"
printf 'hosts: files dns\n' >"$T/etc/nsswitch.conf"
for f in resolv.conf nsswitch.conf; do mount --bind "$T/etc/$f" "$(readlink -f /etc/$f)" || skip_all "no mounts"; done
at_exit "umount -l /etc/nsswitch.conf \$(readlink -f /etc/resolv.conf)"
names() { # ADDRESS OPTIONS...: a name server that runs natively
	local a=$1
	shift
	dnsmasq --keep-in-foreground --conf-file=/dev/null --user=root --no-resolv --no-hosts --pid-file= --listen-address="$a" --bind-interfaces --cache-size=0 "$@" >"$T/dns.$a" 2>&1 &
	at_exit "kill $! 2>/dev/null; wait $! 2>/dev/null"
	wait_for dig +time=1 +tries=1 "@$a" one.test
}
text=$(printf 'x%.0s' $(seq 200))
long=()
for i in $(seq 12); do long+=("--txt-record=long.test,$i$text"); done
names 127.0.0.1 --host-record=one.test,10.9.0.1 --host-record=six.test,fd09::1 --address=/many.test/10.9.0.1 --address=/many.test/10.9.0.2 --address=/many.test/10.9.0.3 "${long[@]}" || not_ok dnsmasq "$(cat "$T/dns.127.0.0.1")"
names 127.0.0.2 --host-record=one.test,10.9.0.2 || not_ok dnsmasq "$(cat "$T/dns.127.0.0.2")"
MODES="allow yes"

both dig <<'S'
q() { dig +time=20 +tries=1 +nocookie "$@" 2>&1 | sort; }
q +short one.test; q +short +tcp one.test; q +short AAAA six.test; q +short many.test; q +short @127.0.0.2 one.test; q +short -x 10.9.0.1
q +short +bufsize=512 TXT long.test | wc -c; q +ignore +bufsize=512 TXT long.test | grep -o 'flags: .* tc'; q +short +tcp TXT long.test | wc -c; q none.test | grep -o NXDOMAIN\\\|REFUSED\\\|NOERROR; q @127.0.0.3 one.test | grep -c 'no servers\|refused'
dig +short -f <(for i in $(seq 30); do echo one.test; echo six.test AAAA; done) | sort | uniq -c
S
both getaddrinfo <<'S'
cat > n.py <<'P'
import socket
for n, p in ("one.test", 80), ("six.test", 80), ("many.test", 80), ("none.test", 80), ("localhost", 80), ("10.9.0.1", "http"):
	try: print(n, sorted({a[4][0] for a in socket.getaddrinfo(n, p)}))
	except OSError as e: print(n, e)
print(socket.gethostbyname_ex("many.test")[2].sort(), socket.getnameinfo(("10.9.0.1", 80), 0))
P
python3 n.py; RES_OPTIONS=use-vc python3 n.py; RES_OPTIONS='timeout:1 attempts:1' python3 n.py; getent ahosts many.test | sort; getent hosts six.test; perl -MSocket -e 'print inet_ntoa(inet_aton("one.test")), "\n"'; { command -v node >/dev/null && node -e 'require("dns").resolve4("one.test", (e, a) => console.log(e, a))'; }; true
S
# The resolver led to another server by its file
cat >"$T/etc/lead.rules" <<R
rewrite read /etc/resolv.conf -> $T/etc/second.conf
default allow
R
cat >"$T/etc/tcp.rules" <<R
default deny
allow read,exec,stat /**
allow write /dev/**
allow connect tcp:*:*
R
chmod 600 "$T/etc/lead.rules" "$T/etc/tcp.rules"
ask='import socket; print(socket.gethostbyname("one.test"))'
same "a name natively" 10.9.0.1 "$(python3 -c "$ask")"
same "resolv.conf led elsewhere" 10.9.0.2 "$(supervise "$T/etc/lead.rules" python3 -c "$ask")"
same "no UDP: names over TCP" 10.9.0.1 "$(RES_OPTIONS=use-vc supervise "$T/etc/tcp.rules" python3 -c "$ask")"
check "no UDP: no names" bash -c "! supervise '$T/etc/tcp.rules' python3 -c '$ask' 2>/dev/null"

# A host with several addresses of which the rules allow one
cat >"$T/serve.py" <<'P'
import http.server as h, socket, sys, threading
class H(h.BaseHTTPRequestHandler):
	def do_GET(self):
		b = (self.request.getsockname()[0] + "\n").encode(); self.send_response(200); self.send_header("Content-Length", str(len(b))); self.end_headers(); self.wfile.write(b)
	def log_message(self, *a): pass
class S(h.ThreadingHTTPServer): address_family = socket.AF_INET6
threading.Thread(target=S(("::", int(sys.argv[1])), H).serve_forever).start()
u = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); u.bind(("::", int(sys.argv[1])))
while True: b, a = u.recvfrom(99); u.sendto(b"pong", a)
P
python3 "$T/serve.py" 8080 & at_exit "kill $! 2>/dev/null; wait $! 2>/dev/null"
wait_for listening 8080 || not_ok server
cat >"$T/etc/second.rules" <<R
default deny
allow read,exec,stat /**
allow write /dev/** memfd:**
allow net udp:*:*
allow connect tcp:10.9.0.2:8080 tcp:[fd09::1]:*
R
chmod 600 "$T/etc/second.rules"
fetch='curl -s --max-time 10 http://many.test:8080/'
check "several addresses natively" grep -E '10.9.0.[123]$' <<<"$($fetch)"
same "several addresses, one allowed (curl)" "::ffff:10.9.0.2" "$(supervise "$T/etc/second.rules" $fetch)"
same "several addresses, one allowed (python)" "b'::ffff:10.9.0.2\\n'" "$(supervise "$T/etc/second.rules" python3 -c 'import urllib.request as u; print(u.urlopen("http://many.test:8080/").read())')"
same "IPv6 by name" "fd09::1" "$(supervise "$T/etc/second.rules" curl -s http://six.test:8080/)"

# Who is asked about a connection sees what the program looked up, as the program's own word
printf 'default allow\nask connect tcp:*:*\n' >"$T/etc/asks.rules"
printf '#!/bin/sh\ncat >>%s/questions\necho "{\\"answer\\":\\"allow\\"}"\n' "$T" >"$T/etc/keep"
chmod 600 "$T/etc/asks.rules"
chmod 755 "$T/etc/keep"
looks() { # what one question had as fact "$1"
	python3 -c 'import json, sys; print(*[f["value"] for f in json.loads(sys.stdin.readline())["facts"] if f["key"] == sys.argv[1]])' "$1" <"$T/questions"
}
asked() {
	rm -f "$T/questions"
	ASK="exec:$T/etc/keep" supervise "$T/etc/asks.rules" "$@" >/dev/null
	looks lookups | sed 's/[0-9]* s ago/N s ago/g'
}
word="(as the program asked name servers; what they answered is not known)"
same "a name that was looked up (curl)" "one.test N s ago $word" "$(asked curl -s http://one.test:8080/)"
check "is in the journal's record of the question" grep -q '"event":"question".*"lookups":"one.test' <(records "$JOURNAL")
cat >"$T/look.py" <<'P'
import socket, sys
def query(*labels): return b"\x00\x01\x01\x00\x00\x01" + bytes(6) + b"".join(bytes([len(l)]) + l for l in labels) + b"\0\0\1\0\1"
def to(port): u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.connect(("127.0.0.1", port)); return u
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(query(b"by-sendto", b"test"), ("127.0.0.1", 53))
to(53).sendmsg([query(b"\x1b[31m\n", b"te.st")])
to(53).send(query(b"unseen", b"test"))
to(54).sendmsg([query(b"elsewhere", b"test")])
try: socket.create_connection((sys.argv[1], 8080))
except OSError: pass
P
same "names sent by hand; send and other ports are not seen" '\\027\\09131m\\010.te\\046st N s ago, by-sendto.test N s ago '"$word" "$(asked python3 "$T/look.py" 10.9.0.1)"
same "each process has its own" "" "$(asked sh -c "getent hosts one.test; python3 -c 'import socket; socket.create_connection((\"10.9.0.1\", 8080))'")"
printf '10.9.0.1 hosts-one hosts-two\n127.0.0.1 localhost\n' >"$T/etc/hosts"
mount --bind "$T/etc/hosts" /etc/hosts && at_exit "umount -l /etc/hosts"
asked curl -s http://10.9.0.1:8080/ >/dev/null
same "names that /etc/hosts has" "hosts-one hosts-two (as /etc/hosts has it)" "$(looks host)"

# Metadata addresses, in every form they can be said
cat >"$T/meta.py" <<'P'
import errno, socket, ctypes, os
def word(e): return errno.errorcode.get(e.errno, e)
def tcp(family, *to):
	try: s = socket.socket(family, socket.SOCK_STREAM); s.settimeout(5); s.connect(to); return "reached"
	except OSError as e: return word(e)
def udp(family, *to):
	try: s = socket.socket(family, socket.SOCK_DGRAM); s.settimeout(5); s.sendto(b"ping", to); return s.recvfrom(9)[0].decode()
	except OSError as e: return word(e)
def udp_connected(family, *to):
	try: s = socket.socket(family, socket.SOCK_DGRAM); s.settimeout(5); s.connect(to); s.send(b"ping"); return s.recv(9).decode()
	except OSError as e: return word(e)
forms = [(socket.AF_INET, "169.254.169.254"), (socket.AF_INET, socket.inet_ntoa(socket.inet_aton("2852039166"))), (socket.AF_INET, "0xA9FEA9FE"),
	 (socket.AF_INET6, "::ffff:169.254.169.254"), (socket.AF_INET6, "::ffff:a9fe:a9fe"), (socket.AF_INET6, "fd00:ec2::254"), (socket.AF_INET6, "fd00:0ec2:0:0::0254")]
for f, a in forms: print(a, tcp(f, a, 8080), udp(f, a, 8080), udp_connected(f, a, 8080))
P
fields() { cut -d ' ' -f 2- | tr ' ' '\n' | sort | uniq -c | xargs; }
printf 'include builtin:secrets\nallow net tcp:*:* udp:*:*\ndefault allow\n' >"$T/etc/meta.rules"
printf 'allow connect tcp:169.254.169.254:8080\ninclude builtin:secrets\ndefault allow\n' >"$T/etc/named.rules"
chmod 600 "$T/etc/meta.rules" "$T/etc/named.rules"
same "metadata natively" "14 pong 7 reached" "$(python3 "$T/meta.py" | fields)"
same "metadata under builtin:secrets" "21 EACCES" "$(supervise "$T/etc/meta.rules" python3 "$T/meta.py" | fields)"
same "metadata named literally" "16 EACCES 5 reached" "$(supervise "$T/etc/named.rules" python3 "$T/meta.py" | fields)"
finish
