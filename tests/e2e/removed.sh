#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A directory that is removed is gone, though usher worked in it for somebody; so is a file, though usher did something to it just before.
. "$(dirname "$0")/lib.sh"
both removed <<'EOT'
"$BIN/removed"
EOT
finish
