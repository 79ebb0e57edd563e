# The Valkey function library: lib/valkey/00-head.lua, the generated machines, then the other
# parts in name order, as one text.  Its digest names the library and every function.
#   $(B)/kz.lua          the text with its first line, as it is loaded
#   $(B)/gen/library.h   KZ_LIBRARY_DIGEST, for everybody
#   $(B)/gen/library.c   the text, linked only where kz_auth_load is (kz-controller)
LUA_HEAD := lib/valkey/00-head.lua
LUA_PARTS := $(LUA_HEAD) $(addprefix statemachines/gen/,lease.lua ticket.lua worker.lua) \
	$(filter-out $(LUA_HEAD),$(sort $(wildcard lib/valkey/*.lua)))

$(B)/kz.lua: $(LUA_PARTS) scripts/make/valkey.mk
	@mkdir -p $(@D)
	$(Q)cat $(LUA_PARTS) > $@.body
	$(Q)digest=$$(sha256sum < $@.body | cut -c1-12) && \
	{ printf '#!lua name=kz_%s\nlocal DIGEST = "%s"\n' $$digest $$digest; cat $@.body; } > $@.new
	$(Q)rm $@.body && mv $@.new $@

$(B)/gen/library.h: $(B)/kz.lua
	@mkdir -p $(@D)
	$(Q)digest=$$(sed -n '1s/.*name=kz_//p' $<) && \
	printf '/* Do not edit: made by scripts/make/valkey.mk from lib/valkey. */\n#ifndef KZ_GEN_LIBRARY_H\n#define KZ_GEN_LIBRARY_H\n\n#include <stddef.h>\n\n#define KZ_LIBRARY_DIGEST "%s"\n\n/* The text of the library; linked only by kz-controller. */\nextern const char kz_library_text[];\nextern const size_t kz_library_size;\n\n#endif\n' $$digest > $@.new
	$(Q)mv $@.new $@

$(B)/gen/library.c: $(B)/kz.lua $(B)/gen/library.h
	$(Q){ printf '/* Do not edit: made by scripts/make/valkey.mk from lib/valkey. */\n#include "gen/library.h"\n\nconst char kz_library_text[] = {\n'; \
	od -An -v -tx1 $< | sed 's/ \(..\)/0x\1,/g'; \
	printf '0x00 };\nconst size_t kz_library_size = sizeof(kz_library_text) - 1;\n'; } > $@.new
	$(Q)mv $@.new $@

$(B)/gen/library.o: $(B)/gen/library.c
	$(Q)$(CC) $(KZ_CFLAGS) -c -o $@ $<

$(call OBJ_OF,core/pool): | $(B)/gen/library.h
$(B)/lib/core/pool.a: $(B)/gen/library.o

# The parts share one chunk, so only the assembled text can be judged.
check-lua: $(B)/kz.lua
	$(Q)luacheck -q --no-color --config .luacheckrc $<

.PHONY: check-lua

# Programs that drive the authority itself: histories with kills, and its benchmark.
AUTH_ITEMS := core/pool core/conf rule base gen port/vk port/seal port/json
AUTH_FILES := $(foreach i,$(AUTH_ITEMS),$(if $(filter port/%,$i),$(call PORT_FILES,$i),$(B)/lib/$i.a))

$(B)/tests/history/drive: MORE := $(B)/tests/history/drive_life.o
$(B)/tests/history/drive: $(B)/tests/history/drive_life.o
$(B)/tests/bench/authority $(B)/tests/history/drive: $(B)/%: $(B)/%.o $(AUTH_FILES)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(KZ_CFLAGS) -o $@ $< $(MORE) -Wl,--start-group $(AUTH_FILES) -Wl,--end-group $(KZ_LDFLAGS) \
		$(LIBS_vk) $(LIBS_seal) $(LIBS_json)

# Preloaded into a server whose clock a test moves.
$(B)/tests/history/clock.so: tests/history/clock.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -O2 -Wall -Wextra -fPIC -shared -o $@ $<
