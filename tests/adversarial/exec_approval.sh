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
# What else runs by that answer: a loader of the program's own, the program that a loader is given; and what a mapping changes, which moves no times.
cat >"$T/program.c" <<'END'
#include <unistd.h>
static const char text[] = "GOOD\n";
int main(void) { return write(1, text, 5) != 5; }
END
cat >"$T/loader.c" <<'END'
static const char text[] = "GOOD\n";
void _start(void)
{
	long r;
	__asm__ volatile("syscall" : "=a"(r) : "a"(1L), "D"(1L), "S"(text), "d"(5L) : "rcx", "r11", "memory");
	__asm__ volatile("syscall" : : "a"(231L), "D"(0L));
	__builtin_unreachable();
}
END
cat >"$T/mapping.py" <<'END'
import mmap, os, sys, time
f = open(sys.argv[1], "r+b")
m = mmap.mmap(f.fileno(), 0)
at = m.find(b"GOOD")
m[at:at + 4] = b"GOOD"
f.close()
open(sys.argv[2] + "/mapped", "w").close()
while not os.path.exists(sys.argv[2] + "/asked"): time.sleep(0.02)
m[at:at + 4] = b"EVIL"
m.close()
END
loader=$(readelf -p .interp /bin/true 2>/dev/null | grep -oE '/[^ ]+')
if [ "$(uname -m)" = x86_64 ] && gcc -O1 -o "$T/good" "$T/program.c" 2>/dev/null && gcc -O1 -nostdlib -static-pie -fPIE -o "$T/loads" "$T/loader.c" 2>/dev/null &&
	gcc -O1 -Wl,--dynamic-linker="$T/work/loader" -o "$T/loaded" "$T/program.c" 2>/dev/null; then
	files() {
		fresh
		rm -f "$T/mapped"
		cp "$T/good" "$T/work/program"
		cp "$T/loads" "$T/work/loader"
		cp "$T/loaded" "$T/work/loaded"
		sed s/GOOD/EVIL/ "$T/good" >"$T/work/evil"
		sed s/GOOD/EVIL/ "$T/loads" >"$T/work/evil-loader"
	}
	elf_attack() { # NAME COMMAND CHANGE
		local out
		files
		out=$(cd "$T/work" && touch "$T/asked" && sh -c "$3" && $2 2>/dev/null)
		grep -q EVIL <<<"$out" || say "row 42: $1" "the control does not work: $out"
		files
		out=$(ASK=exec:$T/answer usher "$T/ask.rules" sh -c "cd $T/work; { while [ ! -e $T/asked ]; do sleep 0.05; done; $3; touch $T/changed; } & ${4:-:}; $2; wait")
		say "row 42: $1" "$(grep EVIL <<<"$out")"
		[ -e "$T/asked" ] || say "row 42: $1" "nobody was asked"
	}
	elf_attack "a program written in place" ./program 'cat evil >program'
	elf_attack "its own loader written in place" ./loaded 'cat evil-loader >loader'
	elf_attack "what a loader is given, written in place" "$loader ./program" 'cat evil >program'
	if command -v python3 >/dev/null; then
		files
		out=$(ASK=exec:$T/answer usher "$T/ask.rules" sh -c "cd $T/work; { python3 $T/mapping.py program $T; touch $T/changed; } & while [ ! -e $T/mapped ]; do sleep 0.05; done; ./program; wait")
		say "row 42: a program changed through a mapping" "$(grep EVIL <<<"$out")"
		files
		(cd "$T/work" && touch "$T/asked" && python3 "$T/mapping.py" program "$T")
		say "row 42: (the control)" "$("$T/work/program" | grep -q EVIL || echo "the control does not work")"
	fi
fi
# The same command line asks again when the program is another already: a question of its own, which nobody says yes to.
cat >"$T/first" <<END
#!/bin/sh
cat >/dev/null
mkdir "$T/once" 2>/dev/null || { echo '{"answer":"deny"}'; exit; }
touch "$T/asked"
sleep 2
echo '{"answer":"allow"}'
END
chmod 755 "$T/first"
fresh
out=$(ASK=exec:$T/first usher "$T/ask.rules" sh -c "cd $T/work; ./script & while [ ! -e $T/asked ]; do sleep 0.05; done; cat evil >script; ./script; wait")
say "row 42: an answer is none to another content of that name" "$(grep EVIL <<<"$out")"
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
