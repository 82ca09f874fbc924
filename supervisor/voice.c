/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/voice.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/soon.h"

#define WAITING_MAX ((size_t)64 * 1024)

struct voice {
	int fd;
	pthread_mutex_t lock;
	pthread_cond_t more, said;
	char *text; /* what waits */
	size_t len;
	bool speaking; /* the thread has more in its hands */
	bool runs;
	unsigned long pieces; /* that were written: somebody reads */
};

struct voice *voice_new(int fd)
{
	struct voice *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->fd = fd;
	pthread_mutex_init(&v->lock, NULL);
	soon_init(&v->said);
	pthread_cond_init(&v->more, NULL);
	return v;
}

/* Returns what was written of N bytes, 0: nobody will ever read them. Waits for as long as it takes. */
static size_t write_piece(int fd, const char *text, size_t n)
{
	struct pollfd p = { fd, POLLOUT, 0 };

	for (;;) {
		ssize_t done = write(fd, text, n < PIPE_BUF ? n : PIPE_BUF);
		if (done >= 0)
			return (size_t)done;
		if (errno != EINTR && errno != EAGAIN)
			return 0;
		(void)poll(&p, 1, -1); /* somebody else has made it non-blocking */
	}
}

static void write_all(struct voice *v, const char *text, size_t n)
{
	for (size_t done = 0, piece = 1; done < n && piece; done += piece) {
		piece = write_piece(v->fd, text + done, n - done);
		pthread_mutex_lock(&v->lock);
		v->pieces++;
		pthread_cond_broadcast(&v->said);
		pthread_mutex_unlock(&v->lock);
	}
}

static void *voice_main(void *arg)
{
	struct voice *v = arg;

	pthread_mutex_lock(&v->lock);
	for (;;) {
		while (!v->len)
			pthread_cond_wait(&v->more, &v->lock);
		char *text = v->text;
		size_t n = v->len;
		v->text = NULL;
		v->len = 0;
		v->speaking = true;
		pthread_mutex_unlock(&v->lock);
		write_all(v, text, n);
		free(text);
		pthread_mutex_lock(&v->lock);
		v->speaking = false;
		pthread_cond_broadcast(&v->said);
	}
	return NULL;
}

/* Most sessions never need it. Where there is none to be had now, the next to say something tries again. */
static void start_locked(struct voice *v)
{
	sigset_t all, before;
	pthread_t thread;

	if (v->runs)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	v->runs = pthread_create(&thread, NULL, voice_main, v) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (v->runs)
		pthread_detach(thread);
}

static void add_locked(struct voice *v, const char *text, size_t n)
{
	char *all = !v->len || v->len + n <= WAITING_MAX ? realloc(v->text, v->len + n) : NULL;

	if (!all)
		return;
	memcpy(all + v->len, text, n);
	v->text = all;
	v->len += n;
}

void voice_say(struct voice *v, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	if (!v)
		return;
	va_start(args, format);
	int n = vasprintf(&text, format, args);
	va_end(args);
	if (n <= 0)
		return;
	pthread_mutex_lock(&v->lock);
	add_locked(v, text, (size_t)n);
	start_locked(v);
	pthread_cond_signal(&v->more);
	pthread_mutex_unlock(&v->lock);
	free(text);
}

bool voice_finish(struct voice *v, unsigned patience_ms)
{
	bool heard = true;

	if (!v)
		return true;
	pthread_mutex_lock(&v->lock);
	if (v->len)
		start_locked(v);
	while ((v->len || v->speaking) && heard) {
		unsigned long pieces = v->pieces;
		int rc = soon_wait(&v->said, &v->lock, patience_ms * UINT64_C(1000000));
		heard = rc != ETIMEDOUT || v->pieces != pieces;
	}
	pthread_mutex_unlock(&v->lock);
	return heard;
}
