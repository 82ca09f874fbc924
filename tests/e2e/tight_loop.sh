#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# quick: 1000
# One thread that does nothing but open files, to whom as an ordinary user two workers listen; then others beside it, calls that wait, and it alone again.
. "$(dirname "$0")/lib.sh"
fresh
cat >loop.py <<'P'
import os, sys, threading
def loop(n, name="/etc/passwd"):
    seen = 0
    for _ in range(n):
        fd = os.open(name, os.O_RDONLY)
        seen += os.fstat(fd).st_size > 0
        os.close(fd)
    return seen
def beside(k, n):
    got = [0] * k
    def one(i): got[i] = loop(n)
    t = [threading.Thread(target=one, args=(i,)) for i in range(k)]
    for x in t: x.start()
    for x in t: x.join()
    return got
cores = os.sched_getaffinity(0)
print("alone", loop(12000))
print("beside", beside(2, 500), beside(5, 200))
print("alone", loop(7000 if os.environ.get("QUICK") else 12000))
os.mkfifo("pipe")
def reads(): print("a pipe that was waited for", os.read(os.open("pipe", os.O_RDONLY), 9))
t = threading.Thread(target=reads)
t.start()
print("beside a call that waits", loop(3000 if os.environ.get("QUICK") else 6000))
os.write(os.open("pipe", os.O_WRONLY), b"something")
t.join()
missing = 0
for i in range(6000):
    try: os.open(f"missing{i}", os.O_RDONLY)
    except FileNotFoundError: missing += 1
print("missing", missing, "made", sum(os.close(os.open(f"made{i}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)) is None for i in range(2000)))
for _ in range(300):
    if os.fork() == 0: os._exit(loop(3) != 3)
    if os.wait()[1]: print("a child failed")
print("cores as before", os.sched_getaffinity(0) == cores)
P
native=$(python3 loop.py)
rm -f pipe made*
same "a loop, alone and beside others" "$native" "$("$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal "$T/j" -- python3 loop.py)"
same "every call is in the journal" "2000 6000" "$("$USHER" log "$T/j" --json | grep -c '/made[0-9]*"') $("$USHER" log "$T/j" --json | grep -c '/missing[0-9]*"')"
check "which is whole" "$USHER" verify "$T/j"
finish
