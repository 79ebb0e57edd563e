# Unit tests: tests/unit/test_X.c with tests/unit/test_X.deps, which has the form of bin/*.deps
# (one item a line: base, rule, core/conf, cli, worker, gen, port/NAME).  cmocka is always linked.
# A test without a .deps file links base, rule and gen.
UNIT_NAMES := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c))
TEST_DEPS = $(wildcard tests/unit/$1.deps)
TEST_ITEMS = $(if $(TEST_DEPS),$(shell sed 's/\#.*//' $(TEST_DEPS)),base rule gen)
TEST_FILES = $(foreach i,$(call TEST_ITEMS,$1),$(if $(filter port/%,$i),$(call PORT_FILES,$i),$(B)/lib/$i.a))
TEST_LIBS = $(foreach i,$(filter port/%,$(call TEST_ITEMS,$1)),$(LIBS_$(notdir $i)))

define UNIT_RULE
$(B)/tests/unit/$1: $(B)/tests/unit/$1.o $(call TEST_FILES,$1) $(call TEST_DEPS,$1)
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$(Q)$(CC) $(KZ_CFLAGS) -o $$@ $$< -Wl,--start-group $(call TEST_FILES,$1) -Wl,--end-group $(KZ_LDFLAGS) \
		$(call TEST_LIBS,$1) -lcmocka
endef
$(foreach t,$(UNIT_NAMES),$(eval $(call UNIT_RULE,$t)))

unit: $(UNIT_TESTS)

# What bats files start besides the programs themselves.
test-programs: all $(addprefix $(B)/tests/,tool/wk machine/matrix history/drive history/clock.so bench/tunnel bench/origin)

.PHONY: unit test-programs
