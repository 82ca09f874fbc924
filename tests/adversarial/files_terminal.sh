#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 32: a directory that comes from another mount namespace has a ptmx of the same name and another file system behind it: a terminal made there
# has the number of somebody else's here, which is not the tree's own for that. The control: natively that one is opened; what the tree makes here it opens.
T=$(mktemp -d /tmp/usher-terminal.XXXXXX) || exit 1
trap 'rm -rf "$T"' EXIT
chmod 755 "$T"
bad=0
cat >"$T/inside.py" <<'P'
import fcntl, os, struct, sys
# inside.py DIRECTORY NUMBER: whether the terminal is opened before one of its number is made there, and after; and one that is made here
def opened(number):
    try:
        os.close(os.open("/dev/pts/%d" % number, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK))
        return "opened"
    except OSError as e:
        return str(e.errno)
def made(where):
    masters.append(os.open("ptmx", os.O_RDWR | os.O_NOCTTY, dir_fd=where))
    fcntl.ioctl(masters[-1], 0x40045431, struct.pack("i", 0))
    return struct.unpack("I", fcntl.ioctl(masters[-1], 0x80045430, bytes(4)))[0]
masters, there, wanted = [], int(sys.argv[1]), int(sys.argv[2])
before = opened(wanted)
while made(there) < wanted:
    pass
print(before, opened(wanted), opened(made(os.open("/dev", os.O_PATH))))
P
cat >"$T/outside.py" <<'P'
import ctypes, os, socket, subprocess, sys
# outside.py COMMAND...: has a terminal, and the command a directory of terminals of another namespace, which lives as long. {} is its descriptor.
libc = ctypes.CDLL(None)
def other_namespace(end):
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(0x20000 | (0x10000000 if uid else 0)):
        os._exit(77)
    if uid:
        for name, text in ("setgroups", "deny"), ("uid_map", "0 %d 1" % uid), ("gid_map", "0 %d 1" % gid):
            with open("/proc/self/" + name, "w") as f:
                f.write(text)
    libc.mount(b"none", b"/", None, 0x44000, None)
    if libc.mount(b"devpts", b"/dev/pts", b"devpts", 0, b"newinstance,ptmxmode=0666"):
        os._exit(77)
    socket.send_fds(end, [b"x"], [os.open("/dev/pts", os.O_RDONLY | os.O_DIRECTORY)])
    end.recv(1)
    os._exit(0)
master, slave = os.openpty()
here, there = socket.socketpair()
if os.fork() == 0:
    here.close()
    other_namespace(there)
there.close()
said = socket.recv_fds(here, 1, 1)
if not said[1]:
    sys.exit(77)
os.set_inheritable(said[1][0], True)
fill = {"{}": str(said[1][0]), "{number}": os.ttyname(slave).split("/")[-1]}
sys.exit(subprocess.run([fill.get(word, word) for word in sys.argv[1:]], pass_fds=said[1], stdin=subprocess.DEVNULL).returncode)
P
try() { # WHO [COMMAND...]: as whom
	local who=$1 native out
	shift
	mkdir "$T/$who" && cp "$T/inside.py" "$T/$who/" && cp "$USHER" "$T/$who.usher" && { [ $# = 0 ] || chown 1000:1000 "$T/$who"; } || exit 1
	native=$(cd "$T/$who" && "$@" /usr/bin/python3 "$T/outside.py" /usr/bin/python3 inside.py {} {number} 2>&1)
	[ "$native" = "opened opened opened" ] || { echo "skip row 32: a terminal of the same number elsewhere ($who): natively $native"; return; }
	out=$(cd "$T/$who" && HOME=$T/$who "$@" /usr/bin/python3 "$T/outside.py" sh -c 'exec "$0" run -p builtin:agent --ask=deny --keep-fd="$1" --journal=j -- /usr/bin/python3 inside.py "$1" "$2"' \
		"$T/$who.usher" {} {number} 2>"$T/said")
	[ "$out" = "13 13 opened" ] && echo "ok row 32: a terminal of the same number elsewhere ($who)" && return
	echo "not ok row 32: a terminal of the same number elsewhere ($who): $out $(head -c 400 "$T/said")"
	bad=1
}
if [ "$(id -u)" = 0 ]; then
	try root unshare -m --propagation private
	try user setpriv --reuid=1000 --regid=1000 --clear-groups
else
	try user
fi
exit $bad
