# SECURITY.md's tables come from the table that the filter is built from.

.PHONY: security-table
security-table: all ## write the tables of calls into SECURITY.md
	@$(BUILD)/usher doctor --calls >$(BUILD)/calls.md
	@sed -i -e '/^<!-- calls:/,/^<!-- end of calls/{/^<!-- /!d}' -e '/^<!-- calls:/r $(BUILD)/calls.md' SECURITY.md
