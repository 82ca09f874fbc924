#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The stack of whoever is refused or asked about, with the functions' names, and what its interpreter runs.
. "$(dirname "$0")/lib.sh"
need gcc python3
fresh
P=$T/project
cat >"$P/deep.c" <<'END'
#include <alloca.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static int bad;
static volatile int ticks;
static void tick(int sig) { (void)sig; ticks++; }
static __attribute__((noipa)) void innermost_one(const char *name)
{
	if (unlink(name) == 0 || errno != EACCES)
		bad++;
}
static __attribute__((noipa)) void middle_one(const char *name, int n)
{
	volatile char *room = alloca((unsigned)n + 16);
	room[0] = (char)n;
	innermost_one(name);
	if (room[0] != (char)n)
		bad++;
}
static void *thread(void *name)
{
	for (int i = 0; i < 200; i++)
		middle_one(name, i);
	return NULL;
}
int main(int c, char **v)
{
	struct itimerval every = { { 0, 700 }, { 0, 700 } };
	pthread_t t[4];
	int status = 0;

	if (c > 2) { /* signals and threads */
		signal(SIGALRM, tick);
		setitimer(ITIMER_REAL, &every, NULL);
		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, thread, v[1]);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
		if (vfork() == 0) {
			innermost_one(v[1]);
			_exit(bad != 0);
		}
		wait(&status);
	}
	middle_one(v[1], 40);
	printf("%d %s\n", bad + status, c > 2 && !ticks ? "no signals" : "done");
	return 0;
}
END
cd "$P" || exit 1
echo x >secret
printf 'deny delete,read %s/secret\nallow read %s/marked stack\nask read %s/asked timeout=20s\ndefault allow\n' "$P" "$P" "$P" >"$T/etc/stack.rules"
chmod 600 "$T/etc/stack.rules"
run() {
	rm -rf "$T/j"
	timeout 120 "$USHER" run -p "$T/etc/stack.rules" --ask="${ASK:-deny}" --journal "$T/j" -- "$@" 2>"$T/err"
}
last() { cat "$T"/j/journal-*.jsonl | grep -a "$1" | tail -n 1; } # the last record that holds this
whole() { # as run; again where a look on a busy machine has used up what time a stack has
	local out
	for _ in 1 2 3 4 5; do
		out=$(run "$@")
		grep -q '"unwind":"complete"' <<<"$(last '"stack":\[')" && break
	done
	echo "$out"
}
functions() { last '"stack":\[' | grep -ao '"function":"[^"]*"' | cut -d'"' -f4 | xargs; }

for o in -O0 -O2; do
	gcc $o -g -pthread -o deep deep.c || exit 1
	same "$o: it goes on with its refusal" "0 done" "$(whole ./deep "$P/secret")"
	check "$o: every function is named" grep -q '\(__GI_\)\?\(__\)\?unlink.* innermost_one middle_one main .*_start' <<<"$(functions)"
	check "$o: to the outermost frame" grep -q '"unwind":"complete"' <<<"$(last '"stack":\[')"
done
same "signals, threads and vfork" "0 done" "$(run ./deep "$P/secret" all)"
same "each call is recorded once" 802 "$(cat "$T"/j/journal-*.jsonl | grep -ac '"call":"unlink\(at\)\?".*"verdict":"deny"')"
strip -o stripped deep && whole ./stripped "$P/secret" >/dev/null
check "a stripped program: object and offset" grep -q '"object":"'"$P"'/stripped","build_id":"[0-9a-f]*","offset":[0-9]*}' <<<"$(last '"stack":\[')"
gcc -O2 -static -pthread -o static deep.c 2>/dev/null && {
	same "a static program" "0 done" "$(whole ./static "$P/secret")"
	check "its function is named, and no more is claimed where it has no tables" grep -q 'unlink' <<<"$(functions)"
	check "it is called partial then" grep -q '"unwind":"\(partial\|complete\)"' <<<"$(last '"stack":\[')"
}

# What an interpreter runs
cat >script.py <<'END'
import os, sys
def refused():
    try: open("secret")
    except PermissionError: pass
if os.fork() == 0:
    refused(); os._exit(0)
os.wait()
os.execv("/bin/sh", ["sh", "-c", "cat secret 2>/dev/null; true", "x"])
END
run python3 -B script.py one "two words"
check "python: the script and its arguments" grep -q '"script":{"language":"python","name":"'"$P"'/script.py","argv":"one two\\\\ words"}' <<<"$(last '"exe":"[^"]*python.*secret.*"verdict":"deny"')"
if [ -x /usr/bin/python3.11 ]; then
	printf 'class K:\n    def method(self):\n        return (lambda: open("secret"))()\ndef outer():\n    try: K().method()\n    except OSError: pass\nouter()\n' >frames.py
	frames='"python":\[{"file":"[^"]*frames.py","line":3,"function":"K.method.<locals>.<lambda>"},{"file":"[^"]*frames.py","line":3,"function":"K.method"},{"file":"[^"]*frames.py","line":5,"function":"outer"},{"file":"[^"]*frames.py","line":7,"function":"<module>"}\]'
	run /usr/bin/python3.11 -B frames.py
	check "python's own frames" grep -q "$frames" <<<"$(last '"verdict":"deny"')"
	run python3 -B script.py one "two words"
else skip "python's own frames" "no python3.11"; fi
same "a forked child runs the same" 1 "$(cat "$T"/j/journal-*.jsonl | grep -a '"verdict":"deny"' | grep -ac '"language":"python"')"
printf '#!/bin/bash\nread -r x <secret\n' >script.sh
chmod 755 script.sh
run sh -c './script.sh a b' 2>/dev/null
check "a script by its name" grep -q '"script":{"language":"shell","name":"'"$P"'/script.sh","argv":"a b"}' <<<"$(last '"verdict":"deny"')"
run bash -c 'read -r x <secret' name arg
check "text for a shell" grep -q '"script":{"language":"shell","name":"-c","argv":"name arg"}' <<<"$(last '"verdict":"deny"')"
run python3 -B -m tokenize secret
check "a module of python" grep -q '"script":{"language":"python","name":"-m tokenize","argv":"secret"}' <<<"$(last '"verdict":"deny"')"
if command -v node >/dev/null; then
	echo 'try { require("fs").readFileSync("secret") } catch (e) {}' >script.js
	run node --no-warnings script.js x
	check "node: the script" grep -q '"script":{"language":"node","name":"'"$P"'/script.js","argv":"x"}' <<<"$(last '"verdict":"deny"')"
else skip "node" "not installed"; fi

echo y >marked; echo z >asked
run cat marked >/dev/null
check "where a rule says stack" grep -q '"function":"main\|"offset"' <<<"$(last 'marked.*"verdict":"allow".*"stack":\[')"
cat >"$T/etc/answer" <<'END'
#!/bin/sh
cat >"$T/question"
echo '{"answer":"allow"}'
END
chmod 755 "$T/etc/answer"; export T
ASK=exec:$T/etc/answer run cat asked >"$T/out"
same "an answered question goes on" z "$(cat "$T/out")"
check "the question's record has the stack" grep -q '"stack":\[' <<<"$(last '"event":"question"')"

# libunwind is loaded with the first stack, and only from where the user or the system says: never from where the program stands.
mkdir -p "$P/libs"
loaded=$(mktemp -u "/tmp/loaded-by-usher.XXXXXX") && at_exit "rm -f $loaded"
cat >"$P/fake.c" <<END
#include <fcntl.h>
__attribute__((constructor)) static void loaded(void) { (void)open("$loaded", O_CREAT | O_WRONLY, 0600); }
END
for lib in libunwind-$(uname -m).so.8 libunwind.so.8 liblzma.so.5; do gcc -shared -fPIC -o "$P/libs/$lib" "$P/fake.c"; done
LD_PRELOAD=$P/libs/liblzma.so.5 /bin/true
check "control: the library does what it says when it is loaded" test -e "$loaded"
rm -f "$loaded"
run sh -c 'cd libs && ./../deep ../secret; cat ../secret' >/dev/null 2>&1
check "stacks from a directory with a libunwind of its own" grep -q '"unwind":"complete"' <<<"$(last '"verdict":"deny"')"
check "that library is not loaded" test ! -e "$loaded"
mkdir "$T/etc/broken"; : >"$T/etc/broken/libunwind-$(uname -m).so.8"
LD_LIBRARY_PATH=$T/etc/broken run cat secret >/dev/null 2>"$T/err"
check "a libunwind that cannot be loaded is said" grep -q 'no stacks in the journal: .*libunwind' "$T/err"
check "and what is refused is recorded without" grep -q '"unwind":"none"' <<<"$(last '"verdict":"deny"')"
# One that the user chose is part of usher, who runs outside: what writes into it would run there.
chosen=$(readlink -f "$(gcc -print-file-name="libunwind-$(uname -m).so.8")")
mkdir "$P/own" && cp "$chosen" "$P/own/libunwind-$(uname -m).so.8" && cp "$P/own"/* "$T/etc/"
change() { (cd "$P" && LD_LIBRARY_PATH=$P/own "$@" sh -c 'for f in own/lib*; do echo >>"$f"; cp /bin/true new; mv -f new "$f"; done; cat secret') >/dev/null 2>&1; cmp -s "$P/own"/* "$T/etc"/libunwind-* && echo kept; }
same "a chosen libunwind is not changed below usher" kept "$(change run)"
check "which has loaded it" grep -q '"unwind":"complete"' <<<"$(last '"verdict":"deny"')"
same "control: natively it is" "" "$(change env)"
# Nor is one loaded that an ordinary user may write, where the system's list of libraries leads to it.
if is_root && unshare -m true 2>/dev/null && command -v setpriv ldconfig >/dev/null; then
	O=$(mktemp -d /tmp/ordinary.XXXXXX) && mkdir "$O/lib" "$O/home" && cp "$USHER" "$O/usher" && echo secret >"$O/secret"
	printf 'default allow\ndeny read %s/secret\n' "$O" >"$O/o.rules"
	cat >"$O/there.c" <<END
#include <fcntl.h>
__attribute__((constructor)) static void loaded(void) { (void)open("$O/home/loaded", O_CREAT | O_WRONLY, 0600); }
END
	gcc -shared -fPIC -Wl,-soname,"libunwind-$(uname -m).so.8" -o "$O/planted" "$O/there.c"
	printf '%s\n' "$O/lib" "$(readlink -f "${chosen%/*}")" >"$O/conf"
	chmod 755 "$O" "$O"/{lib,usher,planted}; chmod 644 "$O"/{o.rules,secret}; chown 1000:1000 "$O/lib" "$O/home"
	listed() { # COMMAND: with that list, as that user
		cp "$chosen" "$O/lib/libunwind-$(uname -m).so.8"; chown 1000:1000 "$O"/lib/*; rm -rf "$O"/home/*
		unshare -m bash -c 'ldconfig -X -f "$1/conf" -C "$1/cache" && mount --bind "$1/cache" /etc/ld.so.cache && shift && exec "$@"' sh "$O" \
			setpriv --reuid 1000 --regid 1000 --clear-groups env HOME="$O/home" USER=u XDG_STATE_HOME= XDG_RUNTIME_DIR= "$@" >/dev/null 2>"$T/err"
	}
	listed sh -c "cat $O/planted >$O/lib/libunwind-$(uname -m).so.8; python3 -c 'import ctypes; ctypes.CDLL(\"libunwind-$(uname -m).so.8\")'"
	check "control: natively he exchanges a library of the list" test -e "$O/home/loaded"
	listed "$O/usher" run -p "$O/o.rules" --ask=deny --journal "$O/home/j" -- sh -c "cat $O/planted >$O/lib/libunwind-$(uname -m).so.8; cat $O/secret; true"
	same "control: so he does below usher" 0 $?; check "which is what was planted" cmp -s "$O/planted" "$O/lib/libunwind-$(uname -m).so.8"
	check "usher does not load it" test ! -e "$O/home/loaded"
	has "and says so" "no stacks in the journal: libunwind-$(uname -m).so.8, or a library that it takes, is where the command could change it" "$T/err"
	rm -rf "$O"
fi
# usher is linked statically and loads libunwind with the system's C library, which has to be of its own version.
if is_root && unshare -m true 2>/dev/null; then
	loader=$(LC_ALL=C sed -n 's/.*interpreter: \(.*\)\]/\1/p' <<<"$(readelf -lW /bin/true)")
	LC_ALL=C sed 's/ version 2\.[0-9][0-9]\./ version 9.99./' "$loader" >"$T/etc/loader"
	chmod 755 "$T/etc/loader"
	check "control: a loader of another version" test "$(cmp -l "$loader" "$T/etc/loader" | wc -l)" = 3
	unshare -m sh -c 'mount --bind "$1" "$2"; shift 2; exec "$@"' sh "$T/etc/loader" "$(readlink -f "$loader")" \
		"$USHER" run -p "$T/etc/stack.rules" --ask=deny --journal "$T/other" -- cat secret >/dev/null 2>"$T/err"
	check "a C library of another version is said" grep -q 'no stacks in the journal: this usher was built for' "$T/err"
	check "and what is refused is recorded without a stack" grep -q '"unwind":"none"' "$T"/other/journal-*.jsonl
	# As in an image of static programs, or of musl's.
	if ! readelf -l "$USHER" 2>/dev/null | grep -q INTERP; then
		mkdir -p "$T/bare/proc" && cp "$USHER" "$T/bare/usher" && echo secret >"$T/bare/secret"
		(umask 077; printf 'default allow\ndeny read /secret\n' >"$T/bare/rules")
		unshare -m sh -c 'mount -t proc proc "$1/proc"; exec chroot "$1" /usher run -p /rules --ask=deny --journal /j -- /usher check /secret' sh "$T/bare" >"$T/out" 2>"$T/err"
		check "control: it is refused" grep -q '"verdict":"deny"' "$T"/bare/j/journal-*.jsonl
		check "no C library at all is said to be that" grep -q 'no stacks in the journal: .*this system has none' "$T/err"
	fi
fi
finish
