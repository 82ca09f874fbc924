#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# waits
# --ask=exec:CMD with helpers that are slow, die, or lie; and questions that are not put because the kernel would refuse anyway.
# quick: 1000
. "$(dirname "$0")/lib.sh"

mkdir -p "$T/w" "$T/config"
cd "$T/w" || exit 1
export XDG_CONFIG_HOME=$T/config
cat >"$T/etc/ask.rules" <<'R'
default allow
deny read **/never
ask read **/q* timeout=100s
ask read **/silent timeout=2s
ask exec **/called
R
chmod 600 "$T/etc/ask.rules"
echo "content one" >q1
echo "content two" >q2
echo "content never" >never
echo "content silent" >silent
echo "content other" >other
ln -s never link
N=0
asked() { # HELPER COMMAND...
	local helper=$1
	shift
	timeout -k 1 60 "$USHER" run -p "$T/etc/ask.rules" --ask="$helper" --journal "$T/j$((++N))" -- "$@" >"$T/out" 2>"$T/err" </dev/null
}
answer() { asked "exec:echo '$1'" cat q1; }

answer '{"answer":"allow"}'
same "a helper's word counts" "content one" "$(cat "$T/out")"
answer "{\"answer\":\"rewrite\",\"target\":\"$T/w/other\"}"
same "it may name another object" "content other" "$(cat "$T/out")"
# A question says what the mode or the owner would be, and two that differ in it are two.
printf 'default allow\nask attr %s\n' "$T/w/moded" >"$T/etc/modes.rules"; chmod 600 "$T/etc/modes.rules"; : >moded
modes() { # SHELL COMMANDS
	timeout -k 1 60 "$USHER" run -p "$T/etc/modes.rules" --ask="exec:cat >>$T/w/modes; sleep 0.5; echo '{\"answer\":\"allow\"}'" -- sh -c "$1" 2>"$T/err" </dev/null
	grep -o '"flags":"[^"]*"' modes | sort | xargs; rm -f modes
}
same "a question of chmod has the mode" "flags:mode 4711 flags:mode 4711" "$(modes 'chmod 4711 moded; chmod 4711 moded')"
same "two at once are two" "flags:mode 0600 flags:mode 0644" "$(modes 'chmod 600 moded & chmod 644 moded; wait')"
same "control: two of the same are one" "flags:mode 0600" "$(modes 'chmod 600 moded & chmod 600 moded; wait')"
same "one of chown has the owner" "flags:owner $(id -u):" "$(modes "chown $(id -u) moded")"
xattr() { echo "python3 -S -c 'import os; os.setxattr(\"moded\", \"user.a\", b\"$1\" * $2)'"; } # VALUE TIMES
same "one of an attribute what it says" "flags:attribute user.a, value v" "$(modes "$(xattr v 1)")"
same "of a long one the beginning" "yes" "$(modes "$(xattr v 500)" | grep -qx 'flags:attribute user.a, value v\{200\} \[...500 bytes\]' && echo yes)"
same "two whose ends alone differ are two" 2 "$(modes "$(xattr v 500) & $(xattr v 501); wait" | tr ' ' '\n' | grep -c ^flags:)"
same "one of times when" "flags:accessed 2001-02-03T04:05:06.000000007Z, modified 2001-02-03T04:05:06.000000007Z" "$(modes 'touch -d 2001-02-03T04:05:06.000000007Z moded')"
mark() { echo "python3 -S -c 'import fcntl, os, struct; fcntl.ioctl(os.open(\"moded\", 0), 0x40086602, struct.pack(\"i\", $1))'"; } # FS_IOC_SETFLAGS
same "one of chattr what is set" "flags:flags append" "$(modes "$(mark 0x20) 2>/dev/null" 2>/dev/null)"
same "two whose flags differ are two" 2 "$(modes "{ $(mark 0x40) & $(mark 0x80); wait; } 2>/dev/null" | tr ' ' '\n' | grep -c ^flags:)"
sed -i s/attr/modify/ "$T/etc/modes.rules"
same "one of truncate how long" "flags:to 5 bytes" "$(modes "python3 -S -c 'import os; os.truncate(\"moded\", 5)'")"
sed -i s/modify/attr/ "$T/etc/modes.rules"
sed -i "s,moded,linked," "$T/etc/modes.rules"; sed -i s/attr/create/ "$T/etc/modes.rules"
same "one of a symbolic link where it leads" "flags:a link to q1" "$(modes 'ln -s q1 linked')"
# A call is asked about for one of its objects and led elsewhere at the other: it is allowed as a whole, and led.
printf 'default allow\nask delete,create %s\nrewrite create %s -> %s\nrewrite read,modify %s -> %s\n' "$T/w/asked" "$T/w/made" "$T/w/led" "$T/w/kept" "$T/w/shown" >"$T/etc/two.rules"
chmod 600 "$T/etc/two.rules"
two() { # COMMAND...
	rm -f asked made led; echo kept >kept; echo shown >shown
	timeout -k 1 60 "$USHER" run -p "$T/etc/two.rules" --ask="exec:echo '{\"answer\":\"allow\"}'" --journal "$T/two.$1" -- "$@" 2>"$T/err" </dev/null
}
touch asked; mv asked made; same "natively: it is where it was moved" made "$(ls made led 2>/dev/null)"
two sh -c 'touch asked; mv asked made'
same "a rename that is allowed is led" led "$(ls made led asked 2>/dev/null)"
check "and the record says so" sh -c '"$USHER" log "'"$T/two.sh"'" --json | grep "\"call\":\"rename" | grep -q "\"verdict\":\"allow\".*\"to\":\"'"$T/w/led"'\""'
two ln kept asked
same "so is a link" "shown" "$(cat asked)"
rm -f asked made led kept shown
# A person's word is for the rule that asks: the limit that another file sets holds beside it.
printf 'default allow\nask read %s\n' "$T/w/q1" >"$T/etc/one.rules"
printf 'default allow\nallow read %s limit=2/h\n' "$T/w/q1" >"$T/etc/limit.rules"
chmod 600 "$T/etc/one.rules" "$T/etc/limit.rules"
many() { sh -c 'for i in 1 2 3 4 5; do cat q1; done' 2>/dev/null | wc -l; }
export -f many
same "natively it is read five times" 5 "$(many)"
for scope in once session; do
	same "a limit beside a question ($scope)" 2 "$(timeout -k 1 60 "$USHER" run -p "$T/etc/one.rules" -p "$T/etc/limit.rules" --ask="exec:echo '{\"answer\":\"allow\",\"scope\":\"$scope\"}'" \
		--journal "$T/beside.$scope" -- bash -c many 2>"$T/err" </dev/null)"
done
same "without it each is allowed" 5 "$(timeout -k 1 60 "$USHER" run -p "$T/etc/one.rules" --ask="exec:echo '{\"answer\":\"allow\"}'" --journal "$T/beside.none" -- bash -c many 2>"$T/err" </dev/null)"
check "and the record says which limit" sh -c '"$USHER" log "'"$T/beside.once"'" --json | grep "\"verdict\":\"deny\"" | grep -q "limit.rules:2"'
# Unanswered, a question is all its rules' question: an else=allow is not the word of the others.
echo kept >kept
printf 'default allow\nask read %s timeout=1s else=allow\n' "$T/w/kept" >"$T/etc/lets.rules"
printf 'default allow\nask read %s timeout=1s\n' "$T/w/kept" >"$T/etc/holds.rules"
printf 'default allow\nask read %s timeout=1s else=allow\nask modify %s timeout=1s\n' "$T/w/kept" "$T/w/kept" >"$T/etc/both.rules"
chmod 600 "$T/etc/lets.rules" "$T/etc/holds.rules" "$T/etc/both.rules"
unanswered() { # COMMAND FILE...
	local c=$1 o=()
	shift
	for f; do o+=(-p "$T/etc/$f.rules"); done
	timeout -k 1 60 "$USHER" run "${o[@]}" --ask="exec:exec sleep 20" -- sh -c "$c" 2>"$T/err" </dev/null || true
}
same "unanswered, else=allow allows" kept "$(unanswered "cat kept" lets)"
same "and nothing denies" "" "$(unanswered "cat kept" holds)"
same "the stricter of two files counts" "" "$(unanswered "cat kept" lets holds)"
same "in whatever order" "" "$(unanswered "cat kept" holds lets)"
same "reading alone is let" kept "$(unanswered "cat kept" both)"
unanswered "echo more 1<>kept" both
same "writing while reading is not" kept "$(cat kept)"
rm -f kept
# Nor is what one of them remembers remembered for the others.
echo kept >kept
printf 'default allow\nask read %s remember=session\nask modify %s\n' "$T/w/kept" "$T/w/kept" >"$T/etc/remember.rules"
chmod 600 "$T/etc/remember.rules"
questions() { # COMMAND: how many it takes
	: >questions
	timeout -k 1 60 "$USHER" run -p "$T/etc/remember.rules" --ask="exec:echo >>$T/w/questions; echo '{\"answer\":\"allow\"}'" -- sh -c "$1" 2>"$T/err" </dev/null
	wc -l <questions
}
same "an answer is remembered where its rule says so" 1 "$(questions ': <kept; : <kept')"
same "and not where none does" 2 "$(questions ': >>kept; : >>kept')"
same "nor by way of another rule" 2 "$(questions ': <>kept; : >>kept')"
rm -f kept questions
# Nor does it take back what another file leads elsewhere.
echo led >led
printf 'default allow\nrewrite read %s -> %s\n' "$T/w/q1" "$T/w/led" >"$T/etc/led.rules"
chmod 600 "$T/etc/led.rules"
led() { # SCOPE FILE...
	local scope=$1 o=()
	shift
	for f; do o+=(-p "$T/etc/$f.rules"); done
	timeout -k 1 60 "$USHER" run "${o[@]}" --ask="exec:echo '{\"answer\":\"allow\",\"scope\":\"$scope\"}'" -- sh -c 'cat q1; cat q1' 2>"$T/err" </dev/null | xargs
}
same "what is asked about is read where it is" "content one content one" "$(led once one)"
same "or where it is led" "led led" "$(led once led)"
same "and led, when both is said" "led led" "$(led once one led)"
same "in whatever order" "led led" "$(led once led one)"
same "by an answer for the session, too" "led led" "$(led session one led)"
rm -f led
# What is removed is the name that was asked about: not what its directory's other name makes of it, where nobody may remove it.
printf 'deny delete %s\nask delete %s timeout=40s\ndefault allow\n' "$T/w/to/**" "$T/w/from/*/x" >"$T/etc/removed.rules"
chmod 600 "$T/etc/removed.rules"
removed() { # HELPER'S CONDITION, COMMAND
	rm -rf from to asked; mkdir -p from/d to; touch from/d/x
	timeout -k 1 60 "$USHER" run -p "$T/etc/removed.rules" --ask="exec:touch $T/w/asked; while [ $1 ]; do sleep 0.05; done; echo '{\"answer\":\"allow\"}'" \
		--journal "$T/removed.${#2}" -- sh -c "rm -f from/d/x & until [ -e asked ]; do sleep 0.05; done; $2; wait" 2>"$T/err" </dev/null
	ls -d from/d/x to/d/x 2>/dev/null
}
same "a removal that is allowed happens" "" "$(removed "" true)"
same "but not by the name that its directory has since" "to/d/x" "$(removed "-d $T/w/from/d" "mv from/d to/d")"
rm -rf from to asked
# A connection is led where the answer says, to another port or to a unix socket; what it cannot be led to is no answer.
cat >connect.py <<'P'
import os, socket, sys, threading
def serve(s, word):
    s.listen()
    def one():
        while True:
            c = s.accept()[0]
            c.sendall(word)
            c.close()
    threading.Thread(target=one, daemon=True).start()
asked, other = socket.socket(), socket.socket()
for s in asked, other: s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
asked.bind(("127.0.0.1", int(sys.argv[1]))); serve(asked, b"asked")
other.bind(("127.0.0.1", int(sys.argv[2]))); serve(other, b"other")
if os.path.exists("sock"): os.unlink("sock")
local = socket.socket(socket.AF_UNIX); local.bind("sock"); serve(local, b"local")
udp = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in "012"]
udp[0].bind(asked.getsockname()); udp[1].bind(other.getsockname())
def word(call):
    try: return call()
    except OSError as e: return e.strerror
def connect():
    s = socket.create_connection(asked.getsockname())
    return s.recv(9).decode()
def send():
    udp[2].sendto(b"x", asked.getsockname())
    for u, name in (udp[0], "asked"), (udp[1], "other"):
        u.settimeout(0.2)
        try: u.recv(9)
        except TimeoutError: continue
        return name
    return "nobody"
print(word(connect), word(send), sep=", ")
P
printf 'default allow\nask connect,send tcp:127.0.0.1:%s udp:127.0.0.1:%s\n' "${P1:=$(free_port)}" "$P1" >"$T/etc/net.rules"
P2=$P1; while [ "$P2" = "$P1" ]; do P2=$(free_port); done
chmod 600 "$T/etc/net.rules"
led() { # TARGET [JOURNAL]
	timeout -k 1 60 "$USHER" run -p "$T/etc/net.rules" --ask="exec:echo '{\"answer\":\"rewrite\",\"target\":\"$1\"}'" --journal "${2:-$(mktemp -u "$T/n.XXXXXX")}" -- python3 connect.py "$P1" "$P2" 2>"$T/err" </dev/null
}
same "natively: where they go" "asked, asked" "$(python3 connect.py "$P1" "$P2")"
same "a connection is led to another address" "other, Permission denied" "$(led "tcp:127.0.0.1:$P2" "$T/n1")"
same "and the record says so" "\"to\":\"tcp:127.0.0.1:$P2\"" "$("$USHER" log "$T/n1" --json verdict:rewrite call:connect | grep -o '"to":"[^"]*"')"
same "to a unix socket, which a datagram is not" "local, Permission denied" "$(led "unix:$T/w/sock")"
same "a datagram to another address, which a stream is not" "Permission denied, other" "$(led "udp:127.0.0.1:$P2")"
for target in "$T/w/sock" q1 127.0.0.1 tcp:127.0.0.1 'tcp:*:80' "tcp:127.0.0.0/8:$P2" unix:; do
	same "no place for a connection: ${target%%[0-9]*}" "Permission denied, Permission denied" "$(led "$target")"
done
for name in never link "../j$((N + 3))/journal-000001.jsonl"; do
	answer "{\"answer\":\"rewrite\",\"target\":\"$T/w/$name\"}"
	same "but not one that is denied: ${name%%[0-9]*}" "" "$(cat "$T/out")"
done
check "the journal says which rule" sh -c '"$USHER" log "'"$T/j3"'" --json | grep -q "\"verdict\":\"deny\",\"rule\":\"[^\"]*ask.rules:2\""'
for lie in '{"answer":"allow","id":99}' 'allow' '{"answer":"allow"}{"answer":"allow"}' '{"answer":"Allow"}' '{"answer":"allow","scope":"for ever"}' \
	'{"answer":"allow","scope":"session","pattern":"/nowhere/*"}' '{"answer":"allow","scope":"always","pattern":"/a\" by=\"/x"}' \
	'{"answer":"allow","scope":"session","directory":"/etc"}' '{"answer":"rewrite","target":""}' '[]' '{"answer":"allow\u0000"}'; do
	answer "$lie"
	same "no answer: $lie" "" "$(cat "$T/out")"
	same "which is said: $lie" 1 "$(grep -c "^usher: a question got no answer: channel=exec " "$T/err")"
done
printf 'default allow\nask exec %s\n' "$(readlink -f "$(type -P printf)")" >"$T/etc/exec.rules"
chmod 600 "$T/etc/exec.rules"
"$USHER" run -p "$T/etc/exec.rules" --ask="exec:echo '{\"answer\":\"allow\",\"scope\":\"always\"}'" --journal "$T/always" -- env printf '' 2>"$T/err" </dev/null
same "what no rule says is not kept for ever, and why" 1 "$(grep -c 'this session only.*was not written: no rule says exactly this' "$T/err")"
same "in a file as a line like others" "0 1" "$(grep -c "$(printf '\r')" "$T/err") $(wc -l <"$T/err")"
asked 'exec:echo no' sh -c 'cat q1; cat q2; cat q1'
same "once in a session" 1 "$(grep -c "got no answer" "$T/err")"
check "no rule was written" test ! -s "$T/config/usher/grants.rules"
asked "exec:printf '{\"answer\":\"deny\"}\n{\"answer\":\"allow\"}\n'" cat q1
same "of two lines the first counts" "" "$(cat "$T/out")"
asked 'exec:kill -9 $$' cat q1
same "a helper that dies denies" "" "$(cat "$T/out")"
asked 'exec:head -c 300000 /dev/zero | tr "\0" x' cat q1
same "so does one that talks without end" "" "$(cat "$T/out")"
asked 'exec:exec <&-; echo "{\"answer\":\"allow\"}"' cat q1
same "one that does not read may answer" "content one" "$(cat "$T/out")"
asked 'exec:trap "" TERM; sleep 60; sleep 60' sh -c 'cat silent; echo went on'
same "a silent one is given up" "went on" "$(cat "$T/out")"
asked 'chain:exec:true' cat q1
same "a chain ends in a denial" "" "$(cat "$T/out")"
# The first question's helper is slow; the second does not wait for it.
asked 'exec:read -r q; case $q in *q1*) sleep 2;; esac; echo "{\"answer\":\"allow\"}"' sh -c 'cat q1 & cat q2; wait'
same "slow ones hold up nobody else" "content two content one" "$(xargs <"$T/out")"

# What a helper leaves behind comes to usher, which waits for callers that a signal interrupts: the one's end is not the other's.
asked 'exec:(setsid true &); sleep 1 & sleep 1; echo "{\"answer\":\"allow\"}"' "$BIN/ask_wait" ticks q1
same "a signal that comes again and again finds its program, whatever helpers leave behind" "ready opened" "$(xargs <"$T/out")"
asked 'exec:(setsid sh -c "for i in 1 2 3 4 5 6 7 8 9; do (sleep 0.0\$i &); (sleep 0.1\$i &); done" &); sleep 1; echo "{\"answer\":\"allow\"}"' \
	"$BIN/ask_wait" ticks q1
same "and while that ends" "ready opened" "$(xargs <"$T/out")"
: >asked
asked "exec:echo x >>$T/w/asked; sleep 1; echo '{\"answer\":\"allow\"}'" "$BIN/ask_wait" ticking q1
same "one that never ends does not keep its question from being answered" "ready opened" "$(xargs <"$T/out")"
check "nor is that put anew at each" test "$(wc -l <asked)" -lt 5
# shellcheck disable=SC2016
asked 'exec:(setsid true &); ps -o stat= --ppid $PPID | grep -c Z >'"$T"'/left; sleep 0.1; echo "{\"answer\":\"allow\"}"' \
	sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do cat q1; done'
check "what helpers leave behind is collected" test "$(cat "$T/left")" -lt 10

# What is certain to fail is not asked.
cat >"$T/etc/write.rules" <<'R'
default allow
deny stat **/hidden
ask write **/w/**
R
chmod 600 "$T/etc/write.rules"
touch seen hidden from
questions() { # COMMAND...: how many it made
	: >"$T/asked"
	rm -rf "$T/jq"
	"$USHER" run -p "$T/etc/write.rules" --ask="exec:read -r q; echo x >>$T/asked; echo '{\"answer\":\"allow\"}'" --journal "$T/jq" -- "$@" >"$T/out" 2>"$T/err" </dev/null
	wc -l <"$T/asked"
}
same "mv over a file asks once" 1 "$(questions mv from seen)"
same "and does it" "" "$(ls from 2>/dev/null)"
same "what must be new and exists is not asked" 0 "$(questions bash -c 'set -C; echo >seen; mkdir seen; ln -s x seen')"
same "it exists: so says each" 3 "$(grep -c 'exist' "$T/err")"
# Not mv: told EEXIST and then ENOENT of one name it takes a mode it never read for the target's, and says anything.
same "of a name that is hidden nothing is told" 2 "$(questions sh -c 'mkdir hidden; ln -s x hidden')"
if is_root; then
	skip "what this user may not write is not asked" "root may write all"
else
	mkdir closed
	touch closed/file
	chmod 444 closed/file
	chmod 555 closed
	same "what this user may not write is not asked" 0 "$(questions sh -c 'echo >closed/new; echo >closed/file; rm -f closed/file; mkdir closed/d; mv closed/file closed/x; mv seen closed/y')"
	same "it is refused as ever" 6 "$(grep -c 'Permission denied' "$T/err")"
	chmod 755 closed
fi
if command -v python3 >/dev/null; then
	printf 'default allow\nask exec **\n' >"$T/etc/exec.rules"
	chmod 600 "$T/etc/exec.rules"
	ln -s /bin/true program
	cat >nofollow.py <<'P'
import ctypes, os, platform
libc = ctypes.CDLL(None, use_errno=True)
argv = (ctypes.c_char_p * 2)(b"true", None)
libc.syscall({"x86_64": 322, "aarch64": 281}[platform.machine()], -100, b"program", argv, None, 0x100)
print(os.strerror(ctypes.get_errno()))
P
	"$USHER" run -p "$T/etc/exec.rules" --ask="exec:echo '{\"answer\":\"allow\"}'" --journal "$T/jn" -- python3 nofollow.py >"$T/out" 2>"$T/err" </dev/null
	same "a link that is not to be followed is no program, and says so as natively" "$(python3 nofollow.py)" "$(cat "$T/out")"
fi

# What a question says of what is there now and what would come.
rules facts.rules < <(printf 'default allow\nask create,delete **/old.txt\nask exec **/tool.sh remember=session\n')
printf 'one\ntwo\nthree\n' >old.txt
printf 'one\n2\nthree\n' >new.txt
printf '#!/bin/sh\n# sweeps up\necho swept\n' >tool.sh
chmod 755 tool.sh
"$USHER" run -p "$R" --ask="exec:cat >>$T/said; echo '{\"answer\":\"allow\"}'" --journal "$T/facts" -- sh -c 'mv -f new.txt old.txt; ./tool.sh; ./tool.sh' >"$T/out" 2>"$T/err"
same "both were allowed" "swept swept 2" "$(xargs <"$T/out") $(sed -n 2p old.txt)"
says() { grep -qF -- "$1" "$T/said"; }
check "a rename over a text says how the two differ" says ' one\\n-two\\n+2\\n three'
check "what is there now" says 'old.txt: file, 14 bytes, mode 0644'
check "an exec shows the script's first lines" says '#!/bin/sh\\n# sweeps up\\necho swept'
check "and the links on the way" says '/bin -> usr/bin'
check "the program's hash" grep -qE '"key":"sha256","value":"[0-9a-f]{64}"' "$T/said"
same "remember=session: asked once for both" 1 "$(grep -c '"call":"execve"' "$T/said")"
# A large program is not read before its first question is put, but behind it.
cp /bin/bash large && truncate -s 200M large
rules large.rules < <(printf 'default allow\nask read **/old.txt\n')
echo 'for i in {1..200}; do : <old.txt; [[ $(<$1) != *sha256* ]] || break; sleep 0.1; done' >again.sh
"$USHER" run -p "$R" --ask="exec:cat >>$T/large.said; echo '{\"answer\":\"allow\"}'" --journal "$T/facts2" -- ./large again.sh "$T/large.said" >"$T/out" 2>"$T/err"
same "the first question of a large program does not wait for its hash" 0 "$(sed 1q "$T/large.said" | grep -c sha256)"
check "a later one has it" grep -q '"key":"sha256","value":"'"$(sha256sum large | cut -d' ' -f1)"'"' "$T/large.said"
rm -f large
# Who is traced is told of every signal, also of those that mean nothing to it. An open of a plain file goes on behind it, as natively.
if command -v strace >/dev/null && strace -o /dev/null /bin/true 2>/dev/null; then
	TRACED=(strace -f -o "$T/trace" sh -c 'sleep 0.5 & exec cat q1')
	same "natively a signal ends no open of a traced program" "content one" "$("${TRACED[@]}")"
	asked 'exec:sleep 2; echo "{\"answer\":\"allow\"}"' "${TRACED[@]}"
	same "nor while a question waits" "content one" "$(cat "$T/out" "$T/err" | grep -v '^usher')"
	check "the signal came meanwhile" grep -q SIGCHLD "$T/trace"
else skip "a traced program that waits" "strace cannot start a program here"; fi
# What is allowed of a program is not allowed of it with variables that a rule asks about; nor, for ever, is that written down as if it were about the program.
cp "$(type -P true)" loads
rules loads.rules <<R
ask exec $PWD/loads env=LD_*
ask exec $PWD/loads
default allow
R
loads() { # SCOPE: the rules that were asked about, by line, in one session
	: >"$T/loads.asked"
	"$USHER" run -p "$R" --ask="exec:cat >>$T/loads.asked; echo '{\"answer\":\"allow\",\"scope\":\"$1\"}'" --journal "$T/loads.$1" -- \
		bash -c './loads; ./loads; for i in 1 2; do LD_PRELOAD=libm.so.6 ./loads; done; ./loads' >"$T/out" 2>&1
	grep -o '"rule":"[^"]*"' "$T/loads.asked" | sed 's/.*:\([0-9]*\)"/\1/' | paste -sd' '
}
same "what is asked about variables is a question of its own" "2 1" "$(loads session)"
rm -f "$XDG_CONFIG_HOME/usher/grants.rules"
same "for ever, too" "2 1" "$(loads always)"
same "and what is written is about the program alone" "1 1" "$(grep -c "^allow exec" "$XDG_CONFIG_HOME/usher/grants.rules") $(cat "$T"/loads.always/*.jsonl | grep -c 'no rule says exactly this')"
same "which answers later, and not for the variables" "1" "$(rm -rf "$T/loads.always"; loads always)"
rm -f "$XDG_CONFIG_HOME/usher/grants.rules"

# A program can be many, by argv[0] (busybox): what was allowed of one is not allowed of another, and the record says which it was.
cp "$(type -P true)" called
asked "exec:cat >>$T/called; echo '{\"answer\":\"allow\",\"scope\":\"session\"}'" bash -c '
for name in called one one two; do (exec -a $name ./called x); done
./called; ./called ""'
same "an answer holds for what the program was to be called" "none:x one:x two:x none:none none:" "$(python3 -c '
import json, sys
print(*("%s:%s" % tuple(json.loads(l).get(k, "none") for k in ("argv0", "argv")) for l in sys.stdin))' <"$T/called")"
same "and so does the record say, and no argument from an empty one" 'argv x,as one argv x,as one argv x,as two argv x,,argv ""' \
	"$("$USHER" log "$T/j$N" type:call path:"$T/w/called" | sed -n "s|.* exec $T/w/called\( (named [^)]*)\)\? *\(.*\)  allow.*|\2|p" | paste -sd,)"
# The command cannot change what answers for the person: the helper, by its name, by a link, as an argument, in a directory of $PATH, or in one before that.
mkdir -p bin first
helper() { printf '#!/bin/sh\ncat >/dev/null; echo "{\\"answer\\":\\"%s\\"}"\n' "$1"; } # ANSWER
forged() { # NAME HELPER FILE
	rm -f helper link.sh bin/helper first/helper
	helper deny >helper; cp helper bin/; ln -s helper link.sh; chmod 755 helper bin/helper; helper allow >"$T/forgery"; chmod 755 "$T/forgery"
	PATH=$PWD/first:$PWD/bin:$PATH asked "$2" sh -c 'cat q1; cp "$2" "$1.new" && mv "$1.new" "$1"; cp "$2" "$1"; rm -f "$1"; cp "$2" "$1"; cat q1 q2' sh "$3" "$T/forgery"
	same "a helper stays what it is: $1" "" "$(cat "$T/out")"
}
forged "by its name" exec:./helper helper
forged "by a link" exec:./link.sh link.sh
forged "what a link leads to" exec:./link.sh helper
forged "an argument" "exec:sh helper" helper
forged "in quotes, behind others" "exec:true && sh '$T/w/'helper" helper
export HERE=$T/w
forged "by a variable" 'exec:$HERE/helper' helper
forged "by one in braces and quotes" 'exec:sh "${HERE}"/helper' helper
forged "found by PATH" exec:helper bin/helper
forged "in a directory that is looked in before" exec:helper first/helper
forged "in words for another shell" "exec:sh -c './helper x'" helper
forged "in a substitution in quotes" 'exec:sh -c "$(cat helper)"' helper
forged "in backquotes" 'exec:sh -c "`cat helper`"' helper
forged "behind cd" 'exec:cd bin && ./helper' bin/helper
forged "behind many words" "exec:true $(seq -s ' ' 40); ./helper" helper
forged "behind an option's letter" "exec:env -S./helper" helper
forged "over two lines" $'exec:./hel\\\nper' helper
printf '#!%s\n' "$T/w/bin/helper" >runs; chmod 755 runs
forged "a script's interpreter" exec:./runs bin/helper
printf '#!/usr/bin/env helper\n' >runs
forged "one that env finds by PATH" exec:./runs bin/helper
forged "one that env would find before" exec:./runs first/helper
rm -f helper helper.new bin/helper* first/helper* link.sh* runs
mkdir many && for i in {1..450}; do printf '#!/bin/sh\n' >"many/many$i"; done; chmod 755 many/*
PATH=$PWD/first:$PWD/bin:$PWD/many:$PATH asked "exec:: '' $(cd many && echo *); echo '{\"answer\":\"allow\"}'" cat q1
same "a long command of many programs is no obstacle" "content one" "$(cat "$T/out")"
finish
