#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# When a long sendmsg left is told as often as natively: once.
. "$(dirname "$0")/lib.sh"
MODES=allow both net_stamps <<'EOT'
"$BIN/net_stamps"
EOT
finish
