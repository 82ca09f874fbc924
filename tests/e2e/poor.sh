#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where a container's filter is around usher: what threads do through descriptors works, and is done to theirs, where the kernel has no pidfds of threads (before 6.9)
# and the filter no kcmp; and where Docker's has no unshare either.
. "$(dirname "$0")/lib.sh"
fresh
: >mine; : >leaders
threads() { # NAME COMMAND...: what a program with threads says below COMMAND
	chmod 600 mine leaders
	"${@:2}" "$USHER" run -p "$T/etc/allow.rules" --journal "$T/j.$1" -- "$BIN/poor" threads mine leaders 2>"$T/err"
}
native=$("$BIN/poor" threads mine leaders)
same "the control: all is there" "$native" "$(threads all env)"
same "no pidfds of threads, no kcmp" "$native" "$(threads old "$BIN/poor" old)"
grep -q ' done$' <<<"$native" || not_ok "natively it works" "$native"
# What nothing works without: run says which call it is, and doctor does not say that it works.
for call in ptrace openat2 pidfd_open close_range; do
	out=$("$BIN/poor" $call "$USHER" run -p "$T/etc/allow.rules" --journal "$T/j.$call" -- true 2>&1)
	same "no $call: run does not start, and says why" "125 1" "$? $(grep -c "$call" <<<"$out")"
	check "and doctor" grep -q "^missing  *${call/_/-}" <("$BIN/poor" $call "$USHER" doctor)
done
out=$("$BIN/poor" setrlimit "$USHER" run -p "$T/etc/allow.rules" --journal "$T/j.setrlimit" -- true 2>&1)
same "no setrlimit: nothing runs, and run says why" "125 1" "$? $(grep -c "limit the command's open files" <<<"$out")"
if ! readelf -l "$USHER" 2>/dev/null | grep -q INTERP; then
	same "Docker's filter, with SYS_PTRACE" "$native" "$(threads ptrace "$BIN/poor" docker-ptrace)"
	same "and nothing to say" "" "$(grep -v CAP_SYS_PTRACE "$T/err")"
	same "and doctor says that it works" "usher run works here." "$("$BIN/poor" docker-ptrace "$USHER" doctor | tail -n 1)"
	# Without it a caller's descriptors cannot be had: what takes one is refused, the rest works, and run says so.
	without() { "$BIN/poor" docker "$USHER" run -p "$T/etc/allow.rules" --journal "$T/j$RANDOM" -- "$@" 2>"$T/err"; }
	same "without it: a change by a directory's descriptor is refused" "here" "$(mkdir d; echo here >f; without mv f d; cat f)"
	check "and run says so" grep -q 'cap-add=SYS_PTRACE' "$T/err"
	check "and doctor" grep -q '^weaker  *pidfd-getfd' <("$BIN/poor" docker "$USHER" doctor)
	same "Docker 20.10's, which lets no memory be read: run does not start, and says why" 1 \
		"$("$BIN/poor" docker-20 "$USHER" run -p "$T/etc/allow.rules" --journal "$T/j.20" -- true 2>&1 | grep -c 'process_vm_readv.*cap-add=SYS_PTRACE')"
	check "and doctor" grep -q '^missing  *read-memory' <("$BIN/poor" docker-20 "$USHER" doctor)
	same "under the newer one the rest works" "one two" "$(without sh -c 'echo one >f; mkdir e; mv f e/f; echo "$(cat e/f) two"')"
else
	skip "Docker's filter" "usher is linked with shared libraries"
	check "doctor says what is missing" grep -q '^missing  *own-directory' <("$BIN/poor" docker "$USHER" doctor)
fi
finish
