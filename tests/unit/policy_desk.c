/* SPDX-License-Identifier: Apache-2.0 */
/* The desk's socket: who is let in, and that many hands answer each question once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/desk_line.h"
#include "policy/policy.h"
#include "policy/question.h"
#include "policy/question_json.h"

#define QUESTIONS 200

/* The server's allocations of JSON: the one with this number fails. Shared with it; 0: none. */
static atomic_int *fails_at;
static pid_t tester;

static bool fails(void)
{
	return fails_at && getpid() != tester && atomic_load(fails_at) > 0 && atomic_fetch_sub(fails_at, 1) == 1;
}

/* mk/test.mk has the linker lead json-c's makers here. */
#define FAILING(name, parameters, arguments)                  \
	struct json_object *__real_##name parameters;         \
	struct json_object *__wrap_##name parameters;         \
	struct json_object *__wrap_##name parameters          \
	{                                                     \
		return fails() ? NULL : __real_##name arguments; \
	}
FAILING(json_object_new_object, (void), ())
FAILING(json_object_new_array, (void), ())
FAILING(json_object_new_string, (const char *text), (text))
FAILING(json_object_new_uint64, (uint64_t n), (n))

struct fixture {
	char dir[64];
	char rules[128];
	pid_t server;
	int status; /* the server writes a line here for every answer */
};

struct server {
	atomic_uint answers[QUESTIONS + 1];
	atomic_uint total;
	int out;
};

static void answered(void *context, uint64_t token, const struct answer *a)
{
	struct server *s = context;
	char line[64];
	atomic_fetch_add(&s->answers[token], 1);
	atomic_fetch_add(&s->total, 1);
	int n = snprintf(line, sizeof(line), "%llu %s %s\n", (unsigned long long)token, verdict_name(a->kind), a->channel);
	if (write(s->out, line, (size_t)n) != n)
		_exit(9);
}

static int noted(void *context, const char *event, const char *text)
{
	struct server *s = context;
	char line[64];
	int n = snprintf(line, sizeof(line), "note %s\n", event);
	if (strcmp(event, "desk-refused") == 0 && write(s->out, line, (size_t)n) != n)
		_exit(9);
	return 0;
}

static int connect_desk(pid_t server)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	char dir[64];
	if (policy_desk_dir(dir, sizeof(dir)) < 0)
		return -1;
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%d.sock", dir, server);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return -1;
	return fd;
}

/* A line to the desk and the line it gives back; false when it hangs up. */
static bool talk(struct desk_line *l, const char *request, char *reply, size_t cap)
{
	size_t len;
	const char *line;
	if (!desk_line_put(l, request, strlen(request)))
		return false;
	while (!(line = desk_line_get(l, &len))) {
		struct pollfd p = { .fd = l->fd, .events = POLLIN };
		if (poll(&p, 1, 10000) <= 0 || !desk_line_read(l))
			return false;
	}
	snprintf(reply, cap, "%.*s", (int)len, line);
	desk_line_next(l, len);
	return true;
}

static bool hello(struct desk_line *l, pid_t server)
{
	char path[128], token[64] = "", line[256], reply[512], dir[64];
	policy_desk_dir(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/%d.token", dir, server);
	int fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, token, sizeof(token) - 1) <= 0)
		return false;
	close(fd);
	snprintf(line, sizeof(line), "{\"do\":\"hello\",\"token\":\"%s\"}\n", token);
	return talk(l, line, reply, sizeof(reply)) && strstr(reply, "\"ok\":true");
}

/* A child of usher: what it can do, it must not be able to do here. Exits 0 when it was refused. */
static int try_from_below(pid_t server)
{
	struct desk_line l;
	int fd = connect_desk(server);
	if (fd < 0)
		return 3;
	if (desk_line_open(&l, fd, DESK_LINE) < 0)
		return 4;
	return hello(&l, server) ? 1 : 0;
}

static _Noreturn void serve(struct fixture *f, int out, unsigned questions)
{
	static struct server s;
	const char *files[] = { f->rules };
	struct policy_options po = { .files = files, .n_files = 1 };
	struct diagnostics found = { 0 };
	struct questions *qs;
	struct policy *p;
	const char *why;
	uint64_t id;
	s.out = out;
	if (policy_new(&po, &found, &p) != 0)
		_exit(2);
	struct questions_options qo = { .channel = "desk", .policy = p, .answered = answered, .note = noted, .context = &s,
					.session = "test" };
	if (questions_start(&qo, &qs, &why) < 0)
		_exit(3);
	pid_t child = fork();
	if (child == 0)
		_exit(try_from_below(getppid()));
	int st = -1;
	waitpid(child, &st, 0);
	dprintf(out, "below %d\n", WIFEXITED(st) ? WEXITSTATUS(st) : -1);
	for (unsigned i = 1; i <= questions; i++) {
		char name[32];
		snprintf(name, sizeof(name), "/a/%u", i);
		struct call c = { .syscall = "openat", .n_objects = 1,
				  .by = { .pid = (pid_t)i, .image = { .exe = SPAN_LITERAL("/bin/x") } } };
		c.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = OP_READ, .name = { name, (uint32_t)strlen(name) } };
		struct verdict v;
		policy_decide(p, &c, &v);
		struct question q = { &c, &v, NULL, 0 };
		if (questions_ask(qs, &q, i, &id) < 0)
			_exit(4);
	}
	dprintf(out, "ready\n");
	while (atomic_load(&s.total) < questions)
		usleep(1000);
	questions_stop(qs);
	for (unsigned i = 1; i <= questions; i++) {
		if (atomic_load(&s.answers[i]) != 1)
			_exit(5);
	}
	policy_free(p);
	dprintf(out, "done\n");
	_exit(0);
}

static FILE *start(struct fixture *f, unsigned questions)
{
	int out[2];
	assert_int_equal(pipe(out), 0);
	f->server = fork();
	if (f->server == 0) {
		close(out[0]);
		serve(f, out[1], questions);
	}
	close(out[1]);
	return fdopen(out[0], "r");
}

/* The next line that begins with WORD; others are counted. */
static unsigned read_until(FILE *in, const char *word, char *line, size_t cap)
{
	unsigned others = 0;
	while (fgets(line, (int)cap, in)) {
		if (strncmp(line, word, strlen(word)) == 0)
			return others;
		others++;
	}
	fail_msg("the server ended before '%s'", word);
	return 0;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char dir[64] = "/tmp/usher-desk-XXXXXX";
	if (!f || !mkdtemp(dir))
		return -1;
	memcpy(f->dir, dir, sizeof(dir));
	setenv("XDG_RUNTIME_DIR", f->dir, 1);
	snprintf(f->rules, sizeof(f->rules), "%s/rules", dir);
	FILE *to = fopen(f->rules, "w");
	fputs("ask read /a/**\n", to);
	fclose(to);
	chmod(f->rules, 0600);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char sub[128];
	if (f->server > 0) { /* or it has ended by itself */
		kill(f->server, SIGKILL);
		waitpid(f->server, NULL, 0);
	}
	unlink(f->rules);
	snprintf(sub, sizeof(sub), "%s/usher/%d.sock", f->dir, f->server); /* of a server that was killed */
	unlink(sub);
	snprintf(sub, sizeof(sub), "%s/usher/%d.token", f->dir, f->server);
	unlink(sub);
	snprintf(sub, sizeof(sub), "%s/usher", f->dir);
	rmdir(sub);
	rmdir(f->dir);
	free(f);
	return 0;
}

/* The same calls succeed from outside (the control) and fail from below. */
static void descendants_are_refused(void **state)
{
	struct fixture *f = *state;
	struct desk_line l;
	char line[256];
	FILE *in = start(f, 1);
	read_until(in, "note desk-refused", line, sizeof(line));
	read_until(in, "below", line, sizeof(line));
	assert_string_equal(line, "below 0\n");
	read_until(in, "ready", line, sizeof(line));
	assert_int_equal(desk_line_open(&l, connect_desk(f->server), DESK_REPLY), 0);
	assert_true(hello(&l, f->server));
	desk_line_close(&l);
	fclose(in);
}

static void the_token_is_needed(void **state)
{
	struct fixture *f = *state;
	static const char *const bad[] = {
		"{\"do\":\"list\"}\n", "{\"do\":\"hello\"}\n", "{\"do\":\"hello\",\"token\":\"\"}\n", "nonsense\n", "[]\n",
		"{\"do\":\"hello\",\"token\":\"00000000000000000000000000000000\"}\n", "{\"do\":\"answer\",\"id\":1,\"answer\":\"allow\"}\n",
	};
	struct desk_line l;
	char line[256], reply[4096];
	FILE *in = start(f, 1);
	read_until(in, "ready", line, sizeof(line));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(desk_line_open(&l, connect_desk(f->server), DESK_REPLY), 0);
		assert_true(talk(&l, bad[i], reply, sizeof(reply)));
		assert_non_null(strstr(reply, "\"ok\":false"));
		assert_false(talk(&l, "{\"do\":\"list\"}\n", reply, sizeof(reply))); /* it has hung up */
		desk_line_close(&l);
	}
	fclose(in);
}

static void requests_are_checked(void **state)
{
	struct fixture *f = *state;
	static const char *const bad[] = {
		"{}\n", "{\"do\":\"nothing\"}\n", "{\"do\":\"answer\",\"id\":99,\"answer\":\"allow\"}\n", "{\"do\":\"answer\",\"id\":1}\n",
		"{\"do\":\"answer\",\"id\":1,\"answer\":\"ask\"}\n", "{\"do\":\"answer\",\"id\":\"1\",\"answer\":\"allow\"}\n",
		"{\"do\":\"answer\",\"id\":1,\"answer\":\"allow\",\"scope\":\"session\",\"directory\":\"/b\"}\n",
		"{\"do\":\"revoke\",\"grant\":7}\n", "{\"do\":\"rule\",\"id\":1,\"answer\":\"rewrite\"}\n",
	};
	struct desk_line l;
	char line[256], reply[4096];
	FILE *in = start(f, 1);
	read_until(in, "ready", line, sizeof(line));
	assert_int_equal(desk_line_open(&l, connect_desk(f->server), DESK_REPLY), 0);
	assert_true(hello(&l, f->server));
	do /* asked is not yet on the desk */
		assert_true(talk(&l, "{\"do\":\"list\"}\n", reply, sizeof(reply)));
	while (!strstr(reply, "/a/1"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_true(talk(&l, bad[i], reply, sizeof(reply)));
		assert_non_null(strstr(reply, "\"ok\":false"));
	}
	assert_true(talk(&l, "{\"do\":\"rule\",\"id\":1,\"answer\":\"allow\"}\n", reply, sizeof(reply)));
	assert_non_null(strstr(reply, "allow read"));
	assert_true(talk(&l, "{\"do\":\"answer\",\"id\":1,\"answer\":\"allow\",\"scope\":\"session\"}\n", reply, sizeof(reply)));
	assert_non_null(strstr(reply, "\"ok\":true"));
	read_until(in, "1 allow desk", line, sizeof(line));
	desk_line_close(&l);
	fclose(in);
}

static int deny_by_desk(struct desk_line *l, unsigned id)
{
	char line[128], reply[4096];
	snprintf(line, sizeof(line), "{\"do\":\"answer\",\"id\":%u,\"answer\":\"deny\"}\n", id);
	for (int i = 0; i < 1000; i++) { /* it may not be on the desk yet */
		if (!talk(l, line, reply, sizeof(reply)))
			return -1;
		if (strstr(reply, "\"ok\":true"))
			return 0;
		usleep(1000);
	}
	return -1;
}

/* A program that asks the same over and over is denied without a person from the sixth time on. */
static _Noreturn void insist(struct fixture *f, int out)
{
	static struct server s;
	const char *files[] = { f->rules };
	struct policy_options po = { .files = files, .n_files = 1 };
	struct diagnostics found = { 0 };
	struct questions *qs;
	struct policy *p;
	const char *why;
	uint64_t id;
	s.out = out;
	if (policy_new(&po, &found, &p) != 0)
		_exit(2);
	struct questions_options qo = { .channel = "desk", .policy = p, .answered = answered, .note = noted, .context = &s,
					.session = "test" };
	if (questions_start(&qo, &qs, &why) < 0)
		_exit(3);
	struct call c = { .syscall = "openat", .n_objects = 1, .by = { .pid = 1, .image = { .exe = SPAN_LITERAL("/bin/x") } } };
	c.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = OP_READ, .name = SPAN_LITERAL("/a/again") };
	struct verdict v;
	policy_decide(p, &c, &v);
	struct question q = { &c, &v, NULL, 0 };
	dprintf(out, "ready\n");
	for (unsigned i = 1; i <= 7; i++) {
		if (questions_ask(qs, &q, i, &id) < 0)
			_exit(4);
		while (atomic_load(&s.total) < i)
			usleep(1000);
	}
	_exit(0);
}

static void insistence_is_cut_short(void **state)
{
	struct fixture *f = *state;
	struct desk_line l;
	char line[256];
	int out[2];
	assert_int_equal(pipe(out), 0);
	f->server = fork();
	if (f->server == 0)
		insist(f, out[1]);
	close(out[1]);
	FILE *in = fdopen(out[0], "r");
	read_until(in, "ready", line, sizeof(line));
	assert_int_equal(desk_line_open(&l, connect_desk(f->server), DESK_REPLY), 0);
	assert_true(hello(&l, f->server));
	for (unsigned id = 1; id <= 5; id++) {
		assert_int_equal(deny_by_desk(&l, id), 0);
		read_until(in, "", line, sizeof(line));
		assert_non_null(strstr(line, "deny desk"));
	}
	read_until(in, "6 deny limit", line, sizeof(line));
	read_until(in, "7 deny limit", line, sizeof(line));
	desk_line_close(&l);
	fclose(in);
}

struct hand {
	pid_t server;
	unsigned seed;
	unsigned took;
};

/* Answers all questions in an order of its own; some were answered by the other hand. */
static void *answer_all(void *arg)
{
	struct hand *h = arg;
	unsigned order[QUESTIONS];
	char line[256], reply[4096];
	struct desk_line l;
	for (unsigned i = 0; i < QUESTIONS; i++)
		order[i] = i + 1;
	for (unsigned i = QUESTIONS - 1; i > 0; i--) {
		unsigned k = (unsigned)rand_r(&h->seed) % (i + 1), t = order[i];
		order[i] = order[k];
		order[k] = t;
	}
	if (desk_line_open(&l, connect_desk(h->server), DESK_REPLY) < 0 || !hello(&l, h->server))
		return NULL;
	for (unsigned i = 0; i < QUESTIONS; i++) {
		snprintf(line, sizeof(line), "{\"do\":\"answer\",\"id\":%u,\"answer\":\"%s\"}\n", order[i], order[i] % 2 ? "allow" : "deny");
		if (!talk(&l, line, reply, sizeof(reply)))
			break;
		h->took += strstr(reply, "\"ok\":true") != NULL;
	}
	desk_line_close(&l);
	return NULL;
}

/* Questions are asked before they lie on the desk: waits until all do. */
static void all_lie_there(pid_t server)
{
	static char reply[1 << 20];
	char name[32];
	struct desk_line l;
	assert_int_equal(desk_line_open(&l, connect_desk(server), DESK_REPLY), 0);
	assert_true(hello(&l, server));
	for (unsigned i = 1; i <= QUESTIONS;) {
		assert_true(talk(&l, "{\"do\":\"list\"}\n", reply, sizeof(reply)));
		for (; i <= QUESTIONS; i++) {
			snprintf(name, sizeof(name), "/a/%u\"", i);
			if (!strstr(reply, name))
				break;
		}
	}
	desk_line_close(&l);
}

static void two_desks_answer_each_once(void **state)
{
	struct fixture *f = *state;
	char line[256];
	FILE *in = start(f, QUESTIONS);
	read_until(in, "ready", line, sizeof(line));
	all_lie_there(f->server);
	struct hand h[2] = { { f->server, 1, 0 }, { f->server, 2, 0 } };
	pthread_t thread[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, answer_all, &h[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(h[0].took + h[1].took, QUESTIONS);
	assert_int_equal(read_until(in, "done", line, sizeof(line)), QUESTIONS);
	int st;
	assert_int_equal(waitpid(f->server, &st, 0), f->server);
	f->server = 0;
	assert_true(WIFEXITED(st) && WEXITSTATUS(st) == 0);
	fclose(in);
}

static void nothing_answered(void *context, uint64_t token, const struct answer *a)
{
}

static bool named_file(const struct fixture *f, int number, const char *end)
{
	char path[128];
	struct stat st;
	snprintf(path, sizeof(path), "%s/usher/%d.%s", f->dir, number, end);
	return stat(path, &st) == 0;
}

/* Another session with the same number, as in another pid namespace, finds one of its own; the first one's files stay. */
static void a_living_desk_keeps_its_number(void **state)
{
	struct fixture *f = *state;
	const char *files[] = { f->rules };
	struct policy_options po = { .files = files, .n_files = 1 };
	struct diagnostics found = { 0 };
	struct questions *qs;
	struct policy *p;
	const char *why;
	struct desk_line l;
	char line[256];
	FILE *in = start(f, 1);
	read_until(in, "ready", line, sizeof(line));
	int next = f->server + (1 << 22);
	assert_int_equal(policy_new(&po, &found, &p), 0);
	struct questions_options qo = { .channel = "desk", .policy = p, .answered = nothing_answered, .note = noted,
					.context = &(struct server){ .out = -1 }, .session = "second", .number = f->server };
	assert_int_equal(questions_start(&qo, &qs, &why), 0);
	assert_true(named_file(f, next, "sock") && named_file(f, next, "token"));
	assert_int_equal(desk_line_open(&l, connect_desk(f->server), DESK_REPLY), 0);
	assert_true(hello(&l, f->server));
	desk_line_close(&l);
	questions_stop(qs);
	assert_false(named_file(f, next, "sock") || named_file(f, next, "token"));
	assert_true(named_file(f, f->server, "sock") && named_file(f, f->server, "token"));
	kill(f->server, SIGKILL);
	waitpid(f->server, NULL, 0);
	assert_int_equal(questions_start(&qo, &qs, &why), 0); /* what a killed one left behind is taken over */
	assert_false(named_file(f, next, "sock"));
	questions_stop(qs);
	assert_false(named_file(f, f->server, "sock"));
	f->server = 0;
	policy_free(p);
	diagnostics_free(&found);
	fclose(in);
}

/* The list, when NAME has come: the desk takes what is asked in its own time. */
static void list_with(struct desk_line *l, const char *name, char *reply, size_t cap)
{
	for (int i = 0; i < 1000; i++, usleep(10000)) {
		assert_true(talk(l, "{\"do\":\"list\"}\n", reply, cap));
		if (strstr(reply, name))
			return;
	}
	fail_msg("%s never came: %s", name, reply);
}

/* A desk that dies or does not read leaves the questions to the next. */
static void desks_come_and_go(void **state)
{
	struct fixture *f = *state;
	struct desk_line l;
	char line[256], reply[65536];
	FILE *in = start(f, 3);
	read_until(in, "ready", line, sizeof(line));
	for (int i = 0; i < 40; i++) { /* more than there are places */
		assert_int_equal(desk_line_open(&l, connect_desk(f->server), DESK_REPLY), 0);
		assert_true(hello(&l, f->server));
		assert_true(desk_line_put(&l, "{\"do\":\"watch\"}\n{\"do\":\"li", 24));
		desk_line_close(&l);
	}
	assert_int_equal(desk_line_open(&l, connect_desk(f->server), DESK_REPLY), 0);
	assert_true(hello(&l, f->server));
	list_with(&l, "/a/3", reply, sizeof(reply));
	assert_non_null(strstr(reply, "/a/1"));
	desk_line_close(&l);
	fclose(in);
}

/* Memory that runs out in the middle of a reply ends that connection: every request with each of its allocations failing, until none does. */
static void memory_ends_a_connection(void **state)
{
	struct fixture *f = *state;
	static const char *const requests[] = { "list", "watch", "grants", "history", "reviews", "nonsense" };
	struct desk_line l;
	char line[256], request[64], reply[65536];
	unsigned cut = 0, whole = 0;
	FILE *in = start(f, 3);
	read_until(in, "ready", line, sizeof(line));
	assert_int_equal(desk_line_open(&l, connect_desk(f->server), DESK_REPLY), 0);
	assert_true(hello(&l, f->server));
	list_with(&l, "/a/3", reply, sizeof(reply));
	assert_true(talk(&l, "{\"do\":\"answer\",\"id\":1,\"answer\":\"allow\",\"scope\":\"session\"}\n", reply, sizeof(reply)));
	assert_non_null(strstr(reply, "\"ok\":true")); /* grants and history have something to tell */
	desk_line_close(&l);
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		snprintf(request, sizeof(request), "{\"do\":\"%s\"}\n", requests[i]);
		for (int n = 1, left = 0; left == 0; n++) {
			assert_int_equal(desk_line_open(&l, connect_desk(f->server), DESK_REPLY), 0);
			assert_true(hello(&l, f->server));
			atomic_store(fails_at, n);
			bool said = talk(&l, request, reply, sizeof(reply));
			left = atomic_exchange(fails_at, 0);
			bool unread = said && strstr(reply, "not a JSON object"); /* the request had no room */
			assert_true(unread || said == (left > 0));
			whole += said && !unread;
			cut += !said;
			desk_line_close(&l);
		}
	}
	assert_true(whole == sizeof(requests) / sizeof(requests[0]) && cut > 20);
	fclose(in);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(descendants_are_refused),    CASE(the_token_is_needed), CASE(requests_are_checked),
		CASE(two_desks_answer_each_once), CASE(desks_come_and_go),
		CASE(a_living_desk_keeps_its_number),
		CASE(insistence_is_cut_short), CASE(memory_ends_a_connection),
	};
	signal(SIGPIPE, SIG_IGN);
	tester = getpid();
	fails_at = mmap(NULL, sizeof(*fails_at), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fails_at == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
