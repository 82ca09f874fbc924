#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The tests of git's own suite (Debian's source, built once) that work on files: a WRAP for each script.
. "$(dirname "$0")/common.sh"
src=$("$here/../fetch-source" "$state/sources" git) || exit 3
# What is built knows where it was built.
if [ ! -x "$src/t/helper/test-tool" ] || [ "$(cat "$src/.built" 2>/dev/null)" != "$src" ]; then
	rm -rf "$src/bin-wrappers"
	make -s -C "$src" -j2 NO_CURL=1 NO_GETTEXT=1 NO_TCLTK=1 NO_PYTHON=1 NO_EXPAT=1 CFLAGS=-O1 all >"$state/git.log" 2>&1 || exit 3
	echo "$src" >"$src/.built"
fi
begin
mkdir "$W/home" "$W/tmp" "$W/t"
[ -z "$JUDGE_USER" ] || chown "$JUDGE_USER:$JUDGE_USER" "$W" "$W/home" "$W/tmp" "$W/t"
for t in "$src"/t/t{0001,0003,0004,0005,0008,0010,0021,0050,0060,0061,0070,0090,1006,1020,1300,1301,1304,1400,1404,1410,1430,1450,1501,1504,1600,1700,1701,1800}-*.sh \
	"$src"/t/t{2000,2004,2005,2007,2008,2013,2015,2021,2030,2080,2082,2107,2200,2201,2203,2400,2401,2402,2403,2404,2406}-*.sh \
	"$src"/t/t{3000,3001,3010,3030,3070,3200,3600,3700,3903,7001,7060,7063,7101,7110,7201,7300,7508,7600,7700}-*.sh; do
	n=$(basename "$t" .sh)
	tap "$n" "$src/t" env TEST_OUTPUT_DIRECTORY="$W/t" sh "$t" --root="$W/t" --no-chain-lint
	rm -rf "$W/t/trash directory.$n"
done
finish
