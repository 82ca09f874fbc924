#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Perl's own tests on files, descriptors and processes (Debian's source), run by the installed perl: what a built tree has as ../perl and ../lib are links to it.
. "$(dirname "$0")/common.sh"
command -v perl >/dev/null || exit 3
src=$("$here/../fetch-source" "$state/sources" perl) || exit 3
begin
mkdir "$W/home" "$W/tmp"
cp -r "$src/t" "$W/t"
mkdir "$W/lib"
for d in $(perl -e 'print join " ", reverse grep { m,^/usr/(share|lib), && -d } @INC'); do cp -rsf "$d/." "$W/lib/"; done
cp -r "$src/dist" "$src/cpan" "$src/ext" "$W/"
cp -r "$src"/lib/File/*.t "$W/lib/File/" && cp "$src"/lib/*.t "$W/lib/"
ln -s "$(command -v perl)" "$W/perl"
ln -s ../perl "$W/t/perl"
export PERL_CORE=1
[ -z "$JUDGE_USER" ] || chown -R "$JUDGE_USER:$JUDGE_USER" "$W"
cd "$W" || exit 3
for t in t/io/*.t t/op/{alarm,chdir,chown,die_exit,exec,fh,filetest,filetest_stack_ok,fork,getpid,getppid,glob,goto_xs,groups,inccode,kill0,lfs,magic,mkdir,opt,readline,require_errors,rt119311,sselect,stat,stat_errors,stat-nofollow,sysio,sysseek,taint,umask,unlink,utf8cache,write}.t; do
	[ ! -f "$t" ] || tap "${t//\//_}" "$W/t" ./perl "../$t"
done
for t in lib/File/*.t lib/{DirHandle,FileHandle,SelectSaver}.t dist/IO/t/*.t dist/PathTools/t/*.t cpan/File-Temp/t/*.t cpan/File-Path/t/*.t ext/File-Find/t/*.t \
	ext/File-Glob/t/*.t ext/POSIX/t/{posix,wrappers,sigaction,waitpid,unimplemented,time,termios,sysconf,iv_const}.t ext/Fcntl/t/*.t; do
	[ -f "$t" ] || continue
	case $t in
	lib/*) tap "${t//\//_}" "$W/t" ./perl "../$t" ;;
	*) d=${t%%/t/*} && tap "${t//\//_}" "$W/$d" ../../t/perl -I../../lib "${t#"$d"/}" ;;
	esac
done
cd / && finish
