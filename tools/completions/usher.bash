# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Completion of usher's command line for bash. Subcommands, options, rule sets and questions are what usher itself prints,
# so that a new one needs nothing here; only the values of some options do.

# Candidates that begin with $cur.
__usher_words() { mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$1" -- "$cur"); }

__usher_paths() { # -f or -d
	local path
	while IFS= read -r path; do
		[ ! -d "$path" ] || path+=/
		COMPREPLY+=("$path")
	done < <(compgen "$1" -- "$cur")
}

# The values of an option, or of what stands behind its '='.
__usher_value() { # OPTION
	case $1 in
	-p | --policy)
		__usher_words "$("$usher" rules list 2>/dev/null)"
		__usher_paths -f
		;;
	--ask) __usher_words 'tty desk deny exec: chain: any:' ;;
	--sync) __usher_words 'each batch none' ;;
	--floor) __usher_words 'auto off' ;;
	--for) __usher_words 'once session tree 10m' ;;
	--isolate) __usher_list 'auto none net pid ipc uts cgroup tmp shm mount' ;;
	--require) __usher_list 'landlock truncate tcp ioctl scopes unix udp net pid ipc uts cgroup mount tmp shm ptrace memory' ;;
	--anchor)
		__usher_words 'file: exec:'
		[ "$command" = run ] || __usher_paths -f
		;;
	--journal | --directory) __usher_paths -d ;;
	*) return 1 ;;
	esac
}

# A list with commas: its last word, behind those that are there.
__usher_list() {
	local before=
	[ "${cur%,*}" = "$cur" ] || before=${cur%,*},
	local words=() w
	for w in $1; do words+=("$before$w"); done
	__usher_words "${words[*]}"
}

# Help; of a word of the desk, what it says of that.
__usher_help() {
	local of=("$command") only=.
	[ "${words[2]:-}" != review ] || of+=(review)
	case $command:${words[2]:-} in
	desk:deny) only='^ *usher desk allow ' ;; # which has the same
	desk:list | desk:show | desk:allow | desk:kill | desk:rewrite | desk:watch | desk:grants | desk:revoke) only="^ *usher desk ${words[2]} " ;;
	esac
	"$usher" "${of[@]}" --help 2>/dev/null | grep -e "$only"
}

# As help has them; one that takes a value is '--name=' there, wherever it is named again without.
__usher_options() {
	__usher_words "$(__usher_help | grep -oE -- '(^|[^[:alnum:]-])--?[a-z][a-z-]*=?' | grep -oE -- '-.*' | sort -ru |
		awk 'last != $0 "=" { print; last = $0 }') --help"
}

# Journals: directories, and the sessions of the default place, the newest first.
__usher_journals() {
	local place=${XDG_STATE_HOME:-$HOME/.local/state}/usher
	__usher_paths -d
	[[ $cur == "$place"* ]] || __usher_words "$(find "$place" -mindepth 1 -maxdepth 1 -type d -name '[0-9]*T*Z-*' 2>/dev/null | sort -r | head -n 50 | sed 's,$,/,')"
}

__usher_argument() { # what stands before it, behind the subcommand
	case $command in
	check | fmt) __usher_value -p ;;
	rules) if [ "${1:-}" = show ]; then __usher_words "$("$usher" rules list 2>/dev/null)"; else __usher_words 'list show'; fi ;;
	verify) __usher_journals ;;
	log)
		__usher_journals
		__usher_words 'who-touched explain prove index sessions diff prune denied asked failed alert in-flight path: by: op: call: pid: verdict: rule: type: result: event: seq: since: until: sha256:'
		;;
	desk)
		case ${1:-} in
		'') __usher_words 'list show allow deny kill rewrite watch grants revoke review' ;;
		review) __usher_words 'list show right wrong rules' ;;
		revoke) __usher_words "$("$usher" desk grants 2>/dev/null | grep -oE '^ *[^ ]+:[0-9]+')" ;;
		show | allow | deny | kill | rewrite) __usher_words "$("$usher" desk list 2>/dev/null | grep -oE '^ *[^ ]+:[0-9]+')" ;;
		esac
		;;
	esac
}

# Where among bash's own pieces, which '=' and ':' end as well, the word number $1 of the line begins.
__usher_piece() {
	local rest=$COMP_LINE n=-1 i
	for i in "${!COMP_WORDS[@]}"; do
		[[ $i != 0 && $rest != [[:space:]]* ]] || n=$((n + 1))
		[ "$n" != "$1" ] || { echo "$i" && return; }
		rest=${rest#"${rest%%[![:space:]]*}"}
		rest=${rest#"${COMP_WORDS[i]}"}
	done
	echo "$COMP_CWORD"
}

__usher_command() {
	__usher_paths -f
	mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$cur")
}

# What usher starts is completed as it would be without usher.
__usher_started() { # the number of its word
	local piece
	piece=$(__usher_piece "$1")
	if declare -F _comp_command_offset >/dev/null; then
		_comp_command_offset "$piece"
	elif declare -F _command_offset >/dev/null; then
		_command_offset "$piece"
	elif [ "$1" = "${#words[@]}" ]; then
		__usher_command
	else
		__usher_paths -f
	fi
}

# Which of $words is the command of 'usher run'; nothing while options are being written.
__usher_command_at() {
	local i
	for ((i = 2; i <= ${#words[@]}; i++)); do
		case ${words[i]:-} in
		--) echo $((i + 1)) && return ;;
		-p | --policy | --journal | --ask | --sync | --anchor | --keep-fd | --floor | --require | --isolate) i=$((i + 1)) ;;
		-*) ;;
		*) [ "$i" = "${#words[@]}" ] || { echo "$i" && return; } ;;
		esac
	done
}

_usher() {
	local usher=${COMP_WORDS[0]} line=${COMP_LINE:0:COMP_POINT} cur command before at words
	COMPREPLY=()
	read -ra words <<<"$line"
	cur=
	[[ $line == *[[:space:]] ]] || { cur=${words[-1]} && unset 'words[-1]'; }
	command=${words[1]:-}
	if [ -z "$command" ]; then
		__usher_words "$("$usher" --help 2>/dev/null | sed -n 's/^  usher \([a-z]*\) .*/\1/p') --help --version"
		return
	fi
	at=
	[ "$command" != run ] || at=$(__usher_command_at)
	if [ -n "$at" ]; then
		__usher_started "$at"
		return
	fi
	before=${words[-1]}
	if [[ $cur == --*=* ]]; then
		before=${cur%%=*}
		cur=${cur#*=}
		__usher_value "$before"
	elif __usher_value "$before"; then
		:
	elif [[ $cur == -* ]]; then
		__usher_options
	elif [ "$command" = run ]; then
		__usher_command
	else
		__usher_argument "${words[@]:2}"
	fi
	[[ ${COMPREPLY[0]:-} != *[=:/] ]] || compopt -o nospace 2>/dev/null
	[[ $cur != *:* ]] || COMPREPLY=("${COMPREPLY[@]#"${cur%:*}":}") # the piece that bash completes
	return 0
}

complete -F _usher usher
