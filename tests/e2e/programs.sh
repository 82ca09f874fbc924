#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ways to be a program: static, busybox, musl, run again from /proc/self/exe, without a name, set-user-ID; and rows 44 to 46 of the escapes.
. "$(dirname "$0")/lib.sh"
fresh
cd "$T/project" || exit 1
u() {
	rm -rf "$T/j"
	"$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal "$T/j" -- "$@" 2>"$T/err"
}

if command -v busybox >/dev/null; then
	same "busybox runs its own applets" "b" "$(u busybox sh -c 'busybox echo a | busybox sed s/a/b/')"
else skip "busybox" "not installed"; fi

# Where the loader lies below the program: of an exec the lower one is looked at first.
lowest='sed -n "1s|.*/||p" /proc/self/maps'
for how in -L -R; do
	native=$(setarch "$(uname -m)" "$how" sh -c "$lowest" 2>/dev/null) || { skip "setarch $how" "not possible natively"; continue; }
	same "programs laid out by setarch $how ($native)" "$native" "$(u setarch "$(uname -m)" "$how" sh -c "$lowest")"
done
if command -v gcc >/dev/null; then
	cat >p.c <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>
#include <fcntl.h>
extern char **environ;
int main(int c, char **v)
{
	char *args[] = { "again", NULL };
	if (!strcmp(v[0], "again"))
		return puts("ran again") < 0;
	if (c > 1 && !strcmp(v[1], "memfd")) {
		int fd = memfd_create("payload", 0), in = open("/proc/self/exe", O_RDONLY);
		sendfile(fd, in, NULL, 1 << 26);
		fexecve(fd, args, environ);
		perror("memfd");
		return 7;
	}
	execv("/proc/self/exe", args);
	return 8;
}
END
	gcc -o p p.c && same "a program runs itself again from /proc/self/exe" "ran again" "$(u ./p)"
	gcc -static -o ps p.c 2>/dev/null && same "a static program" "ran again" "$(u ./ps)"
	if command -v musl-gcc >/dev/null && musl-gcc -D_GNU_SOURCE -o pm p.c 2>/dev/null; then
		same "a program of musl's" "ran again" "$(u ./pm)"
	else skip "musl" "not installed"; fi
	same "control: a program without a name" "ran again" "$(./p memfd)"
	u ./p memfd >/dev/null
	same "a program without a name is refused" 7 $?
	check "and the terminal says why" grep -q 'without a name.*allow exec memfd:' "$T/err"
	check "the journal says what it was" grep -q '"object":"memfd:[^"]*payload.*"verdict":"deny"' "$T"/j/journal-*.jsonl
else skip "programs" "no gcc"; fi

# A debugger inside: it may attach where all programs of the tree have the same rights, and may not where a rule says by=.
if command -v gdb >/dev/null && command -v gcc >/dev/null; then
	printf '#include <unistd.h>\nint marker = 42;\nint main(void) { for (;;) usleep(100000); }\n' >waits.c
	gcc -g -o waits waits.c
	attach='./waits & p=$!; gdb -q -batch -nx -iex "set debuginfod enabled off" -p $p -ex "print marker" -ex detach 2>/dev/null | grep -o "= 42"; kill $p'
	if [ "$(bash -c "$attach" 2>/dev/null)" = "= 42" ]; then
		same "a debugger attaches" "= 42" "$(u bash -c "$attach")"
		printf 'deny read /nonexistent by=/usr/bin/cat\ndefault allow\n' >"$T/etc/by.rules"; chmod 600 "$T/etc/by.rules"
		rm -rf "$T/j"
		same "but not where programs differ in their rights" "" "$("$USHER" run -p "$T/etc/by.rules" --ask=deny --journal "$T/j" -- bash -c "$attach" 2>/dev/null)"
		rm -rf "$T/j"
		same "nor does it start a program there" "" "$("$USHER" run -p "$T/etc/by.rules" --ask=deny --journal "$T/j" -- gdb -q -batch -nx -iex "set debuginfod enabled off" -ex run /bin/true 2>/dev/null | grep -a exited)"
	else skip "a debugger" "cannot attach here"; fi
	rm -f waits waits.c
else skip "a debugger" "no gdb"; fi

# uid= is the caller's effective user, also of one that has changed its own.
printf 'deny read %s/project/of uid=1000\ndefault allow\n' "$T" >"$T/etc/uid.rules"; chmod 644 "$T/etc/uid.rules"; echo text >of
id=$("$USHER" run -p "$T/etc/uid.rules" --ask=deny --journal "$T/juid" -- sh -c 'cat of 2>/dev/null || echo refused')
if [ "$(id -u)" = 1000 ]; then same "uid= of the user" refused "$id"; elif is_root; then
	same "uid= of another user" text "$id"
	chmod 755 "$T" "$T/project"; rm -rf "$T/juid"
	same "uid= of one that changed its user" refused "$("$USHER" run -p "$T/etc/uid.rules" --ask=deny --journal "$T/juid" -- setpriv --reuid 1000 --regid 1000 --clear-groups sh -c "cat $T/project/of 2>/dev/null || echo refused")"
fi

# Nobody is asked about an exec that the kernel refuses anyway.
if command -v python3 >/dev/null; then
	printf 'ask exec %s/hopeless/**\ndefault allow\n' "$T" >"$T/etc/hopeless.rules"; chmod 600 "$T/etc/hopeless.rules"
	mkdir -p "$T/hopeless/dir"; (cd "$T/hopeless" && cp /bin/true good && cp /bin/true plain && chmod 644 plain && echo nothing >text && chmod 755 text)
	cat >"$T/hopeless.py" <<'P'
import errno, os, resource, sys
d = sys.argv[1]
resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
def why(name, *args):
    try: os.execv(f"{d}/{name}", [name, *args])
    except OSError as e: return errno.errorcode[e.errno]
print(why("plain"), why("dir"), why("text"), why("none"), why("good", *["x" * 60000] * 5), why("good", "x" * 200000))
P
	rm -rf "$T/j"
	same "an exec that cannot be fails as natively" "EACCES EACCES ENOEXEC ENOENT E2BIG E2BIG" \
		"$("$USHER" run -p "$T/etc/hopeless.rules" --ask=deny --journal "$T/j" -- python3 "$T/hopeless.py" "$T/hopeless" 2>/dev/null)"
	same "as the control shows" "EACCES EACCES ENOEXEC ENOENT E2BIG E2BIG" "$(python3 "$T/hopeless.py" "$T/hopeless")"
	same "and nobody is asked" 0 "$(grep -c '"answer":' "$T"/j/journal-*.jsonl)"
	rm -rf "$T/j"; "$USHER" run -p "$T/etc/hopeless.rules" --ask=deny --journal "$T/j" -- sh -c "$T/hopeless/good" 2>/dev/null
	check "where it can be, somebody is" grep -q '"answer":' "$T"/j/journal-*.jsonl
fi

# A text without "#!" is a shell's to interpret where the kernel says ENOEXEC, which it does to who may execute it alone.
echo 'echo ran' >"$T/others"; chmod 611 "$T/others"
natively=$("$T/others" 2>/dev/null; echo $?)
is_root || same "control: natively a text that its user may not execute is not run" 126 "$natively"
same "nor is it here, by a shell that takes ENOEXEC for its turn" "$natively" "$(u sh -c "$T/others 2>/dev/null; echo \$?")"
if is_root; then
	chmod 744 "$T/others"
	as_user="setpriv --reuid 1000 --regid 1000 --clear-groups sh -c"
	same "control: natively root's alone is not run by one that gave up being root" 126 "$($as_user "$T/others 2>/dev/null; echo \$?")"
	same "nor is it here" 126 "$(u $as_user "$T/others 2>/dev/null; echo \$?")"
	same "and root runs it" ran "$(u sh -c "$T/others")"
fi

# Documented in SECURITY.md: natively ETXTBSY.
echo 'echo ran' >"$T/written"; chmod 755 "$T/written"
same "a text that is open for writing is a shell's to interpret" ran "$(u sh -c "$T/written 3>>$T/written")"

# Row 44
S=$T/setuid
chmod 755 "$T"
cp /usr/bin/id "$S" && { ! is_root || chown 65534 "$S"; } && chmod 4755 "$S"
same "row 44: a set-user-ID program runs without its privilege" "$(id -u)" "$(u "$S" -u)"
check "row 44: and the journal says so" grep -q '"setuid":"without effect"' "$T"/j/journal-*.jsonl
if is_root && [ "$("$S" -u)" = 65534 ]; then same "row 44 control: it has it natively" 65534 "$("$S" -u)"
else skip "row 44 control" "no set-user-ID program of another user's works here"; fi

# Row 45
busy() {
	local i bad=0 times=400
	[ -z "${QUICK:-}" ] || times=100
	for ((i = 0; i < times; i++)); do
		cp /bin/true fresh 2>/dev/null && ./fresh 2>/dev/null || bad=$((bad + 1))
		rm -f fresh
	done
	echo $bad
}
export -f busy
same "row 45: what was just written runs, natively" 0 "$(busy)"
same "row 45: what was just written runs" 0 "$(u bash -c busy)"

# Row 46
crash='ulimit -c unlimited 2>/dev/null; sh -c "kill -SEGV \$\$"; ls core* 2>/dev/null | wc -l'
mkdir -p cores && cd cores || exit 1
if ! is_root && [ "$(bash -c "$crash" 2>/dev/null)" != 0 ]; then
	rm -f core*
	same "row 46: no core file" 0 "$(u bash -c "$crash")"
else skip "row 46" "core files do not come here"; fi
if is_root || ! grep -q '^Max core file size  *[0-9a-z][0-9a-z]*  *0 ' <(sh -c 'cat /proc/self/limits'); then
	same "row 46: the limit at which no program is started for the core either" "1 1" \
		"$(u sed -n 's/^Max core file size *\([0-9a-z]*\) *\([0-9a-z]*\).*/\1 \2/p' /proc/self/limits)"
else skip "row 46: no program for the core" "the limit is 0 here"; fi

# Of a process outside, what SECURITY.md lists; pagemap alone has no end.
gives='for f in /proc/$1/*; do [ ! -f "$f" ] || ! head -c 64 "$f" >/dev/null 2>&1 || echo "${f##*/}"; done'
listed='cgroup|cmdline|comm|limits|mountinfo|mounts|oom_score|stat|statm|status'
mine=$(sh -c "$gives" - $$)
check "/proc of a process outside: the control: natively there is more" grep -qx maps <<<"$mine"
same "/proc of a process outside" "$(grep -xE "$listed" <<<"$mine")" "$(u sh -c "$gives" - $$)"
# To ask about the rest is decided on only where a rule names stat.
asks='stat -c %F "/proc/$1/status" "/proc/$1/maps" 2>/dev/null | wc -l'
printf 'deny stat /nonexistent/**\ndefault allow\n' >"$T/etc/stat.rules"
same "asking about it: as natively" "2 2" "$(sh -c "$asks" - $$) $(u sh -c "$asks" - $$)"
same "asking about it where a rule names stat: what is listed alone" 1 "$("$USHER" run -p "$T/etc/stat.rules" -- sh -c "$asks" - $$)"
finish
