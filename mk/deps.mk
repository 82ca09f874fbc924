# What the build and the tests need, from Debian.

# COMMAND:PACKAGE, what the tests run. A test whose program cannot be had skips.
UNIT_DEBIAN = python3:python3
TEST_DEBIAN = git:git curl:curl perl:perl tmux:tmux nginx:nginx-light redis-server:redis-server \
	redis-benchmark:redis-tools sqlite3:sqlite3 rsync:rsync go:golang-go node:nodejs npm:npm setpriv:util-linux \
	bzip2:bzip2 xz:xz-utils file:file wget:wget dnsmasq:dnsmasq-base dig:bind9-dnsutils sshd:openssh-server \
	psql:postgresql ip:iproute2 unshare:util-linux wrk:wrk busybox:busybox musl-gcc:musl-tools gdb:gdb mkfs.btrfs:btrfs-progs mkfs.xfs:xfsprogs \
	mkfs.ext4:e2fsprogs jq:jq vim:vim less:less pgrep:procps zsh:zsh fish:fish

.PHONY: deps
deps: ## install what is missing (Debian packages)
	@BUILD=$(BUILD) mk/deps.sh $(DEBIAN)

.PHONY: deps-unit
deps-unit: deps ## install what the unit tests use as well
	@BUILD=$(BUILD) mk/deps.sh --commands $(UNIT_DEBIAN)

.PHONY: deps-test
deps-test: deps-unit ## install what all tests use as well
	@BUILD=$(BUILD) mk/deps.sh --commands $(TEST_DEBIAN)
