/*
 * Drives the authority from a shell: single operations, a controller whose workers
 * are files, and clients that hold leases, for histories with kills.
 *
 *   drive setup URL DEP NODE WARM [NAME=VALUE]...  load, configure, reconcile, open, make WARM workers ready
 *   drive acquire URL DEP ACTOR CONV WAIT_MS TTL_MS [HOLDER]   -> LEASE TOKEN WORKER FENCE EXPIRES
 *   drive renew|release|publish|retire|quarantine|abandon URL DEP LEASE TOKEN   -> (release) TOKEN
 *   drive status|leases URL DEP · drive step URL DEP NODE · drive outbox URL DEP · drive ack URL DEP STORE SEQ
 *   drive inventory URL DEP NODE [WORKER:INSTANCE:FENCE:BOUND]... · drive open|close URL DEP NODE [REASON]
 *   drive absent|lost URL DEP WORKER INSTANCE · drive gone URL DEP LEASE · drive prune URL DEP
 *   drive controller URL DEP NODE DIR [NAME=VALUE]...   until DIR/stop exists
 *   drive client URL DEP DIR ACTOR COUNT HOLD_MS
 *
 * In DIR: w/WORKER is a worker, its content the instance; t/WORKER.INSTANCE is its
 * tenant, so that a second one at the same time, or ever after a kill, is seen at
 * once without asking the authority.  Exit: status of the reason, which is printed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/conf/conf.h"
#include "core/pool/authority_keeper.h"
#include "core/pool/authority_outbox.h"
#include "port/json.h"
#include "port/seal.h"
#include "drive.h"

struct kz_err err = KZ_ERR_INIT;

int failed(const char *what)
{
	printf("refused %s %s: %s\n", err.reason[0] ? err.reason : "-", what, err.text);
	return kz_rc_status(err.rc);
}

int64_t number(const char *s)
{
	int64_t n;

	if (kz_str_int(s, INT64_MIN, INT64_MAX, &n, &err))
		exit(64);
	return n;
}

struct kz_auth *connect_in(char **v, int64_t seconds)
{
	struct kz_auth *a;

	if (kz_auth_open(&a, v[2], v[3], kz_deadline_in(KZ_SECONDS(seconds)), &err))
		exit(failed("open"));
	return a;
}

struct kz_auth *connect_to(char **v)
{
	return connect_in(v, 3);
}

uint32_t chance(uint32_t of)
{
	uint32_t r;

	kz_random(&r, sizeof(r));
	return r % of;
}

/* -- single operations -- */

struct kz_settings settings_of(char **v)
{
	static const char *const defaults[] = { "SANDBOX_WARM_POOL_MIN=2",
						"SANDBOX_POOL_TARGET_IDLE=1",
						"SANDBOX_POOL_MAX_ALLOCATED=8",
						"SANDBOX_MAX_CONCURRENT_CREATES=3",
						"SANDBOX_BURST_IDLE_TTL_SECONDS=2",
						"SANDBOX_ACQUIRE_WAIT_SECONDS=30",
						"SANDBOX_ACQUIRE_QUEUE_MAX=256",
						"SANDBOX_MAX_CONCURRENT_PER_MEMBER=2",
						"SANDBOX_LEASE_TTL_SECONDS=900",
						"KZ_RESET_TIMEOUT_SECONDS=20",
						"KZ_CREATE_TIMEOUT_SECONDS=5",
						"KZ_DELETE_TIMEOUT_SECONDS=1",
						NULL };
	struct kz_settings s;
	char name[64];

	memset(&s, 0, sizeof(s));
	for (int pass = 0; pass < 2; pass++)
		for (char *const *p = pass ? v : (char *const *)(uintptr_t)defaults; *p; p++) {
			const char *eq = strchr(*p, '=');

			if (!eq ||
			    kz_str_format(name, sizeof(name), &err, "%.*s", (int)(eq - *p), *p) ||
			    kz_conf_set(&s, name, eq + 1, &err))
				exit(failed(*p));
		}
	return s;
}

struct kz_auth *load_and_configure(char **v, char **sets)
{
	struct kz_settings s = settings_of(sets);
	struct kz_auth *a;

	if (kz_auth_load(&a, v[2], v[3], kz_deadline_in(KZ_SECONDS(5)), &err) ||
	    kz_auth_configure(a, &s, &err) || kz_auth_image(a, IMAGE, &err))
		exit(failed("load"));
	return a;
}

static int do_setup(int c, char **v)
{
	struct kz_auth *a;
	struct kz_task tasks[16];
	char min[64], *sets[32] = { NULL };
	int64_t now, want;
	size_t n = 0;

	if (c < 6)
		return 64;
	want = number(v[5]);
	snprintf(min, sizeof(min), "SANDBOX_WARM_POOL_MIN=%lld", (long long)want);
	for (sets[n++] = min; n < 31 && v[5 + n]; n++)
		sets[n] = v[5 + n];
	a = load_and_configure(v, sets);
	if (kz_auth_now(a, &now, &err) || kz_auth_inventory(a, v[4], now, NULL, 0, &err) ||
	    kz_auth_open_admission(a, v[4], KZ_SECONDS(60), &err))
		return failed("open");
	for (int64_t made = 0; made < want;) {
		if (kz_auth_step(a, v[4], tasks, 16, &n, &err))
			return failed("step");
		for (size_t i = 0; i < n; i++, made++)
			if (tasks[i].kind == KZ_TASK_CREATE &&
			    kz_auth_ready(a, tasks[i].worker, tasks[i].token, tasks[i].instance,
					  IMAGE, &err))
				return failed("ready");
		if (n == 0)
			break;
	}
	return 0;
}

static int do_acquire(int c, char **v)
{
	struct kz_lease l;
	struct kz_lease_ask ask = { .holder = c > 8 ? v[8] : "", .cancel_fd = -1 };

	if (c < 8)
		return 64;
	ask.actor = v[4];
	ask.conversation = v[5];
	ask.wait = KZ_MS(number(v[6]));
	ask.ttl = KZ_MS(number(v[7]));
	if (kz_auth_acquire(connect_to(v), &ask, &l, &err))
		return failed("acquire");
	printf("%s %s %s %lld %lld\n", l.id, l.token, l.worker, (long long)l.fence,
	       (long long)l.expires_ms);
	return 0;
}

static int do_lease(int c, char **v)
{
	struct kz_lease l;
	struct kz_auth *a;
	enum kz_rc rc;

	if (c != 6)
		return 64;
	a = connect_to(v);
	memset(&l, 0, sizeof(l));
	if (kz_str_copy(l.id, sizeof(l.id), v[4], &err) ||
	    kz_str_copy(l.token, sizeof(l.token), v[5], &err))
		return failed("ids");
	if (kz_str_eq(v[1], "renew"))
		rc = kz_auth_renew(a, &l, &err);
	else if (kz_str_eq(v[1], "release"))
		rc = kz_auth_reset_begin(a, &l, KZ_SECONDS(20), "", &err);
	else if (kz_str_eq(v[1], "publish"))
		rc = kz_auth_publish(a, &l, &err);
	else if (kz_str_eq(v[1], "abandon"))
		rc = kz_auth_abandon(a, &l, "worker_refused_bind", &err);
	else
		rc = kz_auth_retire(a, &l, kz_str_eq(v[1], "quarantine"), "reset_unclean", &err);
	if (rc)
		return failed(v[1]);
	printf("%s %lld\n", l.token, (long long)l.expires_ms);
	return 0;
}

static int do_json(int c, char **v)
{
	struct kz_json *j = NULL;
	struct kz_buf b = KZ_BUF_INIT(1 << 22);
	struct kz_auth *a;

	if (c != 4)
		return 64;
	a = connect_to(v);
	if ((kz_str_eq(v[1], "status") ? kz_auth_status : kz_auth_leases)(a, &j, &err) ||
	    kz_json_write(j, &b, &err))
		return failed(v[1]);
	puts(kz_buf_str(&b));
	return 0;
}

static int do_step(int c, char **v)
{
	static const char *const kinds[] = { "create", "delete", "check" };
	struct kz_task t[32];
	size_t n;

	if (c != 5)
		return 64;
	if (kz_auth_step(connect_to(v), v[4], t, 32, &n, &err))
		return failed("step");
	for (size_t i = 0; i < n; i++)
		printf("%s %s %s %s %s\n", kinds[t[i].kind], t[i].worker,
		       t[i].instance[0] ? t[i].instance : "-", t[i].token[0] ? t[i].token : "-",
		       t[i].holder[0] ? t[i].holder : "-");
	return 0;
}

static int do_outcome(int c, char **v)
{
	struct kz_auth *a;
	enum kz_rc rc;

	if (c != 6)
		return 64;
	a = connect_to(v);
	if (kz_str_eq(v[1], "absent"))
		rc = kz_auth_absent(a, v[4], v[5], &err);
	else if (kz_str_eq(v[1], "lost"))
		rc = kz_auth_lost(a, v[4], v[5], &err);
	else if (kz_str_eq(v[1], "unknown"))
		rc = kz_auth_create_unknown(a, v[4], v[5], &err);
	else if (kz_str_eq(v[1], "failed"))
		rc = kz_auth_create_failed(a, v[4], v[5], &err);
	else
		rc = kz_auth_outbox_ack(a, "drive", v[4], number(v[5]), &err);
	return rc ? failed(v[1]) : 0;
}

static int do_ready(int c, char **v)
{
	if (c != 8)
		return 64;
	return kz_auth_ready(connect_to(v), v[4], v[5], v[6], v[7], &err) ? failed("ready") : 0;
}

static int do_gone(int c, char **v)
{
	if (c != 5)
		return 64;
	return kz_auth_holder_gone(connect_to(v), v[4], &err) ? failed("gone") : 0;
}

static int do_prune(int c, char **v)
{
	int removed;

	if (c != 4)
		return 64;
	if (kz_auth_prune(connect_to(v), &removed, &err))
		return failed("prune");
	printf("%d\n", removed);
	return 0;
}

static int do_admission(int c, char **v)
{
	struct kz_auth *a;

	if (c != (kz_str_eq(v[1], "open") ? 5 : 6))
		return 64;
	a = connect_to(v);
	if (kz_str_eq(v[1], "open") ? kz_auth_open_admission(a, v[4], KZ_SECONDS(60), &err) :
				      kz_auth_close_admission(a, v[4], v[5], &err))
		return failed(v[1]);
	return 0;
}

static int do_inventory(int c, char **v)
{
	static struct kz_seen seen[4096];
	struct kz_auth *a;
	int64_t now;
	size_t n = 0;

	if (c < 5)
		return 64;
	a = connect_to(v);
	for (char **p = v + 5; *p; p++, n++) {
		int bound = 0;
		long long fence = 0;

		if (n == 4096 || sscanf(*p, "%63[^:]:%32[^:]:%lld:%d", seen[n].worker,
					seen[n].instance, &fence, &bound) < 2)
			return 64;
		seen[n].fence = fence;
		seen[n].is_bound = bound == 1;
	}
	if (kz_auth_now(a, &now, &err) || kz_auth_inventory(a, v[4], now, seen, n, &err))
		return failed("inventory");
	return 0;
}

static void print_transition(FILE *f, const struct kz_transition *t)
{
	fprintf(f, "%s %lld %lld %s %s %s %s %s %s %s %s %s\n", t->store, (long long)t->seq,
		(long long)t->at_ms, t->machine, t->from, t->event, t->to, t->subject,
		t->worker[0] ? t->worker : "-", t->lease[0] ? t->lease : "-",
		t->actor[0] ? t->actor : "-", t->cause[0] ? t->cause : "-");
}

/* Write what is in the outbox to f, a page at a time, then acknowledge it. */
enum kz_rc drain(struct kz_auth *a, const char *node, FILE *f)
{
	struct kz_transition t[100];
	enum kz_rc rc;
	bool starts;
	size_t n;

	do {
		rc = kz_auth_outbox(a, node, t, 100, &n, &starts, &err);
		for (size_t i = 0; i < n; i++)
			print_transition(f, &t[i]);
		if (!rc && fflush(f))
			exit(74);
		if (!rc && n)
			rc = kz_auth_outbox_ack(a, node, t[n - 1].store, t[n - 1].seq, &err);
	} while (!rc && n == 100);
	return rc;
}

static int do_outbox(int c, char **v)
{
	if (c != 4)
		return 64;
	return drain(connect_to(v), "drive", stdout) ? failed("outbox") : 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int, char **);
	} verbs[] = {
		{ "setup", do_setup },         { "acquire", do_acquire },
		{ "renew", do_lease },         { "release", do_lease },
		{ "publish", do_lease },       { "retire", do_lease },
		{ "quarantine", do_lease },    { "abandon", do_lease },
		{ "status", do_json },         { "leases", do_json },
		{ "step", do_step },           { "outbox", do_outbox },
		{ "absent", do_outcome },      { "lost", do_outcome },
		{ "unknown", do_outcome },     { "failed", do_outcome },
		{ "ack", do_outcome },         { "ready", do_ready },
		{ "gone", do_gone },           { "prune", do_prune },
		{ "open", do_admission },      { "close", do_admission },
		{ "inventory", do_inventory }, { "controller", do_controller },
		{ "client", do_client },
	};

	signal(SIGPIPE, SIG_IGN);
	if (kz_seal_init(&err))
		return failed("random numbers");
	for (size_t i = 0; argc >= 4 && i < sizeof(verbs) / sizeof(*verbs); i++)
		if (kz_str_eq(argv[1], verbs[i].name))
			return verbs[i].run(argc, argv);
	fprintf(stderr, "usage: drive VERB URL DEPLOYMENT ...\n");
	return 64;
}
