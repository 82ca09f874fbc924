#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Changes of files and meetings at FIFOs under a timer of 1 kHz: no effect twice, none lost, nobody left waiting.
. "$(dirname "$0")/lib.sh"
MODES=allow both file_signals <<'S'
"$BIN/file_signals" .
S
finish
