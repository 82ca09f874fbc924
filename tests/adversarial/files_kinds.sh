#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 22: a link in the place of a directory, below whose name something runs later: made there, renamed there, linked there, exchanged with what is there, brought
# along in a directory that moves, and put under the name that a thread is about to move. Natively each of them gets there.
command -v python3 >/dev/null || { echo "skip row 22: no python3"; exit 77; }
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
export XDG_STATE_HOME=$T/state
cat >"$T/ways.py" <<'P'
import ctypes, os, sys, threading, time
os.chdir(sys.argv[1]); libc = ctypes.CDLL(None, use_errno=True)
def exchange(a, b):
    if libc.renameat2(-100, a.encode(), -100, b.encode(), 2): raise OSError(ctypes.get_errno(), a)
def within(): os.mkdir("d"); os.symlink("../made", "d/k"); os.rename("d", "top")
def brought(): os.mkdir("d"); os.symlink("../made", "d/.later"); os.rename("d", "moved")
def changed():
    "x is a link or a directory, from moment to moment"
    os.symlink("made", "x"); os.mkdir("y"); on = True
    def turn():
        while on:
            try: exchange("x", "y")
            except OSError: pass
    t = threading.Thread(target=turn); t.start()
    end = time.monotonic() + float(os.environ.get("RACE_SECONDS", "2"))
    try:
        while time.monotonic() < end:
            try: os.rename("x", ".later")
            except OSError: continue
            if os.path.islink(".later"): return
            os.rename(".later", "x")
    finally: on = False; t.join()
ways = {
    "made": lambda: os.symlink("made", ".later"),
    "renamed": lambda: (os.symlink("made", "l"), os.rename("l", ".later")),
    "linked": lambda: (os.symlink("made", "l"), os.link("l", ".later", follow_symlinks=False)),
    "exchanged": lambda: (os.symlink("made", "l"), os.mkdir(".later"), exchange("l", ".later")),
    "brought along": brought,
    "brought along within what may be no link": within,
    "changed meanwhile": changed,
}
try: ways[sys.argv[2]]()
except OSError: pass
print("link" if os.path.islink(".later") or os.path.islink("moved/.later") or os.path.islink("top/k") else "none")
P
printf 'deny create **/.later **/top **/top/k makes=link\ndefault allow\n' >"$T/rules"
chmod 600 "$T/rules"
bad=0 n=0
for way in made renamed linked exchanged "brought along" "brought along within what may be no link" "changed meanwhile"; do
	for how in natively supervised; do
		n=$((n + 1)) run=()
		mkdir -p "$T/$n/made"
		[ $how = natively ] || run=("$USHER" run -p "$T/rules" --journal "$T/j$n" --)
		out=$("${run[@]}" timeout 60 python3 "$T/ways.py" "$T/$n" "$way" 2>&1)
		wants=none
		[ $how = supervised ] || wants=link
		if [ "$out" = $wants ]; then echo "ok row 22: a link under the name of a directory, $way, $how: $wants"; else echo "not ok row 22: a link under the name of a directory, $way, $how: $out"; bad=1; fi
	done
done
# A link that a rule leads the old name to.
mkdir -p "$T/led/real" && ln -s /etc "$T/led/real/l"
printf 'rewrite read,delete,create,modify,stat %s/led/x -> %s/led/real/l\n' "$T" "$T" | cat - "$T/rules" >"$T/leads"
chmod 600 "$T/leads"
out=$(cd "$T/led" && "$USHER" run -p "$T/leads" --journal "$T/jl" -- python3 -c 'import os; os.rename("x", ".other"); print("moved"); os.rename(".other", "x"); os.rename("x", ".later")' 2>&1 | sed -n '1p;$p')
if [ -L "$T/led/real/l" ] && [[ $out == moved*Permission* ]]; then echo "ok row 22: a link under the name of a directory, led there"; else echo "not ok row 22: a link under the name of a directory, led there: $out"; bad=1; fi
# What is no link may have the name.
mkdir "$T/plain"
if "$USHER" run -p "$T/rules" --journal "$T/j" -- sh -c "cd $T/plain && mkdir .later && rmdir .later && mkdir d && mv d .later && rmdir .later && : >.later"; then echo "ok row 22: what is no link may have it"; else echo "not ok row 22: what is no link may have it"; bad=1; fi
# A socket is a node, whatever makes it.
printf 'deny create **/.later makes=node\nallow create **/plain2/* makes=file\ndeny create **/plain2/*\ndefault allow\n' >"$T/nodes"
chmod 600 "$T/nodes"
for name in plain/.later plain2/s; do
	mkdir -p "$T/plain2"
	bound() { "$@" python3 -c 'import os, socket, sys; os.chdir(sys.argv[1]); socket.socket(socket.AF_UNIX).bind(sys.argv[2])' "$T/${name%/*}" "${name#*/}" 2>&1 | tail -n 1; }
	rm -f "$T/${name:?}"
	native=$(bound env)
	rm -f "$T/${name:?}"
	out=$(bound "$USHER" run -p "$T/nodes" --journal "$T/jn${name%/*}" --)
	if [ -z "$native" ] && [[ $out == *Permission* ]] && [ ! -e "$T/$name" ]; then echo "ok row 22: a socket where no node may be made: $name"; else echo "not ok row 22: a socket where no node may be made: $name: $native: $out"; bad=1; fi
done
exit $bad
