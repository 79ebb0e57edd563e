/*
 * wk: the worker client as a program, for tests.  One connection, several calls
 * separated by "+":
 *   wk STATE WORKER INSTANCE bind L 1 60000 + exec L 5000 1048576 /bin/true + reset L t
 * Answers and records go to descriptor 3 as JSON lines (to 1 when 3 is not open),
 * the program's output to 1 and 2.  Failures: one line "CODE: text" on 2, status 1.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/conf/keys.h"
#include "core/worker/client.h"
#include "core/worker/tree.h"
#include "port/json.h"
#include "port/seal.h"

#define ENV_MOST 64

struct call {
	struct kz_wk *w;
	int argc;
	char **argv;
	struct kz_err err;
	int report;
	char secret[65];
};

static struct kz_deadline soon(void)
{
	return kz_deadline_in(KZ_SECONDS(120));
}

static const char *arg(const struct call *c, int i)
{
	return i < c->argc ? c->argv[i] : "";
}

static int64_t number(const struct call *c, int i)
{
	int64_t n = 0;

	(void)kz_str_int(arg(c, i), INT64_MIN, INT64_MAX, &n, NULL);
	return n;
}

static enum kz_rc print(struct call *c, enum kz_rc rc, struct kz_json *j)
{
	kz_auto_json struct kz_json *own = j;
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(1 << 20);

	if (rc == KZ_OK && own && kz_json_write(own, &b, &c->err) == KZ_OK &&
	    kz_buf_puts(&b, "\n", NULL) == KZ_OK)
		rc = kz_fd_write_all(c->report, b.data, b.len, &c->err);
	return rc;
}

static enum kz_rc to_stdout(void *unused, const void *p, size_t n, struct kz_err *err)
{
	(void)unused;
	return kz_fd_write_all(1, p, n, err);
}

static int output(void *unused, int stream, const void *p, size_t n)
{
	(void)unused;
	return kz_fd_write_all(stream, p, n, NULL) != KZ_OK;
}

static enum kz_rc do_exec(struct call *c)
{
	extern char **environ;
	const struct kz_wk_events ev = { .out = output,
					 .stdin_fd = getenv("WK_STDIN") ? 0 : -1,
					 .cancel_fd = getenv("WK_CANCEL") ? 0 : -1 };
	const char *env[ENV_MOST] = { NULL };
	struct kz_wk_exec x = { .lease = arg(c, 1),
				.argv = (const char *const *)c->argv + 4,
				.envp = env,
				.wall = KZ_MS(number(c, 2)),
				.output_bytes = number(c, 3),
				.open_files = 256,
				.stdin_open = ev.stdin_fd >= 0,
				.execution = getenv("WK_EXECUTION"),
				/* "install": as exec, and the packages may be written */
				.gateway = kz_str_eq(arg(c, 0), "install") ?
						   "fedcba9876543210fedcba9876543210" :
						   getenv("WK_GATEWAY") };
	kz_auto_json struct kz_json *shared = NULL;
	struct kz_json *record = NULL;
	int n = 0;
	enum kz_rc rc;

	for (char **e = environ; *e && n < ENV_MOST - 1; e++)
		if (kz_str_has_prefix(*e, "WKENV_"))
			env[n++] = *e + 6;
	if (getenv("WK_SHARED") &&
	    kz_json_parse(getenv("WK_SHARED"), strlen(getenv("WK_SHARED")), &shared, &c->err))
		return KZ_E_DATA;
	x.shared = shared;
	rc = kz_wk_run(c->w, &x, &ev, kz_deadline_in(KZ_SECONDS(600)), &record, &c->err);
	return print(c, rc, record);
}

static enum kz_rc do_put(struct call *c)
{
	kz_auto_close int fd = open(arg(c, 4), O_RDONLY | O_CLOEXEC);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);

	if (size < 0)
		return kz_err_sys(&c->err, KZ_E_NOINPUT, "cannot open the file");
	return kz_wk_put(c->w, arg(c, 1),
			 kz_str_eq(arg(c, 2), "code")   ? KZ_WK_CODE :
			 kz_str_eq(arg(c, 2), "shared") ? KZ_WK_SHARED :
							  KZ_WK_SPACE,
			 arg(c, 3), fd, size, 0644, soon(), NULL, &c->err);
}

/* tree-put LEASE LABEL FILE [PIECE]: "cut" for PIECE sends no end */
static enum kz_wk_tree tree(void)
{
	return getenv("WK_PACKAGES") ? KZ_WK_TREE_PACKAGES : KZ_WK_TREE_SPACE;
}

static enum kz_rc do_tree_put(struct call *c)
{
	kz_auto_close int fd = open(arg(c, 3), O_RDONLY | O_CLOEXEC);
	bool is_cut = kz_str_eq(arg(c, 4), "cut");
	char piece[65536];
	size_t most = !is_cut && number(c, 4) > 0 ? (size_t)number(c, 4) : sizeof piece;
	enum kz_rc rc =
		fd < 0 ? kz_err_sys(&c->err, KZ_E_NOINPUT, "cannot open the stream") :
			 kz_wk_tree_put_begin(c->w, arg(c, 1), tree(), arg(c, 2), soon(), &c->err);
	ssize_t n;

	while (rc == KZ_OK && (n = read(fd, piece, most)) > 0)
		rc = kz_wk_tree_put_add(c->w, piece, (size_t)n, soon(), &c->err);
	return rc == KZ_OK && !is_cut ? kz_wk_tree_put_end(c->w, soon(), &c->err) : rc;
}

static enum kz_rc do_call(struct call *c)
{
	const char *verb = arg(c, 0);
	struct kz_json *j = NULL;
	int64_t size = 0;
	enum kz_rc rc;

	if (kz_str_eq(verb, "health")) {
		rc = kz_wk_health(c->w, soon(), &j, &c->err);
		return print(c, rc, j);
	}
	if (kz_str_eq(verb, "secret")) { /* for a test that speaks the protocol itself */
		j = kz_json_object();
		kz_json_set_str(j, "secret", c->secret);
		return print(c, KZ_OK, j);
	}
	if (kz_str_eq(verb, "bind"))
		return kz_wk_bind(c->w, arg(c, 1), number(c, 2), KZ_MS(number(c, 3)), soon(), NULL,
				  &c->err);
	if (kz_str_eq(verb, "extend"))
		return kz_wk_extend(c->w, arg(c, 1), number(c, 2), KZ_MS(number(c, 3)), soon(),
				    &c->err);
	if (kz_str_eq(verb, "shared"))
		return kz_wk_shared_begin(c->w, arg(c, 1), arg(c, 2), arg(c, 3), false, soon(),
					  &c->err);
	if (kz_str_eq(verb, "put"))
		return do_put(c);
	if (kz_str_eq(verb, "get"))
		return kz_wk_get(c->w, arg(c, 1), arg(c, 2), number(c, 3), to_stdout, NULL, &size,
				 soon(), &c->err);
	if (kz_str_eq(verb, "tree-get"))
		return kz_wk_tree_get(c->w, arg(c, 1), tree(), number(c, 2), number(c, 3),
				      to_stdout, NULL, soon(), &c->err);
	if (kz_str_eq(verb, "tree-put"))
		return do_tree_put(c);
	if (kz_str_eq(verb, "label"))
		return kz_wk_label(c->w, arg(c, 1), arg(c, 2), soon(), &c->err);
	if (kz_str_eq(verb, "exec") || kz_str_eq(verb, "install"))
		return do_exec(c);
	if (kz_str_eq(verb, "reset")) {
		rc = kz_wk_reset(c->w, arg(c, 1), arg(c, 2), soon(), &j, &c->err);
		return print(c, rc, j);
	}
	if (kz_str_eq(verb, "sleep")) {
		kz_time_sleep(KZ_MS(number(c, 1)), KZ_NEVER);
		return KZ_OK;
	}
	return kz_err_set(&c->err, KZ_E_USAGE, "no such call: %s", verb);
}

static enum kz_rc connect_to(const char *state, const char *worker, const char *instance,
			     struct kz_wk **w, char secret[65], struct kz_err *err)
{
	struct kz_secret key = { 0 };
	char path[512];
	enum kz_rc rc = kz_seal_init(err);

	if (rc == KZ_OK)
		rc = kz_keys_read(state, KZ_KEY_WORKER, &key, err);
	if (rc != KZ_OK)
		return rc;
	kz_worker_secret(&key, worker, instance, secret);
	if (getenv("WK_SECRET"))
		(void)kz_str_copy(secret, 65, getenv("WK_SECRET"), NULL);
	kz_secret_release(&key);
	rc = kz_str_format(path, sizeof path, err, "%s/workers/%s/ctl/control.sock", state, worker);
	return rc == KZ_OK ? kz_wk_open(w, path, secret, soon(), err) : rc;
}

int main(int argc, char **argv)
{
	struct call c = { .err = KZ_ERR_INIT, .report = fcntl(3, F_GETFD) < 0 ? 1 : 3 };
	enum kz_rc rc;
	int i = 4;

	if (argc < 5)
		return 64;
	signal(SIGPIPE, SIG_IGN);
	rc = connect_to(argv[1], argv[2], argv[3], &c.w, c.secret, &c.err);
	while (rc == KZ_OK && i < argc) {
		c.argv = argv + i;
		for (c.argc = 0; i < argc && !kz_str_eq(argv[i], "+"); i++)
			c.argc++;
		if (i < argc)
			argv[i++] = NULL;
		rc = do_call(&c);
	}
	kz_wk_close(c.w);
	if (rc != KZ_OK)
		fprintf(stderr, "%s: %s\n", c.err.reason[0] ? c.err.reason : kz_rc_name(rc),
			c.err.text);
	return rc != KZ_OK;
}
