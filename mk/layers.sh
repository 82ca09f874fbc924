#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Proves the include arrows in the tree below DIR. Every include of our own is
# qualified by its folder; a folder includes only itself and what its row allows. None computes with libm.
set -eu
cd "${1:-.}"

allowed() {
	case $1 in
	rules) echo "rules" ;;
	policy) echo "policy rules" ;;
	audit) echo "audit rules" ;;
	supervisor) echo "supervisor policy audit rules" ;;
	tools) echo "tools supervisor policy audit rules" ;;
	esac
}

bad=0 seen=0
for floor in rules policy audit supervisor tools; do
	for f in "$floor"/*.[ch] "$floor"/*/*.[ch]; do
		[ -f "$f" ] || continue
		seen=$((seen + 1))
		for inc in $(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$f"); do
			case $inc in
			*..*) why="leaves the tree" ;;
			*/*)
				why=
				case " $(allowed "$floor") " in
				*" ${inc%%/*} "*) [ -f "$inc" ] || why="does not exist" ;;
				*) why="is above $floor" ;;
				esac ;;
			*) why="is not qualified by its folder" ;;
			esac
			[ -z "$why" ] && continue
			bad=$((bad + 1))
			echo "not ok $f: \"$inc\" $why"
		done
	done
done
# audit/sql_math.c stands in for libm: whoever computes gets no number.
for f in $(grep -l '^[[:space:]]*#[[:space:]]*include[[:space:]]*<\(t\?g\?math\|complex\)\.h>' rules/*.[ch] policy/*.[ch] audit/*.[ch] supervisor/*.[ch] tools/*.[ch]); do
	[ "$f" = audit/sql_math.c ] && continue
	bad=$((bad + 1))
	echo "not ok $f: there is no libm (audit/sql_math.c)"
done
[ "$bad" = 0 ] || exit 1
[ "$seen" -gt 0 ] || { echo "not ok no source file found"; exit 1; }
echo "ok layers: $seen files, every include follows the arrows"
