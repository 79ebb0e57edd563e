/*
 * Load on a CONNECT proxy, or on the same destination without one.  Prints one JSON object.
 *
 * usage: tunnel [OPTION]... (rate | bulk | idle) HOST:PORT
 *   rate  -c clients, each again and again: connect, CONNECT, one byte there and back, close
 *   bulk  -c tunnels, all open first, then bytes towards the client (-u: towards the origin)
 *   idle  -c tunnels, held while the proxy's memory is read, then one byte there and back on each
 * HOST may hold one %d, which counts from 0 below -n; without a proxy it is an IPv4 address.
 *   -p ADDRESS:PORT | unix:PATH   the proxy; direct without it
 *   -a FILE   values of Proxy-Authorization, one a line, taken in turn
 *   -x HEX    on a Unix socket: begin with the line "KZ-EXECUTION HEX"
 *   -c COUNT  clients or tunnels [32]     -n COUNT  hosts [1]
 *   -t MS     time measured [2000]        -w MS     time before it, not measured [200]
 *   -P PID    measure processor time and memory of this process and its children
 *   -e STATUS the answer that is expected [200]; with another one the tunnel ends there
 *   -f COUNT  failures that are counted and not fatal [0]
 * The origin is tests/bench/origin.c.  Exit: 0 done, 1 something failed that was not tolerated, 64 usage.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"
#include "base/time.h"
#include "client.h"
#include "tree.h"

#define AT_ONCE 32      /* connections that are being opened at one time */
#define OPEN_SECONDS 20 /* to open all tunnels, or one */

static struct client *all;
static int64_t run_ms = 2000, warm_ms = 200, pid;
static struct tree_use before, after;
static double seconds;

static void die(int status, const char *what)
{
	fprintf(stderr, "tunnel: %s\n", what);
	exit(status);
}

static void use(bool memory, struct tree_use *out)
{
	if (pid && !tree_use((pid_t)pid, memory, out))
		die(1, "the measured process is gone");
}

/* out: false when it is not ADDRESS:PORT */
static bool parse_via(const char *text)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&plan.via;
	struct sockaddr_un *un = (struct sockaddr_un *)&plan.via;
	const char *colon = strrchr(text, ':');
	char address[32];
	int64_t port;

	if (kz_str_has_prefix(text, "unix:")) {
		*un = (struct sockaddr_un){ .sun_family = AF_UNIX };
		plan.via_len = sizeof(*un);
		return !kz_str_copy(un->sun_path, sizeof(un->sun_path), text + 5, NULL);
	}
	if (!colon || kz_str_int(colon + 1, 1, 65535, &port, NULL))
		return false;
	snprintf(address, sizeof(address), "%.*s", (int)(colon - text), text);
	*in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	plan.via_len = sizeof(*in);
	return inet_pton(AF_INET, address, &in->sin_addr) == 1;
}

static bool read_credentials(const char *path)
{
	kz_auto_fclose FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	while (f && (n = getline(&line, &room, f)) > 0) {
		char **more =
			realloc(plan.credentials, (plan.credential_count + 1) * sizeof(*more));

		if (!more)
			return false;
		plan.credentials = more;
		line[n - (line[n - 1] == '\n')] = 0;
		plan.credentials[plan.credential_count++] = line;
		line = NULL;
	}
	free(line);
	return plan.credential_count > 0;
}

static void options(int argc, char **argv)
{
	int64_t n = 0;
	int o;

	while ((o = getopt(argc, argv, "p:a:x:c:n:t:w:P:e:f:u")) != -1) {
		bool bad = strchr("cntwPef", o) && kz_str_int(optarg, 0, INT32_MAX, &n, NULL);

		switch (o) {
		case 'p': bad = !parse_via(optarg); break;
		case 'a':
			if (!read_credentials(optarg))
				die(66, "no credentials there");
			break;
		case 'x': plan.execution = optarg; break;
		case 'c': plan.clients = (size_t)n; break;
		case 'n': plan.hosts = (int)n; break;
		case 't': run_ms = n; break;
		case 'w': warm_ms = n; break;
		case 'P': pid = n; break;
		case 'e': plan.expect = (int)n; break;
		case 'f': plan.tolerate = (uint64_t)n; break;
		case 'u': plan.up = true; break;
		default: bad = true;
		}
		if (bad)
			die(64,
			    "usage: tunnel [-p PROXY] [-a FILE] [-x HEX] [-c COUNT] [-n COUNT] [-t MS] [-w MS] [-P PID] [-e STATUS] [-f COUNT] [-u] (rate | bulk | idle) HOST:PORT");
	}
}

static void operands(int argc, char **argv)
{
	static const char *const modes[] = { "rate", "bulk", "idle" };
	int64_t port = 0;
	char *colon;
	int mode = -1;

	if (argc - optind != 2)
		die(64, "a mode and HOST:PORT are needed");
	for (int i = 0; i < 3; i++)
		if (kz_str_eq(argv[optind], modes[i]))
			mode = i;
	colon = strrchr(argv[optind + 1], ':');
	if (mode < 0 || !colon || kz_str_int(colon + 1, 1, 65535, &port, NULL) || !plan.clients ||
	    !plan.hosts || !run_ms)
		die(64, "rate, bulk or idle, HOST:PORT, and no count is 0");
	*colon = 0;
	plan.mode = (enum mode)mode;
	plan.host = argv[optind + 1];
	plan.port = (int)port;
}

static void begin_counting(void)
{
	use(false, &before);
	tally.opened = tally.echoed = tally.refused = tally.bytes = 0;
	tally.counting = true;
}

/* Whoever is done, or failed, begins again; whoever waits for too long failed. */
static void turn(int64_t now)
{
	for (size_t i = 0; i < plan.clients; i++) {
		if (all[i].state != S_CLOSED && now - all[i].begin_us > OPEN_SECONDS * 1000000)
			client_fail(&all[i], "no answer");
		if (all[i].state == S_CLOSED)
			client_start(&all[i]);
	}
	clients_step(10);
}

static void rate(void)
{
	int64_t begin = kz_time_boot_us(), now;

	while (kz_time_boot_us() - begin < warm_ms * 1000)
		turn(kz_time_boot_us());
	begin_counting();
	begin = kz_time_boot_us();
	for (now = begin; now - begin < run_ms * 1000; now = kz_time_boot_us())
		turn(now);
	tally.counting = false;
	seconds = (double)(now - begin) / 1e6;
	use(false, &after);
}

static size_t in_state(enum state from, enum state to)
{
	size_t n = 0;

	for (size_t i = 0; i < plan.clients; i++)
		n += all[i].state >= from && all[i].state <= to;
	return n;
}

static void open_all(void)
{
	struct kz_deadline until = kz_deadline_in(KZ_SECONDS(OPEN_SECONDS));
	size_t opening = 0;

	for (size_t next = 0; in_state(S_HELD, S_HELD) < plan.clients;) {
		if (kz_deadline_passed(until))
			die(1, "not all tunnels could be opened");
		opening = in_state(S_CONNECTING, S_ASKED);
		for (size_t looked = 0; opening < AT_ONCE && looked < plan.clients; looked++) {
			struct client *c = &all[next++ % plan.clients];

			if (c->state != S_CLOSED)
				continue;
			client_start(c);
			opening++;
		}
		clients_step(10);
	}
}

static void bulk(void)
{
	int64_t begin, now;

	open_all();
	for (size_t i = 0; i < plan.clients; i++)
		client_use(&all[i], plan.up ? 'D' : 'S');
	begin = kz_time_boot_us();
	while (kz_time_boot_us() - begin < warm_ms * 1000)
		clients_step(10);
	begin_counting();
	begin = kz_time_boot_us();
	for (now = begin; now - begin < run_ms * 1000; now = kz_time_boot_us())
		clients_step(10);
	seconds = (double)(now - begin) / 1e6;
	use(false, &after);
}

static void idle(void)
{
	struct kz_deadline until;

	use(true, &before);
	open_all();
	until = kz_deadline_in(KZ_MS(run_ms));
	while (!kz_deadline_passed(until))
		clients_step(10);
	use(true, &after);
	seconds = (double)run_ms / 1e3;
	for (size_t i = 0; i < plan.clients; i++)
		client_use(&all[i], 'E');
	until = kz_deadline_in(KZ_SECONDS(OPEN_SECONDS));
	while (in_state(S_ECHO, S_ECHO) > 0) {
		if (kz_deadline_passed(until))
			die(1, "a held tunnel does not echo");
		clients_step(10);
	}
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void say_percentiles(const char *name, uint32_t *us)
{
	size_t n = tally.samples;

	qsort(us, n, sizeof(*us), by_value);
	printf(",\"%s_us\":{\"p50\":%u,\"p90\":%u,\"p99\":%u,\"most\":%u}", name, us[n / 2],
	       us[n * 9 / 10], us[n * 99 / 100], us[n - 1]);
}

static void report(void)
{
	static const char *const modes[] = { "rate", "bulk", "idle" };
	uint64_t done = plan.expect == 200 ? tally.echoed : tally.refused;

	printf("{\"v\":1,\"type\":\"tunnel\",\"mode\":\"%s\",\"direct\":%s,\"clients\":%zu,\"seconds\":%.3f,\"failed\":%llu",
	       modes[plan.mode], plan.via_len ? "false" : "true", plan.clients, seconds,
	       (unsigned long long)tally.failed);
	if (plan.mode == MODE_RATE) {
		printf(",\"done\":%llu,\"per_second\":%.1f", (unsigned long long)done,
		       (double)done / seconds);
		if (pid && done)
			printf(",\"cpu_us_each\":%.2f",
			       (after.cpu_us - before.cpu_us) / (double)done);
		if (tally.samples) {
			say_percentiles("open", tally.open_us);
			say_percentiles("echo", tally.echo_us);
		}
	}
	if (plan.mode == MODE_BULK) {
		printf(",\"bytes\":%llu,\"gbit_per_second\":%.3f", (unsigned long long)tally.bytes,
		       (double)tally.bytes * 8 / 1e9 / seconds);
		if (pid && tally.bytes)
			printf(",\"cpu_s_each_gb\":%.4f",
			       (after.cpu_us - before.cpu_us) * 1e3 / (double)tally.bytes);
	}
	if (plan.mode == MODE_IDLE) {
		printf(",\"done\":%llu", (unsigned long long)done);
		if (pid)
			printf(",\"rss_kib\":%llu,\"held_rss_kib\":%llu,\"private_kib\":%llu,\"held_private_kib\":%llu,\"processes\":%d",
			       (unsigned long long)before.rss_kib,
			       (unsigned long long)after.rss_kib,
			       (unsigned long long)before.private_kib,
			       (unsigned long long)after.private_kib, after.processes);
	}
	puts("}");
}

int main(int argc, char **argv)
{
	struct rlimit most;

	signal(SIGPIPE, SIG_IGN);
	plan = (struct plan){ .clients = 32, .hosts = 1, .expect = 200 };
	options(argc, argv);
	operands(argc, argv);
	if (!getrlimit(RLIMIT_NOFILE, &most)) {
		most.rlim_cur = most.rlim_max;
		setrlimit(RLIMIT_NOFILE, &most);
	}
	all = calloc(plan.clients, sizeof(*all));
	if (!all)
		die(71, "no memory");
	for (size_t i = 0; i < plan.clients; i++)
		all[i].fd = -1;
	clients_init(1000000);
	if (plan.mode == MODE_RATE)
		rate();
	else if (plan.mode == MODE_BULK)
		bulk();
	else
		idle();
	report();
	return fflush(stdout) ? 74 : 0;
}
