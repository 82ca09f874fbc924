#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `usher check --explain` says is what happens; what the filter decides by itself is refused alike.
. "$(dirname "$0")/lib.sh"

SETUP=setup
setup() {
	mkdir -p a/b x "$T/tmp/out"
	echo 1 >a/f; echo 2 >a/b/g; echo 3 >.env; echo 4 >x/lit; echo 5 >x/e; ln -s ../a/f x/link; ln x/lit x/hard
	cp /bin/true x/prog
}
fresh
cat >"$T/etc/mixed.rules" <<E
deny   read    **/.env errno=ENOENT
deny   read    $T/project/x/lit
deny   exec    $T/project/x/**
allow  read    $T/project/** by=/usr/bin/tail
deny   read    $T/project/a/b/**
allow  read    $T/project/**
deny   create  $T/project/a/**
deny   delete  $T/project/a/f
deny   attr    $T/project/a/f
deny   modify  $T/project/a/f
deny   connect tcp:127.0.0.0/8:1-99
deny   stat    $T/project/x/e
default allow
E
cat >"$T/etc/layer.rules" <<E
deny   create  $T/project/x/new
deny   read    $T/project/a/f
default allow
E
chmod 600 "$T"/etc/*.rules

agree() { # LAYERS QUESTION COMMAND...: the command succeeds exactly when explain says allow
	local layers=$1 question=$2 said did p=() f
	shift 2
	for f in $layers; do p+=("$T/etc/$f.rules"); done
	said=$("$USHER" check --explain "$question" "${p[@]}" | grep -oE -m1 '^(allow|deny)')
	setup 2>/dev/null
	"$USHER" run --ask=deny "${p[@]/#/-p}" -- "$@" >/dev/null 2>&1 </dev/null
	case $? in
	0) did=allow ;;
	125) did=broken ;;
	*) did=deny ;;
	esac
	same "$layers: $question" "$said" "$did"
}
for layers in mixed layer "mixed layer"; do
	agree "$layers" "read $PWD/a/f by /usr/bin/cat" /usr/bin/cat a/f
	agree "$layers" "read $PWD/x/link by /usr/bin/cat" /usr/bin/cat x/link
	agree "$layers" "read $PWD/a/b/g by /usr/bin/cat" /usr/bin/cat a/b/g
	agree "$layers" "read $PWD/a/b/g by /usr/bin/tail" /usr/bin/tail a/b/g
	agree "$layers" "read $PWD/.env by /usr/bin/cat" /usr/bin/cat .env
	agree "$layers" "read $PWD/x/lit by /usr/bin/cat" /usr/bin/cat x/lit
	agree "$layers" "read $PWD/x/hard by /usr/bin/cat" /usr/bin/cat x/hard
	agree "$layers" "read /etc/passwd by /usr/bin/cat" /usr/bin/cat /etc/passwd
	agree "$layers" "exec $PWD/x/prog" x/prog
	agree "$layers" "exec /usr/bin/true" /usr/bin/true
	agree "$layers" "create $PWD/a/new" mkdir a/new
	agree "$layers" "create $PWD/x/new" mkdir x/new
	rmdir a/new x/new 2>/dev/null
	agree "$layers" "delete $PWD/a/f" unlink a/f
	agree "$layers" "attr $PWD/a/f" chmod 600 a/f
	agree "$layers" "attr $PWD/x/link" chmod 600 x/link
	agree "$layers" "modify $PWD/a/f" truncate -c -s 0 a/f
	agree "$layers" "stat $PWD/x/e" test -e x/e
	agree "$layers" "stat $PWD/x/hard" test -e x/hard
done

# What conditions ask of a program, and who calls, is looked at, too.
cat >"$T/etc/trusted.rules" <<E
allow  exec    /usr/bin/** $T/project/x/** trusted
deny   exec    /usr/bin/** $T/project/x/**
default allow
E
cat >"$T/etc/content.rules" <<E
deny   exec    ** sha256=$(sha256sum /usr/bin/true | cut -d' ' -f1)
default allow
E
cat >"$T/etc/uid.rules" <<E
deny   read    $T/project/a/f uid=$(id -u)
allow  read    $T/project/x/e uid=$(id -u)
deny   read    $T/project/x/e
default allow
E
chmod 600 "$T"/etc/*.rules
setup 2>/dev/null
for layers in trusted content; do
	agree "$layers" "exec $(readlink -f /usr/bin/true)" /usr/bin/true
	agree "$layers" "exec $(readlink -f /usr/bin/test)" /usr/bin/test x
	agree "$layers" "exec $PWD/x/prog" x/prog
done
for f in a/f x/e; do agree uid "read $PWD/$f by /usr/bin/cat" /usr/bin/cat $f; done
same "another user's call is asked of by its number" allow "$("$USHER" check --explain "read $PWD/a/f uid 4242" "$T/etc/uid.rules" | grep -oE -m1 '^[a-z]+')"

# Names that are removed or bound are never followed; of the rest the link itself is told apart.
cat >"$T/etc/links.rules" <<E
deny   delete,create,attr **/link
deny   net     unix:**/link
allow  exec    /usr/bin/printf argv="a\\\\ b\\\\\\" c"
allow  exec    /usr/bin/printf argv="push **"
deny   exec    /usr/bin/printf
default allow
E
cat >"$T/etc/targets.rules" <<E
deny   write   **/a/f
default allow
E
chmod 600 "$T"/etc/*.rules
cat >bind.py <<'E'
import socket
try: socket.socket(socket.AF_UNIX).bind("x/link")
except PermissionError: raise
except OSError: pass # the name is taken
E
again() { rm -f x/link; setup 2>/dev/null; }
for layers in links targets; do
	agree "$layers" "delete $PWD/x/link" unlink x/link; again
	agree "$layers" "attr $PWD/x/link" chmod 600 x/link
	agree "$layers" "bind unix:$PWD/x/link" python3 bind.py
done
link_says() { "$USHER" check --explain "$1" "$T/etc/links.rules" | grep -oP '^of the link itself: \K[a-z]+'; }
same "attr: the link itself is told of as well" "deny" "$(link_says "attr $PWD/x/link")"
same "create: a rename puts something in its place" "deny" "$(link_says "create $PWD/x/link")"
same "delete: there is nothing else" "" "$(link_says "delete $PWD/x/link")"
same "and so it is in JSON" "allow deny" "$("$USHER" check --json --explain "attr $PWD/x/link" "$T/etc/links.rules" |
	python3 -c 'import json, sys; e = json.load(sys.stdin); print(e["verdict"], e["link"]["verdict"])')"
check "as lchown finds" sh -c "! '$USHER' run --ask=deny -p '$T/etc/links.rules' -- chown -h $(id -u) x/link"
# The words behind argv are joined as a rule has them: a blank of an argument's own is escaped.
agree links 'exec /usr/bin/printf argv "a\\ b\\\" c"' /usr/bin/printf 'a b"' c
agree links 'exec /usr/bin/printf argv a b c' /usr/bin/printf a b c
agree links 'exec /usr/bin/printf argv push origin' /usr/bin/printf push origin
agree links 'exec /usr/bin/printf argv="push origin"' /usr/bin/printf push origin
agree links 'exec /usr/bin/printf argv "push\\ origin"' /usr/bin/printf "push origin"

printf 'deny delete ** log=none errno=EROFS\nallow stat ** log=none\ndefault allow\n' >"$T/etc/down.rules"
chmod 600 "$T/etc/down.rules"
setup 2>/dev/null
same "a constant refusal is the filter's" "unlinkat filter" "$("$USHER" check --plan "$T/etc/down.rules" | awk '$1 == "unlinkat" { print $1, $2 }')"
same "it is answered as the rule says" "rm: cannot remove 'a/f': Read-only file system" \
	"$("$USHER" run --ask=deny --journal "$T/down" -p "$T/etc/down.rules" -- rm a/f 2>&1 | grep '^rm:')"
check "nothing was removed" test -e a/f
same "and not recorded" "" "$("$USHER" log --json "$T/down" | grep '"op":\["delete"\]')"
# The plan is that of a session which the same process would start: with any capability it mediates changes of user.
if is_root && command -v setpriv >/dev/null; then
	place_of() { (cd / && setpriv --reuid=1000 --regid=1000 --clear-groups "$@" "$USHER" check --plan) | awk '$1 == "setuid" { print $2 }'; }
	same "plan: setuid of an ordinary user is the kernel's" kernel "$(place_of --inh-caps=-all)"
	same "plan: and usher's with any capability" supervisor "$(place_of --inh-caps=+net_bind_service --ambient-caps=+net_bind_service)"
fi
# A file that says nothing: one that was saved empty would deny all.
silent() { # TEXT
	printf '%s\n' "$1" >silent.rules
	"$USHER" check silent.rules 2>&1 | grep -c 'silent.rules:1:1: warning: nothing here decides anything'
}
same "a file of comments alone is told of" "1 1 1" "$(echo $(silent '') $(silent '# deny all') $(silent 'set a = /b'))"
same "one that says anything is not" "0 0 0 0 0" "$(echo $(silent 'default deny') $(silent 'deny read /x') $(silent 'limit processes 10') $(silent 'env drop X') $(silent 'expect deny read /x'))"
# What the README shows: its rules load, each of them can match, and its commands do what they say.
awk '/^A rule file reads like this/ { block = 1; next } block && /^```/ { if (inside) exit; inside = 1; next } inside' "$DOCS/README.md" >my.rules
chmod 600 my.rules
check "the README's rules" test -s my.rules
same "each of the README's rules can match" "" "$("$USHER" check --ask=tty my.rules 2>&1 | grep -E ' error: |never match|no effect')"
same "the README's order asks about history" "ask" "$("$USHER" check --explain "write $PWD/.git/index" my.rules | grep -oE -m1 '^[a-z]+')"
printf 'all:\n\techo made >made\ntest:\n\techo tested >tested\n' >Makefile
run_line() { # as written, but with nobody to ask
	timeout 60 bash -c "${1/ run / run --ask=deny }" </dev/null
}
if command -v make >/dev/null; then
	while read -r line; do
		line=${line%%#*}
		check "README: $line" run_line "${line/build\/usher/$USHER}"
	done < <(grep '^build/usher' "$DOCS/README.md")
	check "the README's make ran" test -s made
	if command -v gcc >/dev/null && command -v git >/dev/null; then
		echo 'int main(void) { return 0; }' >one.c
		printf 'one: one.c\n\tgcc -O2 -o $@ $<\n' >One
		git init -q .
		check "the README's rules are enough for a compiler" "$USHER" run -p my.rules --ask=deny -- sh -c 'make -s -f One one && ./one'
		same "and for git" "?? one" "$("$USHER" run -p my.rules --ask=deny -- git status --short 2>/dev/null | grep -x '?? one')"
		rm -rf .git One one one.c
	fi
fi

# The commands of the manual pages, as they stand there.
mkdir -p "$T/bin"
ln -sf "$USHER" "$T/bin/usher"
printf '#!/bin/sh\ntouch "$TMPDIR/agent-ran"\n' >"$T/bin/my-agent"
chmod 755 "$T/bin/my-agent"
cp "$T/etc/allow.rules" agent.rules; printf "default allow\nallow exec ** hash\n" >hash.rules; chmod 600 hash.rules
manual() { # from a page's source to a command line
	sed -n 's/^\.Dl \(usher \|grep -h\)/\1/p' "$1" | sed -e 's/\\(dq/"/g' -e 's/\\-/-/g' -e 's/\\&//g'
}
n=0
while read -r line; do
	n=$((n + 1))
	case $line in
	*--isolate=*,tmp*) line=${line/,tmp/} ;; # an empty /tmp would hide this test's own place
	*" DIR"*) line=${line//DIR/"$(find "$XDG_STATE_HOME/usher" -mindepth 1 -maxdepth 1 -name '*-*' -type d | head -n 1)"} ;;
	esac
	if [[ $line == *"| jq "* ]] && ! command -v jq >/dev/null; then
		skip "manual: $line" "no jq"
		continue
	fi
	if [[ $line == *--isolate=*pid* ]] && ! own_proc; then
		skip "manual: $line" "a container that hides parts of /proc"
		continue
	fi
	check "manual: $line" env PATH="$T/bin:$PATH" timeout 60 bash -c "set -o pipefail; ${line/ run -- / run --ask=deny -- }"
done < <(for f in "$DOCS"/man/*; do manual "$f"; done)
check "the manual has commands" test $n -ge 6
check "the manual's agent ran" test -e "$TMPDIR/agent-ran"

# Names in --json are as in the journal: none looks like another, and each comes back byte by byte.
echo 'deny raed /x' >"$T/etc/plain.rules"
check "names in --json and in text are told apart and come back" python3 - "$USHER" "$T/etc/plain.rules" <<'E'
import json, os, shutil, subprocess, sys
usher, plain = sys.argv[1:]
said, text = set(), set()
names = [b"a\xff", "a\u00ff".encode(), "a\uefff".encode(), b"a\\xff", b"a\x1b[31m", b"a\xc3", b"a\xef\xbe\xbf"]
for name in names:
    path = os.path.dirname(plain).encode() + b"/" + name
    shutil.copyfile(plain, path)
    os.chmod(path, 0o600)
    out = subprocess.run([usher, b"check", b"--json", path], capture_output=True).stdout
    file = json.loads(out)[0]["file"]
    back = b"".join(bytes([ord(c) - 0xEF00]) if "\uef80" <= c <= "\uefff" else c.encode() for c in file)
    assert back == path, (back, path)
    assert all(0x20 <= b < 0x7f or b == 10 for b in out)
    said.add(file)
    out = subprocess.run([usher, b"check", path], capture_output=True).stderr
    assert all(0x20 <= b < 0x7f or b == 10 for b in out), out
    text.add(out.splitlines()[0])
assert len(said) == len(text) == len(names)
E

finish
