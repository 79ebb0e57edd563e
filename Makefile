# kz: build, checks, tests.  "make" builds, "make check" is what a commit needs.
# SANITIZE=address,undefined, FAULT=1 and FUZZ=1 build beside the normal tree.
CC ?= cc
PREFIX ?= /usr/local
DESTDIR ?=
SANITIZE ?=
FAULT ?=
FUZZ ?=
VERSION := $(shell cat VERSION)

# One short line a step; V=1 shows the commands.
Q := $(if $(V),,@)
say = $(if $(V)$(findstring s,$(firstword -$(MAKEFLAGS))),,@echo "  $1 $2")

B := build$(if $(SANITIZE),-san)$(if $(FAULT),-fault)$(if $(FUZZ),-fuzz)
WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla \
	-Wwrite-strings -Wswitch-enum -Wundef -Wpointer-arith -Wcast-qual -Wimplicit-fallthrough
# gcc sees null pointers where the sanitizer's own checks branch.
SAN_WARN := -Wno-format-overflow -Wno-format-truncation -Wno-nonnull
# Sanitizers want -O1: at -O2 they take twice the time to build, and see less.
CFLAGS ?= $(if $(SANITIZE),-O1,-O2) -g
KZ_CFLAGS = -std=c11 -D_GNU_SOURCE -DKZ_VERSION='"$(VERSION)"' $(WARN) -Ilib -Istatemachines -I$(B) -include base/banned.h \
	-fstack-protector-strong -fno-strict-aliasing -ffile-prefix-map=$(CURDIR)=. -MMD -MP $(CFLAGS) \
	$(if $(FAULT),-DKZ_FAULT_BUILD) $(if $(FUZZ),$(FUZZ_CFLAGS)) $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer $(SAN_WARN))
KZ_LDFLAGS = -Wl,--as-needed -Wl,-z,relro,-z,now $(LDFLAGS) $(if $(SANITIZE),-fsanitize=$(SANITIZE))

# Foreign libraries, one port each.
LIBS_db := -lsqlite3
LIBS_vk := -lhiredis
LIBS_json := -ljansson
LIBS_seal := -lsodium
LIBS_seal-token := -lsodium
LIBS_seal-sign := -lsodium
LIBS_serve := -levent_core
LIBS_filter := -lseccomp
LIBS_arc := -larchive
LIBS_http :=
LIBS_dns := -lcares
LIBS_xml := -lexpat
LIBS_deflate := -lz

PROGRAMS := $(patsubst bin/%.deps,%,$(wildcard bin/*.deps))
LIBDIRS := base rule cli worker $(patsubst lib/%/,%,$(wildcard lib/core/*/))
SRC_OF = $(wildcard lib/$1/*.c)
OBJ_OF = $(patsubst %.c,$(B)/%.o,$(call SRC_OF,$1))
GEN_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard statemachines/gen/*.c))
ARCHIVES := $(foreach d,$(LIBDIRS),$(B)/lib/$(d).a) $(B)/lib/gen.a
PORTS := $(patsubst lib/port/%.c,%,$(wildcard lib/port/*.c))
UNIT_TESTS := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_*.c))

# Archives too, so that a module nobody links yet still has to compile.
all: $(ARCHIVES) $(PORTS:%=$(B)/lib/port/%.o) $(PROGRAMS:%=$(B)/bin/%)

# .deps: one item a line: a folder of lib (base, rule, core/pool), port/NAME, gen, or a word: static, or bundled for a program
# that is started so often that finding its foreign libraries counts: those that have an archive here are part of it.
WORDS := static bundled
DEP_ITEMS = $(shell sed 's/\#.*//' bin/$1.deps)
# A port is lib/port/NAME.c and its private parts NAME_*.c.  NAME-PART.c is a part that a .deps must name itself.
PORT_FILES = $(patsubst %.c,$(B)/%.o,$(wildcard lib/$1.c lib/$1_*.c))
DEP_FILES = $(foreach i,$(filter-out $(WORDS),$(call DEP_ITEMS,$1)),$(if $(filter port/%,$i),$(call PORT_FILES,$i),$(B)/lib/$i.a))
DEP_LIBS = $(foreach i,$(filter port/%,$(call DEP_ITEMS,$1)),$(LIBS_$(notdir $i)))
has_archive = $(findstring /,$(shell $(CC) -print-file-name=lib$(patsubst -l%,%,$1).a))
BUNDLED_LIBS = -Wl,-Bstatic $(foreach l,$(DEP_LIBS),$(if $(call has_archive,$l),$l)) -Wl,-Bdynamic -lm \
	$(foreach l,$(DEP_LIBS),$(if $(call has_archive,$l),,$l))

# A program with many verbs keeps them in bin/PROGRAM-verbs/*.c.
BIN_OBJ = $(patsubst %.c,$(B)/%.o,bin/$1.c $(wildcard bin/$1-verbs/*.c))

define PROGRAM_RULE
$(B)/bin/$1: $(call BIN_OBJ,$1) $(call DEP_FILES,$1) bin/$1.deps
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$(Q)$(CC) $(KZ_CFLAGS) -o $$@ $(call BIN_OBJ,$1) -Wl,--start-group $(call DEP_FILES,$1) -Wl,--end-group $(KZ_LDFLAGS) \
		$(if $(filter static,$(call DEP_ITEMS,$1)),$(if $(SANITIZE),,-static -Wl,--no-warnings)) \
		$(if $(and $(filter bundled,$(call DEP_ITEMS,$1)),$(if $(SANITIZE),,yes)),$(call BUNDLED_LIBS,$1),$(call DEP_LIBS,$1))
endef
$(foreach p,$(PROGRAMS),$(eval $(call PROGRAM_RULE,$p)))

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(KZ_CFLAGS) -c -o $@ $<

# The list of members is a dependency, so that an archive forgets a source that is gone.
members = $(shell mkdir -p $(dir $1); echo '$2' | cmp -s - $1 || echo '$2' >$1)$1

define ARCHIVE_RULE
$(B)/lib/$1.a: $(call OBJ_OF,$1) $(call members,$(B)/lib/$1.members,$(call OBJ_OF,$1))
	@mkdir -p $$(@D)
	$(Q)rm -f $$@ && ar rcsD $$@ $$(filter %.o,$$^)
endef
$(foreach d,$(LIBDIRS),$(eval $(call ARCHIVE_RULE,$d)))
$(B)/lib/gen.a: $(GEN_OBJ)
	@mkdir -p $(@D)
	$(Q)rm -f $@ && ar rcsD $@ $^

include $(sort $(wildcard scripts/make/*.mk))
-include $(shell find $(B) -name '*.d' 2>/dev/null)

clean:
	rm -rf build build-san build-fault build-san-fault build-fuzz

.PHONY: all clean
.SECONDARY:
