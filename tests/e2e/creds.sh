#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An usher that holds some privileges and not others, and a program that gives up what it has: what usher does in its place goes on, as the
# program may. The same natively.
. "$(dirname "$0")/lib.sh"
is_root || skip_all "gives capabilities away, needs root"
need setpriv python3
cat >"$T/etc/less.py" <<'P'
import ctypes, os, socket, sys
PR_CAPBSET_DROP, PR_CAP_AMBIENT, CLEAR_ALL, CAP_NET_RAW = 24, 47, 4, 13
prctl = ctypes.CDLL(None, use_errno=True).prctl
def tried(what, f):
    try: print(what, f())
    except OSError as e: print(what, e.strerror)
def peer():
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as s:
        listener.bind("socket"); listener.listen()
        s.connect("socket")
        who, _ = listener.accept()
        return [int.from_bytes(who.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[i:i + 4], "little") for i in (4, 8)]
print("lowered", prctl(PR_CAP_AMBIENT, CLEAR_ALL, 0, 0, 0), prctl(PR_CAPBSET_DROP, CAP_NET_RAW, 0, 0, 0))
tried("mkdir", lambda: os.mkdir("made", 0o750))
tried("create", lambda: os.open("file", os.O_CREAT | os.O_WRONLY, 0o640) and None)
tried("attribute", lambda: os.setxattr("file", "user.x", b"1"))
tried("connect", peer)
try: os.setegid(1234)
except OSError as e: print("group", e.strerror)
os.path.exists("socket") and os.unlink("socket")
tried("connect as another group", peer)
tried("groups", lambda: os.setgroups([7]))
tried("closed", lambda: os.mkdir("/etc/usher-creds-test") if os.geteuid() else None)
os.system("exec id -u")
tried("unlink", lambda: os.unlink("file"))
P
chmod 644 "$T/etc/less.py" "$T/etc/allow.rules"
# NAME, setpriv options of whoever starts it: the program natively and below usher
with() {
	local name=$1 how native below
	shift
	for how in native below; do
		fresh
		chmod 755 "$T" "$T/etc"
		chmod 777 "$T/project"
		rm -rf "$T/j"
		mkdir -m 777 "$T/j"
		if [ $how = native ]; then
			native=$(HOME=/ setpriv "$@" python3 "$T/etc/less.py" 2>&1; echo "ends with $?")
		else
			below=$(HOME=/ setpriv "$@" "$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal "$T/j/j" -- python3 "$T/etc/less.py" 2>&1; echo "ends with $?")
		fi
	done
	same "$name" "$native" "$below"
	check "$name: its journal is whole" "$USHER" verify "$T/j/j"
}
with "one capability of an ordinary user's" --reuid=1000 --regid=1000 --clear-groups --inh-caps=+net_bind_service --ambient-caps=+net_bind_service
with "root that may not change groups" --inh-caps=-setgid --bounding-set=-setgid
with "root that may change neither groups nor users" --inh-caps=-setgid,-setuid --bounding-set=-setgid,-setuid
with "root that may do all" --groups 4,5
# Who says in a message to be another is believed where it may be that one, not because it is root.
cat >"$T/etc/claim.py" <<'P'
import os, socket, struct
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
b.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
for what, claim in (("own", (os.getpid(), 0, 0)), ("user", (os.getpid(), 4242, 0)), ("group", (os.getpid(), 0, 4242)), ("process", (os.getppid(), 0, 0))):
    try: a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, struct.pack("3i", *claim))])
    except OSError as e: print(what, e.strerror); continue
    print(what, struct.unpack("3i", b.recvmsg(1, 100)[1][0][2]) == claim)
P
chmod 644 "$T/etc/claim.py"
for lost in setuid setgid sys_admin setuid,-setgid,-sys_admin; do
	native=$(setpriv --nnp --inh-caps=-$lost --bounding-set=-$lost python3 "$T/etc/claim.py" 2>&1)
	fresh
	below=$(supervise "$T/etc/allow.rules" setpriv --nnp --inh-caps=-$lost --bounding-set=-$lost python3 "$T/etc/claim.py" 2>&1)
	same "claims without $lost" "$native" "$below"
done
# Which powers are in force does not follow from the ids: connecting goes by them, whoever the caller is.
cat >"$T/etc/powers.py" <<'P'
import ctypes, os, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
SYS_capset, KEEPCAPS, DAC_OVERRIDE = {"x86_64": 126, "aarch64": 91}[os.uname().machine], 8, 2
with socket.socket(socket.AF_UNIX) as listener:
    listener.bind("socket"); listener.listen(9)
    os.chmod("socket", 0o600); os.chown("socket", 1001, 1001)
    for ids in ((0, 0, 0), (1000, 0, 0), (0, 1000, 0), (1000, 1000, 1000)):
        for power in (0, DAC_OVERRIDE):
            if os.fork():
                os.wait()
                continue
            libc.prctl(KEEPCAPS, 1, 0, 0, 0)
            os.setresuid(*ids)
            head, data = struct.pack("Ii", 0x20080522, 0), struct.pack("6I", power, power, 0, 0, 0, 0)
            libc.syscall(SYS_capset, head, data)
            with socket.socket(socket.AF_UNIX) as s:
                try: print(ids, power, s.connect("socket"), flush=True)
                except OSError as e: print(ids, power, e.strerror, flush=True)
            os._exit(0)
os.unlink("socket")
P
chmod 644 "$T/etc/powers.py"
fresh
native=$(cd "$T/project" && python3 "$T/etc/powers.py" 2>&1)
fresh
same "powers apart from ids" "$native" "$(cd "$T/project" && supervise "$T/etc/allow.rules" python3 "$T/etc/powers.py" 2>&1)"
# Powers without root: whoever has them may become root, and usher serves it and goes back.
cat >"$T/etc/becomes.py" <<'P'
import os, socket
with socket.socket(socket.AF_UNIX) as listener:
    listener.bind("socket"); listener.listen(9)
    os.chmod("socket", 0o666)
    for ids in ((1000, 1000, 1000), (0, 0, 0), (0, 1001, 1001), (1001, 1001, 1001)):
        if os.fork():
            print(ids, os.wait()[1], flush=True)
            continue
        os.setresuid(*ids)
        with socket.socket(socket.AF_UNIX) as s: s.connect("socket")
        try: os.close(os.open("/etc/shadow", os.O_RDONLY))
        except OSError as e: print(e.strerror, flush=True)
        os._exit(0)
os.unlink("socket")
P
chmod 644 "$T/etc/becomes.py"
powers=+setuid,+dac_override,+dac_read_search,+sys_ptrace
without_root() { (cd "$T/project" && HOME=/ setpriv --reuid=1000 --regid=1000 --clear-groups --inh-caps=$powers --ambient-caps=$powers "$@" 2>&1); }
fresh
chmod 777 "$T/project"
alike_without_root() { # NAME SCRIPT
	local native
	native=$(without_root python3 "$2")
	rm -rf "$T/j"
	mkdir -m 777 "$T/j"
	same "$1" "$native" "$(without_root "$USHER" run -p "$T/etc/allow.rules" --journal "$T/j/j" -- python3 "$2")"
}
alike_without_root "an ordinary user's who becomes root" "$T/etc/becomes.py"
# The signal of a broken pipe reaches a caller that is another user than an usher with few powers.
cat >"$T/etc/pipe.py" <<'P'
import os, signal, socket, threading
def broken(*ids):
    if os.fork():
        print(ids, os.wait()[1], flush=True)
        return
    signal.signal(signal.SIGPIPE, lambda *_: os.write(1, b"SIGPIPE\n"))
    os.setresuid(*ids)
    threading.Thread(target=signal.sigwait, args=({signal.SIGUSR1},), daemon=True).start()
    a, b = socket.socketpair()
    b.close()
    try: a.sendmsg([b"x"])
    except OSError as e: print(e.strerror, flush=True)
    os._exit(0)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
for ids in ((1000, 1000, 1000), (1001, 1001, 1001), (1001, 1002, 1003), (0, 0, 0)): broken(*ids)
P
chmod 644 "$T/etc/pipe.py"
alike_without_root "a broken pipe of another user's" "$T/etc/pipe.py"
# Below /proc/sys the kernel asks who somebody is in effect, not for the file system. Nothing is written.
cat >"$T/etc/settings.py" <<'P'
import ctypes, os
setfsuid = ctypes.CDLL(None).setfsuid
def tried(path, how):
    try: os.close(os.open(path, how))
    except OSError as e: return e.strerror
def everybody(who):
    for path in "vm/swappiness", "kernel/hostname", "kernel/cad_pid", "net/ipv4/ip_forward", "fs/protected_hardlinks":
        print(who, path, tried("/proc/sys/" + path, os.O_RDONLY), tried("/proc/sys/" + path, os.O_WRONLY), flush=True)
changes = {"user": lambda: os.setresuid(1000, 1000, 1000), "effective user": lambda: os.setresuid(0, 1000, 0),
    "real user": lambda: os.setresuid(1000, 0, 0), "user of files": lambda: setfsuid(1000),
    "user and group": lambda: os.setresgid(1000, 1000, 1000) or os.setresuid(1000, 1000, 1000), "group": lambda: os.setresgid(1000, 1000, 1000)}
for who, change in changes.items():
    if os.fork() == 0:
        os.setgroups([])
        change()
        everybody(who)
        os._exit(0)
    os.wait()
P
chmod 644 "$T/etc/settings.py"
native=$(python3 "$T/etc/settings.py" 2>&1)
fresh
same "settings of the kernel by who is root in effect" "$native" "$(supervise "$T/etc/allow.rules" python3 "$T/etc/settings.py" 2>&1)"
# A signal by descriptor reaches whom the caller may signal, also where usher sends it (the floor may have no scope for signals).
cat >"$T/etc/descriptor.py" <<'P'
import os, signal
def other(*ids):
    r, w = os.pipe()
    pid = os.fork()
    if pid: return os.read(r, 1) and (pid, os.pidfd_open(pid))
    os.setresuid(*ids)
    os.write(w, b"x")
    signal.pause()
others = [other(0, 0, 0), other(1000, 1000, 1000), other(1001, 1001, 1001), other(1001, 1001, 1000)]
for ids in (0, 0, 0), (1000, 1000, 1000), (1001, 1000, 0), (1000, 0, 0):
    if os.fork() == 0:
        os.setresuid(*ids)
        for pid, descriptor in others:
            try: print(ids, signal.pidfd_send_signal(descriptor, 0), flush=True)
            except OSError as e: print(ids, e.strerror, flush=True)
        os._exit(0)
    os.wait()
for pid, descriptor in others: os.kill(pid, signal.SIGKILL)
P
chmod 644 "$T/etc/descriptor.py"
native=$(python3 "$T/etc/descriptor.py" 2>&1)
same "natively a user does not signal everybody" 2 "$(grep -c '^(1000, 1000, 1000) Operation not permitted' <<<"$native")"
for floor in auto off; do
	same "signals by descriptor, floor $floor" "$native" "$("$USHER" run --floor=$floor -p "$T/etc/allow.rules" --journal "$T/j/signal-$floor" -- python3 "$T/etc/descriptor.py" 2>&1 | grep -v '^usher: ')"
done
# A node by which the own terminal is opened (as /dev/tty) has rights of its own, also over a link.
cat >"$T/etc/node.py" <<'P'
import os, pty, stat
def tried(path, how):
    try: os.close(os.open(path, how))
    except OSError as e: return e.strerror
# What it says goes past the terminal: of what is in a terminal as its last end closes, a kernel may give EIO for the rest.
out = os.fdopen(os.dup(1), "w")
pid, master = pty.fork()
if pid == 0:
    os.umask(0)
    for mode in 0o600, 0o604, 0o602:
        name = "node%o" % mode
        os.mknod(name, stat.S_IFCHR | mode, os.makedev(5, 0))
        os.symlink(name, "to" + name)
    os.setgroups([])
    os.setresgid(1000, 1000, 1000)
    os.setresuid(1000, 1000, 1000)
    for name in "node600", "node604", "node602":
        for path in name, "to" + name:
            print(path, [tried(path, how) for how in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR)], file=out, flush=True)
    os._exit(0)
os.wait()
P
chmod 644 "$T/etc/node.py"
fresh
chmod 755 "$T"
native=$(cd "$T/project" && python3 "$T/etc/node.py" 2>&1)
fresh
same "a node of the own terminal" "$native" "$(cd "$T/project" && supervise "$T/etc/allow.rules" python3 "$T/etc/node.py" 2>&1)"
# The socket file of a peer opens by the caller's ids for files, which need not be those in effect; and a message says who sent it, to a name as well.
cat >"$T/etc/named.py" <<'P'
import ctypes, os, socket, struct
libc = ctypes.CDLL(None)
ends = {}
for kind in socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM:
    for name, group in (("effective", 2002), ("files", 2004)):
        s = ends[kind, name] = socket.socket(socket.AF_UNIX, kind)
        s.bind("%s%d" % (name, kind))
        os.chown("%s%d" % (name, kind), 0, group)
        os.chmod("%s%d" % (name, kind), 0o020)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        kind == socket.SOCK_DGRAM or s.listen(9)
def send(s, to, claim):
    said = claim and [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, struct.pack("3i", *claim))]
    s.sendmsg([b"x"], said or [], 0, to)
def tried(what, f):
    try: print(what, f(), flush=True)
    except OSError as e: print(what, e.strerror, flush=True)
def everything(who):
    for (kind, name), end in ends.items():
        to = "%s%d" % (name, kind)
        with socket.socket(socket.AF_UNIX, kind) as s: tried((who, to, "connect"), lambda: s.connect(to))
        if kind != socket.SOCK_DGRAM: continue
        for claim in None, (os.getpid(), 1003, 2003), (os.getpid(), 1001, 2002), (os.getpid(), 0, 2001), (os.getppid(), 1001, 2001):
            with socket.socket(socket.AF_UNIX, kind) as s:
                tried((who, to, claim and claim[1:]), lambda: send(s, to, claim))
            try: pid, *ids = struct.unpack("3i", end.recvmsg(9, 99, socket.MSG_DONTWAIT)[1][0][2])
            except BlockingIOError: continue
            print(pid == os.getpid(), ids, flush=True)
for who in ("root", "all apart", "root again"):
    if os.fork():
        os.wait()
        continue
    os.setgroups([])
    if who != "root":
        os.setresgid(2001, 2002, 2003)
        libc.setfsgid(2004)
        os.setresuid(0 if who == "root again" else 1001, 1002, 1003)
    everything(who)
    os._exit(0)
P
chmod 644 "$T/etc/named.py"
fresh
native=$(cd "$T/project" && python3 "$T/etc/named.py" 2>&1)
fresh
same "peers with a name, by ids that are all apart" "$native" "$(cd "$T/project" && supervise "$T/etc/allow.rules" python3 "$T/etc/named.py" 2>&1)"
# A relative name of one that gave up its user is below its own directory, which /proc shows that user no more; also on another mount than usher's own.
if [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] && [ -w /dev/shm ]; then
	S=$(mktemp -d /dev/shm/usher-creds.XXXXXX); at_exit "rm -rf $S"
	cat >"$T/etc/relative.py" <<'P'
import os, socket, sys
os.chdir(sys.argv[1]); os.umask(0o027)
os.setgroups([]); os.setegid(4242); os.seteuid(4242)
for name in "socket", "socket", "./other", "no/socket":
    for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
        with socket.socket(socket.AF_UNIX, kind) as s:
            try: print(name, s.bind(name), oct(os.stat(name).st_mode), s.getsockname())
            except OSError as e: print(name, e.strerror)
P
	chmod 644 "$T/etc/relative.py"; chmod 777 "$S"
	native=$(python3 "$T/etc/relative.py" "$S" 2>&1)
	rm -f "$S"/*
	same "sockets by relative names" "$native" "$(supervise "$T/etc/allow.rules" python3 "$T/etc/relative.py" "$S" 2>&1)"
	same "natively both are bound" 2 "$(grep -c None <<<"$native")"
else
	skip "sockets by relative names" "/dev/shm is no tmpfs to write to"
fi
finish
