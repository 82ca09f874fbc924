#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# builtin:agent as a newcomer meets it: what work in a project needs just works with nobody to
# ask, in a project below the home and in one below /tmp; secrets never open.
# quick: 1000
. "$(dirname "$0")/lib.sh"

unset TMPDIR
export XDG_STATE_HOME=$T/state
N=0
agent() { # COMMAND...: by builtin:agent, nobody to ask
	"$USHER" run --ask=deny --journal "$T/state/j$N" -- "$@" </dev/null
}
told() { # what was refused in the last run, for the report
	"$USHER" log --json "$T/state/j$N" 2>/dev/null | grep -E '"verdict":"(deny|kill|ask)"' | head -n 8
}
works() { # NAME COMMAND...
	local name="$1 ($PLACE)" out
	shift
	N=$((N + 1))
	command -v "$1" >/dev/null || { skip "$name" "no $1"; return; }
	if out=$(agent "$@" 2>&1); then ok "$name"; else not_ok "$name" "$(tail -n 8 <<<"$out")" "$(told)"; fi
}
refused() { # NAME COMMAND...: natively it works, under usher it does not
	local name="$1 ($PLACE)" out
	shift
	"$@" >/dev/null 2>&1 </dev/null || { skip "$name" "does not work natively"; return; }
	N=$((N + 1))
	out=$(agent "$@" 2>&1)
	case $? in
	0) not_ok "$name" "it worked: $out" ;;
	125) not_ok "$name" "$out" ;;
	*) ok "$name" ;;
	esac
}
alerted() { # FILE: writing it in the project works, and is told at the end
	local name="told: $1 is written in the project ($PLACE)" out
	N=$((N + 1))
	out=$(agent bash -c 'mkdir -p "${1%/*}"; echo x >"$1"' bash "$1" 2>&1)
	case "$?$out" in
	0*"usher: alert"*"$1"*) ok "$name" ;;
	*) not_ok "$name" "$out" ;;
	esac
}
has() { command -v "$1" >/dev/null; }

work_shell() {
	works "bash: pipes, here documents, process substitution" bash -c '
		cat <<-E | tr a-z A-Z >out; diff <(sort out) <(echo HELLO); set -e; test "$(cat out)" = HELLO
		hello
		E
		mkdir -p a/b; touch a/b/c; cp -a a d; mv d e; chmod 600 e/b/c; ln -s c e/b/l; ln e/b/c e/b/h; find . -name "c" | grep -q e/b/c
		rm -rf a e; mktemp >m; test -e "$(cat m)"; rm "$(cat m)" m out; sed --version >/dev/null; id >/dev/null; ls -la / ~ . >/dev/null; df . >/dev/null; ps ax >/dev/null
		which bash; type ls; date; uname -a; env; nproc; free 2>/dev/null || :; hostname; ls /usr/lib | head -1; cat /etc/os-release; locale'
	works "gcc" bash -ec 'echo "int main(void){return 0;}" >m.c; gcc -O2 -g m.c -o m; ./m; g++ -x c++ m.c -o m2 2>/dev/null && ./m2; rm m m.c'
	has make && has gcc && for i in 1 2 3 4 5 6; do echo "int f$i(void){return $i;}" >"f$i.c"; done
	printf 'all: prog\nOBJ=$(patsubst %%.c,%%.o,$(wildcard f*.c))\nprog: main.o $(OBJ)\n\tgcc -o $@ $^\nmain.o:\n\techo "int f1(void);int main(void){return f1()-1;}" >main.c; gcc -c main.c\ncheck: prog\n\t./prog\n' >Makefile
	works "make -j2" make -j2 check
	works "perl" perl -MFile::Temp=tempfile -e 'my ($f,$n)=tempfile(); print $f "x"; close $f; system("cat $n")==0 or die; unlink $n'
	works "tar and gzip" bash -ec 'tar czf x.tgz f*.c; mkdir x; tar xzf x.tgz -C x; tar tf x.tgz >/dev/null; rm -r x x.tgz'
	works "rsync" rsync -a ./ copy/
	works "sqlite3" sqlite3 db.sqlite 'pragma journal_mode=wal; create table if not exists t(a); insert into t values(1); select * from t;'
	works "vim" vim -es -u NONE -c 'e note.txt' -c 'normal ihello' -c 'wq'
	works "less" less -FX Makefile
	works "small tools" bash -ec 'file -b Makefile 2>/dev/null || :; xargs -n1 echo <Makefile >/dev/null; awk "{print}" Makefile >/dev/null; timeout 5 true; nice true; nohup true; setsid true; stat .; du -s .; md5sum Makefile; curl --version; zip -q z.zip Makefile 2>/dev/null || :; rm -f z.zip'
}

work_git() {
	has git || return
	printf '[user]\n\tname = t\n\temail = t@example.org\n[init]\n\tdefaultBranch = main\n' >"$HOME/.gitconfig"
	works "git init, add, commit" bash -ec 'rm -rf r; git init -q r; cd r; echo a >a; git add a; git commit -qm one; git status --short; git log --oneline; git branch b; git checkout -q b; echo b >>a; git commit -qam two; git checkout -q main; git merge -q b; git tag v1; git stash list; git diff HEAD~1 >/dev/null'
	works "git clone, gc, fetch" bash -ec 'rm -rf c; git clone -q r c; cd c; git fetch -q; git pull -q; git gc -q; git fsck; git config user.name x; git remote -v; git worktree add -q ../w; git push -q origin HEAD:refs/heads/n; cd ..; git clone -q --bare r bare.git; rm -rf w'
	works "git rebase, apply, submodule status" bash -ec 'cd c; git checkout -q -b z v1~1; echo z >z; git add z; git commit -qm z; git rebase -q main; git format-patch -1 -o .. >/dev/null; git reset -q --hard HEAD~1; git am -q ../0001*; git submodule status; git clean -fdq'
	(
		git init -q sub && cd sub && ln -s a l && git add l && git commit -qm l && cd .. && git init -q up && cd up &&
		git -c protocol.file.allow=always submodule add -q "$PWD/../sub" sub && git commit -qm sub && cd .. && git clone -q up down
	) >/dev/null 2>&1
	works "git submodule update, with its links" bash -ec 'git -C down -c protocol.file.allow=always submodule update -q --init; test -L down/sub/l'
	rm -rf sub up down
	git init -q sub2 && (cd sub2 && echo a >a && git add a && git commit -qm a) >/dev/null 2>&1
	works "git submodule add, and a clone of that" bash -ec 'git init -q up2; git -C up2 -c protocol.file.allow=always submodule add -q "$PWD/sub2" s; git -C up2 commit -qm s; git clone -q up2 down2; test -f down2/.gitmodules'
	rm -rf sub2 up2 down2
	works "a bare repository with worktrees, as .bare and as a.git" bash -ec 'for b in .bare a.git; do git clone -q --bare r k/$b; git -C k/$b worktree add -q -b wt ../w; (cd k/w; git checkout -q -b x; echo x >x; git add x; git commit -qm x; git status --short); rm -rf k; done'
	alerted .gitmodules
	rm -f .gitmodules
	git_settings
	! has hg || works "hg clone" bash -ec 'hg init h; hg clone -q h h2; test -f h2/.hg/hgrc; rm -r h h2'
}

git_settings() { # what the settings in the home name beside themselves: git ends where it may not read an include, or run a hook
	mkdir -p "$HOME/.githooks" "$HOME/.dotfiles/git"
	cp "$HOME/.gitconfig" "$HOME/.dotfiles/git/gitconfig"
	printf '[include]\n\tpath = ~/.gitconfig.local\n[includeIf "gitdir:%s/"]\n\tpath = ~/.gitconfig-work\n' "$PWD" >>"$HOME/.dotfiles/git/gitconfig"
	mv "$HOME/.gitconfig" "$HOME/.gitconfig-kept"
	ln -s .dotfiles/git/gitconfig "$HOME/.gitconfig"
	printf '[core]\n\thooksPath = ~/.githooks\n\tattributesFile = ~/.gitattributes\n[commit]\n\ttemplate = ~/.gitmessage\n' >"$HOME/.gitconfig.local"
	printf '[user]\n\tname = work\n' >"$HOME/.gitconfig-work"
	echo '*.c diff=cpp' >"$HOME/.gitattributes"
	echo '# why?' >"$HOME/.gitmessage"
	printf '#!/bin/sh\necho ran >>../hooked\n' >"$HOME/.githooks/pre-commit"
	chmod 755 "$HOME/.githooks/pre-commit"
	works "git with settings that include others, and name hooks" bash -ec 'git init -q s; cd s; echo a >a.c; git add a.c; GIT_EDITOR="sed -i 1s/^/y/" git commit -q; grep -q ran ../hooked; test "$(git log --format=%an)" = work; git check-attr diff a.c | grep -q cpp; cd ..; rm -rf s hooked'
	refused "a hook in the home is changed" bash -c 'echo echo 1 >>~/.githooks/pre-commit'
	refused "what git includes is changed" bash -c 'echo "[core]" >>~/.gitconfig.local'
	echo '[http]' >"$HOME/.gitconfig-token"
	refused "settings of git that are named a token are read" cat "$HOME/.gitconfig-token"
	rm -rf "$HOME/.githooks" "$HOME/.dotfiles" "$HOME"/.gitconfig{.local,-work,-token} "$HOME/.gitattributes" "$HOME/.gitmessage"
	mv "$HOME/.gitconfig-kept" "$HOME/.gitconfig"
}

work_languages() {
	local OUT
	OUT=$(mktemp -d /tmp/agent.XXXXXX)
	! has ghc || works "ghc" bash -ec 'echo "main = print 2" >h.hs; ghc -v0 h.hs -o hs; ./hs; rm h.* hs'
	! has gs || works "gs, with its fonts' list" bash -ec 'f=/var/lib/ghostscript/fonts/Fontmap; [ ! -e $f ] || cat $f >/dev/null; gs -q -sDEVICE=pdfwrite -o a.pdf -c showpage; rm a.pdf'
	works "python3: subprocess, tempfile, multiprocessing" /usr/bin/python3 -c '
import subprocess, tempfile, multiprocessing, socket, threading, json, ssl, sqlite3, os
assert subprocess.run(["echo", "x"], capture_output=True).stdout == b"x\n"
with tempfile.TemporaryDirectory() as d: open(d + "/x", "w").write("x")
with multiprocessing.Pool(2) as p: assert p.map(abs, [-1, -2]) == [1, 2]
q = multiprocessing.Queue(); q.put(1); assert q.get() == 1
multiprocessing.shared_memory if hasattr(multiprocessing, "shared_memory") else 0
a, b = socket.socketpair(); a.send(b"x"); assert b.recv(1) == b"x"
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
import pty; pid, fd = pty.fork()
if not pid: os._exit(0)
os.waitpid(pid, 0)
os.path.expanduser("~"); __import__("getpass").getuser()'
	works "a server of its own, and a client" /usr/bin/python3 -c '
import http.server, subprocess, threading, urllib.request
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler); threading.Thread(target=s.serve_forever, daemon=True).start()
url = "http://127.0.0.1:%d/" % s.server_port
assert urllib.request.urlopen(url).status == 200
subprocess.run(["/usr/bin/python3", "-c", "import urllib.request, sys; urllib.request.urlopen(sys.argv[1])", url], check=True)'
	works "a server whose workers are exchanged, and a client" /usr/bin/python3 -c '
import socket, subprocess, sys
s = socket.socket(); s.bind(("127.0.0.1", 0)); n = s.fileno()
w = "import socket; s = socket.socket(fileno=%d); s.listen(); print(flush=True)\nwhile 1: s.accept()[0].close()" % n
for i in range(3):
    p = subprocess.Popen([sys.executable, "-c", w], pass_fds=[n], stdout=subprocess.PIPE); p.stdout.readline()
    if i: old.kill(); old.wait()
    socket.create_connection(s.getsockname()).recv(1)
    old = p
old.kill()'
	works "a server that leaves its work to a child, and a client" /usr/bin/python3 -c '
import os, signal, socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); to = s.getsockname(); r, w = os.pipe()
if not os.fork():
    s.listen()
    if os.fork(): os._exit(0)
    other = os.dup(s.fileno()); s.close()
    os.write(w, b"%d" % os.getpid())
    while 1: socket.socket(fileno=os.dup(other)).accept()[0].close()
os.wait(); s.close(); child = int(os.read(r, 99))
for i in range(3): socket.create_connection(to).recv(1)
os.kill(child, signal.SIGKILL)'
	if ! unix_names; then skip "multiprocessing over sockets in /tmp" "no unix_diag"; else works "multiprocessing over sockets in /tmp" /usr/bin/python3 -c '
import multiprocessing as m
m.set_start_method("forkserver")
with m.Manager() as g: assert g.list([1])[0] == 1'; fi
	local daemon
	/usr/bin/python3 -c 'import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); open(sys.argv[1] + ".there", "w"); s.accept(); s.accept()' "$OUT/daemon" &
	daemon=$!
	until [ -e "$OUT/daemon.there" ]; do sleep 0.05; done
	refused "connect to a daemon in /tmp" /usr/bin/python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$OUT/daemon"
	kill $daemon
	rm -rf "$OUT"
	works "node" node -e 'const fs=require("fs"),cp=require("child_process"),w=require("worker_threads"); fs.writeFileSync("n.txt","x"); cp.execSync("cat n.txt"); fs.readdirSync("."); fs.watch(".").close(); const s=require("net").createServer().listen(0,"127.0.0.1",()=>s.close())'
}

kept_history() { # IPython and Jupyter's kernels do not start where they have a history and may open none
	local it=~/.ipython/profile_default/history.sqlite
	mkdir -p ~/.cache ~/.ipython/profile_default && echo typed >$it
	works "IPython with a history, which is kept apart" /usr/bin/python3 -c '
import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute("create table history(source)"); c.execute("insert into history values(1)"); c.commit(); c.close()
assert b"typed" not in open(sys.argv[1], "rb").read()' $it
	same "what was typed outside is as it was ($PLACE)" typed "$(cat $it)"
	rm -rf ~/.ipython ~/.cache/ipython-history.sqlite*
}

first_notebook() { # IPython makes its directories, or does not start
	/usr/bin/python3 -c 'import IPython' 2>/dev/null || { skip "IPython's first start ($PLACE)" "no IPython"; return; }
	rm -rf ~/.ipython
	works "IPython's first start" /usr/bin/python3 -c 'from IPython.core.profiledir import ProfileDir; import os; d = os.path.expanduser("~/.ipython"); os.mkdir(d); ProfileDir.create_profile_dir_by_name(d)'
	refused "write what IPython runs at its start" bash -c 'mkdir -p ~/.ipython/profile_default/startup; echo x >~/.ipython/profile_default/startup/a.py'
	rm -rf ~/.ipython
}

work_packages() {
	works "apt list" apt list --installed
	if /usr/bin/python3 -c 'import ensurepip, venv' 2>/dev/null; then
		works "python3 -m venv" bash -ec '/usr/bin/python3 -m venv v; . v/bin/activate; python -c "import sys; assert sys.prefix != sys.base_prefix"; pip --version; pip list'
	fi
	if has cargo && has git; then
		(mkdir -p gitdep/src gituse/src && cd gitdep && printf '[package]\nname = "gitdep"\nversion = "1.0.0"\n' | tee Cargo.toml >../gituse/Cargo.toml && echo >src/lib.rs && git init -q && git add . && git commit -qm one &&
			cd ../gituse && echo 'fn main() {}' >src/main.rs && sed -i s/gitdep/gituse/ Cargo.toml && printf '[dependencies]\ngitdep = { git = "file://%s/gitdep" }\n' "${PWD%/*}" >>Cargo.toml) >/dev/null 2>&1
		mkdir -p ~/.cargo/git
		works "cargo build with a repository" bash -ec 'cd gituse; cargo -q build'
		rm -rf gitdep gituse
	fi
	if has npm && has node; then
		mkdir -p lib && echo '{"name":"lib","version":"1.0.0","scripts":{"postinstall":"echo hi >hi"}}' >lib/package.json
		works "npm pack and install of a tarball" bash -ec 'cd lib; npm pack -s >/dev/null; cd ..; mkdir -p app; cd app; echo "{\"name\":\"app\",\"version\":\"1.0.0\",\"scripts\":{\"test\":\"node -e 1\"}}" >package.json; npm install -s --no-audit --no-fund --offline ../lib/lib-1.0.0.tgz; npm test -s; test -e node_modules/lib/package.json'
		# From a repository it comes by a clone in npm's cache.
		has git && (git init -q gitlib && cd gitlib && mkdir .vscode && echo '{"name":"gitlib","version":"1.0.0"}' >package.json && echo '{}' >.vscode/settings.json && git add . && git commit -qm one) >/dev/null 2>&1 &&
			works "npm install of a repository" bash -ec 'cd app; npm install -s --no-audit --no-fund "git+file://$PWD/../gitlib"; test -e node_modules/gitlib/.vscode/settings.json'
		works "a package brings along what an editor goes by where it is opened" bash -ec 'd=app/node_modules/lib; mkdir -p $d/{.idea,.vscode,.husky}; for f in .tool-versions CMakeLists.txt.user x.sublime-project x.code-workspace .idea/a.xml .vscode/settings.json .husky/pre-commit .pre-commit-config.yaml; do echo x >$d/$f; done'
		works "and what an agent left in it, which goes with it" bash -ec 'd=app/node_modules/lib3; mkdir -p $d/.claude/worktrees/w; echo x >$d/.claude/worktrees/w/x.js; mv $d app/node_modules/.lib3-0a; rm -r app/node_modules/.lib3-0a'
		mkdir -p app/node_modules/lib2/.idea && echo x >app/node_modules/lib2/.idea/a.xml
		refused "such a package moved to where it is opened" bash -c "mv app/node_modules/lib2 lib2 && mv lib2 app/node_modules/lib2"
		works "what create-next-app chose last is kept" bash -ec 'd=~/.config/create-next-app-nodejs; mkdir -p $d; echo x >$d/config.json.tmp-0a; mv $d/config.json.tmp-0a $d/config.json; cat $d/config.json'
		works "what npx runs brings such things along, too" bash -ec 'd=~/.npm/_npx/0a/node_modules/create-x/template/.vscode; mkdir -p $d; echo x >$d/extensions.json; rm -r ~/.npm/_npx/0a'
		works "such a package where bun unpacks it" bash -ec 'd=/tmp/.0a1b2c3d4e5f6071-$$.lib; trap "rm -r $d" EXIT; mkdir -p $d/.idea; echo x >$d/.idea/a.xml; echo x >$d/.tool-versions'
		refused "a link for such a directory" ln -sfn "$PWD" app/node_modules/lib2/.vscode
	fi
	if has go; then
		mkdir -p g && printf 'module m\n\ngo 1.18\n' >g/go.mod && printf 'package main\nimport "fmt"\nfunc main() { fmt.Println("x") }\n' >g/main.go
		mkdir -p "$HOME/.cache"
		[ ! -d "$T/gocache" ] || cp -a "$T/gocache" "$HOME/.cache/go-build" # only the first place begins with nothing
		works "go build, run, vet" bash -ec 'cd g; go build -o x .; ./x; go run .; go vet .'
		[ -d "$T/gocache" ] || [ ! -d "$HOME/.cache/go-build" ] || cp -a "$HOME/.cache/go-build" "$T/gocache"
	fi
}

coding_agents() { # what they keep of their work is theirs to write; what runs later, or logs in, is not
	local f
	mkdir -p "$HOME"/.{claude,gemini/tmp,qwen,pi/agent}
	works "what coding agents keep at home" bash -ec 'cd ~; mkdir -p .claude/projects/-p .gemini/tmp/p/chats .qwen/projects/p/chats .pi/agent/sessions/p
		for f in .claude/{projects/-p/a.jsonl,history.jsonl} .gemini/{tmp/p/chats/a.json,projects.json} .qwen/projects/p/chats/a.jsonl .pi/agent/sessions/p/a.jsonl; do mkdir $f.lock; echo x >>$f; cat $f; rmdir $f.lock; done
		echo x >.claude.json.tmp.1; rm .claude.json.tmp.1; ! [ -w /proc/pressure/memory ] || exec 3<>/proc/pressure/memory'
	for f in .claude.json .claude/{settings.json,hooks/x,commands/a.json.tmp.md,shell-snapshots/x.sh,projects/-p/memory/MEMORY.md,.credentials.json} .claude/ide/1.lock .gemini/{settings.json,tmp/bin/rg,tmp/p/memory/MEMORY.md,oauth_creds.json} .qwen/{settings.json,extensions/x/x.json,ide/1.lock} .pi/agent/{auth.json,extensions/x.ts}; do
		mkdir -p "$HOME/$(dirname "$f")"
		refused "write ~/$f" bash -c "echo x >>~/$f"
	done
	mkdir -p "$HOME/.pi/agent/extensions" x
	refused "put up a link as an extension, by the name of a lock" bash -c 'ln -s "$PWD/x" ~/.pi/agent/extensions/x$$.lock'
	rm -rf "$HOME/.pi/agent/extensions" x
	for f in .claude/.credentials.json .gemini/oauth_creds.json .pi/agent/auth.json; do refused "read ~/$f" cat "$HOME/$f"; done
	for f in .claude/{settings.local.json,hooks/x,workflows/x.js,worktrees/w/.vscode/tasks.json} .qwen/settings.json .pi/extensions/x.ts; do
		mkdir -p "$(dirname "$f")"
		refused "write $f in the project" bash -c "echo x >>$f"
	done
	for f in .vscode .git/info .git/hooks .git/COMMIT_EDITMSG .git/logs/HEAD .git/packed-refs sub/.git .bzr/branch _darcs/prefs .jj/repo ~/.cargo; do
		mkdir -p "$(dirname "$f")"
		[ -e "$f" ] || refused "a link in the place of $f" ln -sfT "$PWD" "$f"
		[ ! -L "$f" ] || rm "$f"
	done
	for f in .claude/{stats-cache.json,projects/-q/memory} .qwen/{projects/q/memory,tmp/q} .gemini/tmp/q/memory .cache/starship .cache/git/credential .cache/ccache/tmp .ccache; do
		mkdir -p "$HOME/$(dirname "$f")"
		[ -e "$HOME/$f" ] || refused "a link in the place of ~/$f" ln -sfT "$PWD" "$HOME/$f"
		[ ! -L "$HOME/$f" ] || rm "$HOME/$f"
	done
	works "a worktree below .claude" bash -c 'mkdir .claude/worktrees/w/src; echo x >.claude/worktrees/w/src/x.c'
	rm -rf .claude .qwen .pi
}

plant_secrets() { # in $SECRETS and $OTHERS, names below the home
	SECRETS=(.ssh/id_rsa .ssh/config .aws/credentials .gnupg/x .mozilla/firefox/x .config/gcloud/x .password-store/x .bash_history .netrc .npmrc .git-credentials .pgpass
		.ivy2/.credentials .m2/settings-work.xml .gradle/develocity/keys.properties .gradle/gradle.encrypted.properties .gradle/secring.gpg .jupyter/mykey.key .config/git/credentials-work .npm-global/etc/npmrc .nvm/versions/node/v20.1.0/etc/npmrc .config/npm/npmrc .composer/auth.json .local/share/gem/credentials .dotnet/corefx/cryptography/x509stores/my/x.pfx
		.cache/{vivaldi/x,luakit/x,webkitgtk/icondatabase/x,tracker3/x,cliphist/db,zsh/history,bash_history,gdb/history,octave-hsts,vim/viminfo,vim/undo/x,emacs/backups/x,erlang-history/erlang-shell-log.1,libvirt/virsh/history,noctalia/notifications.json,spotify/Default/Cookies,com.example.App/Default/Network/Cookies,gomuks/history.db,rclone/vfs/x,yt-dlp/youtube-oauth2/token_data.json,JetBrains/IntelliJIdea1/jcef_cache/Cookies} .deno/deployctl/credentials.json .ansible/tmp/ansible-local-1/x)
	OTHERS=(.config/git/config .gradle/init.d/x.gradle .dotnet/tools/x .ivy2/cache/x .m2/x .gradle/caches/x .cache/zsh/zcompdump .cache/tool/x .cache/tool/history.js .cache/yt-dlp/youtube-nsig/x.json .pylintrc .rspec .clang-format .config/{black,mypy/config,pypoetry/config.toml})
	local f
	for f in "${SECRETS[@]/#/$HOME/}" "${OTHERS[@]/#/$HOME/}"; do
		[ -d "${f%/*}" ] || mkdir -p "${f%/*}"
		echo "token=1" >"$f"
	done
}
secrets_at_home() {
	local f
	for f in "${SECRETS[@]}"; do refused "read ~/$f" cat "$HOME/$f"; done
	for f in "${OTHERS[@]}"; do works "read ~/$f, no secret" cat "$HOME/$f"; done
	printf '[http-basic.x]\nusername = "u"\npassword = "p"\n' >"$HOME/.config/pypoetry/auth.toml"
	printf '[virtualenvs]\nin-project = true\n' >"$HOME/.config/pypoetry/config.toml"
	works "poetry's passwords are read as none" bash -ec 'x=$(cat ~/.config/pypoetry/auth.toml); test -z "$x"'
	refused "and not changed" bash -c 'echo >>~/.config/pypoetry/auth.toml'
	! has poetry || works "with which poetry goes on" bash -ec 'rm -rf po; poetry new -q po; cd po; poetry install -q --no-root; .venv/bin/python -V; cd ..; rm -rf po'
}
secrets() {
	ln -sf "$HOME/.ssh/id_rsa" leak
	refused "read a key through a link" cat leak
	refused "hard link to a key" ln -f "$HOME/.ssh/id_rsa" hard
	rm -f hard
	refused "copy the keys" cp -r "$HOME/.ssh" keys
	rm -rf keys
	refused "move the keys" mv "$HOME/.ssh" "$HOME/.ssh2"
	mv "$HOME/.ssh2" "$HOME/.ssh" 2>/dev/null
	local edited
	for edited in /dev/shm/{pass.XXXXXXXXXXXXX,gopass-editXXXXXX,lpass.XXXXXX}/x /tmp/pass.XXXXXXXXXXXXX/x; do
		edited=$(mktemp -d "${edited%/*}")/x && echo x >"$edited"
		refused "read a password that is being edited (${edited%/*/*})" cat "$edited"
		rm -r "${edited%/*}"
	done
	edited=$(mktemp /tmp/bt_u0XXXXXX) && echo x >"$edited"
	refused "read a token of the grid" cat "$edited"
	rm -f "$edited"
	echo 'PASSWORD=1' >.env
	refused "read .env with nobody to ask" cat .env
	local env
	for env in .env.{production.local,prod,dev,keys} .dev.vars; do
		echo 'PASSWORD=1' >$env
		refused "read $env with nobody to ask" cat $env
		rm -f $env
	done
	works "an example of an environment file" bash -ec 'for f in .env.example .env.test; do echo PASSWORD= >$f; cat $f; rm $f; done'
	refused "plant a hook" bash -c 'mkdir -p .git/hooks; echo x >.git/hooks/pre-commit'
	refused "write ~/.bashrc" bash -c 'echo "#" >>~/.bashrc'
	refused "write an editor task" bash -c 'mkdir -p .vscode; echo "{}" >.vscode/tasks.json'
	refused "name an editor's compiler" bash -c 'mkdir -p .vscode; echo "{}" >.vscode/c_cpp_properties.json'
	refused "write .mcp.json" bash -c 'echo "{}" >.mcp.json'
	refused "write an agent's plugin" bash -c 'mkdir -p .opencode/plugin; echo x >.opencode/plugin/x.js'
	refused "write .envrc" bash -c 'echo x >.envrc'
	local f
	for f in .husky/pre-commit .huskyrc .tool-versions .sdkmanrc .ruby-version mise.toml .direnv/python-3/bin/ls .githooks/pre-commit lefthook.toml .vim/coc-settings.json .gvimrc .vilerc .nexrc .bsp/a.json gtags.conf __ETCDIR__/jove.rc .ctags.d/a.ctags .keys .menus .mc.menu .cedit.menu .ocamldebug .jdbrc jdb.ini .gawkrc .gdbmtoolrc .valgrindrc .ugrep .splintrc .lclintrc .perltidyrc .a2psrc .ledgerrc .ropeproject/config.py _opam/.opam-switch/environment .Rprofile .RData .irbrc irb.rc _irbrc \\\$irbrc .config/irb/irbrc .ghci .ocamlinit .phpdbginit startup.m PKG_ADD maxima-init.mac .gambini .calcinit .spiceinit spice.rc profile.bas custom.i yacasinit.ys .singularrc .magicrc xschemrc init.lsp .fricas.input .axiom.input gforth.fi matplotlibrc lab/index.html.j2 .scilab .hg/sharedpath .hg/histedit-state .jj/repo .bzr/branch/branch.conf svn/hooks/pre-commit .git/branchless/config .git/lazygit.yml .lazygit.yml .git/glab-cli/config.yml .git/gbp.conf .git/arc/config .git/modules/s/info/attributes .bare/hooks/post-checkout .bare/info/attributes .kiro/hooks/x .grok/settings.json .kimi-code/mcp.json .lsp.json .acpxrc.json .mastracode/mcp.json agents.config.json Session.vim .tmux-sessionizer powerline-shell.json .prototools renv/activate.R packrat/init.R .ghc.environment.x86_64-linux-9.0.2 untitled.geo .pymolrc.py pymolrc.pml plugins/a.pup plugins/hid_gtk4_gl.so hercules.cnf hercules.rc dosbox.conf ldaprc .kdev4/p.kdev4 p.kdev4 .qtcreator/CMakeLists.txt.user CMakeLists.txt.user a.pro.user p.sublime-workspace p.ipr .run/a.run.xml .factorypath .buildconfig .kateproject .neoconf.json .nlsp-settings/a.json .vimspector.json .ycm_extra_conf.py .tmuxinator.yml .tmuxp.yaml .tmuxp.json .psysh.php .ruby-env .versions.conf; do
		refused "write $f in the project" bash -c "mkdir -p \$(dirname $f); echo x >$f"
	done
	for f in .cache/{zinit/completions/_docker,lorri/gc_roots/0a/bash-export,sessions/xfce4-session-x:0,ibus/bus/registry,ksycoca5_en_x,menus/0cb77e31,efreet/desktop_vm_C.eet,kupfer/k0a-v5.pickle.gz,xmonad/xmonad-x86_64-linux,taffybar/taffybar-linux-x86_64,direnv/layouts/0a/bin/ls,rofi-4.runcache,tofi-drun,thefuck.db,dconf/profile,vim/view/x,tmux/plugins/tpm/tpm,fish/generated_completions/ls.fish,.zcompdump} .cache/{ccache/ccache.conf,biome/biome-daemon/biome-socket-2,mesa_shader_cache/0a/x,zsh4humans/v5/z4h.zsh,jedi/CPython-311-33/x.pkl,git/credential/socket,lazyvim/luac/x.luac,typescript/5.9/.npmrc,plasmashell/qmlcache/a.qmlc} .ipython/{kernels/x/kernel.json,profile_default/db/bookmarks} .m2/toolchains.xml; do
		refused "write ~/$f" bash -c "mkdir -p ~/$(dirname $f); echo x >~/$f"
	done
	for f in .bare/{config,worktrees/w/{commondir,rebase-merge/git-rebase-todo}} a.git/worktrees/w/{config.worktree,commondir} .git/modules/s/{config.worktree,worktrees/w/config.worktree} .vscode/extensions.json .git/MERGE_RR .git/rebase-merge/strategy .git/sequencer/opts CVS/Root .husky/_/{h,pre-commit,.gitignore}; do alerted $f; done
	refused "a link where tmux looks for its server" bash -c 'd=/tmp/tmux-x$$; mkdir $d; trap "rm -r $d" EXIT; ln -s "$PWD/sock" $d/default'
	refused "a directory with a socket, moved there" bash -c 'd=/tmp/tmux-x$$; mkdir -p s; trap "rm -rf s $d" EXIT; /usr/bin/python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\"s/default\")"; mv -T s $d'
	refused "a socket where chg looks for its server" bash -c 'd=/tmp/chg$$; mkdir $d; trap "rm -r $d" EXIT; /usr/bin/python3 -c "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])" $d/server'
	refused "a socket moved to where a desktop's programs look for their bus" bash -c 'trap "rm -f bus" EXIT; mkdir -p ~/.cache; /usr/bin/python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\"bus\")"; mv -T bus ~/.cache/bus'
	refused "a server where sccache looks for its own" /usr/bin/python3 -c 'import socket; s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("127.0.0.1", 4226)); s.listen()'
	refused "a socket where elvish looks for its daemon" bash -c 'd=/tmp/elvish-$$; mkdir $d; trap "rm -r $d" EXIT; /usr/bin/python3 -c "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])" $d/sock'
	refused "a socket where lf looks for its server" bash -c 's=/tmp/lf.me$$.sock; trap "rm -f $s" EXIT; /usr/bin/python3 -c "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])" $s'
	for f in ssh_mux_h_22_me$$ me$$@h:22; do refused "a socket where ssh looks for its own, $f" /usr/bin/python3 -c 'import os, socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1]); os.unlink(sys.argv[1])' "/tmp/$f"; done
	refused "a socket where screen looks for its own" bash -c 'd=/tmp/uscreens; mkdir -p $d; trap "rmdir $d 2>/dev/null" EXIT; /usr/bin/python3 -c "import os, socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1]); os.unlink(sys.argv[1])" $d/usher-test$$'
	refused "a link where ssh looks for a connection to share" bash -c 'f=/tmp/me$$@h:22; trap "rm -f $f" EXIT; ln -s "$PWD/sock" $f'
	refused "a socket where kakoune looks for its session" bash -c 'd=/tmp/kakoune-me$$; mkdir $d; trap "rm -r $d" EXIT; /usr/bin/python3 -c "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])" $d/work'
	refused "a socket where Rails' spring looks for its server" bash -c 'd=/tmp/spring-$$; mkdir $d; trap "rm -r $d" EXIT; /usr/bin/python3 -c "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])" $d/0a1b'
	refused "a command for a vifm outside" bash -c 'f=/tmp/vifm-ipc-$$; trap "rm -f $f" EXIT; mkfifo $f && : <>$f'
	refused "a command for a polybar outside" bash -c 'f=/tmp/polybar_mqueue.$$; trap "rm -f $f" EXIT; mkfifo $f && : <>$f'
	refused "a socket where gopls looks for its daemon" bash -c 's=/tmp/gopls-0a$$-daemon.me; trap "rm -f $s" EXIT; /usr/bin/python3 -c "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])" $s'
	refused "have git instaweb --start run a program" bash -c 'mkdir -p .git/gitweb; echo >.git/gitweb/lighttpd.conf'
	refused "have git instaweb --stop end other programs" bash -c 'mkdir -p .git; echo 1 >.git/pid'
	refused "mark a repository whose programs stand in the PATH of a shell" bash -c 'mkdir -p .git/safe && rmdir .git/safe'
	refused "have git take its configuration from elsewhere" bash -c 'mkdir -p .git; echo ../x >.git/commondir'
	refused "make a repository under another name" bash -c 'mkdir -p docs; echo ref: refs/heads/main >docs/HEAD'
	refused "move in a repository under another name" bash -c 'd=$(mktemp -d); echo ref: refs/heads/main >$d/HEAD; mv $d docs2'
	refused "write what zsh reads at its start" bash -c 'mkdir -p ~/.cache/zsh; echo x >~/.cache/zsh/zcompdump'
	refused "write what a prompt reads at its start" bash -c 'echo x >~/.cache/p10k-instant-prompt-me.zsh'
	rm -rf .git .bare a.git CVS docs docs2 .direnv .hg .kiro .grok .kimi-code .mastracode renv packrat
	is_root && refused "read the shadow file" cat /etc/shadow
}

agents() { # what they keep in the home
	mkdir -p ~/.codex/{sessions,tmp} ~/.kimi-code/credentials ~/.local/share/opencode ~/.config/opencode ~/.continue/sessions ~/.copilot/logs ~/.cline/data/{sessions,db,settings} ~/.cache/copilot/pkg
	tee ~/.codex/{config.toml,auth.json} ~/.local/share/opencode/auth.json ~/.config/opencode/opencode.json ~/.cline/data/settings/providers.json ~/.copilot/config.json ~/.kimi-code/credentials/a >/dev/null <<<x
	works "agents: settings are read" bash -c 'cat ~/.codex/config.toml ~/.config/opencode/opencode.json'
	works "agents: sessions and logs" bash -ec 'for f in .codex/{sessions/2026/a.jsonl,state_5.sqlite-wal} .local/{share/opencode/opencode.db,state/opencode/locks/a} .continue/sessions/a .copilot/logs/a .cline/data/{sessions/a,db/sessions.db} .kimi-code/{sessions/p/a/wire.jsonl,workspaces.json.tmp.1}; do mkdir -p ~/${f%/*}; echo x >~/$f; echo x >>~/$f; cat ~/$f; rm ~/$f; done'
	local f
	for f in .codex/auth.json .local/share/opencode/auth.json .cline/data/settings/providers.json .copilot/config.json .kimi-code/credentials/a; do refused "read ~/$f with nobody to ask" cat "$HOME/$f"; done
	for f in .codex/{config.toml,hooks.json,tmp/ls} .config/opencode/opencode.json .continue/config.yaml .copilot/mcp-config.json .kimi-code/{config.toml,mcp.json} .cline/data/db/cron.db .cache/copilot/pkg/a .local/share/opencode/{bin,repos/a/config,storage/permission/a.json}; do mkdir -p "$HOME/$(dirname "$f")"; refused "write ~/$f" bash -c "echo x >>~/$f"; done
	refused "a link in the place of pnpm's directory of programs" bash -c 'rm -rf ~/.local/share/pnpm; mkdir -p ~/.local/share; ln -s "$PWD" ~/.local/share/pnpm && rm ~/.local/share/pnpm'
	works "pnpm's directory, and others that are not there" bash -ec 'mkdir -p ~/.local/share/pnpm/store ~/go ~/.bun/install/cache; rmdir ~/.local/share/pnpm/store'
	# An agent outside writes what was said to it behind the link.
	for f in .codex/log/codex-tui.log .local/state/opencode/prompt-history.jsonl .kimi-code/user-history/a.jsonl; do mkdir -p "$HOME/$(dirname "$f")"; refused "a link ~/$f" bash -c "rm -f ~/$f; ln -s ~/.bashrc ~/$f && rm ~/$f"; done
}

display() { # one of its own (Xvfb): asked about, and then its clients come to it. Natively the directory is the machine's
	local d=/tmp/.X11-unix made='' n=9$((RANDOM % 9 + 1))$((RANDOM % 9 + 1)) program at
	[ -d $d ] || { mkdir -m 1777 $d && made=1; }
	if ! touch $d/usher-test; then skip "a display of its own" "$d cannot be written"; return; fi
	rm -f $d/usher-test
	# shellcheck disable=SC2016 # for Python
	program='import errno, os, socket, sys
name = sys.argv[1]
if len(sys.argv) < 3:
    s = socket.socket(socket.AF_UNIX); s.bind(name); s.listen()
c = socket.socket(socket.AF_UNIX)
print(errno.errorcode.get(c.connect_ex("\0" + name), "none"), end=" ")
print(errno.errorcode.get(c.connect_ex(name), "none"))
if len(sys.argv) < 3: os.unlink(name)'
	printf '#!/bin/sh\necho "{\\"answer\\":\\"allow\\"}"\n' >"$T/allow"
	chmod 755 "$T/allow"
	refused "a display that nobody allows" /usr/bin/python3 -c "$program" $d/X$n
	# Where it has no socket its clients go to its port, and those of a login by ssh that is over do.
	for at in 0.0.0.0:600$((RANDOM % 6)) 127.0.0.1:60$((RANDOM % 54 + 10)) ::1:610$((RANDOM % 10)); do
		refused "a display's port, ${at##*:} of ${at%:*}" /usr/bin/python3 -c 'import socket, sys; h, p = sys.argv[1].rsplit(":", 1); s = socket.socket(socket.AF_INET6 if ":" in h else socket.AF_INET); s.bind((h, int(p))); s.listen()' "$at"
	done
	if unix_names; then same "a display that is allowed, and its client" "ECONNREFUSED none" "$("$USHER" run --ask=exec:"$T/allow" --journal "$T/state/display" -- /usr/bin/python3 -c "$program" $d/X$n 2>&1 </dev/null | head -n 1)"; else skip "a display that is allowed" "no unix_diag"; fi
	rm -f $d/X$n
	/usr/bin/python3 -c 'import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); open(sys.argv[2], "w"); s.accept()' $d/X$n "$T/display.there" &
	local other=$!
	wait_for test -e "$T/display.there"
	same "a display outside" "ECONNREFUSED EACCES" "$("$USHER" run --ask=exec:"$T/allow" --journal "$T/state/display2" -- /usr/bin/python3 -c "$program" $d/X$n client 2>&1 </dev/null | head -n 1)"
	kill $other 2>/dev/null
	wait $other 2>/dev/null
	rm -f $d/X$n "$T/display.there"
	[ -z "$made" ] || rmdir $d 2>/dev/null || :
}

lookups() { # nscd has name servers asked for whatever name it is told, by whoever may connect to it
	local in=(unshare -m) run
	is_root || in=(unshare -rm)
	# shellcheck disable=SC2016 # for the shell in there
	run='mount -t tmpfs none /run && mkdir -p /run/nscd || exit 77
		/usr/bin/python3 -c "import socket; s = socket.socket(socket.AF_UNIX); s.bind(\"/run/nscd/socket\"); s.listen(); open(\"/run/there\", \"w\"); [s.accept()[0].close() for i in iter(int, 1)]" &
		until [ -e /run/there ] || ! kill -0 $!; do sleep 0.05; done
		client="import socket; socket.socket(socket.AF_UNIX).connect(\"/var/run/nscd/socket\"); print(\"reached\")"
		/usr/bin/python3 -c "$client"
		"$USHER" run --ask=deny --journal "$1" -- sh -c "getent passwd root | cut -d: -f1; /usr/bin/python3 -c \"\$1\"" sh "$client" 2>/dev/null </dev/null
		kill $!'
	run=$("${in[@]}" bash -c "$run" bash "$T/state/nscd" 2>/dev/null)
	case $? in 77 | 1) [ -n "$run" ] || { skip "nscd" "no mounts of its own"; return; } ;; esac
	same "nscd is reached natively, and not with nobody to ask; users are looked up without" "reached root" "$(echo $run)"
}

places() { # what stands where the project was is the next session's project
	# shellcheck disable=SC2016 # expanded there
	refused "a link in the place of the project" bash -c 'p=$PWD d=${PWD%/*}; mkdir -p "$d/.cache"; cd "$d" && mv "$p" "$d/.cache/old" || exit; ln -s . "$p"; rc=$?; rm -f "$p"; mv "$d/.cache/old" "$p"; exit $rc'
	# shellcheck disable=SC2016
	works "the project is made anew" bash -ec 'p=$PWD d=${PWD%/*}; mkdir -p "$d/.cache"; cd "$d"; mv "$p" "$d/.cache/old"; mkdir "$p"; cd "$p"; echo x >x; rm x; cd "$d"; rmdir "$p"; mv "$d/.cache/old" "$p"'
}

temporary() { # a repository in the place of the temporary directory would be that of all below
	local tmp=$T/own.tmp
	mkdir -p "$tmp"
	export TMPDIR=$tmp
	refused "a repository of the temporary directory itself" bash -c 'cd "$TMPDIR" && mkdir -p objects refs && echo "ref: refs/heads/main" >HEAD && rm HEAD'
	has git && works "a bare repository in the temporary directory" bash -ec 'cd "$TMPDIR"; git init -q --bare bare.git; git init -q --bare other; rm -rf bare.git other'
	unset TMPDIR
}

terminals() { # a terminal that somebody else has open
	has script || return
	script -qfc 'tty >tty.name; exec sleep 20' /dev/null >/dev/null 2>&1 </dev/null &
	local pid=$!
	wait_for test -s tty.name
	refused "write to another terminal" bash -c "echo x >$(cat tty.name)"
	refused "open another terminal" bash -c "exec 3<$(cat tty.name)"
	works "a terminal that it makes itself" script -qec 'echo x >"$(tty)" && cat /dev/null <"$(tty)" && sh -c "echo x >/dev/tty"' /dev/null
	works "a terminal that was given back and made again by itself" bash -c 'for i in 1 2 3; do script -qec "echo x >\$(tty)" /dev/null || exit 1; done'
	kill $pid 2>/dev/null
	wait $pid 2>/dev/null
	# The number of one that it had made, given back, and taken by somebody outside.
	rm -f go name again
	"$USHER" run --ask=deny --journal "$T/state/reuse.$PLACE" -- bash -c 'script -qec "tty >name; echo x >\$(tty)" /dev/null >/dev/null; touch go; while ! [ -s again ]; do sleep 0.05; done; echo x >"$(cat again)"' </dev/null >/dev/null 2>&1 &
	local run=$!
	wait_for test -e go
	script -qfc 'tty >again; exec sleep 20' /dev/null >/dev/null 2>&1 </dev/null &
	pid=$!
	if wait $run; then not_ok "a terminal's number that somebody else has now ($PLACE)" "$(cat name again)"; else ok "a terminal's number that somebody else has now ($PLACE)"; fi
	cmp -s name again || skip "that number was given again ($PLACE)" "another was"
	kill $pid 2>/dev/null
	wait $pid 2>/dev/null
}

# What does not look at where the project is need not be seen in both places each time.
for PLACE in home tmp; do
	fresh
	mkdir -p "$HOME/project"
	[ $PLACE = home ] && cd "$HOME/project" && places
	work_shell
	work_git
	work_languages
	refused "watchman, before it speaks to the one outside" watchman --version
	echo '{}' >../package.json
	works "read a package.json above the project" cat ../package.json
	rm ../package.json
	kept_history
	first_notebook
	[ -n "${QUICK:-}" ] && [ $PLACE = tmp ] || work_packages
	plant_secrets
	[ -n "${QUICK:-}" ] && [ $PLACE = tmp ] || secrets_at_home
	secrets
	coding_agents
	[ $PLACE = tmp ] || agents
	[ $PLACE = tmp ] || temporary
	[ $PLACE = tmp ] || display
	[ $PLACE = tmp ] || lookups
	terminals
done
finish
