/* Shared by http.c and http_flow.c, for no one else: libcurl, loaded once. */
#ifndef KZ_PORT_HTTP_PARTS_H
#define KZ_PORT_HTTP_PARTS_H

#include "port/http.h"

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

/* X(name): what is used of the library, curl_NAME. */
#define KZ_HTTP_SYMBOLS                                                                            \
	X(global_init)                                                                             \
	X(easy_init)                                                                               \
	X(easy_setopt)                                                                             \
	X(easy_perform)                                                                            \
	X(easy_pause)                                                                              \
	X(easy_getinfo)                                                                            \
	X(easy_reset)                                                                              \
	X(easy_cleanup)                                                                            \
	X(easy_strerror)                                                                           \
	X(slist_append)                                                                            \
	X(slist_free_all)                                                                          \
	X(multi_init)                                                                              \
	X(multi_setopt)                                                                            \
	X(multi_assign)                                                                            \
	X(multi_add_handle)                                                                        \
	X(multi_remove_handle)                                                                     \
	X(multi_socket_action)                                                                     \
	X(multi_info_read)                                                                         \
	X(multi_cleanup)

extern struct kz_http_lib {
	bool is_loaded;
#define X(name) __typeof__(curl_##name) *name;
	KZ_HTTP_SYMBOLS
#undef X
} kz_http_lib;

/* Load the library; may be called again. err: KZ_E_UNAVAILABLE */
enum kz_rc kz_http_load(struct kz_err *err);
/* Everything that is the same for all requests. */
void kz_http_set_always(CURL *e);

#endif
