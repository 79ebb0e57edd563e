/*
 * What an error reply of Valkey means.  Private to port/vk.  Layer 1.
 */
#ifndef KZ_PORT_VK_REPLY_H
#define KZ_PORT_VK_REPLY_H

#include "base/err.h"

/* Turn the text of an error reply into a reason; returns its code, never KZ_OK. */
enum kz_rc kz_vk_map_error(const char *text, struct kz_err *err);

#endif
