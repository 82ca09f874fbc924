# The journal's own benchmark links what it measures.

$(BUILD)/tests/bench/journal: $(call obj,rules audit)
$(BUILD)/tests/bench/journal: HELPER_LIBS = $(LIBS)
