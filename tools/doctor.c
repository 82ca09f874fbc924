/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usher doctor: what this kernel can enforce. Everything that can be tried is tried on a child; only what cannot
 * (a race of old kernels) is concluded from the version.
 */
#include <errno.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "supervisor/disposition.h"
#include "tools/doctor_checks.h"
#include "tools/tool.h"

static const char *mark(enum health h)
{
	switch (h) {
	case HEALTH_GOOD:
		return "ok";
	case HEALTH_WEAKER:
		return "weaker";
	case HEALTH_MISSING:
		break;
	}
	return "missing";
}

static void print_text(const struct finding *f, size_t n, bool can_run)
{
	struct utsname u;

	if (uname(&u) == 0)
		printf("Linux %s on %s, uid %u\n\n", u.release, u.machine, (unsigned)geteuid());
	for (size_t i = 0; i < n; i++) {
		printf("%-8s %-28s %s\n", mark(f[i].health), f[i].name, f[i].detail);
		if (f[i].health != HEALTH_GOOD)
			printf("%-8s %-28s %s\n", "", "", f[i].meaning);
	}
	puts(can_run ? "\nusher run works here." : "\nusher run does not work here: see what is missing.");
}

static int print_json(const struct finding *f, size_t n, bool can_run)
{
	struct json_object *top = json_object_new_object(), *list = json_object_new_array();
	struct utsname u;

	if (uname(&u) == 0)
		json_object_object_add(top, "kernel", json_object_new_string(u.release));
	json_object_object_add(top, "uid", json_object_new_int((int)geteuid()));
	json_object_object_add(top, "can_run", json_object_new_boolean(can_run));
	for (size_t i = 0; i < n; i++) {
		struct json_object *o = json_object_new_object();
		json_object_object_add(o, "name", json_object_new_string(f[i].name));
		json_object_object_add(o, "state", json_object_new_string(mark(f[i].health)));
		json_object_object_add(o, "required", json_object_new_boolean(f[i].required));
		json_object_object_add(o, "detail", json_object_new_string(f[i].detail));
		if (f[i].health != HEALTH_GOOD)
			json_object_object_add(o, "meaning", json_object_new_string(f[i].meaning));
		json_object_array_add(list, o);
	}
	json_object_object_add(top, "checks", list);
	puts(json_object_to_json_string_ext(top, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(top);
	return ferror(stdout) ? 1 : 0;
}

static int usage(void)
{
	fputs("usage: usher doctor [--json | --calls]\n"
	      "\n"
	      "Tries what this kernel can enforce; status 0: usher run works here, 1: it does not.\n"
	      "\n"
	      "  --json   the same for a program\n"
	      "  --calls  every system call, and what becomes of it\n",
	      stdout);
	return 0;
}

static int doctor_main(int argc, char **argv)
{
	struct finding findings[DOCTOR_MAX];
	bool json = argc == 2 && strcmp(argv[1], "--json") == 0;

	if (tool_help(argc, argv))
		return usage();
	if (argc == 2 && strcmp(argv[1], "--calls") == 0) {
		disposition_print(stdout);
		return 0;
	}
	if (argc > 2 || (argc == 2 && !json)) {
		tool_unexpected("doctor", argv[argc - 1]);
		return 2;
	}
	(void)signal(SIGCHLD, SIG_DFL); /* what is tried is tried in children */
	size_t n = doctor_examine(findings);
	bool can_run = true;
	for (size_t i = 0; i < n; i++)
		can_run = can_run && !(findings[i].required && findings[i].health == HEALTH_MISSING);
	if (json)
		print_json(findings, n, can_run);
	else
		print_text(findings, n, can_run);
	return can_run ? 0 : 1;
}

const struct tool tool_doctor = {
	.name = "doctor",
	.usage = "[--json | --calls]",
	.summary = "what this kernel can enforce",
	.main = doctor_main,
};
