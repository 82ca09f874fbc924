# Tests. A unit test is named FLOOR_what.c and links that floor and the lower ones only.

LINK_rules = rules
LINK_policy = rules policy
LINK_audit = rules audit
LINK_supervisor = rules policy audit supervisor
LINK_tools = $(FLOORS)
floor_of = $(firstword $(subst _, ,$(1)))

.SECONDEXPANSION:
$(BUILD)/tests/unit/%: tests/unit/%.c $$(filter-out $(MAIN_OBJ),$$(call obj,$$(LINK_$$(call floor_of,$$*))))
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP $(ALL_LDFLAGS) -o $@ $< $(filter %.o,$^) -lcmocka -lm $(LIBS)

$(BUILD)/tests/adversarial/% $(BUILD)/tests/e2e/% $(BUILD)/tests/bench/%: tests/$$(notdir $$(@D))/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP $(ALL_LDFLAGS) -o $@ $< -lseccomp -lpthread

.PHONY: test-bins
test-bins: $(UNIT_BIN) $(PROBE_BIN) $(E2E_BIN)

.PHONY: check-unit
check-unit: $(UNIT_BIN) ## unit and property tests
	tests/run-unit $(UNIT_BIN)
