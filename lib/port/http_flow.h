/*
 * HTTP downloads, many at once, on the owner's event loop; the other half of port/http
 * and held to the same rules.  A download goes to the addresses its owner judged and
 * to no others, whatever a resolver says; it follows no redirect; its answer may be
 * held up.  One struct kz_http_flow belongs to one thread.  Layer 1.
 * src: BRK-8, BRK-12
 */
#ifndef KZ_PORT_HTTP_FLOW_H
#define KZ_PORT_HTTP_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

#define KZ_GET_HEADERS 4
#define KZ_GET_LOCATION 2048

struct kz_http_flow; /* all of them */
struct kz_http_get;  /* one */

/* An address that may be dialled. */
struct kz_http_addr {
	uint8_t family; /* 4 or 6 */
	uint8_t bytes[16];
};

/* How one ended. */
enum kz_get_end {
	KZ_GET_WHOLE,       /* the answer, whole by its own framing */
	KZ_GET_UNREACHABLE, /* no connection, or no TLS over it */
	KZ_GET_NO_ANSWER,   /* a connection and no head of an answer */
	KZ_GET_CUT,         /* a head and not all of its body, or a coding that lies */
	KZ_GET_STOPPED,     /* by its owner's body */
};

/* The head of an answer; borrowed during the call. */
struct kz_get_head {
	int status;
	int64_t length;       /* announced; -1: not, or encoded on its way */
	const char *type;     /* Content-Type, "" without */
	const char *location; /* "" without */
};

struct kz_get_ask {
	const char *url;  /* of a host that is a name, or a literal */
	const char *host; /* the name; NULL for a literal */
	uint16_t port;
	const struct kz_http_addr *addrs; /* what may be dialled, at least one */
	size_t addr_count;
	const char *headers[KZ_GET_HEADERS + 1]; /* "Name: value", NULL-terminated */
	const char *user, *password;             /* Basic credentials; NULL: none */
	const char *ca;       /* trusted certificates, PEM text; NULL: the machine's */
	bool is_coded;        /* it may come compressed; told decoded */
	struct kz_ms connect; /* bound of connecting, TLS included */

	/* The connection is there, and the request goes out. */
	void (*on_sent)(void *arg);
	/* The head of the answer. */
	void (*on_head)(void *arg, const struct kz_get_head *head);
	/* A piece of the body. out: false stops it. kz_http_get_hold may be called from here: this piece was taken */
	bool (*on_body)(void *arg, const void *p, size_t n);
	/* It is over, and the download is gone. in: wire: bytes of the body as they came, before decoding */
	void (*on_end)(void *arg, enum kz_get_end end, int64_t wire);
	void *arg;
};

/* The owner watches fd for what is true; not at all when both are false. */
typedef void (*kz_http_watch)(void *arg, int fd, bool is_read, bool is_write);
/* The owner calls kz_http_flow_tick in so many milliseconds; -1: not. */
typedef void (*kz_http_timer)(void *arg, int64_t ms);

/* own: kz_http_flow_free. err: KZ_E_UNAVAILABLE when libcurl is not there, KZ_E_OS */
enum kz_rc kz_http_flow_new(struct kz_http_flow **out, kz_http_watch watch, kz_http_timer timer,
			    void *arg, struct kz_err *err);
/* End it, once no download is left; NULL is fine. */
void kz_http_flow_free(struct kz_http_flow *f);
/* A watched descriptor is ready; the time has come. wait: never */
void kz_http_flow_ready(struct kz_http_flow *f, int fd, bool is_read, bool is_write);
void kz_http_flow_tick(struct kz_http_flow *f);

/*
 * Start a download; what is asked is copied. Its calls come from kz_http_flow_ready and
 * kz_http_flow_tick, never from here.
 * out: borrowed until on_end or kz_http_get_cancel; NULL when memory is out, or certificates are not taken
 */
struct kz_http_get *kz_http_get(struct kz_http_flow *f, const struct kz_get_ask *ask);
/* Nobody wants it any more: on_end is not called. From on_end and outside of all calls only; inside on_body return false. */
void kz_http_get_cancel(struct kz_http_get *g);
/* Hold its body up, or let it come again. */
void kz_http_get_hold(struct kz_http_get *g, bool is_held);
/* Bytes of the body that came so far, before decoding. */
int64_t kz_http_get_wire(const struct kz_http_get *g);

#endif
