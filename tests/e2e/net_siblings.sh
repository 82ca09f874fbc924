#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A blocking socket stays one for the threads that read from it while usher connects it: the same answers natively and supervised.
. "$(dirname "$0")/lib.sh"
MODES=allow both net_siblings <<'S'
"$BIN/net_siblings"
S
finish
