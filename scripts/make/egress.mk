# The egress rules as a program, for tests/tool/egress-decide.bats.
DECIDE_PARTS := rule base gen
$(B)/tests/tool/decide: $(B)/tests/tool/decide.o $(DECIDE_PARTS:%=$(B)/lib/%.a)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(KZ_CFLAGS) -o $@ $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(KZ_LDFLAGS)
test-programs: $(B)/tests/tool/decide
