#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# quick: root
# Compilers and make: our own small program, then lua from Debian's sources with make -j2: all object files identical.
# source: lua5.4
. "$(dirname "$0")/lib.sh"
need gcc make

both hello <<'S'
set -e
cat > h.c <<'EOF'
#include <stdio.h>
#include "h.h"
int main(void) { return printf("%s\n", GREETING) < 0; }
EOF
echo '#define GREETING "hello"' > h.h
printf 'all: h\nh: h.o\n\tgcc -o $@ $^\nh.o: h.c h.h\n\tgcc -O2 -c $<\n' > Makefile
make -s; ./h; make -s; touch h.h; make -q || echo stale; gcc -E h.c | wc -l; gcc -c -o x.o nothing.c 2>/dev/null || echo "cc fails $?"
ar rcs l.a h.o; ranlib l.a; nm h.o | grep -c main; objdump -d h | grep -c main; strip h; ./h
S

lua=$(source_tree lua5.4) || { skip make-lua "the source cannot be fetched"; finish; }
export lua SOURCE_DATE_EPOCH=1700000000 optimize=-O2
[ -z "${QUICK:-}" ] || optimize=-O0 # the same calls in a third of the time
setup_lua() { cp -r "$lua" lua; }
SETUP=setup_lua both make-lua <<'S'
set -e
make -s -C lua/src -j2 linux CC=gcc MYCFLAGS=$optimize 2>&1 | grep -v '^make' | LC_ALL=C sort; ls lua/src/*.o | wc -l; lua/src/lua -e 'print(_VERSION, 2^53)'
echo 'local f = assert(io.open("t.txt", "w")); f:write("x"); f:close(); for l in io.lines("t.txt") do print(l) end; print(os.rename("t.txt", "u.txt"), os.remove("u.txt"), io.popen("echo popen"):read())' > t.lua
lua/src/lua t.lua; lua/src/luac -o t.luac t.lua; lua/src/lua t.luac
S
finish
