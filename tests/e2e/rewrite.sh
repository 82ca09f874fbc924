#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A subtree that is only where a rule leads: every call of the file family on it, and programs that live in it, say what they
# say natively of a real one.
. "$(dirname "$0")/lib.sh"
need python3 tar jq

cat >"$T/etc/calls" <<'S'
ls -d real; stat -c %F real; mkdir real/to; ln -s nowhere real/n; ln -sfn to real/n; ln -sfn ../real real/n; readlink real/n; rm -r real/n real/to; echo one >real/f; cat real/f; echo two >>real/f; wc -l <real/f
mkdir real/d && mkdir -p real/d/e/g; rmdir real/d/e/g; ls real/d
mv real/f real/d/f; cat real/d/f; mv real/d/f out; cat out; mv out real/in; cat real/in
ln real/in real/hard; stat -c %h real/in; echo o >outside; ln outside real/hl; stat -c %h outside; ln real/in hl2; stat -c %h hl2
ln -s in real/sl; cat real/sl; readlink real/sl; ln -s real/in slout; cat slout; ln -s ../outside real/up; cat real/up; stat -c %F real/sl
chmod 640 real/in; stat -c %a real/in; touch -d @5 real/in; stat -c %Y real/in; touch -h -d @7 real/sl; stat -c %Y real/sl real/in
truncate -s 3 real/in; stat -c %s real/in; chown -h "$(id -u)" real/sl; chgrp "$(id -g)" real/in
mkfifo real/p; stat -c %F real/p; rm real/p
cp -a real/d real/d2; find real | sort; cp -r real copy; diff -r real copy && echo same
(cd real/d && pwd | sed 's,.*/,,' && echo here >inner && cat ../in); cat real/d/inner
tar cf t.tar real && tar tf t.tar | sort; mkdir x && tar xf t.tar -C x && diff -r real/d x/real/d && echo the same from tar
mkdir real/x && tar xf t.tar -C real/x && ls real/x/real; rm -rf real/x x t.tar
python3 "$T/etc/calls.py"
rm -rf real/d real/d2; ls real | sort
S
cat >"$T/etc/calls.py" <<'S'
import os, shutil, tempfile
os.makedirs("real/py/a/b"); open("real/py/a/b/c", "w").write("x"); os.rename("real/py/a", "real/py/z"); print(sorted(os.listdir("real/py/z/b")))
fd = os.open("real/py", os.O_RDONLY | os.O_DIRECTORY); f = os.open("z/b/c", os.O_RDONLY, dir_fd=fd); print(os.read(f, 9))
os.mkdir("new", dir_fd=fd); print(sorted(os.listdir(fd))); os.rename("z/b/c", "new/c", src_dir_fd=fd, dst_dir_fd=fd)
print(os.stat("new/c", dir_fd=fd).st_size, os.access("real/py/new/c", os.R_OK), os.path.exists("real/nope"))
os.replace("real/py/new/c", "plain"); print(open("plain").read()); shutil.move("plain", "real/py/back"); print(open("real/py/back").read())
p = os.open("real/py/back", os.O_PATH); print(os.fstat(p).st_size); os.symlink("back", "real/py/l")
p = os.open("real/py/l", os.O_PATH | os.O_NOFOLLOW); print(oct(os.fstat(p).st_mode)); print(os.lstat("real/py/l").st_size, os.readlink("real/py/l"))
def kind(name, flags):
    try: fd = os.open("real/py/" + name, flags); r = oct(os.fstat(fd).st_mode); os.close(fd); return r
    except OSError as e: return e.strerror
os.mkdir("real/py/dir"); os.symlink("dir", "real/py/ld"); insist = os.O_DIRECTORY | os.O_NOFOLLOW
for n in ("l", "ld", "back", "dir", "new"): print(n, *(kind(n, f) for f in (insist, insist | os.O_PATH, os.O_DIRECTORY, os.O_DIRECTORY | os.O_PATH, os.O_NOFOLLOW)))
os.symlink("back/", "real/py/slash"); os.symlink("back/x", "real/py/under")
print(*(kind(n, f) for n in ("slash", "under", "back/x") for f in (os.O_CREAT, os.O_CREAT | os.O_WRONLY, os.O_CREAT | os.O_EXCL, os.O_RDONLY)))
os.utime("real/py/l", (3, 4), follow_symlinks=False); print(os.lstat("real/py/l").st_mtime, os.stat("real/py/l").st_mtime > 4)
shutil.rmtree("real/py"); print(os.path.exists("real/py"))
t = tempfile.NamedTemporaryFile(dir="real"); t.write(b"q"); t.flush(); print(os.path.exists(t.name)); t.close(); print(os.path.exists(t.name))
os.chdir("real"); print(open("in").read(), os.path.samefile("in", "../real/in"), os.statvfs("in").f_bsize > 0)
try: os.chdir("nothing")
except OSError as e: print(e.strerror)
try: os.chdir("in")
except OSError as e: print(e.strerror)
S
cat >"$T/etc/ends" <<'S'
mkdir -p real/d/e; echo f >real/d/f; echo f >real/f; ln -s d real/l; ln -s f real/lf; python3 "$T/etc/ends.py"; find real | sort
S
cat >"$T/etc/ends.py" <<'S'
import os
def on(*how):
    try: return str(how[0](*how[1:]) or "done")
    except OSError as e: return e.strerror
def opened(n): return os.close(os.open(n, os.O_RDONLY))
def made(n): return os.close(os.open(n, os.O_WRONLY | os.O_CREAT, 0o644))
def kind(n): return oct(os.stat(n).st_mode >> 12) + oct(os.lstat(n).st_mode >> 12)
for name in "real/f", "real/lf", "real/d", "real/d/f", "real/d/e", "real/l", "real/no", "real/d/no":
    for end in "/", "/.", "//", "/./", "/.//.":
        n = name + end
        print(n, "|".join([on(kind, n), on(opened, n), on(made, n), on(os.readlink, n), on(os.chmod, n, 0o755), on(os.utime, n, (1, 2)), on(os.listdir, n),
            on(os.truncate, n, 1), on(os.symlink, "x", n), on(os.mkfifo, n), on(os.link, "real/f", n), on(os.rename, "real/f", n), on(os.rename, n, "real/new"), on(os.rename, "real/new", name),
            on(os.unlink, n), on(os.mkdir, n), on(os.rmdir, n)]))
S
cat >"$T/etc/up" <<'S'
mkdir -p real/a/b real/c real/bin; echo f >real/c/f; ln -s ../c real/a/l; ln -s c/../c/f real/lf; ln -s real/a/../c/f out
printf '#!/bin/sh\ncat "$(dirname "$0")/../c/f"\n' >real/bin/run; chmod +x real/bin/run
real/bin/run; real/c/../bin/run; printf '#!%s\necho ran\n' "$PWD/real/c/../bin/sh" >real/bin/s; cp /bin/sh real/bin/sh; chmod +x real/bin/s; real/a/../bin/s
cat real/lf out; for n in real/a/../c/f real/a/b/../../c/f real/a/b/../../../real/c/f "$PWD/real/bin/../c/./f" real/a//.././/c/f real/a/l/../c/f real/c/f/../f real/no/../c/f real/a/no/../../c/f; do cat "$n"; done
python3 "$T/etc/up.py"; find real | sort
S
cat >"$T/etc/up.py" <<'S'
import ctypes, os
def on(*how):
    try: return str(how[0](*how[1:]) or "done")
    except OSError as e: return e.strerror
def inode(n): return os.stat(n).st_ino and "there"
def made(n): return os.close(os.open(n, os.O_WRONLY | os.O_CREAT, 0o644))
def goes(n):
    here = os.open(".", os.O_RDONLY); os.chdir(n); there = sorted(os.listdir(".")); os.fchdir(here); os.close(here); return there
for n in "real/a/..", "real/a/../", "real/a/b/../..", "real/a/l/..", "real/a/../..", "real/a/../../real/c", "real/a/../c/", "real/a/../c/f/", "real/a/../no", "real/a/../no/no", "real/a/../no/no/", "real/no/..", "real/c/f/..", "real/a/no/no/":
    print(n, "|".join([on(inode, n), *((on(goes, n), on(os.listdir, n)) if n != "real/a/../.." else ()), on(os.truncate, n, 2), on(os.access, n, os.R_OK), on(os.readlink, n), on(made, n), on(os.unlink, n), on(os.rmdir, n), on(os.mkdir, n),
        on(os.symlink, "x", n), on(os.mkfifo, n), on(os.rename, n, "real/new"), on(os.rename, "real/new", n), on(os.rename, "real/a/../c/f", n), on(os.rename, n, "real/c/f"), on(os.rmdir, n)]))
os.mkdir("real/a/../m"); os.rename("real/a/../m", "real/bin/../n"); os.link("real/a/../c/f", "real/n/../c/../hard"); os.chmod("real/n/../hard", 0o640); print(oct(os.stat("real/hard").st_mode))
d = os.open("real/a/b", os.O_RDONLY); print(on(os.stat, "../../../real/a/no"), os.stat("../../c/f", dir_fd=d).st_size)
os.chmod("real/a", 0); print(os.getuid() == 0 or on(inode, "real/a/../c/f")); os.chmod("real/a", 0o755)
libc = ctypes.CDLL(None, use_errno=True)
def how(flags, resolve): return (ctypes.c_uint64 * 3)(flags, 0, resolve)
for n in "real/c/f", "real/a/l/f", "real/a/../c/f", "real/a/l/../c/f", "real/a/l/..", "real/a/l", "real/lf":
    print(n, *(os.strerror(0 if libc.syscall(437, -100, n.encode(), how(flags, 4), 24) >= 0 else ctypes.get_errno()) for flags in (0, os.O_PATH, os.O_NOFOLLOW)))
S
cat >"$T/etc/git" <<'S'
git init -q real/repo && cd real/repo && git config user.email a@b && git config user.name n && echo a >a && git add a && git commit -qm m
git mv a b && git commit -qm n && git log --format=%s && git status --short && git gc -q && git fsck 2>&1 | tail -n 1
cd ../.. && git clone -q real/repo real/clone 2>&1; git -C real/clone log --format=%s; rm -rf real/repo; git -C real/clone status --short; ls real
S
cat >"$T/etc/sqlite" <<'S'
sqlite3 real/x.db 'pragma journal_mode=wal; create table t(a); insert into t values(1),(2); select sum(a) from t;'
sqlite3 real/x.db 'select count(*) from t; pragma integrity_check; vacuum;'; cp real/x.db y.db; sqlite3 y.db 'select * from t'; ls real
S
cat >"$T/etc/rewrite.rules" <<S
rewrite read,write,stat,exec $T/project/real/** -> $T/project/store/**
default allow
S
chmod 600 "$T/etc/rewrite.rules"

moved() { # NAME SCRIPT
	local want got
	fresh
	mkdir real
	want=$(bash "$T/etc/$2" 2>&1)
	fresh
	mkdir store
	got=$(supervise "$T/etc/rewrite.rules" bash "$T/etc/$2" 2>&1)
	same "$1" "${want//$T/}" "$(sed '/^usher: /d' <<<"${got//$T/}")"
	[ ! -e real ] && [ -n "$(ls store)" ] && ok "$1: all of it is where the rule leads" || not_ok "$1: all of it is where the rule leads" "$(ls -R)"
}
moved "every call" calls
moved "a slash or a dot behind a name" ends
moved "names that go up" up
fresh; mkdir -p store/a store/c; echo secret >store/c/secret; ln -s ../c store/a/l; echo outside >outside
ups='for n in real/a/../c/secret real/a/l/../c/secret real/a/../../outside "$PWD/real/a/l/../../outside"; do cat "$n"; done'
same "control: names that go up are read" "secret secret outside outside" "$(supervise "$T/etc/rewrite.rules" sh -c "$ups" 2>/dev/null | xargs)"
cp /bin/true prog; cp /bin/true store/c/prog
same "one that comes to what no rule leads runs no program" "0 127" "$(supervise "$T/etc/rewrite.rules" sh -c 'real/a/../c/prog; echo $?; real/a/../../prog; echo $?' 2>/dev/null | xargs)"
printf 'deny read %s/{real,store}/c/secret %s/outside\n' "$PWD" "$PWD" | cat - "$T/etc/rewrite.rules" >"$T/etc/up.rules"; chmod 600 "$T/etc/up.rules"
same "and decided on by the names that they come to" "" "$(supervise "$T/etc/up.rules" sh -c "$ups" 2>/dev/null)"
fresh; mkdir -p real/sub store/sub
printf 'rewrite create %s/real/** -> %s/store/**\nrewrite bind unix:%s/real/** -> unix:%s/store/**\ndefault allow\n' "$PWD" "$PWD" "$PWD" "$PWD" >"$T/etc/bound.rules"; chmod 600 "$T/etc/bound.rules"
cat >"$T/etc/bound.py" <<'S'
import socket
for name in "real/s/", "real/s", "real/sub/s", "real/nosub/s", "nodir/s":
    try: print(socket.socket(socket.AF_UNIX).bind(name))
    except OSError as e: print(e.strerror)
S
same "natively no socket has a slash behind its name" "No such file or directory None None No such file or directory No such file or directory" "$(python3 "$T/etc/bound.py" | xargs)"; rm -r real/s real/sub
same "nor where a rule leads" "No such file or directory None None No such file or directory No such file or directory" "$(supervise "$T/etc/bound.rules" python3 "$T/etc/bound.py" 2>/dev/null | xargs)"
same "the sockets are there" "real store store/s store/sub store/sub/s" "$(find real store | sort | xargs)"
fresh; mkdir -p real/d store/d
up='import os; os.chdir("real/d"); os.mkdir("new"); os.chdir("new"); os.chdir(".."); print(os.path.relpath(os.getcwd(), os.environ["T"] + "/project")); os.rmdir("new")'
same "natively .. leads out of a new directory to the one that was named" "real/d" "$(python3 -c "$up")"
same "where it is only there, to the one where the rule leads" "store/d" "$(supervise "$T/etc/rewrite.rules" python3 -c "$up" 2>/dev/null)"
if command -v git >/dev/null; then moved git git; else skip git "no git"; fi
if command -v sqlite3 >/dev/null; then moved sqlite sqlite; else skip sqlite "no sqlite3"; fi

# Where the rule leads is in the record though nothing is there: what was asked for is there, and no record may say that it was what failed.
fresh; mkdir real; echo r >real/f
cat >"$T/etc/nowhere.rules" <<S
rewrite read,write,stat $T/project/real/** -> $T/project/nowhere/**
rewrite connect tcp:127.0.0.1:9 -> unix:$T/project/nowhere/sock
rewrite exec $T/project/prog -> $T/project/nowhere/prog
default allow
S
chmod 600 "$T/etc/nowhere.rules"; cp /bin/true prog
supervise "$T/etc/nowhere.rules" python3 -c '
import os, socket
for call in (lambda: os.open("real/f", 0), lambda: os.open("real/n", os.O_CREAT), lambda: os.unlink("real/f"), lambda: os.rename("real/f", "q"), lambda: os.mkdir("real/d"),
             lambda: os.link("prog", "real/l"), lambda: os.chmod("real/f", 0o600), lambda: socket.socket().connect(("127.0.0.1", 9)), lambda: os.execv("prog", ["prog"])):
    try: call(); print("done")
    except FileNotFoundError: pass' >"$T/out" 2>&1
same "nothing is where the rule leads" "" "$(sed '/^usher: /d' "$T/out")"
same "each record says so" "f nowhere/f
n nowhere/n
f nowhere/f
f nowhere/f
d nowhere/d
l nowhere/l
f nowhere/f
tcp:127.0.0.1:9 unix:nowhere/sock
prog nowhere/prog" "$(records "$JOURNAL" | jq -r 'select(.verdict == "rewrite" and .result == "ENOENT") | ((.objects // [.])[-1].object as $last | if .call == "rename" then .object else $last end) + " " + .to' |
	sed "s,$T/project/\(real/\)*,,g")"

# A link below the place where a rule leads, which the program may lay itself, opens nothing that the rules close.
cat >"$T/etc/astray.py" <<'S'
import os, socket, sys
def t(what, call):
    try: r = call()
    except OSError as e: r = e.strerror
    print(what, "done" if r is None else r)
def text(name): return open(name).read().strip()
def put(name):
    with open(name, "w") as f: f.write("x")
def peer(name):
    s = socket.socket(socket.AF_UNIX); s.connect(name); return s.recv(9).decode()
lay = sys.argv[1]
for name, to in (("file", "../private"), ("dir", "../out"), ("new", "../out/new"), ("pub", "public"), ("alone2", "alone"), ("whole", os.getcwd() + "/private")): os.symlink(to, lay + "/" + name)
for name, to in (("goal", "../private"), ("sock", "../closed"), ("prog", "../prog")): os.symlink(to, "box/" + name)
t("what is there", lambda: text("real/public")); t("a link that stays", lambda: text("real/pub")); t("a link to what is refused there", lambda: text("real/alone2"))
t("read", lambda: text("real/file")); t("by its whole name", lambda: text("real/whole")); t("truncate", lambda: os.truncate("real/file", 0)); t("chmod", lambda: os.chmod("real/file", 0o600))
t("make", lambda: put("real/new")); t("make below", lambda: put("real/dir/f")); t("mkdir", lambda: os.mkdir("real/dir/d")); t("rename", lambda: os.rename("real/public", "real/dir/p"))
t("link", lambda: os.link("real/alone3", "real/dir/l")); t("remove", lambda: os.unlink("real/dir/kept")); t("one name", lambda: text("one")); t("exec", lambda: os.spawnl(os.P_WAIT, "run", "run")); t("connect", lambda: peer("s"))
for name in ("file", "dir", "new", "pub", "alone2", "whole"): t("the link itself", lambda: os.unlink("real/" + name))
S
cat >"$T/etc/astray.rules" <<S
deny read,write,exec $T/project/private $T/project/prog $T/project/real/alone
deny connect unix:$T/project/closed
deny write $T/project/out/** errno=EROFS
rewrite read,write $T/project/real/** -> $T/project/store/**
rewrite read $T/project/one -> $T/project/box/goal
rewrite exec $T/project/run -> $T/project/box/prog
rewrite connect unix:$T/project/s -> unix:$T/project/box/sock
allow write $T/project/box/**
deny read,write $T/project/store/**
allow exec /**
allow read / /{usr,etc,lib,lib64,bin,proc,dev,root,home}/** $T/etc/**
allow write /dev/**
S
chmod 600 "$T/etc/astray.rules"
places() {
	fresh
	mkdir "$1" out box
	echo private >private; echo public >"$1/public"; echo alone >"$1/alone"; echo 3 >"$1/alone3"; echo kept >out/kept; cp /bin/true prog
	python3 -c 'import socket
s = socket.socket(socket.AF_UNIX); s.bind("closed"); s.listen(9)
while 1: s.accept()[0].send(b"closed")' & PEER=$!
	wait_for test -S closed
}
places real
ln -s box/goal one; ln -s box/prog run; ln -s box/sock s
same "natively the links lead there" "what is there public
a link that stays public
a link to what is refused there alone
read private
by its whole name private
truncate done
chmod done
make done
make below done
mkdir done
rename done
link done
remove done
one name 
exec 0
connect closed
$(printf 'the link itself done\n%.0s' 1 2 3 4 5 6)" "$(python3 "$T/etc/astray.py" real 2>&1)"
kill $PEER
places store
supervise "$T/etc/astray.rules" python3 "$T/etc/astray.py" real >"$T/seen" 2>&1
kill $PEER
same "under a rewrite they do not" "what is there public
a link that stays public
a link to what is refused there Permission denied
read Permission denied
by its whole name Permission denied
truncate Permission denied
chmod Permission denied
make Read-only file system
make below Read-only file system
mkdir Read-only file system
rename Read-only file system
link Read-only file system
remove Read-only file system
one name Permission denied
exec 127
connect Permission denied
$(printf 'the link itself done\n%.0s' 1 2 3 4 5 6)" "$(sed '/^usher: /d' "$T/seen")"
same "nothing has changed" "private alone kept alone3 public" "$(echo $(cat private store/alone out/*) $(cd store && ls | tail -n 2))"
records "$JOURNAL" | jq -r 'select(.verdict == "deny") | [.call, .result, .to, .rule] | join(" ")' | sed "s,$T/[a-z]*/,,g" | sort -u >"$T/out"
check "the record names what was refused, and by which rule" grep -q "^openat EACCES private astray.rules:1$" "$T/out"

# A rule leads elsewhere what it names: what lies there gets no other name that gives more of it, and is not changed or removed where only making is led there.
cat >"$T/etc/named.py" <<'S'
import os
def t(what, call):
    try: r = call()
    except OSError as e: r = e.strerror
    print(what, "done" if r is None else r)
def text(name): return open(name).read().strip()
def new(flags):
    fd = os.open("in/old", os.O_CREAT | os.O_WRONLY | flags); os.write(fd, b"x"); os.close(fd)
t("a directory", lambda: os.rename("at/dir", "free/dir")); t("its file", lambda: text("free/dir/f"))
t("a file", lambda: os.rename("at/file", "free/file")); t("the file", lambda: text("free/file")); t("within", lambda: os.rename("at/file", "at/other"))
t("exchanged", lambda: os.rename("free/x", "at/other")); t("a name that is read elsewhere", lambda: os.rename("hidden/f", "there/f")); t("there", lambda: text("shown/f"))
t("make over", lambda: new(0)); t("empty", lambda: new(os.O_TRUNC)); t("move over", lambda: os.rename("free/y", "in/old")); t("make", lambda: os.mkdir("in/d")); t("move", lambda: os.rename("free/y", "in/new"))
S
cat >"$T/etc/named.rules" <<S
rewrite write $T/project/at/** -> $T/project/kept/**
rewrite create $T/project/in/** -> $T/project/log/**
rewrite read $T/project/shown/** -> $T/project/there/**
deny read $T/project/kept/*/f $T/project/kept/f* $T/project/kept/o* $T/project/hidden/** $T/project/there/**
deny modify,delete $T/project/log/** errno=EROFS
default allow
S
chmod 600 "$T/etc/named.rules"
places() {
	fresh
	mkdir -p "$1/dir" "$2" in free hidden "$3"
	for f in "$1/dir/f" "$1/file" "$2/old" hidden/f free/x free/y; do echo "${f##*/}" >"$f"; done
}
places at in shown; ln -s shown there
same "natively all of it is done" "a directory done
its file f
a file done
the file file
within No such file or directory
exchanged done
a name that is read elsewhere done
there f
make over done
empty done
move over done
make done
move No such file or directory" "$(python3 "$T/etc/named.py" 2>&1)"
places kept log there
supervise "$T/etc/named.rules" python3 "$T/etc/named.py" >"$T/seen" 2>&1
same "under a rewrite only what gives no more" "a directory Permission denied
its file No such file or directory
a file Permission denied
the file No such file or directory
within done
exchanged done
a name that is read elsewhere Permission denied
there No such file or directory
make over Read-only file system
empty Read-only file system
move over Read-only file system
make done
move done" "$(sed '/^usher: /d' "$T/seen")"
same "what is there stays" "f x old y" "$(cat kept/dir/f kept/other log/old log/new | xargs)"
same "each refusal is recorded" "a rename deny EACCES
b openat deny EROFS
b rename deny EROFS" "$(records "$JOURNAL" | jq -r 'select(.verdict == "deny") | (if .result == "EROFS" then "b " else "a " end) + .call + " deny " + .result' | sort -u)"

# A directory above what is led elsewhere, or asked about, takes it along to a name that says nothing of it: the rule refuses that, and the record names it and what lies there.
for verdict in "rewrite read,write $T/project/dir/kept/** -> $T/project/store/**" "ask read $T/project/dir/kept/**"; do
	fresh; mkdir -p dir/kept store; echo kept >dir/kept/f
	check "natively a directory above moves" mv dir moved; mv moved dir
	printf '%s\ndefault allow\n' "$verdict" >"$T/etc/above.rules"; chmod 600 "$T/etc/above.rules"
	supervise "$T/etc/above.rules" python3 -c '
import os
try: os.rename("dir", "moved")
except OSError as e: print(e.strerror)' >"$T/out" 2>/dev/null
	same "${verdict%% *}: a directory above stays" "Permission denied" "$(cat "$T/out")"
	same "${verdict%% *}: by the rule" "deny above.rules:1 EACCES dir/kept" "$(records "$JOURNAL" | jq -r 'select(.call == "rename") | [.verdict, .rule, .result, .objects[-1].object] | join(" ")' | sed "s,$T/etc/,,;s,$T/project/,,")"
done

# Nothing moves to another file system: what lies below a directory, which the caller may not look at, is no matter then.
S=$(mktemp -d /dev/shm/usher-rewrite.XXXXXX 2>/dev/null) && at_exit "rm -rf $S"
if [ -n "$S" ] && [ "$(stat -c %d "$S")" != "$(stat -c %d "$T")" ]; then
	cat >"$T/etc/across.py" <<'S'
import os, sys
os.makedirs("real/top/closed"); os.chmod("real/top/closed", 0)
for name, to in ("real/top", "top"), ("real/top", "none/top"), ("real/none", "top"):
    try: os.rename(name, sys.argv[1] + "/" + to)
    except OSError as e: print(name, to, e.strerror)
S
	fresh; mkdir real; natively=$(python3 "$T/etc/across.py" "$S" 2>&1)
	for rule in "deny read $T/project/elsewhere" "rewrite open,write,stat $T/project/real/** -> $T/project/led/**"; do
		chmod -R u+rwx real led 2>/dev/null; fresh; mkdir led; [ "${rule%% *}" = rewrite ] || mkdir real
		printf '%s\ndefault allow\n' "$rule" >"$T/etc/across.rules"; chmod 600 "$T/etc/across.rules"
		same "${rule%% *}: a directory that would move to another file system" "$natively" "$(supervise "$T/etc/across.rules" python3 "$T/etc/across.py" "$S" 2>&1)"
	done
	chmod -R u+rwx real led 2>/dev/null
else
	skip "a directory that would move to another file system"
fi

# A directory that is led elsewhere moves into one by its descriptor, which names it as it is called there (as mv does), also where something has the name
# asked for; what would be given more by its new name stays.
cat >"$T/etc/into.py" <<'S'
import os
fd = os.open("real/to", os.O_RDONLY | os.O_DIRECTORY)
def t(what, *names, **how):
    try: os.rename(*names, **how); print(what, "done")
    except OSError as e: print(what, e.strerror)
t("into", "real/dir", "dir", dst_dir_fd=fd); t("out", "dir", "real/back", src_dir_fd=fd); t("elsewhere", "real/back", "free")
print(os.path.exists("free/sub/f"))
S
fresh; mkdir -p store/to store/dir/sub real/to real/dir/sub real/back/sub; echo kept >store/dir/sub/f; mv real asked; mv store real
python3 "$T/etc/into.py" >"$T/natively"; mv free real/dir; mv real store; mv asked real
same "natively it moves" "into done out done elsewhere done True" "$(tr '\n' ' ' <"$T/natively" | sed 's/ $//')"
lead="rewrite read,write,stat $T/project/real/** -> $T/project/store/**"
printf '%s\ndefault allow\n' "$lead" >"$T/etc/into.rules"; chmod 600 "$T/etc/into.rules"
supervise "$T/etc/into.rules" python3 "$T/etc/into.py" >"$T/seen" 2>&1
same "a led directory moves by the descriptor of another" "$(cat "$T/natively")" "$(cat "$T/seen")"
mv free store/dir
printf '%s\ndeny read,stat %s/store/{dir,back,to/dir}/sub/**\n%s\ndefault allow\n' \
	"deny read $T/project/real/{dir,back,to/dir}/sub/**" "$T/project" "$lead" >"$T/etc/into.rules"
supervise "$T/etc/into.rules" python3 "$T/etc/into.py" >"$T/seen" 2>&1
same "but not to where more of what lies below is allowed" "into done out done elsewhere Permission denied False" "$(tr '\n' ' ' <"$T/seen" | sed 's/ $//')"

# Where the directories that were named are there as well, each name is looked up where it leads from the root: a whole name may be too long there, a
# directory above closed, and the one that the program stands in gone.
cat >"$T/etc/whole.py" <<'S'
import os, sys
def t(what, call, *args):
    try: call(*args); print(what, "done")
    except OSError as e: print(what, e.strerror)
def deep(top, up):
    os.chdir(top)
    for _ in range(25):
        if up: os.mkdir("d" * 200)
        os.chdir("d" * 200)
if sys.argv[1:]: deep(sys.argv[1], True); sys.exit()
here = os.getcwd()
t("deep", deep, "real/deep", False); os.chdir(here)
os.chdir("real/gone"); os.rmdir("../gone"); t("gone", os.stat, "."); os.chdir(here)
os.chdir("real/closed/in"); os.chmod("..", 0); t("closed", os.mkdir, "new")
S
both() { fresh; for top in real store; do mkdir -p $top/deep $top/gone $top/closed/in; python3 "$T/etc/whole.py" $top/deep; done; }
both; same "natively they are there" "deep done gone done closed done" "$(python3 "$T/etc/whole.py" | tr '\n' ' ' | sed 's/ $//')"; chmod 755 real/closed
both; printf '%s\ndefault allow\n' "$lead" >"$T/etc/whole.rules"; chmod 600 "$T/etc/whole.rules"
closed="Permission denied"; is_root && closed=done
same "led names are whole ones" "deep File name too long gone No such file or directory closed $closed" \
	"$(supervise "$T/etc/whole.rules" python3 "$T/etc/whole.py" 2>&1 | tr '\n' ' ' | sed 's/ $//')"
chmod 755 store/closed

# A program that is only where the rule leads runs as one that is at both places does.
fresh; mkdir -p asked led/deep; cp /bin/true led/both; cp /bin/true led/deep/there; cp /bin/false asked/both
printf '#!/bin/sh\nexit 4$1\n' >led/script; chmod 755 led/script; echo text >led/text; ln -s deep led/way; cp led/script led/deep/script
cat >"$T/etc/runs.rules" <<S
default allow
rewrite exec $T/project/asked/** -> $T/project/led/**
rewrite exec $T/project/gone argv="a **" -> $T/project/led/script args="2"
S
chmod 600 "$T/etc/runs.rules"
cat >"$T/etc/runs.py" <<'S'
import os, sys
def t(name, *argv):
    pid = os.fork()
    if not pid:
        try: os.execv(name, [name, *argv])
        except OSError as e: print(name, os.strerror(e.errno), flush=True)
        os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status != 1: print(name, status, flush=True)
for name in sys.argv[2:]: t(sys.argv[1] + "/" + name, "1")
S
names="both deep/there script way/there way/script text deep none none/there both/"
# shellcheck disable=SC2086
supervise "$T/etc/runs.rules" python3 "$T/etc/runs.py" asked $names >"$T/seen" 2>&1
# shellcheck disable=SC2086
same "programs that are only where a rule leads" "$(python3 "$T/etc/runs.py" led $names | sed 's/^led/asked/')" "$(cat "$T/seen")"
same "as they are recorded" "$T/project/asked/deep/there $T/project/led/deep/there 0" \
	"$(records "$JOURNAL" | jq -r 'select(.call == "execve" and .verdict == "rewrite" and (.object | endswith("deep/there"))) | "\(.object) \(.to) \(.result)"')"
same "by arguments" "42 127" "$(supervise "$T/etc/runs.rules" sh -c './gone a b; a=$?; ./gone b; echo $a $?' 2>/dev/null)"

# So does a script whose interpreter is only there, also where that is a script of another one.
fresh; mkdir asked; cp "$(readlink -f /bin/sh)" asked/sh; echo text >asked/text; P=$T/project
script() { printf '#!%s\necho "$0" "$@"; tr "\\0" " " </proc/$$/cmdline\n' "$2" >"$1"; chmod 755 "$1"; }
script plain "$P/asked/sh"; script arg "$P/asked/sh -e"; script dots "$P/asked/./sh"; script relative asked/sh; script none "$P/asked/none"; script text "$P/asked/text"
script asked/in "$P/asked/sh -u"; script of "$P/asked/in of"; script asked/two "$P/asked/in two"; script three "$P/asked/two"; script not "$P/asked/sh"; chmod 644 not
script many "$P/asked/sh"; echo 'echo $#' >>many
cat >"$T/etc/scripts.py" <<'S'
import os, subprocess, sys
for name in "plain arg dots relative none text asked/in of asked/two three not".split():
    try: print(subprocess.run(["called", "a b", ""], executable=os.getcwd() + "/" + name, capture_output=True, text=True))
    except OSError as e: print(name, e.strerror)
print(subprocess.run(["./many"] + ["an argument"] * 2000, capture_output=True, text=True).stdout[-6:])
pid = os.fork()
if not pid: os.execve("plain", [], {})
os.waitpid(pid, 0)
S
python3 "$T/etc/scripts.py" >"$T/natively" 2>&1; mv asked led
printf 'rewrite exec,read %s/asked/** -> %s/led/**\ndefault allow\n' "$P" "$P" >"$T/etc/scripts.rules"; chmod 600 "$T/etc/scripts.rules"
supervise "$T/etc/scripts.rules" python3 "$T/etc/scripts.py" >"$T/seen" 2>&1
same "scripts whose interpreter is only where a rule leads" "$(cat "$T/natively")" "$(sed "s,$P/led/,$P/asked/,g" "$T/seen")"
same "as one is recorded" "$P/arg $P/asked/sh $P/led/sh rewrite 0" \
	"$(records "$JOURNAL" | jq -r 'select(.object | endswith("/arg")?) | select(.call == "execve") | "\(.objects[0].object) \(.objects[1].object) \(.to) \(.verdict) \(.result)"')"
mkdir asked; cp /bin/false asked/sh
same "nor where another is at the place that it names" "./plain a" "$(supervise "$T/etc/scripts.rules" ./plain a 2>&1 | head -n 1)"
same "a person may be asked about the script" "./plain a" "$(sed "1iask exec $P/plain" "$T/etc/scripts.rules" >"$T/etc/asks.rules"; chmod 600 "$T/etc/asks.rules"; ASK=exec:$T/etc/yes supervise "$T/etc/asks.rules" sh -c './plain a' 2>&1 | head -n 1)"
for deny in "$P/plain" "$P/asked/sh" "$P/** argv=\"** b\"" "$P/asked/sh argv=\"./plain **\""; do
	sed "1ideny exec $deny" "$T/etc/scripts.rules" >"$T/etc/denied.rules"; chmod 600 "$T/etc/denied.rules"
	same "refused with deny exec $deny" 126 "$(supervise "$T/etc/denied.rules" sh -c './plain b >/dev/null 2>&1; echo $?')"
done
same "what stands where the rule leads needs no other rule" "./plain b" "$(sed "1ideny exec $P/led/sh" "$T/etc/scripts.rules" >"$T/etc/denied.rules"; chmod 600 "$T/etc/denied.rules"; supervise "$T/etc/denied.rules" sh -c ./plain\ b 2>&1 | head -n 1)"

# Where root, or whoever wrote the rules, has laid the link, the rule means what is behind it.
if is_root; then
	fresh; mkdir "$T/etc/led"; ln -s led "$T/etc/link"; echo led >"$T/etc/led/f"
	printf 'rewrite read %s/project/x/** -> %s/etc/link/**\ndeny read %s/etc/led/**\ndefault allow\n' "$T" "$T" "$T" >"$T/etc/link.rules"
	chmod 600 "$T/etc/link.rules"
	same "a link in the rule's own name" led "$(supervise "$T/etc/link.rules" cat x/f 2>/dev/null)"
fi
finish
