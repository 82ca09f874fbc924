#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make demo: a session to watch. Makes a project and a home of its own in a temporary folder, runs a
# small agent there under builtin:agent and demo.rules, and shows what the journal says.
set -eu
usher=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
top=$(mktemp -d "${TMPDIR:-/tmp}/usher-demo.XXXXXX")
trap 'rm -rf "$top"' EXIT
trap 'exit 130' INT TERM

project=$top/project home=$top/home
mkdir -p "$project/.git/hooks" "$home/.ssh" "$top/tmp" "$top/state"
cp "$here/agent.sh" "$here/greet.c" "$project/"
cp "$here/demo.rules" "$here/answer.sh" "$top/"
chmod 600 "$top/demo.rules"
chmod 755 "$project/agent.sh" "$top/answer.sh"
echo "A project to work on." >"$project/README"
echo "host = production" >"$project/settings.conf"
echo "host = a harmless stand-in" >"$project/settings.safe"
echo "first release" >"$project/CHANGES"
echo "-----BEGIN FAKE KEY----- (made for this demonstration)" >"$home/.ssh/id_demo"
chmod 600 "$home/.ssh/id_demo"

if [ -t 0 ] && [ -t 1 ]; then
	echo "You will be asked twice. Refuse the hook, allow the change log, or find out what happens otherwise."
	ask=tty
else
	echo "There is no terminal here, so examples/demo/answer.sh answers in your place: no to the hook, yes to the change log."
	ask=exec:$top/answer.sh
fi
journal=$top/state/session
command="usher run -p builtin:agent -p demo.rules --journal session -- ./agent.sh"
echo
echo "\$ $command"
cd "$project"
status=0
HOME=$home TMPDIR=$top/tmp XDG_STATE_HOME=$top/state "$usher" run -p builtin:agent -p "$top/demo.rules" --ask="$ask" --journal "$journal" -- ./agent.sh || status=$?
[ "$status" = 0 ] || { echo "the session ended with $status" >&2; exit "$status"; }

echo
for query in denied "asked type:call" verdict:rewrite; do
	echo "\$ usher log session $query"
	# shellcheck disable=SC2086
	"$usher" log "$journal" $query | sed -E "s|$top/||g; s/^/  /" | uniq
done

echo
echo "\$ usher verify session"
"$usher" verify "$journal" | sed -E "s|$top|...|g; s/^/  /"
