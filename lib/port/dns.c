/* Raw questions through c-ares, on the owner's event loop. */
#include "port/dns.h"

#include <ares.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "base/str.h"
#include "base/time.h"
#include "port/dns_parts.h"

#define UDP_BYTES 1232 /* of an answer without TCP */
#define ENDED 256      /* channels whose memory is given back together */
#define KEPT 16        /* channels without a question; c-ares 1.18 takes some 70 KiB for one */

/*
 * A channel serves one question at a time: in one that is shared, a server's mischief with
 * one name (a connection that it closes, a port that it reports dead) costs the tries of
 * all others.  It also asks from a port of its own.
 */
struct channel {
	struct ares_channeldata *ares;
	struct channel *prev, *next; /* of those in use, or (next) of those that are kept */
	int64_t due_ms;              /* boot time; INT64_MAX: nothing */
};

struct kz_dns {
	struct ares_channeldata *model; /* all others are copies */
	enum kz_dns_families families;
	kz_dns_watch watch;
	void *arg;
	struct channel *used, *kept, *current; /* current: which one c-ares works on */
	size_t kept_count;
	size_t ended_count; /* since memory was given back */
	struct channel **by_fd;
	size_t fd_count;
	struct kz_dns_query *finished; /* done is still to be called */
	size_t open;
};

struct kz_dns_query {
	struct kz_dns *dns;
	struct channel *channel;
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

/* -- channels -- */

static bool note_fd(struct kz_dns *d, size_t fd)
{
	size_t count = d->fd_count ? d->fd_count : 64;
	struct channel **grown;

	while (count <= fd)
		count *= 2;
	if (count > d->fd_count) {
		if (!(grown = realloc(d->by_fd, count * sizeof *grown)))
			return false;
		memset(grown + d->fd_count, 0, (count - d->fd_count) * sizeof *grown);
		d->by_fd = grown;
		d->fd_count = count;
	}
	d->by_fd[fd] = d->current;
	return true;
}

static void on_state(void *arg, ares_socket_t fd, int is_read, int is_write)
{
	struct kz_dns *d = arg;

	if (fd < 0)
		return;
	if ((is_read || is_write) && !note_fd(d, (size_t)fd))
		return; /* it comes to its timeout */
	if (!is_read && !is_write && (size_t)fd < d->fd_count)
		d->by_fd[fd] = NULL;
	d->watch(d->arg, (int)fd, is_read != 0, is_write != 0);
}

static void set_due(struct channel *c)
{
	struct timeval tv, *next = ares_timeout(c->ares, NULL, &tv);

	c->due_ms = next ? kz_time_boot_ms() + next->tv_sec * 1000 + (next->tv_usec + 999) / 1000 :
			   INT64_MAX;
}

static struct channel *channel_take(struct kz_dns *d)
{
	struct channel *c = d->kept;

	if (c) {
		d->kept = c->next;
		d->kept_count--;
	} else if (!(c = calloc(1, sizeof *c)) || ares_dup(&c->ares, d->model) != ARES_SUCCESS) {
		free(c);
		return NULL;
	}
	c->prev = NULL;
	c->next = d->used;
	if (c->next)
		c->next->prev = c;
	d->used = c;
	c->due_ms = INT64_MAX;
	return c;
}

static void channel_end(struct kz_dns *d, struct channel *c)
{
	d->current = c;
	ares_destroy(c->ares);
	d->current = NULL;
	free(c);
}

static void channel_give(struct kz_dns *d, struct channel *c)
{
	*(c->prev ? &c->prev->next : &d->used) = c->next;
	if (c->next)
		c->next->prev = c->prev;
	if (d->kept_count >= KEPT) {
		channel_end(d, c);
		d->ended_count++;
		return;
	}
	c->next = d->kept;
	d->kept = c;
	d->kept_count++;
}

static void process(struct kz_dns *d, struct channel *c, int read_fd, int write_fd)
{
	d->current = c;
	ares_process_fd(c->ares, read_fd, write_fd);
	d->current = NULL;
	set_due(c);
}

/* -- questions -- */

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
	(void)ares_query_dnsrec(q->channel->ares, q->name, ARES_CLASS_IN,
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
	ares_query(q->channel->ares, q->name, 1, part->family == 4 ? 1 : 28, on_answer, part);
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
	} else if (!(q->channel = channel_take(d))) {
		q->rc = KZ_DNS_FAILED;
	} else {
		d->current = q->channel;
		if (d->families != KZ_DNS_IPV6)
			ask(q, 4);
		if (d->families != KZ_DNS_IPV4)
			ask(q, 6);
		d->current = NULL;
		set_due(q->channel);
	}
	finish_one(q);
	return q;
}

void kz_dns_cancel(struct kz_dns_query *q)
{
	q->done = NULL;
	if (!q->channel || q->pending == 0)
		return;
	q->dns->current = q->channel;
	ares_cancel(q->channel->ares);
	q->dns->current = NULL;
}

size_t kz_dns_open(const struct kz_dns *d)
{
	return d->open;
}

/* After a burst the kept channels lie between those that ended, and would hold all of their memory. */
static void give_back(struct kz_dns *d)
{
	if (d->used || d->ended_count < ENDED)
		return;
	d->ended_count = 0;
	(void)malloc_trim(0);
}

/* Tell what is finished; a call may ask again. */
static void deliver(struct kz_dns *d)
{
	struct kz_dns_query *q;

	while ((q = d->finished)) {
		d->finished = q->next;
		d->open--;
		if (q->channel)
			channel_give(d, q->channel);
		if (q->done)
			q->done(q->arg, q->rc, q->found.addr,
				q->rc == KZ_DNS_OK ? q->found.count : 0);
		free(q);
	}
	give_back(d);
}

void kz_dns_ready(struct kz_dns *d, int fd, bool is_read, bool is_write)
{
	struct channel *c = fd >= 0 && (size_t)fd < d->fd_count ? d->by_fd[fd] : NULL;

	if (c)
		process(d, c, is_read ? fd : ARES_SOCKET_BAD, is_write ? fd : ARES_SOCKET_BAD);
	deliver(d);
}

void kz_dns_tick(struct kz_dns *d)
{
	int64_t now = d->used ? kz_time_boot_ms() : 0;

	for (struct channel *c = d->used; c; c = c->next)
		if (c->due_ms <= now)
			process(d, c, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	deliver(d);
}

int kz_dns_wait_ms(struct kz_dns *d)
{
	int64_t due = INT64_MAX, now;

	if (d->finished)
		return 0;
	for (const struct channel *c = d->used; c; c = c->next)
		if (c->due_ms < due)
			due = c->due_ms;
	if (due == INT64_MAX)
		return -1;
	now = kz_time_boot_ms();
	return due <= now ? 0 : (int)(due - now);
}

void kz_dns_free(struct kz_dns *d)
{
	struct kz_dns_query *q;
	struct channel *c;

	if (!d)
		return;
	/* what is open ends, and is finished */
	while ((c = d->used)) {
		d->used = c->next;
		channel_end(d, c);
	}
	while ((c = d->kept)) {
		d->kept = c->next;
		channel_end(d, c);
	}
	/* who still waits must not keep a question that is no more */
	while ((q = d->finished)) {
		d->finished = q->next;
		if (q->done)
			q->done(q->arg, KZ_DNS_FAILED, q->found.addr, 0);
		free(q);
	}
	if (d->model)
		ares_destroy(d->model);
	free(d->by_fd);
	free(d);
	ares_library_cleanup();
}

static enum kz_rc open_model(struct kz_dns *d, struct kz_ms timeout, struct kz_err *err)
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
	status = ares_init_options(&d->model, &o, mask);
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
	rc = open_model(d, timeout, err);
	if (rc == KZ_OK && servers && *servers &&
	    ares_set_servers_ports_csv(d->model, servers) != ARES_SUCCESS)
		rc = kz_err_set(err, KZ_E_CONFIG, "the list of DNS servers is malformed");
	if (rc != KZ_OK) {
		kz_dns_free(d);
		return rc;
	}
	*out = d;
	return KZ_OK;
}
