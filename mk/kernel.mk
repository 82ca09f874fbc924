# Other kernels: what usher does without where one is older.

KERNEL_TESTS = abi_calls closed_forms exec_descent exec_kills exec_objects exec_storm exec_toggler exec_traced files_caller files_escape files_given watcher_kill \
	watcher_others watcher_usher place held creds stack waits evidence supervisor_floor net_own_names

.PHONY: check-kernel check-aarch64
check-kernel: ## tests under Debian's own kernel, or the package KERNEL=, in qemu: an hour without KVM (ONLY=NAME.. selects)
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/slow CFLAGS=-DUNWIND_LIMIT_MS=500 all test-bins
	@BUILD=$(abspath $(BUILD)/slow) tests/check-kernel $(or $(ONLY),$(KERNEL_TESTS))

# What x86-64 alone has, or takes a compiler and more for some hours, is left out.
FOREIGN_TESTS = $(filter supervisor_%,$(notdir $(UNIT_BIN))) abi_calls closed_forms exec_objects files_escape files_caller programs shell files file_errno file_signals \
	stack evidence kills creds env

check-aarch64: ## tests on the other architecture, emulated, on Debian's kernel or KERNEL=: some hours (ONLY=NAME.. selects)
	@tests/kernel/foreign $(abspath $(BUILD)/aarch64)
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/aarch64/build CC="aarch64-linux-gnu-gcc --sysroot=$(abspath $(BUILD)/aarch64/root)" \
		CFLAGS=-DUNWIND_LIMIT_MS=500 all test-bins
	@BUILD=$(abspath $(BUILD)/aarch64/build) FOREIGN=$(abspath $(BUILD)/aarch64) tests/check-kernel $(or $(ONLY),$(FOREIGN_TESTS))
