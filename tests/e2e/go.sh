#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# quick: root
# A Go program: many goroutines, asynchronous preemption by SIGURG; and the Go compiler itself.
# prepare: CGO_ENABLED=0 GO111MODULE=off GOTOOLCHAIN=local GOFLAGS=-trimpath GOCACHE=$PWD/gocache GOPATH=$PWD/gopath go build -o /dev/null e2e/storm.go
. "$(dirname "$0")/lib.sh"
need go
[ ! -d "$PREPARED/gocache" ] || cp -r "$PREPARED/gocache" "$T/gocache" # the compiled library
storm=$(dirname "$(realpath "$0")")/storm.go
export GOCACHE=$T/gocache GOPATH=$T/gopath GO111MODULE=off GOFLAGS=-trimpath CGO_ENABLED=0 GOTOOLCHAIN=local storm
mkdir -p "$HOME" "$TMPDIR"
go build -o "$T/storm" "$storm" >"$T/build.log" 2>&1 || skip_all "go build fails: $(tail -n 1 "$T/build.log")"
setup_storm() { cp "$T/storm" .; }
IGNORE='^storm$'
SETUP=setup_storm both goroutines <<<'./storm'
MODES="allow yes" SETUP=setup_storm both connections <<<'./storm net'
setup_cache() { cp "$storm" . && cp -r "$T/gocache" "$TMPDIR/gc"; }
modes="allow agent"
[ -z "${QUICK:-}" ] || modes=allow # agent.sh has the compiler as well
MODES=$modes IGNORE='^$' SETUP=setup_cache both compiler <<'S'
set -e
export GOCACHE=$TMPDIR/gc GOPATH=$TMPDIR/gp
sed -i 's/all done/all is done/' storm.go; go vet storm.go; go build -o out storm.go; gofmt -l storm.go; ls -l out | cut -c 1-10; go list -f '{{len .Imports}}' storm.go
S
finish
