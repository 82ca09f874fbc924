# SECURITY.md's tables come from the table that the filter is built from, and from the probes.

.PHONY: security-table
security-table: all ## write the tables of calls and attacks into SECURITY.md
	@$(BUILD)/usher doctor --calls >$(BUILD)/calls.md
	@tests/attack-table >$(BUILD)/attacks.md
	@sed -i -e '/^<!-- calls:/,/^<!-- end of calls/{/^<!-- /!d}' -e '/^<!-- calls:/r $(BUILD)/calls.md' \
		-e '/^<!-- attacks:/,/^<!-- end of attacks/{/^<!-- /!d}' -e '/^<!-- attacks:/r $(BUILD)/attacks.md' SECURITY.md
