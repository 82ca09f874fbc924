# Speed: one table, in one run, as ratios. Nothing here is a test.

.PHONY: bench
bench: all $(BUILD)/tests/bench/bare $(BUILD)/tests/bench/micro $(BUILD)/tests/bench/flood $(BUILD)/tests/bench/stack $(BUILD)/tests/bench/journal $(BUILD)/tests/bench/session $(BUILD)/tests/bench/rules ## one table of ratios (QUICK=1: under two minutes; ROWS="open make"; writes JSON=FILE)
	@command -v python3 >/dev/null || { echo "bench needs python3"; exit 1; }
	@$(TEST_ENV) tests/bench/run.py $(if $(QUICK),--quick) --json $(or $(JSON),$(BUILD)/bench.json) $(ROWS)
	@$(if $(ROWS),:,$(TEST_ENV) tests/bench/ask.py $(if $(QUICK),--quick))
	@$(if $(ROWS),:,$(TEST_ENV) tests/bench/exec.py $(if $(QUICK),--quick))
	@$(if $(ROWS),:,$(TEST_ENV) tests/bench/journal.py $(if $(QUICK),--quick))
	@$(if $(ROWS),:,$(TEST_ENV) tests/bench/scale.py $(if $(QUICK),--quick))
	@$(if $(ROWS),:,$(BUILD)/tests/bench/rules)

.PHONY: bench-compare
bench-compare: ## what changed between two bench files: make bench-compare OLD=a.json NEW=b.json
	@tests/bench/run.py --compare $(OLD) $(NEW)

.PHONY: bench-model
bench-model: ## a model of 2 to 64 cores, from the times of a bench file: JSON=FILE
	@tests/bench/model.py $(or $(JSON),$(wildcard $(BUILD)/bench.json))
