#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 42: a script changes while a person thinks. Row 43: variables that make a trusted program run other code. Each works without the defence (the control).
T=$(mktemp -d /tmp/usher-approval.XXXXXX) || exit 1
trap 'rm -rf "$T"' EXIT
chmod 755 "$T"
bad=0
say() { # NAME GOOD-IF-EMPTY DETAIL
	if [ -z "$2" ]; then echo "ok $1"; else
		echo "not ok $1: $2"
		bad=1
	fi
}
usher() { # RULES COMMAND...
	local rules=$1
	shift
	HOME=$T timeout 60 "$USHER" run -p "$rules" --ask="${ASK:-deny}" --journal "$(mktemp -u "$T/journal.XXXXXX")" -- "$@" 2>"$T/err"
}

# Row 42. The answer is "allow"; it comes when the change is done.
cat >"$T/answer" <<END
#!/bin/sh
cat >/dev/null
touch "$T/asked"
for i in 1 2 3 4 5 6 7 8 9 10; do [ -e "$T/changed" ] && break; sleep 0.2; done
echo '{"answer":"allow"}'
END
chmod 755 "$T/answer"
printf 'ask exec %s/work/** timeout=30s\ndefault allow\n' "$T" >"$T/ask.rules"
printf 'default allow\n' >"$T/allow.rules"
chmod 600 "$T"/*.rules
fresh() {
	rm -rf "$T/work" "$T/asked" "$T/changed"
	mkdir "$T/work"
	printf '#!/bin/sh\necho GOOD; exit 0\n' >"$T/work/script"
	printf '#!/bin/sh\necho EVIL; exit 0\n' >"$T/evil"
	cp "$T/evil" "$T/work/evil"
	printf '#!/bin/sh\nexec /bin/sh "$@"\n' >"$T/work/runner"
	printf '#!%s/work/runner\necho GOOD\n' "$T" >"$T/work/chained"
	printf '#!/bin/sh\necho EVIL\n' >"$T/work/evil-runner"
	cp /bin/true "$T/work/program"
	chmod 755 "$T/work"/* "$T/evil"
}
attack() { # NAME PROGRAM CHANGE: CHANGE happens while the question for PROGRAM waits
	local out
	fresh
	out=$(cd "$T/work" && sh -c "$3" && "$2" 2>/dev/null)
	if ! grep -q EVIL <<<"$out"; then
		echo "not ok row 42: $1: the control does not work: $out"
		bad=1
		return
	fi
	fresh
	out=$(ASK=exec:$T/answer usher "$T/ask.rules" sh -c "cd $T/work; { while [ ! -e $T/asked ]; do sleep 0.05; done; $3; touch $T/changed; } & $2; wait")
	say "row 42: $1" "$(grep EVIL <<<"$out")"
	[ -e "$T/asked" ] || say "row 42: $1" "nobody was asked"
}
attack "written in place" ./script 'cat evil >script'
attack "written in place, its times put back" ./script 'cp -p script keep; cat evil >script; touch -r keep script'
attack "one byte, its size and times kept" ./script 'cp -p script keep; sed s/GOOD/EVIL/ script >new; cat new >script; touch -r keep script'
attack "replaced by rename" ./script 'mv evil script'
attack "exchanged for a link" ./script 'ln -sf evil script'
attack "its folder exchanged" ./script 'mkdir other; cp evil other/script; cp script keep; cp other/script script'
attack "its interpreter exchanged" ./chained 'cat evil-runner >runner'
attack "a program exchanged for a script" ./program 'rm program; cp evil program'
fresh
out=$(ASK=exec:$T/answer usher "$T/ask.rules" sh -c "cd $T/work; touch $T/changed; ./script")
say "row 42: unchanged it runs" "$([ "$out" = GOOD ] || echo "$out $(cat "$T/err")")"

# Row 43. The same programs with and without the variable; a rule refuses programs that are given it.
printf '%s\n' 'deny exec ** env={LD_PRELOAD,LD_AUDIT,LD_LIBRARY_PATH,BASH_ENV,ENV,PYTHONSTARTUP,PYTHONPATH,PYTHONHOME,NODE_OPTIONS,PERL5OPT,PERL5LIB,GCONV_PATH}' \
	'deny exec ** env={GIT_EXTERNAL_DIFF,GIT_SSH,GIT_SSH_COMMAND,GIT_PAGER,GIT_EDITOR,GIT_ASKPASS,GIT_CONFIG_*,GIT_EXEC_PATH}' 'default allow' >"$T/env.rules"
chmod 600 "$T/env.rules"
mkdir "$T/lib"
echo 'echo EVIL' >"$T/lib/evil.sh"
echo 'print("EVIL")' >"$T/lib/sitecustomize.py"
echo 'console.log("EVIL")' >"$T/lib/evil.js"
printf 'package evil; print "EVIL\\n"; 1;\n' >"$T/lib/evil.pm"
cat >"$T/lib/evil.c" <<'END'
#include <unistd.h>
unsigned la_version(unsigned v) { return v; }
__attribute__((constructor)) static void evil(void) { if (write(1, "EVIL\n", 5) < 0) return; }
END
variable() { # NAME COMMAND LINE
	local out
	out=$(cd "$T" && sh -c "$2" 2>/dev/null </dev/null)
	if ! grep -q EVIL <<<"$out"; then
		echo "# left out: row 43: $1: does not work here"
		return
	fi
	out=$(cd "$T" && usher "$T/allow.rules" sh -c "$2" </dev/null)
	say "row 43: $1: where no rule speaks of it, it works as without usher" "$(grep -q EVIL <<<"$out" || echo "$out")"
	out=$(cd "$T" && usher "$T/env.rules" sh -c "($2); echo ran" </dev/null)
	say "row 43: $1" "$(grep EVIL <<<"$out")$(grep -q ran <<<"$out" || cat "$T/err")"
}
if gcc -shared -fPIC -o "$T/lib/evil.so" "$T/lib/evil.c" 2>/dev/null; then
	variable LD_PRELOAD "LD_PRELOAD=$T/lib/evil.so /bin/true"
	variable LD_AUDIT "LD_AUDIT=$T/lib/evil.so /bin/true"
	loader=$(readelf -p .interp /bin/true 2>/dev/null | grep -oE '/[^ ]+')
	variable "LD_PRELOAD as the loader's option" "$loader --preload $T/lib/evil.so /bin/true"
	variable "LD_AUDIT as the loader's option, behind another" "$loader --argv0 x --audit $T/lib/evil.so /bin/true"
	variable "LD_PRELOAD given by env(1)" "env LD_PRELOAD=$T/lib/evil.so /bin/true"
	variable "LD_PRELOAD exported before an exec" "export LD_PRELOAD=$T/lib/evil.so; exec /bin/true"
	cp "$T/lib/evil.so" "$T/lib/libselinux.so.1"
	variable LD_LIBRARY_PATH "LD_LIBRARY_PATH=$T/lib ls /nonexistent; true"
	variable "LD_LIBRARY_PATH as the loader's option" "$loader --library-path $T/lib /bin/ls /nonexistent; true"
fi
variable BASH_ENV "BASH_ENV=$T/lib/evil.sh bash -c :"
variable ENV "ENV=$T/lib/evil.sh sh -i -c :"
variable PYTHONPATH "PYTHONPATH=$T/lib python3 -c 0"
variable PYTHONSTARTUP "PYTHONSTARTUP=$T/lib/sitecustomize.py python3 -i"
variable NODE_OPTIONS "NODE_OPTIONS='--require $T/lib/evil.js' node -e 0"
variable PERL5OPT "PERL5OPT='-I$T/lib -Mevil' perl -e 0"
variable GIT_EXTERNAL_DIFF "GIT_EXTERNAL_DIFF='echo EVIL;:' git diff --no-index --ext-diff lib/evil.sh lib/evil.js"
variable GIT_SSH_COMMAND "GIT_SSH_COMMAND='echo EVIL >&2; false' git ls-remote ssh://localhost/x 2>&1"
variable GIT_CONFIG_COUNT "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!echo EVIL' git x"
exit $bad
