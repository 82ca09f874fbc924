/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command's own terminal: a pseudo-terminal whose other end usher relays to the real one. It
 * exists so that a question can be put on the real terminal and the command can neither read the answer nor type it.
 *
 * Who calls what:
 *   usher, before launch():      relay_open(). -ENOTTY: there is no terminal, all goes on without a relay.
 *   launch_options.terminal      relay_slave(): the guardian makes it the controlling terminal of a session of its
 *                                own, the command's process group is put in its foreground, and it replaces those of the command's
 *                                descriptors 0, 1 and 2 that are terminals (files stay; of pipes see outlets.h).
 *   launch_options.device        relay_device(): and all others that are the real one.
 *   usher, after launch():       relay_start().
 *   questions_options.screen     relay_screen().
 *   policy_options.guarded       relay_terminal(): the real terminal's name, which the tree must not open.
 *   SIGWINCH                     relay_resize().
 *   the command has stopped      relay_suspend(); usher stops, by supervise_stop(); relay_resume() once continued, which
 *                                continues the command's foreground process group too; not when it was ordered to stop
 *                                (SIGSTOP) and usher was not stopped, as no shell is above.
 *   after questions_stop()       relay_close(), when the tree is gone.
 */
#ifndef USHER_SUPERVISOR_RELAY_H
#define USHER_SUPERVISOR_RELAY_H

#include <stdbool.h>
#include <sys/types.h>

struct outlets;
struct relay;
struct rescue;
struct screen;

/* Makes the pty, with the real terminal's modes and size; OUTLETS, which stay the caller's, are held while a question is up. Returns 0, -ENOTTY without a controlling terminal, or a negative errno. */
int relay_open(struct relay **out, struct outlets *outlets);

int relay_slave(const struct relay *r);
const char *relay_terminal(const struct relay *r);
unsigned relay_device(const struct relay *r); /* the real terminal's number; 0: unknown */

/* For launch_options.rescue. NULL when there is none. */
const struct rescue *relay_rescue(const struct relay *r);

const struct screen *relay_screen(struct relay *r);

/*
 * Starts relaying; the terminal is raw while usher is in its foreground. COMMAND leads the group that natively were usher's. Returns 0 or a
 * negative errno.
 */
int relay_start(struct relay *r, pid_t command);

/* The main thread only. */
void relay_resize(struct relay *r);
bool relay_signal(struct relay *r, int sig); /* to the foreground process group of the command's terminal; whether there is one */
bool relay_suspend(struct relay *r); /* whether keys were usher's, so that the kernel has told nobody of one */
void relay_resume(struct relay *r, bool let_go_on); /* the foreground process group, too */

/* SIGINT or SIGQUIT where its key was typed last for COMMAND's group, else 0: the kernel has told nobody else of the job. Safe on NULL. */
int relay_interrupted(struct relay *r);

/* Relays what is left, restores the terminal. CUT_SHORT: what the command has set there and could not take back is taken back. Safe on NULL. */
void relay_close(struct relay *r, bool cut_short);

#endif
