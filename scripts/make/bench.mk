# The load generator of the proxy benchmark, and what the proxies connect to.
$(B)/tests/bench/tunnel: $(B)/tests/bench/client.o $(B)/tests/bench/tree.o
$(B)/tests/bench/tunnel $(B)/tests/bench/origin: $(B)/%: $(B)/%.o $(B)/lib/base.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(KZ_CFLAGS) -o $@ $(filter %.o,$^) $(B)/lib/base.a $(KZ_LDFLAGS)

# What grants cost; it mints those of the proxy benchmark too.
GRANT_ITEMS := core/egress core/conf rule gen base port/json port/seal port/seal-token port/seal-sign
GRANT_FILES := $(foreach i,$(GRANT_ITEMS),$(if $(filter port/%,$i),$(call PORT_FILES,$i),$(B)/lib/$i.a))
$(B)/tests/bench/grant: $(B)/tests/bench/grant.o $(GRANT_FILES)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(KZ_CFLAGS) -o $@ $< -Wl,--start-group $(GRANT_FILES) -Wl,--end-group $(KZ_LDFLAGS) $(LIBS_json) -lsodium

bench-programs: $(addprefix $(B)/tests/bench/,authority grant tunnel origin)
.PHONY: bench-programs
