#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usher desk review rules: what a service needs, from a session in which it was allowed for review, as rules that deny the rest.
. "$(dirname "$0")/lib.sh"

mkdir -p "$T/w/out" "$T/w/deep/er" "$T/w/few" "$T/w/moved" "$T/w/own" "$T/w/own/1/tmp" "$T/w/own/2/tmp" "$T/w/own/3" "$T/w/own/4" "$T/w/own/5" "$T/w/own/6/tmp" "$T/w/own/7" "$T/w/own/8" "$T/w/own/9" "$T/w/own/10" "$T/w/own/11" "$T/w/own/13" "$T/w/own/14" "$T/w/own/15" "$T/w/own/16/tmp" "$T/w/own/17/tmp" "$T/w/own/18/many" "$T/w/own/19" "$T/w/own/20" "$T/w/own/18/three" "$T"/w/own/12/{a,b,c,d} "$T/w/full" "$T/w/kept"
cd "$T/w" || exit 1
export TAG=${T##*.} # of this run alone
odd='we*ird "x" \[a]'
echo odd >"$odd"
echo other >'weXird "x" \[a]'
echo q >few/q1
echo secret >few/q2
echo secret >kept/f
mkdir -p shared bin tried
for i in 1 2 3 4 5; do echo "$i" >tried/f$i; done
printf '#!/bin/sh\necho ran\n' >bin/run
chmod 755 bin/run
for i in 1 2 3 4 5; do echo "$i" >shared/f$i; done
for i in one two; do echo secret >shared/$i.kdbx; done
cat >"$T/etc/all.rules" <<'R'
ask read,write,exec ** review
ask net tcp:*:* udp:*:* unix:/** unix:@** review
R
printf 'default deny\n' >"$T/etc/none.rules"
chmod 600 "$T"/etc/*.rules
cat >serve <<'S'
#!/bin/sh
for i in 1 2 3 4 5; do echo $i >out/f$i; done
cat 'we*ird "x" \[a]' few/q1 /proc/self/comm
cat shared/f1 shared/f2 shared/f3 shared/f4 shared/one.kdbx
for i in 1 2 3 4; do echo $i >bin/d$i; done
bin/run
cat missing 2>/dev/null || echo none
mkdir -p deep/er && rm out/f5
/usr/bin/python3 -S -c '
import socket
s = socket.socket(socket.AF_UNIX); s.bind("deep/er/sock"); s.listen()
a = socket.socket(socket.AF_UNIX); a.bind("\0usher-learn-'$TAG'")
c = socket.socket(socket.AF_UNIX); c.connect("deep/er/sock")
print("served")'
rm deep/er/sock
# What is written under one name and read by another: each rename is one by which more may be done.
/usr/bin/python3 -S -c '
import os, socket, subprocess
os.chdir("moved")
def put(name):
    with open(name, "w") as f: f.write(name)
put("t"); os.rename("t", "u"); os.rename("u", "n"); print(open("n").read()); os.chmod("n", 0o600)
os.mkdir("d"); put("d/f"); os.mkdir("d/s"); put("d/s/g"); os.rename("d", "e"); print(open("e/f").read(), open("e/s/g").read())
os.unlink("e/f"); os.unlink("e/s/g"); os.rmdir("e/s"); os.rmdir("e")
# Into itself, which fails, and in turn into what was below the other: names that would never end.
os.mkdir("v"); os.mkdir("w")
try: os.rename("v", "v/in")
except OSError: pass
put("v/f"); os.rename("v", "w/in"); os.mkdir("v"); os.rename("w", "v/in"); print(open("v/in/in/f").read(), end=" ")
os.unlink("v/in/in/f"); os.removedirs("v/in/in")
for i in range(1, 5):
    try: os.open(os.path.abspath("../tried/f%d" % i), os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except FileExistsError: pass
# Both are full, so that nothing is moved: no name below the one is one below the other.
put("../full/f"); open("../full/f").read()
for ends in (("../kept", "../full"), ("../full", "../kept")):
    try: os.path.exists("../second") or os.rename(*ends)
    except OSError: pass
put("/dev/shm/usher-learn-'$TAG'"); subprocess.run(["mv", "/dev/shm/usher-learn-'$TAG'", "there"]); os.unlink("there")
for i in range(5): put("m%d" % i); print(open("m%d" % i).read(), end=" ")
put("h"); os.rename("h", "m5")
import ctypes
put("x"); put("y"); print(open("y").read(), end=" "); ctypes.CDLL(None).renameat2(-100, b"x", -100, b"y", 2); print(open("x").read(), end=" ")
s = socket.socket(socket.AF_UNIX); s.bind("s.new"); s.listen(); os.rename("s.new", "s")
c = socket.socket(socket.AF_UNIX); c.connect("s"); os.unlink("s"); print("moved")
# One that nobody connected to gets another name, as haproxy keeps its own until the next one is there.
s = socket.socket(socket.AF_UNIX); s.bind("k.new"); os.rename("k.new", "k"); os.link("k", "k.%d.bak" % os.getpid()); os.unlink("k"); os.rename("k.%d.bak" % os.getpid(), "k"); os.unlink("k")
# Other names and ports each time.
os.chdir("../own")
own = "t%d.tmp" % os.getpid(); put(own); os.mkdir("p%d" % os.getpid()); os.rename(own, "p%d/%d" % (os.getpid(), os.getpid())); os.unlink("p%d/%d" % (os.getpid(), os.getpid())); os.rmdir("p%d" % os.getpid())
s = socket.socket(socket.AF_UNIX); s.bind("s%d" % os.getpid()); s.listen(); c = socket.socket(socket.AF_UNIX); c.connect("s%d" % os.getpid()); os.unlink("s%d" % os.getpid())
socket.socket(socket.AF_UNIX).bind("")
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(5):
    c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); c.bind(("127.0.0.1", 0)); u.sendto(b"x", c.getsockname()); c.recv(1)
lot = "lot.A%05x" % int.from_bytes(os.urandom(2), "big"); put(lot); os.rename(lot, "lot"); print(open("lot").read()[:5], end=" ")
put("../few/.bashR9"); os.unlink("../few/.bashR9")
# As PHP, Python, mktemp(1) and Perl draw them; two of a kind in each, so that no rule is on all of the directory.
for first, later in (("1/tmp/phpYMgRs0", "1/tmp/phpUy4xQu"), ("1/tmp/tmpa8s_7d6f", "1/tmp/tmpzz0k1b9x"), ("1/tmp/sregjdkk", "1/tmp/tbejtyz0"), ("2/tmp/tmp.YMgRsab0Qu", "2/tmp/tmp.Xk2bbTTc9d"), ("2/tmp/YMgRsab0Qu", "2/tmp/Xk2bbTTc9d"),
                     ("6/tmp/tmphkvpe2in", "6/tmp/tmpquiteaol"), ("6/tmphkvpe2in", "6/tmp9abcdefg")):
    lot = later if os.path.exists("../second") else first; put(lot); os.unlink(lot)
put("2/tmp/sessionState"); os.unlink("2/tmp/sessionState")
counted = "5/%010d" % (7 if os.path.exists("../second") else 1); put(counted); os.unlink(counted) # as nginx counts what is sent to it
for first, later in (("4/start_8098831282343418410.properties", "4/start_1209883128234341841.properties"), ("4/ccYMgRs0.o", "4/ccUy4xQu.o"), ("5/tmp_obj_wHPqRs", "5/tmp_obj_k0nncz"),
                     # As distcc, Apache and PHP do, and UUIDs.
                     ("8/distcc_4074d4cd.deps", "8/distcc_363af32e.deps"), ("8/.davfs.tmp3bbb99", "8/.davfs.tmp3c5219"),
                     ("9/656a1b2c3d4e5", "9/656a1f7d09b3c"), ("9/3f2504e0-4f89-41d3-9a0c-0305e82c3301.part", "9/9b2d7a10-00c4-4be8-8f11-7e65a90d12f4.part"),
                     ("10/job3f2504e04f8941d39a0c0305e82c3301", "10/job9b2d7a1000c44be88f117e6512345678"), ("10/3F2504E04F8941D3.tmp", "10/9B2D7A1000C44BE8.tmp"),
                     ("10/" + "3f2504e0" * 16, "10/" + "9b2d7a10" * 16), # as what is stored by its SHA-512
                     ("15/web20261130-%d-8sfjq1.log" % os.getpid(), "15/web20270101-%d-x1t0aa.log" % os.getpid())): # as Ruby does
    lot = later if os.path.exists("../second") else first; put(lot); os.unlink(lot)
# What stays, spread over directories as by git and proxies, or named by a number that is another one next time; words stay words.
second = os.path.exists("../second")
for d in ("a/1f", "7/29", "f/b0", "0/33") if second else ("c/29", "1/ab", "2/00", "e/7c"):
    os.makedirs("11/" + d, exist_ok=True); name = "11/%s/3f2504e04f8941d39a0c0305e82c3301%s" % (d, d[2:]); put(name); open(name).read()
for name in ("13/0000000B", "13/@400000006b0dd5d43952f31c.s", "14/0000000000000003-00000000000000cc.wal", "14/_00012.wal", "20/001A") if second else ("13/00000004", "13/@400000006b0dd5cd0f36a54c.s", "14/0000000000000002-0000000000000001.wal", "14/_00001.wal", "20/0000"): put(name)
for name in ("12/a/f", "12/b/f", "12/c/f", "13/cache12", "14/facade"): put(name)
# The number of a process is none within one in sixteens.
lot = "19/" + (("0b1fd%dff9e0b12ab9c0d" if second else "656ab%dcd90e1f0a2b3c4d") % os.getpid())[:20]; put(lot); os.unlink(lot)
# Directories that come and go, a transaction each.
for i in range(9, 13) if second else range(4):
    d = "18/many/12-%s.txn" % "0123456789abcdef"[i]; os.mkdir(d); put(d + "/props"); os.rename(d + "/props", d + "/node"); print(open(d + "/node").read()[:0], end=""); os.unlink(d + "/node"); os.rmdir(d)
for d in ("18/three/one", "18/three/two", "18/three/other"): os.mkdir(d); put(d + "/in"); os.unlink(d + "/in"); os.rmdir(d)
# Letters that are as words are, twice; beside them a word that is there once.
for lot in ("16/tmp/up-dwqkzu", "16/tmp/up-bnmrty", "17/tmp/a.bcfghj.d", "17/tmp/a.klmpqr.d") if second else ("16/tmp/up-bxwhin", "16/tmp/up-kzzqwe", "17/tmp/a.rtwqpo.d", "17/tmp/a.zxvnml.d"):
    os.mkdir(lot); put(lot + "/f"); os.unlink(lot + "/f"); os.rmdir(lot)
put("17/tmp/up-socket"); os.unlink("17/tmp/up-socket")
lot = "4/tmpzz0k1b9x" if os.path.exists("../second") else "4/tmpa8s_7d6f"
for d in (lot, "4/d." + lot[-6:] + "0Z"): os.mkdir(d); put(d + "/in"); os.mkdir(d + "/s"); put(d + "/s/in"); print(open(d + "/s/in").read()[:0], end=""); os.unlink(d + "/s/in"); os.rmdir(d + "/s"); os.unlink(d + "/in"); os.rmdir(d)
s = socket.socket(socket.AF_UNIX); os.mkdir(lot); s.bind(lot + "/s"); s.listen(); socket.socket(socket.AF_UNIX).connect(lot + "/s"); os.unlink(lot + "/s"); os.rmdir(lot)
for lot in ("3/phpabcdef", "3/phpzZ9yY8"): put(lot); os.unlink(lot)
lot = "../few/go.%d" % (1 << 31 | int.from_bytes(os.urandom(2), "big")); put(lot); os.unlink(lot)
# A file without a name that gets one when it is whole: the data base of mpd.
try: nameless = os.open("7", os.O_TMPFILE | os.O_RDWR)
except OSError as e: assert e.errno in (21, 95), e # not on every file system
else: os.link("/proc/self/fd/%d" % nameless, "7/whole", src_dir_fd=nameless, follow_symlinks=True); os.unlink("7/whole")
# A port that the kernel chooses.
l = socket.create_server(("127.0.0.1", 0)); socket.create_connection(l.getsockname())
import pty, tempfile
kept, other = pty.openpty(); fresh = pty.openpty() if os.path.exists("../second") else None
print(os.isatty(pty.openpty()[1]), end=" ")
for i in range(5): os.unlink(tempfile.mkstemp(dir="/dev/shm", prefix="usher-learn-")[1])
print("numbered")'
S
chmod 755 serve
under() { # RULES JOURNAL COMMAND...
	"$USHER" run -p "$T/etc/$1.rules" --ask=deny --journal "$T/$2.j" -- "${@:3}" 2>"$T/$2.err" </dev/null
}
said=$(printf 'odd\nq\ncat\n1\n2\n3\n4\nsecret\nran\nnone\nserved\nt\nd/f d/s/g\nv/f m0 m1 m2 m3 m4 y y moved\nlot.A True numbered')

same "a service, natively" "$said" "$(./serve)"
rm -r out/* moved/* bin/d* own/1[134]/* own/20/*
same "allowed for review it does the same" "$said" "$(under all learn ./serve)"
rm moved/*
check "rules are made of it" sh -c '"$USHER" desk review rules --journal="$T/learn.j" >"$T/etc/learnt.rules"'
chmod 600 "$T/etc/learnt.rules"
check "which are right" "$USHER" check "$T/etc/learnt.rules"
same "each of which decides something" 0 "$("$USHER" check "$T/etc/learnt.rules" 2>&1 | grep -c 'can never match')"
touch second
same "under them it does the same" "$said" "$(under learnt again ./serve || cat "$T/again.err"; "$USHER" log "$T/again.j" denied)"
same "and nothing is refused" "" "$("$USHER" log "$T/again.j" denied)"
same "without rules it does nothing" "" "$(under none bare ./serve)"
refused() { # WHAT COMMAND...: by the rules that were learnt, not natively
	local what=$1
	shift
	"$@" >"$T/out" 2>&1 || not_ok "control: $what" "$(cat "$T/out")"
	same "not learnt: $what" 1 "$(under learnt "r$RANDOM$RANDOM" /bin/sh -c '"$@" >/dev/null 2>&1; echo $(($? != 0))' sh "$@")"
}
refused "a name that a wildcard in the name would match" cat 'weXird "x" \[a]'
refused "another file of a directory with few" cat few/q2
refused "to read what lies in a directory that could not be moved" cat kept/f
refused "to write there" /bin/sh -c 'echo x >>kept/f'
refused "to change what could not be made, since it was there" /bin/sh -c 'echo x >tried/f1'
refused "or what lies beside many of these" /bin/sh -c 'echo x >tried/f5'
check "a file beside many that were written" "$USHER" run -p "$T/etc/learnt.rules" --ask=deny --journal "$T/other.j" -- sh -c 'echo x >bin/d5'
refused "to write a program that was run there" /bin/sh -c 'echo echo other >>bin/run'
refused "to put another in its place" /bin/sh -c 'echo x >bin/d4 && /usr/bin/python3 -S -c "import os; os.rename(\"bin/d4\", \"bin/run\")"'
check "a file beside many that were read" test 5 = "$(under learnt beside cat shared/f5)"
refused "a secret beside them" cat shared/two.kdbx
refused "a program" ls
refused "to write what was read" /bin/sh -c 'echo x >>few/q1'
refused "to send where no answer goes, to a low port" /usr/bin/python3 -S -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 1023))'
refused "another name where a number stood" /bin/sh -c 'echo >own/tx.tmp'
check "nor one drawn by lot" sh -c '! grep -qE "/own/lot[.]A[0-9a-f]" "$T/etc/learnt.rules" && grep -q "/own/lot[.][?]*\"$" "$T/etc/learnt.rules"'
refused "a name that would be known by nothing but its length" /bin/sh -c 'echo >few/.bashrc'
same "what looks like words has no rule beside one for letters like these" 1 "$(grep -c "/own/3/php" "$T/etc/learnt.rules")"
same "nor has a directory that is drawn by lot its name in them" 0 "$(grep -cE 'tmpa8s_7d6f|/d[.]s_7d6f0Z' "$T/etc/learnt.rules")"
refused "as many letters behind another stem, that may be words" /bin/sh -c 'echo >own/6/tmp/top9abcdefg'
check "nor the number of a file without a name" sh -c '! grep -q "/own/7/.x23[0-9]" "$T/etc/learnt.rules"'
refused "seven letters where six were drawn by lot" /bin/sh -c 'echo >own/5/tmp_obj_k0nncZZ'
refused "what a word with a capital seems to be" /bin/sh -c 'echo >own/2/tmp/sessionAbCd0'
refused "a name where a number with ten places was counted" /bin/sh -c 'echo >own/5/0000x00001; echo >own/5/00000000012'
refused "as many letters as a number in sixteens had places" /bin/sh -c 'echo >own/9/passwordsfile'
refused "a directory that is none by which files are spread" /bin/sh -c 'mkdir -p own/11/0/zz; echo >own/11/0/zz/3f2504e04f8941d39a0c0305e82c330129'
refused "another name in one that is" /bin/sh -c 'mkdir -p own/11/0/29; echo >own/11/0/29/passwords'
refused "a directory beside three" /bin/sh -c 'echo >own/12/d/f'
refused "another word beside one that has letters of numbers" /bin/sh -c 'echo >own/14/decade'
same "what is spread over directories is a rule for each of its kinds" 2 "$(grep -c '/own/11/\[0-9a-f\]/\[' "$T/etc/learnt.rules")"
refused "a letter where five digits were counted" /bin/sh -c 'echo >own/14/_0001a.wal'
refused "as many behind no zeros" /bin/sh -c 'echo >own/20/0000000'
refused "six letters where Apache's were digits in sixteens" /bin/sh -c 'echo >own/8/.davfs.tmpbackup'
refused "six letters in the place of a word that was there once" /bin/sh -c 'echo >own/17/tmp/up-config'
refused "seven in the place of six" /bin/sh -c 'mkdir -p own/16/tmp/up-sockets; echo >own/16/tmp/up-sockets/f'
refused "another name in directories that come and go" /bin/sh -c 'mkdir -p own/18/many/x; echo >own/18/many/x/other'
refused "one below them" /bin/sh -c 'mkdir -p own/18/many/y/z; echo >own/18/many/y/z/props'
refused "a fourth directory beside three that came and went" /bin/sh -c 'mkdir -p own/18/three/four; echo >own/18/three/four/in'
same "what is below directories that come and go is a rule for all of these" 2 "$(grep -c '/own/18/many/\*/' "$T/etc/learnt.rules")"
refused "what is no day where one was" /bin/sh -c 'echo >own/15/web20261x30-4242-8sfjq1.log'
refused "seven where distcc's had eight" /bin/sh -c 'echo >own/8/distcc_4074d4c.deps'
/usr/bin/python3 -S -c '
import socket, sys
l = socket.create_server(("127.0.0.1", 0)); print(l.getsockname()[1], flush=True); sys.stdin.read()' <"$T/etc/nap" >"$T/port" &
exec 9>"$T/etc/nap"
at_exit 'exec 9>&-'
until [ -s "$T/port" ]; do sleep 0.05; done
refused "to connect where somebody else listens, whose port the kernel chose too" /usr/bin/python3 -S -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])))' "$(cat "$T/port")"
refused "letters alone where no temporary files are" /bin/sh -c 'echo >own/tbejtyz0'
check "a terminal is one's own, whatever its number" grep -qE '^allow read,modify[a-z,]* "/dev/pts/\[0-9\]\*" own$' "$T/etc/learnt.rules"
check "a directory with many is one rule" grep -qE '^allow modify,create "[^"]*/w/out/\*"$' "$T/etc/learnt.rules"
if grep -q '"/proc/[0-9]' "$T/etc/learnt.rules"; then not_ok "no process's number is in them"; else ok "no process's number is in them"; fi
# Directories that each might be one by which files are spread, and none is: what may stand for one hangs on all above it.
under all deep /usr/bin/python3 -S -c 'import os; os.makedirs("few/" + "/".join("abcdef"[i % 6] for i in range(60)))'
same "deep names make rules as well" 0 "$("$USHER" desk review rules --journal="$T/deep.j" >"$T/both"; echo $?)"
same "of what was done, no more" 1/0 "$(grep -c '/few/a/b/c/d/e/f/a"$' "$T/both")/$(grep -c '/few/.*[]*]' "$T/both")"
# A first start and a later one are two sessions: a shell that started both would be among what is allowed.
under all start cat shared/f2 >/dev/null
under all restart cat shared/f1 >/dev/null
"$USHER" desk review rules --journal="$T/start.j" --journal="$T/restart.j" >"$T/etc/both.rules"
chmod 600 "$T/etc/both.rules"
same "rules are made of two sessions: what the first did" 2 "$(under both b1 cat shared/f2)"
same "and what the second did" 1 "$(under both b2 cat shared/f1)"
same "nothing that neither did" "" "$(under both b3 /bin/sh -c 'echo ran')"
n=$("$USHER" desk review --journal="$T/restart.j" | awk '/ read .*shared\/f1/ {print $1; exit}')
"$USHER" desk review wrong "$n" --journal="$T/restart.j"
same "what is wrong in the second is not in them" 1/0 "$("$USHER" desk review rules --journal="$T/start.j" --journal="$T/restart.j" >"$T/both"; grep -c shared/f2 "$T/both")/$(grep -c shared/f1 "$T/both")"
same "of one that is not there no rules are made" "1/" "$("$USHER" desk review rules --journal="$T/start.j" --journal="$T/none" >"$T/both" 2>/dev/null; echo $?)/$(cat "$T/both")"
same "a list is of one" 125 "$("$USHER" desk review --journal="$T/start.j" --journal="$T/restart.j" >/dev/null 2>&1; echo $?)"
# In a directory that somebody else's home is for builtin:secrets, unless it is the project's.
mkdir -p "$T/homes/me" "$T/homes/service"
echo kept >"$T/homes/service/f"
HOME=$T/homes/me under all home cat "$T/homes/service/f" >/dev/null
(cd "$T/homes/service" && HOME=$T/homes/me "$USHER" desk review rules --journal="$T/home.j") >"$T/etc/home.rules"
chmod 600 "$T/etc/home.rules"
same "they hold in another directory than the one they were made in" kept "$(cd / && HOME=$T/homes/me under home there cat "$T/homes/service/f")"
n=$("$USHER" desk review --journal="$T/learn.j" | awk '/ read .*few\/q1/ {print $1; exit}')
check "what is wrong" "$USHER" desk review wrong "$n" --journal="$T/learn.j"
same "is not in them" 0 "$("$USHER" desk review rules --journal="$T/learn.j" | grep -c few/q1)"
cp -r "$T/learn.j" "$T/forged.j"
chmod -R u+w "$T/forged.j"
sed -i 's|"object":"[^"]*/few/q1"|"object":"tcp:1.2.3.4:5\\nallow exec /**"|' "$T"/forged.j/journal-*.jsonl
"$USHER" desk review rules --journal="$T/forged.j" >"$T/forged" 2>&1
same "no name in a forged journal becomes a rule of its own" 0 "$(grep -c '/\*\*\|1\.2\.3\.4' "$T/forged")"
check "but is counted" grep -q '^# Of what has no name' "$T/forged"
same "a session that runs has none yet" 125 "$("$USHER" desk review rules >/dev/null 2>&1; echo $?)"
finish
