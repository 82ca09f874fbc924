/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/records.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/journal.h"
#include "audit/redact.h"
#include "policy/policy.h"
#include "rules/ruleset.h"
#include "supervisor/floor.h"
#include "supervisor/voice.h"

static void hash_hex(const char *text, size_t len, char out[65])
{
	unsigned char hash[32];

	crypto_generichash(hash, sizeof(hash), (const unsigned char *)text, len, NULL, 0);
	sodium_bin2hex(out, 65, hash, sizeof(hash));
}

/* However its bytes are escaped, so much of a file fits into a record. */
#define PIECE ((size_t)8192)

/* A file, whole or in PARTS of which PART is the next, the first being 0. */
struct piece {
	const struct ruleset_file *file;
	size_t part, parts;
	char hash[65]; /* of the whole: taken once, a long file has many parts */
};

static int write_piece(struct session *s, char *buf, size_t cap, const struct piece *p)
{
	const struct ruleset_file *f = p->file;
	struct record r;
	size_t from = p->part * PIECE, left = f->len - from;

	record_begin(&r, buf, cap, "note");
	record_text(&r, "event", "rules");
	record_text(&r, "file", f->path);
	record_text(&r, "hash", p->hash);
	if (p->parts > 1) {
		record_int(&r, "part", (int64_t)p->part + 1);
		record_int(&r, "parts", (int64_t)p->parts);
	}
	record_bytes(&r, "text", (struct span){ f->text + from, (uint32_t)(p->parts > 1 && left > PIECE ? PIECE : left) });
	return journal_append(s->journal, &r, NULL);
}

/* Each rule file has a record of its own, and a long one several: together they may not fit into one. */
static int write_file(struct session *s, char *buf, size_t cap, const struct ruleset_file *f)
{
	struct piece p = { .file = f, .parts = 1 };

	hash_hex(f->text, f->len, p.hash);
	int rc = f->len < cap ? write_piece(s, buf, cap, &p) : -EMSGSIZE;
	if (rc != -EMSGSIZE)
		return rc;
	rc = 0;
	p.parts = (f->len + PIECE - 1) / PIECE;
	for (; rc == 0 && p.part < p.parts; p.part++)
		rc = write_piece(s, buf, cap, &p);
	return rc;
}

static int write_files(struct session *s, char *buf, size_t cap, const struct ruleset *rules)
{
	const struct ruleset_file *files;
	size_t n = ruleset_files(rules, &files);

	for (size_t k = 0; k < n; k++) {
		int rc = write_file(s, buf, cap, &files[k]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The layers, and the standing grants: what answers an ask is part of what was decided by. */
static int write_rules(struct session *s, char *buf, size_t cap)
{
	const struct ruleset *layer;
	int rc = 0;

	for (size_t i = 0; rc == 0 && (layer = policy_layer(s->policy, i)); i++)
		rc = write_files(s, buf, cap, layer);
	if (rc == 0 && policy_standing(s->policy))
		rc = write_files(s, buf, cap, policy_standing(s->policy));
	return rc;
}

/* The linker's hash of this program: a note in the image. The first object is the program itself. */
static int find_build(struct dl_phdr_info *info, size_t size, void *out)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const char *at = (const char *)(info->dlpi_addr + ph->p_vaddr), *end = at + ph->p_memsz;
		while (ph->p_type == PT_NOTE && end - at > (ptrdiff_t)sizeof(ElfW(Nhdr))) {
			ElfW(Nhdr) note;
			memcpy(&note, at, sizeof(note));
			const char *name = at + sizeof(note), *body = name + ((note.n_namesz + 3) & ~3U);
			if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(name, "GNU", 4) == 0 &&
			    note.n_descsz <= 32)
				sodium_bin2hex(out, 65, (const unsigned char *)body, note.n_descsz);
			at = body + ((note.n_descsz + 3) & ~3U);
		}
	}
	return 1;
}

static void write_identity(struct record *r)
{
	struct utsname u;

	char build[65] = "";

	record_text(r, "usher", USHER_VERSION);
	dl_iterate_phdr(find_build, build);
	if (build[0])
		record_text(r, "build", build);
	if (uname(&u) == 0) {
		record_text(r, "kernel", u.release);
		record_text(r, "machine", u.machine);
	}
	record_int(r, "uid", getuid());
	record_int(r, "pid", getpid());
}

/* What is in force between the command and the system, by the words of the options. */
static void write_mechanisms(struct record *r, const struct session *s, const struct run_options *o)
{
	static const char *const spaces[] = { "user", "mnt", "pid", "net" };
	char floor[512], name[32], value[64];

	record_text(r, "filter", "seccomp user notification");
	if (o->no_floor)
		record_text(r, "floor", "off");
	else if (floor_describe(floor, sizeof(floor)) > 0)
		record_text(r, "floor", floor);
	else
		record_text(r, "floor", "none: this kernel has no Landlock");
	record_list(r, "namespaces");
	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		snprintf(name, sizeof(name), "/proc/self/ns/%s", spaces[i]);
		ssize_t n = readlink(name, value, sizeof(value));
		if (n > 0)
			record_item(r, (struct span){ value, (uint32_t)n });
	}
	record_close(r);
	record_text(r, "ask", s->channel ? s->channel : o->ask ? o->ask : "default");
	record_text(r, "sync", o->sync ? o->sync : "none");
	r->redactor = s->redactor;
	if (o->anchor)
		record_bytes(r, "anchor", (struct span){ o->anchor, (uint32_t)strlen(o->anchor) });
	r->redactor = NULL;
	record_bool(r, "privileged", s->privileged);
}

static int make_redactor(struct session *s)
{
	char salts[PATH_MAX + 8];
	const struct ruleset *layer;
	const char *lead;

	journal_salts(salts, sizeof(salts), journal_dir(s->journal));
	int rc = redactor_new(salts, &s->redactor);
	if (rc == 0 && s->cover)
		rc = redactor_open(s->redactor);
	for (size_t i = 0; rc == 0 && (layer = policy_layer(s->policy, i)); i++) {
		for (size_t k = 0; rc == 0 && (lead = ruleset_redact(layer, k)); k++)
			rc = redactor_add(s->redactor, lead);
	}
	return rc;
}

int records_start(struct session *s, const struct run_options *o, const struct environment *e, const char *isolation)
{
	char *buf = malloc(RECORD_MAX);
	struct record r;
	uint64_t seq;

	int made = buf ? make_redactor(s) : -ENOMEM;
	if (made < 0) {
		fprintf(stderr, "usher: prepare the first records of %s: %s\n", journal_dir(s->journal), strerror(-made));
		free(buf);
		return made;
	}
	record_begin(&r, buf, RECORD_MAX, "start");
	write_identity(&r);
	records_command(&r, s, o->argv, e);
	write_mechanisms(&r, s, o);
	if (isolation)
		record_text(&r, "isolate", isolation);
	if (s->cover)
		record_text(&r, "reads", "left to the kernel");
	record_text(&r, "not_seen",
		    "reads and writes through descriptors after their open was decided; what the filter refuses or allows by number alone");
	int rc = journal_append(s->journal, &r, &seq);
	if (rc == 0)
		rc = write_rules(s, buf, RECORD_MAX);
	if (rc == 0)
		journal_name_program(s->journal);
	if (rc < 0)
		fprintf(stderr, "usher: write the first records to %s: %s\n", journal_dir(s->journal), strerror(-rc));
	free(buf);
	return rc;
}

/* How many values were kept neither in the journal nor beside it: why, a positive errno, 0 where there are none. */
static int write_unkept(const struct session *s, struct record *r)
{
	int error;
	unsigned lost = redactor_lost(s->redactor, &error);

	if (lost)
		record_int(r, "unkept", lost);
	return error;
}

/* What needed a record was refused from then on, and has none: nothing else in the journal tells. */
static void write_failure(const struct session *s, struct record *r)
{
	int failed = journal_failed(s->journal);

	if (failed)
		record_text(r, "unwritten", errno_name(-failed));
}

int records_end(struct session *s, const struct supervise_result *result)
{
	char buf[2048];
	struct record r;

	record_begin(&r, buf, sizeof(buf), "end");
	if (result->exec_error)
		record_result(&r, -result->exec_error);
	else if (result->lost)
		record_text(&r, "lost", "somebody ended the guardian or the keeper");
	else if (WIFSIGNALED(result->wait_status))
		record_int(&r, "signal", WTERMSIG(result->wait_status));
	else
		record_int(&r, "status", WEXITSTATUS(result->wait_status));
	if (result->exited) {
		record_int(&r, "user_ms", result->user_ms);
		record_int(&r, "system_ms", result->system_ms);
		record_int(&r, "peak_kb", result->peak_kb);
	}
	record_int(&r, "refused", atomic_load(&s->refused));
	record_object(&r, "counts");
	for (enum verdict_kind k = VERDICT_DENY; k <= VERDICT_NONE; k++)
		record_int(&r, verdict_name(k), atomic_load(&s->verdicts[k]));
	record_close(&r);
	write_failure(s, &r);
	int unkept = write_unkept(s, &r);
	if (unkept)
		voice_say(s->voice, "usher: values that were left out of the journal could not be kept beside it, in %s.salts: %s; nobody can show them later\n",
			  journal_dir(s->journal), strerror(unkept));
	int rc = journal_end(s->journal, &r);
	s->journal = NULL;
	if (rc < 0 && !atomic_load(&s->journal_error))
		voice_say(s->voice, "usher: the journal could not be closed: %s\n", strerror(-rc));
	return rc;
}
