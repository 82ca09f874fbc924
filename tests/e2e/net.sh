#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Servers and clients: nginx with curl, redis-server with redis-benchmark; each side supervised.
. "$(dirname "$0")/lib.sh"
need curl
MODES="allow yes"

nginx_conf() { # PORT
	cat <<EOF
daemon off; pid $T/project/nginx.pid; error_log $T/project/error.log; worker_processes 2;
$(is_root && echo 'user root;')
events { worker_connections 64; }
http { access_log off; client_body_temp_path $T/project/tb; proxy_temp_path $T/project/tp; fastcgi_temp_path $T/project/tf; uwsgi_temp_path $T/project/tu; scgi_temp_path $T/project/ts;
server { listen 127.0.0.1:$1; root $T/project/www; location = /big { try_files /big.bin =404; } location = /answer { return 200 "fixed\n"; } location /up/ { proxy_pass http://unix:$T/project/none.sock; } } }
EOF
}
setup_www() { mkdir -p www/d; echo index > www/index.html; echo page > www/d/p.html; head -c 3000000 /dev/zero > www/big.bin; nginx_conf "$PORT" > n.conf; }
ask_nginx='u=http://127.0.0.1:$PORT; for p in / /d/p.html /answer /missing /d /up/; do curl -s -o body -w "%{http_code} %{size_download}\n" $u$p; done; curl -s $u/big | sha256sum; curl -s --no-progress-meter -Z --parallel-max 8 $u/?[1-40] 2>/dev/null | sort | uniq -c; curl -s -I $u/big | grep -i length; curl -s -r 10-19 $u/big | wc -c; rm -f body'
export PORT ask_nginx

if command -v nginx >/dev/null; then
	PORT=$(free_port)
	IGNORE='nginx.pid|error.log|n.conf' SETUP=setup_www both nginx <<'S'
nginx -c $PWD/n.conf -e $PWD/error.log & n=$!
for i in $(seq 300); do curl -s -o /dev/null http://127.0.0.1:$PORT/answer && break; sleep 0.05; done
eval "$ask_nginx"; kill -HUP $n; sleep 0.3; curl -s http://127.0.0.1:$PORT/answer; kill -QUIT $n; wait $n; echo "nginx $?"
S
	PORT=$(free_port)
	fresh
	setup_www
	nginx -c "$PWD/n.conf" -e "$PWD/error.log" >/dev/null 2>&1 & server=$!
	at_exit "kill $server 2>/dev/null"
	if wait_for listening "$PORT"; then
		want=$(eval "$ask_nginx")
		for m in $MODES; do same "curl ($m)" "$want" "$(supervise "$m" bash -c "$ask_nginx" 2>"$T/err")"; done
	else not_ok curl "nginx does not start: $(tail -n 3 error.log)"; fi
	kill $server; wait $server 2>/dev/null
else skip nginx "no nginx"; fi

if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null; then
	PORT=$(free_port)
	IGNORE='rdb|aof|appendonly' both redis <<'S'
redis-server --port $PORT --bind 127.0.0.1 --unixsocket $PWD/r.sock --save '' --appendonly yes --dir $PWD --daemonize no > $TMPDIR/redis.log & r=$!
for i in $(seq 300); do redis-cli -p $PORT ping >/dev/null 2>&1 && break; sleep 0.05; done
redis-cli -p $PORT set k v; redis-cli -s $PWD/r.sock get k; redis-benchmark -p $PORT -n 3000 -c 20 -q -t set,get,incr | tr '\r' '\n' | grep -c 'requests per second'; redis-cli -p $PORT get counter:__rand_int__
redis-cli -p $PORT bgsave; while [ "$(redis-cli -p $PORT info persistence | tr -d '\r' | sed -n 's/rdb_bgsave_in_progress://p')" != 0 ]; do sleep 0.05; done; redis-cli -p $PORT lastsave | wc -l; redis-cli -p $PORT bgrewriteaof; redis-cli -p $PORT dbsize; redis-cli -p $PORT shutdown nosave; wait $r; echo "redis $?"; [ -e r.sock ] || echo removed
S
else skip redis "no redis"; fi
finish
