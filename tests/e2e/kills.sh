#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of usher at random moments under load, the short form of `make kills`.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
need python3
cd "$T" || exit 1
TEST_TMP=$T python3 "$here/kills.py" "${KILLS:-25}" || FAILED=1
finish
