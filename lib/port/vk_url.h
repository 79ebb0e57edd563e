/*
 * The URL of a Valkey server, taken apart.  Private to port/vk.  Layer 1.
 */
#ifndef KZ_PORT_VK_URL_H
#define KZ_PORT_VK_URL_H

#include "base/err.h"

struct kz_vk_url {
	char path[108]; /* unix socket, or "" */
	char host[256];
	int port;
	char user[128], password[256];
	int db;
};

/* Parse unix:PATH[?db=N] or valkey://[[USER]:PASSWORD@]HOST[:PORT][/DB]. err: url_unsupported (78) */
enum kz_rc kz_vk_url_parse(const char *url, struct kz_vk_url *out, struct kz_err *err);

#endif
