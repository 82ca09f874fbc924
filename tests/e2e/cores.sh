#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# quick: root
# usher and the start of its command stay on one core for a moment, and a program is released on one: none may see that, or lose a processor.
. "$(dirname "$0")/lib.sh"
need gcc taskset
[ "$(nproc)" -gt 1 ] || skip_all "one processor"
fresh
cd "$T/project" || exit 1
cat >mask.c <<'END'
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static cpu_set_t seen;
/* Before main: the first thing that a program can ask. */
__attribute__((constructor)) static void look(void) { sched_getaffinity(0, sizeof(seen), &seen); }
int main(int c, char **v)
{
	const char *by = c > 2 ? v[2] : "0";
	int left = c > 1 ? atoi(v[1]) : 0, st;
	cpu_set_t now;
	char n[16];
	sched_getaffinity(0, sizeof(now), &now);
	if (!CPU_EQUAL(&seen, &now) || (atoi(by) && CPU_COUNT(&now) != atoi(by)))
		return 3;
	if (left <= 0)
		return printf("%d\n", CPU_COUNT(&now)) < 0;
	snprintf(n, sizeof(n), "%d", left - 1);
	if (left % 2) { /* a program in between */
		pid_t child = fork();
		if (child == 0)
			execl(v[0], v[0], "0", by, NULL);
		if (child < 0 || waitpid(child, &st, 0) < 0 || st)
			return 4;
	}
	execl(v[0], v[0], n, by, NULL);
	return 5;
}
END
gcc -O1 -o mask mask.c || exit 1
# Programs whose own code runs before any call that usher answers: without libraries, of another C library, static.
cat >raw.c <<'END'
static long call(long nr, long a, long b, long c)
{
	long r;
	__asm__ volatile("syscall" : "=a"(r) : "a"(nr), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return r;
}
void _start(void)
{
	unsigned long set[16] = { 0 };
	int n = 0;
	call(204, 0, sizeof(set), (long)set);
	for (int i = 0; i < 1024; i++)
		n += (int)(set[i / 64] >> i % 64 & 1);
	call(231, n, 0, 0);
}
END
# Starts V[2] V[1] times; each tells in its status how many processors it found. With V[3] it is restricted to that one by who started it.
cat >starts.c <<'END'
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(int c, char **v)
{
	int seen[256] = { 0 }, st;
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(c > 3 ? atoi(v[3]) : 0, &one);
	for (int i = 0; i < atoi(v[1]); i++) {
		char *arg[] = { v[2], NULL };
		pid_t pid;
		if (posix_spawn(&pid, v[2], NULL, NULL, arg, environ) || (c > 3 && sched_setaffinity(pid, sizeof(one), &one)) || waitpid(pid, &st, 0) < 0)
			return 1;
		seen[WIFEXITED(st) ? WEXITSTATUS(st) : 255]++;
	}
	for (int i = 0; i < 256; i++)
		if (seen[i])
			printf("%d: %d\n", i, seen[i]);
	return 0;
}
END
cat >later.c <<'END'
#define _GNU_SOURCE
#include <sched.h>
#include <unistd.h>
int main(void)
{
	cpu_set_t now;
	usleep(3000);
	sched_getaffinity(0, sizeof(now), &now);
	return CPU_COUNT(&now);
}
END
cat >told.c <<'END'
#define _GNU_SOURCE
#include <sched.h>
#include <unistd.h>
static int now(void)
{
	cpu_set_t set;
	sched_getaffinity(0, sizeof(set), &set);
	return CPU_COUNT(&set);
}
/* Waits until it is restricted, and whether it stays so. */
int main(void)
{
	for (int i = 0; i < 2000 && now() > 1; i++)
		usleep(1000);
	usleep(5000);
	return now();
}
END
# Asks again and again what its child may run on, over that one's exec: how often it was told too little, and what the child is left with when
# it gives that back to it.
cat >watch.c <<'END'
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int c, char **v)
{
	int cores = atoi(v[1]), less = 0, left = 0, st;
	for (int i = 0; i < 100; i++) {
		cpu_set_t set;
		pid_t pid = fork();
		if (pid == 0) {
			usleep(1000);
			execl("./later", "./later", NULL);
			_exit(99);
		}
		for (int k = 0; k < 100000 && waitpid(pid, &st, WNOHANG) == 0; k++) {
			if (sched_getaffinity(pid, sizeof(set), &set) || CPU_COUNT(&set) == cores)
				continue;
			less++;
			sched_setaffinity(pid, sizeof(set), &set);
		}
		left += WEXITSTATUS(st) != cores;
	}
	return printf("%d %d\n", less, left) < 0;
}
END
gcc -O1 -o watch watch.c && gcc -O1 -o told told.c && gcc -O1 -o starts starts.c && gcc -O1 -o later later.c && gcc -O1 -static -o static later.c || exit 1
gcc -O1 -nostdlib -nostartfiles -fno-stack-protector -static-pie -o raw-static raw.c 2>/dev/null
gcc -O1 -nostdlib -nostartfiles -fno-stack-protector -fpie -pie -Wl,--dynamic-linker=/lib64/ld-linux-x86-64.so.2 -o raw raw.c 2>/dev/null
# What its headers say of its libraries is not where they are mapped.
[ ! -x raw ] || ! command -v python3 >/dev/null || python3 - <<'END'
import os, struct
b = bytearray(open("raw", "rb").read())
headers, = struct.unpack_from("<Q", b, 32)
count, = struct.unpack_from("<H", b, 56)
b += bytes(-len(b) % 8)
for at in range(headers, headers + 56 * count, 56):
    if struct.unpack_from("<I", b, at)[0] == 2:
        struct.pack_into("<Q", b, at + 8, len(b))
        struct.pack_into("<Q", b, at + 32, 32)
b += struct.pack("<QQQQ", 1, 1, 0, 0)
open("forged", "wb").write(b)
os.chmod("forged", 0o755)
END
! command -v musl-gcc >/dev/null || musl-gcc -O1 -o musl later.c
allowed() { "$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal "$T/j.$RANDOM$RANDOM" -- "$@"; }
pipes='for i in 1 2 3 4 5 6 7 8; do nproc | cat | tail -n 1; done'

cores=$(nproc)
list=$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)
last=${list##*[,-]}
same "the command's processors" "$list" "$(allowed awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)"
same "each of 400 programs finds them all, at once and later" "$(./mask 400 "$cores" | sort | uniq -c)" "$(allowed ./mask 400 "$cores" | sort | uniq -c)"
same "one processor stays one" "$(taskset -c "$last" ./mask 60 1 | sort | uniq -c)" \
	"$(taskset -c "$last" "$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal "$T/j.one" -- ./mask 60 1 | sort | uniq -c)"
same "a program that restricts itself stays so" "$(taskset -c "$last" ./mask 60 1 | sort | uniq -c)" "$(allowed taskset -c "$last" ./mask 60 1 | sort | uniq -c)"
same "and may go back" "$cores" "$(allowed taskset -c "$last" taskset -c "$list" ./mask 0 "$cores")"
same "pipelines" "$(sh -c "$pipes" | sort | uniq -c)" "$(allowed sh -c "$pipes" | sort | uniq -c)"
cat >"$T/etc/asks.rules" <<'END'
default allow
ask read **/asked
END
touch asked
whole="awk '/^Cpus_allowed_list/ { print \$2 }' /proc/self/status"
"$USHER" run -p "$T/etc/asks.rules" --ask="exec:$whole >>$T/helpers; echo '{\"answer\":\"allow\"}'" --anchor="exec:$whole >>$T/anchors" --journal "$T/j.ask" -- \
	sh -c 'cat asked; sleep 0.1; cat asked'
same "helpers that answer, and anchors, have them all" "$list" "$(sort -u "$T/helpers" "$T/anchors")"
busy() { for _ in $(seq "$cores"); do while :; do :; done & done; }
quiet() { for p in $(jobs -p); do kill "$p"; done; wait 2>/dev/null; }
times=100
[ -z "${QUICK:-}" ] || times=25
for how in alone beside; do
	[ $how = alone ] || busy
	for program in later static raw raw-static forged musl; do
		[ -x ./$program ] || continue
		same "$program, $how: each finds them all" "$(./starts $times ./$program)" "$(allowed ./starts $times ./$program)"
	done
	same "$how: what others set just then stays" "$(./starts $times ./told "$last")" "$(allowed ./starts $times ./told "$last")"
	same "$how: who asks about another" "0 0" "$(allowed ./watch "$cores")"
	[ $how = alone ] || quiet 2>/dev/null
done
finish
