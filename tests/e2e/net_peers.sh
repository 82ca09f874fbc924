#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whom a unix peer sees: callers without threads send and listen themselves, others do not lose what they send.
. "$(dirname "$0")/lib.sh"
need python3
MODES=allow
both peers <<'S'
cat > p.py <<'P'
import array, ctypes, os, socket, struct, threading
def ucred(m): return struct.unpack("3i", m)
def receive(s, n=99):
	d, anc, fl, _ = s.recvmsg(n, 4096)
	who = fds = None
	for l, t, m in anc:
		if t == socket.SCM_CREDENTIALS: who = ucred(m)
		if t == socket.SCM_RIGHTS: fds = len(array.array("i", m[:len(m) // 4 * 4]))
	return d, who, fds
def exchange(kind, how):
	a, b = socket.socketpair(socket.AF_UNIX, kind)
	a.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
	pid = os.fork()
	if not pid:
		how(b); os._exit(0)
	d, who, fds = receive(a)
	os.waitpid(pid, 0)
	print(kind.name, d, who == (pid, os.getuid(), os.getgid()), fds)
for kind in socket.SOCK_STREAM, socket.SOCK_SEQPACKET:
	exchange(kind, lambda s: s.sendmsg([b"one ", b"two"]))
	exchange(kind, lambda s: socket.send_fds(s, [b"fds"], [0, 1]))
	exchange(kind, lambda s: s.sendmsg([b"said"], [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, struct.pack("3i", os.getpid(), os.getuid(), os.getgid()))]))
def listens():
	p = os.environ["TMPDIR"] + "/s"; r, w = os.pipe()
	pid = os.fork()
	if not pid:
		s = socket.socket(socket.AF_UNIX); s.bind(p); s.listen(); os.write(w, b"x"); c, _ = s.accept(); c.recv(1); os._exit(0)
	os.read(r, 1)
	c = socket.socket(socket.AF_UNIX); c.connect(p)
	print("listener", ucred(c.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0] == pid)
	c.send(b"x"); os.waitpid(pid, 0); os.unlink(p)
listens()
# errors are the kernel's
a, b = socket.socketpair(); b.close()
try: a.sendmsg([b"x"], [], socket.MSG_NOSIGNAL)
except OSError as e: print(e.errno)
a, b = socket.socketpair()
try: a.sendmsg([b"x"], [], 0, "/nowhere")
except OSError as e: print(e.errno)
# with threads: all arrives
a, b = socket.socketpair(); stop = threading.Event(); t = threading.Thread(target=stop.wait); t.start()
print(a.sendmsg([b"one ", b"two"]), b.recv(99)); socket.send_fds(a, [b"f"], [0]); print(len(socket.recv_fds(b, 9, 4)[1])); stop.set(); t.join()
P
python3 p.py
S
# Two processes with one descriptor table are not alone: what one of them puts under the number is not used.
cat >"$T/shared.py" <<'P'
import ctypes, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
CLONE_FILES = 0x400
pid = libc.syscall(56, CLONE_FILES | 17, 0, 0, 0, 0) if os.uname().machine == "x86_64" else libc.syscall(220, CLONE_FILES | 17, 0, 0, 0, 0)
if pid == 0: os.pause() if hasattr(os, "pause") else __import__("signal").pause()
a, b = socket.socketpair(); print(a.sendmsg([b"x"]), b.recv(9)); os.kill(pid, 9); os.waitpid(pid, 0)
P
same "a shared table natively" "1 b'x'" "$(python3 "$T/shared.py")"
same "a shared table" "1 b'x'" "$(supervise allow python3 "$T/shared.py")"
# A name below a link that another process exchanges for another one all the time, both to directories of its own: every bind makes its socket in one of them.
cat >"$T/etc/exchanged.py" <<'P'
import collections, ctypes, errno, os, socket
exchange = ctypes.CDLL(None).renameat2
for d in "ab": os.mkdir(d); os.symlink(d, "to_" + d)
pid = os.fork()
while not pid: exchange(-100, b"to_a", -100, b"to_b", 2)
said = collections.Counter()
for i in range(600):
    try: socket.socket(socket.AF_UNIX).bind("to_a/%d" % i); said["bound"] += 1
    except OSError as e: said[errno.errorcode[e.errno]] += 1
os.kill(pid, 9); os.waitpid(pid, 0)
print(dict(said), len(os.listdir("a")) + len(os.listdir("b")))
P
want="{'bound': 600} 600"
fresh; same "binds below links that are exchanged (native)" "$want" "$(timeout 60 python3 "$T/etc/exchanged.py" 2>&1)"
fresh; same "binds below links that are exchanged" "$want" "$(supervise allow timeout 90 python3 "$T/etc/exchanged.py" 2>"$T/err")"
finish
