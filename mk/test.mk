# Tests. A unit test is named FLOOR_what.c and links that floor and the lower ones only.

LINK_rules = rules
LINK_policy = rules policy
LINK_audit = rules audit
LINK_supervisor = rules policy audit supervisor
LINK_tools = $(FLOORS)
floor_of = $(firstword $(subst _, ,$(1)))

# Programs that run under usher are ordinary programs: no sanitizer, no hardening of ours.
HELPER_CFLAGS = -std=c17 -O2 -g $(WARN)

E2E_SH := $(filter-out tests/e2e/lib.sh,$(wildcard tests/e2e/*.sh))
PROBE_SH := $(filter-out tests/adversarial/lib.sh,$(wildcard tests/adversarial/*.sh))
# The longest first, so that none is left alone at the end.
PROBE_LONG = $(filter $(foreach p,watcher_number.sh exec_traced avail_mute.sh avail_limits.sh watcher_kill exec_approval.sh files_escape avail_surroundings.sh parity,%/$(p)),$(PROBE_SH) $(PROBE_BIN))
PROBES = $(PROBE_LONG) $(filter-out $(PROBE_LONG),$(PROBE_SH) $(PROBE_BIN))
# Some wait more than they work: one more than there are cores.
PROBE_JOBS = $(shell expr $$(nproc) + 1)
TEST_ENV = USHER=$(abspath $(BUILD))/usher BUILD=$(abspath $(BUILD)) RESULTS=$(abspath $(BUILD))/results

.SECONDEXPANSION:
$(BUILD)/tests/unit/%: tests/unit/%.c $$(filter-out $(MAIN_OBJ),$$(call obj,$$(LINK_$$(call floor_of,$$*))))
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP $(ALL_LDFLAGS) -o $@ $< $(filter %.o,$^) -lcmocka -lm $(LIBS)

$(BUILD)/tests/adversarial/% $(BUILD)/tests/e2e/% $(BUILD)/tests/bench/%: tests/$$(notdir $$(@D))/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(HELPER_CFLAGS) -MMD -MP -o $@ $< $(filter %.o,$^) -lseccomp -lpthread $(HELPER_LIBS)

.PHONY: test-bins
test-bins: $(UNIT_BIN) $(PROBE_BIN) $(E2E_BIN)

# Allocations of JSON that fail, one at a time.
$(BUILD)/tests/unit/policy_desk: private ALL_LDFLAGS += $(foreach f,object array string uint64,-Wl,--wrap=json_object_new_$(f))

# A read that gets what a writer was about to write only in part.
$(BUILD)/tests/unit/audit_reader: private ALL_LDFLAGS += -Wl,--wrap=pread -Wl,--wrap=readdir

# One test that does not compile is one failure, not the end of the others.
build-each = @$(MAKE) --no-print-directory -k $(1) || true

.PHONY: check-unit
check-unit: ## unit and property tests
	$(call build-each,$(UNIT_BIN))
	@$(TEST_ENV) JOBS=$(shell nproc) tests/run-tests unit $(UNIT_BIN)

.PHONY: check-e2e
check-e2e: all ## real programs, native against supervised (ONLY=NAME.. selects, USERS="root 1000")
	$(call build-each,$(E2E_BIN))
	@$(TEST_ENV) tests/run-e2e $(or $(ONLY:%=tests/e2e/%.sh),$(E2E_SH))

.PHONY: check-adversarial
check-adversarial: all ## attacks, each with its positive control, under a minute (LONG=1: more tries; RACE_SECONDS=60: each race so long; ONLY=NAME.. selects)
	$(call build-each,$(PROBE_BIN))
	@$(TEST_ENV) $(if $(or $(LONG),$(RACE_SECONDS)),,QUICK=1 JOBS=$(PROBE_JOBS)) tests/run-tests adversarial $(if $(ONLY),$(filter $(addprefix %/,$(ONLY) $(ONLY:%=%.sh)),$(PROBES)),$(PROBES))

.PHONY: crowds
crowds: all ## 200 questions at once, answered in random order from two desks, again and again (ROUNDS=20)
	$(call build-each,$(E2E_BIN))
	@$(TEST_ENV) ROUNDS=$(or $(ROUNDS),20) tests/run-e2e tests/e2e/ask_many.sh
