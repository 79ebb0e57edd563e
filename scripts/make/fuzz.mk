# Fuzz targets: tests/fuzz/X.c (LLVMFuzzerTestOneInput) with tests/fuzz/X.deps, which has the form of bin/*.deps (without:
# base, rule and gen).  Built by clang with its libFuzzer beside the normal tree: "make fuzz-build" says so to itself by FUZZ=1.
# Warnings are gcc's to refuse: another release's clang has others.
#   make fuzz                 ten minutes a target; FUZZ_SECONDS=N others
#   make fuzz-merge           takes what was found into tests/fuzz/corpus, as small as it gets
FUZZ_SECONDS ?= 600
FUZZ_CFLAGS := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -Wno-format-nonliteral -Wno-error
FUZZ_NAMES := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
FUZZ_ITEMS = $(if $(wildcard tests/fuzz/$1.deps),$(shell sed 's/\#.*//' tests/fuzz/$1.deps),base rule gen)
FUZZ_FILES = $(foreach i,$(call FUZZ_ITEMS,$1),$(if $(filter port/%,$i),$(call PORT_FILES,$i),$(B)/lib/$i.a))
FUZZ_LIBS = $(foreach i,$(filter port/%,$(call FUZZ_ITEMS,$1)),$(LIBS_$(notdir $i)))

define FUZZ_RULE
$(B)/tests/fuzz/$1: $(B)/tests/fuzz/$1.o $(call FUZZ_FILES,$1) $(wildcard tests/fuzz/$1.deps)
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$(Q)$(CC) $(KZ_CFLAGS) -fsanitize=fuzzer -o $$@ $$< -Wl,--start-group $(call FUZZ_FILES,$1) -Wl,--end-group \
		$(KZ_LDFLAGS) $(call FUZZ_LIBS,$1)
endef
$(if $(FUZZ),$(foreach t,$(FUZZ_NAMES),$(eval $(call FUZZ_RULE,$t))))

ifdef FUZZ
fuzz-build: $(FUZZ_NAMES:%=$(B)/tests/fuzz/%)
else
fuzz-build:
	$(Q)$(MAKE) FUZZ=1 CC=clang fuzz-build
endif

fuzz: fuzz-build
	$(Q)scripts/fuzz --seconds $(FUZZ_SECONDS)

fuzz-merge: fuzz-build
	$(Q)scripts/fuzz --merge

.PHONY: fuzz fuzz-build fuzz-merge
