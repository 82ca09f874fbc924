#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A name that is a link now and something else a moment later: what it was the last time says nothing of what it is, to the program or to the rules.
. "$(dirname "$0")/lib.sh"
need python3
fresh
mkdir -p "$T/project/store" "$T/project/sub"
for n in one two closed; do echo "$n" >"$T/project/store/$n"; done
cat >"$T/turns.py" <<'P'
import errno, os, sys
stores = os.path.realpath("store")
kinds = [
    ("link", lambda n: os.symlink("store/one", n)), ("other link", lambda n: os.symlink("store/two", n)), ("absolute", lambda n: os.symlink(stores + "/one", n)),
    ("file", lambda n: open(n, "w").write("own\n")), ("closed", lambda n: os.symlink("store/closed", n)), ("nothing", lambda n: None), ("dangling", lambda n: os.symlink("store/none", n)),
    ("itself", lambda n: os.symlink(os.path.basename(n), n)), ("chain", lambda n: os.symlink("again", n)), ("folder", lambda n: os.mkdir(n)), ("to a folder", lambda n: os.symlink("store", n)),
    ("FIFO", lambda n: os.mkfifo(n)), ("to itself by /proc", lambda n: os.symlink("/proc/self/comm", n)), ("hard", lambda n: os.link("store/two", n)),
]
def clear(n):
    if os.path.islink(n) or not os.path.isdir(n):
        if os.path.lexists(n): os.unlink(n)
    else: os.rmdir(n)
def look(n, flags=0, **kw):
    try: fd = os.open(n, os.O_RDONLY | os.O_NONBLOCK | flags, **kw)
    except OSError as e: return errno.errorcode[e.errno]
    try: text = os.read(fd, 100).decode().strip()
    except OSError as e: text = errno.errorcode[e.errno]
    import fcntl
    text += " %o" % (fcntl.fcntl(fd, fcntl.F_GETFL) & ~(os.O_NONBLOCK | 0o100000))
    os.close(fd)
    return text
if os.path.lexists("again"): os.unlink("again")
os.symlink("store/two", "again")
here = os.open(".", os.O_RDONLY)
for name in ["t", "turned-by-a-long-name.so.1"]:
    for first, make_first in kinds:
        for then, make_then in kinds:
            said = []
            for make in make_first, make_then:
                clear(name)
                make(name)
                for i in range(2):
                    said += [look(os.path.abspath(name)), look(name), look("store/../" + name, dir_fd=here)]
                said += [look(name, os.O_NOFOLLOW), look(os.path.abspath(name), os.O_DIRECTORY)]
            print(name, first, "-", then, said)
    clear(name)
P
printf 'deny read %s/project/store/closed\ndefault allow\n' "$T" >"$T/etc/closed.rules"
printf 'default allow\n' >"$T/etc/open.rules"
chmod 600 "$T"/etc/*.rules
turns() { # RULES, or none
	(cd "$T/project" && if [ "$1" ]; then supervise "$T/etc/$1.rules" python3 "$T/turns.py"; else python3 "$T/turns.py"; fi) 2>&1
}
turns "" >"$T/native"
same "(control) natively 392 turns" "392" "$(wc -l <"$T/native")"
turns open >"$T/allowed"
same "a name that turns into something else is what it is" "" "$(diff "$T/native" "$T/allowed" | head -n 5)"
turns closed >"$T/closed"
same "(control) what is closed can be read natively" yes "$(grep -q "'closed 0'" "$T/native" && echo yes)"
same "what it leads to is closed whatever it was before" "" "$(sed "s/'closed 0'/'EACCES'/g" "$T/native" | diff - "$T/closed" | head -n 5)"

# One mount over another: a name that leads through a link from below gets what lies below.
if ! is_root || ! unshare -m true 2>/dev/null; then
	skip mounts "no mount namespace"
	finish
fi
mkdir -p "$T/project/below"; echo x >"$T/project/below/f"; ln -s f "$T/project/below/l"
cat >"$T/over.sh" <<'P'
cd "$1/below" && shift && mount --bind . "$PWD" && mount -o remount,bind,ro "$PWD" && exec "$@"
P
cat >"$T/chmod.py" <<'P'
import errno, os
for n in ["l", "l", "l", os.getcwd() + "/l", os.getcwd() + "/l"]:
    fd = os.open(n, os.O_RDONLY)
    try: os.fchmod(fd, 0o600); print("done", end=" ")
    except OSError as e: print(errno.errorcode[e.errno], end=" ")
P
same "(control) natively a name from below is that of the mount below" "done done done EROFS EROFS " "$(unshare -m sh "$T/over.sh" "$T/project" python3 "$T/chmod.py")"
same "so it is under usher" "done done done EROFS EROFS " "$(unshare -m sh "$T/over.sh" "$T/project" "$USHER" run -p "$T/etc/open.rules" --journal "$T/journal.over" -- python3 "$T/chmod.py" 2>&1)"
finish
