/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kill -9 at random moments, under load. A child appends from several threads and reports each thing it has been
 * promised in a shared page, before and after an effect; the parent kills it, verifies the journal and compares.
 *
 * Under the thread sanitizer every store is slow, which shows what else is rare: a record that lacks its first byte only.
 * KILLS=N in the environment sets the number of rounds.
 */
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "audit/field.h"
#include "audit_util.h"

#define THREADS 4
#define RACE 256

/* Written by the child; what it says was true before it was killed. */
struct board {
	_Atomic int64_t appended[THREADS]; /* number of the last record that was promised */
	_Atomic int64_t effect[THREADS];   /* number of the last effect that took place, after its intent */
	_Atomic int ready;
};

struct work {
	struct journal *journal;
	struct board *board;
	int id;
};

static void *work(void *context)
{
	struct work *w = context;
	char buf[2048], text[RACE + 32], pad[RACE];
	memset(pad, 'p', sizeof pad);
	for (int64_t i = 1;; i++) {
		struct record r;
		uint32_t slot;
		uint64_t seq;
		snprintf(text, sizeof text, "%d/%ld %.*s", w->id, (long)i, (int)(i % (RACE - 1)), pad);
		note(&r, buf, sizeof buf, text);
		if (journal_intent(w->journal, &r, &slot) != 0)
			_exit(9);
		w->board->effect[w->id] = i;
		if (journal_append_final(w->journal, &r, slot, &seq) != 0)
			_exit(9);
		w->board->appended[w->id] = i;
	}
	return NULL;
}

static _Noreturn void child(const char *dir, struct board *board)
{
	pthread_t thread;
	struct work w[THREADS];
	struct journal *j = make_journal(dir);
	for (int i = 0; i < THREADS; i++) {
		w[i] = (struct work){ .journal = j, .board = board, .id = i };
		pthread_create(&thread, NULL, work, &w[i]);
	}
	board->ready = 1;
	for (;;)
		pause();
}

/* The highest number of each thread in the lines of R; in the chain they must come without a gap. */
static void collect(struct reader *r, int64_t last[THREADS], bool chain)
{
	struct line l;
	while (reader_next(r, &l) == 1) {
		struct field f;
		int id;
		long i;
		if (!l.ended || !field_find(l.bytes, l.len, "text", &f))
			continue;
		assert_int_equal(sscanf(f.value, "%d/%ld", &id, &i), 2);
		if (chain)
			assert_int_equal(i, last[id] + 1);
		if (i > last[id])
			last[id] = i;
	}
	reader_close(r);
}

static void compare(const char *dir, const struct board *board)
{
	int64_t recorded[THREADS] = { 0 }, known[THREADS];
	struct reader *r;
	struct proof p = prove(dir);
	assert_whole(&p);
	assert_false(p.closed);
	assert_int_equal(p.writer, 0);
	assert_int_equal(reader_open(dir, &r), 0);
	collect(r, recorded, true);
	memcpy(known, recorded, sizeof known);
	assert_int_equal(reader_open_inflight(dir, &r), 0);
	collect(r, known, false);
	for (int i = 0; i < THREADS; i++) {
		assert_true(recorded[i] >= board->appended[i]); /* what was promised is there */
		assert_true(known[i] >= board->effect[i]);	/* what took effect is a record or an intent */
	}
}

static void every_effect_is_known(void **state)
{
	const char *rounds = getenv("KILLS");
	unsigned seed = 7;
	struct board *board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(board != MAP_FAILED);
	for (int n = rounds ? atoi(rounds) : 100; n > 0; n--) {
		char dir[64];
		int status;
		fresh_dir(dir);
		memset(board, 0, sizeof *board);
		pid_t pid = fork();
		if (pid == 0)
			child(dir, board);
		while (!board->ready)
			sched_yield();
		nanosleep(&(struct timespec){ .tv_nsec = rand_r(&seed) % 8000000 }, NULL);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		compare(dir, board);
		remove_dir(dir);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_effect_is_known) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
