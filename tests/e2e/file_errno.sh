#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# File calls with good and bad arguments, in good and odd places: the same answers and effects natively and supervised, line by line; then with
# the stat family mediated too, and as root with a target that drops to another user.
. "$(dirname "$0")/lib.sh"
MODES=allow both file_errno <<'S'
"$BIN/file_errno" .
S
for p in file_places file_rights file_own file_limits file_moves; do
	MODES=allow both $p <<<"\"\$BIN/$p\" ."
done
echo 'deny stat /nonexistent/**' >"$T/etc/stat.rules"
chmod 600 "$T/etc/stat.rules"
MODES=allow OPTIONS="-p $T/etc/stat.rules" both file_errno_stat <<'S'
"$BIN/file_errno" .
S
MODES=allow OPTIONS="-p $T/etc/stat.rules" both proc_self_stat <<'S'
sh -c 'echo $$; exec readlink /proc/self' | uniq | wc -l
sh -c 'echo $$; cd /proc; exec readlink self' | uniq | wc -l
sh -c 'echo $$/task/$$; exec readlink /proc/thread-self' | uniq | wc -l
S
for p in file_places file_rights file_own file_limits file_moves; do
	MODES=allow OPTIONS="-p $T/etc/stat.rules" both ${p}_stat <<<"\"\$BIN/$p\" ."
done
# Where a rule pins a file, what is opened is known before anything happens to it.
echo 'deny modify /etc/passwd' >"$T/etc/pins.rules"
chmod 600 "$T/etc/pins.rules"
MODES=allow OPTIONS="-p $T/etc/pins.rules" both file_rights_pins <<<'"$BIN/file_rights" .'
if is_root && command -v setpriv >/dev/null; then
	MODES=allow both file_errno_dropped <<'S'
chmod 755 "$T"; mkdir w; chown 1000:1000 w; cp "$BIN/file_errno" .; chmod 755 file_errno
setpriv --reuid=1000 --regid=1000 --clear-groups ./file_errno w
chmod -R u+rwX w; rm -rf w
S
	for p in file_places file_rights file_own file_limits file_moves; do
		MODES=allow both ${p}_dropped <<S
chmod 755 "\$T"; mkdir w; chown 1000:1000 w; cp "\$BIN/$p" .; chmod 755 $p
setpriv --reuid=1000 --regid=1000 --clear-groups ./$p w
chmod -R u+rwX w; rm -rf w
S
	done
else
	skip "a target that drops to another user" "needs root"
fi
# The working directory where a descriptor belongs (AT_FDCWD), as newer kernels take it: it is hidden like by its name.
rules attribute.rules <<R
deny stat $T/project
default allow
R
fresh
attribute='import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
room = ctypes.create_string_buffer(8)
for n in libc.fgetxattr(-100, b"user.k", room, 8), libc.getxattr(b".", b"user.k", room, 8):
    print(room.raw[:n] if n >= 0 else os.strerror(ctypes.get_errno()))'
python3 -c 'import os; os.setxattr(".", "user.k", b"v")' 2>/dev/null
if [ "$(cd "$T/project" && python3 -c "$attribute" | uniq)" = "b'v'" ]; then
	supervise "$R" python3 -c "$attribute" >"$T/out" 2>"$T/err"
	same "a hidden working directory's attribute is hidden by AT_FDCWD, too" "No such file or directory" "$(uniq "$T/out")"
else
	skip "a hidden working directory's attribute by AT_FDCWD" "the kernel wants a descriptor, or the file system has no such attributes"
fi
# Nothing is removed from a file system that is read only, be it there or not.
if is_root && mkdir "$T/solid" && mount -t tmpfs solid "$T/solid" 2>/dev/null; then
	mkdir "$T/solid/d" && : >"$T/solid/f" && mount -o remount,ro "$T/solid"
	cat >"$T/etc/solid.py" <<'P'
import os, sys
os.chdir(sys.argv[1])
long = "x" * 256
def say(what, call, *names):
    try: call(*names); print(what, *(n[:3] for n in names), "done")
    except OSError as e: print(what, *(n[:3] for n in names), os.strerror(e.errno))
for n in ("f", "d", "gone", "d/gone", "gone/x", ".", long):
    say("unlink", os.unlink, n)
    say("rmdir", os.rmdir, n)
    for to in ("f", "new", "gone/y", "d/..", "/tmp/new"): say("rename", os.rename, n, to)
P
	echo 'rewrite write /nonexistent/** -> /tmp/**' >"$T/etc/led.rules"
	chmod 600 "$T/etc/led.rules"
	for set in stat pins led; do
		MODES=allow OPTIONS="-p $T/etc/$set.rules" both "read_only_$set" <<<"python3 $T/etc/solid.py $T/solid"
	done
	MODES=allow both read_only <<<"python3 $T/etc/solid.py $T/solid"
	umount "$T/solid"
else
	skip "a file system that is read only" "needs root, and to mount one"
fi
# On a mount that follows no links (nosymfollow) none is followed, be it read by usher or by the kernel; they are read and removed as elsewhere.
if is_root && mkdir "$T/bound" && mount -t tmpfs -o nosymfollow bound "$T/bound" 2>/dev/null; then
	mkdir "$T/bound/d" && cp /bin/true "$T/bound/d/true" && ln -s d "$T/bound/way" && ln -s d/true "$T/bound/last" && echo out >"$T/etc/outside" && ln -s "$T/etc/outside" "$T/bound/out" && ln -s "$T/bound/d" "$T/etc/to"
	cat >"$T/etc/bound.py" <<'P'
import os, sys
def say(what, call, *args):
    try: call(*args); print(what, *args, "done")
    except OSError as e: print(what, *args, os.strerror(e.errno))
for name in ("d/true", "way/true", "last", "out", sys.argv[1] + "/true"):
    say("open", lambda n: os.close(os.open(n, os.O_RDONLY)), name)
    say("create", lambda n: os.close(os.open(n, os.O_WRONLY | os.O_CREAT)), name + "x")
    for call in (os.stat, os.lstat, os.listdir): say(call.__name__, call, name)
    say("mode", os.chmod, name, 0o755)
    say("run", lambda n: os.posix_spawn(n, ["x"], {}), name)
    say("chdir", os.chdir, os.path.dirname(name) or ".")
    os.chdir(sys.argv[2])
print(os.readlink("way"))
os.unlink("way")
P
	for set in stat pins led allow; do
		rm -f "$T/bound/d/truex" "$T/bound/lastx" "$T/bound/outx"
		MODES=allow OPTIONS="-p $T/etc/$set.rules" both "no_links_$set" <<<"cd $T/bound; ln -sfn d way; python3 $T/etc/bound.py $T/etc/to $T/bound; rm -f d/truex lastx outx"
	done
	umount "$T/bound"
else
	skip "a mount that follows no links" "needs root, and to mount one"
fi
rules moved.rules <<'R'
allow create **/three/a
deny create **/three/*
default allow
R
fresh
supervise "$R" bash -c 'mkdir one; cd one; /bin/mkdir a; /bin/mv ../one ../three; /bin/mkdir b; >c; mkdir -p /dev/null/x; exec mkdir d' >"$T/out" 2>"$T/err"
same "a working directory goes by the name it has now" "a" "$(ls "$T/project/three")"
same "and so do its records" "b c d" "$(records "$JOURNAL" | grep -a '"verdict":"deny"' | sed -nE 's,.*"object":"[^"]*/three/([^"]*)".*,\1,p' | paste -sd' ')"
rules dirfd.rules <<'R'
allow create **/three/x
deny create **/three/* **/three/x/*
default allow
R
fresh
supervise "$R" python3 -c '
import os
os.mkdir("one"); os.mkdir("one/x"); os.mkdir("two")
d, x, t = (os.open(n, os.O_RDONLY) for n in ("one", "one/x", "two"))
os.rename("one", "three")
def make(name, dir):
    try: os.close(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=dir))
    except PermissionError: pass
for name, dir in (("a", d), ("b", t), ("c", x), ("d", None), ("e", d)): make(name, dir)
os.rename("three", "one")
for name, dir in (("f", d), ("g", x), ("h", t)): make(name, dir)
' >"$T/out" 2>"$T/err"
same "what is below a descriptor is decided by the name it has now" "d one/f one/x/g two/b two/h" "$(cd "$T/project" && find . -type f | sed 's,^./,,' | sort | paste -sd' ')"
same "and so do its records" "a c e" "$(records "$JOURNAL" | grep -a '"verdict":"deny"' | sed -nE 's,.*"object":"[^"]*/three/([^"]*)".*,\1,p' | sed 's,x/,,' | paste -sd' ')"
finish
