#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Namespaces by wish: each word does what it says, the exit status and signals come through, and what cannot be had is refused.
. "$(dirname "$0")/lib.sh"
unshare --user true 2>/dev/null || is_root || skip_all "no user namespaces"
own_proc || skip_all "a container that hides parts of /proc"

fresh
inside() { # LIST COMMAND...
	local list=$1
	shift
	OPTIONS=--isolate=$list supervise allow "$@"
}

same "pid: usher is the first process, and /proc shows the tree alone" "usher guardian" \
	"$(inside pid sh -c 'cat /proc/1/comm; for p in /proc/[0-9]*; do cat $p/comm; done 2>/dev/null | grep -x guardian' | tr '\n' ' ' | sed 's/ $//')"
sleep 1000 &
outer=$!
at_exit "kill $outer 2>/dev/null"
check "the control: a process outside is there" test -d "/proc/$outer"
check "pid: it is not inside" inside pid sh -c "! test -d /proc/$outer || ! grep -q sleep /proc/$outer/comm"
inside pid sh -c 'kill -9 1; kill -9 -1; exit 7' 2>/dev/null
same "pid: usher cannot be killed from inside" 7 $?
check "pid: and nobody outside" test -d "/proc/$outer"
inside pid sh -c 'kill -TERM $$' 2>/dev/null
same "pid: a signal that ends the command ends usher" 143 $?
inside pid sh -c 'exec sh -c "(sleep 0.1; exit 3) & wait \$!"'
same "pid: orphans and status" 3 $?

# As the first process of a container usher gets what others in it leave behind (a shell beside it), as any init does.
cat >"$T/first.sh" <<'S'
p=$(sh -c 'sleep 0.2 >/dev/null & echo $!')
exec "$@" sh -c 'i=0; while [ -d /proc/$0 ] && [ $i -lt 200 ]; do sleep 0.05; i=$((i + 1)); done; [ -d /proc/$0 ] && grep State /proc/$0/status || echo gone' "$p"
S
first() { if is_root; then unshare -pf --mount-proc sh "$T/first.sh" "$@"; else unshare -rpf --mount-proc sh "$T/first.sh" "$@"; fi 2>/dev/null; }
same "the control: a shell as the first process reaps others' orphans" gone "$(first env)"
same "usher does" gone "$(first "$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal "$T/j.first" --)"
# With a namespace inside it is the one outside, whose number is 1; the tree does not see its orphans, the test beside it does.
cat >"$T/first.sh" <<'S'
p=$(sh -c 'sleep 0.2 >/dev/null & echo $!')
(i=0; while [ -d "/proc/$p" ] && [ $i -lt 200 ]; do sleep 0.05; i=$((i + 1)); done; if [ -d "/proc/$p" ]; then grep State "/proc/$p/status"; else echo gone; fi; : >over) &
exec "$@" sh -c 'until [ -e over ]; do sleep 0.05; done'
S
same "and so does the one outside its namespace" gone "$(first "$USHER" run -p "$T/etc/allow.rules" --ask=deny --isolate=pid --journal "$T/j.both" --)"

# What the kernel knows of unix sockets it tells by network namespace: which of them are the tree's own is asked in the tree's.
rules own.rules <<'R'
allow connect unix:** own
deny  connect unix:**
default allow
R
for list in none net net,pid; do
	unix_names || { skip "$list: unix sockets of its own" "no unix_diag"; continue; }
	same "$list: the tree reaches a unix socket of its own, and no other" "0 Permission denied" "$("$USHER" run --isolate=$list -p "$R" --ask=deny --journal "$T/own.$list" -- python3 -c 'import os, socket
s = socket.socket(socket.AF_UNIX); s.bind("own"); s.listen(); os.rename("own", "moved")
print(socket.socket(socket.AF_UNIX).connect_ex("moved"), end=" "); os.unlink("moved")
s = socket.socket(socket.AF_UNIX); s.bind("other"); s.close(); os.rename("other", "it")
o = os.stat("it"); os.unlink("it"); os.mknod("it", 0o140600)
print(os.strerror(socket.socket(socket.AF_UNIX).connect_ex("it")))' 2>&1)"
	rm -f own it
done

# The session is killed from outside: the one that was started, or usher inside.
victims() { # WHO: how many of the sleepers are left when that one was killed
	local mark=$((RANDOM + 100000)) list
	OPTIONS=--isolate=pid supervise allow sh -c "setsid sh -c 'sleep $mark & setsid sleep $mark & wait' & sleep $mark" >"$T/victims.out" 2>&1 &
	wait_for pgrep -f "^sleep $mark" || { echo "not started"; return; }
	wait_for sh -c "[ \$(pgrep -fc '^sleep $mark') = 3 ]"
	list=$(pgrep -f -- "--isolate=pid --journal $T.*$mark" | sort -n)
	case $1 in
	outer) kill -9 "$(pgrep -x usher-outside -f 2>/dev/null | head -n 1; for p in $list; do [ "$(cat "/proc/$p/comm")" = usher-outside ] && echo "$p"; done)" ;;
	inner) for p in $list; do [ "$(cat "/proc/$p/comm")" = usher ] && kill -9 "$p"; done ;;
	esac
	WITHIN=5 wait_for sh -c "! pgrep -f '^sleep $mark'" && echo none
	wait 2>/dev/null
}
kill "$outer"
wait 2>/dev/null
same "pid: the one outside is killed: all end" none "$(victims outer)"
same "pid: usher inside is killed: all end" none "$(victims inner)"

same "ipc" different "$(test "$(readlink /proc/self/ns/ipc)" = "$(inside ipc readlink /proc/self/ns/ipc)" || echo different)"
# A mounted /dev/mqueue shows the queues of the namespace it was mounted in; made here in namespaces of the test's own.
cat >"$T/etc/queues.sh" <<'S'
mkdir "$1/dev" && mount -t tmpfs dev "$1/dev" && cp -a /dev/null /dev/tty /dev/ptmx /dev/urandom "$1/dev/" && mkdir "$1/dev/mqueue" "$1/dev/shm" &&
	mount --move "$1/dev" /dev && mount -t mqueue queues /dev/mqueue && : >/dev/mqueue/outside || exit
shift
"$@" sh -c 'ls /dev/mqueue; : >/dev/mqueue/inside; ls /dev/mqueue' | xargs
S
if ! is_root; then
	: # who mounts one is root
elif grep -qw mqueue /proc/filesystems && unshare -mi true 2>/dev/null; then
	queues() { unshare -mi sh "$T/etc/queues.sh" "$T/etc" "$@"; }
	same "ipc: the queues outside (native)" "outside inside outside" "$(queues env)"
	rmdir "$T/etc/dev"
	same "ipc: the queues inside alone" inside "$(queues "$USHER" run -p "$T/etc/allow.rules" --isolate=ipc --journal "$T/queues" --)"
	rmdir "$T/etc/dev"
	same "pid: the queues outside" "outside inside outside" "$(queues "$USHER" run -p "$T/etc/allow.rules" --isolate=pid --journal "$T/queues2" --)"
else
	skip "ipc and /dev/mqueue" "no POSIX message queues"
fi
same "uts, cgroup" different "$(test "$(readlink /proc/self/ns/uts)" = "$(inside uts,cgroup readlink /proc/self/ns/uts)" || echo different)"
same "none" "$(readlink /proc/self/ns/ipc)" "$(OPTIONS=--isolate=none supervise allow readlink /proc/self/ns/ipc)"
same "auto" "$(readlink /proc/self/ns/pid)" "$(OPTIONS=--isolate=auto supervise allow readlink /proc/self/ns/pid)"
# In a user namespace root's files seem to be nobody's.
is_root || same "a rule file of root's is refused with the reason" "125 --isolate, as an ordinary user" "$("$USHER" run -p /etc/passwd --ask=deny --isolate=pid -- true >"$T/out" 2>&1; echo $? "$(grep -o -- '--isolate, as an ordinary user' "$T/out")")"
check "the journal says which" grep -q '"isolate":"[^"]*uts' <(inside ipc,uts true; records "$(ls -dt "$T"/journal.* | head -n 1)")

# Root's files seem to be nobody's to an ordinary user there: the loader comes with a program all the same.
rules loads <<<"allow exec /usr/bin/** /bin/**
allow read,stat /**
default deny"
for list in pid ipc,uts net; do
	same "$list: a program needs no rule for the system's loader" ran "$("$USHER" run -p "$R" --ask=deny --isolate="$list" --journal "$T/loads.$list" -- /bin/echo ran 2>&1)"
done

mkdir -p /var/tmp/usher-isolate.$$ && at_exit "rm -rf /var/tmp/usher-isolate.$$"
cd /var/tmp/usher-isolate.$$ || exit 1
cp "$USHER" usher
echo 'default allow' >allow.rules
chmod 600 allow.rules
mark=/tmp/usher-isolate.$$
echo outside >$mark
at_exit "rm -f $mark"
away() { ./usher run -p allow.rules --ask=deny --isolate="$1" --journal "$PWD/j.$RANDOM" -- "${@:2}"; }
same "tmp: empty, and can be written" "written" "$(away tmp sh -c "ls -A /tmp; echo written >$mark; cat $mark")"
same "tmp: gone afterwards" outside "$(cat $mark)"
check "mount: both" away mount sh -c '[ -z "$(ls -A /tmp /dev/shm | grep -v :)" ]'
check "all together" away pid,ipc,uts,cgroup,net,mount sh -c '[ $$ -lt 100 ] && [ -z "$(ls -A /tmp)" ]'
# The namespace that usher comes from ends where nothing else is in it (a service with PrivateTmp=), and its mounts with it.
mkdir held
alone() { # LIST COMMAND...: from a namespace of its own, where usher lies on a mount
	local new=-m
	is_root || new=-rm
	# shellcheck disable=SC2016
	unshare $new sh -c 'mount --bind . held && cd held && exec "$@"' sh ./usher run -p allow.rules --ask=deny --isolate="$1" --journal "$PWD/j.$RANDOM" -- "${@:2}" 2>&1
}
same "the control: another file can be moved" moved "$(alone shm sh -c ': >y; mv y z && echo moved')"
for list in pid shm tmp; do
	same "$list: usher's own program stays guarded where its namespace of mounts ends" kept "$(alone $list sh -c 'mv usher moved 2>/dev/null && mv moved usher && echo moved || echo kept')"
done
# What usher itself is told to read or to keep there.
echo 'default allow' >$mark.rules
chmod 600 $mark.rules
ln -s $mark.rules led.rules
at_exit "rm -rf $mark.rules $mark.config $mark.j $mark.state $mark.a"
lies() { # WHAT WHERE COMMAND...: refused, with why
	same "tmp: $1 in it is refused" "125 yes" "$("${@:3}" -- echo ran 2>"$T/err"; echo $? $(grep -q "$1 .* lies in $2, and .*: \(put\|it would be gone .* Name a\|nobody could answer\|its answers would not hold\)" "$T/err" && echo yes))"
	grep -q "lies in" "$T/err" || cat "$T/err"
}
lies "the rule file" /tmp ./usher run --isolate=tmp -p $mark.rules
lies "the rule file" /tmp ./usher run --isolate=pid,mount -p allow.rules -p led.rules
lies "the journal" /tmp ./usher run --isolate=tmp -p allow.rules --journal $mark.j
lies "the journal" /dev/shm ./usher run --isolate=shm -p allow.rules --journal /dev/shm/usher-isolate.$$
lies "the journal" /tmp env XDG_STATE_HOME=$mark.state ./usher run --isolate=tmp -p allow.rules
lies "the anchor" /tmp ./usher run --isolate=tmp -p allow.rules --anchor=file:$mark.a --journal "$PWD/anchored"
lies "the desk's directory" /tmp env XDG_RUNTIME_DIR=/tmp ./usher run --isolate=tmp -p allow.rules --ask=any:desk,exec:true --journal "$PWD/desk"
mkdir -p -m 700 $mark.config/usher
lies "the file of grants" /tmp env XDG_CONFIG_HOME=$mark.config sh -c ': >>'$mark'.config/usher/grants.rules; exec ./usher run --isolate=tmp -p allow.rules --journal "$PWD/grants" "$@"' sh
same "but no helper of that name" "0 ran" "$(XDG_RUNTIME_DIR=/tmp ./usher run --isolate=tmp -p allow.rules --ask=exec:desk --journal "$PWD/helper" -- echo ran >"$T/out" 2>&1; echo $? "$(cat "$T/out")")"
same "and shm minds nothing of /tmp" "0 ran" "$(./usher run --ask=deny --isolate=shm -p $mark.rules --journal $mark.j -- echo ran >"$T/out" 2>&1; echo $? "$(cat "$T/out")")"
cd "$T/project" || exit 1

inside tmp true 2>"$T/err"
same "tmp with the working directory in it is refused" "125 yes" "$? $(grep -q 'while the working directory is in it' "$T/err" && echo yes)"
inside pid,nonsense true 2>"$T/err"
same "a word that is none is refused" "125 yes" "$? $(grep -q 'expected auto, none, or a list' "$T/err" && echo yes)"
finish
