# SPDX-License-Identifier: Apache-2.0
#
# Completion of usher's command line for fish. Subcommands, options, rule sets and questions are what usher itself prints,
# so that a new one needs nothing here; only the values of some options do.

# The words in front of the one that is completed, usher's name first.
function __usher_words
    commandline -opc
end

function __usher_command
    set -l words (__usher_words)
    echo $words[2]
end

function __usher_in # COMMAND...: whether one of them is the subcommand
    contains -- (__usher_command) $argv
end

function __usher_subcommands
    set -l words (__usher_words)
    $words[1] --help 2>/dev/null | string replace -rf '^  usher ([a-z]+) +(.*)' '$1\t$2'
end

# As help has them, with what it says of them.
function __usher_options
    set -l words (__usher_words)
    set -l help ($words[1] $words[2] (string match -- review $words[3]) --help 2>/dev/null)
    # Of a word of the desk, what help says of that; deny has what allow has.
    if test "$words[2]" = desk; and contains -- "$words[3]" list show allow deny kill rewrite watch grants revoke
        set help (string match -r -- '^ *usher desk '(string replace deny allow -- $words[3])' .*' $help)
    end
    string replace -rf '^ {2,6}(?:-[a-z], +)?(--[a-z-]+)\S*(?: [A-Z]+)? +(.*)' '$1\t$2' -- $help
    string match -rag -- '[\[|( ](--[a-z-]+)' $help | sort -u
    string match -rag -- '[\[|( ](-[a-z])[],| ]' $help | sort -u
    echo --help
end

function __usher_rule_sets
    set -l words (__usher_words)
    $words[1] rules list 2>/dev/null
end

# The sessions of the default place, the newest first.
function __usher_sessions
    set -l place $XDG_STATE_HOME
    test -n "$place"; or set place $HOME/.local/state
    find $place/usher -mindepth 1 -maxdepth 1 -type d -name '[0-9]*T*Z-*' 2>/dev/null | sort -r | head -n 50 | string replace -r '$' /
    __fish_complete_directories
end

function __usher_questions # or grants
    set -l words (__usher_words)
    $words[1] desk (test "$argv[1]" = grants; and echo grants; or echo list) 2>/dev/null | string match -rg '^ *([^ ]+:[0-9]+)'
end

# The option whose value is being written: in front of the word, or of its '='.
function __usher_option
    string match -rg '^(--[a-z-]+)=' -- (commandline -ct); and return
    set -l words (__usher_words)
    string match -r '^-p$|^--[a-z-]+$' -- $words[-1]
end

# A list with commas: its next word, behind those that are there.
function __usher_list
    set -l before (commandline -ct | string replace -r '^--[a-z-]+=' '' | string match -r '.*,'; or echo)
    printf '%s\n' $before$argv
end

# The values of the option OPTION; fails where they are none of these.
function __usher_values_of
    switch $argv[1]
        case -p --policy
            __usher_rule_sets
            __fish_complete_path (commandline -ct | string replace -r '^--[a-z-]+=' '')
        case --ask
            printf '%s\n' tty desk deny exec: chain: any:
        case --sync
            printf '%s\n' each batch none
        case --floor
            printf '%s\n' auto off
        case --for
            printf '%s\n' once session tree 10m
        case --isolate
            __usher_list auto none net pid ipc uts cgroup tmp shm mount
        case --require
            __usher_list landlock truncate tcp ioctl scopes unix udp net pid ipc uts cgroup mount tmp shm ptrace memory
        case --anchor
            printf '%s\n' file: exec:
            __fish_complete_path (commandline -ct | string replace -r '^--[a-z-]+=' '')
        case --journal --directory
            __fish_complete_directories (commandline -ct | string replace -r '^--[a-z-]+=' '')
        case '*'
            return 1
    end
end

function __usher_values
    set -l option (__usher_option)
    set -l before (commandline -ct | string match -r '^--[a-z-]+='; or echo)
    printf '%s\n' $before(__usher_values_of $option)
end

# Whether a value is what comes next.
function __usher_awaits
    set -l option (__usher_option); and __usher_values_of $option >/dev/null
end

# Which of the words is the command of "usher run", in front of the cursor; fails while options are being written.
function __usher_command_at
    set -l words (__usher_words)
    set -l i 3
    while test $i -le (count $words)
        switch $words[$i]
            case --
                echo (math $i + 1)
                return
            case -p --policy --journal --ask --sync --anchor --keep-fd --floor --require --isolate
                set i (math $i + 1)
            case '-*'
            case '*'
                echo $i
                return
        end
        set i (math $i + 1)
    end
    return 1
end

# What comes next: a subcommand, an option or its value, a word, or what usher starts.
function __usher_next
    set -l words (__usher_words)
    if test (count $words) = 1
        echo command
    else if test $words[2] = run; and __usher_command_at >/dev/null
        echo started
    else if __usher_awaits
        echo value
    else if string match -q -- '-*' (commandline -ct)
        echo option
    else
        echo word
    end
end

function __usher_is
    test (__usher_next) = $argv[1]
end

function __usher_word # COMMAND...
    __usher_in $argv; and __usher_is word
end

# What usher starts is completed as it would be without usher.
function __usher_started
    set -l at (__usher_command_at)
    set -l words (__usher_words) (commandline -ct)
    if test (count $words) -ge $at
        complete -C (string join ' ' -- (string escape -- $words[$at..-2]) $words[-1])
    end
end

complete -c usher -f
complete -c usher -n '__usher_is command' -a '(__usher_subcommands) --help --version'
complete -c usher -n '__usher_is option' -a '(__usher_options)'
complete -c usher -n '__usher_is value' -a '(__usher_values)'
complete -c usher -n '__usher_is started' -a '(__usher_started)'

complete -c usher -n '__usher_word run' -a '(__fish_complete_command)'
complete -c usher -n '__usher_word check fmt' -F -a '(__usher_rule_sets)'
complete -c usher -n '__usher_word verify log' -a '(__usher_sessions)' -k
complete -c usher -n '__usher_word log' -a 'who-touched explain prove index sessions diff prune denied asked failed alert in-flight path: by: op: call: pid: verdict: rule: type: result: event: seq: since: until: sha256:'
complete -c usher -n '__usher_word rules' -a 'list show'
complete -c usher -n '__usher_word rules; and contains show (__usher_words)' -a '(__usher_rule_sets)'
complete -c usher -n '__usher_word desk; and test (count (__usher_words)) = 2' -a 'list show allow deny kill rewrite watch grants revoke review'
complete -c usher -n '__usher_word desk; and contains review (__usher_words)' -a 'list show right wrong rules'
complete -c usher -n '__usher_word desk; and contains -- (__usher_words)[3] show allow deny kill rewrite' -a '(__usher_questions)'
complete -c usher -n '__usher_word desk; and contains -- (__usher_words)[3] revoke' -a '(__usher_questions grants)'
