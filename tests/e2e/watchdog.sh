#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# users: root
# A worker that is held in the middle of a call (here by a tracer) does not hold up the others: another takes over, before it is said that one is stuck.
. "$(dirname "$0")/lib.sh"
need python3
is_root || skip_all "needs root"
[ "$(uname -m)" = x86_64 ] || skip_all "knows the numbers of x86-64"

fresh
cat >"$T/hold.py" <<'EOS'
# hold.py PID: stops one thread of PID that is busy with a call, and says so; goes on at the end of its input.
import ctypes, os, signal, sys, time
libc = ctypes.CDLL(None, use_errno=True)
SEIZE, INTERRUPT, DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000
pid = int(sys.argv[1])
def busy(tid):
    words = open(f"/proc/{pid}/task/{tid}/syscall").read().split()
    return words[0] in ("310", "424", "437") # process_vm_readv, pidfd_send_signal, openat2: while it serves
for attempt in range(20000):
    for tid in map(int, os.listdir(f"/proc/{pid}/task")):
        if tid == pid or libc.ptrace(SEIZE, tid, 0, 0):
            continue
        libc.ptrace(INTERRUPT, tid, 0, 0)
        os.waitpid(tid, WALL)
        if busy(tid):
            print("held", flush=True)
            sys.stdin.read()
            libc.ptrace(DETACH, tid, 0, 0)
            sys.exit(0)
        libc.ptrace(DETACH, tid, 0, 0)
sys.exit(1)
EOS
supervise allow sh -c 'for n in 1 2 3; do (i=0; while [ ! -e stop ]; do i=$((i+1)); read x </etc/hostname; echo $i >count$n; done) & done; wait' 2>"$T/err" &
shell=$!
wait_for test -s count3
usher=$(pgrep -P "$shell" | head -n 1)
mkfifo "$T/go"
python3 "$T/hold.py" "$usher" <"$T/go" >"$T/held" 2>"$T/hold.err" &
holder=$!
exec 9>"$T/go"
wait_for grep -q held "$T/held" || { not_ok "a worker is held" "$(tail -n 3 "$T/hold.err")"; touch stop; finish; }
sleep 0.2
sum() { echo $(($(cat count1) + $(cat count2) + $(cat count3) + 0)); }
then=$(sum)
moved() { [ "$(sum)" -gt "$((then + 40))" ]; }
WITHIN=15 check "other calls are served by another worker" wait_for moved
same "before anything is said" 0 "$(grep -c "has not come to an end for" "$T/err")"
WITHIN=15 check "standard error says what is stuck" wait_for grep -q "has not come to an end for" "$T/err"
exec 9>&-
wait "$holder"
touch stop
wait "$shell"
same "the worker that is let go goes on, and all ends well" 0 $?
check "the journal says so" grep -q '"event":"stuck"' <(records "$(ls -dt "$T"/journal.* | head -n 1)")
finish
