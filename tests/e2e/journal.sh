#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The journal: every effect has its record, with the design's fields; it survives kill -9 of usher at
# any moment; a full disk stops effects; damage is found.
. "$(dirname "$0")/lib.sh"
need python3
fresh

# A scripted session against what its journal must say.
cat >"$T/etc/s.rules" <<EOF
deny read $T/project/no
rewrite open $T/project/from -> $T/project/to
default allow
EOF
chmod 600 "$T/etc/s.rules"
echo no >no; echo to >to; echo from >from
JOURNAL=$T/j1
"$USHER" run -p "$T/etc/s.rules" --journal "$JOURNAL" -- python3 -c '
import os
open("a", "w").close(); os.mkdir("d"); os.rename("a", "d/b"); os.link("d/b", "c"); os.symlink("c", "s"); os.chmod("c", 0o600); os.utime("c"); os.truncate("c", 3); os.unlink("c"); os.remove("s")
try: open("no")
except OSError: pass
open("from").read(); open("./d/../d/b").close(); os.system("true"); os.rmdir("none") if os.path.exists("none") else None
try: os.rmdir("none")
except OSError: pass
' 2>"$T/err"
same "the session runs" 0 $?
python3 - "$JOURNAL" "$T/project" <<'P'
import glob, json, sys
R = []
for f in sorted(glob.glob(sys.argv[1] + "/journal-*")):
    for l in open(f, "rb"):
        if l.startswith(b"{"): R.append(json.loads(l))
P = sys.argv[2]
def say(ok, name, *more): print(("ok " if ok else "not ok ") + name); [print("   ", m) for m in more if not ok]
calls = [r for r in R if r["type"] == "call"]
say([r["seq"] for r in R] == list(range(1, len(R) + 1)), "seq counts without a gap")
say(R[0]["type"] == "start" and R[-1]["type"] in ("end", "seal"), "start first, end last", [r["type"] for r in R[-3:]])
say(any(r["type"] == "end" for r in R) and any(r["type"] == "seal" for r in R), "an end and a seal")
say(all(r["time"][:4].isdigit() and r["time"].endswith("Z") and len(r["prev"]) == 64 for r in R), "time and prev in every record")
need = ("seq", "time", "type", "pid", "tid", "exe", "call", "op", "verdict", "rule", "result", "prev")
bad = [(r["seq"], [k for k in need if k not in r]) for r in calls if any(k not in r for k in need)]
say(not bad, "every call has the design's fields", bad[:5])
say(all(isinstance(r["op"], list) for r in calls), "op is a list")
def find(name, op, obj, **kw):
    hit = [r for r in calls if op in r["op"] and r.get("object") == P + "/" + obj and all(r.get(k) == v for k, v in kw.items())]
    other = [r for r in calls if (P + "/" + obj) in json.dumps(r)]
    say(len(hit) >= 1, "record of " + name, *[json.dumps(o)[:300] for o in other[:3]])
def touches(name, call, obj):
    hit = [r for r in calls if r["call"].startswith(call) and (P + "/" + obj) in json.dumps(r)]
    say(len(hit) >= 1, "record of " + name, [r for r in calls if r["call"].startswith(call)][:2])
find("the creation", "create", "a", verdict="allow"); find("mkdir", "create", "d"); touches("rename, old name", "rename", "a"); touches("rename, new name", "rename", "d/b")
touches("link, new name", "link", "c"); touches("symlink", "symlink", "s"); find("chmod", "attr", "c"); find("truncate", "modify", "c"); find("unlink", "delete", "c"); find("unlink of the link", "delete", "s")
find("the denial", "read", "no", verdict="deny", result="EACCES"); find("the failure", "delete", "none", result="ENOENT")
w = [r for r in calls if "from" in json.dumps(r) and r["verdict"] == "rewrite"]
say(len(w) == 1 and P + "/to" in json.dumps(w), "record of the rewrite names both", w)
n = [r for r in calls if r.get("object") == P + "/d/b" and r.get("named") and "d/../d/b" in r["named"]]
say(len(n) == 1, "named is what the program said")
say(any("exec" in r["op"] and r["verdict"] == "allow" and r["call"].startswith("execve") for r in calls), "record of exec")
say(all(r["rule"].rsplit(":", 1)[0].endswith("s.rules") or r["rule"].startswith("builtin:") or r["rule"] in ("native", "default") for r in calls), "rule is FILE:LINE or builtin:NAME:LINE", sorted({r["rule"] for r in calls})[:9])
P

# Object is the canonical name, or is not there: what leads over a link and is not found has the name that the program said.
mkdir away; ln -s away way
"$USHER" run -p "$T/etc/allow.rules" --journal "$T/j-names" -- python3 -c '
import os, socket
for i in range(3):
    for name in ("way/none", "way/none/deeper", os.getcwd() + "/way/none.s"):
        try: socket.socket(socket.AF_UNIX).connect(name)
        except OSError: pass
        try: open(name)
        except OSError: pass
' 2>"$T/err"
said=$(records "$T/j-names" | grep '"result":"ENOENT"' | grep -F way/none)
same "what is not found over a link is recorded" 18 "$(grep -c . <<<"$said")"
same "no object of these is named over the link" "" "$(grep '"object":"[^"]*/way/' <<<"$said")"
"$USHER" log "$JOURNAL" >"$T/log" 2>&1; same "usher log" 0 $?
grep -q "$T/project/no" "$T/log" && ok "log shows the denial" || not_ok "log shows the denial" "$(tail -n 5 "$T/log")"
"$USHER" log "$JOURNAL" --json >"$T/log.json" 2>&1; same "usher log --json" 0 $?
same "--json prints the same records" "$(records "$JOURNAL" | grep -ac '"type":"call"')" "$(grep -ac '"type": *"call"' "$T/log.json")"

# verify: 0 whole, 1 damaged and where, 2 unreadable.
"$USHER" verify "$JOURNAL" >"$T/out" 2>&1; same "verify of a whole journal" 0 $?
damage() { # NAME COMMAND on the copy's first segment
	rm -rf "$T/copy"; cp -r "$JOURNAL" "$T/copy"
	eval "$2" <<<'' >/dev/null 2>&1
	"$USHER" verify "$T/copy" >"$T/out" 2>&1; same "verify finds: $1" 1 $?
}
seg=$T/copy/journal-000001.jsonl
damage "a changed byte" 'sed -i "12s/allow/alloW/" "$seg"'
damage "a deleted line" 'sed -i 12d "$seg"'
damage "two lines swapped" 'sed -i "12{h;d};13{G}" "$seg"'
damage "an inserted copy of a line" 'sed -i 12p "$seg"'
damage "the end cut off" 'sed -i "20,\$d" "$seg"'
"$USHER" verify "$T/nothing" >"$T/out" 2>&1; same "verify of nothing" 2 $?
grep -q . "$T/out" && ok "and says so" || not_ok "and says so"
mkdir "$T/empty"; "$USHER" verify "$T/empty" >"$T/out" 2>&1; same "verify of a directory without a journal" 2 $?
python3 "$VERIFY_PY" "$T/empty" "$JOURNAL" >"$T/out" 2>&1; same "the second verifier, too, calls that unreadable, and goes on" "2 unreadable: no journal there whole" "$? $(xargs <"$T/out")"

# kill -9 at random moments: the journal verifies, and every effect on disk has its record.
for i in 1 2 3 4 5 6 7 8; do
	fresh
	JOURNAL=$T/jk$i
	"$USHER" run -p "$T/etc/allow.rules" --journal "$JOURNAL" -- python3 -c '
import os, threading
def work(t):
    i = 0
    while True:
        n = f"t{t}-{i}"; i += 1
        open(n, "w").close(); os.rename(n, n + "r"); os.mkdir(n + "d")
ts = [threading.Thread(target=work, args=(t,)) for t in range(3)]; [t.start() for t in ts]' >/dev/null 2>&1 &
	pid=$!
	wait_for test -e "$T/project/t0-2d" || not_ok "kill -9: round $i comes up"
	sleep "0.$((RANDOM % 30 + 10))"
	kill -KILL $pid; wait $pid 2>/dev/null
	sleep 0.3 # the tree ends with usher
	"$USHER" verify "$JOURNAL" >"$T/out" 2>&1
	rc=$?
	missing=$(python3 - "$JOURNAL" "$T/project" <<'P'
import glob, json, os, sys
seen = set()
for f in glob.glob(sys.argv[1] + "/*"):
    for l in open(f, "rb").read().replace(b"\0", b"\n").split(b"\n"):
        if l.startswith(b"{"):
            try: seen.add(json.dumps(json.loads(l)))
            except ValueError: pass
text = "\n".join(seen)
on_disk = os.listdir(sys.argv[2])
print(sum(1 for n in on_disk if f'{sys.argv[2]}/{n}"' not in text), len(on_disk))
P
)
	same "kill -9, round $i: verify, effects without a record" "0 0" "$rc ${missing% *}"
done

# A journal that cannot be written stops effects.
mkdir "$T/ro"; chmod 555 "$T/ro"
if ! is_root; then
	"$USHER" run -p "$T/etc/allow.rules" --journal "$T/ro/j" -- touch "$T/project/ran" >"$T/out" 2>&1; same "a journal that cannot be made: 125" 125 $?
fi
: >"$T/afile"; "$USHER" run -p "$T/etc/allow.rules" --journal "$T/afile/j" -- touch "$T/project/ran" >"$T/out" 2>&1; same "a journal below a file: 125" 125 $?
[ ! -e "$T/project/ran" ] && ok "and nothing runs" || not_ok "and nothing runs"
cat >"$T/etc/full.sh" <<'S'
mount -t tmpfs -o size=24m none "$T/full" || exit 77
"$USHER" run -p "$T/etc/allow.rules" --journal "$T/full/j" -- sh -c 'head -c 100m /dev/zero > "$T/full/fill" 2>/dev/null; rm -f "$T/project/stop"; i=0; while [ $i -lt 60000 ]; do i=$((i+1)); : > "$T/project/f$i" || break; done; : > "$T/project/after"; echo end' > "$T/full.out" 2> "$T/full.err"
echo "status $?" >> "$T/full.out"
"$USHER" verify "$T/full/j" > "$T/full.verify" 2>&1; echo "verify $?" >> "$T/full.out"
cat "$T"/full/j/* | tr '\0' '\n' | grep -a '^{' > "$T/full.records"
S
export USHER
mkdir "$T/full"
fresh
if is_root; then unshare -m bash "$T/etc/full.sh"; else unshare -Urm bash "$T/etc/full.sh" 2>/dev/null; fi
if [ -s "$T/full.out" ]; then
	made=$(find "$T/project" -name 'f*' | wc -l)
	kept=$(grep -ac "project/f[0-9]*\"" "$T/full.records")
	[ "$made" -lt 60000 ] && ok "a full disk stops effects (after $made files)" || not_ok "a full disk stops effects" "$made files" "$(cat "$T/full.out")"
	[ "$made" -le "$kept" ] && ok "every effect has its record" || not_ok "every effect has its record" "$made files, $kept records"
	[ ! -e "$T/project/after" ] && ok "nothing happens after" || not_ok "nothing happens after"
	grep -qi 'journal' "$T/full.err" && ok "and the person is told" || not_ok "and the person is told" "$(tail -n 3 "$T/full.err")"
	same "what was written verifies" "verify 0" "$(grep verify "$T/full.out")"
	same "the end tells that refusals went without a record" ENOSPC "$(sed -n 's/.*"type":"end".*"unwritten":"\([A-Z]*\)".*/\1/p' "$T/full.records")"
	grep -q '^closed: .*ENOSPC' "$T/full.verify" && ok "and so does verify" || not_ok "and so does verify" "$(cat "$T/full.verify")"
else skip full-disk "no mount namespace"; fi
# A command that may write nothing floods the journal by what is refused: of a file system as small as this a twentieth stays for others.
cat >"$T/etc/flood.sh" <<'S'
mount -t tmpfs -o size=340m none "$T/flood" || exit 77
"$USHER" run -p builtin:readonly --journal "$T/flood/j" -- python3 -c '
import os
name = "/nowhere" + ("/" + "\1" * 199) * 20
for i in range(40000):
    try: os.open(name, os.O_RDONLY)
    except OSError: pass' 2>"$T/flood.err"
df --output=avail -B1048576 "$T/flood" | tail -n 1 >"$T/flood.left"
du -s -B1048576 "$T/flood/j" >"$T/flood.used"
"$USHER" verify "$T/flood/j" >/dev/null 2>&1 && echo whole >"$T/flood.verify"
S
mkdir "$T/flood"
if ! command -v python3 >/dev/null; then skip flood "no python3"; else
	if is_root; then unshare -m bash "$T/etc/flood.sh"; else unshare -Urm bash "$T/etc/flood.sh" 2>/dev/null; fi
	if [ -s "$T/flood.left" ]; then
		used=$(cut -f1 "$T/flood.used")
		[ "$used" -gt 256 ] && ok "a flood of what is refused is recorded" || not_ok "a flood of what is refused is recorded" "$used MB" "$(tail -n 3 "$T/flood.err")"
		[ "$(cat "$T/flood.left")" -ge 15 ] && ok "and leaves others room on the disk" || not_ok "and leaves others room on the disk" "$(cat "$T/flood.left") MB are left" "$(tail -n 3 "$T/flood.err")"
		grep -q 'leaves others' "$T/flood.err" && ok "and the person is told why" || not_ok "and the person is told why" "$(tail -n 3 "$T/flood.err")"
		same "and what was written verifies" whole "$(cat "$T/flood.verify" 2>/dev/null)"
	else skip flood "no mount namespace"; fi
fi
# The same where a limit of files or a quota is met first. Every file that was made has its record or its intent.
cat >"$T/etc/stops.sh" <<'S'
"$USHER" run -p "$T/etc/allow.rules" --journal "$1" -- sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); : > "$T/project/f$i" || break; done; : > "$T/project/after"' > "$T/stops.out" 2> "$T/stops.err"
echo "status $?" >> "$T/stops.out"
"$USHER" verify "$1" >> "$T/stops.out" 2>&1; echo "verify $?" >> "$T/stops.out"
cat "$1"/*.jsonl | tr '\0' '\n' | grep -a '^{' > "$T/stops.records"
S
stops() { # WHAT SAID CLOSED
	local made kept
	made=$(find "$T/project" -name 'f*' | wc -l)
	kept=$(grep -aoE 'project/f[0-9]+"' "$T/stops.records" | sort -u | wc -l)
	[ "$made" -gt 0 ] && [ "$made" -lt 30000 ] && ok "$1 stops effects (after $made files)" || not_ok "$1 stops effects" "$made files" "$(cat "$T/stops.out")"
	[ "$made" -le "$kept" ] && ok "$1: every effect has its record" || not_ok "$1: every effect has its record" "$made files, $kept records"
	[ ! -e "$T/project/after" ] && ok "$1: nothing happens after" || not_ok "$1: nothing happens after"
	grep -q "$2" "$T/stops.err" && ok "$1: the person is told why" || not_ok "$1: the person is told why" "$(tail -n 3 "$T/stops.err")"
	grep -q "^verify 0" "$T/stops.out" && ok "$1: what was written verifies" || not_ok "$1: what was written verifies" "$(cat "$T/stops.out")"
	grep -qE "^$3" "$T/stops.out" && ok "$1: $3" || not_ok "$1: $3" "$(cat "$T/stops.out")"
}
fresh
(ulimit -f 3000; exec bash "$T/etc/stops.sh" "$T/jf")
stops "a limit of file sizes" "File too large" "closed: whole"

is_root || finish # who may mount file systems
# A device that fails when the kernel gets to write what was put into its memory: nobody who does not flush is told of it.
cat >"$T/etc/device.sh" <<'S'
mount -t tmpfs -o size=60m none "$T/below" && truncate -s 300M "$T/below/image" && mkfs.ext4 -q -F -O ^has_journal "$T/below/image" && mount -o loop "$T/below/image" "$T/disk" || exit 77
trap 'umount "$T/disk" "$T/below"' EXIT
"$USHER" run -p "$T/etc/allow.rules" --journal "$T/disk/j" -- bash -c ': >begun; until [ -e go ]; do sleep 0.1; done; i=0; while [ $i -lt 30000 ]; do i=$((i+1)); : >f$i || exit 7; done' 2>"$T/device.err" &
until [ -e begun ] || ! kill -0 $!; do sleep 0.1; done
head -c 100M /dev/zero >"$T/below/filling" 2>/dev/null
sync -f "$T/disk" 2>/dev/null
head -c 1M /dev/zero 2>/dev/null >"$T/disk/more" && sync "$T/disk/more" 2>/dev/null && echo "control: the device works"
: >go
wait $!
echo "status $?"
S
mkdir "$T/below" "$T/disk"
fresh
if command -v mkfs.ext4 >/dev/null && unshare -m bash "$T/etc/device.sh" >"$T/device.out" 2>&1; then
	same "a device that fails below the file system stops effects" "status 7" "$(cat "$T/device.out")"
	has "and the person is told" "cannot be written: " "$T/device.err"
else skip device "no file system of its own: $(tail -n 1 "$T/device.out" 2>/dev/null)"; fi

# btrfs keeps quotas without tools of its user's; it moves what it overwrites, so that room for the end cannot be set aside there.
command -v mkfs.btrfs >/dev/null || { skip quota "no btrfs-progs"; finish; }
cat >"$T/etc/quota.sh" <<'S'
truncate -s 200M "$T/image" && mkfs.btrfs -q "$T/image" >/dev/null && mount -o loop "$T/image" "$T/quota" || exit 77
trap 'umount "$T/quota"' EXIT
btrfs quota enable "$T/quota" && btrfs subvolume create "$T/quota/v" >/dev/null && btrfs qgroup limit 4M "$T/quota/v" || exit 77
bash "$T/etc/stops.sh" "$T/quota/v/j"
S
mkdir "$T/quota"
fresh
unshare -m bash "$T/etc/quota.sh" >"$T/quota.out" 2>&1
case $? in
77) skip quota "no btrfs with quotas: $(tail -n 1 "$T/quota.out")" ;;
*) stops "a quota" "Disk quota exceeded" "(closed: whole|not closed: )" ;;
esac
rm -f "$T/image"
finish
