#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Output that goes through another program of the pipeline to the terminal that is asked on: nothing of it comes while a question is up, where it could
# write over what is asked. All of it comes in the end, and who reads no more, or late, is for the command what it is natively.
# waits
# quick: 1000
. "$(dirname "$0")/lib.sh"
need python3
rules ask.rules <<<$'ask read **/project/secret timeout=60s\ndefault allow'
fresh
echo content >secret
cat >"$T/etc/over.py" <<'P'
import os, sys, threading, time
drawing = True
def draw():
    while drawing:
        os.write(1, b"\0337\033[3;1H\033[2K  read      /tmp/harmless\0338")
        time.sleep(0.02)
pen = threading.Thread(target=draw)
pen.start()
time.sleep(0.5)
try: answer = b"read " + open("secret", "rb").read()
except OSError as e: answer = b"refused\n"
time.sleep(0.5)
drawing = False
pen.join()
os.write(1, answer)
P
cat >"$T/etc/person.py" <<'P'
import os, pty, select, sys, time
# person.py KEY COMMAND: has the terminal of a shell's COMMAND, and answers by KEY when something is asked
pid, tty = pty.fork()
if pid == 0: os.execvp("bash", ["bash", "-c", sys.argv[2]])
seen = b""
def hear(what, most):
    global seen
    end = time.monotonic() + most
    while (not what or what not in seen) and time.monotonic() < end:
        if not select.select([tty], [], [], 0.1)[0]: continue
        try: more = os.read(tty, 65536)
        except OSError: return False
        if not more: return False
        seen += more
    return what in seen
DRAWN = b"/tmp/harmless"
if sys.argv[1] != "-":
    print("asked" if hear(b"allow once", 20) else seen)
    asked = seen.index(b"usher asks")
    hear(b"", 1.5)
    print("drawn before" if DRAWN in seen[:asked] else "not drawn before", "drawn over" if DRAWN in seen[asked:] else "not drawn over")
    seen = b""
    os.write(tty, sys.argv[1].encode())
hear(b"there is no such text", 60)
print("drawn" if DRAWN in seen else "not drawn", seen.replace(b"\r", b"").strip().split(b"\n")[-1].split(b"8")[-1].decode())
P
person() { # KEY COMMAND, W standing for usher
	timeout 100 python3 "$T/etc/person.py" "$1" "${2//W /$USHER run --ask=tty -p $R --journal $(mktemp -u "$T/j.XXXXXX") -- }"
}
want="asked
drawn before not drawn over
drawn read content"
same "control: natively it draws" "drawn read content" "$(person - "python3 $T/etc/over.py | cat")"
for how in "| cat" "2>&1 | tee $T/log" "> >(cat); sleep 0.5"; do
	same "$how: drawn before a question and behind, not over it" "$want" "$(person o "W python3 $T/etc/over.py $how")"
done
sed 's/os.write(1/os.write(9/' "$T/etc/over.py" >"$T/etc/over9.py"
for how in "9>/dev/tty" "9>\$(tty)"; do
	same "a terminal that is kept ($how) is the command's own as well" "$want" "$(person o "$USHER run --keep-fd=9 --ask=tty -p $R --journal $T/k${#how} -- python3 $T/etc/over9.py $how")"
done
same "no, with the terminal" "${want/read content/refused}" "$(person d "W python3 $T/etc/over.py")"

# The same as natively: what is written, in its order, whoever reads.
cat >"$T/etc/poll.py" <<'P'
import select, sys
p = select.poll()
p.register(1, 0)
print("gone" if p.poll(20000) else "there", file=sys.stderr)
P
cat >"$T/etc/pipes.sh" <<'S'
W() { if [ -n "$R" ]; then "$USHER" run --ask=tty -p "$R" --journal "$(mktemp -u "$T/p.XXXXXX")" -- "$@"; else "$@"; fi; }
W yes | head -n 1; echo "first ${PIPESTATUS[*]}"
W seq 1 200000 | { sleep 1; md5sum; }; echo "all ${PIPESTATUS[*]}"
W sh -c 'yes | head -c 60000; exit 3' | { sleep 4; wc -c; }; echo "late ${PIPESTATUS[*]}"
W sh -c 'for i in 1 2 3; do echo o$i; echo e$i >&2; done; echo to >/dev/stdout; echo to >/dev/stderr' 2>&1 | cat; echo "both ${PIPESTATUS[*]}"
W sh -c 'exec >&-; sleep 0.2; echo x' 2>&1 | cat; echo "closed ${PIPESTATUS[*]}"
W cat /dev/zero | sleep 1; echo "gone ${PIPESTATUS[*]}"
{ W python3 "$T/etc/poll.py" | sleep 1; } 2>&1; echo "seen ${PIPESTATUS[*]}"
{ W sh -c 'echo last; kill -9 $$' | cat; echo "killed ${PIPESTATUS[*]}"; } 2>/dev/null
W echo without input <&- | cat; echo "input ${PIPESTATUS[*]}"
W python3 -c 'import fcntl; print(fcntl.fcntl(1, 1032), fcntl.fcntl(1, 3))' | cat; echo "pipe ${PIPESTATUS[*]}"
D=$(mktemp -d "$T/d.XXXXXX") && mkfifo "$D/fifo"
for i in 1 2 3; do exec 5<"$D/fifo"; : >"$D/come$i"; read -r l <&5; echo "fifo $l 0"; exec 5<&-; : >"$D/gone$i"; sleep 0.5; done &
W sh -c 'for i in 1 2 3; do while [ ! -e "$0/come$i" ]; do sleep 0.1; done; echo $i; while [ ! -e "$0/gone$i" ]; do sleep 0.1; done; done' "$D" >"$D/fifo"
wait
{ W sh -c 'for i in $(seq 25); do echo $i; sleep 0.1; done'; : >"$D/ended"; } | { for i in {1..150}; do [ -e "$D/ended" ] || sleep 0.1; done; [ -e "$D/ended" ] && wc -l; }; echo "ended ${PIPESTATUS[*]}"
S
export USHER T
pipes() { # RULES
	R=$1 timeout 200 python3 -c 'import pty, signal, sys; signal.signal(signal.SIGPIPE, signal.SIG_DFL); pty.spawn(sys.argv[1:])' bash "$T/etc/pipes.sh" </dev/null | tr -d '\r' | grep -v 'carry the mark'
}
native=$(pipes "")
same "control: natively there are these" 14 "$(grep -c '^[a-z]* [0-9]* [0-9]*$' <<<"$native")"
same "a pipeline is as natively" "$native" "$(pipes "$R")"

# Where nobody can be asked there is nothing to hold.
has() { # FILE: how many descriptors usher has when the command has written there
	while [ ! -s "$1" ]; do sleep 0.1; done
	ls "/proc/$(cat "$T/pid")/fd" | wc -l
	kill "$(cat "$T/pid")"
}
alone() { setsid sh -c 'echo $$ >"$0/pid"; exec "$@"' "$T" "$USHER" run -p builtin:agent --journal "$(mktemp -u "$T/a.XXXXXX")" -- sh -c 'echo here; sleep 100'; }
alone >"$T/out.file" 2>/dev/null &
plain=$(has "$T/out.file")
alone 2>/dev/null | cat >"$T/out.pipe" &
same "without a terminal usher has no more descriptors with a pipe than with a file" "$plain" "$(has "$T/out.pipe")"
wait
finish
