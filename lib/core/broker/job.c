/* Jobs: their order, their end, and what is told of it. */
#include "core/broker/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"

/* An index is held in memory until it is read, so there are fewer of them. */
static const unsigned most[2] = { [KZ_BRK_INDEX] = 12, [KZ_BRK_FILE] = 48 };

#define SLOW_MS 5000 /* a reader that is behind for so long makes room for others */
#define LOOK_MS 500
#define TOLD_MOST 100 /* lines in the log of one execution */
#define UNREACHABLE "X-Kaizen-Package-Registry: unreachable\r\n"
#define CHALLENGE "WWW-Authenticate: Basic realm=\"kz packages\"\r\n"

int kz_job_status(enum kz_reason why, const char **fields)
{
	static const struct {
		enum kz_reason why;
		int status;
	} known[] = {
		{ KZ_R_PACKAGE_TOKEN, 401 },       { KZ_R_PACKAGE_NAME, 400 },
		{ KZ_R_PACKAGE_UNKNOWN, 404 },     { KZ_R_PACKAGE_UNAPPROVED, 403 },
		{ KZ_R_PACKAGE_HOST_DENIED, 403 }, { KZ_R_INDEX_TOO_LARGE, 413 },
		{ KZ_R_PACKAGE_TOO_LARGE, 413 },   { KZ_R_REGISTRY_UNSET, 403 },
		{ KZ_R_REGISTRY_INVALID, 403 },    { KZ_R_REGISTRY_UNREACHABLE, 503 },
		{ KZ_R_REGISTRY_REFUSED, 502 },    { KZ_R_REGISTRY_ANSWER, 502 },
		{ KZ_R_PACKAGE_DIGEST, 502 },
	};

	*fields = why == KZ_R_PACKAGE_TOKEN        ? CHALLENGE :
		  why == KZ_R_REGISTRY_UNREACHABLE ? UNREACHABLE :
						     NULL;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (known[i].why == why)
			return known[i].status;
	return 500;
}

void kz_job_tell(struct kz_broker *b, unsigned *told, enum kz_reason why, const char *run,
		 const char *registry, const char *host, const char *package)
{
	char label[80];

	(void)kz_str_format(label, sizeof label, NULL, "reason=\"%s\"", kz_reason_code(why));
	++*kz_count(kz_gw_counts(b->gw), "kz_broker_refusals_total", label,
		    "requests for packages that were refused");
	/* What a run asks for is its own: it does not fill the log. */
	if (++*told > TOLD_MOST)
		return;
	kz_log(KZ_LOG_WARNING, "package refused", "reason", kz_reason_code(why), "run", run,
	       "registry", registry, "host", host, "package", package, NULL);
}

static void drained(struct kz_gw_request *r)
{
	struct kz_job *j = r->arg;

	if (j->class == KZ_BRK_INDEX)
		kz_job_index_drained(j);
	else
		kz_job_file_drained(j);
}

static void gone(struct kz_gw_request *r)
{
	struct kz_job *j = r->arg;

	j->r = NULL;
	kz_job_free(j);
}

struct kz_deadline kz_job_until(const struct kz_pkg_claims *claims)
{
	return kz_deadline_in(KZ_MS(claims->expires_s * 1000 - kz_time_wall_ms()));
}

void kz_job_new(struct kz_broker *b, struct kz_gw_request *r, const struct kz_pkg_path *path,
		const struct kz_pkg_claims *claims, const char *base)
{
	struct kz_job *j = calloc(1, sizeof *j), **at = &b->first;

	if (j)
		j->run = kz_brk_book_run(b->book, claims->execution, kz_job_until(claims));
	if (!j || !j->run) {
		free(j);
		kz_gw_refuse(r, 503, KZ_R_SYSTEM_FAILED, NULL);
		return;
	}
	kz_brk_book_fare(j->run)->jobs++;
	j->b = b;
	j->r = r;
	j->path = *path;
	j->claims = *claims;
	j->why = KZ_R_NONE;
	(void)kz_str_copy(j->base, sizeof j->base, base, NULL);
	j->class =
		path->what == KZ_PKG_AN_INDEX ||
				/* one that was written down in a lock file, and no index asked for yet */
				(path->registry == KZ_REGISTRY_NPM &&
				 !kz_brk_book_has(j->run, path->registry, path->name)) ?
			KZ_BRK_INDEX :
			KZ_BRK_FILE;
	kz_buf_init(&j->out, 1);
	kz_buf_init(&j->held, 1 << 20);
	r->arg = j;
	r->on_drained = drained;
	r->on_gone = gone;
	while (*at)
		at = &(*at)->next;
	*at = j;
	++*b->requests[path->registry];
	kz_job_kick(b);
}

void kz_job_kick(struct kz_broker *b)
{
	(void)kz_timer_at(b->next, kz_deadline_in(KZ_MS(0)), NULL);
}

/* An execution has no more places than it leaves free: one alone half of them, and many together not all. */
static bool may_run(const struct kz_job *j)
{
	unsigned own = kz_brk_book_fare(j->run)->running[j->class];

	return !j->is_running && own < most[j->class] - j->b->running[j->class];
}

/* The running job whose reader has held it up for longest. out: NULL: none does so for too long */
static struct kz_job *slowest(const struct kz_broker *b, enum kz_brk_class class)
{
	int64_t since = kz_time_boot_ms() - SLOW_MS;
	struct kz_job *found = NULL;

	for (struct kz_job *j = b->first; j; j = j->next)
		if (j->is_running && j->r && j->class == class && j->held_ms &&
		    j->held_ms <= since) {
			since = j->held_ms;
			found = j;
		}
	return found;
}

/* Where all places are taken and others wait, who does not read what it asked for loses its place [PROXY-19]. */
static void make_room(struct kz_broker *b)
{
	bool is_awaited[2] = { false, false }, is_made = false;

	for (const struct kz_job *j = b->first; j; j = j->next)
		is_awaited[j->class] |= !j->is_running && b->running[j->class] == most[j->class];
	for (int class = 0; class < 2; class ++) {
		struct kz_job *slow =
			is_awaited[class] ? slowest(b, (enum kz_brk_class) class) : NULL;

		if (slow) {
			kz_gw_cut_late(kz_take(slow->r));
			kz_job_free(slow); /* which lets others start */
			is_made = true;
		}
	}
	if (!is_made && (is_awaited[0] || is_awaited[1]))
		(void)kz_timer_at(b->next, kz_deadline_in(KZ_MS(LOOK_MS)), NULL);
}

static void run_those_that_may(struct kz_broker *b)
{
	struct kz_job *j = b->first;

	while (j) {
		if (!may_run(j)) {
			j = j->next;
			continue;
		}
		j->is_running = true;
		b->running[j->class]++;
		kz_brk_book_fare(j->run)->running[j->class]++;
		if (j->class == KZ_BRK_INDEX)
			kz_job_index(j);
		else
			kz_job_file(j);
		j = b->first; /* it may be over already, and others with it */
	}
}

void kz_job_run_all(void *broker)
{
	struct kz_broker *b = broker;

	run_those_that_may(b);
	make_room(b);
}

void kz_job_free(struct kz_job *j)
{
	struct kz_job **at = &j->b->first;
	struct kz_brk_book_fare *fare = kz_brk_book_fare(j->run);

	while (*at != j)
		at = &(*at)->next;
	*at = j->next;
	if (j->is_running) {
		j->b->running[j->class]--;
		fare->running[j->class]--;
	}
	fare->jobs--;
	kz_fetch_cancel(j->fetch);
	kz_job_index_release(j);
	kz_job_file_release(j);
	kz_job_kick(j->b);
	free(j);
}

void kz_job_fared(struct kz_job *j, enum kz_reason why, int status)
{
	struct kz_brk_book_fare *fare = kz_brk_book_fare(j->run);

	if (why == KZ_R_NONE) {
		fare->is_unreachable[j->path.registry] = false;
		fare->silent[0] = '\0';
	} else if (status == KZ_FETCH_SILENT) {
		(void)kz_str_copy(fare->silent, sizeof fare->silent, j->asked, NULL);
		fare->silent_until = kz_deadline_in(KZ_MS(KZ_COOL_MS));
	}
}

void kz_job_refuse(struct kz_job *j, enum kz_reason why)
{
	struct kz_brk_book_fare *fare = kz_brk_book_fare(j->run);
	struct kz_gw_request *r = j->r;
	const char *fields;
	int status = kz_job_status(why, &fields);

	fare->last = why;
	if (why == KZ_R_REGISTRY_UNREACHABLE)
		fare->is_unreachable[j->path.registry] = true;
	kz_job_tell(j->b, &fare->told, why, j->claims.run, kz_registry_name(j->path.registry),
		    *j->host ? j->host : NULL, j->path.name);
	j->r = NULL;
	if (r && j->is_begun)
		kz_gw_cut(r);
	else if (r)
		kz_gw_refuse(r, status, why, fields);
	kz_job_free(j);
}

void kz_job_fetch(struct kz_job *j, struct kz_fetch_ask *ask)
{
	const struct kz_brk_book_fare *fare = kz_brk_book_fare(j->run);
	struct kz_broker *b = j->b;
	enum kz_registry k = j->path.registry;

	ask->registry = &b->world.registries.of[k];
	ask->password = b->world.passwords[k];
	ask->ca = b->world.cas[k];
	ask->arg = j;
	(void)kz_str_copy(j->host, sizeof j->host, ask->url.at.host, NULL);
	(void)kz_str_copy(j->asked, sizeof j->asked, ask->url.at.host, NULL);
	if (kz_str_eq(fare->silent, j->asked) && !kz_deadline_passed(fare->silent_until)) {
		kz_job_refuse(j, KZ_R_REGISTRY_UNREACHABLE);
		return;
	}
	j->fetch = kz_fetch_start(&b->fetch, ask);
	if (!j->fetch)
		kz_job_refuse(j, KZ_R_SYSTEM_FAILED);
}
