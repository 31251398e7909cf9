# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Everything that is built lands in build/. `make help` lists the targets.

VERSION := 0.1.0
PREFIX  ?= /usr/local
BUILD   := build

CC      ?= cc
CLANG   ?= clang
BPFTOOL ?= bpftool
PKG_CONFIG ?= pkg-config

ifeq ($(V),1)
Q :=
else
Q := @
MAKEFLAGS += --no-print-directory
endif
say = @printf '  %-8s %s\n' $(1) $(2)

.DELETE_ON_ERROR:
.SUFFIXES:
.PRECIOUS: $(BUILD)/%.bpf.o $(BUILD)/%.skel.h $(BUILD)/%.o

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	    -Wformat=2 -Wundef
PACKAGES := libbpf libmnl json-c
CFLAGS   ?= -O2 -g
U_CFLAGS  = -std=gnu11 -D_GNU_SOURCE $(WARNINGS) $(CFLAGS) -MMD -MP -Iinclude -Iuser -I$(BUILD) \
	    -DXDP_LIMIT_VERSION='"$(VERSION)"' $(shell $(PKG_CONFIG) --cflags $(PACKAGES))
U_LIBS    = $(shell $(PKG_CONFIG) --libs $(PACKAGES))

MULTIARCH  := $(shell $(CC) -print-multiarch 2>/dev/null)
BPF_CFLAGS := -std=gnu11 -O2 -g -target bpf -mcpu=v3 -fno-strict-aliasing -Wall -Wextra -Werror \
	      -Wno-missing-declarations -MMD -MP -Iinclude -Ibpf -I$(BUILD) \
	      $(if $(MULTIARCH),-idirafter /usr/include/$(MULTIARCH))

USER_SOURCES := $(wildcard user/*.c)
USER_OBJECTS := $(USER_SOURCES:%.c=$(BUILD)/%.o)
LIBRARY      := $(BUILD)/libuser.a

.PHONY: all
all: $(BUILD)/xdp-limit ## build the program (no root needed)

# ---- the kernel object and its skeleton --------------------------------------------------------
$(BUILD)/%.bpf.o: bpf/%.bpf.c
	$(call say,CLANG,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MF $(BUILD)/$*.bpf.d -MT $@ -c $< -o $(BUILD)/$*.tmp.o
	$(Q)$(BPFTOOL) gen object $@ $(BUILD)/$*.tmp.o

$(BUILD)/%.skel.h: $(BUILD)/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $* > $@

# ---- the user side -----------------------------------------------------------------------------
$(USER_OBJECTS): | $(BUILD)/xdp_limit.skel.h
$(BUILD)/user/%.o: user/%.c Makefile
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(U_CFLAGS) -c $< -o $@

$(LIBRARY): $(filter-out $(BUILD)/user/main.o,$(USER_OBJECTS))
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(BUILD)/xdp-limit: $(BUILD)/user/main.o $(LIBRARY)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(U_LIBS) -o $@

# ---- tests -------------------------------------------------------------------------------------
TEST_LIB_SOURCES := $(wildcard tests/lib/*.c)
TEST_LIB := $(BUILD)/tests/libtest.a
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(wildcard tests/unit/test_*.c))
PROG_TESTS := $(patsubst tests/prog/%.c,$(BUILD)/tests/prog/%,$(wildcard tests/prog/test_*.c))
TEST_TOOLS := $(patsubst tests/tools/%.c,$(BUILD)/tests/tools/%,$(wildcard tests/tools/*.c))
T_CFLAGS = $(U_CFLAGS) -Itests/lib -Wno-missing-prototypes

$(BUILD)/tests/%.o: tests/%.c Makefile | $(BUILD)/xdp_limit.skel.h $(BUILD)/xdp_limit_test.skel.h
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(T_CFLAGS) -c $< -o $@

$(TEST_LIB): $(TEST_LIB_SOURCES:%.c=$(BUILD)/%.o)
	$(Q)rm -f $@ && ar rcs $@ $^

$(BUILD)/tests/unit/test_%: $(BUILD)/tests/unit/test_%.o $(TEST_LIB) $(LIBRARY)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(U_LIBS) -lcmocka -lm -o $@

$(BUILD)/tests/prog/test_%: $(BUILD)/tests/prog/test_%.o $(TEST_LIB) $(LIBRARY)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(U_LIBS) -lcmocka -lpthread -lm -o $@

$(BUILD)/tests/tools/%: $(BUILD)/tests/tools/%.o $(TEST_LIB) $(LIBRARY)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(U_LIBS) -lpthread -o $@

# The program with calls that can be made to fail: tests/faults/faults.c.
FAULT_CALLS := $(shell sed -n 's/^[A-Z]*_CALL.\([a-z_]*\), .*/\1/p' tests/faults/faults.c)
FAULT_PROGRAM := $(BUILD)/tests/xdp-limit-faults
$(FAULT_PROGRAM): $(BUILD)/user/main.o $(BUILD)/tests/faults/faults.o $(LIBRARY)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(FAULT_CALLS:%=-Wl,--wrap=%) $^ $(U_LIBS) -o $@

.PHONY: tests
tests: all $(UNIT_TESTS) $(PROG_TESTS) $(TEST_TOOLS) $(FAULT_PROGRAM) ## build all tests

.PHONY: clean
clean: ## remove build/
	$(Q)rm -rf $(BUILD)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' Makefile

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
