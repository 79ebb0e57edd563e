/*
 * What the authority costs, as ratios measured side by side against one private
 * server with its append-only file on (design budgets).  Prints JSON lines:
 *
 *   authority.cycle   p50 of acquire + begin reset + publish ÷ p50 of three no-op calls, one client
 *   authority.rate    such cycles a second with 16 clients ÷ PING a second with 16 clients
 *   authority.growth  p50 of a cycle with 10,000 workers and 100,000 past tickets ÷ with 10 workers
 *
 * usage: authority [ROUNDS]
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/proc.h"
#include "base/str.h"
#include "core/pool/authority_keeper.h"
#include "core/pool/authority_outbox.h"
#include "gen/library.h"
#include "port/seal.h"
#include "port/vk.h"

#define CLIENTS 16
#define IMAGE "sha256:bench"

static char dir[32], url[128];

static void must(enum kz_rc rc, struct kz_err *err, const char *what)
{
	if (!rc)
		return;
	fprintf(stderr, "authority: %s: %s: %s\n", what, err->reason, err->text);
	exit(kz_rc_status(rc));
}

static pid_t start_server(void)
{
	struct kz_err err = KZ_ERR_INIT;
	char socket[96];
	pid_t pid;
	int pidfd;

	snprintf(dir, sizeof(dir), "/tmp/kzb.XXXXXX");
	if (!mkdtemp(dir))
		exit(71);
	snprintf(socket, sizeof(socket), "%s/s", dir);
	snprintf(url, sizeof(url), "unix:%s", socket);
	{
		const char *const argv[] = { "valkey-server", "--port", "0", "--unixsocket",
					     socket,          "--dir",  dir, "--appendonly",
					     "yes",           "--save", "",  "--maxmemory-policy",
					     "noeviction",    NULL };
		struct kz_spawn s = { .argv = argv,
				      .stdin_fd = -1,
				      .stdout_fd = -1,
				      .stderr_fd = -1,
				      .parent_death_signal = SIGKILL };

		must(kz_proc_spawn(&s, &pid, &pidfd, &err), &err, "valkey-server");
	}
	for (int i = 0; i < 100 && access(socket, F_OK); i++)
		kz_time_sleep(KZ_MS(50), KZ_NEVER);
	return pid;
}

/* A deployment with count warm workers, admission open. */
static struct kz_auth *prepare(const char *deployment, size_t count)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_settings s = { .sandbox_warm_pool_min = (int64_t)count,
				 .sandbox_pool_target_idle = 0,
				 .sandbox_pool_max_allocated = (int64_t)count,
				 .sandbox_max_concurrent_creates = 64,
				 .sandbox_burst_idle_ttl_seconds = 3600,
				 .sandbox_acquire_wait_seconds = 30,
				 .sandbox_acquire_queue_max = 1000,
				 .sandbox_max_concurrent_per_member = 4,
				 .sandbox_lease_ttl_seconds = 900,
				 .kz_reset_timeout_seconds = 20,
				 .kz_create_timeout_seconds = 600,
				 .kz_delete_timeout_seconds = 30 };
	struct kz_auth *a;
	struct kz_task tasks[64];
	size_t n, made = 0;
	int64_t now;

	must(kz_auth_load(&a, url, deployment, kz_deadline_in(KZ_SECONDS(10)), &err), &err, "load");
	must(kz_auth_configure(a, &s, &err), &err, "configure");
	must(kz_auth_image(a, IMAGE, &err), &err, "image");
	must(kz_auth_now(a, &now, &err), &err, "now");
	must(kz_auth_inventory(a, "bench", now, NULL, 0, &err), &err, "inventory");
	must(kz_auth_open_admission(a, "bench", KZ_SECONDS(100000), &err), &err, "open");
	while (made < count) {
		must(kz_auth_step(a, "bench", tasks, 64, &n, &err), &err, "step");
		for (size_t i = 0; i < n; i++, made++)
			must(kz_auth_ready(a, tasks[i].worker, tasks[i].token, tasks[i].instance,
					   IMAGE, &err),
			     &err, "ready");
	}
	return a;
}

static void drain(struct kz_auth *a)
{
	struct kz_transition t[100];
	struct kz_err err = KZ_ERR_INIT;
	bool starts;
	size_t n;

	for (;;) {
		must(kz_auth_outbox(a, "bench", t, 100, &n, &starts, &err), &err, "outbox");
		if (!n)
			return;
		must(kz_auth_outbox_ack(a, "bench", t[n - 1].store, t[n - 1].seq, &err), &err,
		     "ack");
	}
}

static void cycle(struct kz_auth *a, const char *actor)
{
	struct kz_err err = KZ_ERR_INIT;
	char conversation[KZ_ID_HEX];
	struct kz_lease l;
	struct kz_lease_ask ask = { .actor = actor,
				    .conversation = conversation,
				    .holder = "",
				    .wait = KZ_SECONDS(30),
				    .ttl = KZ_SECONDS(60),
				    .cancel_fd = -1 };

	kz_random_id(conversation);
	must(kz_auth_acquire(a, &ask, &l, &err), &err, "acquire");
	must(kz_auth_reset_begin(a, &l, KZ_SECONDS(20), "", &err), &err, "reset_begin");
	must(kz_auth_publish(a, &l, &err), &err, "publish");
}

static void three_noops(struct kz_vk *v)
{
	struct kz_err err = KZ_ERR_INIT;

	for (int i = 0; i < 3; i++)
		must(kz_vk_call(v,
				(struct kz_vk_arg[]){ kz_vk_text("FCALL"),
						      kz_vk_text("kz_" KZ_LIBRARY_DIGEST "_noop"),
						      kz_vk_text("1"), kz_vk_text("{kz:bench}") },
				4, kz_deadline_in(KZ_SECONDS(5)), NULL, &err),
		     &err, "noop");
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static double p50(int64_t *us, size_t n)
{
	qsort(us, n, sizeof(*us), by_size);
	return (double)us[n / 2];
}

/* Cycles and no-ops in turn, so that both meet the same machine. */
static void bench_cycle(size_t rounds)
{
	struct kz_err err = KZ_ERR_INIT;
	kz_auto_auth struct kz_auth *a = prepare("cycle", 10);
	kz_auto_vk struct kz_vk *v = NULL;
	kz_auto_free int64_t *ours = calloc(rounds, sizeof(*ours));
	kz_auto_free int64_t *floor_us = calloc(rounds, sizeof(*floor_us));
	double x, y;

	must(kz_vk_open(&v, url, kz_deadline_in(KZ_SECONDS(5)), &err), &err, "connect");
	for (size_t i = 0; i < rounds; i++) {
		int64_t t0 = kz_time_boot_us(), t1, t2;

		cycle(a, "actor");
		t1 = kz_time_boot_us();
		three_noops(v);
		t2 = kz_time_boot_us();
		ours[i] = t1 - t0;
		floor_us[i] = t2 - t1;
		if (i % 2000 == 1999)
			drain(a);
	}
	x = p50(ours, rounds);
	y = p50(floor_us, rounds);
	printf("{\"v\":1,\"type\":\"bench\",\"row\":\"authority.cycle\",\"p50_us\":%.0f,\"noop3_p50_us\":%.0f,\"ratio\":%.2f,\"goal\":1.7}\n",
	       x, y, x / y);
}

/* Run fn in CLIENTS processes for a while; how often a second it came through. */
static double rate(void (*fn)(int))
{
	int64_t total = 0;
	int64_t ms = 700; /* the outbox holds 100,000 transitions, five a cycle */

	for (int c = 0; c < CLIENTS; c++) {
		int p[2];

		if (pipe(p))
			exit(71);
		if (fork() == 0) {
			int64_t n = 0, end = kz_time_boot_ms() + ms;

			close(p[0]);
			fn(-1 - c);
			while (kz_time_boot_ms() < end) {
				fn(c);
				n++;
			}
			_exit(write(p[1], &n, sizeof(n)) == sizeof(n) ? 0 : 1);
		}
		close(p[1]);
		/* The read end is kept at a known place until all run. */
		if (dup2(p[0], 100 + c) < 0)
			exit(71);
		close(p[0]);
	}
	for (int c = 0; c < CLIENTS; c++) {
		int64_t n = 0;

		if (read(100 + c, &n, sizeof(n)) != sizeof(n))
			exit(70);
		close(100 + c);
		total += n;
		wait(NULL);
	}
	return (double)total * 1000 / (double)ms;
}

static void one_ping(int c)
{
	static struct kz_vk *v;
	struct kz_err err = KZ_ERR_INIT;

	if (c < 0)
		must(kz_vk_open(&v, url, kz_deadline_in(KZ_SECONDS(5)), &err), &err, "connect");
	else
		must(kz_vk_call(v, (struct kz_vk_arg[]){ kz_vk_text("PING") }, 1,
				kz_deadline_in(KZ_SECONDS(5)), NULL, &err),
		     &err, "ping");
}

static void one_cycle(int c)
{
	static struct kz_auth *a;
	static char actor[KZ_ID_HEX];
	struct kz_err err = KZ_ERR_INIT;

	if (c < 0) {
		kz_random_id(actor);
		must(kz_auth_open(&a, url, "rate", kz_deadline_in(KZ_SECONDS(5)), &err), &err,
		     "open");
	} else {
		cycle(a, actor);
	}
}

/* Time in the server for each call, from its own statistics. */
static void print_usec(void)
{
	struct kz_err err = KZ_ERR_INIT;
	kz_auto_vk struct kz_vk *v = NULL;
	kz_auto_vk_reply struct kz_vk_reply *r = NULL;
	const char *at;
	double usec = 0;

	must(kz_vk_open(&v, url, kz_deadline_in(KZ_SECONDS(5)), &err), &err, "connect");
	must(kz_vk_call(v, (struct kz_vk_arg[]){ kz_vk_text("INFO"), kz_vk_text("commandstats") },
			2, kz_deadline_in(KZ_SECONDS(5)), &r, &err),
	     &err, "info");
	at = strstr(kz_vk_str(r), "cmdstat_fcall:");
	at = at ? strstr(at, "usec_per_call=") : NULL;
	if (at)
		usec = strtod(at + strlen("usec_per_call="), NULL);
	printf("{\"v\":1,\"type\":\"bench\",\"row\":\"authority.usec\",\"value\":%.2f,\"unit\":\"us\"}\n",
	       usec);
}

static void bench_rate(void)
{
	kz_auto_auth struct kz_auth *a = prepare("rate", 40);
	kz_auto_vk struct kz_vk *v = NULL;
	struct kz_err err = KZ_ERR_INIT;
	double pings, cycles;

	pings = rate(one_ping);
	must(kz_vk_open(&v, url, kz_deadline_in(KZ_SECONDS(5)), &err), &err, "connect");
	must(kz_vk_call(v, (struct kz_vk_arg[]){ kz_vk_text("CONFIG"), kz_vk_text("RESETSTAT") }, 2,
			kz_deadline_in(KZ_SECONDS(5)), NULL, &err),
	     &err, "resetstat");
	cycles = rate(one_cycle);
	printf("{\"v\":1,\"type\":\"bench\",\"row\":\"authority.rate\",\"clients\":%d,\"cycles_per_s\":%.0f,\"ping_per_s\":%.0f,\"ratio\":%.3f,\"goal\":0.12,\"better\":\"more\"}\n",
	       CLIENTS, cycles, pings, cycles / pings);
	print_usec();
	drain(a);
}

/* A past ticket: asked, waited, gone. Workers are all leased out to nobody: the ask is refused a place and leaves. */
static void make_past_tickets(const char *deployment, size_t count)
{
	struct kz_err err = KZ_ERR_INIT;
	kz_auto_vk struct kz_vk *v = NULL;
	char tag[64], id[24];

	snprintf(tag, sizeof(tag), "{kz:%s}", deployment);
	must(kz_vk_open(&v, url, kz_deadline_in(KZ_SECONDS(5)), &err), &err, "connect");
	for (size_t i = 0; i < count; i++) {
		const struct kz_vk_arg leave[] = {
			kz_vk_text("FCALL"),       kz_vk_text("kz_" KZ_LIBRARY_DIGEST "_leave"),
			kz_vk_text("1"),           kz_vk_text(tag),
			kz_vk_num(id, (int64_t)i), kz_vk_text("t"),
			kz_vk_text("past"),        kz_vk_text("-")
		};
		const struct kz_vk_arg ask[] = { kz_vk_text("FCALL"),
						 kz_vk_text("kz_" KZ_LIBRARY_DIGEST "_acquire"),
						 kz_vk_text("1"),
						 kz_vk_text(tag),
						 leave[4],
						 kz_vk_text("t"),
						 kz_vk_text("past"),
						 kz_vk_text("busy"),
						 kz_vk_text(""),
						 kz_vk_text("30000"),
						 kz_vk_text("1000"),
						 kz_vk_text("1") };

		must(kz_vk_call(v, ask, 12, kz_deadline_in(KZ_SECONDS(5)), NULL, &err), &err,
		     "ask");
		must(kz_vk_call(v, leave, 8, kz_deadline_in(KZ_SECONDS(5)), NULL, &err), &err,
		     "leave");
	}
}

static void bench_growth(size_t rounds, size_t workers, size_t tickets)
{
	struct kz_err err = KZ_ERR_INIT;
	kz_auto_auth struct kz_auth *few = prepare("few", 10);
	kz_auto_auth struct kz_auth *many = prepare("many", workers);
	kz_auto_free int64_t *x = calloc(rounds, sizeof(*x));
	kz_auto_free int64_t *y = calloc(rounds, sizeof(*y));
	struct kz_lease busy;
	struct kz_lease_ask ask = { .actor = "past",
				    .conversation = "busy",
				    .holder = "",
				    .wait = KZ_MS(0),
				    .ttl = KZ_SECONDS(900),
				    .cancel_fd = -1 };
	double a, b;

	must(kz_auth_acquire(many, &ask, &busy, &err), &err, "acquire");
	make_past_tickets("many", tickets / 2);
	drain(many);
	make_past_tickets("many", tickets - tickets / 2);
	drain(many);
	for (size_t i = 0; i < rounds; i++) {
		int64_t t0 = kz_time_boot_us(), t1;

		cycle(few, "actor");
		t1 = kz_time_boot_us();
		cycle(many, "actor");
		x[i] = t1 - t0;
		y[i] = kz_time_boot_us() - t1;
	}
	a = p50(x, rounds);
	b = p50(y, rounds);
	printf("{\"v\":1,\"type\":\"bench\",\"row\":\"authority.growth\",\"workers\":%zu,\"past_tickets\":%zu,\"p50_us\":%.0f,\"small_p50_us\":%.0f,\"ratio\":%.2f,\"goal\":1.5}\n",
	       workers, tickets, b, a, b / a);
}

int main(int argc, char **argv)
{
	struct kz_err err = KZ_ERR_INIT;
	int64_t rounds = 5000;
	pid_t server;

	signal(SIGPIPE, SIG_IGN);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 2 || (argc == 2 && kz_str_int(argv[1], 100, 1000000, &rounds, &err))) {
		fprintf(stderr, "usage: authority [ROUNDS]\n");
		return 64;
	}
	must(kz_seal_init(&err), &err, "random numbers");
	server = start_server();
	bench_cycle((size_t)rounds);
	bench_rate();
	bench_growth((size_t)rounds, 10000, 100000);
	kill(server, SIGTERM);
	waitpid(server, NULL, 0);
	must(kz_tree_remove(AT_FDCWD, dir, &err), &err, dir);
	return 0;
}
