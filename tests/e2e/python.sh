#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Python: subprocesses, multiprocessing, asyncio, temporary files, sockets, file trees.
. "$(dirname "$0")/lib.sh"
need python3
export PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0
py() { printf 'python3 - <<"PYTHON"\n%s\nPYTHON\n' "$(cat)"; }

both subprocess < <(py <<'P'
import subprocess, sys, os, signal
print(subprocess.run(["sh", "-c", "cat; exit 4"], input=b"in", capture_output=True))
print(subprocess.check_output("echo $((6*7)) | tr 4 5", shell=True))
for a in (["/nonexistent"], ["/etc/passwd"], ["."]):
    try: subprocess.run(a)
    except OSError as e: print(e.errno, e.filename)
p = subprocess.Popen(["sleep", "60"]); p.send_signal(signal.SIGTERM); print(p.wait())
try: subprocess.run(["sleep", "60"], timeout=0.2)
except subprocess.TimeoutExpired: print("timeout")
r, w = os.pipe(); os.set_inheritable(w, True); subprocess.run(["sh", "-c", f"echo through >&{w}"], close_fds=False); print(os.read(r, 99))
print(subprocess.run([sys.executable, "-c", "import os; print(sorted(os.listdir('/proc/self/fd'))[:3], os.getcwd() == os.environ['PWD'])"], capture_output=True).stdout)
pid = os.posix_spawn("/bin/sh", ["sh", "-c", "exit 9"], os.environ); print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
P
)
both multiprocessing < <(py <<'P'
import multiprocessing as m, os, threading
from multiprocessing import shared_memory
def work(i):
    n = f"w{i}"
    with open(n, "x") as f: f.write(str(i * i))
    return open(n).read()
if __name__ == "__main__":
    c = m.get_context("fork")
    with c.Pool(4) as p: print(p.map(work, range(40)))
    q = c.Queue(); p = c.Process(target=lambda: q.put(os.path.exists("w1"))); p.start(); print(q.get()); p.join(); print(p.exitcode)
    out = []
    def t(i): out.append(open(f"w{i}").read())
    ts = [threading.Thread(target=t, args=(i,)) for i in range(40)]; [x.start() for x in ts]; [x.join() for x in ts]; print(sorted(map(int, out)))
    print(c.Lock().acquire(timeout=1))
P
)
# Shared memory lives in /dev/shm, which the agent policy need not allow.
MODES="allow yes" both shared-memory < <(py <<'P'
from multiprocessing import shared_memory
s = shared_memory.SharedMemory(create=True, size=100); s.buf[0] = 7; t = shared_memory.SharedMemory(s.name); print(t.buf[0]); t.close(); s.close(); s.unlink()
P
)
both tempfile < <(py <<'P'
import tempfile, os, shutil, pathlib, mmap, fcntl
with tempfile.TemporaryFile() as f: f.write(b"x" * 9000); f.seek(0); print(len(f.read()), os.fstat(f.fileno()).st_nlink)
with tempfile.NamedTemporaryFile() as f: print(os.path.dirname(f.name) == os.environ["TMPDIR"], oct(os.stat(f.name).st_mode))
with tempfile.TemporaryDirectory() as d:
    p = pathlib.Path(d); (p / "a" / "b").mkdir(parents=True); (p / "a" / "b" / "c").write_bytes(bytes(range(256))); os.symlink("a/b", p / "l")
    shutil.copytree(d, "copy", symlinks=True); print(sorted(x.name for x in pathlib.Path("copy").rglob("*")), os.readlink("copy/l"))
fd = os.open("f", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o640); os.ftruncate(fd, 4096); mm = mmap.mmap(fd, 4096); mm[0:5] = b"hello"; mm.flush(); print(open("f", "rb").read(5))
fcntl.flock(fd, fcntl.LOCK_EX); fcntl.lockf(fd, fcntl.LOCK_EX); d = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
os.mkdir("sub", dir_fd=d); e = os.open("sub/x", os.O_CREAT | os.O_WRONLY, dir_fd=d); os.rename("sub/x", "sub/y", src_dir_fd=d, dst_dir_fd=d); print(os.listdir("sub"), e == d + 1)
for a, k in (("missing", os.O_RDONLY), (".", os.O_WRONLY), ("f", os.O_CREAT | os.O_EXCL), ("f/x", os.O_RDONLY), ("x" * 256, os.O_RDONLY), ("a" * 5000, os.O_RDONLY), ("", os.O_RDONLY), ("f", os.O_DIRECTORY)):
    try: os.open(a, k); print("opened", a)
    except OSError as x: print(x.errno)
os.utime("f", (1, 2)); os.chmod("f", 0o604); os.link("f", "g"); print(os.stat("g").st_mtime, oct(os.stat("g").st_mode), os.stat("g").st_nlink); os.truncate("g", 7); print(os.path.getsize("f")); shutil.rmtree("copy"); os.setxattr("f", "user.k", b"v"); print(os.listxattr("f"))
P
)
MODES="allow yes" both sockets < <(py <<'P'
import socket, threading, asyncio, errno, os, select
def serve(l):
    while True:
        try: c, _ = l.accept()
        except OSError: return
        try: c.sendall(c.recv(100).upper())
        except OSError: pass
        c.close()
for fam, addr in ((socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_INET6, ("::1", 0)), (socket.AF_UNIX, "sock"), (socket.AF_UNIX, b"\0e2e-%d" % os.getpid())):
    try: l = socket.socket(fam); l.bind(addr)
    except OSError as e: print("no", fam.name, e.errno); continue
    l.listen(); threading.Thread(target=serve, args=(l,), daemon=True).start()
    s = socket.socket(fam); s.settimeout(10); s.connect(l.getsockname()); s.sendall(b"abc"); print(fam.name, s.recv(10)); s.close()
    s = socket.socket(fam); s.setblocking(False); r = s.connect_ex(l.getsockname()); select.select([], [s], [], 10); print(r in (0, errno.EINPROGRESS), s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)); s.close()
    if fam == socket.AF_INET: port = l.getsockname()[1]
s = socket.socket(socket.AF_INET6); print("mapped", s.connect_ex(("::ffff:127.0.0.1", port)))
d = socket.socket(type=socket.SOCK_DGRAM); d.bind(("127.0.0.1", 0)); e = socket.socket(type=socket.SOCK_DGRAM); e.sendto(b"dgram", d.getsockname()); print(d.recvfrom(99)[0])
e.sendmsg([b"msg", b"2"], [], 0, d.getsockname()); print(d.recv(9)); e.connect(d.getsockname()); e.send(b"x"); print(d.recv(9)); e.sendmsg([b"a", b"b"]); print(d.recv(9))
s = socket.socket(); s.bind(("127.0.0.1", 0)); p = s.getsockname()[1]; s.close(); print("refused", socket.socket().connect_ex(("127.0.0.1", p)), socket.socket(socket.AF_UNIX).connect_ex("nosuch"), socket.socket(socket.AF_UNIX).connect_ex("."))
async def main():
    async def h(r, w): w.write((await r.readline())[::-1]); await w.drain(); w.close()
    sv = await asyncio.start_server(h, "127.0.0.1", 0); a = sv.sockets[0].getsockname()
    async def one(i):
        r, w = await asyncio.open_connection(*a); w.write(b"%d\n" % i); x = await r.read(); w.close(); return x
    print(await asyncio.gather(*(one(i) for i in range(50)))); sv.close()
    p = await asyncio.create_subprocess_shell("echo async; exit 5", stdout=-1); print(await p.communicate(), p.returncode)
asyncio.run(main())
a, b = socket.socketpair(); f = os.open("/etc/hostname", os.O_RDONLY); socket.send_fds(a, [b"x"], [f]); print(len(socket.recv_fds(b, 9, 1)[1])); os.remove("sock")
P
)
finish
