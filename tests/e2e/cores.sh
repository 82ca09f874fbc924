#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usher and the start of its command stay on one core for a moment: no program may see that, or lose a processor.
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
finish
