/*
 * kz-gateway: the parent API.  Workers reach its one Unix socket (the package broker);
 * operators its other one and a TCP address: health, metrics, public keys, a status page.
 * Before the first byte of a stranger it gives up root and what it does not need of the file
 * system; what takes more rights is asked of a process of its own.  Layer 3.
 * src: DEP-5, BRK-5, ADM-1 to ADM-3, ADM-5, ADM-8, RT-11
 */
#ifndef KZ_CORE_GATEWAY_GATEWAY_H
#define KZ_CORE_GATEWAY_GATEWAY_H

#include "base/err.h"
#include "base/time.h"

#define KZ_GATEWAY_DIR "run/gateway" /* below STATE: what workers see */
#define KZ_GATEWAY_SOCKET KZ_GATEWAY_DIR "/gateway.sock"
#define KZ_GATEWAY_ADMIN "run/gateway-admin.sock" /* below STATE: operators */

struct kz_gateway_options {
	const char *state; /* NULL: as kz_conf_state */
	int ready_fd;      /* gets a line once the Unix sockets are there; -1: none */
};

/*
 * Serve until SIGTERM or SIGINT.  A KZ_GATEWAY_LISTEN that is taken stops nothing: it is
 * tried again every ten seconds.
 * err: not_running, setting_invalid, KZ_E_CANTCREAT (a socket in use), KZ_E_OS
 * wait: for its whole life
 */
enum kz_rc kz_gateway_run(const struct kz_gateway_options *o, struct kz_err *err);

struct kz_json;
/* What a running gateway says of itself (/gateway.json): v, type, listen, listening, reason, text, connections. out: new. err: gateway_unreachable, no_permission. wait: until the deadline */
enum kz_rc kz_gateway_ask(const char *state, struct kz_deadline until, struct kz_json **out,
			  struct kz_err *err);

#endif
