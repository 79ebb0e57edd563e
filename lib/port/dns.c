/* Raw questions through c-ares, on the owner's event loop. */
#include "port/dns.h"

#include <ares.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "base/str.h"
#include "port/dns_parts.h"

#define UDP_BYTES 1232 /* of an answer without TCP */

struct kz_dns {
	struct ares_channeldata *channel;
	enum kz_dns_families families;
	kz_dns_watch watch;
	void *arg;
	struct kz_dns_query *finished; /* done is still to be called */
	size_t open;
};

struct kz_dns_query {
	struct kz_dns *dns;
	struct kz_dns_query *next;
	kz_dns_done done; /* NULL: nobody waits */
	void *arg;
	int pending; /* families that have not answered, one more while being asked */
	enum kz_dns_rc rc;
	struct kz_dns_found found;
	char name[256]; /* absolute: with its final dot */
};

struct part {
	struct kz_dns_query *query;
	uint8_t family;
};

static void on_state(void *arg, ares_socket_t fd, int is_read, int is_write)
{
	struct kz_dns *d = arg;

	d->watch(d->arg, (int)fd, is_read != 0, is_write != 0);
}

/* What c-ares says, and the message where there is one. */
static void take(struct kz_dns_query *q, uint8_t family, int status, const uint8_t *p, size_t n)
{
	char name[256];
	enum kz_dns_rc rc = KZ_DNS_FAILED;

	if (status == ARES_SUCCESS && p) {
		memcpy(name, q->name, sizeof name);
		name[strlen(name) - 1] = 0;
		rc = kz_dns_answer(p, n, name, family, &q->found);
	} else if (status == ARES_ENODATA || status == ARES_ENOTFOUND) {
		rc = KZ_DNS_OK; /* no address of this family */
	}
	if (q->rc == KZ_DNS_OK || rc == KZ_DNS_FAILED)
		q->rc = rc == KZ_DNS_OK ? q->rc : rc;
}

static void finish_one(struct kz_dns_query *q)
{
	if (--q->pending > 0)
		return;
	q->next = q->dns->finished;
	q->dns->finished = q;
}

#if ARES_VERSION >= 0x011c00
static void on_answer(void *arg, ares_status_t status, size_t timeouts,
		      const ares_dns_record_t *record)
{
	struct part *part = arg;
	unsigned char *p = NULL;
	size_t n = 0;

	(void)timeouts;
	if (status == ARES_SUCCESS && ares_dns_write(record, &p, &n) != ARES_SUCCESS)
		p = NULL;
	take(part->query, part->family, (int)status, p, n);
	ares_free_string(p);
	finish_one(part->query);
	free(part);
}

static void ask_family(struct kz_dns_query *q, struct part *part)
{
	/* a failure is told to on_answer too */
	(void)ares_query_dnsrec(q->dns->channel, q->name, ARES_CLASS_IN,
				part->family == 4 ? ARES_REC_TYPE_A : ARES_REC_TYPE_AAAA, on_answer,
				part, NULL);
}
#else
static void on_answer(void *arg, int status, int timeouts, unsigned char *p, int n)
{
	struct part *part = arg;

	(void)timeouts;
	take(part->query, part->family, status, p, n > 0 ? (size_t)n : 0);
	finish_one(part->query);
	free(part);
}

static void ask_family(struct kz_dns_query *q, struct part *part)
{
	ares_query(q->dns->channel, q->name, 1, part->family == 4 ? 1 : 28, on_answer, part);
}
#endif

static void ask(struct kz_dns_query *q, uint8_t family)
{
	struct part *part = malloc(sizeof *part);

	if (!part) {
		q->rc = KZ_DNS_FAILED;
		return;
	}
	*part = (struct part){ q, family };
	q->pending++;
	ask_family(q, part);
}

struct kz_dns_query *kz_dns_ask(struct kz_dns *d, const char *name, kz_dns_done done, void *arg)
{
	struct kz_dns_query *q = calloc(1, sizeof *q);

	if (!q)
		return NULL;
	*q = (struct kz_dns_query){ .dns = d, .done = done, .arg = arg, .pending = 1 };
	d->open++;
	if (kz_str_format(q->name, sizeof q->name, NULL, "%s.", name) != KZ_OK) {
		q->rc = KZ_DNS_FAILED;
	} else {
		if (d->families != KZ_DNS_IPV6)
			ask(q, 4);
		if (d->families != KZ_DNS_IPV4)
			ask(q, 6);
	}
	finish_one(q);
	return q;
}

void kz_dns_cancel(struct kz_dns_query *q)
{
	q->done = NULL;
}

size_t kz_dns_open(const struct kz_dns *d)
{
	return d->open;
}

/* Tell what is finished; a call may ask again. */
static void deliver(struct kz_dns *d)
{
	struct kz_dns_query *q;

	while ((q = d->finished)) {
		d->finished = q->next;
		d->open--;
		if (q->done)
			q->done(q->arg, q->rc, q->found.addr,
				q->rc == KZ_DNS_OK ? q->found.count : 0);
		free(q);
	}
}

void kz_dns_ready(struct kz_dns *d, int fd, bool is_read, bool is_write)
{
	ares_process_fd(d->channel, is_read ? fd : ARES_SOCKET_BAD,
			is_write ? fd : ARES_SOCKET_BAD);
	deliver(d);
}

void kz_dns_tick(struct kz_dns *d)
{
	kz_dns_ready(d, ARES_SOCKET_BAD, false, false);
}

int kz_dns_wait_ms(struct kz_dns *d)
{
	struct timeval tv, *next;

	if (d->finished)
		return 0;
	if (d->open == 0 || !(next = ares_timeout(d->channel, NULL, &tv)))
		return -1;
	return (int)(next->tv_sec * 1000 + (next->tv_usec + 999) / 1000);
}

void kz_dns_free(struct kz_dns *d)
{
	struct kz_dns_query *q;

	if (!d)
		return;
	if (d->channel)
		ares_destroy(d->channel); /* what is open ends, and is finished */
	while ((q = d->finished)) {
		d->finished = q->next;
		free(q);
	}
	free(d);
	ares_library_cleanup();
}

static enum kz_rc open_channel(struct kz_dns *d, struct kz_ms timeout, struct kz_err *err)
{
	static char lookups[] = "b";
	struct ares_options o = {
		.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | ARES_FLAG_EDNS,
		/* one server that does not answer: a quarter, then a half of the time */
		.timeout = timeout.ms >= 4 ? (int)(timeout.ms / 4) : 1,
		.tries = 2,
		.ndots = 1,
		.lookups = lookups,
		.sock_state_cb = on_state,
		.sock_state_cb_data = d,
		.ednspsz = UDP_BYTES,
	};
	int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS |
		   ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB | ARES_OPT_EDNSPSZ | ARES_OPT_NOROTATE;
	int status;

#ifdef ARES_OPT_UDP_MAX_QUERIES
	o.udp_max_queries = 128; /* then another port */
	mask |= ARES_OPT_UDP_MAX_QUERIES;
#endif
#ifdef ARES_OPT_QUERY_CACHE
	o.qcache_max_ttl = 0;
	mask |= ARES_OPT_QUERY_CACHE;
#endif
	status = ares_init_options(&d->channel, &o, mask);
	return status == ARES_SUCCESS ?
		       KZ_OK :
		       kz_err_set(err, KZ_E_OS, "no resolver: %s", ares_strerror(status));
}

enum kz_rc kz_dns_new(struct kz_dns **out, const char *servers, enum kz_dns_families families,
		      struct kz_ms timeout, kz_dns_watch watch, void *arg, struct kz_err *err)
{
	struct kz_dns *d;
	enum kz_rc rc;

	if (ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS)
		return kz_err_set(err, KZ_E_OS, "c-ares does not start");
	if (!(d = calloc(1, sizeof *d))) {
		ares_library_cleanup();
		return kz_err_set(err, KZ_E_OS, "out of memory");
	}
	*d = (struct kz_dns){ .families = families, .watch = watch, .arg = arg };
	rc = open_channel(d, timeout, err);
	if (rc == KZ_OK && servers && *servers &&
	    ares_set_servers_ports_csv(d->channel, servers) != ARES_SUCCESS)
		rc = kz_err_set(err, KZ_E_CONFIG, "the list of DNS servers is malformed");
	if (rc != KZ_OK) {
		kz_dns_free(d);
		return rc;
	}
	*out = d;
	return KZ_OK;
}
