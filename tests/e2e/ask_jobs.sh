#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# waits
# A command with a terminal of its own as a job of an interactive shell: started in the background, brought to the front, stopped, let go on. The
# same is typed and seen natively.
. "$(dirname "$0")/lib.sh"
need python3
cat >"$T/etc/jobs.py" <<'P'
import os, pty, re, select, sys, termios, time
# jobs.py WHAT COMMAND...: prints what a person sees of it, step by step
what, command = sys.argv[1], " ".join(sys.argv[2:])
pid, tty = pty.fork()
if pid == 0:
    os.environ.update(PS1="prompt> ", HISTFILE="/dev/null", INPUTRC="/dev/null")
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
seen = b""
def expect(pattern, most=20):
    global seen
    end = time.monotonic() + most
    while not (m := re.search(pattern, seen)):
        if time.monotonic() > end or not select.select([tty], [], [], 0.1)[0]:
            if time.monotonic() > end: return print(f"{what}: {pattern!r} was not seen, but {seen[-300:]!r}")
            continue
        try: seen += os.read(tty, 65536)
        except OSError: break
    seen = seen[m.end():] if m else b""
    return bool(m)
def type(keys):
    os.write(tty, keys)
def in_front():
    # usher takes the terminal when it sees that it is in front; a program that reads lines leaves it as it is
    for _ in range(200):
        raw = not termios.tcgetattr(tty)[3] & termios.ICANON
        if raw == (what != "native"): return
        time.sleep(0.05)
    print("never in front")
def stopped_again():
    # natively it reads in the background and is stopped for it; brought to the front just before, it is stopped there
    state = lambda child: open(f"/proc/{child}/stat").read().rsplit(")", 1)[1].split()[0]
    for _ in range(200):
        if all(state(child) == "T" for child in open(f"/proc/{pid}/task/{pid}/children").read().split()): return
        time.sleep(0.05)
    print("never stopped")
def fg():
    # it names the job when it has read the line, which is when the terminal stops being its line editor's
    type(b"fg\r")
    expect(re.escape(command.encode()) + rb"\r\n")
PROMPT = rb"prompt> "
expect(PROMPT)
type(command.encode() + b" &\r")
expect(rb"carry the mark" if what != "native" else rb"\[1\]")
time.sleep(0.7)
type(b"\r")
expect(PROMPT)
type(b"echo un''touched\r")
print("the shell's line editor is", "well" if expect(rb"untouched\r\n") else "gone")
if what == "asked":
    print("no question from the background" if b"usher asks" not in seen else seen)
expect(PROMPT)
fg()
if what == "asked":
    expect(rb"usher asks")
    expect(rb"allow once")
    time.sleep(1.2)
    type(b"o")
    print("allowed" if expect(rb"content\r\n") else "not allowed")
in_front()
type(b"hello\r")
print("typed and read" if expect(rb"hello\r\nhello\r\n") else "deaf")
type(b"\x1a")
print("stopped" if expect(rb"Stopped") else "not stopped")
expect(PROMPT)
type(b"bg\r")
expect(PROMPT)
if what == "native":
    stopped_again()
fg()
in_front()
type(b"again\r")
print("typed and read again" if expect(rb"again\r\nagain\r\n") else "deaf")
type(b"\x04")
expect(PROMPT)
type(b"echo ended $?, `stty -a | grep -c ' icanon'`\r")
print("ended" if expect(rb"ended 0, 1\r\n") else "ended badly")
type(b"exit\r")
P
want="the shell's line editor is well
typed and read
stopped
typed and read again
ended"
rules ask.rules <<<$'ask read **/project/q\ndefault allow'
fresh
echo content >q
same "natively" "$want" "$(python3 "$T/etc/jobs.py" native cat)"
same "with a terminal of its own" "$want" "$(python3 "$T/etc/jobs.py" relayed "$USHER" run --ask=tty -p "$R" --journal "$T/j1" -- cat)"
if "$USHER" run --isolate=pid -p "$T/etc/allow.rules" --journal "$T/j2" -- true 2>/dev/null; then
	same "in a pid namespace, where the shell's groups have no number" "$want" \
		"$(python3 "$T/etc/jobs.py" relayed "$USHER" run --ask=tty --isolate=pid -p "$R" --journal "$T/j3" -- cat)"
else
	skip "jobs in a pid namespace" "no pid namespace to be had"
fi
same "a question waits until usher is in front" "$(sed 's/well$/well\nno question from the background\nallowed/' <<<"$want")" \
	"$(python3 "$T/etc/jobs.py" asked "$USHER" run --ask=tty -p "$R" --journal "$T/j4" -- sh -c "'cat q; cat'")"

# The rest of a job, which the kernel tells of no key while usher reads them: a script that waits for usher, the next program of a pipeline.
cat >"$T/etc/rest.py" <<'P'
import os, pty, re, select, sys, time
command, steps = sys.argv[1], sys.argv[2:]
pid, tty = pty.fork()
if pid == 0:
    os.environ.update(PS1="prompt> ", HISTFILE="/dev/null", INPUTRC="/dev/null")
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
seen = b""
def expect(pattern, most=20):
    global seen
    end = time.monotonic() + most
    while not (m := re.search(pattern, seen)):
        if time.monotonic() > end: return False
        if not select.select([tty], [], [], 0.1)[0]: continue
        try: seen += os.read(tty, 65536)
        except OSError: return False
    seen = seen[m.end():]
    return True
KEYS = {"int": b"\x03", "quit": b"\x1c", "stop": b"\x1a", "fg": b"fg\r", "allow": b"o", "exit": b"exit\r"}
expect(rb"prompt> ")
os.write(tty, command.encode() + b"\r")
for step in steps:
    word, _, what = step.partition(":")
    if word == "see":
        print(what if expect(what.encode()) else f"no {what}: {seen[-300:]!r}")
        time.sleep(1.2) # a question takes no answer yet
    else: os.write(tty, KEYS[word])
os.write(tty, b"stty -a | grep -c ' icanon'; echo went o\"\"n: `cat went 2>/dev/null`.\r")
print(re.search(rb"\d\r\nwent on: \w*\.", seen).group().decode().replace("\r\n", " ") if expect(rb"(?=\d\r\nwent on: \w*\.)") else seen[-300:])
P
rest() { # NAME WHAT-IS-WAITED-FOR COMMAND STEP...: the same natively, W standing for usher; NAME "question" has none natively
	local name=$1 native got asked="$USHER run --ask=tty -p $R --journal $T/r$RANDOM -- "
	rm -f went && native=$(timeout 200 python3 "$T/etc/rest.py" "${2//W /}" "${@:3}")
	rm -f went && got=$(timeout 200 python3 "$T/etc/rest.py" "${2//W /$asked}" "${@:3}")
	same "$name" "$native" "$got"
}
for sh in bash dash; do
	command -v $sh >/dev/null || { skip "a script of $sh" "not installed"; continue; }
	script="$sh -c 'W sh -c \"echo UP; exec cat\"; echo yes >went'"
	rest "$sh script, Ctrl-C" "$script" "see:UP" int "see:prompt> "
	rest "$sh script, Ctrl-\\" "$script" "see:UP" quit "see:prompt> "
	rest "$sh script, Ctrl-Z, fg, Ctrl-C" "$script" "see:UP" stop "see:Stopped" "see:prompt> " fg "see:went" int "see:prompt> "
done
rest "a shell in a script has Ctrl-C for itself" "bash -c 'W env PS1=in,ner bash --norc --noprofile -i; echo yes >went'" "see:in,ner" int "see:in,ner" exit "see:prompt> "
question="usher asks
Stopped
prompt> 
usher asks
prompt> "
same "a question in a script, Ctrl-Z, fg, Ctrl-C" "$question
1 went on: ." "$(rm -f went; timeout 200 python3 "$T/etc/rest.py" "bash -c '$USHER run --ask=tty -p $R --journal $T/r1 -- cat q; echo yes >went'" \
	"see:usher asks" stop see:Stopped "see:prompt> " fg "see:usher asks" int "see:prompt> ")"
same "a question in a pipeline, Ctrl-Z, fg, allowed" "${question%prompt*}content
prompt> 
1 went on: ." "$(timeout 200 python3 "$T/etc/rest.py" "$USHER run --ask=tty -p $R --journal $T/r2 -- cat q | cat" \
	"see:usher asks" stop see:Stopped "see:prompt> " fg "see:usher asks" allow see:content "see:prompt> ")"
if "$USHER" run --isolate=pid -p "$T/etc/allow.rules" --journal "$T/r3" -- true 2>/dev/null; then
	same "in a pid namespace, too" "$question
1 went on: ." "$(rm -f went; timeout 200 python3 "$T/etc/rest.py" "bash -c '$USHER run --isolate=pid --ask=tty -p $R --journal $T/r4 -- cat q; echo yes >went'" \
	"see:usher asks" stop see:Stopped "see:prompt> " fg "see:usher asks" int "see:prompt> ")"
fi

# A key that is held down while other questions come, and go, beside the one that is shown: it answers none of them. A trial in which this script was kept from typing says nothing.
cat >"$T/etc/more.py" <<'P'
import os, sys, threading, time
def ask(n):
    time.sleep(0.2 * n)
    try: open(f"beside{n}").close(); print("allowed", n)
    except OSError: print("denied", n)
several = [threading.Thread(target=ask, args=(n,)) for n in range(6)]
for t in several: t.start()
for t in several: t.join()
P
cat >"$T/etc/held.py" <<'P'
import os, pty, select, sys, time
usher, rules, place, *command = sys.argv[1:]
def trial(journal):
    pid, tty = pty.fork()
    if pid == 0: os.execvp(usher, [usher, "run", "--ask=tty", "-p", rules, "--journal", journal, "--"] + command)
    seen, longest, last, asked = b"", 0, time.monotonic(), None
    while not asked or last - asked < 3:
        os.write(tty, b"o")
        if select.select([tty], [], [], 0.03)[0]: seen += os.read(tty, 65536)
        if not asked and b"usher asks" in seen: asked = last
        now = time.monotonic()
        longest, last = max(longest, now - last), now
        if now - (asked or last) > 3: break
    os.kill(pid, 15)
    try:
        while more := os.read(tty, 65536): seen += more
    except OSError: pass
    os.waitpid(pid, 0)
    return longest, b"allowed" in seen or b"allow once" in seen
for i in range(5):
    longest, answered = trial(f"{place}.{i}")
    if longest < 0.5: break
print("kept from typing" if longest >= 0.5 else "answered" if answered else "nothing answered")
P
printf 'ask read **/beside?\ndefault allow\n' >"$T/etc/beside.rules" && chmod 600 "$T/etc/beside.rules"
touch beside{0..5}
same "a key that is held down answers none of several questions" "nothing answered" \
	"$(timeout 100 python3 "$T/etc/held.py" "$USHER" "$T/etc/beside.rules" "$T/held" python3 "$T/etc/more.py")"

# No shell above: a program that was ordered to stop stays so until somebody lets it go on; the key for it does nothing, as natively.
cat >"$T/etc/orphan.py" <<'P'
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
said = b""
def hear(until, seconds=20):
    global said
    end = time.monotonic() + seconds
    while until not in said and time.monotonic() < end:
        if not select.select([fd], [], [], 0.05)[0]: continue
        try: said += os.read(fd, 4096)
        except OSError: break
    return until in said
os.write(fd, b"\x1a") if hear(b"begins") else print("silent")
print("goes on after the key" if hear(b"number") else "stopped by the key")
number = int(open("number").read())
print("stays stopped" if not hear(b"resumed", 1) else "resumed by nobody")
os.kill(number, 18)
print("resumed" if hear(b"resumed") else "lost")
P
cat >"$T/etc/stops.sh" <<'S'
echo begins; sleep 0.5; echo $$ >number; echo number; kill -STOP $$; echo resumed
S
for how in native relayed; do
	fresh
	case $how in
	native) native=$(python3 "$T/etc/orphan.py" sh "$T/etc/stops.sh") ;;
	relayed) same "no shell above" "$native" "$(python3 "$T/etc/orphan.py" "$USHER" run --ask=tty -p "$R" --journal "$T/j5" -- sh "$T/etc/stops.sh")" ;;
	esac
done

# The key comes while a child has its parent's memory: stopped there, it held its parent up for ever.
cat >"$T/etc/vforked.py" <<'P'
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
said = b""
def hear(until, seconds=20):
    global said
    end = time.monotonic() + seconds
    while until not in said and time.monotonic() < end:
        if not select.select([fd], [], [], 0.05)[0]: continue
        try: said += os.read(fd, 4096)
        except OSError: break
    return until in said
os.write(fd, b"\x1a") if hear(b"begins") else print("silent")
print("goes on" if hear(b"number") else "held up")
P
fresh
same "a child of vfork and the key (native)" "goes on" "$(python3 "$T/etc/vforked.py" "$BIN/vforked")"
same "a child of vfork and the key" "goes on" "$(python3 "$T/etc/vforked.py" "$USHER" run --ask=tty -p "$R" --journal "$T/j6" -- "$BIN/vforked")"
same "no shell above (native)" "goes on after the key stays stopped resumed" "$(paste -sd' ' <<<"$native")"
finish
