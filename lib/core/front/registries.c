/* Asking the host's pip and npm where packages come from. */
#include "core/front/registries.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/proc.h"
#include "base/str.h"
#include "core/front/parts.h"
#include "port/json.h"

#define NAME "SANDBOX_PACKAGE_REGISTRIES"
#define PATIENCE KZ_SECONDS(10)

/*
 * pip's index with all its configuration files counted, its own default last (no verb of pip prints that);
 * and of its own default the host that keeps the files, which pip knows too.
 */
static const char pip_code[] =
	"from pip._internal.commands import create_command\n"
	"from pip._internal.models.index import PyPI\n"
	"url = create_command('install').parser.get_default_values().index_url\n"
	"print(url, PyPI.file_storage_domain if url.rstrip('/') == PyPI.simple_url.rstrip('/') else '')\n";

static void start(struct kz_asked_tool *t, const char *const *argv)
{
	kz_auto_close int write_end = -1;
	int ends[2];
	struct kz_spawn s = {
		.argv = argv, .cwd = "/", .stdin_fd = -1, .stderr_fd = -1, .new_session = true
	};

	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	write_end = s.stdout_fd = ends[1];
	t->out = ends[0];
	if (kz_proc_spawn(&s, &t->pid, &t->pidfd, NULL) == KZ_OK)
		return;
	t->pid = 0;
	close(kz_take_fd(&t->out));
}

void kz_front_registries_ask(struct kz_registries_asked *a)
{
	const char *pip[] = { "python3", "-c", pip_code, NULL };
	const char *npm[] = { "npm", "config", "get", "registry", NULL };

	start(&a->pip, pip);
	start(&a->npm, npm);
}

/* What it printed, one line. out: false when it failed */
static bool collect(struct kz_asked_tool *t, struct kz_deadline until, char line[512])
{
	kz_auto_close int pidfd = t->pidfd, out = t->out;
	ssize_t n;
	int status = 1;

	line[0] = 0;
	if (t->pid == 0)
		return false;
	if (kz_proc_wait(t->pid, pidfd, until, &status, NULL) != KZ_OK) {
		(void)kill(-t->pid, SIGKILL);
		(void)kz_proc_wait(t->pid, pidfd, kz_deadline_in(KZ_SECONDS(1)), &status, NULL);
		return false;
	}
	/* a line fits a pipe, and it has ended; a child of its own that did not is not waited for */
	if (status != 0 || kz_fd_set_nonblock(out, NULL) != KZ_OK ||
	    (n = read(out, line, 511)) <= 0)
		return false;
	line[n] = 0;
	line[strcspn(line, "\n")] = 0;
	return true;
}

/* http or https, a host, no credentials, nothing odd: what may be stored and shown. */
static bool is_good(const char *url)
{
	const char *host = kz_str_has_prefix(url, "https://") ? url + 8 :
			   kz_str_has_prefix(url, "http://")  ? url + 7 :
								NULL;

	return host && *host && *host != '/' && !kz_str_has_control(url) &&
	       !strpbrk(url, "@?# \"\\") && kz_utf8_valid(url, strlen(url));
}

static void add(struct kz_json *o, const char *name, const char *member, const char *url,
		const char *host)
{
	struct kz_json *r, *hosts;
	char whole[520];
	size_t n = strlen(url);

	if (!n || kz_str_format(whole, sizeof whole, NULL, "%s%s", url,
				url[n - 1] == '/' ? "" : "/") != KZ_OK)
		return;
	r = kz_json_object();
	kz_json_set_str(r, member, whole);
	hosts = kz_json_array();
	if (*host)
		kz_json_append(hosts, kz_json_string(host));
	kz_json_set(r, "hosts", hosts);
	kz_json_set(o, name, r);
}

enum kz_rc kz_front_registries_text(const char *index, const char *files, const char *registry,
				    struct kz_buf *b, struct kz_err *err)
{
	kz_auto_json struct kz_json *o = kz_json_object();

	add(o, "pypi", "index", is_good(index) ? index : "", files);
	add(o, "npm", "registry", is_good(registry) ? registry : "", "");
	return kz_json_write(o, b, err);
}

static const char *said(const char *url, bool is_told)
{
	return !is_told     ? "not known (the tool is missing or failed)" :
	       is_good(url) ? url :
			      "not taken (no plain address)";
}

enum kz_rc kz_front_registries_store(const struct kz_front *f, struct kz_registries_asked *a,
				     struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(2048);
	struct kz_deadline until = kz_deadline_in(PATIENCE);
	char index[512], registry[512];
	bool is_pip = collect(&a->pip, until, index), is_npm = collect(&a->npm, until, registry);
	char *files = index + strcspn(index, " ");
	enum kz_rc rc;

	if (*files)
		*files++ = 0;
	rc = kz_front_registries_text(index, files, registry, &b, err);
	if (rc || (rc = kz_conf_store(f->state, NAME, kz_buf_str(&b), err)))
		return rc;
	kz_front_say(f, "packages: Python from %s, npm from %s (" NAME ")", said(index, is_pip),
		     said(registry, is_npm));
	return KZ_OK;
}
