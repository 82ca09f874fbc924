#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# users: root
# Whatever a program names as its PT_INTERP is decided on and verified: a program that lies where loaders do is none for that, and no file that the
# kernel shows by the name and the inode number of what was decided is taken for it.
. "$(dirname "$0")/lib.sh"
need gcc python3 readelf
is_root || skip_all "needs root"
[ "$(uname -m)" = x86_64 ] || skip_all "makes system calls of x86-64"
unshare -m true 2>/dev/null || skip_all "no mount namespace"
fresh
says() { # FILE TEXT [LINKER OPTION]: a program of its own, without a C library
	gcc -x c -nostdlib -static -ffreestanding -fno-stack-protector -fno-pie -no-pie "${@:3}" -o "$1" - <<EOS
static long call(long n, long a, long b, long c)
{
	long r;
	__asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return r;
}
void _start(void)
{
	static const char text[] = "$2\n";
	call(1, 1, (long)text, sizeof(text) - 1);
	call(231, 0, 0, 0);
}
EOS
}
names() { # FILE INTERPRETER
	echo 'int main(void) { return 0; }' | gcc -x c -Wl,--dynamic-linker="$2" -o "$1" -
}

# Below the library directories, root's, and no loader.
odd=/usr/lib/usher-test.$$
at_exit "rm -rf $odd"
mkdir "$odd"
says "$odd/tool" "the tool runs"
names "$T/project/as-loader" "$odd/tool"
same "natively it is run as an interpreter" "the tool runs" "$("$T/project/as-loader")"
rules odd <<<"deny exec $odd/tool
default allow"
same "where its exec is denied it is not" "126 " "$("$USHER" run -p "$R" --journal "$T/j1" -- "$T/project/as-loader" 2>/dev/null; s=$?; echo "$s ")"
same "allowed it is as natively" "the tool runs" "$("$USHER" run -p "$T/etc/allow.rules" --journal "$T/j2" -- "$T/project/as-loader" 2>/dev/null)"

# A loader that a script names gets what the script says, and then the script's name.
cp /bin/echo "$T/project/said"
loader=$(LC_ALL=C readelf -lW /bin/true | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
printf '#!%s %s\n' "$loader" "$T/project/said" >"$T/project/by-script"
chmod 755 "$T/project/by-script"
same "natively a script runs what it tells its loader" "$T/project/by-script a" "$("$T/project/by-script" a)"
rules said <<<"deny exec $T/project/said
default allow"
for a in "" a; do
	same "where that one's exec is denied it is not run ($a)" "126 " "$("$USHER" run -p "$R" --journal "$T/j4$a" -- "$T/project/by-script" $a 2>/dev/null; s=$?; echo "$s ")"
done
same "allowed it is as natively" "$T/project/by-script a" "$("$USHER" run -p "$T/etc/allow.rules" --journal "$T/j5" -- "$T/project/by-script" a 2>/dev/null)"

# Two file systems whose inode numbers meet. maps shows the denied file by a name that leads to the decided one, with the same number.
cat >"$T/etc/swap.py" <<'EOS'
import contextlib, ctypes, os, signal, subprocess, sys, time
top, seconds = sys.argv[1], float(sys.argv[2])
libc = ctypes.CDLL(None, use_errno=True)
denied = top + "/one/d/B"
held = os.open(denied, os.O_PATH)
os.unlink(denied); os.rmdir(top + "/one/d"); os.symlink(top + "/two", top + "/one/d")
here = os.getpid()
os.symlink(top + "/two/B (deleted)", top + "/il"); os.symlink(f"/proc/{here}/fd/{held}", top + "/il.o")
child = os.fork()
if not child:
    while os.getppid() == here:
        libc.renameat2(-100, (top + "/il").encode(), -100, (top + "/il.o").encode(), 2)
        time.sleep(0.00007)
    os._exit(0)
end = time.monotonic() + seconds
while time.monotonic() < end:
    with contextlib.suppress(OSError): # denied, when the link leads there as it is decided
        subprocess.run([top + "/prog"], stderr=subprocess.DEVNULL)
os.kill(child, signal.SIGKILL)
EOS
cat >"$T/etc/collide.sh" <<'EOS'
# in a mount namespace of its own: SECONDS COMMAND...
top=$T/project
mkdir -p "$top/one" "$top/two"
mount -t tmpfs one "$top/one" && mount -t tmpfs two "$top/two" || exit 77
mkdir "$top/one/d"
cp "$top/denied" "$top/one/d/B"
want=$(stat -c %i "$top/one/d/B")
for ((i = 0; i < 1000; i++)); do
	cp "$top/decided" "$top/two/B (deleted)"
	[ "$(stat -c %i "$top/two/B (deleted)")" = "$want" ] && break
	mv "$top/two/B (deleted)" "$top/two/x$i"
done
[ $i -lt 1000 ] || exit 77
seconds=$1
shift
"$@" python3 "$T/etc/swap.py" "$top" "$seconds"
EOS
says "$T/project/denied" "denied code runs"
says "$T/project/decided" "decided code runs"
names "$T/project/prog" "$T/project/il"
collide() { # NAME SECONDS COMMAND...
	rm -f "$T"/project/il*
	unshare -m bash "$T/etc/collide.sh" "${@:2}" >"$T/$1" 2>"$T/$1.err"
}
collide native 1
[ $? != 77 ] || { skip "inode numbers that meet"; finish; }
check "natively either runs" grep -q denied "$T/native"
rules collide <<<"deny exec $T/project/one/**
deny exec memfd:**
default allow"
collide supervised 4 "$USHER" run -p "$R" --journal "$T/j3" --
check "under usher the decided one does" grep -q decided "$T/supervised"
same "and the denied one never" 0 "$(grep -c denied "$T/supervised")"
finish
