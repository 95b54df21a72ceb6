# SPDX-License-Identifier: MIT
# One Makefile, nothing recursive but the second step of `demo` and `check`,
# which must see what `deps` has installed. Files are found by wildcard: adding
# one means adding it, nothing else.
#
#   make [V=1] [WERROR=1] [SAN=asan|tsan|fuzz] [CC=clang]
#   make help          the targets

prefix      ?= /usr/local
bindir      ?= $(prefix)/bin
libexecdir  ?= $(prefix)/libexec/tracer
libdir      ?= $(prefix)/lib
includedir  ?= $(prefix)/include
mandir      ?= $(prefix)/share/man
docdir      ?= $(prefix)/share/doc/tracer
bashdir     ?= $(prefix)/share/bash-completion/completions
zshdir      ?= $(prefix)/share/zsh/site-functions
fishdir     ?= $(prefix)/share/fish/vendor_completions.d

SAN ?=
ifeq ($(filter $(SAN),asan tsan fuzz),$(SAN))
B := build$(addprefix -,$(SAN))
else
$(error SAN=$(SAN): one of asan, tsan, fuzz)
endif

ifeq ($(origin CC),default)
CC := gcc
endif
CLANG   ?= clang
BPFTOOL ?= $(or $(shell PATH=$$PATH:/usr/sbin:/sbin command -v bpftool),bpftool)
# The distribution's python first: version managers put slow wrappers before it.
PYTHON  ?= $(or $(wildcard /usr/bin/python3),python3)
INSTALL ?= install

# --- flags -----------------------------------------------------------------

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	-Wformat=2 -Wundef -Wvla -Wwrite-strings -Wimplicit-fallthrough
ifeq ($(WERROR),1)
WARN += -Werror
endif
CFLAGS   ?= -O2 -g
CPPFLAGS += -D_GNU_SOURCE -Iuser -Iinclude -I$(B)
STD      := -std=gnu11 $(WARN) -fno-strict-aliasing -fno-omit-frame-pointer -pthread
LDFLAGS  += -Wl,--as-needed -pthread
LIVE_LIBS := -lbpf -lelf -lz -lm
EXPORT_LIBS := -lz
TOP_LIBS  := -lncursesw -ltinfo $(LIVE_LIBS)
STORE_LIBS := -lsqlite3 -lpq -lzstd -lm
BENCH_LIBS := $(STORE_LIBS) $(LIVE_LIBS)
REPORT_LIBS := $(STORE_LIBS) -lz
TAPE_LIBS := -lpcre2-8
RECORD_LIBS := $(LIVE_LIBS) -lzstd -lZydis
REPLAY_LIBS := -lzstd -lZydis
SYM_LIBS  := -ldw -lelf -lstdc++ -lm

ifeq ($(SAN),)
STD += -fstack-protector-strong
ifneq ($(findstring -O,$(CFLAGS)),)
CPPFLAGS += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
endif
LDFLAGS += -Wl,-z,relro,-z,now
endif
ifeq ($(SAN),asan)
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined
endif
ifeq ($(SAN),tsan)
SANFLAGS := -fsanitize=thread
endif
ifeq ($(SAN),fuzz)
CC := $(CLANG)
SANFLAGS := -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined
endif
STD     += $(SANFLAGS)
LDFLAGS += $(SANFLAGS)

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-7s %s\n' $(1) $(2)
endif

# --- files -----------------------------------------------------------------

# ROOMS="base stats" builds the tests against these alone.
ROOMS    ?= base cli stats out ring store sym report collect tui tape rr cmd
USER_SRC := $(foreach r,$(ROOMS),$(wildcard user/$(r)/*.c))
SYMD_SRC := $(filter user/sym/symd%,$(USER_SRC))
MAIN_SRC := $(filter %_main.c,$(USER_SRC))
LIB_SRC  := $(filter-out $(SYMD_SRC) $(MAIN_SRC),$(USER_SRC))
OPTS_SRC := $(wildcard user/cmd/*_opts.c)
TINY_SRC := user/main.c $(wildcard user/cli/*.c user/base/*.c) $(OPTS_SRC)

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))

LIB  := $(B)/libtracer.a
SYMD := $(B)/libsymd.a
# include/tracer/tape.h for others: the engine without the command.
TAPE_LIB := $(B)/libtape.a
TAPE_SRC := $(wildcard user/tape/*.c) $(addprefix user/base/,buf.c clock.c codepoint.c err.c)

BPF_SRC := $(wildcard bpf/*.bpf.c)
BPF_OBJ := $(patsubst bpf/%.bpf.c,$(B)/bpf/%.bpf.o,$(BPF_SRC))
SKEL    := $(if $(BPF_SRC),$(B)/live.skel.h)

UNIT      := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/test_*.c))
WORKLOADS := $(patsubst %.c,$(B)/%,$(wildcard tests/workloads/*.c))
SCREENS   := $(patsubst %.c,$(B)/%,$(wildcard tests/tui/*.c))
REPORTS   := $(patsubst %.c,$(B)/%,$(wildcard tests/report/*.c))
RR_TOOLS  := $(patsubst %.c,$(B)/%,$(wildcard tests/rr/*.c))
RR_CALLS  := $(patsubst %.c,$(B)/%,$(wildcard tests/scenario/rr/*.c))
BENCHES   := $(patsubst %.c,$(B)/%,$(filter-out %.bpf.c,$(wildcard tests/bench/*.c)))
FUZZ_SRC  := $(wildcard tests/fuzz/fuzz_*.c)
REPLAY    := $(patsubst tests/fuzz/fuzz_%.c,$(B)/tests/fuzz/replay_%,$(FUZZ_SRC))
FUZZ      := $(patsubst tests/fuzz/%.c,$(B)/tests/fuzz/%,$(FUZZ_SRC))

EXE := $(B)/tracer
LIBEXEC := $(patsubst user/cmd/%_main.c,$(B)/libexec/tracer-%,$(wildcard user/cmd/*_main.c)) \
	$(if $(wildcard user/sym/symd*.c),$(B)/libexec/tracer-sym)
MAN := $(patsubst %,$(B)/man/%.1,tracer $(addprefix tracer-,run attach top bench report doctor \
	export tape record replay dump ps ls pack))
COMPLETION := $(B)/completion/tracer.bash $(B)/completion/_tracer $(B)/completion/tracer.fish

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:

.PHONY: all help tests deps deps-long demo demo-run check check-run check-long check-long-run \
	bench bench-run lint docs docs-built regression vmlinux-full check-vmlinux install \
	uninstall clean fuzz

all: $(EXE) $(LIBEXEC) $(B)/tape $(TAPE_LIB)

help:
	@sed -n 's/^#: \{0,1\}//p' Makefile

#: make               build/tracer and what it runs in build/libexec/
#: make deps          install what the build and the tests need (Debian packages)
#: make deps-long     also what check-long, the benchmarks and the fuzzers need
#: make demo          trace two real programs and print the tables
#: make check         all tests; check-long: with the slow ones
#: make bench         the figures of docs/benchmarks.md, now; BENCH=ROW: one of its rows
#: make lint          headers, layers, sizes, names, docs
#: make docs          man pages and completions into build/, the reports of docs/regression/
#: make regression    measure what those are of anew, as root
#: make check-vmlinux the kernel types in vmlinux/ against the running kernel
#: make vmlinux-full  a full dump of the kernel's types, to look things up
#: make install       prefix=/usr/local, DESTDIR=; uninstall takes it away
#: make clean         removes build and build-*

# What is optional is in when its probe links; looked up once, in $(B)/optional.mk.
OPTIONAL := $(B)/optional.mk
-include $(OPTIONAL)
$(OPTIONAL): tools/optional.sh probes/onig.c probes/sdt.c
	@mkdir -p $(@D)
	@CC='$(CC)' tools/optional.sh onig sdt >$@
ifdef HAVE_ONIG
CPPFLAGS += -DTAPE_HAVE_ONIG
endif
ifdef HAVE_SDT
CPPFLAGS += -DTAPE_HAVE_SDT
endif

# --- objects ---------------------------------------------------------------

# Flags are a prerequisite: another WERROR or CFLAGS compiles anew.
FLAGS := $(CC) $(CPPFLAGS) $(CFLAGS) $(STD) $(LDFLAGS)
$(B)/flags: force
	@mkdir -p $(B)
	@printf '%s\n' '$(FLAGS)' | cmp -s - $@ || printf '%s\n' '$(FLAGS)' >$@
.PHONY: force

$(B)/obj/%.o: %.c $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(STD) -MMD -MP -c $< -o $@ $(after)

# Copied into other processes: it may need nothing but itself, and general registers.
$(call obj,user/rr/inproc_code.c): STD := -std=gnu11 $(WARN) -fno-strict-aliasing -ffreestanding \
	-fPIC -mgeneral-regs-only -mno-red-zone -fno-stack-protector -fno-jump-tables \
	-fcf-protection=none
$(call obj,user/rr/inproc_code.c): after = && tools/alone.sh $@ inproc_text inproc_

# Only user/collect may include the skeleton; the first build has no .d yet.
$(call obj,$(wildcard user/collect/*.c)): | $(SKEL)
$(call obj,$(wildcard user/rr/*.c)): | $(B)/rr.skel.h

# The page of `report` has its style and its script in it.
PAGE := user/report/render_html
$(call obj,$(PAGE).c): | $(B)/render_page.h
$(B)/render_page.h: $(PAGE).css $(PAGE).js tools/embed.sh
	$(call say,EMBED,$@)
	@mkdir -p $(@D)
	$(Q)tools/embed.sh PAGE_CSS=$(PAGE).css PAGE_JS=$(PAGE).js >$@

$(LIB): $(call obj,$(LIB_SRC))
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(TAPE_LIB): $(call obj,$(TAPE_SRC))
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(SYMD): $(call obj,$(filter-out %_main.c,$(SYMD_SRC)))
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

# Links nothing but libc: start-up is part of the cost of every command.
$(EXE): $(call obj,$(TINY_SRC))
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@

# What a command links beside our own code: LIVE_LIBS for tracer-live, and so on.
LIBS_OF = $($(shell echo $* | tr a-z A-Z)_LIBS)
$(B)/libexec/tracer-%: $(B)/obj/user/cmd/%_main.o $(LIB)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LIBS_OF) -o $@

$(B)/libexec/tracer-sym: $(call obj,$(SYMD_SRC)) $(LIB)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(SYM_LIBS) -o $@

# By itself, `tape` is the same executable, which looks at its name.
$(B)/tape: $(B)/libexec/tracer-tape
	$(Q)ln -sf libexec/tracer-tape $@

# --- BPF -------------------------------------------------------------------

MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
ARCH := $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(shell uname -m)))
BPF_FLAGS := -target bpf -mcpu=v3 -g -O2 -D__TARGET_ARCH_$(ARCH) -Ivmlinux -Iinclude -Ibpf \
	$(addprefix -I/usr/include/,$(MULTIARCH)) -Wall -Wextra -Wno-unused-parameter \
	-Wno-missing-declarations $(if $(filter 1,$(WERROR)),-Werror)

$(B)/bpf/%.bpf.o: bpf/%.bpf.c Makefile
	$(call say,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_FLAGS) -MMD -MP -MF $(@:.o=.d) -MT $@ -c $< -o $@

$(B)/bpf/live.o: $(BPF_OBJ)
	$(call say,BPFLD,$@)
	$(Q)$(BPFTOOL) gen object $@ $(sort $^)

$(B)/live.skel.h: $(B)/bpf/live.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name live_bpf >$@

# The recorder's programs are a skeleton of their own.
$(B)/bpf/rr.o: $(patsubst bpf/%.bpf.c,$(B)/bpf/%.bpf.o,$(wildcard bpf/rr/*.bpf.c))
	$(call say,BPFLD,$@)
	$(Q)$(BPFTOOL) gen object $@ $(sort $^)

$(B)/rr.skel.h: $(B)/bpf/rr.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name rr_bpf >$@

vmlinux-full:
	@mkdir -p $(B)
	$(BPFTOOL) btf dump file /sys/kernel/btf/vmlinux format c >$(B)/vmlinux-full.h
	@echo "$(B)/vmlinux-full.h: for look-up only, nothing includes it"

check-vmlinux:
	@mkdir -p $(B)
	$(Q)$(PYTHON) tools/check_vmlinux.py --clang $(CLANG) --out $(B) vmlinux/vmlinux.h

# --- tests -----------------------------------------------------------------

tests: $(UNIT) $(WORKLOADS) $(SCREENS) $(REPORTS) $(RR_TOOLS) $(RR_CALLS) \
	$(BENCHES) $(REPLAY)

$(B)/tests/unit/%: $(B)/obj/tests/unit/%.o $(LIB) $(SYMD)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $< -Wl,--start-group $(LIB) $(SYMD) -Wl,--end-group \
		-lcmocka $(TOP_LIBS) $(SYM_LIBS) $(STORE_LIBS) $(TAPE_LIBS) $(REPLAY_LIBS) -o $@

# Workloads are what is traced: never sanitised, and with frame pointers.
$(B)/tests/workloads/%: tests/workloads/%.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE -Iinclude -std=gnu11 $(WARN) -O2 -g -fno-omit-frame-pointer \
		-MMD -MP -MF $@.d $< -pthread -lrt -o $@

# Programs that are recorded and replayed, as workloads are traced.
$(B)/tests/scenario/rr/%: tests/scenario/rr/%.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE -Iinclude -std=gnu11 $(WARN) -O2 -g -fno-omit-frame-pointer \
		-MMD -MP -MF $@.d $< -pthread -lrt -o $@

# top's screen with made-up figures.
$(B)/tests/tui/%: $(B)/obj/tests/tui/%.o $(LIB)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $< $(LIB) $(TOP_LIBS) -o $@

# What record and replay are held against.
$(B)/tests/rr/%: $(B)/obj/tests/rr/%.o $(LIB)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $< $(LIB) $(REPLAY_LIBS) -o $@

# Reports of made-up figures.
$(B)/tests/report/%: $(B)/obj/tests/report/%.o $(LIB)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $< $(LIB) $(REPORT_LIBS) -o $@

# Some have a BPF program; all are linked as the tracer is.
$(B)/tests/bench/%: $(B)/obj/tests/bench/%.o $(LIB)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $< $(LIB) $(LIVE_LIBS) -lrt -o $@

$(B)/tests/bench/%.bpf.o: tests/bench/%.bpf.c Makefile
	$(call say,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_FLAGS) -MMD -MP -MF $(@:.o=.d) -MT $@ -c $< -o $@

$(B)/bench_%.skel.h: $(B)/tests/bench/bench_%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen object $(<:.bpf.o=.o) $< && \
		$(BPFTOOL) gen skeleton $(<:.bpf.o=.o) name bench_$* >$@

$(patsubst %.bpf.c,$(B)/obj/%.o,$(wildcard tests/bench/*.bpf.c)): \
$(B)/obj/tests/bench/%.o: | $(B)/%.skel.h

$(B)/tests/fuzz/replay_%: $(B)/obj/tests/fuzz/fuzz_%.o $(B)/obj/tests/fuzz/replay.o $(LIB) $(SYMD)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) -Wl,--start-group $(LIB) $(SYMD) \
		-Wl,--end-group $(LIVE_LIBS) $(SYM_LIBS) $(STORE_LIBS) $(TAPE_LIBS) \
		$(REPLAY_LIBS) -o $@

# Needs SAN=fuzz (clang with libFuzzer).
fuzz: $(FUZZ)
$(B)/tests/fuzz/fuzz_%: $(B)/obj/tests/fuzz/fuzz_%.o $(LIB) $(SYMD)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer $< -Wl,--start-group $(LIB) $(SYMD) \
		-Wl,--end-group $(LIVE_LIBS) $(SYM_LIBS) $(STORE_LIBS) $(TAPE_LIBS) \
		$(REPLAY_LIBS) -o $@

deps:
	@tools/deps.sh --install

deps-long:
	@tools/deps.sh --install --long

# `deps` may have installed the compiler that this make has already looked for:
# the second make sees it.
demo check bench: deps
	@$(MAKE) --no-print-directory $@-run
check-long: deps-long
	@$(MAKE) --no-print-directory $@-run

demo-run: all $(WORKLOADS)
	@tools/demo.sh $(B)

check-run: all tests docs-built
	@$(PYTHON) tests/run --build $(B)

check-long-run: all tests docs-built
	@$(PYTHON) tests/run --build $(B) --long

# What is built on the way is told on stderr: stdout may be JSON.
bench-run: say = @printf '  %-7s %s\n' $(1) $(2) >&2
bench-run: all $(WORKLOADS) $(BENCHES)
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tests/bench/bench.py --build $(B) \
		$(addprefix --row ,$(BENCH)) $(BENCHFLAGS)

lint: all docs-built
	@CC='$(CC)' CLANG='$(CLANG)' PYTHON='$(PYTHON)' tools/lint.sh $(B)

# --- docs, install ---------------------------------------------------------

docs: docs-built
	$(call say,GEN,docs/regression/)
	@tools/regression.sh render $(B) docs/regression

docs-built: all $(MAN) $(COMPLETION)

regression: all $(WORKLOADS)
	@tools/regression.sh measure $(B)
	@tools/regression.sh render $(B) docs/regression

$(B)/man/%.1: $(EXE)
	@mkdir -p $(@D)
	$(Q)$(EXE) __man $* >$@

$(B)/completion/tracer.bash: $(EXE)
	@mkdir -p $(@D)
	$(Q)$(EXE) __completion bash >$@
$(B)/completion/_tracer: $(EXE)
	@mkdir -p $(@D)
	$(Q)$(EXE) __completion zsh >$@
$(B)/completion/tracer.fish: $(EXE)
	@mkdir -p $(@D)
	$(Q)$(EXE) __completion fish >$@

DOCS := $(wildcard README.md CONTRIBUTING.md LICENSE docs/*.md)
FORMATS := $(wildcard docs/formats/*.md)

# No file capability is set: see docs/privileges.md.
install: all docs
	$(INSTALL) -d $(addprefix $(DESTDIR),$(bindir) $(libexecdir) $(mandir)/man1 \
		$(bashdir) $(zshdir) $(fishdir) $(docdir)/formats $(libdir) $(includedir)/tracer)
	$(INSTALL) -m 755 $(EXE) $(DESTDIR)$(bindir)/tracer
	$(INSTALL) -m 755 $(LIBEXEC) $(DESTDIR)$(libexecdir)/
	ln -srf $(DESTDIR)$(libexecdir)/tracer-tape $(DESTDIR)$(bindir)/tape
	ln -sf tracer-tape.1 $(DESTDIR)$(mandir)/man1/tape.1
	$(INSTALL) -m 644 $(TAPE_LIB) $(DESTDIR)$(libdir)/
	$(INSTALL) -m 644 include/tracer/tape.h $(DESTDIR)$(includedir)/tracer/
	$(INSTALL) -m 644 $(MAN) $(DESTDIR)$(mandir)/man1/
	$(INSTALL) -m 644 $(B)/completion/tracer.bash $(DESTDIR)$(bashdir)/tracer
	$(INSTALL) -m 644 $(B)/completion/_tracer $(DESTDIR)$(zshdir)/_tracer
	$(INSTALL) -m 644 $(B)/completion/tracer.fish $(DESTDIR)$(fishdir)/tracer.fish
	ln -sf tracer $(DESTDIR)$(bashdir)/tape
	ln -sf tracer.fish $(DESTDIR)$(fishdir)/tape.fish
	$(INSTALL) -m 644 $(DOCS) $(DESTDIR)$(docdir)/
	$(INSTALL) -m 644 $(FORMATS) $(DESTDIR)$(docdir)/formats/

uninstall:
	rm -f $(DESTDIR)$(bindir)/tracer $(addprefix $(DESTDIR)$(mandir)/man1/,$(notdir $(MAN)))
	rm -f $(DESTDIR)$(bindir)/tape $(DESTDIR)$(mandir)/man1/tape.1 \
		$(DESTDIR)$(libdir)/libtape.a $(DESTDIR)$(includedir)/tracer/tape.h
	-rmdir $(DESTDIR)$(includedir)/tracer 2>/dev/null
	rm -f $(DESTDIR)$(bashdir)/tracer $(DESTDIR)$(zshdir)/_tracer \
		$(DESTDIR)$(fishdir)/tracer.fish
	rm -f $(DESTDIR)$(bashdir)/tape $(DESTDIR)$(fishdir)/tape.fish
	rm -rf $(DESTDIR)$(libexecdir) $(DESTDIR)$(docdir)

clean:
	rm -rf build build-asan build-tsan build-fuzz build-werror build-clang build-bare

-include $(shell find $(B) -type f -name '*.d' 2>/dev/null)
