# Test suites nobody here wrote, native and under usher; see CONTRIBUTING.md.

JUDGES ?= $(wildcard ../shared/judges)

.PHONY: judges
judges: all ## run the outside suites of JUDGES=DIR native and supervised and print the differences (ONLY_JUDGES="gohammer ..")
	@[ -n "$(JUDGES)" ] || { echo "judges: give JUDGES=DIR, a folder of suite scripts"; exit 2; }
	@USHER=$(abspath $(BUILD))/usher BUILD=$(abspath $(BUILD)) tests/run-judges $(abspath $(JUDGES)) $(ONLY_JUDGES)
