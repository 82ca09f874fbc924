/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rules/cleanup.h"

extern char **environ;

/* Default signal handling, nothing blocked, a process group of its own. */
static int spawn(const char *command, int in, int out, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	sigemptyset(&none);
	sigfillset(&all);
	sigdelset(&all, SIGKILL);
	sigdelset(&all, SIGSTOP);
	int rc = posix_spawn_file_actions_init(&files);
	if (rc)
		return -rc;
	rc = posix_spawnattr_init(&attr);
	if (rc) {
		posix_spawn_file_actions_destroy(&files);
		return -rc;
	}
	rc = posix_spawn_file_actions_adddup2(&files, in, 0);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(&files, out, 1);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setpgroup(&attr, 0);
	char *argv[] = { "sh", "-c", (char *)command, NULL };
	if (rc == 0)
		rc = posix_spawn(pid, "/bin/sh", &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return -rc;
}

static int start(struct helper *h, const char *command)
{
	int in[2], out[2];
	if (pipe2(in, O_CLOEXEC) < 0)
		return -errno;
	CLEANUP_FD int in_theirs = in[0];
	CLEANUP_FD int in_ours = in[1];
	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	CLEANUP_FD int out_ours = out[0];
	CLEANUP_FD int out_theirs = out[1];
	int rc = spawn(command, in_theirs, out_theirs, &h->pid);
	if (rc < 0)
		return rc;
	fcntl(in_ours, F_SETFL, O_NONBLOCK);
	fcntl(out_ours, F_SETFL, O_NONBLOCK);
	h->in = steal_fd(&in_ours);
	h->out = steal_fd(&out_ours);
	return 0;
}

static void helper_clear(struct helper *h)
{
	cleanup_fd(&h->in);
	cleanup_fd(&h->out);
	free(h->question);
	free(h->line);
	*h = (struct helper){ .in = -1, .out = -1 };
}

int helper_start(struct helper *h, const char *command, char *question, size_t len)
{
	*h = (struct helper){ .in = -1, .out = -1, .question = question, .question_len = len };
	h->line = malloc(HELPER_LINE);
	int rc = h->line ? start(h, command) : -ENOMEM;
	if (rc < 0)
		helper_clear(h);
	return rc;
}

void helper_write(struct helper *h)
{
	if (h->in < 0)
		return;
	ssize_t n = write(h->in, h->question + h->written, h->question_len - h->written);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	h->unheard = n < 0 && errno != EPIPE;
	if (n > 0)
		h->written += (size_t)n;
	if (n > 0 && h->written < h->question_len)
		return;
	close(h->in); /* all is written, or nobody reads: its answer may come all the same */
	h->in = -1;
}

bool helper_read(struct helper *h)
{
	ssize_t n = read(h->out, h->line + h->got, HELPER_LINE - h->got);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0 || h->unheard) {
		h->got = h->unheard ? 0 : h->got;
		return true;
	}
	char *newline = memchr(h->line + h->got, '\n', (size_t)n);
	h->got += (size_t)n;
	if (newline) {
		h->whole = true;
		h->got = (size_t)(newline - h->line);
	}
	return h->whole || h->got == HELPER_LINE;
}

const char *helper_line(const struct helper *h, size_t *len)
{
	if (!h->whole && (h->got == 0 || h->got == HELPER_LINE))
		return NULL;
	*len = h->got;
	return h->line;
}

bool helper_stop(struct helper *h)
{
	siginfo_t info = { 0 };
	if (h->grace == 0)
		kill(-h->pid, SIGKILL);
	int rc = waitid(P_PID, (id_t)h->pid, &info, WEXITED | WNOHANG | WNOWAIT);
	if (rc == 0 && info.si_pid == 0) {
		h->grace -= h->grace > 0;
		return false;
	}
	if (rc == 0) { /* its number is still taken: whatever it left behind can be named by it */
		kill(-h->pid, SIGKILL);
		waitpid(h->pid, NULL, 0);
		while (waitpid(-h->pid, NULL, WNOHANG) > 0) /* usher is a reaper: its orphans came to us */
			;
	}
	helper_clear(h);
	return true;
}
