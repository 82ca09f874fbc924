# The rule language: its built-in sets are part of an object file, and its benchmark links what it measures.

$(BUILD)/rules/builtin.o: $(wildcard rules/builtin/*.rules)

$(BUILD)/tests/bench/rules: HELPER_LIBS = -lz
$(BUILD)/tests/bench/rules: $(call obj,rules)

.PHONY: calls-table
calls-table: all ## write docs/calls.md, what each call needs, from the table that decides
	@mkdir -p docs
	@$(BUILD)/usher check --calls >docs/calls.md
