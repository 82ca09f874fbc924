# SPDX-License-Identifier: Apache-2.0
# Common part of the end-to-end tests; sourced by bash scripts. They find USHER, BIN (helper
# programs), EXAMPLES, DOCS (the README and manual pages) and SOURCES (unpacked Debian sources) in the environment.
#
# Every script has a scratch folder $T with a project (the working directory), a home and a
# temporary folder. A script prints ok/not ok/skip lines and ends with `finish`.
set -u
umask 022
SCRIPT=$(basename "$0" .sh)
T=$(mktemp -d "${TEST_TMP:-/tmp}/e2e-$SCRIPT.XXXXXX") || exit 1
CLEANUP=()
FAILED=0
PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin
export PATH HOME=$T/home TMPDIR=$T/tmp XDG_STATE_HOME=$T/state LC_ALL=C.UTF-8 TZ=UTC
export USER=tester LOGNAME=tester SHELL=/bin/bash TERM=xterm T
unset XDG_CONFIG_HOME XDG_RUNTIME_DIR XDG_CACHE_HOME MAKEFLAGS MAKELEVEL MFLAGS ENV BASH_ENV
mkdir -p "$T/state" "$T/etc"
mkfifo "$T/etc/nap"
at_exit() { # registers a command line for the end, last first
	CLEANUP=("$1" "${CLEANUP[@]}")
}
on_exit() {
	local c
	for c in "${CLEANUP[@]}"; do eval "$c"; done
	cd / || exit 1
	[ -n "${KEEP:-}" ] || rm -rf "$T" 2>/dev/null || { chmod -R u+rwX "$T"; rm -rf "$T"; }
}
trap on_exit EXIT
trap 'exit 143' TERM INT

echo 'default allow' >"$T/etc/allow.rules"
printf 'allow read ** log=none\ndefault allow\n' >"$T/etc/reads.rules"
chmod 600 "$T/etc/allow.rules" "$T/etc/reads.rules"

rules() { # NAME, text on stdin: a rule file, $R
	R=$T/etc/$1
	cat >"$R"
	chmod 600 "$R"
}

ok() { echo "ok $*"; }
not_ok() { # NAME [what was seen]
	echo "not ok $1"
	shift
	[ $# = 0 ] || printf '    %s\n' "$@"
	FAILED=1
}
skip() { echo "skip $1: ${2:-not possible here}"; }
# Whether usher was built with a sanitizer: memory is locked, and shared, otherwise then.
sanitized() { [ "${SANITIZED:-}" = 1 ] && grep -aqE '__(a|t)san_init' "$USHER"; }
skip_all() { skip "$SCRIPT" "$1"; exit 77; }
need() { # COMMAND...: the script makes no sense without them
	local c
	for c; do command -v "$c" >/dev/null || skip_all "no $c"; done
}
# A check by a name that nobody defined would be none, and seen by nobody. (bash calls this in a process of its own.)
command_not_found_handle() {
	echo "$1" >>"$T/.not-found"
	echo "$1: command not found" >&2
	return 127
}
finish() {
	[ ! -s "$T/.not-found" ] || not_ok "every command of the test is there" "missing: $(sort -u "$T/.not-found" | xargs)"
	exit "$FAILED"
}
check() { # NAME COMMAND...: ok when the command succeeds
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then ok "$name"; else not_ok "$name" "failed: $*" "$(tail -n 20 <<<"$out")"; fi
}
same() { # NAME WANT GOT
	if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "expected: $(head -c 2000 <<<"$2")" "seen:     $(head -c 2000 <<<"$3")"; fi
}
has() { # NAME TEXT WHERE
	if grep -qaF -- "$2" "$3"; then ok "$1"; else not_ok "$1" "no '$2' in:" "$(head -c 1500 "$3")"; fi
}
peak() { # COMMAND...: its status, and whether it held less than a quarter of a gigabyte; needs python3
	python3 -c 'import resource, subprocess as s, sys
n = s.DEVNULL; print(s.run(sys.argv[1:], stdout=n, stderr=n).returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 1 << 18)' "$@"
}

is_root() { [ "$(id -u)" = 0 ]; }
# Whether a pid namespace can have a /proc of its own: not in a container that hides parts of it.
own_proc() { if is_root; then unshare -pf --mount-proc true; else unshare -rpf --mount-proc true; fi 2>/dev/null; }
# Whether the kernel says which file a unix socket was bound to (unix_diag): one that is not built in, and has no modules, does not.
unix_names() { "$USHER" doctor 2>/dev/null | grep -q '^ok *unix-names'; }
vacant_ports() { "$USHER" doctor 2>/dev/null | grep -q '^ok *vacant-ports'; } # inet_diag, likewise
# Whether a session of this user's, who could write it nowhere else, has its journal in /tmp: the default place is there as well.
sessions_in_tmp() { compgen -G "/tmp/usher-$(id -u)/*/journal-000001.jsonl" >/dev/null; }

# Waits until the command succeeds, at most 20 s, six times that for a sanitized usher (WITHIN seconds).
patience=20
if sanitized; then patience=120; fi
wait_for() {
	local i n=$((${WITHIN:-$patience} * 50))
	for ((i = 0; i < n; i++)); do
		"$@" >/dev/null 2>&1 && return 0
		read -rt 0.02 <>"$T/etc/nap" # a sleep without a process
	done
	return 1
}
gone() { ! kill -0 "$1" 2>/dev/null; }
listening() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
# Prints a port of the loopback that nobody has, for streams and datagrams; below those that the kernel hands out (ip_local_port_range), which any client
# may be given between here and its use.
free_port() {
	python3 -c '
import random, socket
while True:
    port = random.randrange(10000, 32768)
    try:
        for family, to in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                with socket.socket(family, kind) as s: s.bind((to, port))
    except OSError as e:
        if e.errno not in (97, 99): continue # without IPv6 that is enough
    print(port)
    break' 2>/dev/null ||
		{ local p; while p=$((10000 + RANDOM % 20000)) && listening $p; do :; done; echo $p; }
}

# A fresh project, home and temporary folder; SETUP names a function that fills them.
fresh() {
	local d=("$T/project" "$T/home" "$T/tmp")
	rm -rf "${d[@]}" 2>/dev/null || { chmod -R u+rwX "${d[@]}"; rm -rf "${d[@]}"; }
	mkdir -p "${d[@]}"
	cd "$T/project" || exit 1
	[ -z "${SETUP:-}" ] || "$SETUP"
}

# The project as text: names, types, modes, sizes, links, contents. IGNORE is an extended regex of names to leave out.
snapshot() {
	local names
	: >"$T/etc/files"
	names=$(find "$T/project" -mindepth 1 \( -type d -printf '%P %y %m\n' -o -printf '%P %y %m %s %n %l\n' \) -type f -fprintf "$T/etc/files" '%P\0')
	[ -n "$names" ] || return 0 # most cases leave nothing behind, and a process for it is dear
	grep -avE "${IGNORE:-^$}" <<<"$names" | LC_ALL=C sort
	[ ! -s "$T/etc/files" ] || (cd "$T/project" && grep -zavE "${IGNORE:-^$}" "$T/etc/files" | LC_ALL=C sort -z | xargs -0r sha256sum)
} 2>&1

# supervise MODE COMMAND...: under a policy. The journal is kept in $JOURNAL and proved whole afterwards.
#   reads  everything allowed, reads unrecorded (left to the kernel where that is possible)
#   allow  everything allowed     agent  builtin:agent, questions denied     yes  builtin:agent, questions answered yes
# Any other MODE is a rule file; its questions go to $ASK, by default deny. OPTIONS are further options.
supervise() {
	local mode=$1 rc o=()
	shift
	JOURNAL=$T/journal.${mode##*/}.${EPOCHREALTIME/./}
	case $mode in
	reads) o=(-p "$T/etc/reads.rules" --ask=deny) ;;
	allow) o=(-p "$T/etc/allow.rules" --ask=deny) ;;
	agent) o=(--ask=deny) ;;
	yes) o=(--ask="exec:$T/etc/yes") ;;
	*) o=(-p "$mode" --ask="${ASK:-deny}") ;;
	esac
	# shellcheck disable=SC2086
	"$USHER" run "${o[@]}" ${OPTIONS:-} --journal "$JOURNAL" -- "$@"
	rc=$?
	if [ -d "$JOURNAL" ]; then
		"$USHER" verify "$JOURNAL" >"$T/verify.out" 2>&1 || echo "verify failed: $(tail -n 3 "$T/verify.out")" >&2
	fi
	return $rc
}
cat >"$T/etc/yes" <<'EOS'
#!/bin/sh
cat >/dev/null
echo '{"answer":"allow"}'
EOS
chmod 755 "$T/etc/yes"

# What usher itself says begins with its name; process ids differ from run to run.
# usher's own lines are left out, and the rules it lists at the very end.
program_stderr() { sed -e '/^usher: questions that nobody answered/,$d' -e '/^usher: /d' -e 's/^\(bash: line [0-9]*\): *[0-9]* /\1: PID /' "$1"; }

records() { grep -ah '^{' "$1"/* 2>/dev/null; } # of a journal folder
refused() { # the last denied records of a journal, for a failure's report
	records "$1" | grep -aE '"verdict":"(deny|kill)"' | tail -n 8 | cut -c 1-400
}

# Closes what this shell inherited beyond the three standard descriptors, as usher does for its command.
only_three() {
	local f
	for f in "/proc/$BASHPID/fd/"*; do
		f=${f##*/}
		[ "$f" -le 2 ] || [ "$f" = 255 ] || eval "exec $f>&-"
	done
}

# both NAME [RC]: the script on stdin, run natively and under each policy of MODES (default allow and
# agent) in a fresh project, must give the same output, status and files. RC is what the native run
# must end with: the proof that the test works at all.
both() {
	local name=$1 want=${2:-0} script mode rc
	IFS= read -rd '' script
	[ -z "${ONLY_CASE:-}" ] || [ "$ONLY_CASE" = "$name" ] || return 0
	for mode in native ${MODES:-allow agent}; do
		fresh
		if [ "$mode" = native ]; then
			(only_three && exec bash -c "$script") >"$T/out.$mode" 2>"$T/err.$mode" </dev/null
		else
			supervise "$mode" bash -c "$script" >"$T/out.$mode" 2>"$T/err.$mode" </dev/null
		fi
		rc=$?
		{
			echo "status $rc"
			[ ! -s "$T/out.$mode" ] || sed 's/^/out: /' "$T/out.$mode"
			[ ! -s "$T/err.$mode" ] || program_stderr "$T/err.$mode" | sed 's/^/err: /'
			snapshot
		} >"$T/result.$mode"
		if [ "$mode" = native ]; then
			if [ $rc != "$want" ]; then
				not_ok "$name (native)" "ends with $rc, not $want" "$(tail -n 20 "$T/out.native" "$T/err.native")"
				return
			fi
		elif cmp -s "$T/result.native" "$T/result.$mode"; then
			ok "$name ($mode)"
		else
			not_ok "$name ($mode)" "$(diff -a "$T/result.native" "$T/result.$mode" | head -n 30)" "$(refused "$JOURNAL")" \
				"$(grep -a '^usher: ' "$T/err.$mode" | tail -n 5)"
		fi
	done
	cd / || exit 1
}

# source_tree PACKAGE: prints the folder of an unpacked Debian source; the script names it in a "# source:" line.
source_tree() {
	[ -d "$SOURCES/$1" ] && find "$SOURCES/$1" -mindepth 1 -maxdepth 1 -type d | head -n 1 | grep .
}
