#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# quick: 1000
# Changes of files and meetings at FIFOs under a timer of 1 kHz: no effect twice, none lost, nobody left waiting. Then three threads under a storm of signals.
. "$(dirname "$0")/lib.sh"
MODES=allow both file_signals <<'S'
"$BIN/file_signals" .
S
if [ "$(uname -m)" = x86_64 ]; then
	seconds=5
	[ -z "${QUICK:-}" ] || seconds=2
	MODES=allow both storm <<<"\"\$BIN/storm\" $seconds"
else
	skip storm "no interrupted call is put back here"
fi
finish
