/*
 * The status page's three texts (lib/core/gateway/page/), as bytes in the program: it sees
 * no file of the installation once it runs.  The document has @STYLE@ and @SCRIPT@ where the
 * two others belong.  Made by scripts/make/gateway.mk.  Layer 3.
 */
#ifndef KZ_CORE_GATEWAY_PAGE_H
#define KZ_CORE_GATEWAY_PAGE_H

#include <stddef.h>

extern const char kz_page_html[], kz_page_css[], kz_page_js[]; /* each ends in 0 */
extern const size_t kz_page_html_size, kz_page_css_size, kz_page_js_size;

#endif
