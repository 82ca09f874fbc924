#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Network calls with good and bad arguments: the same answers natively and supervised, line by line.
. "$(dirname "$0")/lib.sh"
MODES=allow both net_errno <<'S'
"$BIN/net_errno"
S
finish
