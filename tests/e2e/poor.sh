#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A container's filter on a kernel before 6.9 (no pidfds of threads, no kcmp): what threads do through descriptors works, and is done to theirs.
. "$(dirname "$0")/lib.sh"
fresh
: >mine; : >leaders
native=$("$BIN/poor" threads mine leaders)
for run in "" "$BIN/poor"; do
	chmod 600 mine leaders
	said=$($run "$USHER" run -p "$T/etc/allow.rules" --journal "$T/j${run:+2}" -- "$BIN/poor" threads mine leaders 2>"$T/err")
	same "threads and descriptors${run:+ where usher has neither}" "$native" "$said"
done
finish
