#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# git://, rsync's daemon, OpenSSH and PostgreSQL on loopback, both ends supervised.
. "$(dirname "$0")/lib.sh"
MODES="allow yes"
export PORT PORT2

if git daemon -h 2>&1 | grep -q base-path; then
	PORT=$(free_port)
	IGNORE='^(srv|c1|c2|log)' both git <<'S'
git config --global user.name t; git config --global user.email t@example.org; git config --global init.defaultBranch main
mkdir srv; git init -q --bare srv/r.git; git -C srv/r.git config daemon.receivepack true
git daemon --reuseaddr --listen=127.0.0.1 --port=$PORT --base-path=$PWD/srv --export-all --enable=receive-pack 2>log & d=$!
for i in $(seq 300); do (exec 3<>/dev/tcp/127.0.0.1/$PORT) 2>/dev/null && break; sleep 0.05; done
git clone -q git://127.0.0.1:$PORT/r.git c1 2>/dev/null; cd c1; for i in $(seq 30); do echo $i > f$i; done; git add .; GIT_AUTHOR_DATE='2020-01-01 00:00Z' GIT_COMMITTER_DATE='2020-01-01 00:00Z' git commit -q -m first; git push -q origin HEAD:main; cd ..
git clone -q git://localhost:$PORT/r.git c2; git -C c2 log --format=%H; ls c2 | wc -l; git ls-remote git://127.0.0.1:$PORT/r.git; git ls-remote git://127.0.0.1:$PORT/none.git >/dev/null 2>&1; echo $?
kill $d; wait $d; echo "daemon $?"
S
else skip git "no git daemon"; fi

if command -v rsync >/dev/null; then
	PORT=$(free_port)
	IGNORE='^(log|r.conf)' both rsync <<'S'
mkdir -p src/a; for i in $(seq 50); do echo $i > src/a/$i; done; head -c 1000000 /dev/zero > src/z; ln -s z src/l
echo "use chroot = no
reverse lookup = no
$([ $(id -u) = 0 ] && echo 'uid = root
gid = root')
[m]
path = $PWD/src
read only = no" > r.conf
rsync --daemon --no-detach --config=r.conf --address=127.0.0.1 --port=$PORT --log-file=log & d=$!
for i in $(seq 300); do (exec 3<>/dev/tcp/127.0.0.1/$PORT) 2>/dev/null && break; sleep 0.05; done
rsync rsync://127.0.0.1:$PORT/; rsync -a rsync://127.0.0.1:$PORT/m/ out/; diff -r src out && echo same; echo new > out/new; rsync -a --delete out/ rsync://127.0.0.1:$PORT/m/; cat src/new; rm out/z; rsync -a --delete out/ rsync://127.0.0.1:$PORT/m/; ls src
rsync rsync://127.0.0.1:$PORT/none/ 2>/dev/null; echo $?; kill $d; wait $d; echo "rsync $?"; find src out -exec touch -h -d 2020-01-01 {} +
S
else skip rsync "no rsync"; fi

# sshd as an ordinary user lets that user in, if the system knows him; his shell reads his true home, which builtin:agent keeps from it.
if ! is_root && [ -x /usr/sbin/sshd ] && getent passwd "$(id -u)" >/dev/null; then
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
else skip ssh "needs sshd and an ordinary user with a name"; fi

PG=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
if ! is_root && [ -n "$PG" ]; then
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
else skip postgresql "needs PostgreSQL and an ordinary user"; fi
finish
