# What must be green before a change goes in, and the slower forms of it.

.PHONY: check
check: deps-unit ## install, build, test: what the README names; ends with "N passed, N failed"
	@MAKE="$(MAKE)" BUILD=$(BUILD) QUICK=1 MEANWHILE=deps-test tests/run-check all check-unit check-e2e check-adversarial layers

.PHONY: check-all
check-all: deps-unit ## check, plus the long forms, clang, both sanitizers and the analyser
	@MAKE="$(MAKE)" BUILD=$(BUILD) LONG=1 MEANWHILE=deps-test tests/run-check all check-unit check-e2e check-adversarial layers lint asan tsan analyze

# Unit and end-to-end tests with a sanitized usher, which is some ten times slower: nothing is to be ended for that.
sanitized = TEST_TIMEOUT=$(or $(TEST_TIMEOUT),3000) $(MAKE) --no-print-directory BUILD=$(BUILD)/$(1) CFLAGS=-DUNWIND_LIMIT_MS=500 SAN="-fsanitize=$(2) -fno-sanitize-recover=all" check-unit check-e2e

.PHONY: asan
asan: ## unit and end-to-end tests under the address and undefined-behaviour sanitizers
	@ASAN_OPTIONS=abort_on_error=0:detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 SANITIZED=1 $(call sanitized,asan,address$(COMMA)undefined)

.PHONY: tsan
tsan: ## unit and end-to-end tests under the thread sanitizer
	@TSAN_OPTIONS=report_thread_leaks=0 SANITIZED=1 $(call sanitized,tsan,thread) # workers end with the process: nobody waits for one that waits for others

COMMA := ,

.PHONY: analyze
analyze: ## gcc's static analyser over every source file
	@for f in $(SRC); do $(CC) $(CPPFLAGS) -std=c17 -O1 -fanalyzer $(WARN) -c -o /dev/null $$f || exit 1; done
	@echo "analyze: $(words $(SRC)) files, nothing found"

.PHONY: coverage
coverage: ## which lines the unit and end-to-end tests reach, by floor
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/coverage SAN=--coverage USERS=root SANITIZED=1 check-unit check-e2e || true
	@tests/coverage $(BUILD)/coverage
