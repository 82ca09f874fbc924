#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# users: 1000
# OpenSSH and PostgreSQL on loopback, both ends supervised, as the ordinary user that both want.
. "$(dirname "$0")/lib.sh"
MODES="allow yes"
export PORT PORT2

# sshd as an ordinary user lets that user in, if the system knows him; his shell reads his true home, which builtin:agent keeps from it.
if [ -x /usr/sbin/sshd ] && getent passwd "$(id -u)" >/dev/null; then
	PORT=$(free_port)
	PORT2=$(free_port)
	MODES=allow IGNORE='^(k|h|log|s.conf|kh)' both ssh <<'S'
ssh-keygen -q -t ed25519 -N '' -f k; ssh-keygen -q -t ed25519 -N '' -f h; cp k.pub keys; chmod 600 keys
printf 'ListenAddress 127.0.0.1\nPort %s\nHostKey %s/h\nAuthorizedKeysFile %s/keys\nPidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nSubsystem sftp internal-sftp\n' $PORT $PWD $PWD > s.conf
/usr/sbin/sshd -D -e -f s.conf 2>log & d=$!
for i in $(seq 300); do (exec 3<>/dev/tcp/127.0.0.1/$PORT) 2>/dev/null && break; sleep 0.05; done
o="-F none -i k -o UserKnownHostsFile=$PWD/kh -o StrictHostKeyChecking=no -o BatchMode=yes -o LogLevel=ERROR"; s="ssh $o -p $PORT 127.0.0.1"
$s 'echo in; id -u'; $s 'exit 7'; echo $?; head -c 2000000 /dev/zero | $s 'wc -c'; $s 'head -c 1000000 /dev/zero' | sha256sum
echo 'pwd' | sftp -b - -q $o -P $PORT 127.0.0.1 >/dev/null; echo "sftp $?"; echo copied > a; scp -q $o -P $PORT a 127.0.0.1:$PWD/b; cat b
python3 -m http.server --bind 127.0.0.1 $PORT2 >/dev/null 2>&1 & w=$!
for i in $(seq 300); do (exec 3<>/dev/tcp/127.0.0.1/$PORT2) 2>/dev/null && break; sleep 0.05; done
printf 'GET /a HTTP/1.0\r\n\r\n' | ssh $o -p $PORT -W 127.0.0.1:$PORT2 127.0.0.1 | tail -n 1
kill $d $w; wait $d; echo "sshd $?"; rm keys
S
else skip ssh "needs sshd and a user with a name"; fi

PG=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
if [ -n "$PG" ]; then
	export PG
	PORT=$(free_port)
	IGNORE='^data|^log' both postgresql <<'S'
export PATH=$PG:$PATH PGUSER=me PGDATABASE=postgres
initdb -D data -A trust -U me -E UTF8 --no-sync >/dev/null 2>log || { cat log; exit 1; }
postgres -D data -p $PORT -k $TMPDIR -c listen_addresses=127.0.0.1 -c fsync=off >log 2>&1 & d=$!
for i in $(seq 400); do pg_isready -q -h 127.0.0.1 -p $PORT && break; sleep 0.05; done
for h in 127.0.0.1 localhost $TMPDIR; do psql -qAt -h $h -p $PORT -c "select 1, inet_server_addr()"; done
psql -qAt -h $TMPDIR -p $PORT <<Q | sed 's/PID [0-9]*/PID/'
create table t(a int, b text); insert into t select i, repeat('x', i % 100) from generate_series(1, 20000) i; select count(*), sum(length(b)) from t; create index on t(a); select b from t where a = 5;
copy t to '$PWD/t.copy'; \copy t to t2.copy
listen l; notify l, 'said'; select 1;
Q
cmp t.copy t2.copy && echo same; pg_dump -h 127.0.0.1 -p $PORT | grep -c COPY; if command -v pgbench >/dev/null; then pgbench -q -i -s 1 -h 127.0.0.1 -p $PORT >/dev/null 2>&1; pgbench -c 4 -j 2 -t 25 -n -h $TMPDIR -p $PORT 2>/dev/null | grep actually; pgbench -C -c 2 -t 10 -n -h 127.0.0.1 -p $PORT 2>/dev/null | grep actually; fi
psql -h 127.0.0.1 -p 1 -c 'select 1' 2>&1 | grep -c refused; kill -INT $d; wait $d; echo "postgres $?"
S
else skip postgresql "no PostgreSQL"; fi
finish
