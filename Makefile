# usher: one C binary. `make help` lists the targets.
#
# BUILD=DIR puts everything elsewhere; CC=clang works; WERROR= drops -Werror.

BUILD ?= build
# V=1 shows every command.
Q = $(if $(V),,@echo "  $@"; )
PREFIX ?= /usr/local
DESTDIR ?=
CC = gcc
WERROR ?= -Werror
VERSION := $(shell cat VERSION)

PKGS = libseccomp libsodium nettle json-c ncursesw sqlite3
# Linked in, the C library too: loading them would cost each start more than a millisecond. SHARED=1 leaves them shared.
LIBS_IN = -lseccomp -lsodium -lnettle -ljson-c -lncursesw -ltinfo -lsqlite3 -lz
LIBS = $(if $(SHARED),$(LIBS_IN),-Wl$(comma)-Bstatic $(LIBS_IN) -Wl$(comma)-Bdynamic) -lutil -lpthread
comma := ,
WHOLE = $(if $(SHARED)$(SAN),,-static-pie $(RELR) $(OWN_FS))
# supervisor/own_fs.c
OWN_FS = -Wl,--wrap=__clone_internal,-u,__clone_internal
# Relative relocations packed: 130 KiB less to read before main(). A static program of glibc before 2.36 would not start so.
RELR := $(shell printf '\043include <features.h>\n\043if __GLIBC_PREREQ(2, 36)\n-Wl,-z,pack-relative-relocs\n\043endif\n' | $(CC) -E -P - 2>/dev/null)
DEBIAN = libseccomp-dev libunwind-dev libsodium-dev nettle-dev libjson-c-dev libncurses-dev libsqlite3-dev zlib1g-dev libcmocka-dev

WARN = -Wall -Wextra -Wshadow -Wswitch-enum -Wvla -Wformat=2 -Wundef -Wmissing-prototypes -Wno-unused-parameter $(WERROR)
HARDEN = -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection -fPIE -fvisibility=hidden
ARCH := $(shell $(CC) -dumpmachine 2>/dev/null)
ifneq (,$(findstring x86_64,$(ARCH)))
HARDEN += -fcf-protection
endif
OPT ?= -O2 -g
CPPFLAGS += -I. -D_GNU_SOURCE -DUSHER_VERSION='"$(VERSION)"'
ALL_CFLAGS = -std=c17 $(OPT) $(WARN) $(HARDEN) $(SAN) $(CFLAGS)
ALL_LDFLAGS = -pie -Wl,-z,relro,-z,now,-z,noexecstack $(SAN) $(LDFLAGS)
ifneq (,$(SAN))
HARDEN = -fPIE -fno-omit-frame-pointer
OPT = -O1 -g
endif

FLOORS = rules policy audit supervisor tools
SRC := $(foreach f,$(FLOORS),$(wildcard $(f)/*.c))
OBJ := $(SRC:%.c=$(BUILD)/%.o)
MAIN_OBJ = $(BUILD)/tools/main.o
FLOOR_OBJ = $(filter-out $(MAIN_OBJ),$(OBJ))
obj = $(filter $(foreach f,$(1),$(BUILD)/$(f)/%),$(OBJ))

UNIT := $(wildcard tests/unit/*.c)
UNIT_BIN := $(UNIT:tests/unit/%.c=$(BUILD)/tests/unit/%)
PROBE := $(wildcard tests/adversarial/*.c)
PROBE_BIN := $(PROBE:tests/adversarial/%.c=$(BUILD)/tests/adversarial/%)
E2E_C := $(wildcard tests/e2e/*.c)
E2E_BIN := $(E2E_C:tests/e2e/%.c=$(BUILD)/tests/e2e/%)
BENCH_C := $(wildcard tests/bench/*.c)
BENCH_BIN := $(BENCH_C:tests/bench/%.c=$(BUILD)/tests/bench/%)

.PHONY: all
all: $(BUILD)/usher

# Of a static program the linker says that dlopen wants the C library it was linked with: known (supervisor/unwind_lib.h).
$(BUILD)/usher: $(OBJ)
	$(Q)$(CC) $(filter-out $(if $(WHOLE),-pie),$(ALL_LDFLAGS)) $(WHOLE) -o $@ $(OBJ) $(if $(WHOLE),$(LIBS_IN),$(LIBS)) 2>$@.said || \
		{ cat $@.said >&2; $(if $(WHOLE),echo "no static libraries here? make SHARED=1 links with shared ones" >&2;) exit 1; }; \
		grep -v -e "in function .\(fill\|unixDlOpen\)" -e "Using 'dlopen'" $@.said >&2 || true; rm -f $@.said

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

-include $(OBJ:.o=.d) $(wildcard $(BUILD)/tests/*/*.d)

# Further targets live in mk/: one file for each kind of work.
include $(wildcard mk/*.mk)

.PHONY: clean
clean: ## remove the build directory
	rm -rf $(BUILD)

.PHONY: help
help: ## this list
	@grep -hE '^[a-z][a-z0-9-]*:.*## ' Makefile mk/*.mk | sort | sed -E 's/:.*## /\t/' | expand -t 22
