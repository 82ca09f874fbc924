# The built-in rule sets are part of an object file: rebuild it when they change.

$(BUILD)/rules/builtin.o: $(wildcard rules/builtin/*.rules)
