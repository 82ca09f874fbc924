#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 84: rules that let loopback alone be reached, and packets to 127.0.0.1 and ::1 that leave by another interface, which the kernel looks them up on where a socket
# is bound to it or a message names it: before a connection or behind it, by TCP and UDP. A listener on the wire sees them natively.
command -v python3 >/dev/null || { echo "skip row 84: no python3"; exit 77; }
if [ "${IN_NAMESPACE:-}" != 1 ]; then
	[ "$(id -u)" = 0 ] && unshare -n true 2>/dev/null || { echo "skip row 84: no network namespace"; exit 77; }
	IN_NAMESPACE=1 exec unshare -n bash "$0" "$@"
fi
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
ip link set lo up && ip link add near type veth peer name wire 2>/dev/null && ip link set near up && ip link set wire up &&
	ip addr add 192.0.2.1/24 dev near && ip addr add 2001:db8::1/64 dev near nodad || { echo "skip row 84: no pair of interfaces"; exit 77; }
mac=$(ip -o link show wire | sed 's/.*ether \([^ ]*\).*/\1/')
ip neigh add 192.0.2.2 lladdr "$mac" dev near && ip route add default via 192.0.2.2
ip neigh add 2001:db8::2 lladdr "$mac" dev near && ip -6 route add default via 2001:db8::2
cp "$USHER" "$T/usher" && chmod 755 "$T" "$T/usher"
cat >"$T/rules" <<'R'
allow net tcp:127.0.0.0/8:* tcp:[::1]:* udp:127.0.0.0/8:* udp:[::1]:*
allow bind udp:0.0.0.0:* udp:[::]:* udp:[fe80::]/10:*
deny net tcp:*:* udp:*:*
default allow
R
cat >"$T/probe.py" <<'P'
import socket, struct, subprocess, sys, time
SO_BINDTODEVICE, SO_BINDTOIFINDEX, IP_UNICAST_IF, IPV6_UNICAST_IF = 25, 62, 50, 76
# Each try has a port of its own: what TCP has begun it says again for minutes.
PORT = int(sys.argv.pop(1))
V4, V6 = ("127.0.0.1", PORT), ("::1", PORT)
how, command = sys.argv[1], sys.argv[2:]
near = socket.if_nametoindex("near")
pktinfo4 = (socket.IPPROTO_IP, 8, struct.pack("i8x", near))
pktinfo6 = (socket.IPPROTO_IPV6, 50, struct.pack("16xi", near))

def udp(family=socket.AF_INET): return socket.socket(family, socket.SOCK_DGRAM)
def device(s): s.setsockopt(socket.SOL_SOCKET, SO_BINDTODEVICE, b"near")
def local():
    ours = [l.split()[0] for l in open("/proc/net/if_inet6") if l.split()[5] == "near" and l.startswith("fe80")][0]
    return ":".join(ours[i:i + 4] for i in range(0, 32, 4)), 0, 0, near
def pair(family, to):
    l = socket.socket(family); l.bind(to); l.listen(1)
    return l, socket.socket(family)

def udp4_device(): s = udp(); device(s); s.sendto(b"leaves", V4)
def udp4_index(): s = udp(); s.setsockopt(socket.SOL_SOCKET, SO_BINDTOIFINDEX, near); s.sendto(b"leaves", V4)
def udp4_unicast(): s = udp(); s.setsockopt(socket.IPPROTO_IP, IP_UNICAST_IF, struct.pack("!I", near)); s.sendto(b"leaves", V4)
def udp4_message(): udp().sendmsg([b"leaves"], [pktinfo4], 0, V4)
def udp4_peer(): s = udp(); s.connect(V4); s.sendmsg([b"leaves"], [pktinfo4])
def udp6_device(): s = udp(socket.AF_INET6); device(s); s.sendto(b"leaves", V6)
def udp6_behind(): s = udp(socket.AF_INET6); s.connect(V6); device(s); s.send(b"leaves")
def udp6_unicast(): s = udp(socket.AF_INET6); s.setsockopt(socket.IPPROTO_IPV6, IPV6_UNICAST_IF, struct.pack("!I", near)); s.sendto(b"leaves", V6)
def udp6_sticky(): s = udp(socket.AF_INET6); s.setsockopt(socket.IPPROTO_IPV6, 50, pktinfo6[2]); s.sendto(b"leaves", V6)
def udp6_message(): udp(socket.AF_INET6).sendmsg([b"leaves"], [pktinfo6], 0, V6)
def udp6_peer(): s = udp(socket.AF_INET6); s.connect(V6); s.sendmsg([b"leaves"], [pktinfo6])
def udp6_local(): s = udp(socket.AF_INET6); s.bind(local()); s.sendto(b"leaves", V6)
def udp6_local_peer(): s = udp(socket.AF_INET6); s.bind(local()); s.connect(V6); s.send(b"leaves")
def tcp4():
    l, s = pair(socket.AF_INET, V4); s.setblocking(False)
    device(s); s.connect(l.getsockname())
def tcp6_behind():
    l, s = pair(socket.AF_INET6, V6); s.connect(l.getsockname())
    device(s); s.send(b"leaves")

ATTACKS = [udp4_device, udp4_index, udp4_unicast, udp4_message, udp4_peer, udp6_device, udp6_behind, udp6_unicast, udp6_sticky, udp6_message, udp6_peer,
           udp6_local, udp6_local_peer, tcp4, tcp6_behind]

def left(wire, port, wait):
    """Whether a packet to that port of loopback comes within WAIT."""
    end = time.monotonic() + wait
    while time.monotonic() < end:
        wire.settimeout(max(end - time.monotonic(), 0.001))
        try: packet, about = wire.recvfrom(2048)
        except OSError: return False
        v4, v6 = about[1] == 0x0800 and packet[16] == 127, about[1] == 0x86dd and packet[24:40] == bytes(15) + b"\1"
        behind = packet[20:] if v4 else packet[40:]
        if (v4 or v6) and struct.unpack("!H", behind[2:4])[0] == port: return True
    return False

if how == "--attack":
    try: [a for a in ATTACKS if a.__name__ == command[0]][0]()
    except OSError as e: print(e)
    sys.exit()
if how == "--fair": # what names loopback's own interface stays, and goes
    udp().sendmsg([b"stays"], [(socket.IPPROTO_IP, 8, struct.pack("i8x", 1))], 0, V4)
    udp(socket.AF_INET6).sendmsg([b"stays"], [(socket.IPPROTO_IPV6, 50, struct.pack("16xi", 1))], 0, V6)
    sys.exit()
wire = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3)); wire.bind(("wire", 0))
for port, a in enumerate(ATTACKS, PORT):
    subprocess.run(command + [sys.executable, sys.argv[0], str(port), "--attack", a.__name__])
    got = left(wire, port, 1 if how == "natively" else 0.3)
    print("ok" if got == (how == "natively") else "not ok", f"row 84: {a.__name__} {how}: {'left' if got else 'stayed'}")
P
python=$(python3 -c 'import sys; print(sys.executable)')
# An address of the link is there when the interface has carrier.
for i in $(seq 100); do ip -6 addr show dev near scope link | grep -q tentative || break; sleep 0.05; done
port=20000
run() { # name, command
	"$python" "$T/probe.py" "$port" "$1" "${@:2}"
	port=$((port + 100))
}
user=(setpriv --reuid=1000 --regid=1000 --clear-groups)
run natively
export XDG_STATE_HOME=$T/state
mkdir -m 1777 "$T/state" "$T/mine"
chmod 600 "$T/rules"
run "as root" "$T/usher" run -p "$T/rules" --
"$T/usher" run -p "$T/rules" -- "$python" "$T/probe.py" 9 --fair && echo "ok row 84: loopback by name of its interface" || echo "not ok row 84: loopback by name of its interface"
chown -R 1000 "$T/rules" "$T/state"
if "${user[@]}" "$python" -c 1 2>/dev/null; then
	run "as a user" "${user[@]}" env HOME="$T/mine" "$T/usher" run -p "$T/rules" --
fi
