# The status page of kz-gateway: its three texts as bytes in one C file (lib/core/gateway/page.h).
PAGE_TEXTS := $(addprefix lib/core/gateway/page/page.,html css js)

$(B)/gen/page.c: $(PAGE_TEXTS) scripts/make/gateway.mk
	@mkdir -p $(@D)
	$(Q){ printf '/* Do not edit: made by scripts/make/gateway.mk from lib/core/gateway/page. */\n#include "core/gateway/page.h"\n'; \
	for f in $(PAGE_TEXTS); do name=kz_page_$${f##*.}; \
	printf '\nconst char %s[] = {\n' $$name; \
	od -An -v -tx1 $$f | sed "s/ \(..\)/'\\\\x\1',/g"; \
	printf "0 };\nconst size_t %s_size = sizeof(%s) - 1;\n" $$name $$name; done; } > $@.new
	$(Q)mv $@.new $@

$(B)/gen/page.o: $(B)/gen/page.c
	$(Q)$(CC) $(KZ_CFLAGS) -c -o $@ $<

$(B)/lib/core/gateway.a: $(B)/gen/page.o
