#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# chromium without its own sandbox loads pages from a server on loopback. Not among the packages that the tests install: it is large.
. "$(dirname "$0")/lib.sh"
need chromium python3
MODES=allow
PORT=$(free_port)
mkdir "$T/site"
echo '<html><body><p id=a>before</p><img src=i.svg><script src=s.js></script></body></html>' >"$T/site/index.html"
echo 'fetch("d.json").then(r => r.json()).then(j => { document.getElementById("a").textContent = "script " + j.n; document.title = "done"; });' >"$T/site/s.js"
echo '{"n": 41}' >"$T/site/d.json"
echo '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>' >"$T/site/i.svg"
python3 -m http.server --bind 127.0.0.1 -d "$T/site" "$PORT" >/dev/null 2>"$T/site.log" & server=$!
at_exit "kill $server 2>/dev/null; wait $server 2>/dev/null"
wait_for listening "$PORT" || not_ok server
export PORT
IGNORE=. both page <<'S'
timeout 120 chromium --headless=new --no-sandbox --disable-gpu --no-first-run --disable-dev-shm-usage --disable-background-networking --disable-component-update --user-data-dir=$TMPDIR/c --virtual-time-budget=8000 --dump-dom http://127.0.0.1:$PORT/ 2>/dev/null; echo "chromium $?"
S
# By builtin:agent it has a profile of its own. The first number that it takes for a lookup is a question, and the answer is one for all: no rule there is for one program alone (by=), which would keep debuggers out.
timeout 120 "$USHER" run --ask=deny --journal "$T/state/agent" -- timeout 60 chromium --headless=new --no-sandbox --disable-gpu --dump-dom 'data:text/html,<p>x</p><img src=http://name.invalid/x>' >"$T/dom" 2>/dev/null </dev/null
check "chromium by builtin:agent" grep -q '<p>x' "$T/dom"
"$USHER" log --json "$T/state/agent" 2>/dev/null | grep '"verdict":"ask"' | grep '"mkdir"' >"$T/asked"
check "it is not asked for its profile" test ! -s "$T/asked"
check "the page was loaded in full" grep -q 'GET /d.json.* 200' "$T/site.log"
finish
