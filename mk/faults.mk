# Fault injection: a usher whose every call of the system can be made to fail. See tests/faults/README.md.

FAULTS_BUILD = $(BUILD)/faults
FAULTS_WRAP = $(shell sed -n 's/^ROW.\([A-Za-z_0-9]*\),.*/-Wl,--wrap=\1/p' tests/faults/calls.inc) $(shell sed -n 's/^LOCK.\([A-Za-z_0-9]*\).*/-Wl,--wrap=\1/p' tests/faults/locks.inc) -Wl,--wrap=asprintf -Wl,--wrap=disposition_of
# No fortification, no jumps in place of calls: each call is of the function that the source names, from its own place, and
# none of the C library's own is.
FAULTS_MAKE = $(MAKE) --no-print-directory BUILD=$(FAULTS_BUILD) OPT="-O1 -g -fno-optimize-sibling-calls" HARDEN="-fPIE -fvisibility=hidden" \
	LDFLAGS="$(FAULTS_SHIM) $(FAULTS_WRAP)" WHOLE=
FAULTS_SHIM = $(FAULTS_BUILD)/shim.o

$(FAULTS_SHIM): tests/faults/shim.c tests/faults/calls.inc tests/faults/locks.inc
	@mkdir -p $(@D)
	$(CC) -I. -D_GNU_SOURCE -std=c17 -O1 -g -fPIE $(WARN) -c -o $@ $<
	@rm -f $(FAULTS_BUILD)/usher

$(BUILD)/tests/faults/%: tests/faults/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(HELPER_CFLAGS) -o $@ $< -lpthread

.PHONY: faults-bins
faults-bins: $(FAULTS_SHIM) $(BUILD)/tests/faults/scenario
	@$(FAULTS_MAKE) all

.PHONY: faults
faults: faults-bins ## every call of usher's own fails once, at every place: the session denies or ends (QUICK=1, LATE=1, PLACES="openat malloc")
	@USHER=$(abspath $(FAULTS_BUILD))/usher BUILD=$(abspath $(BUILD)) tests/faults/faults.py $(if $(QUICK),--quick) $(PLACES)

.PHONY: hot-path
hot-path: faults-bins $(BUILD)/tests/bench/micro ## what usher calls for each call of a program, that it allocates nothing there and takes no lock but the journal's (KINDS="open mkdir")
	@USHER=$(abspath $(FAULTS_BUILD))/usher BUILD=$(abspath $(BUILD)) tests/faults/hot.py $(KINDS)

.PHONY: forgotten
forgotten: faults-bins $(BUILD)/tests/faults/forgotten ## what the kernel's floor refuses when usher forgets a call: every mediated call, one at a time
	@USHER=$(abspath $(FAULTS_BUILD))/usher BUILD=$(abspath $(BUILD)) tests/faults/forgotten.py $(CALLS)

.PHONY: floor-table
floor-table: faults-bins $(BUILD)/tests/faults/forgotten ## write docs/floor.md, what the kernel's floor refuses by itself, by trying it
	@USHER=$(abspath $(FAULTS_BUILD))/usher BUILD=$(abspath $(BUILD)) TABLE=$(abspath $(BUILD))/floor.md tests/faults/forgotten.py
	@sed -i -e '/^<!-- floor:/,/^<!-- end of floor/{/^<!-- /!d}' -e '/^<!-- floor:/r $(BUILD)/floor.md' docs/floor.md
