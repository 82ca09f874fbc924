#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A command with more arguments, a longer one, and a larger environment than a record holds: it runs, and the record tells what it was in all.
. "$(dirname "$0")/lib.sh"
need python3 seq
fresh
long=$(head -c 100000 /dev/zero | tr '\0' a)
secret=ghp_abcdefghijklmnopqrstuvwxyz0123456789

start_says() { # NAME EXPRESSION over s, the start record, and a, the arguments that follow
	python3 - "$JOURNAL" "$2" "${@:3}" <<'P' && ok "$1" || not_ok "$1" "$(records "$JOURNAL" | head -n 1 | cut -c 1-600)"
import hashlib, json, sys
s, a = json.loads(open(sys.argv[1] + "/journal-000001.jsonl").readline()), sys.argv[3:]
whole = "".join(x + "\0" for x in a).encode()
sys.exit(0 if eval(sys.argv[2]) else 1)
P
}
session() { # NAME, then the command
	JOURNAL=$T/j-$1
	shift
	"$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal "$JOURNAL" -- "$@" >"$T/out" 2>"$T/err"
}

# 14,000 words are 69 kB: a single one of python3's arguments may be 128 kB.
words=$(seq 14000)
# shellcheck disable=SC2086
session many /bin/echo $words
same "14,000 arguments" 0 $?
# shellcheck disable=SC2086
same "reach the program" "$(/bin/echo $words | cksum)" "$(cksum <"$T/out")"
# shellcheck disable=SC2086
start_says "the record has the first ones, the length and the hash of all" \
	's["command"][:3] == ["/bin/echo", "1", "2"] and s["command"] == a[:len(s["command"])] and s["command_len"] == len(whole) and s["command_hash"] == hashlib.sha256(whole).hexdigest()' /bin/echo $words
check "the journal is whole" "$USHER" verify "$JOURNAL"

session one /bin/echo "$long" behind
same "an argument of 100,000 bytes" 100008 "$(wc -c <"$T/out")"
start_says "the record has its beginning" \
	's["command"] == ["/bin/echo", a[1][:1024]] and s["command_len"] == len(whole) and s["command_hash"] == hashlib.sha256(whole).hexdigest()' /bin/echo "$long" behind

# The cut falls into the secret: no part of it is shown, and no hash by which it could be tried out.
session secret /bin/echo "${long:0:1000} $secret ${long:0:60000}"
same "an argument of 60,000 bytes with a secret" 61043 "$(wc -c <"$T/out")"
start_says "the record has neither a part of the secret nor the hash" '"ghp_" not in str(s) and s["command"][1].startswith("<redacted:") and "command_hash" not in s and s["command_len"] > 61000'
session short /bin/echo "$long" "$secret"
start_says "nor where the secret is behind what is kept" '"ghp_" not in str(s) and "command_hash" not in s'

session plain /bin/echo some words
start_says "a short command is there in full, without them" 's["command"] == ["/bin/echo", "some", "words"] and "command_len" not in s and "environment_count" not in s'

(
	for i in $(seq 9000); do export "VARIABLE_$i=$i"; done
	session environment /usr/bin/env
)
same "9,000 variables" 9000 "$(grep -c '^VARIABLE_' "$T/out")"
JOURNAL=$T/j-environment
start_says "the record has some of the names and their number" '500 < len(s["environment"]) < 9000 < s["environment_count"] < 9200'
finish
