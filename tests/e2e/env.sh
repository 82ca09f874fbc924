#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the first command gets of usher's environment.
. "$(dirname "$0")/lib.sh"
fresh
R=$T/etc/env.rules S=$T/etc/more.rules
names() { # RULES...: the command's variables, sorted
	local args=() f
	for f; do args+=(-p "$f"); done
	env -i PATH="$PATH" HOME="$HOME" TMPDIR="$TMPDIR" XDG_STATE_HOME="$XDG_STATE_HOME" A_KEY=1 B_TOKEN=2 C=3 LD_X=4 "$USHER" run "${args[@]}" --ask=deny --journal "$T/j$RANDOM$RANDOM" -- /usr/bin/env 2>&1 |
		grep -vE '^(PATH|HOME|TMPDIR|XDG_STATE_HOME)=' | sort | tr '\n' ' '
}
rules() { printf '%s\n' "$@" 'default allow'; }
rules '# none' >"$R"; chmod 600 "$R"
same "without env statements all of it" "A_KEY=1 B_TOKEN=2 C=3 LD_X=4 " "$(names "$R")"
rules 'env keep A_KEY' 'env drop *_KEY *_TOKEN' >"$R"
same "keep before drop" "A_KEY=1 C=3 LD_X=4 " "$(names "$R")"
rules 'env keep PATH HOME C' 'env drop *' >"$R"
same "nothing but what is named" "C=3 " "$(names "$R")"
spaced() { # RULE: what it leaves of a variable whose name holds a blank
	rules "$1" >"$R"
	env "A B=1" "$USHER" run -p "$R" --ask=deny --journal "$T/j$RANDOM$RANDOM" -- /usr/bin/env 2>/dev/null | grep '^A B='
}
same "control: a name with a blank in it" "A B=1" "$(spaced 'env drop B*')"
same "is dropped by * as others are" "" "$(spaced 'env drop *')"
same "and so at its beginning" "" "$(spaced 'env drop A*')"
same "programs are refused by it, too" "" "$(spaced 'deny exec ** env=A*B')"
rules 'env drop C' 'env set C="new value" D=5' >"$R"
same "set comes after drop" "A_KEY=1 B_TOKEN=2 C=new value D=5 LD_X=4 " "$(names "$R")"
rules 'env drop D' 'env set A_KEY=9' >"$S"; chmod 600 "$S"
same "another file drops what one sets" "A_KEY=9 B_TOKEN=2 C=new value LD_X=4 " "$(names "$R" "$S")"
rules 'env set PATH=/nonexistent' >"$R"
(cd "$T/project" && "$USHER" run -p "$R" --journal "$T/jp" -- ls) >/dev/null 2>&1
same "the command is looked for in its own PATH" 127 $?

rules 'deny exec ** env={LD_PRELOAD,BASH_ENV,GIT_SSH*}' >"$R"
later() { # COMMAND LINE of a shell
	"$USHER" run -p "$R" --ask=deny --journal "$T/j$RANDOM$RANDOM" -- sh -c "$1" 2>"$T/err"
}
same "without such variables programs run" "x" "$(later '/bin/echo x')"
same "a variable that makes programs run other code" "" "$(later 'LD_PRELOAD=/nonexistent.so /bin/echo x')"
same "by a pattern" "" "$(later 'GIT_SSH_COMMAND=evil /bin/echo x')"
same "set by env(1)" "" "$(later 'env BASH_ENV=/tmp/x bash -c "echo x"')"
same "others do not matter" "x" "$(later 'LD_PRELOADED=1 NOGIT_SSH=2 /bin/echo x')"
same "nor do values" "x" "$(later 'A=LD_PRELOAD=1 /bin/echo x')"
same "nor a script's own interpreter line" "2" "$(printf '#!/bin/sh -e\necho $Q\n' >"$T/project/s"; chmod +x "$T/project/s"; later "Q=2 $T/project/s")"
same "an empty environment" "x" "$(later 'env -i /bin/echo x')"

cd "$T/project" || exit 1
out=$(env GITHUB_TOKEN=1 AWS_SECRET_ACCESS_KEY=2 NPM_TOKEN=3 MY_API_KEY=4 DB_PASSWORD=5 OPENAI_API_KEY=6 GROK_API_KEY=9 AUGMENT_SESSION_AUTH=9 LANG=C CI=true GOOGLE_GEMINI_BASE_URL=7 MAX_THINKING_TOKENS=8 "$USHER" run --ask=deny --journal "$T/ja" -- /usr/bin/env)
same "builtin:agent drops secrets" "" "$(grep -E '^(GITHUB_TOKEN|AWS_SECRET_ACCESS_KEY|NPM_TOKEN|MY_API_KEY|DB_PASSWORD)=' <<<"$out")"
others=(SECRET_KEY_BASE TS_AUTHKEY NGROK_AUTHTOKEN BW_SESSION OP_SESSION_my X_CONNECTION_STRING SQLALCHEMY_DATABASE_URI RABBITMQ_URL POSTGRES_PRISMA_URL LDAP_BIND_PW LDAP_PWD DB_CREDS DISCORD_WEBHOOK PASSPHRASE SSHPASS A_JWT MNEMONIC X_ACCESSKEY API_KEY_PROD DB_PASSWORD_PROD Smtp__Password)
harmless=(OLD_PWD TOKENIZERS_PARALLELISM DESKTOP_SESSION XDG_SESSION_ID HOMEPAGE_URL KEYBOARD CLAUDE_CODE_API_KEY_HELPER_TTL_MS PASSIVE)
same "control: such names are kept without rules on them" "${#others[@]}" "$(env "${others[@]/%/=secret-1}" "$USHER" run -p "$T/etc/allow.rules" --journal "$T/jc" -- /usr/bin/env | grep -c =secret-1)"
same "builtin:agent drops what is called a secret in other ways" "" "$(env "${others[@]/%/=secret-1}" "$USHER" run --ask=deny --journal "$T/jo" -- /usr/bin/env | grep =secret-1)"
same "and nothing of other names" "${#harmless[@]}" "$(env "${harmless[@]/%/=kept-1}" "$USHER" run --ask=deny --journal "$T/jh" -- /usr/bin/env | grep -c =kept-1)"
same "builtin:agent keeps the rest" "7" "$(grep -cE '^(OPENAI_API_KEY=6|GROK_API_KEY=9|AUGMENT_SESSION_AUTH=9|LANG=C|CI=true|GOOGLE_GEMINI_BASE_URL=7|MAX_THINKING_TOKENS=8)' <<<"$out")"
same "builtin:agent says where nx keeps the program that it loads" "$PWD/.nx/native" "$(sed -n 's/^NX_NATIVE_FILE_CACHE_DIRECTORY=//p' <<<"$out")"
same "and has what TypeScript and its like is compiled to kept nowhere" "3" "$(grep -cE '^(TSX_DISABLE_CACHE=1|JITI_CACHE=false|JITI_FS_CACHE=false)$' <<<"$out")"
same "and lets Rails do without a server in /tmp" "1" "$(grep -c '^DISABLE_SPRING=1$' <<<"$out")"
same "and gives sccache a server of its own" "1" "$(grep -c '^SCCACHE_SERVER_PORT=14226$' <<<"$out")"
same "bundler without the settings in the home, which it would not run without" "/dev/null" "$(sed -n 's/^BUNDLE_USER_CONFIG=//p' <<<"$out")"
same "ansible told of other places than those that one outside runs things from" "2" "$(grep -cxF -e "ANSIBLE_LOCAL_TEMP=/tmp" -e ANSIBLE_REMOTE_TEMP=/tmp <<<"$out")"
same "octave without its history" "/dev/null" "$(sed -n 's/^OCTAVE_HISTFILE=//p' <<<"$out")"
same "and xonsh, which pytest loads where it is installed, without a history" "dummy" "$(sed -n 's/^XONSH_HISTORY_BACKEND=//p' <<<"$out")"
same "the journal names what was dropped" "1" "$("$USHER" log "$T/ja" --json | grep '"type":"start"' | grep -c '"environment_dropped":\[.*"NPM_TOKEN"')"
same "and holds no value" "0" "$("$USHER" log "$T/ja" --json | grep '"type":"start"' | grep -c 'NPM_TOKEN=')"

# Who a user is may have to be asked of getent(1), which is the system's and not one that lies in PATH.
if is_root; then
	open=$(mktemp -d /tmp/e2e-env-user.XXXXXX) && at_exit "rm -rf $open"
	mkdir "$open/bin" && chmod 777 "$open"
	printf '#!/bin/sh\ntouch %s\necho u:x:4242:1:::\n' "$open/planted" >"$open/bin/getent" && chmod 755 "$open/bin/getent"
	nobody() { setpriv --reuid 4242 --regid 4242 --clear-groups env -i PATH="$open/bin:/usr/bin:/bin" HOME="$open" "$@"; }
	nobody sh -c 'getent passwd 4242' >/dev/null
	check "control: that one would be found" test -e "$open/planted"
	rm -f "$open/planted"
	printf 'allow read /home/$USER/**\n' >"$open/user.rules" && chown 4242 "$open/user.rules" && chmod 600 "$open/user.rules"
	nobody "$USHER" check "$open/user.rules" >/dev/null 2>&1
	same "rules that name a user are read" 0 $?
	check "a getent in PATH is not run" test ! -e "$open/planted"
fi
finish
