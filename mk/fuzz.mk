# Fuzzing, bounded: libFuzzer from Debian's clang. One target for each parser of bytes that somebody
# else wrote; tests/fuzz/NAME.c with a corpus in tests/fuzz/NAME/. FUZZ_SECONDS= for each.

FUZZ_SECONDS ?= 60
FUZZ_CC ?= clang
FUZZ := $(notdir $(basename $(wildcard tests/fuzz/*.c)))
FUZZ_BUILD = $(BUILD)/fuzz
FUZZ_SAN = -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
FUZZ_OBJ = $(patsubst %.c,$(FUZZ_BUILD)/%.o,$(foreach f,$(LINK_$(call floor_of,$(1))),$(wildcard $(f)/*.c)))

$(FUZZ_BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(FUZZ_CC) $(CPPFLAGS) -std=c17 -O1 -g $(FUZZ_SAN) $(CFLAGS) -MMD -MP -c -o $@ $<

-include $(wildcard $(FUZZ_BUILD)/*/*.d)

.SECONDEXPANSION:
$(FUZZ:%=$(FUZZ_BUILD)/bin/%): $(FUZZ_BUILD)/bin/%: tests/fuzz/%.c $$(call FUZZ_OBJ,$$*)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(CPPFLAGS) -std=c17 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	  -o $@ $< $(filter %.o,$^) $(LIBS)

$(FUZZ_BUILD)/rules/builtin.o: $(wildcard rules/builtin/*.rules)

.PHONY: fuzz
fuzz: $(FUZZ:%=$(FUZZ_BUILD)/bin/%) ## a bounded fuzzing run of every parser (FUZZ_SECONDS=60 each)
	@for t in $(FUZZ); do \
	  mkdir -p $(FUZZ_BUILD)/found/$$t tests/fuzz/$$t; \
	  $(FUZZ_BUILD)/bin/$$t -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1024 -max_len=65536 -print_final_stats=1 \
	    $$(test -f tests/fuzz/$$t.dict && echo -dict=tests/fuzz/$$t.dict) -artifact_prefix=$(FUZZ_BUILD)/found/$$t/ $(FUZZ_BUILD)/found/$$t tests/fuzz/$$t \
	    > $(FUZZ_BUILD)/$$t.log 2>&1 || { tail -40 $(FUZZ_BUILD)/$$t.log; echo "FAILED fuzz $$t"; exit 1; }; \
	  echo "ok fuzz $$t: $$(sed -n 's/^stat::number_of_executed_units: *//p' $(FUZZ_BUILD)/$$t.log) inputs"; \
	done
