# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2016
# Common part of the suites of this folder; sourced. They are run by run-judges: WRAP (what is put before each program), JUDGE_USER (a
# number, or empty), JUDGE_DROP (outside: who drops starts WRAP; inside: WRAP starts who drops), ONLY (an extended regex on files), OUT.
# A result is a line "P|F|S<TAB>FILE:NUMBER" in $OUT/results.txt; TAP output is kept in $OUT/raw.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
state=${STATE:-/tmp/judges}
: "${WRAP:=}" "${JUDGE_USER:=}" "${JUDGE_DROP:=outside}" "${ONLY:=}" "${OUT:=$state/out/$(basename "$0" .sh)}"
W=$state/work/$(basename "$0" .sh)${JUDGE_USER:+-u$JUDGE_USER}
drop=
[ -z "$JUDGE_USER" ] || drop="setpriv --reuid=$JUDGE_USER --regid=$JUDGE_USER --clear-groups --inh-caps=-all"

begin() { # what the last run left is not this user's to remove
	mkdir -p "$state/work"
	exec 9>"$W.lock"
	flock -n 9 || { echo "another run is under way"; exit 3; }
	rm -rf "$W" "$OUT"
	mkdir -p "$W" "$OUT/raw"
	chmod 755 "$state" "$state/work" "$W"
}

# tap NAME DIR COMMAND...: runs it in DIR under WRAP and counts its TAP lines. A case is known by its number alone: its text may hold numbers of processes.
tap() {
	local name=$1 dir=$2 in='' out=$drop rc
	shift 2
	[ -z "$ONLY" ] || [[ $name =~ $ONLY ]] || return 0
	[ "$JUDGE_DROP" = outside ] || { in=$drop out=; }
	# shellcheck disable=SC2086
	timeout -k 10 "${CASE_TMO:-300}" $out env HOME="$W/home" TMPDIR="$W/tmp" LC_ALL=C $WRAP $in sh -c 'cd "$0" && exec "$@"' "$dir" "$@" \
		>"$OUT/raw/$name" 2>&1 </dev/null 9>&-
	rc=$?
	sed -nE "s,^ok ([0-9]+).*# (skip|SKIP).*,S\t$name:\1,p; t; s,^(not )?ok ([0-9]+).*# (TODO|known).*,S\t$name:\2,p; t; \
		s,^ok ([0-9]+).*,P\t$name:\1,p; s,^not ok ([0-9]+).*,F\t$name:\1,p" "$OUT/raw/$name" >>"$OUT/results.txt"
	printf '%s\t%s:exit\n' "$([ $rc = 0 ] && echo P || echo F)" "$name" >>"$OUT/results.txt"
}

finish() {
	LC_ALL=C sort -u -o "$OUT/results.txt" "$OUT/results.txt"
	rm -rf "$W"
	echo "$(basename "$0" .sh)${JUDGE_USER:+-u$JUDGE_USER}: $(grep -c '^P' "$OUT/results.txt") passed, $(grep -c '^F' "$OUT/results.txt") failed," \
		"$(grep -c '^S' "$OUT/results.txt") skipped"
}
