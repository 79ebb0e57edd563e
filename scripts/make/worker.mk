# The worker client as a program, for tests/tool/kz-worker.bats.
WK_PARTS := core/worker core/conf rule base gen
$(B)/tests/tool/wk: $(B)/tests/tool/wk.o $(WK_PARTS:%=$(B)/lib/%.a) $(call PORT_FILES,port/json) $(call PORT_FILES,port/seal)
	@mkdir -p $(@D)
	$(CC) $(KZ_CFLAGS) -o $@ -Wl,--start-group $(filter %.a %.o,$^) -Wl,--end-group $(KZ_LDFLAGS) -ljansson -lsodium
