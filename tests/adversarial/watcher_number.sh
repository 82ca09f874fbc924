#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 56: a process of the tree ends between usher's look at its number and the kernel's, and a process outside gets the number. The caller is kept
# from the processor meanwhile (SCHED_IDLE, beside a program that never rests). Control: natively the call on that number changes the process outside.
PATH=/usr/sbin:/sbin:/usr/bin:/bin:$PATH
[ "$(id -u)" = 0 ] && [ -w /proc/sys/kernel/ns_last_pid ] || { echo "skip row 56: a number used anew: needs root, to choose the next number"; exit 77; }
T=$(mktemp -d /tmp/usher-number.XXXXXX) || exit 1
trap 'rm -rf "$T"' EXIT
echo 'default allow' >"$T/allow.rules"
cat >"$T/tree.py" <<'P'
import os, signal, sys, time
# tree.py TRIES late|race: prints the number of a process that has ended; reads a line when somebody outside has it
tries, when = int(sys.argv[1]), sys.argv[2]
def child(work):
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
    finally:
        os._exit(0)
def never_rest():
    os.sched_setaffinity(0, {cpu})
    while True:
        pass
def change(number, go):
    os.sched_setaffinity(0, {cpu})
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    os.read(go, 1)
    os.setpriority(os.PRIO_PROCESS, number, (os.getpriority(os.PRIO_PROCESS, 0) + 1) % 20)
cpu = min(os.sched_getaffinity(0))
hog = child(never_rest)
for i in range(tries):
    named = child(signal.pause)
    r, w = os.pipe()
    caller = child(lambda: change(named, r))
    if when == "race":
        os.write(w, b"x")
        time.sleep((i % 20) / 1000)
    os.kill(named, signal.SIGKILL)
    os.waitpid(named, 0)
    print(named, flush=True)
    sys.stdin.readline()
    if when == "late":
        os.write(w, b"x")
    os.waitpid(caller, 0)
    print("done", flush=True)
    sys.stdin.readline()
    os.close(r)
    os.close(w)
os.kill(hog, signal.SIGKILL)
P
cat >"$T/outside.py" <<'P'
import os, signal, subprocess, sys
# outside.py COMMAND..: how often a process of this program was changed, of those that got the wanted number
tree = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
got = changed = 0
def next_is(number):
    for _ in range(200):
        with open("/proc/sys/kernel/ns_last_pid", "w") as f:
            f.write(str(number - 1))
        pid = os.fork()
        if pid == 0:
            signal.pause()
            os._exit(0)
        if pid == number:
            return pid
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return 0
while (line := tree.stdout.readline()):
    pid = next_is(int(line))
    print(file=tree.stdin, flush=True)
    tree.stdout.readline()
    if pid:
        got += 1
        changed += os.getpriority(os.PRIO_PROCESS, pid) != os.getpriority(os.PRIO_PROCESS, 0)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    print(file=tree.stdin, flush=True)
tree.wait()
print(got, changed)
P
cat >"$T/own.py" <<'P'
import os, signal, threading, time
# What the tree may change of its own.
child = os.fork()
if child == 0:
    signal.pause()
os.sched_setaffinity(child, {min(os.sched_getaffinity(0))})
os.setpriority(os.PRIO_PROCESS, child, 3)
print(len(os.sched_getaffinity(child)), os.getpriority(os.PRIO_PROCESS, child))
leader = os.fork()
if leader == 0:
    os.setsid()
    signal.pause()
while os.getpgid(leader) != leader:
    time.sleep(0.01)
os.setpriority(os.PRIO_PGRP, leader, 4)
print(os.getpriority(os.PRIO_PROCESS, leader))
done, number = threading.Event(), []
thread = threading.Thread(target=lambda: (number.append(threading.get_native_id()), done.wait()))
thread.start()
while not number:
    time.sleep(0.01)
os.setpriority(os.PRIO_PROCESS, number[0], 5)
print(os.getpriority(os.PRIO_PROCESS, number[0]))
done.set()
thread.join()
for pid in child, leader:
    os.kill(pid, signal.SIGKILL)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
os.setpriority(os.PRIO_PROCESS, child, 6)
for pid in child, leader:
    os.waitpid(pid, 0)
try:
    os.setpriority(os.PRIO_PROCESS, child, 6)
except OSError as e:
    print(e.errno)
P
native=$(python3 "$T/own.py" 2>&1)
own=$("$USHER" run -p "$T/allow.rules" --ask=deny --journal "$T/own" -- python3 "$T/own.py" 2>&1)
bad=0
if [ "$native" = "$own" ]; then echo "ok row 56: the tree's own are changed as natively"; else
	echo "not ok row 56: the tree's own are changed as natively: $own"
	bad=1
fi
cat >"$T/often.py" <<'P'
import os, signal, threading
# Calls on others, one after the other and both ways at once: none fails.
def child(work):
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
    finally:
        os._exit(0)
def count(pid, n):
    failed = 0
    for _ in range(n):
        try:
            os.sched_setaffinity(pid, os.sched_getaffinity(0))
        except OSError:
            failed += 1
    return failed
sleeper = child(signal.pause)
print(count(sleeper, 300))
os.kill(sleeper, signal.SIGKILL)
os.waitpid(sleeper, 0)
number, done = [], threading.Event()
thread = threading.Thread(target=lambda: (number.append(threading.get_native_id()), done.wait()))
thread.start()
while not number:
    pass
print(count(number[0], 100))
done.set()
thread.join()
def both():
    os._exit(min(count(os.getppid(), 100), 255))
other = child(both)
print(count(other, 100))
print(os.waitstatus_to_exitcode(os.waitpid(other, 0)[1]))
failed = 0
for _ in range(30):
    ran = os.posix_spawn("/bin/sleep", ["sleep", "100"], os.environ)
    failed += count(ran, 3)
    os.kill(ran, signal.SIGKILL)
    os.waitpid(ran, 0)
print(failed)
P
native=$(python3 "$T/often.py" 2>&1)
often=$("$USHER" run -p "$T/allow.rules" --ask=deny --journal "$T/often" -- python3 "$T/often.py" 2>&1)
if [ "$native" = "$often" ]; then echo "ok row 56: the tree's own, again and again and both ways"; else
	echo "not ok row 56: the tree's own, again and again and both ways: natively" $native, under usher $often
	bad=1
fi
tries=40
[ -z "${QUICK:-}" ] || tries=20 # once at each distance
[ -z "${LONG:-}" ] || tries=800
tries=${RACE_TRIES:-$tries}
read -r got changed <<<"$(python3 "$T/outside.py" python3 "$T/tree.py" 3 late)"
[ "${changed:-0}" -gt 0 ] || { echo "skip row 56: a number used anew: natively nothing outside was changed (${got:-0} numbers)"; exit $((bad ? bad : 77)); }
read -r got changed <<<"$(python3 "$T/outside.py" "$USHER" run -p "$T/allow.rules" --ask=deny --journal "$T/journal" -- python3 "$T/tree.py" "$tries" race)"
if [ "${got:-0}" -gt 0 ] && [ "$changed" = 0 ]; then
	echo "ok row 56: a number used anew"
	exit $bad
fi
echo "not ok row 56: a number used anew: ${changed:-?} of ${got:-0} processes outside were changed"
exit 1
