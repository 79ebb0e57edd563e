# What C makes of the machines, for tests/machine/matrix.bats; and the models.
$(B)/tests/machine/matrix: $(B)/tests/machine/matrix.o $(B)/lib/rule.a $(B)/lib/gen.a $(B)/lib/base.a
	@mkdir -p $(@D)
	$(CC) $(KZ_CFLAGS) -o $@ $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(KZ_LDFLAGS)

check-models models: $(KZGEN)
