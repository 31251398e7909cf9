# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Everything that is built lands in build/. `make help` lists the targets.

VERSION := 0.1.0
PREFIX  ?= /usr/local
DOC_DIR := $(PREFIX)/share/doc/xdp-limit
# SANITIZE=1: everything a second time, for AddressSanitizer and UndefinedBehaviorSanitizer. FUZZ=1:
# once more, by clang, with the coverage that libFuzzer steers by.
BUILD   ?= $(if $(FUZZ),build/fuzz,$(if $(SANITIZE),build/asan,build))

# bpftool and friends live in /usr/sbin, which is not in an ordinary user's PATH.
export PATH := $(PATH):/usr/sbin:/sbin

CC      ?= cc
CLANG   ?= clang
ifdef FUZZ
CC := $(CLANG)
endif
BPFTOOL ?= bpftool
PKG_CONFIG ?= pkg-config
CLANG_FORMAT ?= clang-format
CLANG_TIDY   ?= clang-tidy

ifeq ($(V),1)
Q :=
else
Q := @
MAKEFLAGS += --no-print-directory
.SILENT: tools setup
endif
say = @printf '  %-8s %s\n' $(1) $(2)

.DELETE_ON_ERROR:
.SUFFIXES:
.PRECIOUS: $(BUILD)/tools/%.o $(BUILD)/%.bpf.o $(BUILD)/%.skel.h $(BUILD)/user/%.o $(BUILD)/tests/%.o

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	    -Wformat=2 -Wundef $(if $(FUZZ),-Wno-format-nonliteral)
PACKAGES := libxdp libbpf libnl-3.0 json-c yaml-0.1 ncurses libmicrohttpd
CFLAGS   ?= $(if $(SANITIZE)$(FUZZ),-O1 -g -fno-omit-frame-pointer $(SANITIZERS),-O2 -g)
SANITIZERS := $(if $(FUZZ),-fsanitize=fuzzer-no-link) -fsanitize=address,undefined -fno-sanitize-recover=all
# Asked once; what is missing is said by the target `tools`.
PACKAGE_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PACKAGES) 2>/dev/null)
PACKAGE_LIBS   := $(shell $(PKG_CONFIG) --libs $(PACKAGES) 2>/dev/null)
U_CFLAGS  = -std=gnu11 -D_GNU_SOURCE -fPIC -ffunction-sections -fdata-sections $(WARNINGS) $(CFLAGS) -MMD -MP -Iinclude -Iuser -I$(BUILD) \
	    -DXDP_LIMIT_VERSION='"$(VERSION)"' $(PACKAGE_CFLAGS)
U_LIBS    = $(PACKAGE_LIBS)

MULTIARCH  := $(shell $(CC) -print-multiarch 2>/dev/null)
BPF_CFLAGS := -std=gnu11 -O2 -g -target bpf -mcpu=v3 -fno-strict-aliasing -Wall -Wextra -Werror \
	      -Wno-missing-declarations -MMD -MP -Iinclude -Ibpf -I$(BUILD) \
	      -fdebug-compilation-dir=. \
	      $(if $(MULTIARCH),-idirafter /usr/include/$(MULTIARCH))

USER_SOURCES := $(wildcard user/*.c)
USER_OBJECTS := $(USER_SOURCES:%.c=$(BUILD)/%.o)
LIBRARY      := $(BUILD)/libuser.a

.PHONY: all
all: $(BUILD)/xdp-limit ## build the program (no root needed)

# One line for each missing tool, with its package, instead of a compile error.
.PHONY: tools
tools:
	scripts/setup.sh --check build

# ---- the kernel object and its skeleton --------------------------------------------------------
$(BUILD)/%.bpf.o: bpf/%.bpf.c Makefile | tools
	$(call say,CLANG,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MF $(BUILD)/$*.bpf.d -MT $@ -c $< -o $(BUILD)/$*.tmp.o
	$(Q)$(BPFTOOL) gen object $@ $(BUILD)/$*.tmp.o

$(BUILD)/%.skel.h: $(BUILD)/%.bpf.o
	$(call say,SKEL,$@)
	$(Q){ echo '/* NOLINTBEGIN */' && $(BPFTOOL) gen skeleton $< name $* && \
		echo '/* NOLINTEND */'; } >$@

# ---- the user side -----------------------------------------------------------------------------
$(USER_OBJECTS): | $(BUILD)/xdp_limit.skel.h $(BUILD)/xdp_limit_plain.skel.h
$(BUILD)/user/%.o: user/%.c Makefile
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(U_CFLAGS) -c $< -o $@

$(LIBRARY): $(filter-out $(BUILD)/user/main.o,$(USER_OBJECTS))
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

# Parts of the program that no compiler sees as its input.
$(BUILD)/user/http_page.o: $(wildcard user/page/*)

$(BUILD)/xdp-limit: $(BUILD)/user/main.o $(LIBRARY)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(U_LIBS) -o $@

# ---- the library for applications: of the same objects, with nothing to be seen but xdplimit_* ------
LIB_SONAME := libxdplimit.so.0
LIBS := $(addprefix $(BUILD)/lib/,$(LIB_SONAME) libxdplimit.a)
LIB_FUNCTIONS := $(shell sed -n 's/^\t\(xdplimit_[a-z_]*\);/\1/p' lib/xdplimit.map)
LIB_DIR ?= lib
OBJCOPY ?= objcopy

$(BUILD)/lib/%.o: lib/%.c Makefile
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(U_CFLAGS) -c $< -o $@

$(BUILD)/lib/libxdplimit.a: $(BUILD)/lib/xdplimit.o $(LIBRARY) lib/xdplimit.map
	$(call say,AR,$@)
	$(Q)$(LD) -r --gc-sections $(LIB_FUNCTIONS:%=-u %) -o $(@:.a=.o) $(filter-out %.map,$^)
	$(Q)$(OBJCOPY) --wildcard --keep-global-symbol='xdplimit_*' $(@:.a=.o)
	$(Q)rm -f $@ && ar rcs $@ $(@:.a=.o)

$(BUILD)/lib/$(LIB_SONAME): $(BUILD)/lib/libxdplimit.a
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(LIB_SONAME) -Wl,-z,defs -Wl,--gc-sections -Wl,--as-needed \
		-Wl,--version-script=lib/xdplimit.map $(<:.a=.o) $(U_LIBS) -lm -o $@

$(BUILD)/lib/xdplimit.pc: lib/xdplimit.pc.in $(BUILD)/prefix Makefile
	@mkdir -p $(@D)
	$(Q)sed 's,@PREFIX@,$(PREFIX),; s,@LIBDIR@,$(PREFIX)/$(LIB_DIR),; s/@VERSION@/$(VERSION)/' $< >$@

.PHONY: library
library: $(LIBS) $(BUILD)/lib/xdplimit.pc ## build the C library

# ---- completion, made of the command table -----------------------------------------------------
DESCRIBE := $(BUILD)/tools/describe
COMMANDS := $(BUILD)/commands.tsv
COMPLETIONS := $(addprefix $(BUILD)/completion/,bash zsh fish)

.PHONY: completion
completion: $(COMPLETIONS) ## build completion for bash, zsh and fish

$(BUILD)/tools/%.o: tools/%.c Makefile
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(U_CFLAGS) -c $< -o $@

$(DESCRIBE): $(BUILD)/tools/describe.o $(LIBRARY)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(U_LIBS) -o $@

$(COMMANDS): $(DESCRIBE)
	$(Q)$(DESCRIBE) >$@

$(BUILD)/completion/%: completion/%.in tools/completion-%.awk $(COMMANDS)
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)awk -f tools/completion-$*.awk $(COMMANDS) >$@.table
	$(Q)sed -e '/^#@TABLE@$$/{' -e 'r $@.table' -e 'd' -e '}' $< >$@
	$(Q)rm $@.table

# Changes only when PREFIX does: what names paths is made again then.
.PHONY: FORCE
$(BUILD)/prefix: FORCE
	@mkdir -p $(@D)
	@echo '$(PREFIX) $(LIB_DIR)' | cmp -s - $@ || echo '$(PREFIX) $(LIB_DIR)' >$@

# ---- manual pages; the commands' part is made of the command table -----------------------------
MANUALS := $(addprefix $(BUILD)/man/,xdp-limit.8 xdp-limit.yaml.5)
# Of the newest change, so that a second build is the same to the byte.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)
MANUAL_DATE = $(shell date -u -d @$(SOURCE_DATE_EPOCH) +%Y-%m-%d)

$(BUILD)/man/commands.man: tools/manual.awk $(COMMANDS)
	@mkdir -p $(@D)
	$(Q)awk -f tools/manual.awk $(COMMANDS) >$@

$(BUILD)/man/%: man/%.in $(BUILD)/man/commands.man $(BUILD)/prefix Makefile
	$(call say,GEN,$@)
	$(Q)sed -e 's/@VERSION@/$(VERSION)/; s/@DATE@/$(MANUAL_DATE)/; s,@DOC@,$(DOC_DIR),' \
		-e '/^\.\\"@COMMANDS@$$/{' -e 'r $(BUILD)/man/commands.man' -e 'd' -e '}' $< >$@

.PHONY: manuals
manuals: $(MANUALS) ## build the manual pages

# ---- the unit of systemd -----------------------------------------------------------------------
UNITS := $(addprefix $(BUILD)/service/,xdp-limit@.service xdp-limit-serve.service)

$(BUILD)/service/%: service/%.in $(BUILD)/prefix Makefile
	@mkdir -p $(@D)
	$(Q)sed 's,@SBIN@,$(PREFIX)/sbin,' $< >$@

# ---- tests -------------------------------------------------------------------------------------
TEST_LIB_SOURCES := $(wildcard tests/lib/*.c)
TEST_LIB := $(BUILD)/tests/libtest.a
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(wildcard tests/unit/test_*.c))
PROG_TESTS := $(patsubst tests/prog/%.c,$(BUILD)/tests/prog/%,$(wildcard tests/prog/test_*.c))
# Those that try the command line itself.
SANITIZED_NET_TESTS := $(wildcard $(addprefix tests/net/,attach.sh cli*.sh errors.sh serve_requests.sh \
		ssh_guard.sh))
TEST_TOOLS := $(patsubst tests/tools/%.c,$(BUILD)/tests/tools/%,$(wildcard tests/tools/*.c))
T_CFLAGS = $(U_CFLAGS) -Itests/lib -Wno-missing-prototypes

$(BUILD)/tests/%.o: tests/%.c Makefile | $(BUILD)/xdp_limit_test.skel.h
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

# Programs that measure: no tests, but one test (tests/net/bench.sh) sees that they still run.
BENCH_PROGRAMS := $(addprefix $(BUILD)/tests/bench/,bench-program bench-path)
BENCH_LIB_SOURCES := $(filter-out tests/bench/program.c tests/bench/path.c,$(wildcard tests/bench/*.c))
$(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/bench/*.c)): | $(BUILD)/xdp_limit_bench.skel.h
$(BUILD)/tests/bench/bench-%: $(BUILD)/tests/bench/%.o $(BENCH_LIB_SOURCES:%.c=$(BUILD)/%.o) \
		$(TEST_LIB) $(LIBRARY)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(U_LIBS) -lpthread -lm -o $@

# The program with calls that can be made to fail: tests/faults/faults.c.
FAULT_CALLS := $(shell sed -n 's/^[A-Z]*_CALL.\([a-z_]*\), .*/\1/p' tests/faults/faults.c)
FAULT_PROGRAM := $(BUILD)/tests/xdp-limit-faults
$(FAULT_PROGRAM): $(BUILD)/user/main.o $(BUILD)/tests/faults/faults.o $(LIBRARY)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(FAULT_CALLS:%=-Wl,--wrap=%) $^ $(U_LIBS) -o $@

# The version after this one, with another ABI: made of a copy of the sources for tests/net/upgrade.sh.
NEXT_VERSION := $(BUILD)/tests/next/build/xdp-limit
$(NEXT_VERSION): $(wildcard bpf/*.[ch] include/*.h user/*.[ch]) Makefile tests/upgrade/next.sh
	$(call say,NEXT,$@)
	+$(Q)tests/upgrade/next.sh $(BUILD)/tests/next $(VERSION)

# Fuzzing: each target as a fuzzer (FUZZ=1), and as a test that replays its corpus.
FUZZ_TARGETS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_LIB := $(patsubst %.c,$(BUILD)/%.o,$(filter-out tests/fuzz/fuzz_%.c tests/fuzz/replay.c, \
		$(wildcard tests/fuzz/*.c)))
FUZZERS := $(FUZZ_TARGETS:%=$(BUILD)/tests/fuzz/fuzzer_%)
REPLAYS := $(FUZZ_TARGETS:%=$(BUILD)/tests/fuzz/replay_%)
$(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/fuzz/*.c)): | $(BUILD)/xdp_limit_parse.skel.h
# Frames begin anywhere, so headers do.
$(BUILD)/tests/fuzz/native_parser.o: T_CFLAGS += -idirafter bpf -fno-sanitize=alignment

$(BUILD)/tests/fuzz/fuzzer_%: $(BUILD)/tests/fuzz/fuzz_%.o $(FUZZ_LIB) $(TEST_LIB) $(LIBRARY)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -fsanitize=fuzzer $(LDFLAGS) $^ $(U_LIBS) -lcmocka -lpthread -o $@

$(BUILD)/tests/fuzz/replay_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/replay.o $(FUZZ_LIB) \
		$(TEST_LIB) $(LIBRARY)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(U_LIBS) -lcmocka -lpthread -o $@

.PHONY: fuzzers replays
fuzzers: $(FUZZERS)
replays: $(REPLAYS)

.PHONY: tests
tests: all $(UNIT_TESTS) $(PROG_TESTS) $(TEST_TOOLS) $(FAULT_PROGRAM) $(BENCH_PROGRAMS) \
	$(NEXT_VERSION) ## build all tests

# Net tests of the command line also run with the sanitized program: as wrappers that name it. Its
# complaints end with a status that no command of ours has.
ASAN_NET_TESTS := $(patsubst tests/%,build/asan/tests/%,$(SANITIZED_NET_TESTS))
build/asan/tests/net/%.sh: tests/net/%.sh Makefile
	@mkdir -p $(@D)
	$(Q){ echo '#!/bin/sh'; \
		echo 'export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99'; \
		echo 'XDP_LIMIT=$$PWD/build/asan/xdp-limit exec tests/net/$*.sh'; } >$@
	$(Q)chmod +x $@

.PHONY: sanitized
sanitized: all $(UNIT_TESTS) $(REPLAYS) $(ASAN_NET_TESTS)

# What comes with the program in a package; `make check-deb` tries the package itself.
PACKAGE_TESTS := $(wildcard tests/package/*.sh)
.PHONY: packaged
packaged: all library manuals completion $(UNITS)

.PHONY: check-package
check-package: packaged $(TEST_TOOLS) $(FAULT_PROGRAM) ## try manual pages, completion and the unit (root)
	@tests/run $(PACKAGE_TESTS)

# As root the build belongs to root: given back to who called sudo.
give_back = $(if $(SUDO_UID),chown -hR $(SUDO_UID):$(SUDO_GID) build,:)

.PHONY: setup
setup: ## install what building and testing needs (root)
	scripts/setup.sh build test bench package

.PHONY: check
check: setup ## build and run all tests, also under sanitizers (root)
	$(Q)$(MAKE) tests packaged
	$(Q)$(MAKE) SANITIZE=1 sanitized
	@SOAK_SECONDS=15 SOAK_SEED=1 tests/run unit prog net $(PACKAGE_TESTS) tests/soak/soak.sh $(patsubst tests/%.c,build/asan/tests/%,$(wildcard tests/unit/test_*.c)) \
		$(FUZZ_TARGETS:%=build/asan/tests/fuzz/replay_%) $(ASAN_NET_TESTS); \
		status=$$?; $(give_back); exit $$status

# Two at a time, FUZZ_SECONDS each: an hour for five targets.
.PHONY: fuzz fuzz-check
fuzz: FUZZ_SECONDS ?= 1200
fuzz: ## hostile input, made up from coverage: an hour, or FUZZ_SECONDS for each target (root)
	scripts/setup.sh build test fuzz
	$(Q)$(MAKE) FUZZ=1 fuzzers
	@scripts/fuzz.sh $(FUZZ_SECONDS) $(FUZZ_TARGETS); status=$$?; $(give_back); exit $$status

.PHONY: fuzz-corpus
fuzz-corpus: ## make tests/fuzz/corpus anew of it and of what the last fuzzing reached
	$(Q)$(MAKE) FUZZ=1 fuzzers
	@scripts/fuzz-corpus.sh $(FUZZ_TARGETS)

fuzz-check: FUZZ_SECONDS ?= 60
fuzz-check: ## the same in short: 60 seconds for each target (root)
	$(Q)$(MAKE) fuzz FUZZ_SECONDS=$(FUZZ_SECONDS)

.PHONY: soak
soak: setup ## random commands, kills and faults while traffic flows: 10 minutes, or SOAK_SECONDS; SOAK_SEED (root)
	$(Q)$(MAKE) tests
	$(Q)$(MAKE) SANITIZE=1 all
	@tests/soak/soak.sh; status=$$?; $(give_back); exit $$status

.PHONY: check-kernels
check-kernels: ## run tests on Debian's 6.1 and 6.12 kernels, in qemu (root)
	$(Q)scripts/setup.sh build test kernels
	$(Q)$(MAKE) tests
	@tests/kernels/check.sh; status=$$?; $(give_back); exit $$status

.PHONY: demo
demo: setup ## a flood and an honest client, without the limiter and with it (root)
	$(Q)$(MAKE) all build/tests/tools/xdpl-send
	@scripts/demo.sh; status=$$?; $(give_back); exit $$status

.PHONY: bench
bench: ## measure beside the kernel's own limiters, and against the targets (root; some minutes)
	scripts/setup.sh build bench
	$(Q)$(MAKE) all $(BENCH_PROGRAMS)
	@scripts/bench.sh $(if $(CHECK),--check); status=$$?; $(give_back); exit $$status

.PHONY: bench-docs
bench-docs: ## put the last `make bench` into docs/performance.md, and draw it
	$(Q)scripts/bench-docs.sh

VERIFIER_COST := $(BUILD)/tests/prog/test_verifier_cost

.PHONY: verifier-cost
verifier-cost: $(VERIFIER_COST) ## compare the verifier's work with the committed baseline (root)
	@$(VERIFIER_COST) --print
	@tests/run $(VERIFIER_COST)

.PHONY: verifier-cost-update
verifier-cost-update: $(VERIFIER_COST) ## rewrite the baseline, tests/verifier-cost.txt (root)
	@$(VERIFIER_COST) --print >$(BUILD)/verifier-cost.txt
	@cp $(BUILD)/verifier-cost.txt tests/verifier-cost.txt

# ---- style -------------------------------------------------------------------------------------
C_FILES     := $(wildcard bpf/*.[ch] include/*.h lib/*.c user/*.[ch] tools/*.c tests/*/*.[ch] docs/examples/*.c)
SHELL_FILES := $(wildcard .ci/run scripts/*.sh tests/run tests/*/*.sh)
OTHER_FILES := $(wildcard tools/*.awk completion/*.in man/*.in service/*.in) debian/rules
TIDY_FILES  := $(filter bpf/%.c lib/%.c user/%.c tools/%.c tests/%.c docs/%.c,$(C_FILES))
CPPCHECK_FLAGS := --enable=warning,performance,portability --std=c11 --inline-suppr --quiet \
		  --error-exitcode=1 --suppressions-list=.cppcheck -D__linux__ -D__x86_64__ \
		  -D'LIBBPF_OPTS(TYPE,NAME,...)=struct TYPE NAME = {__VA_ARGS__}' \
		  -Iinclude -Iuser -Itests/lib -j$(shell nproc)

.PHONY: lint
lint: lint-tools lint-text lint-format lint-shell lint-man lint-cppcheck lint-tidy ## all checks of style

.PHONY: lint-tools
lint-tools:
	@scripts/setup.sh --check lint

.PHONY: lint-text
lint-text:
	@! grep -nE '[[:blank:]]+$$' $(C_FILES) $(SHELL_FILES) $(OTHER_FILES) Makefile *.md docs/*.md docs/*/*.md || \
		{ echo 'lint: blanks at the end of lines' >&2; exit 1; }
	@for file in $(C_FILES) $(SHELL_FILES) $(OTHER_FILES) Makefile; do \
		head -n 2 $$file | grep -v '^#[!c]' | head -n 1 | \
			grep -q 'SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause' || \
			{ echo "lint: $$file: no SPDX line at the top" >&2; exit 1; }; \
	done

	@head -n 1 debian/changelog | grep -qF '($(VERSION))' || \
		{ echo 'lint: debian/changelog does not begin with version $(VERSION)' >&2; exit 1; }

.PHONY: lint-format
lint-format: | lint-tools
	@$(CLANG_FORMAT) --dry-run -Werror $(C_FILES)

.PHONY: lint-shell
lint-shell: | lint-tools
	@shellcheck -x -P SCRIPTDIR $(SHELL_FILES) completion/bash.in $(wildcard debian/*.p*)

.PHONY: lint-man
lint-man: $(MANUALS) | lint-tools
	@mandoc -Tlint $(MANUALS)
	@for file in $(MANUALS); do LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l $$file 2>&1 >/dev/null; done | \
		{ ! grep . >&2; }

.PHONY: lint-cppcheck
lint-cppcheck: | lint-tools
	@cppcheck $(CPPCHECK_FLAGS) $(filter lib/%.c user/%.c tools/%.c tests/%.c docs/%.c,$(C_FILES))

# The skeletons must be there for what includes them. Twice: the tests' objects need both.
.PHONY: lint-tidy
lint-tidy: compile_commands.json $(BUILD)/xdp_limit.skel.h $(BUILD)/xdp_limit_plain.skel.h \
		$(BUILD)/xdp_limit_test.skel.h $(BUILD)/xdp_limit_bench.skel.h $(BUILD)/xdp_limit_parse.skel.h | lint-tools
	@printf '%s\n' $(TIDY_FILES) | xargs -P "$$(nproc)" -n 4 $(CLANG_TIDY) --quiet -p . 2>$(BUILD)/tidy.log || \
		{ grep -v 'warnings generated' $(BUILD)/tidy.log >&2; exit 1; }

.PHONY: format
format: lint-tools ## lay out the C files as .clang-format says
	$(Q)$(CLANG_FORMAT) -i $(C_FILES)

# entries FLAGS,FILES: how each is compiled, for editors and clang-tidy.
quoted  = '$(subst ','\'',$1)'
entries = for file in $2; do \
		printf '{"directory": "%s", "file": "%s", "command": "%s"},\n' "$$PWD" "$$file" \
			"$$(printf '%s -c %s' $(call quoted,$1) "$$file" | sed 's/[\\"]/\\&/g')"; \
	  done

compile_commands.json: Makefile $(TIDY_FILES) ## how each file is compiled, for editors
	$(call say,GEN,$@)
	$(Q){ echo '['; \
	$(call entries,$(CLANG) $(BPF_CFLAGS),$(filter bpf/%,$(TIDY_FILES))); \
	$(call entries,$(CC) $(U_CFLAGS),$(filter lib/% user/% tools/% docs/%,$(TIDY_FILES))); \
	$(call entries,$(CC) $(T_CFLAGS) -idirafter bpf,$(filter tests/%,$(TIDY_FILES))); \
	} | sed '$$s/,$$//' >$@
	$(Q)echo ']' >>$@

# ---- installing --------------------------------------------------------------------------------
# FILE=DIRECTORY/NAME, below PREFIX; systemd and the shells look there.
UNIT_DIR ?= lib/systemd/system
ZSH_DIR  ?= share/zsh/site-functions
INSTALLED := \
	$(BUILD)/xdp-limit=sbin/xdp-limit \
	$(BUILD)/lib/$(LIB_SONAME)=$(LIB_DIR)/$(LIB_SONAME) \
	$(BUILD)/lib/libxdplimit.a=$(LIB_DIR)/libxdplimit.a \
	$(BUILD)/lib/xdplimit.pc=$(LIB_DIR)/pkgconfig/xdplimit.pc \
	include/xdplimit.h=include/xdplimit.h \
	$(BUILD)/man/xdp-limit.8=share/man/man8/xdp-limit.8 \
	$(BUILD)/man/xdp-limit.yaml.5=share/man/man5/xdp-limit.yaml.5 \
	$(BUILD)/completion/bash=share/bash-completion/completions/xdp-limit \
	$(BUILD)/completion/zsh=$(ZSH_DIR)/_xdp-limit \
	$(BUILD)/completion/fish=share/fish/vendor_completions.d/xdp-limit.fish \
	$(foreach unit,$(UNITS),$(unit)=$(UNIT_DIR)/$(notdir $(unit)))
installed_at = $(addprefix $(DESTDIR)$(PREFIX)/,$(foreach pair,$(INSTALLED),$(lastword $(subst =, ,$(pair)))))
DOCS := $(DESTDIR)$(DOC_DIR)
LIB_LINK := $(DESTDIR)$(PREFIX)/$(LIB_DIR)/libxdplimit.so

.PHONY: install
install: packaged ## install all below PREFIX (/usr/local) and DESTDIR
	@for pair in $(INSTALLED); do \
		case $$pair in *sbin*) mode=0755 ;; *) mode=0644 ;; esac; \
		install -D -m $$mode "$${pair%%=*}" "$(DESTDIR)$(PREFIX)/$${pair#*=}"; \
	done
	@ln -sf $(LIB_SONAME) $(LIB_LINK)
	@install -d $(DOCS)/examples $(DOCS)/monitoring $(DESTDIR)/etc/xdp-limit
	install -m 0644 $(wildcard README.md CHANGELOG.md LICENSE docs/*.md) $(DOCS)
	install -m 0644 $(wildcard docs/examples/*.yaml docs/examples/*.c) $(DOCS)/examples
	install -m 0644 $(wildcard docs/monitoring/*) $(DOCS)/monitoring

.PHONY: uninstall
uninstall: ## remove what install put there; policies in /etc/xdp-limit stay
	rm -f $(installed_at) $(LIB_LINK)
	rm -rf $(DOCS)
	@rmdir $(DESTDIR)/etc/xdp-limit 2>/dev/null || true

# ---- for other systems -------------------------------------------------------------------------
.PHONY: static
static: $(BUILD)/user/main.o $(LIBRARY) ## build build/static/xdp-limit without shared libraries
	@scripts/static.sh $^

.PHONY: check-static
check-static: static ## try it on a veth (root)
	$(Q)$(MAKE) all build/tests/tools/xdpl-send
	@tests/run tests/deb/static.sh

# ---- the Debian package ------------------------------------------------------------------------
.PHONY: deb
deb: ## build build/xdp-limit_VERSION_ARCH.deb, and the packages of the C library
	@scripts/deb.sh $(VERSION); status=$$?; $(give_back); exit $$status

.PHONY: lint-deb
lint-deb: deb
	@lintian --allow-root --fail-on warning $(BUILD)/*xdp*limit*_$(VERSION)_*.deb

# The second package is only for the upgrade.
.PHONY: check-deb
check-deb: setup-package deb ## install, use, upgrade and purge the package in a Debian of its own (root)
	@scripts/deb.sh $(VERSION).1 build/deb
	$(Q)$(MAKE) $(BUILD)/tests/tools/xdpl-send $(NEXT_VERSION)
	@TEST_TIMEOUT=300 tests/run tests/deb/package.sh; status=$$?; $(give_back); exit $$status

.PHONY: setup-package
setup-package:
	@scripts/setup.sh build test package

.PHONY: clean
clean: ## remove build/
	$(Q)rm -rf $(BUILD) compile_commands.json

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z_.-]+:.*## / {printf "  %-22s %s\n", $$1, $$2}' Makefile
	@echo '  V=1 shows the commands; bench CHECK=1 fails when a target is missed; SANITIZE=1 builds in build/asan; FUZZ=1 in build/fuzz; DESTDIR, PREFIX: install'


-include $(shell find $(BUILD) \( -path $(BUILD)/deb -o -path $(BUILD)/tests/next \) -prune -o -type f -name '*.d' -print 2>/dev/null)
