#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# quick: root
# The three are made before the rules are read: whatever becomes of usher then, nobody is left behind.
. "$(dirname "$0")/lib.sh"
need python3
fresh
cd "$T/project" || exit 1
# Runs the command line as the one to whom orphans come; kills it after so many ms (-1: not), and says what became of it and whether somebody stayed.
cat >alone.py <<'END'
import ctypes, os, signal, subprocess, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
ms, command = sys.argv[1], sys.argv[2:]
def child(pid):
    try: return int(open(f"/proc/{pid}/task/{pid}/children").read().split()[0])
    except (OSError, IndexError): return 0
p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False)
if ms == "stopped": # the command's process, which has not begun
    while not (deepest := child(child(child(p.pid)))): pass
    os.kill(deepest, signal.SIGSTOP)
    p.kill()
elif float(ms) >= 0:
    time.sleep(float(ms) / 1000)
    p.kill()
status = p.wait()
# What a killed usher leaves has a second, else nobody may be there now.
until, left = time.monotonic() + (2 if status == -9 else 0), True
while left:
    try:
        pid, _ = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        left = False
        break
    if pid == 0 and time.monotonic() >= until: break
    if pid == 0: time.sleep(.005)
print("killed" if status == -9 else status, "somebody is left" if left else "nobody is left")
END
echo 'allow nonsense' >broken
printf 'default allow\nlimit processes 100\n' >"$T/etc/limits.rules"
printf 'default deny\nallow open,exec,stat **\n' >"$T/etc/apart.rules"
printf 'default allow\nallow read ** log=none\n' >"$T/etc/reads.rules"
alone() { local ms=$1; shift; python3 alone.py "$ms" "$@"; }
session() { local ms=$1 rules=$2; shift 2; alone "$ms" "$USHER" run -p "$rules" --ask=deny --journal "$T/j.$RANDOM$RANDOM" "$@"; }
same "broken rules" "125 nobody is left" "$(session -1 broken -- true)"
same "no rules" "125 nobody is left" "$(session -1 nowhere -- true)"
same "no journal" "125 nobody is left" "$(alone -1 "$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal "$T/nowhere/j" -- true)"
same "a descriptor to keep that is not open" "125 nobody is left" "$(session -1 "$T/etc/allow.rules" --keep-fd=77 -- true)"
same "and one that is" "0 nobody is left" "$(exec 7</dev/null; session -1 "$T/etc/allow.rules" --keep-fd=7 -- sh -c 'read x <&7; [ $? = 1 ]')"
same "no program" "127 nobody is left" "$(session -1 "$T/etc/allow.rules" -- no-such-program)"
same "what is not in force" "125 nobody is left" "$(session -1 "$T/etc/allow.rules" --require=memory,pid -- true)"
for rules in allow limits apart reads; do
	same "$rules: the command's own status" "7 nobody is left" "$(session -1 "$T/etc/$rules.rules" -- sh -c 'exit 7')"
	same "$rules: its environment" "0 nobody is left" "$(A='a b' session -1 "$T/etc/$rules.rules" -- sh -c '[ "$A" = "a b" ]')"
done
big=$(head -c 16000 /dev/zero | tr '\0' x)
{ echo 'default allow'; echo 'env drop A'; for i in 1 2 3 4 5 6; do echo "env set BIG$i=$big"; done; } >"$T/etc/big.rules"
same "an environment that outgrows usher's own" "0 nobody is left" "$(A=1 session -1 "$T/etc/big.rules" -- sh -c '[ ${#BIG1} = 16000 ] && [ ${#BIG6} = 16000 ] && [ -z "$A" ]')"
for i in $(seq 60000); do echo "deny read /nowhere/$i/x"; done >"$T/etc/many.rules"
same "killed while the rules are read, what was made stopped" "killed nobody is left" "$(session stopped "$T/etc/many.rules" -- true)"
# Until its exec the command is in the memory of the keeper and the guardian, which usher has to look into: no program runs before they hide it again.
cat >hidden.py <<'END'
import os, signal, subprocess, sys, time
wait, ran, command = float(sys.argv[1]), sys.argv[2], sys.argv[3:]  # seconds that the guardian is stopped for; 0: it is not
def of(pid):
    try: return int(open(f"/proc/{pid}/task/{pid}/children").read().split()[0])
    except (OSError, IndexError): return 0
def name(pid):
    try: return open(f"/proc/{pid}/comm").read().strip()
    except OSError: return ""
p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
while name(guardian := of(of(p.pid))) != "guardian": pass
began = time.monotonic()
if wait: os.kill(guardian, signal.SIGSTOP)
while not os.path.exists(ran) and p.poll() is None and (not wait or time.monotonic() - began < wait): time.sleep(0.01)
print("ran" if os.path.exists(ran) else "waited", time.monotonic() - began)
if wait: os.kill(guardian, signal.SIGCONT)
print(p.wait(), "ran" if os.path.exists(ran) else "did not run")
END
hidden() { # SECONDS NAME
	python3 hidden.py "$1" "$T/project/ran$2" "$USHER" run -p "$T/etc/many.rules" -p "$T/etc/allow.rules" --ask=deny --journal "$T/j.h$2" -- touch "$T/project/ran$2" >"$T/hidden"
	sed 's/ [0-9.e-]*$//;q' "$T/hidden"; sed 1d "$T/hidden"
}
same "the control: a guardian that is not stopped, the program runs" "ran"$'\n'"0 ran" "$(hidden 0 1)"
if sanitized; then
	skip "one that is stopped: the program waits for it" "under a sanitizer the command has a memory of its own, and nobody waits"
else
	same "one that is stopped for three times as long: the program waits for it" "waited"$'\n'"0 ran" "$(hidden "$(awk 'NR == 1 { print 1 + 3 * $2 }' "$T/hidden")" 2)"
fi
seen=
for ms in 0 1 2 3 4 5 6 7 8 9 10 12 14 16 18 20 25 30; do
	seen+=$(session $ms "$T/etc/allow.rules" -- sleep 5)$'\n'
	seen+=$(alone $ms "$USHER" run --ask=deny --journal "$T/j.$RANDOM$RANDOM" -- sleep 5)$'\n'
done
same "killed at any moment of its start" "killed nobody is left" "$(sort -u <<<"$seen" | grep .)"
finish
