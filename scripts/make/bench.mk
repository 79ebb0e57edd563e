# The load generator of the proxy benchmark, and what the proxies connect to.
$(B)/tests/bench/tunnel: $(B)/tests/bench/client.o $(B)/tests/bench/tree.o
$(B)/tests/bench/tunnel $(B)/tests/bench/origin: $(B)/%: $(B)/%.o $(B)/lib/base.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(KZ_CFLAGS) -o $@ $(filter %.o,$^) $(B)/lib/base.a $(KZ_LDFLAGS)

bench-programs: $(addprefix $(B)/tests/bench/,authority tunnel origin)
.PHONY: bench-programs
