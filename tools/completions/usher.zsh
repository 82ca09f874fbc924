#compdef usher
# SPDX-License-Identifier: Apache-2.0
#
# Completion of usher's command line for zsh. Subcommands, options, rule sets and questions are what usher itself prints,
# so that a new one needs nothing here; only the values of some options do.

__usher_subcommands() {
	local -a found
	found=(${(f)"$(_call_program subcommands $usher --help 2>/dev/null | sed -nE 's/^  usher ([a-z]+) +/\1:/p')"})
	_describe -t commands 'usher command' found -- '(--help --version)'
}

# As help has them, with what it says of them.
__usher_options() {
	local -a told told_names named of
	local only=. # of a word of the desk, what help says of that
	of=($command ${(M)words[3]:#review})
	case $command:$words[3] in
	desk:deny) only='^ *usher desk allow ' ;; # which has the same
	desk:(list|show|allow|kill|rewrite|watch|grants|revoke)) only="^ *usher desk $words[3] " ;;
	esac
	local help="$(_call_program options $usher $of --help 2>/dev/null | grep -e $only)"
	told=(${(f)"$(sed -nE 's/^ {2,6}(-[a-z], +)?(--[a-z-]+)[^ ]*( [A-Z]+)? +(.*)/\2:\4/p' <<<$help)"})
	named=(${(fu)"$(grep -oE -- '[[|( ]--?[a-z][a-z-]*' <<<$help | tr -d '[|( ')"} --help)
	told_names=(${told%%:*})
	named=(${named:|told_names})
	_describe -t options option told -- named
}

__usher_rule_sets() {
	local -a found
	found=(${(f)"$(_call_program rules $usher rules list 2>/dev/null)"})
	_alternative "rules:built-in rules:compadd -a found" 'files:rule file:_files'
}

# The sessions of the default place, the newest first.
__usher_journals() {
	local -a found
	found=(${XDG_STATE_HOME:-$HOME/.local/state}/usher/[0-9]*T*Z-*(N/On))
	_alternative "sessions:session:compadd -V sessions -S/ -a found" 'directories:journal:_files -/'
}

__usher_questions() { # or grants
	local -a found
	found=(${(f)"$(_call_program questions $usher desk ${1:-list} 2>/dev/null | grep -oE '^ *[^ ]+:[0-9]+' | tr -d ' ')"})
	_wanted questions expl question compadd -a found
}

# The values of the option $1; fails where they are none of these.
__usher_value() {
	case $1 in
	-p|--policy) __usher_rule_sets ;;
	--ask) _values 'who answers' tty desk deny exec: chain: any: ;;
	--sync) _values 'when' each batch none ;;
	--floor) _values 'Landlock floor' auto off ;;
	--for) _values 'how long' once session tree 10m ;;
	--isolate) _values -s , 'namespaces' auto none net pid ipc uts cgroup tmp shm mount ;;
	--require) _values -s , 'what must be there' landlock truncate tcp ioctl scopes unix udp net pid ipc uts cgroup mount tmp shm ptrace memory ;;
	--anchor) _alternative 'kinds:where:compadd -S "" file\: exec\:' 'files:file:_files' ;;
	--journal|--directory) _files -/ ;;
	*) return 1 ;;
	esac
}

__usher_word() {
	case $command in
	check|fmt) __usher_rule_sets ;;
	rules) if [[ $words[3] = show ]]; then __usher_rule_sets; else _values 'rules' list show; fi ;;
	verify) __usher_journals ;;
	log)
		__usher_journals
		compadd -- who-touched explain prove index sessions diff prune denied asked failed alert in-flight
		compadd -S '' -- path: by: op: call: pid: verdict: rule: type: result: event: seq: since: until: sha256:
		;;
	desk)
		case $CURRENT:$words[3] in
		3:*) compadd -- list show allow deny kill rewrite watch grants revoke review ;;
		*:review) compadd -- list show right wrong rules ;;
		*:revoke) __usher_questions grants ;;
		*:(show|allow|deny|kill|rewrite)) __usher_questions ;;
		esac
		;;
	esac
}

# Which of $words is the command of 'usher run'; nothing while options are being written.
__usher_command_at() {
	local -i i
	for ((i = 3; i <= CURRENT; i++)); do
		case $words[i] in
		--) [[ $i = $CURRENT ]] || print $((i + 1)); return ;;
		-p|--policy|--journal|--ask|--sync|--anchor|--keep-fd|--floor|--require|--isolate) i+=1 ;;
		-*) ;;
		*) print $i; return ;;
		esac
	done
}

_usher() {
	local usher=$words[1] command=$words[2] at
	if ((CURRENT == 2)); then
		__usher_subcommands
		return
	fi
	[[ $command != run ]] || at=$(__usher_command_at)
	if [[ -n $at ]]; then
		# What usher starts is completed as it would be without usher.
		shift $((at - 1)) words
		CURRENT=$((CURRENT - at + 1))
		_normal
		return
	fi
	if compset -P 1 '--*='; then
		__usher_value ${IPREFIX%=}
	elif __usher_value $words[CURRENT-1]; then
		:
	elif [[ $words[CURRENT] = -* ]]; then
		__usher_options
	else
		__usher_word
	fi
}

_usher "$@"
