# The journal's own benchmark links what it measures.

$(BUILD)/tests/bench/journal $(BUILD)/tests/bench/session: $(call obj,rules audit)
$(BUILD)/tests/bench/journal $(BUILD)/tests/bench/session: HELPER_LIBS = $(LIBS)

KILLS ?= 1000
.PHONY: kills
kills: all $(BUILD)/tests/e2e/churn ## kill -9 of usher at a thousand random moments under load: every effect has its record (KILLS=1000)
	@$(TEST_ENV) tests/e2e/kills.py $(KILLS)

.PHONY: long-build
long-build: all ## a build of 20 minutes under usher (MINUTES=20): its journal verifies, and JSON readers read every line
	@$(TEST_ENV) tests/long-build $(or $(MINUTES),20)
