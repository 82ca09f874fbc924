#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 18: where rules give programs different rights, /proc is no way into another program of the tree: not to its memory, registers, environment and
# descriptors. The control: natively the same program reads them, and under rules that treat all programs alike, too.
PATH=/usr/sbin:/sbin:/usr/bin:/bin:$PATH
T=$(mktemp -d /tmp/usher-apart.XXXXXX) || exit 1
trap 'rm -rf "$T"' EXIT
chmod 755 "$T"
cp "$(readlink -f /usr/bin/python3)" "$T/trusted"
echo 'default allow' >"$T/alike.rules"
printf '%s\n' 'default allow' "deny write /nowhere/** tree=$T/trusted" >"$T/apart.rules"
cat >"$T/victim.py" <<'P'
import ctypes, os, sys
secret = b"flag{" + b"memory}"
held = ctypes.create_string_buffer(secret)
r, w = os.pipe()
m = os.memfd_create("secret")
os.write(m, secret)
d = os.open(os.environ["HERE"] + "/gone", os.O_RDWR | os.O_CREAT, 0o600)
os.unlink(os.environ["HERE"] + "/gone")
os.write(d, secret)
print(os.getpid(), ctypes.addressof(held), r, w, m, d, flush=True)
sys.stdin.read()
P
cat >"$T/enter.py" <<'P'
import os, subprocess, sys, threading
here = sys.argv[1]
p = subprocess.Popen([here + "/trusted", here + "/victim.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"FLAG": "flag{environment}", "HERE": os.getcwd()})
pid, at, r, w, m, d = map(int, p.stdout.readline().split())
there = f"/proc/{pid}"
def memory(name):
    return os.pread(os.open(name, os.O_RDWR), 5, at) == b"flag{"
def read(name):
    with open(name, "rb") as f:
        return len(f.read(64)) > 0
def below():
    os.chdir(there)
    return memory("mem")
def by_path(number, how=os.O_RDONLY):
    return os.open("/proc/self/fd/%d" % os.open(f"{there}/fd/{number}", os.O_PATH), how)
def sibling():
    ready, done, number = threading.Event(), threading.Event(), []
    def run():
        number.append(threading.get_native_id())
        ready.set()
        done.wait()
    t = threading.Thread(target=run)
    t.start()
    ready.wait()
    try:
        return read(f"/proc/{number[0]}/maps") and len(os.listdir(f"/proc/self/task/{number[0]}/fd")) > 0
    finally:
        done.set()
        t.join()
def adjust():
    with open(there + "/oom_score_adj", "w") as f:
        f.write("900")
    return True
enters = {
    "mem": lambda: memory(there + "/mem"), "task/mem": lambda: memory(f"{there}/task/{pid}/mem"), "mem below the directory": below,
    "environ": lambda: read(there + "/environ"), "maps": lambda: read(there + "/maps"), "auxv": lambda: read(there + "/auxv"),
    "syscall": lambda: read(there + "/syscall"), "fd": lambda: len(os.listdir(there + "/fd")) > 0,
    "a pipe's reader": lambda: os.open(f"{there}/fd/{r}", os.O_RDONLY) > 0, "a pipe's writer": lambda: os.open(f"{there}/fd/{w}", os.O_WRONLY) > 0,
    "a file without a name": lambda: os.read(os.open(f"{there}/fd/{m}", os.O_RDONLY), 5) == b"flag{",
    "a pipe's writer by a path descriptor": lambda: by_path(w, os.O_WRONLY) > 0,
    "a file without a name by a path descriptor": lambda: os.pread(by_path(m, os.O_RDWR), 5, 0) == b"flag{",
    "a deleted file by a path descriptor": lambda: os.pread(by_path(d), 5, 0) == b"flag{",
    "its truncation by a path descriptor": lambda: os.truncate("/proc/self/fd/%d" % os.open(f"{there}/fd/{d}", os.O_PATH), 1) is None,
}
looks = {
    "stat": lambda: read(there + "/stat"), "cmdline": lambda: read(there + "/cmdline"), "exe": lambda: read(there + "/exe"),
    "a file of one's own by a path descriptor": lambda: os.open("/proc/self/fd/%d" % os.open(here + "/enter.py", os.O_PATH), os.O_RDONLY) > 0, "root": lambda: read(there + "/root/etc/passwd"), "oom_score_adj": adjust, "its own thread": sibling,
}
for kind, ways in (("enter", enters), ("look", looks)):
    for name, way in ways.items():
        try:
            got = "got" if way() else "nothing"
        except OSError as e:
            got = f"errno {e.errno}"
        print(f"{kind}|{name}|{got}")
p.stdin.close()
p.wait()
P
cd "$T" || exit 1
python3 enter.py "$T" >native 2>/dev/null
for rules in alike apart; do
	"$USHER" run -p "$T/$rules.rules" --ask=deny --journal "$T/journal.$rules" -- python3 enter.py "$T" >"$rules" 2>/dev/null
done
bad=0
while IFS='|' read -r kind name native; do
	alike=$(grep -F "$kind|$name|" alike) apart=$(grep -F "$kind|$name|" apart)
	want="errno 13"
	[ "$kind" = enter ] || want=got
	if [ "$native" != got ]; then
		echo "skip row 18: another program of the tree: $name: natively $native"
	elif [ "${alike##*|}" = got ] && [ "${apart##*|}" = "$want" ]; then
		echo "ok row 18: another program of the tree: $name"
	else
		echo "not ok row 18: another program of the tree: $name: with equal rights ${alike##*|}, with others ${apart##*|}"
		bad=1
	fi
done <native
[ -s native ] || { echo "not ok row 18: another program of the tree: the control said nothing"; bad=1; }
exit $bad
