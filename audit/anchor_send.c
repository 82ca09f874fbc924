/* SPDX-License-Identifier: Apache-2.0 */
/* Signs checkpoints and sends them: see anchor.h. */
#include "audit/anchor.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "audit/epoch.h"
#include "audit/journal.h"
#include "audit/record.h"
#include "rules/cleanup.h"

#define NAME_LEN 96
#define KEY_ID 4
#define PATIENCE_MS 10000

struct anchors {
	char name[NAME_LEN + 1];
	char verifier[VERIFIER_KEY_MAX];
	char first_key[DIGEST_HEX + 1];
	uint8_t id[KEY_ID];
	uint8_t *secret; /* signs checkpoints for the length of the session; has no power over records */
	int file;        /* -1: a command */
	char *command;
	pid_t child;     /* the command as it runs, 0 none */
	int status;      /* where its exit status comes from: others may wait for every child of this process */
};

/* usher/HOST/SESSION: no blanks, no plus sign. */
static void make_name(struct anchors *a, const char *dir)
{
	char host[65] = "host";
	const char *leaf = strrchr(dir, '/');
	gethostname(host, sizeof host - 1);
	snprintf(a->name, sizeof a->name, "usher/%.30s/%.58s", host, leaf ? leaf + 1 : dir);
	for (char *p = a->name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("/.-_", *p))
			*p = '_';
}

/* The key's id and its text form, as signed notes have them: SHA-256(name "\n" 0x01 key), first four bytes. */
static void make_key(struct anchors *a)
{
	uint8_t key[1 + crypto_sign_PUBLICKEYBYTES] = { 1 }, hash[crypto_hash_sha256_BYTES];
	char encoded[64], id[2 * KEY_ID + 1] = "";
	crypto_hash_sha256_state state;
	crypto_sign_keypair(key + 1, a->secret);
	crypto_hash_sha256_init(&state);
	crypto_hash_sha256_update(&state, (const uint8_t *)a->name, strlen(a->name));
	crypto_hash_sha256_update(&state, (const uint8_t *)"\n", 1);
	crypto_hash_sha256_update(&state, key, sizeof key);
	crypto_hash_sha256_final(&state, hash);
	memcpy(a->id, hash, sizeof a->id);
	hex_write(id, a->id, sizeof a->id);
	sodium_bin2base64(encoded, sizeof encoded, key, sizeof key, sodium_base64_VARIANT_ORIGINAL);
	snprintf(a->verifier, sizeof a->verifier, "%s+%s+%s", a->name, id, encoded);
}

static size_t write_note(const struct anchors *a, const struct checkpoint *c, char out[CHECKPOINT_MAX])
{
	char root[64], head[DIGEST_HEX + 1] = "", signature[128];
	uint8_t blob[KEY_ID + crypto_sign_BYTES];
	sodium_bin2base64(root, sizeof root, c->root.bytes, DIGEST_BYTES, sodium_base64_VARIANT_ORIGINAL);
	hex_write(head, c->head.bytes, DIGEST_BYTES);
	int n = snprintf(out, CHECKPOINT_MAX, "%s\n%" PRIu64 "\n%s\nhead %" PRIu64 " %s\n" JOURNAL_FORMAT " ed25519 %s\n",
			 a->name, c->seals, root, c->seq, head, a->first_key);
	memcpy(blob, a->id, KEY_ID);
	crypto_sign_detached(blob + KEY_ID, NULL, (const uint8_t *)out, (size_t)n, a->secret);
	sodium_bin2base64(signature, sizeof signature, blob, sizeof blob, sodium_base64_VARIANT_ORIGINAL);
	n += snprintf(out + n, CHECKPOINT_MAX - (size_t)n, "\n\xe2\x80\x94 %s %s\n", a->name, signature);
	return (size_t)n;
}

static int append_to_file(const struct anchors *a, const char *text, size_t n)
{
	ssize_t done = write(a->file, text, n);
	if (done < 0)
		return -errno;
	if ((size_t)done != n)
		return -ENOSPC;
	return fdatasync(a->file) == 0 || errno == EINVAL ? 0 : -errno; /* a pipe cannot be flushed */
}

/* The text as a file to read from: the command may take its time, nobody waits in a pipe. */
static int as_input(const char *text, size_t n)
{
	CLEANUP_FD int fd = memfd_create("checkpoint", MFD_CLOEXEC);
	if (fd < 0 || write(fd, text, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET) != 0)
		return errno ? -errno : -EIO;
	return steal_fd(&fd);
}

static int spawn_shell(struct anchors *a, int input, int output)
{
	static const char script[] = "(eval \"$1\") 3>&-; echo $? >&3";
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, (char *)(uintptr_t)script, (char[]){ "sh" }, a->command, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, all;
	sigemptyset(&none);
	sigfillset(&all);
	int rc = posix_spawn_file_actions_init(&actions);
	if (rc != 0)
		return -rc;
	rc = posix_spawnattr_init(&attr);
	if (rc != 0) {
		posix_spawn_file_actions_destroy(&actions);
		return -rc;
	}
	rc = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(&actions, output, 3);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setpgroup(&attr, 0); /* not the terminal's to interrupt */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	if (rc == 0)
		rc = posix_spawn(&a->child, "/bin/sh", &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return -rc;
}

static int start_command(struct anchors *a, const char *text, size_t n)
{
	int ends[2];
	CLEANUP_FD int input = as_input(text, n);
	if (input < 0)
		return input;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	CLEANUP_FD int ours = ends[0], its = fcntl(ends[1], F_DUPFD_CLOEXEC, 4); /* dup2() to itself would leave it to be closed */
	close(ends[1]);
	if (its < 0 || fcntl(ours, F_SETFL, O_NONBLOCK) != 0)
		return -errno;
	int rc = spawn_shell(a, input, its);
	if (rc != 0)
		a->child = 0;
	else
		a->status = steal_fd(&ours);
	return rc;
}

/* The command has ended, its status is TEXT. */
static int ended(struct anchors *a, const char *text, ssize_t n)
{
	while (waitpid(a->child, NULL, 0) < 0 && errno == EINTR)
		;
	close(a->status);
	a->child = 0;
	a->status = -1;
	return n == 2 && text[0] == '0' && text[1] == '\n' ? 0 : -EIO;
}

/* How the running command ended: 0 well, -EIO not, 1 it still runs. */
static int reap(struct anchors *a, bool wait)
{
	char text[8];
	for (int ms = 0; a->child; ms += 10) {
		ssize_t n = read(a->status, text, sizeof text);
		if (n >= 0 || (errno != EAGAIN && errno != EINTR))
			return ended(a, text, n);
		if (!wait || ms >= PATIENCE_MS)
			return 1;
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	return 0;
}

static int send_text(struct anchors *a, const char *text, size_t n, bool wait)
{
	if (a->file >= 0)
		return append_to_file(a, text, n);
	int before = reap(a, wait);
	if (before > 0)
		return before;
	int rc = start_command(a, text, n);
	if (rc == 0 && wait)
		rc = reap(a, true);
	return rc != 0 ? rc : before;
}

int anchors_settle(struct anchors *a)
{
	return reap(a, true);
}

int anchors_send(struct anchors *a, const struct checkpoint *c, bool wait)
{
	char note[CHECKPOINT_MAX];
	size_t n = write_note(a, c, note);
	note[n] = '\n'; /* between two notes of a file */
	return send_text(a, note, n + (a->file >= 0), wait);
}

static int open_target(struct anchors *a, const char *where)
{
	if (!strncmp(where, ANCHOR_FILE, strlen(ANCHOR_FILE))) {
		/* A pipe that nobody reads, or reads no more, is an error; it may be another session's tree that left it there. */
		a->file = open(where + strlen(ANCHOR_FILE), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
		if (a->file < 0)
			return errno == ENXIO ? -EPIPE : -errno;
		return 0;
	}
	if (strncmp(where, "exec:", 5) != 0 || !where[5])
		return -EINVAL;
	a->command = strdup(where + 5);
	return a->command ? 0 : -ENOMEM;
}

static int send_first(struct anchors *a)
{
	char text[VERIFIER_KEY_MAX + 160];
	int n = snprintf(text, sizeof text, JOURNAL_FORMAT " ed25519 %s\ncheckpoints %s\n\n", a->first_key, a->verifier);
	int rc = send_text(a, text, (size_t)n, true);
	return rc > 0 ? -ETIMEDOUT : rc;
}

int anchors_new(const char *where, const char *dir, const uint8_t first_key[32], struct anchors **out)
{
	struct anchors *a = calloc(1, sizeof *a);
	if (!a)
		return -ENOMEM;
	a->file = a->status = -1;
	hex_write(a->first_key, first_key, 32);
	int rc = open_target(a, where);
	if (rc == 0)
		rc = key_page_new((void **)&a->secret);
	if (rc == 0) {
		make_name(a, dir);
		make_key(a);
		rc = send_first(a);
	}
	if (rc != 0) {
		anchors_free(a);
		return rc;
	}
	*out = a;
	return 0;
}

void anchors_free(struct anchors *a)
{
	if (!a)
		return;
	if (a->file >= 0)
		close(a->file);
	if (a->status >= 0)
		close(a->status);
	key_page_free(a->secret);
	free(a->command);
	free(a);
}

const char *anchors_verifier_key(const struct anchors *a)
{
	return a->verifier;
}
