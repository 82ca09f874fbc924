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
	check "the journal says what it was" grep -q '"object":"memfd:[^"]*payload.*"verdict":"deny"' "$T"/j/journal-*.jsonl
else skip "programs" "no gcc"; fi

# Row 44
S=$T/setuid
if chmod 755 "$T" && is_root && cp /usr/bin/id "$S" && chown 65534 "$S" && chmod 4755 "$S" && [ "$("$S" -u)" = 65534 ]; then
	same "row 44: a set-user-ID program runs without its privilege" "$(id -u)" "$(u "$S" -u)"
	check "row 44: and the journal says so" grep -q '"setuid":"without effect"' "$T"/j/journal-*.jsonl
else skip "row 44" "no set-user-ID program can be made here"; fi

# Row 45
busy() {
	local i bad=0
	for ((i = 0; i < 400; i++)); do
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
finish
