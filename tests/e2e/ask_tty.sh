#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# quick: 1000
# waits
# Questions on a terminal: keys are typed into tmux, screens are captured.
. "$(dirname "$0")/lib.sh"

if ! command -v tmux >/dev/null; then
	skip tty "tmux is not installed"
	finish
	exit
fi

TM=(tmux -S "$T/tmux.sock" -f /dev/null)
at_exit '"${TM[@]}" kill-server 2>/dev/null'
cat >"$T/etc/ask.rules" <<'R'
default allow
ask read **/secret* timeout=30s reason="a secret is read"
ask read **/brief timeout=2s
ask read **/let timeout=5s else=allow
ask read **/ends timeout=5s else=kill
ask connect tcp:127.0.0.1:*
ask exec **/echo
R
chmod 600 "$T/etc/ask.rules"
mkdir -p "$T/w"
cd "$T/w" || exit 1
export XDG_CONFIG_HOME=$T/config
mkdir -p "$XDG_CONFIG_HOME"
for f in secret secret2 brief let ends; do echo "content of $f" >$f; done
seq 1 500 >numbers
cat >knock.py <<'P'
import socket
for port in 9, 10: print(socket.socket().connect_ex(("127.0.0.1", port)), flush=True)
print("knocked on both")
P

"${TM[@]}" new-session -d -s t -x 90 -y 30 "env PS1='\$ ' bash --norc --noprofile" || exit 1
keys() { "${TM[@]}" send-keys -t t "$@"; }
screen() { "${TM[@]}" capture-pane -p -t t; }
wait_text() { # TEXT: until it is on the screen
	local i
	for i in $(seq 100); do
		screen | grep -qF -- "$1" && return 0
		sleep 0.1
	done
	return 1
}
wait_gone() {
	local i
	for i in $(seq 100); do
		screen | grep -qF -- "$1" || return 0
		sleep 0.1
	done
	return 1
}
shell_asks() { # the shell asks for the next line; what is typed while a session still ends is the session's
	local i
	for i in $(seq "${1:-300}"); do
		[ "$(screen | grep -v '^ *$' | tail -n 1)" != '$' ] || return 0
		sleep 0.1
	done
	return 1
}
shell_back() { wait_text "$1" && shell_asks; } # TYPED: the shell has it
begin() { # a clean screen
	shell_asks 100
	keys C-l
	keys clear Enter
	sleep 0.3
}
see() { # NAME TEXT
	if wait_text "$2"; then ok "$1"; else not_ok "$1" "expected: $2" "$(screen)"; fi
}
see_not() {
	if screen | grep -qF -- "$2"; then not_ok "$1" "not expected: $2" "$(screen)"; else ok "$1"; fi
}
run() { keys "$USHER run -p $T/etc/ask.rules --journal $T/j$((++J)) -- $*" Enter; }
J=0
ARMED="[o] allow once"
begin

run cat secret
see "question is shown" "$ARMED"
see "it says what" "$T/w/secret"
see "it says by whom" "by        /usr/bin/cat"
see "it says by which rule" "ask.rules:2"
see "it gives the reason" "a secret is read"
keys o
see "o allows" "content of secret"
see "the screen is restored" "usher: questions on this terminal carry the mark"
see_not "the question is gone" "$ARMED"
keys 'echo status $?' Enter
see "exit status" "status 0"

begin
run "sh -c 'cat secret; cat secret; echo end'"
wait_text "$ARMED"
keys s
see "s allows" "end"
lines() { [ "$(screen | grep -c -- "$2")" = "$1" ]; } # the end of the command stands in its own line, too: what it prints may still come
check "s is asked once" wait_for lines 2 '^content of secret'

for key in d Enter; do
	begin
	run "cat secret"
	wait_text "$ARMED"
	keys "$key"
	see "$key denies" "Permission denied"
done

begin
run "cat secret"
wait_text "$ARMED"
keys x
wait_text "denied, and say:"
keys -l "not today"
sleep 0.3
keys Enter
see "x denies" "Permission denied"
see "with a message on the command's terminal" "usher: denied: not today"

# Where no cursor can be moved, what is typed is one line, drawn when it changes: what is rubbed out is gone, what follows begins its own line.
dumb() { keys "TERM=dumb $USHER run -p $T/etc/ask.rules --journal $T/j$((++J)) -- $*" Enter; }
begin
"${TM[@]}" pipe-pane -t t "cat >$T/dumb.out"
dumb cat secret
wait_text "$ARMED"
keys x
wait_text "denied, and say:"
keys -l "nott"
wait_text "denied, and say: nott"
keys BSpace
has_line() { screen | grep -qxF -- "$1"; }
check "without a cursor what is rubbed out is gone" wait_for has_line "  denied, and say: not"
sleep 2.2
keys Enter
check "what follows a message begins its own line" wait_for has_line "cat: secret: Permission denied"
"${TM[@]}" pipe-pane -t t
same "a prompt is drawn no more often than it changes" yes "$([ "$(grep -ao "denied, and say:" "$T/dumb.out" | wc -l)" -le 7 ] && echo yes)"
begin
dumb cat secret
wait_text "$ARMED"
keys p
wait_text "for which names, then a key above: "
keys Enter
wait_text "  for: $T/w/**"
keys s
check "and what follows a pattern" wait_for has_line "content of secret"

# How long an answer holds: what is typed over the proposal. Each inner shell opens the file twice.
echo ': <secret; : <secret' >twice.sh
HOW="  deny for (session, tree, 10m, always): "
hold() { # KEY PROMPT SCOPE
	wait_text "$ARMED"
	keys "$1"
	wait_text "$2"
	keys C-u
	keys -l "$3"
	wait_text "$2$3"
	keys Enter
}
questions() { records "$T/j$J" | grep -c '"event":"question"'; }
for scope in session 10m always tree; do
	begin
	run "bash -c 'bash twice.sh; bash twice.sh; echo the end'"
	if [ $scope = always ]; then
		hold D "$HOW" never
		see "what is no scope is said, and asked for again" "  not understood; ${HOW#  }never"
		keys Escape
		wait_text "$ARMED"
		see_not "and is no answer" "the end"
	fi
	hold D "$HOW" $scope
	if [ $scope = always ]; then
		see "D with always shows the rule" 'deny read "'
		wait_text "write it?"
		keys y
		sleep 0.3
		keys Enter
	fi
	[ $scope != tree ] || hold D "$HOW" tree # the second shell is another tree
	see "D denies for $scope" "the end"
	check "each time" wait_for lines 4 'Permission denied'
	same "and is asked as often as that needs" "$([ $scope = tree ] && echo 2 || echo 1)" "$(questions)"
	rm -rf "$XDG_CONFIG_HOME/usher.kept"
	[ $scope != always ] || mv "$XDG_CONFIG_HOME/usher" "$XDG_CONFIG_HOME/usher.kept"
	[ $scope != always ] || check "the rule is written" grep -q "^deny read \"$T/w/secret\" by=" "$XDG_CONFIG_HOME/usher.kept/grants.rules"
done
begin
run "bash -c 'bash twice.sh; bash twice.sh; echo the end'"
hold m "  allow for (10m, 2h): " 90s
see "m allows for a time" "the end"
same "it is asked once" 1 "$(questions)"
check "and says for how long" grep -q "scope=time seconds=90" <(records "$T/j$J")

begin
run "sh -c 'cat secret; cat secret2; echo end'"
wait_text "$ARMED"
keys p
see "p proposes the directory" "$T/w/**"
for i in $(seq 3); do keys BSpace; done
keys -l '/s*'
sleep 0.3
keys Enter
see "the pattern as edited" "for: $T/w/s*"
keys s
see "a pattern allows" "content of secret2"
see "to the end" "end"

begin
run "python3 knock.py"
wait_text "$ARMED"
keys p
see "p proposes an address as rules have it" "above: tcp:127.0.0.1:9"
keys BSpace
keys '*'
wait_text "tcp:127.0.0.1:*"
keys Enter
wait_text "for: tcp:127.0.0.1:*"
keys s
see "and the edited one allows" "knocked on both"

# What was typed and does not fit is no answer, and that is said: what is typed on answers nothing until Enter.
begin
run "cat secret"
wait_text "$ARMED"
keys p
wait_text "$T/w/**"
keys C-u
keys -l "$T/etc/*"
wait_text "above: $T/etc/*"
keys Enter
see "a pattern that does not match is refused, with a word" "no pattern that covers what is asked"
keys s
sleep 0.3
see_not "and what is typed then is no answer" "content of secret"
keys Enter
wait_gone "no pattern that"
keys r
wait_text "the object instead:"
keys -l secret2
wait_text "instead: secret2"
keys Enter
see "so is what is no object" "nothing that this can be led to"
keys t
sleep 0.3
see_not "nor then" "content of secret"
keys Enter
wait_gone "nothing that this"
wait_text "$ARMED"
keys r
wait_text "the object instead:"
keys -l "$T/w/brief"
sleep 0.3
keys Enter
see "r leads elsewhere" "content of brief"

begin
run '/bin/echo '"''"
wait_text "$ARMED"
keys a
see "where no rule says just this, it is said" "no rule says exactly this"
keys Enter
wait_gone "no rule says"
wait_text "$ARMED"
keys d
wait_gone "$ARMED"

# Letters beyond ASCII are typed as they are on the keyboard, and shown as names are.
echo "content of the other" >"gr$(printf '\303\274')n"
begin
run "cat secret"
wait_text "$ARMED"
keys r
wait_text "the object instead:"
keys -l "$T/w/gr$(printf '\303\274')$(printf '\303\244')"
check "a letter beyond ASCII is seen as names show it" wait_text '/gr\xc3\xbc\xc3\xa4'
keys BSpace
keys -l n
check "and is taken back whole" wait_text '/gr\xc3\xbcn'
sleep 0.3
keys Enter
see "and is part of the name" "content of the other"

begin
run "cat secret"
wait_text "$ARMED"
keys a
see "a shows the rule" 'allow read "'
sleep 0.3
keys n
sleep 0.3
keys Enter
wait_text "$ARMED"
if [ -e "$XDG_CONFIG_HOME/usher/grants.rules" ]; then not_ok "nothing is written without a yes"; else ok "nothing is written without a yes"; fi
keys a
wait_text "write it?"
keys y
sleep 0.3
keys Enter
see "always allows" "content of secret"
check "and writes the rule" grep -q "^allow read \"$T/w/secret\" by=" "$XDG_CONFIG_HOME/usher/grants.rules"
begin
run "cat secret"
see "the next session does not ask" "content of secret"
rm -r "$XDG_CONFIG_HOME/usher"

begin
run "cat secret"
wait_text "$ARMED"
keys a
wait_text "write it?"
mkdir -p "$XDG_CONFIG_HOME/usher" # comes to be one that anybody may write, after usher has looked
touch "$XDG_CONFIG_HOME/usher/grants.rules"
chmod 666 "$XDG_CONFIG_HOME/usher/grants.rules"
keys y
sleep 0.3
keys Enter
see "an answer for ever that cannot be written is an answer" "content of secret"
see "that it will not be one in the next session is said" "for this session only"
check "nothing is written" test ! -s "$XDG_CONFIG_HOME/usher/grants.rules"
rm -r "$XDG_CONFIG_HOME/usher"

begin
run "sh -c 'cat secret; echo sur''vived'"
wait_text "$ARMED"
keys k
wait_text "y and Enter"
keys y
sleep 0.3
keys Enter
wait_gone "y and Enter"
see "k ends the command" "Killed"
see_not "all of it" "survived"

begin
run "cat brief"
see "what silence brings about is said" "denied in"
see "silence denies" "Permission denied"

# What the rule says of silence is said as it is: who believes that it denies may leave.
begin
run "cat let"
see "with else=allow it is said that silence allows" "  allowed in"
see "and it does" "content of let"
begin
run "sh -c 'cat ends; echo sur''vived'"
see "with else=kill it is said that silence ends all" "  all is killed in"
see "and it does, too" "Killed"

begin
run "sh -c 'sleep 1; cat secret; read -r line; echo got \$line'"
sleep 0.3
keys o o o Enter
wait_text "$ARMED"
see_not "typed ahead does not answer" "content of secret"
keys d
see "typed ahead goes to the program" "got ooo"

begin
run "cat secret"
wait_text "$ARMED"
keys -l "oops, a paste"
sleep 1.5
see "a burst does not answer" "$ARMED"
keys Up Down
sleep 1.2
see "cursor keys do not answer" "$ARMED"
keys d
wait_gone "$ARMED"

begin
run "less numbers"
wait_text "numbers"
keys '!cat secret' Enter
see "question over a full-screen program" "$ARMED"
keys o
see "its answer reaches the program" "content of secret"
keys Enter
see "the program draws itself again" "28"
keys q
sleep 0.3

# One that lets a tenth of a second pass behind the last change of size, and looks then whether there is any.
cat >late.py <<'P'
import os, select, signal, sys
r, w = os.pipe(); os.set_blocking(w, False); signal.set_wakeup_fd(w); signal.signal(signal.SIGWINCH, lambda *_: 0)
size, screen = os.get_terminal_size(0), "\033[2J\033[Hdrawn"
print("\033[?1049h" + screen, flush=True)
open("secret").close()
while 0 not in select.select([0, r], [], [])[0]:
    while select.select([r], [], [], 0.1)[0]: os.read(r, 99)
    if size != os.get_terminal_size(0): size = os.get_terminal_size(0); print(screen, flush=True)
print("\033[?1049l")
P
begin
run "python3 late.py"
wait_text "$ARMED"
keys o
wait_gone "$ARMED"
see "a program that is slow to see its size draws itself again" "drawn"
keys Enter
sleep 0.3

if command -v vim >/dev/null; then
	begin
	run "vim -u NONE -n numbers"
	wait_text "500L"
	keys ':r secret' Enter
	see "question over vim" "$ARMED"
	keys s
	see "vim is restored" "content of secret"
	see "with its text" "25"
	keys ':q!' Enter
	wait_gone "content of secret"
else skip "question over vim" "no vim"; fi

# What begins a string that never ends keeps a question off the screen of a tmux or screen.
for begun in '\033Pq' '\033Pq\033[m' '\033(\033Pq'; do
	begin
	run "sh -c 'printf \"$begun\"; cat secret'"
	sleep 2
	if screen | grep -qF -- "$ARMED"; then ok "a question is seen behind $begun"; else not_ok "a question is seen behind $begun" "$(screen)"; fi
	wait_text "$ARMED"
	keys d
	wait_gone "$ARMED"
done

# The mouse is the program's, and no answer.
cat >mouse.sh <<'M'
stty raw -echo
printf '\033[?1000h\033[?1006hready'
head -c 9 >clicked
: <secret
head -c 1 >/dev/null
printf '\033[?1006l\033[?1000l'
stty sane
echo the end
M
begin
run "bash mouse.sh"
wait_text ready
keys -H 1b 5b 3c 30 3b 35 3b 36 4d
wait_text "$ARMED"
same "a click reaches the program" '1b5b3c303b353b364d' "$(od -An -tx1 clicked | tr -d ' \n')"
keys -H 1b 5b 3c 30 3b 35 3b 36 4d
sleep 1.2
see "a click does not answer" "$ARMED"
keys o
wait_gone "$ARMED"
keys q
see "nor is it lost on the program" "the end"

begin
run "tmux -S $T/inner.sock -f /dev/null new-session 'cat secret; echo inner end; read -r x'"
see "question over a nested tmux" "$ARMED"
keys o
see "its answer reaches what runs there" "content of secret"
see "and the nested screen is drawn again" "[0]"
"${TM[@]}" resize-window -t t -x 80 -y 25
keys Enter
see "it ends as ever" "[exited]"
"${TM[@]}" resize-window -t t -x 90 -y 30
sleep 0.3

begin
run "sh -c 'sleep 60; echo slept'"
sleep 0.8
keys C-z
see "Ctrl-Z stops" "Stopped"
keys 'stty -a | grep -q " icanon" && echo coo""ked' Enter
see "the terminal is cooked then" "cooked"
keys fg Enter
sleep 0.5
keys C-c
shell_back '^C'
keys 'echo status $?' Enter
see "fg and Ctrl-C" "status 130"

begin
run "cat secret"
wait_text "$ARMED"
keys C-c
shell_back ''
keys 'echo status $?' Enter
see "Ctrl-C at a question reaches the program" "status 130"

# The shell has its own screen then, not what a question is shown on; and the question comes back with the job.
alternate() { "${TM[@]}" display-message -p -t t '#{alternate_on}'; }
for what in "cat secret" "sh -c '(sleep 1; cat secret >got) & less numbers'"; do
	begin
	run "$what"
	wait_text "$ARMED"
	same "a question has a screen of its own" 1 "$(alternate)"
	keys C-z
	see "Ctrl-Z at a question stops" "Stopped"
	same "and the shell's screen is there" 0 "$(alternate)"
	see_not "without the question" "$ARMED"
	keys fg Enter
	see "fg brings it back" "$ARMED"
	keys o
	wait_gone "$ARMED"
	if [ "$what" = "cat secret" ]; then
		see "and its answer counts" "content of secret"
	else
		check "and its answer counts, over a full screen" wait_for grep -qs "content of secret" got
		keys q
	fi
	shell_asks
	same "the screen is the shell's again" 0 "$(alternate)"
done

begin
run "sh -c 'cat secret & cat secret2 & wait; echo bo''th'"
wait_text "$ARMED"
see "that one more waits is said" "== 1 more waits =="
keys o
sleep 0.3
wait_text "$ARMED"
keys o
see "two at once are answered one after the other" "both"
see "first of two" "content of secret"
see "second of two" "content of secret2"

# A program may ask the terminal for another size; what cannot be shown is not allowed.
for size in "25 30" "90 9"; do
	begin
	run "cat secret"
	wait_text "$ARMED"
	"${TM[@]}" resize-window -t t -x "${size% *}" -y "${size#* }"
	see "$size: what is asked has no room, which is said" "no room to ask:"
	sleep 1.2
	keys o
	sleep 0.3
	"${TM[@]}" resize-window -t t -x 90 -y 30
	see "$size: and nothing is allowed there" "$ARMED"
	keys o
	see "$size: in a larger window it is" "content of secret"
done
begin
run "cat secret"
wait_text "$ARMED"
"${TM[@]}" resize-window -t t -x 20 -y 30
see "20 columns have that in full" "no room to ask:"
see "and what can be answered" "[d] or Enter: deny"
sleep 1.2
keys d
wait_gone "no room to ask" # a key that another size overtakes is none
"${TM[@]}" resize-window -t t -x 90 -y 30
see "a denial is an answer there" "Permission denied"

# A rule for ever that is longer than the window would be agreed to with its beginning unseen.
deep=$T/w/$(printf '/%0200d' $(seq 14))
mkdir -p "$deep"
echo deep >"$deep/secret"
echo "cat $deep/secret" >deep.sh
begin
run "sh deep.sh"
wait_text "$ARMED"
keys a
see "of a rule that has no room it is said" "no room for all of the rule"
keys y
sleep 0.3
keys Enter
see "and the question stays" "$ARMED"
keys d
see "until it is answered" "Permission denied"
check "no such rule is written" sh -c '! grep -qs 000 "$XDG_CONFIG_HOME/usher/grants.rules"'

begin
run "sh -c 'while :; do stty size; sleep 0.2; done'"
see "size" "30 90"
"${TM[@]}" resize-window -t t -x 80 -y 25
see "size follows" "25 80"
keys C-c
"${TM[@]}" resize-window -t t -x 90 -y 30
sleep 0.3

begin
run "sh -c 'cat numbers; cat secret' | tail -2"
wait_text "$ARMED"
keys o
see "in a pipe" "content of secret"

begin
run "bash --norc --noprofile -i"
sleep 0.5
keys 'sleep 50' Enter
sleep 0.3
keys C-z
see "job control inside" "Stopped"
# bash's wait complains about a job that it takes for stopped still: the end of a killed one reaches it a little later.
keys 'kill -9 %1; until [ -z "$(jobs -s)" ]; do sleep 0.1; done; wait' Enter
sleep 0.5
keys 'exit 7' Enter
shell_back 'exit 7'
keys 'echo status $?' Enter
see "its exit status" "status 7"
see_not "no complaint about job control" "no job control"

begin
keys 'stty -a >before; '
run "cat numbers"
shell_back 500
keys "stty -a >after; cmp before after && echo modes s''ame" Enter
see "modes are as before" "modes same"

# The program cannot answer by itself: not through its own terminal, and not through the real one.
begin
cat >type.py <<'P'
import fcntl, os, sys, termios, threading, time
def typing():
    for _ in range(30):
        time.sleep(0.1)
        for path in ["/dev/tty"] + sys.argv[1:]:
            try:
                fd = os.open(path, os.O_RDWR | os.O_NOCTTY)
                os.write(fd, b"o")
                fcntl.ioctl(fd, termios.TIOCSTI, b"o")
            except OSError:
                pass
threading.Thread(target=typing, daemon=True).start()
try:
    open("secret").read()
    print("BROKEN", "IN")
except OSError as e:
    print("refused:", e.strerror)
P
if command -v python3 >/dev/null; then
	keys "T0=\$(tty)" Enter
	run 'python3 type.py $T0'
	wait_text "$ARMED"
	sleep 3.5
	see "the program cannot answer itself" "$ARMED"
	see_not "nor did it" "BROKEN IN"
	keys d
	see "a person can" "refused:"
else
	skip "the program cannot answer itself" "no python3"
fi

# Who was killed could not give the terminal back: usher does, whoever has killed it. What a program leaves on purpose stays.
cat >modes.sh <<'S'
printf '\033[?1049h\033[?1003h\033[?1006h\033[?25l\033=\033[?1h\033[4;9r\033[4h\033[?7l\033[31m'
case $1 in ask) cat secret;; dies) kill -9 $$;; waits) echo ready; sleep 60;; esac
S
echo 'printf "\033[?1049l\033[?1003;1006l\033[?25h\033>\033[?1l\033[r\033[4l\033[?7h\033[m"' >undo.sh
modes() {
	"${TM[@]}" display -t t -p 'alternate #{alternate_on} mouse #{mouse_any_flag} #{mouse_sgr_flag} cursor #{cursor_flag} keypad #{keypad_flag} #{keypad_cursor_flag} insert #{insert_flag} wrap #{wrap_flag} margins #{scroll_region_upper} #{scroll_region_lower}'
}
is_as() { [ "$(modes)" = "$1" ]; }
by_number() { pgrep -f "^$USHER run .*$T/j$J " | head -1; }
AS_BEFORE=$(modes)
begin
keys "bash modes.sh leaves" Enter
check "natively a program's modes stay" wait_for is_as 'alternate 1 mouse 1 1 cursor 0 keypad 1 1 insert 1 wrap 0 margins 3 8'
keys "bash undo.sh" Enter
check "until somebody takes them back" wait_for is_as "$AS_BEFORE"
begin
run "bash modes.sh leaves"
check "so they do where it ends by itself" wait_for is_as 'alternate 1 mouse 1 1 cursor 0 keypad 1 1 insert 1 wrap 0 margins 3 8'
shell_asks
keys "bash undo.sh" Enter
wait_for is_as "$AS_BEFORE"
begin
run "bash modes.sh ask"
wait_text "$ARMED"
keys k
wait_text "y and Enter"
keys y
sleep 0.3
keys Enter
check "k gives the terminal back" wait_for is_as "$AS_BEFORE"
begin
run "bash modes.sh dies"
wait_text "Killed"
check "so does the end of a program that was killed" wait_for is_as "$AS_BEFORE"
(echo 'limit wall 3s'; cat "$T/etc/ask.rules") >"$T/etc/short.rules" && chmod 600 "$T/etc/short.rules"
begin
keys "$USHER run -p $T/etc/short.rules --journal $T/j$((++J)) -- bash modes.sh waits" Enter
wait_text "ready"
see "a limit that was reached is told on the screen that is given back" "usher: the limit on wall was reached"
check "which is as before" is_as "$AS_BEFORE"
for sig in TERM KILL; do
	begin
	run "bash modes.sh waits"
	wait_text "ready"
	kill -$sig "$(by_number)"
	check "and SIG$sig to usher" wait_for is_as "$AS_BEFORE"
	shell_asks
	rm -rf "$T/j$J" # not closed, after the second
	J=$((J - 1))
done

# usher killed with a question up: what was started with it gives the terminal back. The shell around it does not.
begin
J=$((J + 1))
keys "sh -c 'stty -a >before; $USHER run -p $T/etc/ask.rules --journal $T/j$J -- cat secret; sleep 0.5; stty -a >after'" Enter
wait_text "$ARMED"
kill -9 "$(pgrep -f "^$USHER run .*$T/j$J " | head -1)"
check "the screen is given back" wait_gone "$ARMED"
sleep 1
same "the modes too" "$(cat before)" "$(cat after)"

# The same while something else is in the middle of writing to the terminal: a descriptor that does not block takes nothing then.
cat >held.py <<'P'
import fcntl, os, pty, signal, subprocess, sys, termios, time
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, b"\x1e\0\x5a\0\0\0\0\0")
before = termios.tcgetattr(slave)
def session():
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
usher = subprocess.Popen(sys.argv[1:], stdin=slave, stdout=slave, stderr=slave, preexec_fn=session)
seen = b""
while b"[o] allow once" not in seen: seen += os.read(master, 65536)
writer = subprocess.Popen([sys.executable, "-c", "import os; os.write(1, b'x' * 200000)"], stdout=slave)
time.sleep(0.5)  # it has filled the terminal's buffer, and waits in its write
os.kill(usher.pid, signal.SIGKILL)
usher.wait()
time.sleep(0.3)
seen, since = b"", time.monotonic()
while time.monotonic() - since < 5 and (writer.poll() is None or b"[?1049l" not in seen):
    os.set_blocking(master, False)
    try: seen += os.read(master, 65536)
    except BlockingIOError: time.sleep(0.02)
writer.kill()
print("left" if b"[?1049l" in seen else "STAYS", "same" if termios.tcgetattr(slave) == before else "RAW")
P
if command -v python3 >/dev/null; then
	same "nor does another writer to the terminal keep it" "left same" "$(python3 held.py "$USHER" run -p "$T/etc/ask.rules" --journal "$T/jheld" -- cat secret)"
else
	skip "nor does another writer to the terminal keep it" "no python3"
fi

mark=$(screen | grep -o 'mark \[[a-z0-9]*\]' | head -1)
if [ -n "$mark" ]; then ok "the mark is told at the start"; else not_ok "the mark is told at the start" "$(screen)"; fi

for n in $(seq $((J - 1))); do # the last was killed
	"$USHER" verify "$T/j$n" >/dev/null || not_ok "journal $n is whole"
done
if "$USHER" log "$T/j1" --json 2>/dev/null | grep '"answer"' | grep -q '"tty"'; then
	ok "the answer is in the journal"
else
	not_ok "the answer is in the journal" "$("$USHER" log "$T/j1" --json | tail -5)"
fi
# Whoever reads the terminal slowly gets all that the command has written, its last words as well.
if command -v python3 >/dev/null; then
	cat >"$T/slow.py" <<'P'
import os, pty, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
seen, last = 0, b""
while True:
    time.sleep(0.02)
    try:
        part = os.read(fd, 4096)
    except OSError:
        break
    if not part:
        break
    seen += part.count(b"#")
    last = (last + part)[-20:]
print(seen, last.split()[-1:], os.waitpid(pid, 0)[1])
P
	WRITES=(bash -c 'head -c 200000 /dev/zero | tr "\0" "#"; echo; echo END')
	same "natively a slow reader loses nothing" "200000 [b'END'] 0" "$(python3 "$T/slow.py" "${WRITES[@]}")"
	same "nor at the end of a session" "200000 [b'END'] 0" "$(python3 "$T/slow.py" "$USHER" run -p "$T/etc/ask.rules" --ask=tty --journal "$T/jslow" -- "${WRITES[@]}")"
fi
finish
