#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# waits
# At a terminal: size, Ctrl-C, Ctrl-Z and fg, raw mode, hang-up do what they do without usher. Each case is typed into a
# shell in tmux twice, natively and supervised.
# quick: 1000
. "$(dirname "$0")/lib.sh"
need tmux
fresh
sock=$T/tmux.sock
tm() { tmux -S "$sock" -f /dev/null "$@"; }
at_exit 'tm kill-server 2>/dev/null'
# The server is to outlive the sessions: one that ends with its last takes the next with it, or is still there and takes none.
tm new-session -d -s kept 'exec sleep 1000'
U="$USHER run -p $T/etc/allow.rules --ask=deny --journal"
screen() { tm capture-pane -p -t t -S -200 2>/dev/null; }
type_in() { tm send-keys -t t "$@"; }
shows() { screen | grep -q -- "$1"; }
began=
begin() {
	tm kill-session -t t 2>/dev/null
	rm -f "$T/project/"*
	tm new-session -d -s t -x 100 -y 30 -c "$T/project" "env -u BASH_ENV PS1='ready> ' bash --norc --noprofile -i"
	if ! wait_for shows 'ready>'; then
		[ -n "$began" ] || skip_all "tmux does not work here"
		not_ok "a shell comes up in tmux" "$(screen)"
		finish
	fi
	began=yes
}
case_of() { # NAME FUNCTION: the function drives the terminal with $W in front of the command and prints what was seen
	local native got
	begin; W= native=$($2)
	begin; W="$U $(mktemp -u "$T/journal.XXXXXX") --" got=$($2)
	[ -n "$native" ] || { not_ok "$1 (native)" "$(screen)"; return; }
	if [ "$native" = "$got" ]; then ok "$1"; else not_ok "$1" "expected: $native" "seen:     $got" "$(screen | tail -n 12)"; fi
}
send() { type_in -l "$1"; type_in Enter; }
made() { test -e "$T/project/$1"; }
until_made() { wait_for made "$1" && cat "$T/project/$1"; }

size() {
	send "$W sh -c 'stty size; tty >/dev/null && echo is a tty; ps -o stat= -p \$\$ | grep -c +' > size.part 2>&1 < /dev/tty; mv size.part size"
	until_made size
}
case_of "size, terminal, foreground" size
winch() {
	send "$W bash -c 'trap \"stty size > new.part; mv new.part new\" WINCH; touch up; while [ ! -e new ]; do sleep 0.1; done'"
	until_made up >/dev/null && tm resize-window -t t -x 77 -y 22 && until_made new
}
case_of "a new size arrives with SIGWINCH" winch
interrupt() {
	send "$W sh -c 'touch up; sleep 60'; echo on > went.on" # the shell gives up the rest of a line that is interrupted
	until_made up >/dev/null && sleep 0.2 && type_in C-c
	send "echo \"status \$?\" > s.part; mv s.part s"
	until_made s; made went.on && echo went on
}
case_of "Ctrl-C ends the command and not the shell" interrupt
handled() {
	send "$W bash -c 'trap \"echo caught > c; exit 7\" INT; touch up; while :; do sleep 0.1; done'; echo \"status \$?\" > s.part; mv s.part s"
	until_made up >/dev/null && type_in C-c
	until_made s; cat "$T/project/c"
}
case_of "Ctrl-C reaches a handler" handled
# Not dash: it starts programs with vfork(2), and a Ctrl-Z between that and the exec stops the child alone, natively too.
stop() {
	send "$W bash -c 'touch up; n=0; while [ ! -e go ]; do n=\$((n+1)); echo \$n > beat; sleep 0.05; done; echo finished > f.part; mv f.part f'"
	until_made up >/dev/null && sleep 0.3 && type_in C-z
	wait_for shows Stopped && echo stopped
	a=$(cat "$T/project/beat"); sleep 0.4; [ "$a" = "$(cat "$T/project/beat")" ] && echo holds
	touch "$T/project/go"; send fg
	until_made f
	send "echo \"status \$?\" > s.part; mv s.part s"; until_made s
}
case_of "Ctrl-Z stops, fg goes on" stop
printf 'default allow\nlimit wall 1h\nlimit cpu 1h\n' >"$T/etc/limits.rules" && chmod 600 "$T/etc/limits.rules"
plain=$U U="$USHER run -p $T/etc/limits.rules --ask=deny --journal"
case_of "Ctrl-Z stops, fg goes on, with limits" stop
U=$plain
# A shell that suspends itself stops with its own group in the foreground: the shell above has to be told, nobody else could bring it back.
suspended() {
	send "$W bash --norc --noprofile -ic 'touch up; suspend -f; echo finished > f.part; mv f.part f'"
	until_made up >/dev/null && wait_for shows Stopped && echo stopped
	send fg; until_made f
	send "echo \"status \$?\" > s.part; mv s.part s"; until_made s
}
case_of "a shell that suspends itself, fg goes on" suspended
background() {
	send "$W sh -c 'touch up; while [ ! -e go ]; do sleep 0.05; done; echo finished > f.part; mv f.part f' &"
	until_made up >/dev/null && send "echo alive > alive.part; mv alive.part alive" && until_made alive
	touch "$T/project/go"; until_made f
}
case_of "in the background" background
lines() {
	send "$W sh -c 'touch up; exec cat' > got" # once it runs the terminal is the command's: what is typed before is the shell's
	until_made up >/dev/null && send "typed line"; type_in C-d
	wait_for test -s "$T/project/got" && cat "$T/project/got"
	send "echo back > b.part; mv b.part b"; until_made b
}
case_of "typed lines and Ctrl-D" lines
raw() {
	send "$W bash -c 'stty raw -echo; touch up; head -c 3 > k; stty sane; xxd -p k > k.part || od -An -tx1 k > k.part; mv k.part keys'"
	until_made up >/dev/null && sleep 0.2 && type_in a C-c b
	until_made keys
	send 'stty -a | grep -o " isig\| icanon" | tr -d " " > mode.part; mv mode.part mode'; until_made mode
}
case_of "raw mode gets Ctrl-C as a key" raw
quit() {
	send "$W sh -c 'touch up; sleep 60'; echo \"status \$?\" > s.part; mv s.part s"
	until_made up >/dev/null && sleep 0.2 && type_in 'C-\'
	until_made s
}
case_of "Ctrl-\\ quits" quit
pipe() {
	send "$W sh -c 'seq 1 100000' | head -n 2 > p; echo \"\${PIPESTATUS[1]}\" >> p; mv p pp"
	until_made pp
}
case_of "in a pipe" pipe
shell() {
	send "$W env PS1='inner> ' bash --norc --noprofile -i"
	wait_for shows '^inner>'; send 'sleep 30 & jobs | wc -l > j; kill %1; (exit 9); echo "inner $?" >> j; mv j jj; exit 4'
	until_made jj
	send "echo \"status \$?\" > s.part; mv s.part s"; until_made s
}
case_of "an interactive shell with jobs" shell
# The key for an end of file, typed before usher has the terminal: script(1) types it as soon as its own input ends.
rules asks.rules <<<$'default allow\nask read /nothing'
ahead() {
	command -v script >/dev/null || { echo skipped; return; }
	local words=$1 W=${W/--ask=deny/-p $T/etc/asks.rules --ask=tty} # where somebody may be asked there, the command has a terminal of its own
	printf '%s' "$words" | timeout -k 1 20 script -qec "sleep 0.2; $W sh -c 'cat | od -An -c >got.part; mv got.part got; exit 5'" /dev/null >/dev/null 2>&1
	echo "status $?"
	cat "$T/project/got"
}
ahead_end() { cd "$T/project" && ahead ''; }
ahead_line() { cd "$T/project" && ahead $'a line\n'; }
case_of "an end of file typed ahead" ahead_end
case_of "a line and an end of file typed ahead" ahead_line
hangup() {
	send "$W sh -c 'echo \$\$ > pid; while :; do sleep 0.1; done'"
	wait_for test -s "$T/project/pid" && p=$(cat "$T/project/pid") && tm kill-session -t t && wait_for gone "$p" && echo gone
}
case_of "closing the terminal ends it" hangup

# Started as a terminal's own program (sshd -t, a terminal's -e) usher leads the session, and the kernel tells it alone of a hang-up.
if command -v python3 >/dev/null; then
	cat >"$T/hup.py" <<'P'
import os, pty, sys, time
pid, fd = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
said = b""
while b"up\r\n" not in said: said += os.read(fd, 4096)
os.close(fd)
end = time.monotonic() + 10
while time.monotonic() < end:
    if os.waitpid(pid, os.WNOHANG)[0]: print("ended"); break
    time.sleep(0.05)
else: os.kill(pid, 9); print("lives")
P
	leader() { (cd "$T/project" && rm -f hup && python3 "$T/hup.py" "$@" sh -c 'trap "touch hup; exit" HUP; echo up; while :; do sleep 0.1; done'; test -e hup && echo "with SIGHUP"); }
	same "control: a session's leader gets SIGHUP when its terminal hangs up" "ended
with SIGHUP" "$(leader)"
	same "and so does the command of usher as the leader" "ended
with SIGHUP" "$(leader "$USHER" run -p "$T/etc/allow.rules" --journal "$(mktemp -u "$T/journal.hup.XXXXXX")" --)"
	rules asks.rules <<<$'ask exec /nothing\ndefault allow'
	asks() { echo "$USHER run -p $R --ask=tty --journal $(mktemp -u "$T/journal.hup.XXXXXX") --"; }
	# shellcheck disable=SC2046 # words
	same "and where it has a terminal of its own" "ended
with SIGHUP" "$(leader $(asks))"
	if "$USHER" run --isolate=pid -p "$T/etc/allow.rules" --journal "$T/journal.apart" -- true 2>/dev/null; then
		same "and in a pid namespace" "ended
with SIGHUP" "$(leader "$USHER" run --isolate=pid -p "$T/etc/allow.rules" --journal "$(mktemp -u "$T/journal.hup.XXXXXX")" --)"
	else
		skip "a hang-up in a pid namespace" "no pid namespace to be had"
	fi
fi
finish
