#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What each verdict does to a program: allow, deny, ask, rewrite, kill, and layers.
. "$(dirname "$0")/lib.sh"
need python3
fresh
run() { supervise "$R" "$@" 2>"$T/err"; }
errno_of() { # CALL...: a Python expression; prints the errno it fails with, or ok
	python3 -c 'import os, sys, socket
try: exec(sys.argv[1]); print("ok")
except OSError as e: print(e.errno)' "$1"
}
export -f errno_of
e() { run bash -c "errno_of \"\$1\"" x "$1"; }
said() { # KEY=VALUE...: how many records of the last journal hold all of them
	python3 - "$JOURNAL" "$@" <<'P'
import glob, json, sys
n = 0
for f in sorted(glob.glob(sys.argv[1] + "/journal-*")):
    for l in open(f, "rb"):
        if not l.startswith(b"{"): continue
        r = json.loads(l)
        ok = True
        for kv in sys.argv[2:]:
            k, v = kv.split("=", 1); x = r.get(k)
            ok = ok and (v in x if isinstance(x, list) else str(x) == v)
        n += ok
print(n)
P
}
seen() { # NAME KEY=VALUE...: at least one such record
	local name=$1
	shift
	if [ "$(said "$@")" -ge 1 ]; then ok "$name is in the journal"; else not_ok "$name is in the journal" "$*" "$(records "$JOURNAL" | tail -n 5 | cut -c 1-400)"; fi
}
go() { # runs the scripted program in a journal whose folder stays known
	JOURNAL=$(mktemp -u "$T/journal.v.XXXXXX")
	# shellcheck disable=SC2086
	"$USHER" run -p "$R" --ask="${ASK:-deny}" ${OPTIONS:-} --journal "$JOURNAL" -- "$@" 2>"$T/err"
}

echo secret >"$T/project/secret"; echo public >"$T/project/public"
mkdir -p "$T/project/real" "$T/project/store"; echo real >"$T/project/real/f"; echo store >"$T/project/store/f"

rules deny.rules <<EOF
deny  read    $T/project/secret
deny  modify  $T/project/public  errno=EROFS
deny  create  $T/project/sub/**  errno=ENOSPC
deny  delete  $T/project/real/**
deny  exec    /usr/bin/id
deny  connect tcp:127.0.0.1:1    errno=ETIMEDOUT
default allow
EOF
mkdir -p "$T/project/sub"
[ "$(cat secret)" = secret ] && id >/dev/null && ok "control: natively all of it works" || not_ok "control"
same "deny read" 13 "$(e 'open("secret")')"
go cat secret >/dev/null
seen "the denial" verdict=deny call=openat "object=$T/project/secret" op=read "rule=$T/etc/deny.rules:1" result=EACCES
same "deny through a symbolic link" 13 "$(e 'os.symlink("secret", "l"); open("l")')"
same "deny through /proc/self/cwd" 13 "$(e 'open("/proc/self/cwd/secret")')"
same "deny through a folder descriptor" 13 "$(e 'os.open("secret", os.O_RDONLY, dir_fd=os.open(".", os.O_RDONLY))')"
ln "$T/project/secret" "$T/project/hard"
same "deny through a hard link made before" 13 "$(e 'open("hard")')"
same "no hard link to it" 13 "$(e 'os.link("secret", "h2")')"
same "errno= of the rule" 30 "$(e 'open("public", "a")')"
same "reading what only writing denies" ok "$(e 'open("public").read()')"
same "O_RDWR needs both" 30 "$(e 'os.open("public", os.O_RDWR)')"
same "deny create, with errno=" 28 "$(e 'open("sub/x", "w")')"
same "mkdir is create" 28 "$(e 'os.mkdir("sub/d")')"
same "rename into is create" 28 "$(e 'os.rename("public", "sub/p")')"
same "deny delete" 13 "$(e 'os.unlink("real/f")')"
same "rename away is delete" 13 "$(e 'os.rename("real/f", "g")')"
same "O_TRUNC waits for the verdict" "30 public" "$(e 'os.open("public", os.O_WRONLY|os.O_TRUNC)') $(cat public)"
same "deny connect, with errno=" 110 "$(e 'socket.create_connection(("127.0.0.1", 1))')"
same "deny exec: the shell's 126" 126 "$(run sh -c 'id >/dev/null 2>&1; echo $?')"
same "deny exec of the command itself: 126" 126 "$(run id >/dev/null 2>&1; echo $?)"
[ -e "$T/project/sub/x" ] || [ -e "$T/project/sub/d" ] && not_ok "nothing was made" || ok "nothing was made"

# A limit is of the object: by whatever name it is opened, together.
rules limit.rules <<EOF
allow read $T/project/public  limit=2/h
ask   read $T/project/store/f limit=2/h
default allow
EOF
ln -s public "$T/project/public.link"; ln -s store/f "$T/project/store.link"
cat >"$T/count" <<'P'
import sys
n = 0
for name in sys.argv[1:]:
    try: open(name).close(); n += 1
    except OSError: pass
print(n)
P
same "(control) nothing limits it natively" 4 "$(python3 "$T/count" public{,.link} public{,.link})"
same "a limit by a link" 2 "$(run python3 "$T/count" public.link{,,,})"
same "a limit by two names" 2 "$(run python3 "$T/count" public.link public public.link public)"
same "a limit of an ask by a link" 2 "$(run python3 "$T/count" store.link{,,,})"

# Without a default nothing is allowed; across layers the strictest wins; in a file the first match.
rules first.rules <<EOF
allow read $T/project/public
deny  read $T/project/**
default allow
EOF
same "the first rule that matches decides" "ok 13" "$(e 'open("public")') $(e 'open("real/f")')"
rules two.rules <<EOF
deny read $T/project/public
EOF
R=$T/etc/first.rules OPTIONS="-p $T/etc/two.rules"
same "a second layer only tightens" 13 "$(e 'open("public")')"
OPTIONS=

rules rewrite.rules <<EOF
rewrite  open    $T/project/secret -> $T/project/public
rewrite  read,write,stat  $T/project/real/** -> $T/project/store/**
rewrite  open    $T/project/absent -> $T/project/store/f
rewrite  exec    /usr/bin/false -> /usr/bin/true
default allow
EOF
same "rewrite a name that does not exist" store "$(run cat absent)"
same "rewrite a file" public "$(run cat secret)"
same "rewrite a subtree" store "$(run cat real/f)"
go sh -c 'echo new > real/new; mkdir real/d; mv real/new real/d/moved' >"$T/out"
same "rewrite changes below a subtree" "new" "$(cat store/d/moved 2>/dev/null || cat "$T/err")"
go sh -c 'mkdir real/p real/p/q real/p/q/r; echo deep > real/p/q/r/s; ln real/p/q/r/s real/p/q/t; cat real/p/q/./r/s; rm -r real/p/q/r; cat real/p/q/t; cat real/none/such real/p/q/r/s; rm -r real/p' >"$T/out"
same "rewrite what is far below a missing name" "deep deep 2" "$(grep -ax deep "$T/out" | xargs) $(grep -ac 'No such file' "$T/err")"
go sh -c 'cat elsewhere/no/such; echo x > elsewhere/no/such; mkdir elsewhere/no; mv public elsewhere/no/x' >"$T/out"
same "a missing folder that no rule leads elsewhere" 4 "$(grep -aciE 'no such file|nonexistent' "$T/err")"
go sh -c 'cd real && cat f && echo y > y' >"$T/out"
same "names below a folder that the program stands in" "store y" "$(cat "$T/out" store/y | xargs)"
[ ! -e real/new ] && [ ! -e real/p ] && [ ! -e real/d ] && ok "the rewritten place is untouched" || not_ok "the rewritten place is untouched" "$(ls real)"
same "rewrite exec" 0 "$(run /usr/bin/false; echo $?)"

# Arguments that the rule edits.
cat >"$T/project/show" <<'EOS'
#!/bin/sh
printf '%s' "$0" | sed 's,.*/,,'
printf '<%s>' "$@"; echo
EOS
chmod 755 "$T/project/show"
LONG=$(printf 'x%.0s' $(seq 900))
rules edit.rules <<EOF
rewrite exec /usr/bin/printf argv="long **" -> /usr/bin/echo args="$LONG **"
rewrite exec /usr/bin/printf argv="short **" -> /usr/bin/echo args="a **"
rewrite exec /usr/bin/printf argv="zero" -> /bin/busybox args="-c 'exit'" argv0=true
rewrite exec /usr/bin/printf argv="script **" -> $T/project/show args="a ** z"
rewrite exec /usr/bin/printf argv="none **" -> /usr/bin/echo args=""
rewrite exec /usr/bin/printf -> /usr/bin/echo args="-n a\\\\ b ** z"
default allow
EOF
R=$T/etc/edit.rules
same "rewrite exec with arguments in front and behind" "a b 1 2 3 z" "$(run /usr/bin/printf 1 "2 3")"
same "rewrite exec without arguments" "" "$(run /usr/bin/printf none x)"
same "rewrite exec to a script" "show<a><b><c d><z>" "$(run /usr/bin/printf script b "c d")"
same "rewrite exec with long arguments" "$LONG 1 2" "$(run /usr/bin/printf long 1 2)"
same "and with many" "$(seq -s ' ' 3000 | md5sum)" "$(run sh -c '/usr/bin/printf long $(seq 3000)' | cut -d' ' -f2- | md5sum)"
check "the record has both" grep -aq '"argv":"1 2\\\\ 3".*"to":"/usr/bin/echo","to_argv":"-n a\\\\ b 1 2\\\\ 3 z"' <(cat "$T"/journal*/journal-*.jsonl)
argued() { local j; for j in "$T"/journal*/; do "$USHER" log "$j" verdict:rewrite 2>/dev/null; done; }
check "and its line tells them apart" grep -qF -- '/usr/bin/printf -> /usr/bin/echo argv 1 2\\ 3  -> -n a\\ b 1 2\\ 3 z  rewrite by' <(argued)
cat >"$T/project/many.py" <<'P'
import subprocess, os, sys
for i in range(200):
    r = subprocess.run(["/usr/bin/printf", "long", str(i)], capture_output=True, text=True)
    assert r.stdout.split()[1:] == [str(i)], r
pid = os.posix_spawn("/usr/bin/printf", ["printf", "long", "x"], os.environ)
assert os.waitpid(pid, 0)[1] == 0
print("done")
P
same "from vfork and posix_spawn" done "$(run python3 many.py | tail -n 1)"
if command -v gcc >/dev/null; then
	cat >"$T/project/signals.c" <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void handler(int sig) { (void)sig; }
static int one(int i, const char *kind)
{
	char text[4096], want[16];
	int to[2], n = 0, got, status;
	if (pipe(to) < 0)
		return 1;
	sprintf(want, " %d\n", i);
	pid_t pid = fork();
	if (!pid) {
		signal(SIGURG, handler);
		dup2(to[1], 1);
		close(to[0]);
		close(to[1]);
		want[strlen(want) - 1] = 0;
		execl("/usr/bin/printf", "printf", kind, want + 1, (char *)NULL);
		_exit(9);
	}
	close(to[1]);
	for (int k = 0; k < 40; k++) {
		kill(pid, SIGURG);
		usleep((unsigned)(20 + (i * 7 + k * 13) % 60));
	}
	while ((got = (int)read(to[0], text + n, sizeof(text) - 1 - (size_t)n)) > 0)
		n += got;
	close(to[0]);
	text[n] = 0;
	waitpid(pid, &status, 0);
	return status != 0 || strcmp(text + (n > (int)strlen(want) ? n - (int)strlen(want) : 0), want) != 0;
}
int main(void)
{
	int bad = 0;
	for (int i = 1000; i < 1120; i++)
		bad += one(i, i & 1 ? "long" : "short");
	printf("%d went wrong\n", bad);
	return bad != 0;
}
END
	gcc -O1 -w -o signals signals.c && same "while signals come" "0 went wrong" "$(run ./signals)"
fi
rules edit2.rules <<EOF
rewrite exec /usr/bin/printf -> $T/project/show
deny exec /usr/bin/dash /bin/sh
default allow
EOF
R=$T/etc/edit2.rules
run /usr/bin/printf x >/dev/null 2>&1
same "the interpreter of the other program is decided on" 126 $?

cat >"$T/etc/serve.py" <<'P'
import socket, sys
l = socket.socket(); l.bind(("127.0.0.1", 0)); l.listen(); open(sys.argv[1] + ".part", "w").write(str(l.getsockname()[1])); import os; os.rename(sys.argv[1] + ".part", sys.argv[1])
while True:
    c, _ = l.accept(); c.sendall(b"served"); c.close()
P
python3 "$T/etc/serve.py" "$T/port" & server=$!
at_exit "kill $server 2>/dev/null"
wait_for test -e "$T/port"
PORT=$(cat "$T/port")
rules connect.rules <<EOF
rewrite connect tcp:192.0.2.7:443 -> tcp:127.0.0.1:$PORT
default allow
EOF
same "rewrite connect" "b'served'" "$(run python3 -c 'import socket; print(socket.create_connection(("192.0.2.7", 443), 10).recv(99))')"

rules kill.rules <<EOF
kill read $T/project/secret
default allow
EOF
go sh -c '(sleep 60; echo late > late) & cat secret; echo survived' >"$T/out"
same "kill ends the tree" "137 " "$? $(cat "$T/out")"
seen "the kill" verdict=kill "object=$T/project/secret"

# Questions. The answering program gets the question as JSON and answers with one line.
rules ask.rules <<EOF
ask  read $T/project/secret reason="it is a secret"
ask  create $T/project/slow timeout=1s
ask  create $T/project/else timeout=1s else=allow
default allow
EOF
answer() { # BODY: a program that keeps the question and answers
	printf '#!/bin/sh\nq=$(cat)\nprintf "%%s\\n" "$q" >> %s\n%s\n' "$T/questions" "$1" >"$T/etc/answer"
	chmod 755 "$T/etc/answer"
	: >"$T/questions"
}
ASK=exec:$T/etc/answer
answer 'echo "{\"answer\":\"allow\"}"'
same "ask, answered allow" secret "$(go cat secret)"
go cat secret >/dev/null
seen "the answer" type=call verdict=allow "object=$T/project/secret"
if grep -q 'answer' <<<"$(records "$JOURNAL" | grep -a "project/secret")"; then ok "and who answered"; else not_ok "and who answered" "$(records "$JOURNAL" | grep -a 'project/secret')"; fi
same "the question says what, who, which rule" "openat $T/project/secret it is a secret" "$(python3 -c 'import json, sys; q = json.loads(open(sys.argv[1]).readline()); print(q["call"], q["object"], q["reason"])' "$T/questions")"
answer 'echo "{\"answer\":\"deny\"}"'
same "ask, answered deny" 1 "$(go cat secret >/dev/null 2>&1; echo $?)"
answer 'echo "{\"answer\":\"allow\",\"scope\":\"session\"}"'
go sh -c 'cat secret; cat secret; cat secret' >/dev/null
same "an answer for the session is asked once" 1 "$(wc -l <"$T/questions")"
answer 'echo "{\"answer\":\"allow\",\"scope\":\"once\"}"'
go sh -c 'cat secret; cat secret; cat secret' >/dev/null
same "an answer for once is asked each time" 3 "$(wc -l <"$T/questions")"
answer 'sleep 1; echo "{\"answer\":\"allow\"}"'
same "a slow answer" secret "$(go cat secret)"
answer 'echo nonsense'
same "nonsense denies" 1 "$(go cat secret >/dev/null 2>&1; echo $?)"
answer 'exit 3'
same "a failing program denies" 1 "$(go cat secret >/dev/null 2>&1; echo $?)"
answer 'sleep 30; echo "{\"answer\":\"allow\"}"'
same "an unanswered question denies" 1 "$(go sh -c ': > slow' >/dev/null 2>&1; [ ! -e slow ] && echo 1)"
same "or does what else= says" 0 "$(go sh -c ': > else' >/dev/null 2>&1; echo $?)"
ASK=deny
same "--ask=deny denies" 1 "$(go cat secret >/dev/null 2>&1; echo $?)"

# usher guards itself under a policy that allows everything.
R=$T/etc/allow.rules
same "the journal cannot be read" 13 "$(e "open('$T/journal.guard/x')" | sed 's/^2$/13/')"
# Whether a hidden name is there: no call says it, unless it may do what it asks for.
cat >probe.py <<'P'
import ctypes, os, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
def bind(n): socket.socket(socket.AF_UNIX).bind(n)
def bounded(flags, mode, resolve):
    def openat2(n):
        if libc.syscall(437, -100, n.encode(), struct.pack("QQQ", flags, mode, resolve), 24) < 0: raise OSError(ctypes.get_errno(), n)
    return openat2
beneath = 8
looks = {k: [bounded(os.O_RDONLY, 0, v), bounded(os.O_PATH, 0, v)] for k, v in (("no_links", 4), ("cached", 32))}
calls = [os.stat, open, lambda n: os.open(n, os.O_WRONLY), lambda n: os.open(n, os.O_WRONLY | os.O_CREAT), lambda n: os.open(n, os.O_WRONLY | os.O_CREAT | os.O_EXCL), os.mkdir,
	 lambda n: os.symlink("x", n), lambda n: os.link("probe.py", n), lambda n: os.link(n, "new"), lambda n: os.link(n, "probe.py"), lambda n: os.link(n, "."), os.mkfifo, bind, lambda n: os.rename("probe.py", n), lambda n: os.rename(n, "new"), os.unlink, os.rmdir,
	 os.readlink, lambda n: os.chmod(n, 0o700), lambda n: os.truncate(n, 0), lambda n: os.utime(n), lambda n: os.execv(n, [n]), lambda n: socket.socket(socket.AF_UNIX).connect(n),
	 bounded(os.O_WRONLY | os.O_CREAT, 0o600, beneath)] + looks["no_links"]
looks["moves"] = [lambda n: os.rename(n, "."), lambda n: os.rename(n, "/sys/none")]
if sys.argv[1] in looks: calls = looks[sys.argv.pop(1)]
def said(call, name):
    try: call(name); return 0
    except OSError as e: return e.errno
for name in sys.argv[1:]: print([said(c, name) for c in calls])
P
echo content >hidden-file
mkdir hidden-folder
ln -s hidden-none hidden-link
rules hidden.rules <<EOF
deny stat,read,write,exec $T/project/hidden-* errno=ENOENT
deny net unix:$T/project/hidden-* errno=ENOENT
default allow
EOF
same "(control) natively a link that is not followed is told from none" 2 "$(python3 probe.py no_links hidden-link hidden-none | sort -u | wc -l)"
same "(control) and so is what the kernel has at hand" 2 "$(python3 probe.py cached hidden-file hidden-none | sort -u | wc -l)"
run python3 probe.py hidden-file hidden-folder hidden-link hidden-none | sort -u >"$T/out"
same "hidden names and such that are not there are alike" "1 [2]" "$(wc -l <"$T/out") $(tr -d '[,]' <"$T/out" | tr ' ' '\n' | sort -u | xargs printf '[%s]')"
same "nor does what the kernel has at hand tell one from the other" "[11, 11]" "$(run python3 probe.py cached hidden-file hidden-folder hidden-link hidden-none | sort -u)"
same "(control) natively a move that cannot be says the same of each" "[16, 18]" "$(python3 probe.py moves hidden-file hidden-folder hidden-link hidden-none | sort -u)"
same "and it does of a hidden name" "[16, 18]" "$(run python3 probe.py moves hidden-file hidden-folder hidden-link hidden-none | sort -u)"
rules hidden.rules <<EOF
deny stat,write $T/project/hidden-*
default allow
EOF
news='for n in hidden-file hidden-folder hidden-none; do mkdir $n; ln -s x $n; (set -C; : >$n); mkfifo $n; done 2>&1 | grep -c "Permission denied"'
same "what must be new is refused alike whether it is there or not" 12 "$(run bash -c "$news")"
rules hidden.rules <<EOF
deny stat $T/project/hidden-*
default allow
EOF
same "who may create learns that a name is taken" 17 "$(e 'os.mkdir("hidden-file")')"
mkdir -p above/seen; : >above/hidden-below
rules hidden.rules <<EOF
deny stat $T/project/hidden-* $T/project/above/hidden-*
default allow
EOF
moved='os.rename("above", "other"); print(os.listdir("other")); os.rename("other", "above")'
same "(control) a hidden name is shown by moving the directory above it natively" 1 "$(errno_of "$moved" | grep -c hidden-below)"
same "and is not by a rename" "2 0" "$(e "$moved") $([ -e above ] || echo 1; find other 2>/dev/null | wc -l)"
go python3 -c 'import os; os.rename("above", "other")'
seen "the refusal" verdict=deny call=rename result=ENOENT op=stat "rule=$T/etc/hidden.rules:1"
check "with the name" grep -aq '"op":\["stat"\],"object":"[^"]*/above/hidden-below"' <<<"$(records "$JOURNAL")"
same "the name itself gets no other" 2 "$(e 'os.rename("hidden-file", "shown")')"
same "what hides nothing is renamed" ok "$(e 'os.rename("above/seen", "seen")')"
# Whoever hides all but a few names hides no pipe, socket or memfd, which have none: fstat of C libraries is newfstatat with an empty name.
rules hidden.rules <<EOF
allow stat / /usr/** /lib/** /lib64/** /etc/** /proc/** /dev/** $T/**
deny stat /**
default allow
EOF
nameless='import os, socket
for fd in (os.pipe()[0], socket.socket().fileno(), os.memfd_create("shown")): os.stat(fd)'
same "what has no name is not hidden by a rule on names" ok "$(e "$nameless")"
same "and a program reads and writes pipes" text "$(run sh -c 'echo text | cat | cat')"
same "(control) names are" 2 "$(e 'os.stat("/var")')"
rules nameless.rules <<EOF
deny stat memfd:shown
default allow
EOF
same "a rule that says memfd: hides one" 2 "$(e "$nameless")"
# One that usher may not list, root's aside, could hold such a name where a rule means some below it, and elsewhere none.
mkdir -p above/closed beside/closed && chmod 000 above/closed beside/closed
rules unread.rules <<EOF
deny stat $T/project/above/**/hidden-*
default allow
EOF
if ! is_root; then
	same "nor is one that cannot be listed where there may be such names" 13 "$(e 'os.rename("above/closed", "above/opened")')"
	same "it is where there are none" ok "$(e 'os.rename("beside/closed", "beside/opened")')"
fi
chmod 700 above/closed beside/*

JOURNAL=$T/journal.guarded
"$USHER" run -p "$R" --journal "$JOURNAL" -- sh -c "ls $JOURNAL; echo x >> $JOURNAL/journal-000001.jsonl; rm -rf $JOURNAL; mv $JOURNAL $T/elsewhere; kill -9 \$PPID; kill -STOP \$PPID; cat /proc/\$PPID/environ; echo alive" >"$T/out" 2>"$T/err"
same "the journal and usher withstand the command" "0 alive" "$? $(cat "$T/out")"
check "and the journal verifies" "$USHER" verify "$JOURNAL"
# A process outside is the guard's to refuse, and its record says so.
sleep 300 &
outside=$!
at_exit "kill $outside 2>/dev/null"
JOURNAL=$T/journal.outside
"$USHER" run -p "$R" --journal "$JOURNAL" -- sh -c "cat /proc/$outside/environ; cat /proc/$outside/root/etc/passwd; cat /proc/$outside/cwd/x; : >/proc/$outside/oom_score_adj" >"$T/out" 2>"$T/err"
same "a process outside stays closed" "" "$(cat "$T/out")"
for name in environ root/etc/passwd cwd/x oom_score_adj; do
	seen "and the guard is named for $name" type=call verdict=deny rule=builtin:guard "object=/proc/$outside/$name"
done
# Which process is meant by /proc/self a rule cannot say: what is refused there is refused of each.
rules own.rules <<'EOF'
deny read /proc/self/environ /proc/thread-self/limits
default allow
EOF
own='for name in self/environ $$/environ $$/task/$$/environ $$/task/$$/limits self/limits; do head -c 1 /proc/$name >/dev/null 2>&1; printf "%s " $?; done'
same "the control: one's own environment is read" "0 0 0 0 0 " "$(sh -c "$own")"
same "what is refused of /proc/self is" "1 1 0 1 0 " "$(supervise "$R" sh -c "$own" 2>"$T/err")"
finish
