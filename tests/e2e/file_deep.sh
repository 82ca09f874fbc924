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
