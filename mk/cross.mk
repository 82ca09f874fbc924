# The other architecture: everything is compiled for it (gcc-aarch64-linux-gnu), not linked. The libraries' headers are this machine's; libunwind's are
# an architecture's own (libunwind-dev:arm64), and without them its users are left out.

CROSS ?= aarch64-linux-gnu
CROSS_OUT = $(if $(wildcard /usr/include/$(CROSS)/libunwind.h),,$(BUILD)/supervisor/unwind%.o)

.PHONY: cross objects
objects: $(filter-out $(CROSS_OUT),$(OBJ))

cross: ## compile everything for aarch64 (CROSS=... for the compiler's prefix)
	@command -v $(CROSS)-gcc >/dev/null || { echo "cross: no $(CROSS)-gcc (apt-get install gcc-$(CROSS))"; exit 2; }
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/$(CROSS) CC=$(CROSS)-gcc CFLAGS="-idirafter /usr/include" objects
