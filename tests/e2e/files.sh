#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tar, find, rsync, cp, mv, rm, sqlite3, perl: programs that live on file calls.
. "$(dirname "$0")/lib.sh"

tree='mkdir -p t/a/b t/c; for i in $(seq 1 200); do echo "content $i" > t/a/f$i; done; ln t/a/f1 t/c/hard; ln -s ../a/f2 t/c/soft; ln -s nowhere t/c/dangling; mkfifo t/c/pipe; chmod 600 t/a/f3; chmod 2755 t/c; touch -d @1000000000 t/a/f4; printf x > "t/sp ace"; printf y > $(printf "t/\\xff"); touch -h -d @5 t/c/soft'

both tar <<S
set -e; $tree
tar cf t.tar --sort=name --mtime=@0 t; tar tf t.tar | wc -l; mkdir x; tar xpf t.tar -C x; diff -r t/a x/t/a && echo same; stat -c '%a %h %F' x/t/c x/t/c/hard x/t/c/pipe x/t/a/f3
tar cz t | tar xz -C x --strip-components=1; ls x | wc -l; tar cf u.tar -C t a/f1; tar rf u.tar -C t a/f2; tar df u.tar -C t && echo nodiff; rm -rf t; tar xf t.tar t/a/f9; cat t/a/f9
rm t.tar u.tar
S
both coreutils <<S
set -e; $tree
cp -a t copy; diff -r --no-dereference -x pipe t copy && echo same; mv t/a t/z; mv -T copy/c renamed; cp -r --reflink=auto copy/a again; ls again | wc -l; rm -r again
install -D -m 751 t/z/f1 deep/er/f; stat -c %a deep/er/f; truncate -s 5 deep/er/f; wc -c deep/er/f; ln -sf new deep/link; ln -sfn other deep/link; readlink deep/link; touch -r t/z/f4 -d '1 day' deep/er/f; stat -c %Y t/z/f4
chmod -R go-rwx deep; mktemp -p . tmp.XXXXXX | wc -c; rm tmp.*; dd if=/dev/zero of=z bs=1k count=3 conv=notrunc status=none; split -b 1000 z part.; cat part.* | cmp - z; sort -o z2 z; shred -u z2; rmdir t 2>/dev/null || echo nonempty; unlink z; mkdir -p p/q/r; rmdir -p p/q/r
ls; rm -r renamed; cat t/z/f1 > "\$TMPDIR/x"; sed -i s/content/changed/ t/z/f5; cat t/z/f5
S
both find <<S
set -e; $tree
find t -type f | wc -l; find t -name 'f1?' -newer t/a/f4 | sort; find t -type l -printf '%P->%l\n' | sort; find t -perm 600; find t -samefile t/a/f1 | sort; find t -xtype l; find t -name 'f1*' -exec grep -l 'content 1\$' {} +; find t -name 'f2*' -delete; find t -type f -print0 | xargs -0 -P2 -n20 wc -l | grep -c total; find / -maxdepth 1 -name etc; grep -rn -D skip 'content 19' t | sort | tail -n 2
S
both perl <<'S'
perl -e 'use strict; use File::Temp "tempfile"; use File::Copy; use File::Path qw(make_path remove_tree); use Fcntl qw(:flock :DEFAULT); use POSIX ();
make_path("a/b/c"); open(my $f, ">", "a/b/c/f") or die; print $f "line $_\n" for 1..100; close $f; copy("a/b/c/f", "g") or die; rename("g", "h") or die; chmod 0640, "h"; utime 10, 20, "h"; my @s = stat "h"; print "$s[7] $s[9] $s[2]\n";
sysopen(my $x, "excl", O_CREAT|O_EXCL|O_RDWR, 0600) or die; flock($x, LOCK_EX) or die; print "again: ", (sysopen(my $y, "excl", O_CREAT|O_EXCL) ? "yes" : $!+0), "\n"; link "h", "hard"; symlink "h", "soft"; print readlink("soft"), " ", (stat "hard")[3], "\n"; truncate "h", 10; print -s "h", "\n";
opendir(my $d, "."); print join(",", sort grep !/^\./, readdir $d), "\n"; my ($t, $n) = tempfile(TMPDIR => 1); print $t "x"; close $t; unlink $n or die; print `echo sub; exit 3`, $? >> 8, "\n"; my $p = fork // die; POSIX::_exit(6) unless $p; waitpid $p, 0; print $? >> 8, "\n"; open(my $q, "-|", "sort", "-r", "a/b/c/f"); print scalar <$q>; close $q; system("false"); print $?, "\n"; remove_tree("a"); print -d "a" ? 1 : 0, "\n"; print mkdir("h") ? 1 : $!+0, " ", rmdir("none") ? 1 : $!+0, " ", umask, "\n"'
S
if command -v rsync >/dev/null; then
	both rsync <<S
set -e; $tree
rm t/c/pipe; rsync -aH t/ u/; diff -r --no-dereference t u && echo same; echo more >> t/a/f7; rm t/a/f8; rsync -aH --delete t/ u/; ls u/a | wc -l; rsync -a --inplace --checksum t/ u/; diff -r --no-dereference t u
S
else skip rsync "no rsync"; fi
if command -v sqlite3 >/dev/null; then
	IGNORE='\.db' both sqlite <<'S'
set -e
sqlite3 x.db 'pragma journal_mode=wal; create table t(a integer primary key, b); begin; with recursive c(i) as (select 1 union all select i+1 from c where i<2000) insert into t select i, hex(i) from c; commit; select count(*), sum(a) from t;'
for i in 1 2 3 4; do sqlite3 -cmd '.timeout 20000' x.db "begin immediate; insert into t(b) values('p$i'); commit;" & done; wait; sqlite3 x.db 'select count(*) from t; pragma integrity_check; vacuum;'
sqlite3 y.db 'pragma journal_mode=delete; create table u(x); insert into u values(1);'; sqlite3 y.db '.backup z.db'; sqlite3 z.db 'select * from u'; sqlite3 x.db .dump | wc -l; sqlite3 -readonly x.db 'insert into t(b) values(1)' 2>&1 || true
S
else skip sqlite "no sqlite3"; fi
finish
