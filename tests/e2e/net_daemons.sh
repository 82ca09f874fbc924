#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# git:// and rsync's daemon on loopback, both ends supervised.
. "$(dirname "$0")/lib.sh"
MODES="allow yes"
export PORT PORT2

# Asked from a directory that every user may read.
if (cd / && git daemon -h 2>&1) | grep -q base-path; then
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

finish
