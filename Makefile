# The map of the project. Two commands matter first:
#
#   make demo     fetch a real package, inspect it, explain the plan, embed, compare with the reference
#   make check    build and run all tests (C and committed goldens; no Python, no network beyond installing)
#
#   make                  library and build/tenon        make lint          layers, banned calls, names
#   make check-asan       tests under AddressSanitizer   make check-ubsan   tests under UBSan
#   make check-tsan       concurrent tests under TSan    make check-fault   allocation-failure sweeps, full stride
#   make check-parity     against the Python references  make golden        make the goldens again
#   make check-onnx       graphs: the onnx package's backend cases, real packages against ONNX Runtime
#   make onnx-table       those cases through ONNX Runtime beside ours
#   make fuzz             each target FUZZ_SECONDS       make fuzz-replay   corpora and past findings
#   make bench            ratios against peers           make bench-native  only our own figures
#   make bench-graphs     graphs and forests beside other runtimes
#   make bench-kernels    GEMM, attention, norms beside the machine's peak
#   make bench-documents  what validating a metadata document takes
#   make bench-road       what a call costs over its own executor
#   make install          PREFIX, DESTDIR                make cross-aarch64 compile for 64-bit ARM
#   make fetch-models     real packages into the cache   make clean
#   make deps-onnxruntime the library of ONNX Runtime into the cache, for the provider of that name

CFG ?= release
OUT := build
ifneq ($(CFG),release)
OUT := build/$(CFG)
endif

CC ?= cc
AR ?= ar
PKG_CONFIG ?= pkg-config
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
FUZZ_SECONDS ?= 600
PYTHON ?= python3
VERSION := 0.1.0
SOVERSION := 0

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith -Wwrite-strings
# Warnings are errors where we test (WERROR=-Werror in .ci/run), not for whoever builds with a newer compiler.
WERROR ?=
BASE_FLAGS := -std=c11 -ffp-contract=off -fvisibility=hidden -fPIC -g -Isrc -Iinclude $(WARN) $(WERROR)
OPT_release := -O2
OPT_asan := -O1 -fsanitize=address -fno-omit-frame-pointer
OPT_ubsan := -O1 -fsanitize=undefined -fno-sanitize-recover=all
OPT_tsan := -O1 -fsanitize=thread
OPT_fuzz := -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
OPT_replay := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
OPT_aarch64 := -O2
OPT := $(OPT_$(CFG))
ifeq ($(OPT),)
$(error CFG must be release, asan, ubsan, tsan, fuzz, replay or aarch64)
endif

MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null || uname -m)
SOURCES := $(shell find src -name '*.c' -not -path 'src/kernel/x86/*' | sort)
ifneq ($(filter x86_64%,$(MACHINE)),)
SOURCES += $(shell find src/kernel/x86 -name '*.c' | sort)
endif
CLI_SOURCES := $(wildcard cli/*.c)
TEST_SOURCES := tests/main.c $(wildcard tests/unit/*.c)

# In the cross build headers of the libraries come from the host: they are plain C and name no machine type.
DEP_CFLAGS := $(shell $(PKG_CONFIG) --cflags nettle sqlite3 yaml-0.1 2>/dev/null)
DEP_LIBS := $(shell $(PKG_CONFIG) --libs nettle sqlite3 yaml-0.1 2>/dev/null || echo -lnettle -lsqlite3 -lyaml) -lpthread -lm
CFLAGS_ALL = $(BASE_FLAGS) $(OPT) $(DEP_CFLAGS) $(CFLAGS)
LDFLAGS_ALL = $(OPT) $(LDFLAGS)
# AddressSanitizer looks for the functions of C++ exceptions when a program begins; libraries that are opened later throw some.
TEST_LIBS_asan := -Wl,--push-state,--no-as-needed -l:libstdc++.so.6 -Wl,--pop-state

# V=1 shows the commands.
ifeq ($(V),1)
say = @true
Q :=
else
say = @printf '  %-4s %s\n'
Q := @
endif

OBJ = $(OUT)/obj
LIB_OBJECTS := $(SOURCES:%.c=$(OBJ)/%.o)
CLI_OBJECTS := $(CLI_SOURCES:%.c=$(OBJ)/%.o)
TEST_OBJECTS := $(TEST_SOURCES:%.c=$(OBJ)/%.o)

.PHONY: all lib demo check check-onnx onnx-table check-parity check-asan check-ubsan check-tsan check-fault check-locale fuzz fuzz-build \
	fuzz-replay bench bench-graphs bench-kernels bench-native bench-documents bench-road lint golden install uninstall cross-aarch64 clean deps fetch-models deps-onnxruntime tests FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: lib $(OUT)/tenon

lib: $(OUT)/libtenon.a $(OUT)/libtenon.so.$(VERSION) $(OUT)/tenon.pc

# Instruction sets belong to single files, by the end of their names.
$(OBJ)/%_avx2.o: ISA := -mavx2 -mfma -mf16c
$(OBJ)/%_avx512.o: ISA := -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx2 -mfma -mf16c
$(OBJ)/%_avx512vnni.o: ISA := -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni -mavx2 -mfma -mf16c
$(OBJ)/%_avx512bf16.o: ISA := -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512bf16 -mavx2 -mfma -mf16c

$(OBJ)/tests/%.o: EXTRA := -Itests

# Operators are plain loops over rows: -O2 alone leaves loops of unknown length scalar, and comparisons of floats stay
# branches as long as they might set a flag that nobody reads.
ifeq ($(CFG),release)
$(OBJ)/src/ops/%.o: EXTRA := -O3 -fno-trapping-math
endif

$(OBJ)/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(CFLAGS_ALL) $(EXTRA) $(ISA) -MMD -MP -c -o $@ $<

$(OUT)/libtenon.a: $(LIB_OBJECTS)
	@rm -f $@
	$(say) AR $@
	$(Q)$(AR) rcs $@ $^

$(OUT)/libtenon.so.$(VERSION): $(LIB_OBJECTS) tools/tenon.map
	$(say) LD $@
	$(Q)$(CC) -shared $(LDFLAGS_ALL) -Wl,-soname,libtenon.so.$(SOVERSION) -Wl,--version-script,tools/tenon.map \
		-Wl,-z,relro,-z,now -Wl,--as-needed -o $@ $(LIB_OBJECTS) $(DEP_LIBS)
	@ln -sf libtenon.so.$(VERSION) $(OUT)/libtenon.so.$(SOVERSION)
	@ln -sf libtenon.so.$(SOVERSION) $(OUT)/libtenon.so

# The command is linked against the static library: one file that runs from anywhere.
$(OUT)/tenon: $(CLI_OBJECTS) $(OUT)/libtenon.a
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(CLI_OBJECTS) $(OUT)/libtenon.a $(DEP_LIBS)

FORCE:

# Always made: it holds the PREFIX of this very call.
$(OUT)/tenon.pc: FORCE
	@mkdir -p $(@D)
	@sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' tools/tenon.pc.in > $@

tests: $(OUT)/tests/run $(OUT)/tests/jsonok $(OUT)/tests/doccheck $(OUT)/tests/encode

$(OUT)/tests/run: $(TEST_OBJECTS) $(filter-out %/main.o,$(CLI_OBJECTS)) $(OUT)/libtenon.a
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(DEP_LIBS) $(TEST_LIBS_$(CFG))

$(OUT)/tests/jsonok: $(OBJ)/tests/cli/jsonok.o $(OUT)/libtenon.a
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(DEP_LIBS)

# Encodes many texts with one tokenizer file, for the parity check against the library.
$(OUT)/tests/encode: $(OBJ)/tests/cli/encode.o $(OUT)/libtenon.a
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(DEP_LIBS)

# Runs the backend cases of the onnx package on our own kernels.
$(OUT)/tests/onnx-backend: $(OBJ)/tests/onnx/backend.o $(OUT)/libtenon.a
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(DEP_LIBS)

# Judges documents by our tables, for the parity check against an independent validator.
$(OUT)/tests/doccheck: $(OBJ)/tests/cli/doccheck.o $(OUT)/libtenon.a
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(DEP_LIBS)

-include $(shell test -d $(OBJ) && find $(OBJ) -name '*.d')

# ---- tests ----------------------------------------------------------------------------------------------------------

deps:
	@tools/install-deps

check: deps
	@$(MAKE) --no-print-directory -j$$(nproc) all tests
	@tools/check $(OUT)

check-asan check-ubsan check-tsan: check-%: deps
	@$(MAKE) --no-print-directory -j$$(nproc) CFG=$* tests
	@tools/check-sanitizer $* build/$*

check-fault: deps
	@$(MAKE) --no-print-directory -j$$(nproc) tests
	@TN_FAULT_STRIDE=1 $(OUT)/tests/run fault_ _fault sweep

# The backend cases of the onnx package on our own kernels, then real graph packages against ONNX Runtime.
check-onnx: all $(OUT)/tests/onnx-backend
	@tools/check-onnx $(OUT)

# The same cases through ONNX Runtime beside ours, every difference with its reason.
onnx-table: $(OUT)/tests/onnx-backend
	@tools/onnx/table $(OUT)

check-parity: all tests $(OUT)/tests/onnx-backend
	@tools/check-parity $(OUT)

FUZZ_TARGETS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))

fuzz-build:
	@$(MAKE) --no-print-directory -j$$(nproc) CFG=fuzz CC=clang $(FUZZ_TARGETS:%=build/fuzz/fuzz_%)

build/fuzz/fuzz_%: $(OBJ)/tests/fuzz/fuzz_%.o $(OUT)/libtenon.a
	$(say) LD $@
	$(Q)$(CC) -fsanitize=fuzzer,address,undefined -o $@ $^ $(DEP_LIBS)

fuzz: fuzz-build
	@tools/fuzz build/fuzz $(FUZZ_SECONDS) $(FUZZ_TARGETS)

# The same targets under the ordinary compiler, fed with the committed corpora and past findings.
fuzz-replay:
	@$(MAKE) --no-print-directory -j$$(nproc) CFG=replay $(FUZZ_TARGETS:%=build/replay/replay_%)
	@tools/fuzz-replay build/replay $(FUZZ_TARGETS)

build/replay/replay_%: $(OBJ)/tests/fuzz/fuzz_%.o $(OBJ)/tests/fuzz/replay.o $(OUT)/libtenon.a
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(DEP_LIBS)

lint: all
	@tools/lint/run $(OUT)

golden:
	@tools/golden/run

# ---- demo, benches, installing -----------------------------------------------------------------------------------------

demo: deps
	@$(MAKE) --no-print-directory -j$$(nproc) all
	@tools/demo $(OUT)/tenon

fetch-models:
	@tools/fetch-models

deps-onnxruntime:
	@tools/deps-onnxruntime

BENCHES := $(patsubst bench/%.c,%,$(wildcard bench/*.c))

BENCH_SOURCES := $(wildcard bench/kernel/peak*.c)
ifeq ($(filter x86_64%,$(MACHINE)),)
BENCH_SOURCES := $(filter-out %_avx2.c %_avx512.c %_avx512vnni.c %_avx512bf16.c,$(BENCH_SOURCES))
endif

$(OBJ)/bench/%.o: EXTRA := -Ibench -D_POSIX_C_SOURCE=200809L

$(OUT)/bench/%: $(OBJ)/bench/%.o $(BENCH_SOURCES:%.c=$(OBJ)/%.o) $(OUT)/libtenon.a
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(DEP_LIBS)

$(OUT)/bench/kernels: $(OBJ)/bench/kernel/bench_kernels.o $(BENCH_SOURCES:%.c=$(OBJ)/%.o) $(OUT)/libtenon.a
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(DEP_LIBS)

bench-kernels: $(OUT)/bench/kernels
	@$(OUT)/bench/kernels

# The shared road beside the executor alone, on a graph that costs next to nothing.
bench-road: $(OUT)/bench/road
	@$(OUT)/bench/road tests/golden/tensor/add.onnx 2000

bench-documents: $(OUT)/bench/documents
	@$(OUT)/bench/documents --components 25 tests/golden/standard/packages/decoder/inference_metadata.yaml
	@$(OUT)/bench/documents tests/golden/standard/packages/*/inference_metadata.yaml

# Graphs against ONNX Runtime and OpenVINO, forests against ONNX Runtime and XGBoost.
bench-graphs: all $(OUT)/bench/graph
	@"$$(tools/ref/env)" bench/graphs.py $(OUT)
	@"$$(tools/ref/env ml)" bench/forests.py $(OUT)

bench-native: all $(BENCHES:%=$(OUT)/bench/%)
	@bench/run --native-only $(OUT)

bench: all $(BENCHES:%=$(OUT)/bench/%)
	@bench/run $(OUT)

cross-aarch64:
	@$(MAKE) --no-print-directory -j$$(nproc) CFG=aarch64 CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar \
		build/aarch64/libtenon.a

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/include/tenon $(DESTDIR)$(LIBDIR)/pkgconfig \
		$(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 $(OUT)/tenon $(DESTDIR)$(PREFIX)/bin/tenon
	install -m 644 include/tenon/tenon.h $(DESTDIR)$(PREFIX)/include/tenon/tenon.h
	install -m 644 $(OUT)/libtenon.a $(DESTDIR)$(LIBDIR)/libtenon.a
	install -m 755 $(OUT)/libtenon.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libtenon.so.$(VERSION)
	ln -sf libtenon.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libtenon.so.$(SOVERSION)
	ln -sf libtenon.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libtenon.so
	install -m 644 $(OUT)/tenon.pc $(DESTDIR)$(LIBDIR)/pkgconfig/tenon.pc
	$(OUT)/tenon help --man > $(DESTDIR)$(PREFIX)/share/man/man1/tenon.1

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/tenon $(DESTDIR)$(PREFIX)/include/tenon/tenon.h \
		$(DESTDIR)$(LIBDIR)/libtenon.a $(DESTDIR)$(LIBDIR)/libtenon.so $(DESTDIR)$(LIBDIR)/libtenon.so.$(SOVERSION) \
		$(DESTDIR)$(LIBDIR)/libtenon.so.$(VERSION) $(DESTDIR)$(LIBDIR)/pkgconfig/tenon.pc \
		$(DESTDIR)$(PREFIX)/share/man/man1/tenon.1
	-rmdir $(DESTDIR)$(PREFIX)/include/tenon 2>/dev/null

clean:
	rm -rf build
