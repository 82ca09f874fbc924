#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# quick: 1000
# node: files, children, sockets, workers; npm: installing from a local tarball.
. "$(dirname "$0")/lib.sh"
need node

both files <<'S'
cat > a.js <<'EOF'
const fs = require('fs'), p = fs.promises, path = require('path'), os = require('os');
(async () => {
  await p.mkdir('d/e/f', { recursive: true }); await Promise.all([...Array(64).keys()].map(i => p.writeFile(`d/e/${i}`, 'x'.repeat(i))));
  console.log((await p.readdir('d/e')).length, (await p.stat('d/e/63')).size); await p.rename('d/e/1', 'd/one'); await p.copyFile('d/one', 'd/two'); await p.symlink('two', 'd/l'); console.log(await p.readlink('d/l'), await p.realpath('d/l') === path.resolve('d/two'));
  await p.appendFile('d/one', 'more'); await p.truncate('d/one', 2); await p.chmod('d/one', 0o600); await p.utimes('d/one', 1, 2); console.log((await p.stat('d/one')).mtimeMs, (await p.readFile('d/one')).toString());
  for (const f of [() => p.open('none'), () => p.mkdir('d'), () => p.rmdir('d'), () => p.open('d', 'w'), () => p.writeFile('d/one', 'x', { flag: 'wx' })]) await f().catch(e => console.log(e.code, e.syscall));
  const t = await p.mkdtemp(path.join(os.tmpdir(), 'n-')); fs.rmSync(t, { recursive: true }); fs.rmSync('d/e', { recursive: true });
  const s = fs.createWriteStream('big'); for (let i = 0; i < 1000; i++) s.write('y'.repeat(1000)); s.end(() => fs.createReadStream('big').on('data', d => n += d.length).on('end', () => console.log(n))); let n = 0;
  const w = fs.watch('.', () => { w.close(); console.log('seen'); }); fs.writeFileSync('poke', '1');
})();
EOF
node a.js | sort
S

both children <<'S'
cat > c.js <<'EOF'
const c = require('child_process'), { Worker } = require('worker_threads'), fs = require('fs');
console.log(c.execFileSync('sh', ['-c', 'echo hi; cat'], { input: 'in' }).toString(), c.spawnSync('sh', ['-c', 'exit 5']).status, c.spawnSync('/nonexistent').error.code, c.spawnSync('sleep', ['9'], { timeout: 200 }).signal);
let left = 8; for (let i = 0; i < 8; i++) c.exec(`cat /etc/hostname >/dev/null; exit ${i}`, e => { fs.writeFileSync('r' + i, String(e ? e.code : 0)); if (!--left) console.log('all'); });
const f = c.fork('./k.js'); f.on('message', m => { console.log('child says', m); f.disconnect(); });
new Worker("const fs = require('fs'); for (let i = 0; i < 200; i++) { fs.writeFileSync('w', String(i)); fs.readFileSync('w'); } require('worker_threads').parentPort.postMessage(fs.readFileSync('w', 'utf8'))", { eval: true }).on('message', m => console.log('worker', m));
EOF
echo "process.send(require('fs').readdirSync('.').includes('k.js'))" > k.js; node c.js | sort
S

MODES="allow yes" both sockets <<'S'
cat > s.js <<'EOF'
const net = require('net'), http = require('http');
http.createServer((q, r) => r.end(q.url)).listen(0, '127.0.0.1', function () {
  const port = this.address().port; let n = 0, srv = this;
  for (let i = 0; i < 30; i++) http.get({ host: '127.0.0.1', port, path: '/' + i, agent: false }, r => { r.resume(); r.on('end', () => { if (++n == 30) { console.log('30'); srv.close(); unix(); } }); });
});
function unix() { const s = net.createServer(c => c.end('u')).listen('u.sock', () => net.connect('u.sock').on('data', d => { console.log(String(d)); s.close(); refused(); })); }
function refused() { const s = net.createServer().listen(0, '127.0.0.1', () => { const p = s.address().port; s.close(() => net.connect(p, '127.0.0.1').on('error', e => console.log(e.code, e.syscall))); }); }
EOF
node s.js
S

command -v npm >/dev/null || { skip npm "no npm"; finish; }
modes="allow agent"
[ -z "${QUICK:-}" ] || modes=allow # agent.sh has npm as well
MODES=$modes both npm <<'S'
set -e
export npm_config_cache=$TMPDIR/npm npm_config_update_notifier=false npm_config_audit=false npm_config_fund=false npm_config_offline=true
mkdir -p lib/sub app; echo '{"name":"lib","version":"1.2.3","main":"sub/i.js","bin":{"libtool":"b.js"}}' > lib/package.json; echo 'module.exports = n => n * 2' > lib/sub/i.js; printf '#!/usr/bin/env node\nconsole.log("bin", process.argv[2])\n' > lib/b.js
(cd lib && npm pack --silent && tar tzf lib-1.2.3.tgz | sort); cd app; echo '{"name":"app","version":"1.0.0","scripts":{"build":"node -p 6*7 && libtool x"}}' > package.json
npm install --silent ../lib/lib-1.2.3.tgz; node -p 'require("lib")(21)'; npm run --silent build; npm ls --parseable | wc -l; npm ci --silent; ls node_modules/.bin; rm ../lib/*.tgz
S
finish
