/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_exec DIR PROGRAM GATE READS COMMAND...: runs COMMAND where DIR is a file system with one file, prog, PROGRAM's content. All reads of it but
 * the first READS wait while the file GATE exists; so does whoever looks a name up that begins with "slow", and there is none. GATE.reached is made when one does.
 *
 * slow_exec --names FILE COUNT: makes as many opens at once, each of a name that lies in FILE's content.
 *
 * slow_exec --threads SLOW FAST REACHED SECOND: execs SLOW from one thread and, once REACHED exists, FAST from another; makes SECOND just before.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_MOST (256 * 1024)
#define FILE_INO 2
#define NAME_APART 4096
#define NAMES_MOST 128

static int fuse;
static char *content, *gate;
static size_t length;

struct waiting {
	uint64_t unique;
	struct fuse_read_in in;
	int slow;
	int lookup; /* of nothing that is there */
};

static void make(const char *name, const char *suffix)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s%s", name, suffix);
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	if (fd >= 0)
		close(fd);
}

static void answer(uint64_t unique, int error, const void *data, size_t len)
{
	static _Thread_local char out[sizeof(struct fuse_out_header) + READ_MOST];
	struct fuse_out_header h = { .len = (uint32_t)(sizeof(h) + len), .error = error, .unique = unique };

	memcpy(out, &h, sizeof(h));
	if (len)
		memcpy(out + sizeof(h), data, len);
	if (write(fuse, out, h.len) < 0 && errno != ENOENT)
		perror("slow_exec: answer");
}

static struct fuse_attr attributes(uint64_t ino)
{
	struct fuse_attr a = { .ino = ino, .nlink = 1, .blksize = 4096, .mode = S_IFDIR | 0755 };

	if (ino == FILE_INO) {
		a.mode = S_IFREG | 0755;
		a.size = length;
	}
	return a;
}

static void *serve_waiting(void *arg)
{
	struct waiting *w = arg;

	if (w->slow && access(gate, F_OK) == 0)
		make(gate, ".reached");
	while (w->slow && access(gate, F_OK) == 0)
		usleep(2000);
	if (w->lookup) {
		answer(w->unique, -ENOENT, NULL, 0);
	} else {
		size_t left = w->in.offset < length ? length - w->in.offset : 0;
		size_t n = left < w->in.size ? left : w->in.size;
		answer(w->unique, 0, content + w->in.offset, n < READ_MOST ? n : READ_MOST);
	}
	free(w);
	return NULL;
}

static void begin_wait(struct waiting like)
{
	struct waiting *w = malloc(sizeof(*w));
	pthread_t thread;

	if (!w)
		abort();
	*w = like;
	if (pthread_create(&thread, NULL, serve_waiting, w))
		abort();
	pthread_detach(thread);
}

static void begin_read(const struct fuse_in_header *h, const void *in, int slow)
{
	struct waiting w = { .unique = h->unique, .slow = slow };

	memcpy(&w.in, in, sizeof(w.in));
	begin_wait(w);
}

static void serve_lookup(uint64_t unique, const char *name)
{
	struct fuse_entry_out e = { .nodeid = FILE_INO, .attr = attributes(FILE_INO) };

	if (strncmp(name, "slow", 4) == 0)
		begin_wait((struct waiting){ .unique = unique, .slow = 1, .lookup = 1 });
	else if (strcmp(name, "prog"))
		answer(unique, -ENOENT, NULL, 0);
	else
		answer(unique, 0, &e, sizeof(e));
}

static void serve_one(const struct fuse_in_header *h, const char *in, int reads)
{
	static int seen;
	struct fuse_init_out init = { .major = 7, .minor = 31, .max_write = 65536, .max_pages = 16 };
	struct fuse_attr_out attr = { .attr = attributes(h->nodeid) };
	struct fuse_open_out opened = { 0 };
	struct fuse_statfs_out statfs = { 0 };

	switch (h->opcode) {
	case FUSE_INIT:
		answer(h->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		serve_lookup(h->unique, in);
		break;
	case FUSE_GETATTR:
		answer(h->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(h->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		begin_read(h, in, seen++ >= reads);
		break;
	case FUSE_STATFS:
		answer(h->unique, 0, &statfs, sizeof(statfs));
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	case FUSE_RELEASE:
	case FUSE_FLUSH:
		answer(h->unique, 0, NULL, 0);
		break;
	default:
		answer(h->unique, -ENOSYS, NULL, 0);
	}
}

static void serve(int reads)
{
	static _Alignas(8) char in[READ_MOST + 4096];

	for (;;) {
		ssize_t n = read(fuse, in, sizeof(in));
		if (n < 0 && errno != EINTR && errno != ENOENT)
			exit(0);
		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			serve_one((const struct fuse_in_header *)in, in + sizeof(struct fuse_in_header), reads);
	}
}

static int load(const char *program)
{
	struct stat st;
	int fd = open(program, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	length = (size_t)st.st_size;
	content = malloc(length);
	ssize_t n = content ? read(fd, content, length) : -1;
	close(fd);
	return n == (ssize_t)length ? 0 : -1;
}

static int run(char **argv)
{
	char options[128];

	gate = argv[3];
	fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other", fuse);
	if (fuse < 0 || load(argv[2]) || unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("slow_exec", argv[1], "fuse.slow_exec", 0, options)) {
		perror("slow_exec: not possible here");
		return 77;
	}
	pid_t parent = getpid(), child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			serve(atoi(argv[4]));
		_exit(0);
	}
	execvp(argv[5], argv + 5);
	perror(argv[5]);
	return 127;
}

static void *exec_slow(void *name)
{
	execl(name, name, (char *)NULL);
	perror(name);
	return NULL;
}

static int threads(char **argv)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, exec_slow, argv[0]))
		return 1;
	while (access(argv[2], F_OK))
		usleep(2000);
	make(argv[3], "");
	execl(argv[1], argv[1], (char *)NULL);
	perror(argv[1]);
	return 1;
}

static void *open_name(void *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return NULL;
}

static int names(const char *file, size_t count)
{
	pthread_t thread[NAMES_MOST];
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	char *m = mmap(NULL, count * NAME_APART, PROT_READ, MAP_PRIVATE, fd, 0);

	if (count > NAMES_MOST || m == MAP_FAILED) {
		perror(file);
		return 1;
	}
	for (size_t i = 0; i < count; i++) {
		if (pthread_create(&thread[i], NULL, open_name, m + i * NAME_APART))
			return 1;
	}
	for (size_t i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "--names"))
		return names(argv[2], (size_t)atoi(argv[3]));
	if (argc == 6 && !strcmp(argv[1], "--threads"))
		return threads(argv + 2);
	if (argc < 6)
		return 2;
	return run(argv);
}
