#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Kinds of sockets that no endpoint speaks of: who gets them, what is recorded, that they work, and whose powers count.
. "$(dirname "$0")/lib.sh"
need python3 ip
fresh
journal() { records "$(ls -dt "$T"/journal.* | head -n 1)"; } # the latest
BASE='default deny
allow read,exec,stat /**
allow write /dev/** $TMPDIR/** memfd:**'
PY=$(readlink -f "$(command -v python3)")

# Which of them can be made here at all, as this user; the kernel's own answer for each.
cat >"$T/make.py" <<'EOP'
import errno, socket, sys
kinds = {"raw": (2, 3, 1), "packet": (17, 3, 0), "packet-old": (2, 10, 0x300), "vsock": (40, 1, 0), "mptcp": (2, 1, 262), "sctp": (2, 1, 132), "sctp-many": (10, 5, 132), "dccp": (2, 6, 0),
         "diag": (16, 3, 4), "audit": (16, 3, 9), "generic": (16, 3, 16), "alg": (38, 5, 0), "smc": (43, 1, 0), "none": (44, 1, 0)}
for name in sys.argv[1:] or kinds:
    try: socket.socket(*kinds[name]).close(); print(name, "made")
    except OSError as e: print(name, errno.errorcode[e.errno])
EOP
try() { python3 "$T/make.py" "$@" | xargs; }
under() { local r=$1; shift; supervise "$r" python3 "$T/make.py" "$@" | xargs; }
native=$(try)
made() { # which of NAME... can be made natively
	local n
	for n; do [[ " $native " != *" $n made "* ]] || echo "$n"; done | xargs
}
say() { local n o=; for n in $2; do o="$o $n $1"; done; echo "${o# }"; } # "NAME WORD" of each

{ echo 'default allow'; echo 'allow socket *'; } | rules all.rules
same "all kinds are given: as natively" "$native" "$(under "$T/etc/all.rules")"
check "each is recorded" grep -q '"object":"netlink:generic","verdict":"allow"' <<<"$(journal)"
same "a default gives the plain ones" "$(try raw diag)" "$(under allow raw diag)"
odd=$(made packet packet-old vsock mptcp audit generic)
check "and no others" [ -z "$(under allow $odd | grep made)" ]
same "what is not given is answered by its type, or its protocol" "sctp EPROTONOSUPPORT sctp-many ESOCKTNOSUPPORT dccp ESOCKTNOSUPPORT packet-old EAFNOSUPPORT" \
	"$(under allow sctp sctp-many dccp packet-old)"
check "which is recorded" grep -q '"op":\["socket"\],"object":"[a-z:]*","verdict":"deny"' <<<"$(journal)"
{ echo 'default allow'; echo 'deny connect tcp:192.0.2.1:80'; } | rules deny.rules
same "where an address is denied, none" "" "$(under "$T/etc/deny.rules" | grep -o '[a-z-]* made')"
same "in the filter" "" "$(journal | grep '"op":\["socket"\]')"
OPTIONS="-p $T/etc/deny.rules"
same "nor when another file gives all" "" "$(under "$T/etc/all.rules" | grep -o '[a-z-]* made')"
OPTIONS=
{ echo "$BASE"; echo "allow socket netlink:generic by=$PY"; echo 'allow socket netlink:audit by=/usr/bin/nobody'; } | rules some.rules
same "one kind, by one program" "generic made audit EPROTONOSUPPORT diag EPROTONOSUPPORT" "$(under "$T/etc/some.rules" generic audit diag)"
check "by the rule" grep -q '"object":"netlink:generic","verdict":"allow","rule":"[^"]*some.rules:4","result":0' <<<"$(journal)"
{ echo "$BASE"; echo 'deny socket netlink:generic errno=EACCES'; echo 'ask socket netlink:audit'; echo 'allow socket netlink'; } | rules ask.rules
same "an errno, a question denied" "generic EACCES audit EPROTONOSUPPORT diag made" "$(under "$T/etc/ask.rules" generic audit diag)"
ASK="exec:$T/etc/yes"
same "a question allowed" "audit made" "$(under "$T/etc/ask.rules" audit)"
unset ASK
{ echo "$BASE"; echo 'ask socket raw packet'; } | rules raw-ask.rules
if is_root; then want="raw ESOCKTNOSUPPORT packet EAFNOSUPPORT"; else want="raw EPERM packet EPERM"; fi
same "nobody is asked for what the kernel refuses" "$want" "$(under "$T/etc/raw-ask.rules" raw packet 2>/dev/null)"
{ echo 'default allow'; echo 'allow socket netlink:generic limit=1/h'; } | rules limit.rules
same "a limit" "generic made generic EPROTONOSUPPORT" "$(under "$T/etc/limit.rules" generic generic)"

# Addresses and routes are not the tree's to change where rules restrict whom it reaches. In a network of its own, so that nothing else changes.
network() { # RULES: what becomes of an address, a link and a route; by netlink and by ioctl
	OPTIONS=--isolate=net supervise "$1" bash -c 'ip address add 192.0.2.7/32 dev lo; ip route add 198.51.100.0/24 dev lo; python3 -c "
import fcntl, socket, struct
fcntl.ioctl(socket.socket(2, 2), 0x8922, struct.pack(\"16si\", b\"lo\", 9000))" # SIOCSIFMTU
ip -o link show lo | grep -o "mtu [0-9]*"; ip -o address show lo | grep -o 192.0.2.7; ip route show | grep -o 198.51.100.0' 2>/dev/null | xargs
}
if is_root; then
	same "(control) root changes the network where nothing restricts it" "mtu 9000 192.0.2.7 198.51.100.0" "$(network allow)"
	same "where an address is denied it stays as it is" "mtu 65536" "$(network "$T/etc/deny.rules")"
	{ echo "$BASE"; echo 'allow connect,bind,send udp:*:* tcp:*:*'; echo 'allow exec /**'; echo 'allow socket *'; } | rules given.rules
	same "also where all sockets are given" "mtu 65536" "$(network "$T/etc/given.rules")"
fi

# MPTCP connects as TCP does: rules on tcp hold.
if [ -n "$(made mptcp)" ]; then
	PORT=$(free_port)
	python3 -m http.server --bind 127.0.0.1 "$PORT" >/dev/null 2>&1 & server=$!
	at_exit "kill $server 2>/dev/null"
	wait_for listening "$PORT" || not_ok server "it does not start"
	to="import socket; s = socket.socket(2, 1, 262); print(s.connect_ex(('127.0.0.1', $PORT)))"
	{ echo 'default allow'; echo "deny connect tcp:127.0.0.1:$PORT"; echo 'allow socket mptcp'; } | rules mptcp.rules
	same "mptcp connects natively" 0 "$(python3 -c "$to")"
	same "and where it may" 0 "$(supervise "$T/etc/all.rules" python3 -c "$to")"
	same "not where tcp may not" 13 "$(supervise "$T/etc/mptcp.rules" python3 -c "$to")"
else
	skip mptcp "not in this kernel"
fi

# Traffic through them, in a namespace of its own.
if is_root && unshare -n true 2>/dev/null; then
	cat >"$T/ping.py" <<'EOP'
import os, socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP); s.settimeout(5)
p = struct.pack("!BBHHH", 8, 0, 0, 7, 1) + b"hello"; c = sum(struct.unpack("!7H", p + b"\0")); c = ~((c & 0xffff) + (c >> 16)) & 0xffff
p = p[:2] + struct.pack("!H", c) + p[4:]
def reply():
    while True:
        d = s.recv(99)[20:]
        if d[0] == 0: return d[8:13]
s.sendto(p, ("127.0.0.1", 0)); print(reply()); s.sendmsg([p], [], 0, ("127.0.0.1", 0)); print(reply())
s.bind(("127.0.0.1", 0)); s.connect(("127.0.0.1", 0)); s.send(p); print(reply())
k = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x800)); k.settimeout(5); k.bind(("lo", 0x800)); s.send(p); print(k.recv(99)[28:33])
k.sendto(b"\x45" + bytes(19), ("lo", 0x800, 0, 0, bytes(6)))
EOP
	lo() { unshare -n sh -c 'ip link set lo up 2>/dev/null || ifconfig lo up; exec "$@"' - "$@"; }
	same "raw and packet sockets work natively" "bhello bhello bhello bhello" "$(lo python3 "$T/ping.py" | xargs)"
	{ echo "$BASE"; echo 'allow socket raw packet'; } | rules raw.rules
	same "raw and packet sockets work" "bhello bhello bhello bhello" "$(lo "$USHER" run -p "$T/etc/raw.rules" --ask=deny --journal "$T/journal.raw" -- python3 "$T/ping.py" | xargs)"

	# A caller that has dropped its privileges configures nothing, whichever way it asks the kernel.
	cat >"$T/drop.py" <<'EOP'
import errno, os, socket, struct, sys
if sys.argv[1] != "0": os.setgroups([]); os.setresgid(1000, 1000, 1000); os.setresuid(1000, 1000, 1000)
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
q = struct.pack("IHHII BBBBI HH4B", 32, 20, 0x405, 1, 0, 2, 32, 0, 0, 1, 8, 2, 127, 9, 9, 9)
for way in lambda: s.sendmsg([q]), lambda: s.sendmsg([q], [], 0, (0, 0)), lambda: s.sendto(q, (0, 0)), lambda: s.send(q):
    way(); print(errno.errorcode.get(-struct.unpack_from("i", s.recv(999), 16)[0], "done"))
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try: u.sendmsg([b"x"], [(socket.SOL_SOCKET, 36, struct.pack("I", 7))], 0, ("127.0.0.1", 9)); print("marked")
except OSError as e: print(errno.errorcode[e.errno])
EOP
	for who in 0 1000; do
		same "powers over the network as $who" "$(lo python3 "$T/drop.py" $who | xargs)" \
			"$(lo "$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal "$T/journal.drop$who" -- python3 "$T/drop.py" $who | xargs)"
	done
else
	skip traffic "needs root and network namespaces"
fi
# It is heard where it was before; its port is another one.
MODES=allow both "a socket that was shut down, and listens once more" <<'S'
exec /usr/bin/python3 -S -c '
import socket
for family, host in (socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::1"):
    s = socket.socket(family); s.bind((host, 0)); s.listen()
    s.shutdown(socket.SHUT_RDWR); s.listen(); print(s.getsockname()[0], s.getsockopt(socket.IPPROTO_IP, 24))
    s.listen(); print(s.getsockname()[0])'
S
finish
