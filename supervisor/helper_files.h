/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a shell command names (--ask=exec:CMD, --anchor=exec:CMD): usher runs it outside the tree, whose files it must not be.
 * Seen as far as words go: what a pattern, a substitution or a variable of the command's own makes, and what a program reads besides, is not.
 */
#ifndef USHER_SUPERVISOR_HELPER_FILES_H
#define USHER_SUPERVISOR_HELPER_FILES_H

/*
 * Calls EACH with the name of every file that a word of COMMAND may mean, also one in quotes (sh -c '...') or behind an option's letter (-fFILE): as it is said (from where usher was started, from
 * a directory that a word before it names, and from the home behind '~'), and, of a word without a slash, in each directory of $PATH up to the one that has it,
 * where it may be missing and the user could make it. So with the words of a script's first line. Stops at a negative
 * answer and returns it, else 0. Words beyond the 512th are not looked at.
 */
int helper_files(const char *command, int (*each)(void *context, const char *file), void *context);

#endif
