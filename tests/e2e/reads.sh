#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Reads that the rules allow everywhere without a record: left to the kernel where that is possible. What
# usher closes stays closed, with or without; each attack first shows that it works without usher.
. "$(dirname "$0")/lib.sh"

fresh
export XDG_CONFIG_HOME=$T/config
OPEN=$T/etc/reads.rules
mkdir -p "$XDG_CONFIG_HOME/usher"
echo 'allow read /nowhere' >"$XDG_CONFIG_HOME/usher/grants.rules"
chmod 600 "$XDG_CONFIG_HOME/usher/grants.rules"
OTHER=$T/state/usher/other
mkdir -p "$OTHER"
echo '{"seq":1}' >"$OTHER/journal-000001.jsonl"
SECRET=outside sleep 1000 &
SLEEPER=$!
at_exit "kill $SLEEPER"

closed() { # NAME SCRIPT: succeeds natively (the control), not under usher
	check "$1: natively it works" bash -c "$2"
	if out=$(supervise "$OPEN" bash -c "$2" 2>&1); then not_ok "$1" "it worked: $out"; else ok "$1"; fi
}
free() { head -n 1 "$JOURNAL"/*.jsonl | grep -q '"reads":"left to the kernel"'; }

supervise "$OPEN" true
if free; then
	plan=filter
elif is_root && unshare -m true 2>/dev/null; then
	not_ok "root's reads are left to the kernel" "$(head -n 1 "$JOURNAL"/*.jsonl)"
	plan=filter
else
	skip "reads are left to the kernel" "no mount namespace for this user"
	plan=supervisor
fi
check "the plan says so" sh -c "'$USHER' check --plan '$OPEN' | grep -q '^openat  *$plan '"
check "other rules: no" sh -c "'$USHER' check --plan '$T/etc/allow.rules' | grep -q '^openat  *supervisor '"

closed "journals of other sessions" "cat '$OTHER/journal-000001.jsonl'"
closed "grants" "cat '$XDG_CONFIG_HOME/usher/grants.rules'"
closed "its rule file" "cat '$OPEN'"
closed "by a path below /proc" "cat '/proc/self/root$OTHER/journal-000001.jsonl'"
closed "by a link" "ln -sfn '$OTHER' l; cat l/journal-000001.jsonl"
closed "by the working directory" "cd '$OTHER' && cat journal-000001.jsonl"
closed "the environment of a process outside" "grep -aq SECRET=outside /proc/$SLEEPER/environ"
closed "a file of a process outside, by descriptor" "cat /proc/$SLEEPER/exe | head -c 1 | grep -q ."
closed "the tree of a process outside" "cat /proc/$SLEEPER/root/etc/hostname || cat /proc/$SLEEPER/cwd/../etc/allow.rules"
closed "the memory map of a process outside" "grep -q . /proc/$SLEEPER/maps"

check "its own journal" sh -c "! '$USHER' run -p '$OPEN' --journal '$T/own' -- sh -c 'cat $T/own/*.jsonl' 2>/dev/null | grep -q seq"
check "which could be read outside" grep -q seq "$T/own/journal-000001.jsonl"

# Ways around a cover that begin before it: usher sees them and decides each read itself.
around() { # NAME COMMAND...: starts usher so that it stands already where a cover would be
	local name=$1
	shift
	if out=$("$@" 2>/dev/null) && [ -n "$out" ]; then not_ok "$name" "$out"; else ok "$name"; fi
}
around "a directory on standard input" sh -c "'$USHER' run -p '$OPEN' --journal '$T/j1' -- sh -c 'cat /proc/self/fd/0/usher/other/*.jsonl' <'$T/state'"
around "started among the journals" sh -c "cd '$OTHER' && '$USHER' run -p '$OPEN' --journal '$T/j2' -- cat journal-000001.jsonl"
around "a directory that is kept" sh -c "exec 7<'$T/state'; '$USHER' run --keep-fd=7 -p '$OPEN' --journal '$T/j3' -- sh -c 'cat /proc/self/fd/7/usher/other/*.jsonl'"

# A cover stands on a name; a file with two of them is told by its inode.
(umask 077; echo '# marker' >"$T/etc/part.rules"; printf 'include part.rules\nallow read ** log=none\ndefault allow\n' >"$T/etc/linked.rules")
ln "$T/etc/part.rules" part
ln "$T/etc/linked.rules" linked
around "a hard link to the rule file" "$USHER" run -p "$T/etc/linked.rules" --journal "$T/j5" -- cat linked
around "a hard link to what it includes" "$USHER" run -p "$T/etc/linked.rules" --journal "$T/j6" -- cat part
check "both can be read outside" grep -q . linked part

supervise "$OPEN" true ghp_0123456789abcdefghijklmnopqrstuvwxyz
check "values that are kept out of the journal are kept beside it" grep -q commitment "$JOURNAL.salts"

# What links and renames cross must be one file system still: usher lives where the command lives.
mkdir a b
echo x >a/f
check "rename and link between a directory that was read and a name" supervise "$OPEN" python3 -c '
import os
a = os.open("a", os.O_RDONLY | os.O_DIRECTORY)
os.link("f", os.getcwd() + "/b/hard", src_dir_fd=a)
os.rename("f", os.getcwd() + "/b/g", src_dir_fd=a)
os.chdir("b")
os.rename("g", "../a/h")
os.chdir(a)
assert os.getcwd().endswith("/a") and os.path.samefile("h", "../b/hard")'
check "a loader is not run by hand where exec is restricted, or is held to its program" bash -c '
	printf "allow read ** log=none\nallow exec /usr/** /lib/** /lib64/** /bin/**\ndefault deny\n" >"$T/etc/loader.rules"; chmod 600 "$T/etc/loader.rules"
	cp /bin/true program
	! "$USHER" run -p "$T/etc/loader.rules" --journal "$T/j4" -- /lib64/ld-linux-x86-64.so.2 "$PWD/program" 2>/dev/null'

MODES=reads both programs <<'S'
set -e
mkdir -p d/e; echo one >d/f; ln -s ../f d/e/l; cat d/e/l; mkfifo p; (echo through >p) & cat <p; wait
ls d | sort; find . -type f | sort; tar cf - d | tar tf - | wc -l; cat </dev/null; grep -c . /proc/self/status >/dev/null
cat nothing 2>&1 || :; cat d 2>&1 || :; cp -a d c; mv c/f c/g; mv c "$PWD/z"; ls z; cd z; pwd; cat g; ln g h; stat -c %h g
sh -c 'exec 3<g; cat <&3'; head -c 4 /dev/zero | od -An -tx1; : >|"$TMPDIR/t"; cat "$TMPDIR/t"; test -r /dev/tty; ls /proc/self/fd | head -n 3
S

# Workers are made by workers, which have laid down what opens other processes; also when some program has changed its user meanwhile.
if is_root; then MODES=reads both "who waits, after a change of user" <<'S'
mkfifo one two three; setpriv --reuid 0 true
echo 1 >one & echo 2 >two & echo 3 >three & sleep 0.3
cat one two three; wait
S
fi
finish
