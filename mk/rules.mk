# The rule language: its built-in sets are part of an object file, and its benchmark links what it measures.

$(BUILD)/rules/builtin.o: $(wildcard rules/builtin/*.rules)

$(BUILD)/tests/bench/rules: $(call obj,rules)
