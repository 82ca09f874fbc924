/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/records.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/journal.h"
#include "policy/policy.h"
#include "rules/ruleset.h"
#include "supervisor/environment.h"
#include "supervisor/floor.h"

static void hash_hex(const char *text, size_t len, char out[65])
{
	unsigned char hash[32];

	crypto_generichash(hash, sizeof(hash), (const unsigned char *)text, len, NULL, 0);
	sodium_bin2hex(out, 65, hash, sizeof(hash));
}

/* Each rule file has a record of its own: together they may not fit into one. */
static int write_file(struct session *s, char *buf, size_t cap, const struct ruleset_file *f)
{
	struct record r;
	char hex[65];
	uint64_t seq;

	hash_hex(f->text, f->len, hex);
	record_begin(&r, buf, cap, "note");
	record_text(&r, "event", "rules");
	record_text(&r, "file", f->path);
	record_text(&r, "hash", hex);
	record_bytes(&r, "text", (struct span){ f->text, (uint32_t)f->len });
	int rc = journal_append(s->journal, &r, &seq);
	if (rc != -EMSGSIZE)
		return rc;
	record_begin(&r, buf, cap, "note");
	record_text(&r, "event", "rules");
	record_text(&r, "file", f->path);
	record_text(&r, "hash", hex);
	record_text(&r, "text_omitted", "longer than a record");
	return journal_append(s->journal, &r, &seq);
}

static int write_rules(struct session *s, char *buf, size_t cap)
{
	const struct ruleset *layer;

	for (size_t i = 0; (layer = policy_layer(s->policy, i)); i++) {
		const struct ruleset_file *files;
		size_t n = ruleset_files(layer, &files);
		for (size_t k = 0; k < n; k++) {
			int rc = write_file(s, buf, cap, &files[k]);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

static void write_identity(struct record *r)
{
	struct utsname u;

	record_text(r, "usher", USHER_VERSION);
	if (uname(&u) == 0) {
		record_text(r, "kernel", u.release);
		record_text(r, "machine", u.machine);
	}
	record_int(r, "uid", getuid());
	record_int(r, "pid", getpid());
}

static void write_names(struct record *r, const char *key, char *const *list)
{
	record_list(r, key);
	for (; *list; list++)
		record_item(r, (struct span){ *list, (uint32_t)strcspn(*list, "=") });
	record_close(r);
}

static void write_command(struct record *r, const struct run_options *o, const struct environment *e)
{
	char cwd[4096];

	record_list(r, "command");
	for (char *const *a = o->argv; *a; a++)
		record_item(r, (struct span){ *a, (uint32_t)strlen(*a) });
	record_close(r);
	if (getcwd(cwd, sizeof(cwd)))
		record_text(r, "cwd", cwd);
	write_names(r, "environment", e->list);
	if (*e->dropped)
		write_names(r, "environment_dropped", e->dropped);
}

int records_start(struct session *s, const struct run_options *o, const struct environment *e, const char *isolation)
{
	char *buf = malloc(RECORD_MAX);
	char floor[512];
	struct record r;
	uint64_t seq;

	if (!buf)
		return -ENOMEM;
	record_begin(&r, buf, RECORD_MAX, "start");
	write_identity(&r);
	write_command(&r, o, e);
	if (o->no_floor)
		record_text(&r, "floor", "off");
	else if (floor_describe(floor, sizeof(floor)) > 0)
		record_text(&r, "floor", floor);
	if (isolation)
		record_text(&r, "isolate", isolation);
	record_text(&r, "sync", o->sync ? o->sync : "none");
	record_text(&r, "not_seen",
		    "reads and writes through descriptors after their open was decided; what the filter refuses or allows by number alone");
	int rc = journal_append(s->journal, &r, &seq);
	if (rc == 0)
		rc = write_rules(s, buf, RECORD_MAX);
	if (rc < 0)
		fprintf(stderr, "usher: write the first records to %s: %s\n", journal_dir(s->journal), strerror(-rc));
	free(buf);
	return rc;
}

void records_end(struct session *s, const struct supervise_result *result)
{
	char buf[2048];
	struct record r;

	record_begin(&r, buf, sizeof(buf), "end");
	if (result->exec_error)
		record_result(&r, -result->exec_error);
	else if (result->exited && WIFSIGNALED(result->wait_status))
		record_int(&r, "signal", WTERMSIG(result->wait_status));
	else if (result->exited)
		record_int(&r, "status", WEXITSTATUS(result->wait_status));
	else
		record_text(&r, "lost", "the guardian ended before the command");
	record_int(&r, "refused", atomic_load(&s->refused));
	journal_close(s->journal, &r);
	s->journal = NULL;
}
