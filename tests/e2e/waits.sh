#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Nobody waits for another: an open that blocks, a question nobody answers, a connect into
# nowhere delay their own caller only. Proved by order of events, not by time.
# quick: root
. "$(dirname "$0")/lib.sh"
need python3
fresh
cat >"$T/etc/w.rules" <<EOF
ask create $T/project/asked timeout=120s
default allow
EOF
chmod 600 "$T/etc/w.rules"
# Answers when the file "answer" appears: it holds the question open until the others are done.
cat >"$T/etc/late" <<EOF
#!/bin/sh
cat >/dev/null; : > $T/etc/question
while [ ! -e $T/etc/answer ]; do sleep 0.05; done
echo '{"answer":"allow"}'
EOF
chmod 755 "$T/etc/late"
cat >"$T/etc/waits.py" <<'P'
# argv: what blocks, how many of it. The others then do 300 effects each; only after that the block is lifted.
import os, sys, threading, subprocess, socket, time
kind, n = sys.argv[1], int(sys.argv[2])
blocked = []
def lone(code, *args): return subprocess.Popen([sys.executable, "-c", code, *args])
if kind == "fifo":
    os.mkfifo("p")
    # Threads of this very process as well as processes.
    for i in range(n): t = threading.Thread(target=lambda: open("p").close(), daemon=True); t.start(); blocked.append(t)
    blocked.append(lone("open('starts', 'w').close(); open('p').close()"))
    # Whoever comes after the writer has gone waits for the next, natively too.
    opens = lambda t: open(f"/proc/self/task/{t.native_id}/syscall").read().startswith("257 ")
    while not os.path.exists("starts") or not all(opens(b) for b in blocked if isinstance(b, threading.Thread)): time.sleep(0.02)
elif kind == "question":
    for i in range(n): blocked.append(lone("open('asked', 'w').close()"))
    while not os.path.exists(os.environ["T"] + "/etc/question"): time.sleep(0.02)
elif kind == "connect":
    # A backlog that is full: further connects wait for good.
    l = socket.socket(); l.bind(("127.0.0.1", 0)); l.listen(0); fill = []
    for i in range(4): s = socket.socket(); s.setblocking(False); s.connect_ex(l.getsockname()); fill.append(s)
    for i in range(n): blocked.append(lone("import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])))", str(l.getsockname()[1])))
elif kind == "lock":
    f = open("lk", "w"); import fcntl; fcntl.flock(f, fcntl.LOCK_EX)
    for i in range(n): blocked.append(lone("import fcntl; fcntl.flock(open('lk'), fcntl.LOCK_EX)"))
time.sleep(0.3)
def alive(b): return b.is_alive() if isinstance(b, threading.Thread) else b.poll() is None
print("blocked", sum(map(alive, blocked)) == len(blocked))
def work(t):
    for i in range(300): open(f"f{t}-{i}", "w").close(); os.stat(f"f{t}-{i}")
ts = [threading.Thread(target=work, args=(t,)) for t in range(3)]; [t.start() for t in ts]; [t.join() for t in ts]
print("others", len([x for x in os.listdir(".") if x.startswith("f")]), subprocess.run(["true"]).returncode)
print("still blocked", sum(map(alive, blocked)) == len(blocked))
if kind == "fifo": open("p", "w").close()
elif kind == "question": print("not answered", not os.path.exists(os.environ["T"] + "/etc/answer")); open(os.environ["T"] + "/etc/answer", "w").close()
elif kind == "connect": [b.kill() for b in blocked]
elif kind == "lock": f.close()
for b in blocked: b.join(30) if isinstance(b, threading.Thread) else b.wait(60)
print("released", not any(map(alive, blocked)))
P
for c in "fifo 1" "fifo 40" "connect 1" "connect 20" "lock 8"; do
	fresh; native=$(python3 "$T/etc/waits.py" $c 2>&1)
	fresh; got=$(supervise allow python3 "$T/etc/waits.py" $c 2>"$T/err")
	case $native in *"still blocked True"*) same "$c" "$native" "$got" ;; *) not_ok "$c (native)" "$native" ;; esac
done
for c in "question 1" "question 20"; do
	fresh; rm -f "$T/etc/answer" "$T/etc/question"
	got=$(ASK=exec:$T/etc/late supervise "$T/etc/w.rules" python3 "$T/etc/waits.py" $c 2>"$T/err")
	same "$c" "blocked True others 900 0 still blocked True not answered True released True" "$(tr '\n' ' ' <<<"$got" | sed 's/ $//')"
done

# A signal reaches a program that waits, at once as it would natively, and the call neither repeats nor gets lost.
cat >"$T/etc/sig.py" <<'P'
import os, signal, sys, threading, time
class Woken(Exception): pass
def h(*a): raise Woken
signal.signal(signal.SIGALRM, h); signal.setitimer(signal.ITIMER_REAL, 0.3)
try: open("p"); print("opened")
except Woken: print("woken")
os.mkfifo("q") if not os.path.exists("q") else None
signal.signal(signal.SIGALRM, lambda *a: n.append(1)); n = []; signal.siginterrupt(signal.SIGALRM, False); signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
# The writer is a process of its own: of two threads that open at once either may get the lower number.
if os.fork() == 0: time.sleep(0.6); os.close(os.open("q", os.O_WRONLY)); os._exit(0)
f = os.open("q", os.O_RDONLY); print("restarted", len(n) > 2, f)
P
setup_p() { mkfifo p; }
fresh; setup_p; native=$(timeout 30 python3 "$T/etc/sig.py" 2>&1)
for mode in allow reads; do
	fresh; setup_p; got=$(supervise $mode timeout 30 python3 "$T/etc/sig.py" 2>"$T/err")
	same "signals reach a waiting open ($mode)" "$native" "$got"
done

# So it does one that waits for a lease to be given up.
cat >"$T/etc/lease.py" <<'P'
import fcntl, os, signal, time
class Woken(Exception): pass
def h(*a): raise Woken
open("leased", "w").write("text")
fd = os.open("leased", os.O_RDONLY)
signal.signal(signal.SIGIO, signal.SIG_IGN); fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
for name, call in (("truncate", lambda: os.truncate("leased", 1)), ("open", lambda: os.open("leased", os.O_WRONLY | os.O_TRUNC))):
    pid = os.fork()
    if pid == 0:
        os.close(fd); signal.signal(signal.SIGALRM, h); signal.setitimer(signal.ITIMER_REAL, 0.3)
        try: call(); print(name, "done", flush=True)
        except Woken: print(name, "woken", flush=True)
        os._exit(0)
    for i in range(500):
        if os.waitpid(pid, os.WNOHANG)[0]: break
        time.sleep(0.02)
    else: os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0); print(name, "does not hear")
print(os.path.getsize("leased"))
if os.fork() == 0:
    os.close(fd); signal.signal(signal.SIGALRM, lambda *a: None); signal.siginterrupt(signal.SIGALRM, False); signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    os.truncate("leased", 2); os._exit(0)
time.sleep(0.6); fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK); print(os.wait()[1], os.path.getsize("leased"))
P
fresh; native=$(timeout 60 python3 "$T/etc/lease.py" 2>&1)
same "a wait for a lease, natively" "truncate woken open woken 4 0 2" "$(xargs <<<"$native")"
fresh; got=$(supervise allow timeout 60 python3 "$T/etc/lease.py" 2>"$T/err")
same "signals reach a truncate that waits for a lease" "$native" "$got"

# Hundreds of groups stand before a process's signals in what /proc says of it.
if is_root; then
	cat >"$T/etc/groups.py" <<'P'
import os, signal
class Woken(Exception): pass
def h(*a): raise Woken
signal.signal(signal.SIGALRM, h)
os.setgroups(range(100000000, 100001000))
signal.setitimer(signal.ITIMER_REAL, 0.3)
try: open("p"); print("opened")
except Woken: print("woken")
P
	fresh; setup_p; native=$(timeout 30 python3 "$T/etc/groups.py" 2>&1)
	same "one of a thousand groups is woken (native)" woken "$native"
	fresh; setup_p; same "one of a thousand groups is woken" woken "$(supervise allow timeout -s KILL 30 python3 "$T/etc/groups.py" 2>"$T/err")"
else
	skip "one of a thousand groups is woken" "needs root"
fi

# So many at once that no short list of whom usher has interrupted is enough.
cat >"$T/etc/many.py" <<'P'
import os, signal, time
class Woken(Exception): pass
def h(*a): raise Woken
signal.signal(signal.SIGUSR1, h)
def child():
    try: os.open("p", os.O_RDONLY); return 2
    except Woken: return 0
def waits(pid):
    with open(f"/proc/{pid}/stat") as f: return f.read().rsplit(")", 1)[1].split()[0] == "S"
pids = []
for i in range(300):
    pid = os.fork()
    if pid == 0: os._exit(child())
    pids.append(pid)
while not all(map(waits, pids)): time.sleep(0.05)
time.sleep(1)
for pid in pids: os.kill(pid, signal.SIGUSR1)
woken, until = 0, time.monotonic() + 30
for pid in pids:
    while (got := os.waitpid(pid, os.WNOHANG))[0] == 0 and time.monotonic() < until: time.sleep(0.01)
    if got[0] == 0: os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)
    else: woken += os.waitstatus_to_exitcode(got[1]) == 0
print("woken", woken)
P
fresh; setup_p; native=$(timeout 60 python3 "$T/etc/many.py" 2>&1)
same "three hundred that wait are woken (native)" "woken 300" "$native"
fresh; setup_p; got=$(supervise allow timeout 90 python3 "$T/etc/many.py" 2>"$T/err")
same "three hundred that wait are woken" "$native" "$got"

# A process stops as a whole, and its parent is told, though one of its threads waits: the first, another one, several.
cat >"$T/etc/stop.py" <<'P'
import os, signal, sys, threading, time
wait = (lambda: os.open("asked", os.O_WRONLY | os.O_CREAT)) if sys.argv[1] == "question" else (lambda: os.open("p", os.O_RDONLY))
def child(first, others):
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTSTP] if first else []) # one of the others takes it
    for i in range(others): threading.Thread(target=wait, daemon=True).start()
    def rest():
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTSTP])
        while True: time.sleep(0.01)
    threading.Thread(target=rest, daemon=True).start()
    wait() if first else time.sleep(60)
def told(pid, flag):
    for i in range(500):
        got, status = os.waitpid(pid, flag | os.WNOHANG)
        if got: return "stopped" if os.WIFSTOPPED(status) else "continued" if os.WIFCONTINUED(status) else hex(status)
        time.sleep(0.01)
    return "nothing"
for first, others in ((False, 1), (False, 5), (True, 0), (True, 3)):
    for sig in (signal.SIGSTOP, signal.SIGTSTP):
        pid = os.fork()
        if pid == 0:
            if sig == signal.SIGTSTP: os.setpgid(0, 0)
            child(first, others); os._exit(1)
        time.sleep(0.5)
        os.kill(pid, sig); print(first, others, sig.name, told(pid, os.WUNTRACED), end=" ")
        os.kill(pid, signal.SIGCONT); print(told(pid, os.WCONTINUED), flush=True)
        os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)
P
want=$(for c in "False 1" "False 5" "True 0" "True 3"; do for s in STOP TSTP; do echo "$c SIG$s stopped continued"; done; done)
fresh; setup_p; same "a process with threads that wait stops (native)" "$want" "$(timeout 60 python3 "$T/etc/stop.py" fifo 2>&1)"
fresh; setup_p; same "a process with threads that wait stops" "$want" "$(supervise allow timeout 90 python3 "$T/etc/stop.py" fifo 2>"$T/err")"
cat >"$T/etc/never" <<'EOF'
#!/bin/sh
exec sleep 100
EOF
chmod 755 "$T/etc/never"
fresh; same "a process whose threads wait for an answer stops" "$want" "$(ASK=exec:$T/etc/never supervise "$T/etc/w.rules" timeout 90 python3 "$T/etc/stop.py" question 2>"$T/err")"
finish
