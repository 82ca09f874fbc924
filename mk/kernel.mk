# Other kernels: what usher does without where one is older.

KERNEL_TESTS = abi_calls closed_forms exec_descent exec_kills exec_objects exec_storm exec_toggler exec_traced files_caller files_escape files_given watcher_kill \
	watcher_others watcher_usher place held creds stack waits evidence supervisor_floor net_own_names

.PHONY: check-kernel
check-kernel: ## tests under Debian's own kernel, or the package KERNEL=, in qemu: an hour without KVM (ONLY=NAME.. selects)
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/slow CFLAGS=-DUNWIND_LIMIT_MS=500 all test-bins
	@BUILD=$(abspath $(BUILD)/slow) tests/check-kernel $(or $(ONLY),$(KERNEL_TESTS))
