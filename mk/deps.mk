# What the build and the tests need, from Debian.

# COMMAND:PACKAGE, what the end-to-end tests run. A test whose program cannot be had skips.
TEST_DEBIAN = git:git curl:curl python3:python3 perl:perl tmux:tmux nginx:nginx-light redis-server:redis-server \
	redis-benchmark:redis-tools sqlite3:sqlite3 rsync:rsync go:golang-go node:nodejs npm:npm setpriv:util-linux \
	bzip2:bzip2 xz:xz-utils file:file wget:wget dnsmasq:dnsmasq-base dig:bind9-dnsutils sshd:openssh-server \
	psql:postgresql ip:iproute2 unshare:util-linux wrk:wrk busybox:busybox musl-gcc:musl-tools gdb:gdb mkfs.btrfs:btrfs-progs \
	mkfs.ext4:e2fsprogs jq:jq vim:vim less:less pgrep:procps

.PHONY: deps
deps: ## install what is missing (Debian packages)
	@mk/deps.sh $(DEBIAN)

.PHONY: deps-test
deps-test: deps ## install what the tests use as well
	@mk/deps.sh --commands $(TEST_DEBIAN)
