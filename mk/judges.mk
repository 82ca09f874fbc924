# Test suites nobody here wrote, native and under usher; see CONTRIBUTING.md.

JUDGES ?= $(wildcard ../shared/judges)

.PHONY: judges
judges: all ## run outside suites (git's and perl's own, and those of JUDGES=DIR) native and supervised and print the differences (ONLY_JUDGES="git ..", AS="root 1000 drop")
	@USHER=$(abspath $(BUILD))/usher BUILD=$(abspath $(BUILD)) tests/run-judges $(or $(abspath $(JUDGES)),none $(or $(ONLY_JUDGES),git perl)) $(if $(JUDGES),$(ONLY_JUDGES))
