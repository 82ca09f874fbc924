#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Shell scripts: pipes, globs, here-documents, redirections, jobs.
. "$(dirname "$0")/lib.sh"

both pipes <<'S'
set -e
printf '%s\n' pear apple fig apple | sort | uniq -c | sed 's/^ *//' | tee counts.txt | wc -l
seq 1 20000 | head -n 3
set +e; seq 1 100000 | (exit 3); echo "${PIPESTATUS[@]: -1}"
yes | head -n 2000 | md5sum
cat <(echo one) <(echo two) - <<<three
while read -r a b; do echo "$b-$a"; done < <(printf 'x 1\ny 2\n') | tac
S

both globs <<'S'
shopt -s globstar nullglob dotglob extglob
mkdir -p a/b/c 'sp ace' a/.hid; touch a/1.c a/b/2.c a/b/c/3.c 'sp ace/f' a/.hid/x $'new\nline' $'\xff\xfe'
echo **/*.c; echo a/.*; echo [s]*/f; echo nothing*; echo !(a)| cat -v; ls -A | wc -l
S

both here-documents <<'S'
v=value
cat <<EOF > out.txt
plain $v $(echo sub)
EOF
cat <<'EOF' >> out.txt
quoted $v
EOF
cat out.txt; cat <<<"string"; wc -c < out.txt
exec 3<<EOF
through a descriptor
EOF
read -r l <&3; echo "$l"; head -c 300000 /dev/zero | tr '\0' x > big; cat <<EOF | wc -c
$(cat big)
EOF
S

both redirections <<'S'
exec 5<>both.txt; echo hello >&5; exec 5>&-; cat both.txt
set -C; echo a > once; { echo b > once; } 2>/dev/null || echo noclobber; echo c >| once; cat once
(umask 077; echo x > private; mkdir d; umask 0; touch open; mkdir dd); stat -c '%a %n' private d open dd
echo err >&2; ls /nonexistent; echo "status $?"; cat < /nonexistent; echo "status $?"
echo to-dev > /dev/null; echo x > /dev/full; echo "full $?"; cat /dev/fd/7 7<<<seven; echo out > /dev/stdout; echo e > /dev/stderr
{ echo 1; echo 2 >&2; } > both 2>&1; cat both; : > empty; [ -s empty ] || echo empty
S

both descriptors <<'S'
exec 3<both 2>/dev/null; exec 3</etc/passwd 4>f 7</dev/null; ls -l /proc/self/fd | awk '{print $9}' | grep -E '^[0-9]+$' | sort -n | tr '\n' ' '
exec 4>&-; bash -c 'exec 9</dev/null; ls /proc/self/fd | wc -l'; (ulimit -n 8; exec 3</dev/null 4</dev/null 5</dev/null 6</dev/null 7</dev/null; cat /etc/hostname) 2>&1 | sed 's/.*: //' | head -n 1
readlink /proc/self/fd/3; [ /proc/self -ef /proc/$BASHPID ] || echo other
S

both fifo <<'S'
mkfifo p q
(cat p > got; echo done > q) & echo through > p; read -r x < q; wait; echo "$x"; cat got
coproc C { while read -r l; do echo "[$l]"; done; }; echo hi >&"${C[1]}"; read -r y <&"${C[0]}"; echo "$y"
S

both jobs <<'S'
set -m
sleep 30 & kill -STOP %1; while [ "$(ps -o stat= -p $! 2>/dev/null | cut -c1)" != T ]; do sleep 0.05; done; jobs -s | wc -l; kill -CONT %1; kill %1; wait %1; echo "term $?"
(exit 7) & wait $!; echo "exit $?"; { sleep 0.1; echo bg; } & fg %% >/dev/null; echo "fg $?"
trap 'echo usr1' USR1; kill -USR1 $$; trap 'echo bye' EXIT; (kill -SEGV $BASHPID) 2>/dev/null; echo "segv $?"
set +m; for i in 1 2 3 4 5 6 7 8; do (echo $i > f$i; exit $i) & done; wait; cat f? | tr '\n' ' '
S

both exits 3 <<'S'
true; echo $?; false; echo $?; ./none 2>/dev/null; echo $?; mkdir d; ./d 2>/dev/null; echo $?
echo 'echo no x' > n; ./n 2>/dev/null; echo $?; chmod +x n; ./n; printf '#!/bin/nowhere\n' > b; chmod +x b; ./b 2>/dev/null; echo $?
printf '#!/bin/sh -e\necho "$0 $#"; false; echo never\n' > s; chmod +x s; ./s a 'b c'; echo $?
printf '#!/usr/bin/env bash\necho env $1\n' > e; chmod +x e; PATH=$PWD:$PATH e x; exec bash -c 'exit 3'
S

both cwd <<'S'
mkdir -p a/b; cd a/b; pwd; ln -s ../.. up; cd up; pwd; pwd -P; cd -; cd ..; cat ../nothing 2>/dev/null || echo > ../something; ls ..
(cd b && rmdir ../b/. 2>/dev/null; rm -rf ../b; pwd; ls; touch x 2>/dev/null || echo gone); ls; cd /; ls -d etc
S
# A job stops and its shell ends: the kernel ends a group that nobody of its session could let go on. In a session of the test's own, so that no reaper is in it.
orphan='
import os, select, signal, sys
read, told = os.pipe()
shell = os.fork()
if shell == 0:
    os.setpgid(0, 0)
    job = os.fork()
    if job == 0:
        for s in signal.SIGHUP, signal.SIGCONT:
            signal.signal(s, lambda n, frame: os.write(told, signal.Signals(n).name.encode() + b"\n"))
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
    os.waitpid(job, os.WUNTRACED)
    os._exit(0)
os.close(told)
os.waitpid(shell, 0)
seen = b""
while select.select([read], [], [], 10)[0] and (piece := os.read(read, 64)):
    seen += piece
print(*sorted(seen.decode().split()) or ["no signal"])
'
fresh
same "a stopped job is told that its shell has ended (native)" "SIGCONT SIGHUP" "$(setsid -w python3 -c "$orphan")"
for o in "" --wait; do
	fresh
	same "a stopped job is told that its shell has ended (usher $o)" "SIGCONT SIGHUP" \
		"$(setsid -w "$USHER" run -p "$T/etc/allow.rules" $o --journal "$T/orphan$o" -- python3 -c "$orphan")"
done
both "what a program may write about itself" <<'S'
echo 5 >/proc/self/clear_refs; echo "clear_refs $?"; echo 600 >/proc/self/oom_score_adj; cat /proc/$$/oom_score_adj; echo 0x33 >/proc/self/coredump_filter; cat /proc/self/coredump_filter; printf named >/proc/$$/comm; cat /proc/$$/comm
S
finish
