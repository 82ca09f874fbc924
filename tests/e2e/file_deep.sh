#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Folders deeper than PATH_MAX: everything works where it is allowed, and rules on names hold there too.
. "$(dirname "$0")/lib.sh"
need python3
cat >"$T/deep.py" <<'P'
import os, sys
def attempt(what, *args, **kw):
    try:
        what(*args, **kw)
        return "done"
    except OSError as e:
        return e.strerror
name = "a" * 100
for i in range(60):
    os.mkdir(name)
    os.chdir(name)
print(attempt(lambda: open("f", "w").write("x")), open("f").read(), attempt(os.rename, "f", "g"), attempt(os.chmod, "g", 0o600))
print(attempt(os.mkdir, "d"), sorted(os.listdir(".")))
d = os.open("d", os.O_RDONLY)
os.close(os.open("in", os.O_CREAT | os.O_WRONLY, dir_fd=d))
print(attempt(os.unlink, "in", dir_fd=d), attempt(os.symlink, "g", "l"), attempt(os.link, "g", "h"))
print(attempt(lambda: open("secret", "w")))
for n in ["secret"]:
    if os.path.lexists(n):
        os.unlink(n)
for n in ["g", "l", "h"]:
    if os.path.lexists(n):
        os.unlink(n)
os.rmdir("d")
for i in range(60):
    os.chdir("..")
    os.rmdir(name)
print(os.listdir("."))
P
MODES=allow both deep <<'S'
python3 "$T/deep.py"
S
fresh
printf 'deny write **/a*/secret\ndeny read **/a*/g\ndefault allow\n' >"$T/etc/deep.rules"
chmod 600 "$T/etc/deep.rules"
"$USHER" run -p "$T/etc/deep.rules" --ask=deny --journal "$T/journal.deep" -- python3 "$T/deep.py" >"$T/out" 2>"$T/err"
same "a rule on a name holds there" "1 Permission denied" "$(grep -ac '^Permission denied$' "$T/out") $(sed -n 4p "$T/out")"
check "and the journal verifies" "$USHER" verify "$T/journal.deep"
fresh
printf 'ask create **/a*/secret\ndefault allow\n' >"$T/etc/ask.rules"
chmod 600 "$T/etc/ask.rules"
printf '#!/bin/sh\ncat >>%s/asked; echo "{\\"answer\\":\\"deny\\"}"\n' "$T" >"$T/answer"
chmod 700 "$T/answer"
"$USHER" run -p "$T/etc/ask.rules" --ask="exec:$T/answer" --journal "$T/journal.ask" -- python3 "$T/deep.py" >"$T/out" 2>"$T/err"
same "and can be asked about" "Permission denied" "$(sed -n 4p "$T/out")"
# Where a rule names stat each entry is decided on by its full name. The levels of 200 bytes end just below three times PATH_MAX.
cat >"$T/list.py" <<'P'
import os
name = "y" * 200
for i in range(57):
    os.mkdir(name)
    os.chdir(name)
    if i in (18, 19, 20, 21, 40, 56):
        os.mkdir("sub")
        os.close(os.open("z" * 255, os.O_CREAT | os.O_WRONLY))
        os.close(os.open("hidden", os.O_CREAT | os.O_WRONLY))
        print(i, sorted(e[:6] + str(len(e)) for e in os.listdir(".")))
P
fresh
native=$(python3 "$T/list.py" && rm -r y* && ls)
printf 'deny stat **/elsewhere/* errno=ENOENT\ndefault allow\n' >"$T/etc/stat.rules"
printf 'deny stat **/hidden errno=ENOENT\ndefault allow\n' >"$T/etc/hide.rules"
chmod 600 "$T/etc/"*.rules
fresh
same "a folder there is listed as it is where rules name stat" "$native" "$(supervise "$T/etc/stat.rules" bash -c 'python3 "$T/list.py" && rm -r y* && ls' 2>"$T/err")"
fresh
same "and without what a rule hides" "${native//\'hidden6\', /}" "$(supervise "$T/etc/hide.rules" python3 "$T/list.py" 2>"$T/err")"
# A name that was read upwards is remembered: what was renamed above is known by its new name all the same, and one that was named before needs no reading.
cat >"$T/moved.py" <<'P'
import os
name = "m" * 100
def attempt(what):
    try:
        os.close(os.open(what, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        os.unlink(what)
        return "done"
    except OSError as e:
        return e.strerror
def down(n):
    for i in range(n):
        os.mkdir(name)
        os.chdir(name)
down(45)
above = os.open(".", os.O_RDONLY)
os.mkdir("mid")
os.chdir("mid")
down(3)
print("made:", attempt("f"))
os.rename("mid", "moved", src_dir_fd=above, dst_dir_fd=above)
print("renamed:", attempt("f"))
os.mkdir("mid", dir_fd=above)
print("another in its place:", attempt("f"))
os.rmdir("mid", dir_fd=above)
os.rename("moved", "mid", src_dir_fd=above, dst_dir_fd=above)
print("renamed back:", attempt("f"))
os.fchmod(above, 0o311)
print("not to be read above:", attempt("f"))
os.fchmod(above, 0o755)
for i in range(3):
    os.chdir("..")
    os.rmdir(name)
    print("up:", attempt("f"))
P
fresh
printf 'deny create **/moved/*/*/*/f\ndefault allow\n' >"$T/etc/moved.rules"
chmod 600 "$T/etc/moved.rules"
native=$(python3 "$T/moved.py")
fresh
same "what was named before is named where a folder above cannot be read" "$native" "$(supervise "$T/etc/allow.rules" python3 "$T/moved.py" 2>"$T/err")"
fresh
same "and what is renamed above has its new name" "$(sed -E '/^(renamed|another.*):/s/done/Permission denied/' <<<"$native")" \
	"$(supervise "$T/etc/moved.rules" python3 "$T/moved.py" 2>"$T/err")"
# A socket's name there is as long as its folder's; a name of bytes that each take six in the journal is more than a record holds.
cat >"$T/deeper.py" <<'P'
import os, socket, sys
byte = chr(int(sys.argv[1]))
for i in range(21):
    os.mkdir(byte * 200)
    os.chdir(byte * 200)
try:
    s = socket.socket(socket.AF_UNIX)
    s.bind("sock")
    print("bound")
    s.listen()
    socket.socket(socket.AF_UNIX).connect("sock")
    print("connected")
except OSError as e:
    print(e.strerror)
os.chdir("/")
open("/dev/null", "w")
print("goes on")
P
deeper() { # BYTE: under usher
	fresh
	"$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal "$T/journal.$1" -- python3 "$T/deeper.py" "$1" 2>"$T/err" | tr '\n' ' '
}
same "a socket is bound and met there" "bound connected goes on " "$(deeper 97)"
same "what no record holds is not done, and no more than that" "File name too long goes on " "$(deeper 1)"
same "nobody is told of a broken journal" "" "$(grep -a 'cannot be written' "$T/err")"
check "and it verifies" "$USHER" verify "$T/journal.1"
finish
