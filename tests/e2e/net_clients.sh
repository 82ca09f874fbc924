#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Clients of HTTP against nginx on loopback: curl's neighbours. The server runs natively.
. "$(dirname "$0")/lib.sh"
need nginx
MODES="allow yes"
PORT=$(free_port)
SITE=$T/site
mkdir -p "$SITE/www/d"
echo index >"$SITE/www/index.html"
for i in $(seq 20); do echo "page $i" >"$SITE/www/d/$i.html"; done
head -c 2000000 /dev/zero >"$SITE/www/big"
cat >"$SITE/n.conf" <<C
daemon off; pid $SITE/pid; error_log $SITE/err; worker_processes 1;
$(is_root && echo 'user root;')
events { worker_connections 256; }
http { access_log off; client_body_temp_path $SITE/tb; proxy_temp_path $SITE/tp; fastcgi_temp_path $SITE/tf; uwsgi_temp_path $SITE/tu; scgi_temp_path $SITE/ts;
server { listen 127.0.0.1:$PORT; listen [::1]:$PORT; root $SITE/www; location = /moved { return 302 /d/1.html; } location = /post { client_max_body_size 9m; return 200 "\$request_method \$content_length\n"; } } }
C
nginx -c "$SITE/n.conf" -e "$SITE/err" >/dev/null 2>&1 & server=$!
at_exit "kill $server 2>/dev/null; wait $server 2>/dev/null"
wait_for listening "$PORT" || { not_ok nginx "$(tail -n 3 "$SITE/err")"; finish; }
export PORT U=http://127.0.0.1:$PORT

if command -v wget >/dev/null; then
	both wget <<'S'
wget -q -O - $U/ $U/moved "http://[::1]:$PORT/d/2.html"; wget -q -r -np -nH -i <(for i in $(seq 20); do echo $U/d/$i.html; done) ; ls d | wc -l
wget -q -O - $U/big | sha256sum; wget -q $U/none; echo $?; wget -q -T 2 -t 1 http://127.0.0.1:1/; echo $?
S
else skip wget "no wget"; fi

if command -v python3 >/dev/null; then
	both urllib <<'S'
cat > c.py <<'P'
import urllib.request as u, urllib.error, os, http.client, concurrent.futures as f, asyncio, hashlib
U = os.environ["U"]; P = int(os.environ["PORT"])
print(u.urlopen(U + "/").read(), u.urlopen(U + "/moved").url[-8:], hashlib.sha256(u.urlopen(U + "/big").read()).hexdigest())
print(u.urlopen(U + "/post", data=b"x" * 500000).read())
for bad in "/none",:
	try: u.urlopen(U + bad)
	except urllib.error.HTTPError as e: print(e.code)
try: u.urlopen("http://127.0.0.1:1/")
except urllib.error.URLError as e: print(e.reason)
with f.ThreadPoolExecutor(8) as p: print(sorted(p.map(lambda i: u.urlopen(f"{U}/d/{i}.html").read(), range(1, 21)))[0])
c = http.client.HTTPConnection("::1", P)
for i in range(50): c.request("GET", f"/d/{i % 20 + 1}.html"); assert c.getresponse().read() == b"page %d\n" % (i % 20 + 1)
async def one(i):
	r, w = await asyncio.open_connection("localhost" if i % 2 else "127.0.0.1", P); w.write(b"GET /d/%d.html HTTP/1.0\r\n\r\n" % i); b = await r.read(); w.close(); return b.splitlines()[-1]
async def all(): print(sorted(await asyncio.gather(*[one(i) for i in range(1, 21)])))
asyncio.run(all())
P
python3 c.py
S
else skip urllib "no python3"; fi

if command -v node >/dev/null && node -e 'fetch' 2>/dev/null; then
	both fetch <<'S'
cat > c.mjs <<'J'
const U = process.env.U; const text = async (p, o) => { const r = await fetch(U + p, o); return [r.status, (await r.text()).length] };
console.log(await text("/"), await text("/moved"), await text("/none"), await text("/big"), await text("/post", { method: "POST", body: "x".repeat(300000) }));
console.log((await Promise.all([...Array(20).keys()].map(i => text(`/d/${i + 1}.html`)))).join(" "));
try { await fetch("http://127.0.0.1:2/") } catch (e) { console.log(e.cause.code ?? e.cause.message) }
J
node c.mjs
S
else skip fetch "no node with fetch"; fi

if command -v go >/dev/null; then
	mkdir "$T/go"
	cat >"$T/go/main.go" <<'G'
package main

import ("fmt"; "io"; "net/http"; "os"; "sort"; "strings"; "sync")

func get(u string) string {
	r, err := http.Get(u)
	if err != nil { s := err.Error(); return s[strings.LastIndex(s, ":")+2:] }
	defer r.Body.Close()
	b, _ := io.ReadAll(r.Body)
	return fmt.Sprint(r.StatusCode, " ", len(b))
}

func main() {
	u := os.Getenv("U")
	fmt.Println(get(u), get(u+"/moved"), get(u+"/none"), get(u+"/big"), get("http://127.0.0.1:1/"), get("http://localhost:"+os.Getenv("PORT")+"/"))
	var all []string
	var m sync.Mutex
	var w sync.WaitGroup
	for i := 0; i < 60; i++ {
		w.Add(1)
		go func(i int) { defer w.Done(); s := get(fmt.Sprintf("%s/d/%d.html", u, i%20+1)); m.Lock(); all = append(all, s); m.Unlock() }(i)
	}
	w.Wait()
	sort.Strings(all)
	fmt.Println(all)
}
G
	if (cd "$T/go" && HOME=$T/go GO111MODULE=off go build -o "$T/go/client" main.go) >"$T/go/log" 2>&1; then
		export T
		both go <<'S'
"$T/go/client"
S
	else not_ok go "$(tail -n 5 "$T/go/log")"; fi
else skip go "no go"; fi
finish
