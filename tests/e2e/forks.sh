#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# quick: root
# Where a rule asks for ancestors usher holds the caller of each fork. One that failed, or that the kernel broke off for a signal, delays no call behind it
# until somebody gives up. The same natively.
. "$(dirname "$0")/lib.sh"
rules tree.rules <<<'deny write /nowhere/** tree=/bin/nothing'
OPTIONS="-p $R"
threads=2000
[ -z "${QUICK:-}" ] || threads=500
for c in "broken 8" "threads $threads"; do
	MODES=allow both "forks $c" <<<"\"\$BIN/forks\" $c"
done
finish
