#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 21: a denied file taken out by a move of a directory above it that usher could not look through: one without rights, or the right to search,
# (given back behind the move), one that is filled between the look and the move, one that it is deleted from and held, one that a rule leads elsewhere, and a held one that gets the file after it has moved; and a file that may not be removed replaced. Row 20: a socket
# that may not be connected to, by another name; a mode that may not be changed, by a hard link. Row 22: a file that may not be made, made elsewhere and moved there with its directory, or made while that moves.
T=$(mktemp -d) || exit 1
trap 'chmod -R u+rwx "$T"; rm -rf "$T"' EXIT
export XDG_STATE_HOME=$T/state
# An ordinary user's usher cannot list it either; root's can.
user=()
[ "$(id -u)" != 0 ] || user=(setpriv --reuid 1000 --regid 1000 --clear-groups)
cat >"$T/unread" <<'P'
cd "$1" && chmod 000 top/sub && mv -T top w/t
chmod 700 w/t/sub top/sub
cat w/t/sub/key
P
sed 's/chmod 000/chmod 400/' "$T/unread" >"$T/unsearched"
cat >"$T/fill" <<'P'
import os, sys, threading, time
os.chdir(sys.argv[1])
end, on = time.monotonic() + float(os.environ.get("RACE_SECONDS", "3")), True
def move(a, b):
    try: os.rename(a, b)
    except OSError: return False
    return True
def fill():
    while on: move("o/sub", "top/sub"); move("top/sub", "o/sub")
t = threading.Thread(target=fill); t.start()
while on and time.monotonic() < end:
    if not move("top", "w/t"): continue
    try: print(open("w/t/sub/key").read()); on = False
    except OSError: move("w/t", "top")
on = False; t.join()
P
cat >"$T/gone" <<'P'
import ctypes, os, sys
how = sys.argv[1]
os.chdir(sys.argv[2])
held = os.open("top/sub/key", os.O_PATH); os.unlink("top/sub/key")
os.rename("top/sub", "x"); os.mkdir("c")
if how == "moved": os.rename("x", "y")
if how == "exchanged": ctypes.CDLL(None).renameat2(-100, b"c", -100, b"x", 2)
if how == "replaced": os.rename("c", "x")
if how == "removed": os.rmdir("x"); os.rename("c", "x"); os.rename("x", "c")
if how == "tried":
    os.mkdir("x/in")
    try: os.rename("c", "x")
    except OSError: pass
print(open("/proc/self/fd/%d" % held).read())
P
cat >"$T/led" <<'P'
import os, sys
os.chdir(sys.argv[1])
try: os.symlink(".", "led") # natively: what the rule does
except OSError: pass
os.rename("led/top", "w/t"); print(open("w/t/sub/key").read())
P
cat >"$T/socket" <<'P'
import os, socket, sys
os.chdir(sys.argv[2])
with socket.socket(socket.AF_UNIX) as s, socket.socket(socket.AF_UNIX) as c:
    s.bind("top/sub/key.sock"); s.listen()
    if sys.argv[1] == "link": os.link("top/sub/key.sock", "w/s")
    if sys.argv[1] == "twice": os.link("top/sub/key.sock", "top/sub/s"); os.rename("top/sub/s", "w/s")
    if sys.argv[1] == "beside": os.mkdir("top/d"); os.link("top/sub/key.sock", "top/d/key.sock"); os.rename("top/d", "w/t"); os.symlink("t/key.sock", "w/s")
    if sys.argv[1] == "file": os.rename("top/sub/key.sock", "w/s")
    if sys.argv[1] == "above": os.rename("top/sub", "w/t"); os.symlink("t/key.sock", "w/s")
    c.connect("w/s"); s.accept()[0].send(b"SECRET"); print(c.recv(9))
P
cat >"$T/over" <<'P'
import os, sys, threading, time
os.chdir(sys.argv[1])
end, on, i, moved = time.monotonic() + float(os.environ.get("RACE_SECONDS", "2")), True, 0, False
meet = threading.Barrier(2)
def move():
    global moved
    while meet.wait() >= 0 and on:
        try: os.rename("o/%d" % i, "n/%d" % i); moved = True
        except OSError: moved = False
        meet.wait()
t = threading.Thread(target=move); t.start()
while on and time.monotonic() < end:
    i += 1; open("o/%d" % i, "w").close(); meet.wait()
    try: os.close(os.open("n/%d" % i, os.O_CREAT | os.O_EXCL | os.O_WRONLY)); made = True
    except OSError: made = False
    meet.wait()
    if made and moved: print("SECRET"); break
on = False; meet.wait(); t.join()
P
cat >"$T/below" <<'P'
cd "$1" && mkdir m && touch m/key && mv -T m n/x
ls n/x/key && echo SECRET
P
cat >"$T/mode" <<'P'
cd "$1" && : >o/mode && ln o/mode w/mode && chmod 741 w/mode
[ "$(stat -c %a o/mode)" != 741 ] || echo SECRET
P
cat >"$T/beside" <<'P'
import os, socket, sys, threading, time
os.chdir(sys.argv[2]); os.mkdir("m"); open("from", "w").close()
how = sys.argv[1]
def bind():
    with socket.socket(socket.AF_UNIX) as s: s.bind("m/key")
make = {"open": lambda: os.close(os.open("m/key", os.O_CREAT | os.O_WRONLY)), "mkdir": lambda: os.mkdir("m/key"), "mknod": lambda: os.mknod("m/key"),
        "symlink": lambda: os.symlink("x", "m/key"), "link": lambda: os.link("from", "m/key"), "bind": bind}[how]
end, on = time.monotonic() + float(os.environ.get("RACE_SECONDS", "0.4")), True
meet = threading.Barrier(2)
def work():
    while meet.wait() >= 0 and on:
        try: make()
        except OSError: pass
        meet.wait()
def tried(call, *names):
    try: call(*names)
    except OSError: return False
    return True
t = threading.Thread(target=work); t.start()
while on and time.monotonic() < end:
    meet.wait(); tried(os.rename, "m", "n/x"); meet.wait()
    if os.path.lexists("n/x/key"): print("SECRET"); break
    tried(os.rename, "n/x", "m"); tried(os.rmdir if how == "mkdir" else os.unlink, "m/key")
on = False; meet.wait(); t.join()
P
cat >"$T/base" <<'P'
import os, sys, threading, time
os.chdir(sys.argv[1]); os.mkdir("D")
end, on, dir = time.monotonic() + float(os.environ.get("RACE_SECONDS", "3")), True, os.open("D", os.O_RDONLY)
def move():
    while on: os.rename("D", "top/D"); os.rename("o/sub/key", "top/D/key"); os.rename("top/D/key", "o/sub/key"); os.rename("top/D", "D")
t = threading.Thread(target=move); t.start()
while on and time.monotonic() < end:
    try: f = os.open("key", os.O_RDONLY, dir_fd=dir)
    except OSError: continue
    if os.read(f, 6) == b"SECRET": print("SECRET"); on = False
    os.close(f)
on = False; t.join()
P
fresh() {
	chmod -R u+rwx "$T/d" 2>/dev/null
	rm -rf "$T/d" && mkdir -p "$T/d/top/$1" "$T/d/o/sub" "$T/d/w" "$T/d/n" && touch "$T"/d/top/{1..300}
	echo SECRET | tee "$T/d/o/sub/key" >"$T/d/top/$1/key"
	[ "$1" = sub ] || rm -r "$T/d/top/$1"
	printf '%s\n' 'default allow' ${led:+"$led"} "deny read $T/d/*/*/key" "deny connect unix:$T/d/top/*/key.*" "deny delete $T/d/n/[0-9]*" "deny create $T/d/n/*/key" "deny attr $T/d/o/mode" >"$T/rules"
	[ ${#user[@]} = 0 ] || chown -R 1000:1000 "$T"
}
try() { # name, directory to begin with, command
	local name=$1 dir=$2 journal=$T/journal.${EPOCHREALTIME/./}
	shift 2
	fresh "$dir"
	[ "$("${user[@]}" "$@" "$T/d" 2>/dev/null)" ] || { echo "skip $name: not possible here"; return; }
	fresh "$dir"
	case $("${user[@]}" "${USHER:-build/usher}" run -p "$T/rules" --journal "$journal" -- "$@" "$T/d" 2>/dev/null) in
	*SECRET*) echo "not ok $name" ;;
	*) echo "ok $name" ;;
	esac
	[ -d "$journal" ] || echo "not ok $name: it ran"
}
led="rewrite write $T/d/led/** -> $T/d/**"
try "row 21: moved with a directory that cannot be listed" sub sh "$T/unread"
try "row 21: moved with a directory that can be listed and not searched" sub sh "$T/unsearched"
try "row 21: filled between look and move" none /usr/bin/python3 "$T/fill"
for way in moved exchanged replaced removed tried; do
	try "row 21: deleted, and its directory moved ($way)" sub /usr/bin/python3 "$T/gone" $way
done
try "row 21: moved over what has come there since the look" none /usr/bin/python3 "$T/over"
try "row 21: moved by a name that a rule leads there" sub /usr/bin/python3 "$T/led"
for way in link twice beside file above; do
	try "row 20: a socket's other name ($way)" sub /usr/bin/python3 "$T/socket" $way
done
# Many rules for one name, of other users: deciding on it takes long enough for the moves.
led=$(printf "allow read $T/d/D/key uid=%d\n" {100000..130000})
try "row 21: brought into the directory that a name begins in, once that has moved" none /usr/bin/python3 "$T/base"
led=
try "row 20: attributes changed by another name" sub sh "$T/mode"
try "row 22: made elsewhere and moved there with its directory" none sh "$T/below"
for way in open mkdir mknod symlink link bind; do
	try "row 22: made while its directory moves there ($way)" none /usr/bin/python3 "$T/beside" $way
done
