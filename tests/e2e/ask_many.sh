#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# quick: 1000
# Two hundred questions at once, answered in random order from two desks; a desk that dies, usher stopped and continued. ROUNDS=20 makes
# it again and again (make crowds).
. "$(dirname "$0")/lib.sh"

if ! command -v python3 >/dev/null; then
	skip many "no python3"
	finish
	exit
fi
export XDG_RUNTIME_DIR=$T/run XDG_CONFIG_HOME=$T/config
mkdir -p -m 700 "$XDG_RUNTIME_DIR" "$XDG_CONFIG_HOME"
mkdir -p "$T/w"
cd "$T/w" || exit 1
printf 'default allow\nask read **/q* timeout=120s\n' >"$T/etc/ask.rules"
chmod 600 "$T/etc/ask.rules"
for i in $(seq 200); do echo "$i" >"q$i"; done
cat >"$T/ask.py" <<'P'
import sys, threading
done = []
def one(i):
    try:
        open(f"q{i}").close()
        done.append((i, "allow"))
    except PermissionError:
        done.append((i, "deny"))
threads = [threading.Thread(target=one, args=(i,)) for i in range(1, 201)]
for t in threads: t.start()
for t in threads: t.join()
for d in sorted(done): print(*d)
P
cat >"$T/desk.py" <<'P'
# What is answered: odd numbers are allowed, even ones denied. Prints which answers were taken.
import glob, json, random, socket, sys
path = glob.glob(sys.argv[1] + "/usher/*.sock")[0]
s = socket.socket(socket.AF_UNIX)
s.connect(path)
lines = s.makefile("r")
def ask(**what):
    s.sendall((json.dumps(what) + "\n").encode())
    return json.loads(lines.readline())
assert ask(do="hello", token=open(path[:-4] + "token").read().strip())["ok"]
questions = ask(do="list")["questions"]
random.shuffle(questions)
for q in questions:
    n = int(q["object"].rsplit("q", 1)[1])
    if ask(do="answer", id=q["id"], answer="allow" if n % 2 else "deny")["ok"]:
        print(n, flush=True)
P
waits() { [ "$("$USHER" desk list | wc -l)" = "$1" ]; }

for round in $(seq "${ROUNDS:-1}"); do
	"$USHER" run -p "$T/etc/ask.rules" --ask=desk --journal "$T/j$round" -- python3 "$T/ask.py" >"$T/out" 2>"$T/err" </dev/null &
	usher=$!
	check "all wait" wait_for waits 200
	kill -STOP $usher
	"$USHER" desk watch >/dev/null 2>&1 & # a desk that comes while usher stands still, and dies
	lost=$!
	sleep 0.3
	kill -9 $lost
	kill -CONT $usher
	check "usher goes on with all of them" wait_for waits 200
	timeout 60 python3 "$T/desk.py" "$XDG_RUNTIME_DIR" >"$T/one" 2>"$T/one.err" &
	one=$!
	timeout 60 python3 "$T/desk.py" "$XDG_RUNTIME_DIR" >"$T/two" 2>"$T/two.err" &
	two=$!
	wait $one $two
	wait $usher
	same "exit status" 0 $?
	same "each was answered once" "$(seq 200)" "$(sort -n "$T/one" "$T/two")"
	same "as it was answered" "$(for i in $(seq 200); do [ $((i % 2)) = 1 ] && echo "$i allow" || echo "$i deny"; done)" "$(sort -n "$T/out")"
	same "and is in the journal so" 200 "$("$USHER" log "$T/j$round" --json | grep -c '"type":"answer"')"
	check "which is whole" "$USHER" verify "$T/j$round"
done

# Forty callers are held, the first thread among them, when another thread of theirs execs: none of them is ever reported to have ended.
cat >"$T/exec.py" <<'P'
import os, threading, time
def one(i):
    try: open(f"q{i}").close()
    except PermissionError: pass
def away():
    while not os.path.exists("go"): time.sleep(0.05)
    os.execv("/bin/sh", ["sh", "-c", "cat q41; cat q42; echo gone on"])
threading.Thread(target=away).start()
for i in range(2, 41): threading.Thread(target=one, args=(i,)).start()
one(1)
P
"$USHER" run -p "$T/etc/ask.rules" --ask=desk --journal "$T/jforty" -- python3 "$T/exec.py" >"$T/out2" 2>"$T/err2" </dev/null &
usher=$!
check "forty wait" wait_for waits 40
touch go
only() { [ "$("$USHER" desk list | grep -o '/q[0-9]*')" = "/q$1" ]; }
check "the questions of threads that an exec ended are withdrawn" wait_for only 41
timeout 60 python3 "$T/desk.py" "$XDG_RUNTIME_DIR" >/dev/null 2>"$T/three.err"
check "the new image is asked about next" wait_for only 42
timeout 60 python3 "$T/desk.py" "$XDG_RUNTIME_DIR" >/dev/null 2>>"$T/three.err"
wait $usher
same "and goes on" "0 41 gone on" "$? $(tr '\n' ' ' <"$T/out2" | sed 's/ $//')"
check "its journal is whole" "$USHER" verify "$T/jforty"

# Callers that are killed while they wait, just before nobody's answer comes or with it: nothing of them stays.
cat >"$T/killed.py" <<'P'
import os, signal, sys, time
pids = []
for i in range(1, 151):
    pid = os.fork()
    if pid == 0:
        try: os.close(os.open(f"q{i}", os.O_RDONLY))
        except PermissionError: pass
        os._exit(0)
    pids.append(pid)
    if i == 1: began = time.monotonic()
time.sleep(max(0, began + float(sys.argv[1]) - time.monotonic()))
for pid in pids: os.kill(pid, signal.SIGKILL)
for pid in pids: os.waitpid(pid, 0)
open("killed", "w").close()
while not os.path.exists("over"): time.sleep(0.05)
P
printf 'default allow\nask read **/q* timeout=2s else=deny\n' >"$T/etc/short.rules"
chmod 600 "$T/etc/short.rules"
none_held() { ! find "/proc/$usher/fd" -mindepth 1 -lname '*/q[0-9]*' | grep -q .; }
for after in 1.8 1.9 2.0 2.1; do
	rm -f killed over
	"$USHER" run -p "$T/etc/short.rules" --ask=desk --journal "$T/jkilled$after" -- python3 "$T/killed.py" $after >/dev/null 2>"$T/err3" </dev/null &
	usher=$!
	check "asked and killed after $after s" wait_for test -e killed
	check "none of them is held on to ($after s)" wait_for none_held
	touch over
	wait $usher
	same "its end ($after s)" 0 $?
done
# Arguments that wait with their questions are in usher's memory, as given and joined, which no limit of the tree's counts: 128 megabytes of them, and others
# are denied at once.
cat >"$T/long.py" <<'P'
import os
args = ["true"] + ["a" * 120000] * 15
kids = set()
for i in range(90):
    pid = os.fork()
    if pid == 0:
        try: os.execv("/bin/true", args)
        except PermissionError: os._exit(1)
    kids.add(pid)
def ended():
    pid, status = os.wait()
    kids.remove(pid)
    return status != 0
denied = ended()
while len(kids) > 128 * 1024 * 1024 // (2 * 15 * 120000): denied += ended()
open("full", "w").close()
while kids: denied += ended()
print(denied)
P
printf 'default allow\nask exec /bin/true /usr/bin/true timeout=120s\n' >"$T/etc/long.rules"
chmod 600 "$T/etc/long.rules"
same "natively all run" 0 "$(timeout 60 python3 "$T/long.py")"
rm -f full
"$USHER" run -p "$T/etc/long.rules" --ask=desk --journal "$T/jlong" -- python3 "$T/long.py" >"$T/out4" 2>"$T/err4" </dev/null &
usher=$!
check "beyond 128 megabytes they are denied while the others wait" eval "WITHIN=60 wait_for test -e full"
for id in $("$USHER" desk list | grep -o '^[^ ]*:[0-9]*'); do "$USHER" desk allow "$id"; done >"$T/long.out" 2>&1
wait $usher
same "who waited is answered" "0 yes" "$? $([ "$(cat "$T/out4")" -ge 50 ] && [ "$(cat "$T/out4")" -le 60 ] && echo yes || cat "$T/out4")"
check "and the journal is whole" "$USHER" verify "$T/jlong"

# An exec while callers are still being taken out of the kernel's list: whoever would trace one of its process waits for the exec, and the exec for those that are traced.
cat >"$T/early.py" <<'P'
import os, random, threading, time
def one(i):
    try: open(f"q{i % 200 + 1}").close()
    except PermissionError: pass
def away():
    time.sleep(random.uniform(0.005, 0.06)); os.execv("/bin/true", ["true"])
threading.Thread(target=away).start()
for i in range(300): threading.Thread(target=one, args=(i,)).start()
one(0)
P
went=0
for i in $(seq 12); do
	timeout -s KILL 60 "$USHER" run -p "$T/etc/ask.rules" --ask=desk --journal "$T/early$i" -- python3 "$T/early.py" >/dev/null 2>&1 </dev/null && went=$((went + 1))
done
same "an exec beside questions that are only coming in goes on" 12 $went

finish
