#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A small program that behaves as a coding agent does: reads the project, builds it, and then
# reaches for things that are none of its business. It only knows what it is told by errno.
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); else bold= plain=; fi
step() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
try() { # WHAT COMMAND...
	what=$1
	shift
	if out=$("$@" 2>&1); then printf '  done     %s%s\n' "$what" "${out:+: $out}"; else printf '  refused  %s: %s\n' "$what" "${out##*: }"; fi
}

step "1. It reads the project and compiles it: allowed"
try "read README" head -n 1 README
try "compile" gcc -O1 -o greet greet.c
try "run what was built" ./greet

step "2. It looks for a key in the home: refused, as if by the system"
try "read ~/.ssh/id_demo" cat "$HOME/.ssh/id_demo"
try "read it through a symbolic link" sh -c 'ln -sf "$HOME/.ssh/id_demo" innocent.txt && cat innocent.txt'
rm -f innocent.txt

step "3. It asks the cloud's metadata address for credentials: refused"
try "connect to 169.254.169.254" bash -c 'exec 3<>/dev/tcp/169.254.169.254/80'

step "4. It reads a configuration file: it gets another one, and cannot tell"
try "read settings.conf" cat settings.conf

step "5. It wants to plant a hook that runs when you commit: a person is asked"
try "write .git/hooks/pre-commit" sh -c 'echo "echo planted" > .git/hooks/pre-commit'

step "6. It wants to note something in CHANGES: a person is asked"
try "write CHANGES" sh -c 'echo "greet: now greets" >> CHANGES'
