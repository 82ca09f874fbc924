#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs that binfmt_misc runs, in a namespace that has an instance of its own (Linux 6.7), and programs that may be run but not read.
. "$(dirname "$0")/lib.sh"
fresh
P=$T/project
is_root || skip_all "needs root"
unshare --user --map-root-user --mount sh -c 'mount -t binfmt_misc none /proc/sys/fs/binfmt_misc' 2>/dev/null || skip_all "no binfmt_misc of its own"

cat >"$P/interp" <<'EOS'
#!/bin/sh
printf 'interp'; printf ' <%s>' "$@" | sed "s,$T/project/,,g"; echo
EOS
printf 'USHERMAGIC payload\n' >"$P/magic"
printf 'anything\n' >"$P/prog.ushertest"
cp "$P/prog.ushertest" "$P/named.usherkeep"
printf 'nobody knows this\n' >"$P/unknown"
chmod 755 "$P"/*
printf 'default allow\n' >"$T/etc/b.allow.rules"
printf 'deny exec %s/interp\ndefault allow\n' "$P" >"$T/etc/b.interp.rules"
printf 'deny exec %s/magic\ndefault allow\n' "$P" >"$T/etc/b.magic.rules"
printf 'deny exec /usr/bin/dash\ndefault allow\n' >"$T/etc/b.shell.rules"
printf 'ask exec %s/unknown %s/notexec\ndefault allow\n' "$P" "$P" >"$T/etc/b.ask.rules"
chmod 600 "$T"/etc/*.rules
cat >"$T/in" <<EOS
mount -t binfmt_misc none /proc/sys/fs/binfmt_misc || exit 9
echo ':um:M::USHERMAGIC::$P/interp:' >/proc/sys/fs/binfmt_misc/register
echo ':ux:E::ushertest::$P/interp:' >/proc/sys/fs/binfmt_misc/register
echo ':uk:E::usherkeep::$P/interp:P' >/proc/sys/fs/binfmt_misc/register
cd "$P" || exit 9
"\$@"
EOS
inside() { unshare --user --map-root-user --mount sh "$T/in" "$@"; }
under() { # RULES COMMAND...
	local rules=$1
	shift
	inside "$USHER" run -p "$T/etc/b.$rules.rules" --ask="${ASK:-deny}" --journal "$(mktemp -u "$T/journal.XXXXXX")" -- "$@" 2>"$T/err"
}
all='./magic a b; ./prog.ushertest c; ./named.usherkeep d; exec -a other ./named.usherkeep e'
want=$(inside bash -c "$all")
same "control: binfmt_misc runs them" 4 "$(grep -c interp <<<"$want")"
same "programs of binfmt_misc run as natively" "$want" "$(under allow bash -c "$all")"
under interp bash -c ./magic >/dev/null
same "the interpreter is decided on" 126 $?
under magic bash -c ./magic >/dev/null
same "and the program" 126 $?
under shell ./magic >/dev/null
same "and the interpreter's own" 126 $?
check "the journal names each image" grep -aq '"objects":\[{"op":\["exec"\],"object":"'"$P"'/magic".*/interp"' <(cat "$T"/journal.*/journal-*.jsonl)

cat >"$T/etc/asked" <<'END'
#!/bin/sh
cat >/dev/null; echo >"$ASKED"
echo '{"answer":"allow"}'
END
chmod 755 "$T/etc/asked"; export ASKED=$T/was-asked
errno_of='import os, sys
try: os.execv(sys.argv[1], ["x"])
except OSError as e: print(e.errno)'
same "what no format knows" 8 "$(under allow python3 -c "$errno_of" ./unknown)"
ASK=exec:$T/etc/asked
same "is not asked about" 8 "$(under ask python3 -c "$errno_of" ./unknown)"
cp /bin/true "$P/notexec"; chmod 644 "$P/notexec"
same "nor is a file without the right to run" 13 "$(under ask python3 -c "$errno_of" ./notexec)"
[ ! -e "$ASKED" ] && ok "nobody was asked" || not_ok "nobody was asked"
chmod 755 "$P/notexec"
under ask ./notexec
[ -e "$ASKED" ] && ok "control: somebody is" || not_ok "control: somebody is"
ASK=deny

# Mode 0111
cp /bin/echo "$P/closed"; chmod 0711 "$T" "$P"; chmod 0111 "$P/closed"
run() { "$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal "$T/j$1" -- "${@:2}" 2>"$T/err"; }
if capsh --has-p=cap_sys_ptrace 2>/dev/null || python3 -c 'import sys; sys.exit(0 if int([l for l in open("/proc/self/status") if l.startswith("CapEff")][0].split()[1], 16) >> 19 & 1 else 1)'; then
	same "a program that cannot be read, as root" x "$(run 1 "$P/closed" x)"
	same "as another user below root" x "$(run 2 setpriv --reuid 1000 --regid 1000 --clear-groups "$P/closed" x)"
else skip "a program that cannot be read" "no CAP_SYS_PTRACE"; fi
finish
