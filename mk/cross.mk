# The other architecture: everything is compiled for it (gcc-aarch64-linux-gnu), not linked; the libraries' headers are this machine's.

CROSS ?= aarch64-linux-gnu

.PHONY: cross objects
objects: $(OBJ)

cross: ## compile everything for aarch64 (CROSS=... for the compiler's prefix)
	@command -v $(CROSS)-gcc >/dev/null || { echo "cross: no $(CROSS)-gcc (apt-get install gcc-$(CROSS))"; exit 2; }
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/$(CROSS) CC=$(CROSS)-gcc CFLAGS="-idirafter /usr/include" objects
