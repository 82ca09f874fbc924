#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A connection that is reset under a long sendmsg: the error is the next call's, as natively.
. "$(dirname "$0")/lib.sh"
MODES=allow both net_reset <<'EOT'
"$BIN/net_reset"
EOT
finish
