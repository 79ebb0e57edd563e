/* What a user has of ids and tools: /etc/subuid, /etc/subgid, newuidmap. */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "core/driver/oci_part.h"
#include "core/driver/oci_rootless.h"
#include "rule/reason.h"

#define RANGES_MAX (4 << 20)
#define LAST_ID 4294967294ULL
#define FIRST_GIVEN 100000 /* where useradd begins, and how many it gives */
#define GIVEN 65536

/* Name and number of the caller, either of which may stand in the files. */
static void who(char name[64], char number[24])
{
	struct passwd pw, *found = NULL;
	char room[4096];

	snprintf(number, 24, "%lu", (unsigned long)geteuid());
	if (getpwuid_r(geteuid(), &pw, room, sizeof room, &found) != 0 || !found ||
	    kz_str_copy(name, 64, pw.pw_name, NULL))
		snprintf(name, 64, "%s", number);
}

/* Does the line "OWNER:FIRST:COUNT" belong to the caller, and make sense? */
static bool line_parse(char *line, const char *name, const char *number, uint64_t *first,
		       uint64_t *count)
{
	char *at = strchr(line, ':');
	char *next = at ? strchr(at + 1, ':') : NULL;
	int64_t a;
	int64_t n;

	if (!next)
		return false;
	*at = *next = '\0';
	if (!kz_str_eq(line, name) && !kz_str_eq(line, number))
		return false;
	if (kz_str_int(at + 1, 1, (int64_t)LAST_ID, &a, NULL) ||
	    kz_str_int(next + 1, 1, (int64_t)LAST_ID, &n, NULL))
		return false;
	*first = (uint64_t)a;
	*count = (uint64_t)n;
	return *first + *count - 1 <= LAST_ID;
}

/* The n-th block of the caller's ranges in one file. out: done: there are not so many */
static enum kz_rc block_of(const char *file, size_t n, uint32_t *out, bool *done,
			   struct kz_err *err)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(RANGES_MAX);
	char name[64];
	char number[24];
	char *save = NULL;
	uint64_t first;
	uint64_t count;

	*done = true;
	if (access(file, F_OK) != 0)
		return KZ_OK;
	if (kz_file_read(AT_FDCWD, file, &text, err))
		return kz_err_reason(err, kz_reason_code(KZ_R_USERNS_UNAVAILABLE));
	who(name, number);
	for (char *line = text.len ? strtok_r(text.data, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (!line_parse(line, name, number, &first, &count))
			continue;
		if (n < count / KZ_OCI_UIDS) {
			*out = (uint32_t)(first + n * KZ_OCI_UIDS);
			*done = false;
			return KZ_OK;
		}
		n -= count / KZ_OCI_UIDS;
	}
	return KZ_OK;
}

enum kz_rc kz_rootless_block(size_t n, uint32_t *uid, uint32_t *gid, bool *done, struct kz_err *err)
{
	enum kz_rc rc = block_of("/etc/subuid", n, uid, done, err);

	return rc || *done ? rc : block_of("/etc/subgid", n, gid, done, err);
}

size_t kz_rootless_blocks(void)
{
	uint32_t uid;
	uint32_t gid;
	bool done = false;
	size_t least = 0;
	size_t above = LAST_ID / KZ_OCI_UIDS + 1;

	/* Between a block that is there and one that is not. */
	while (least < above) {
		size_t n = least + (above - least) / 2;

		if (kz_rootless_block(n, &uid, &gid, &done, NULL) || done)
			above = n;
		else
			least = n + 1;
	}
	return least;
}

enum kz_rc kz_rootless_claims(char *out, size_t size, struct kz_err *err)
{
	static const char *const parts[] = { ".local", ".local/state", ".local/state/kz-ids" };
	struct passwd pw, *found = NULL;
	char room[4096];

	if (getpwuid_r(geteuid(), &pw, room, sizeof room, &found) != 0 || !found)
		return kz_refuse(err, KZ_R_USERNS_UNAVAILABLE, "user %lu has no home directory",
				 (unsigned long)geteuid());
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		if (kz_str_format(out, size, err, "%s/%s", pw.pw_dir, parts[i]))
			return err ? err->rc : KZ_E_DATA;
		if (mkdir(out, 0700) != 0 && errno != EEXIST) {
			kz_err_sys(err, KZ_E_CANTCREAT, "cannot keep claims of ids in %s", out);
			return kz_err_reason(err, kz_reason_code(KZ_R_USERNS_UNAVAILABLE));
		}
	}
	return KZ_OK;
}

/* errno of making a user namespace, 0 when it can be made */
static int try_namespace(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 ? 0 : errno);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

static bool is_installed(const char *name)
{
	char path[64];

	return !kz_str_format(path, sizeof path, NULL, "/usr/bin/%s", name) &&
	       access(path, X_OK) == 0;
}

/* A switch of some distributions, off (0) or not there. */
static bool is_apparmor_strict(void)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(64);

	return !kz_file_read(AT_FDCWD, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", &b,
			     NULL) &&
	       b.len && b.data[0] == '1';
}

/* The first id behind everything that was given to anybody: two users must not share any. */
static uint64_t first_free(const char *file)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(RANGES_MAX);
	uint64_t free_from = FIRST_GIVEN;
	unsigned long long first;
	unsigned long long count;

	if (kz_file_read(AT_FDCWD, file, &text, NULL))
		return free_from;
	for (const char *p = kz_buf_str(&text); p && *p;
	     p = strchr(p, '\n'), p = p ? p + 1 : NULL) {
		const char *colon = strchr(p, ':');

		if (colon && sscanf(colon, ":%llu:%llu", &first, &count) == 2 &&
		    first + count > free_from && first + count + GIVEN <= LAST_ID)
			free_from = first + count;
	}
	return free_from;
}

static void look_at_ids(struct kz_rootless_find **f, const char *file, const char *option)
{
	char name[64];
	char number[24];
	uint32_t first;
	bool done = true;

	if (!block_of(file, 0, &first, &done, NULL) && !done)
		return;
	who(name, number);
	snprintf((*f)->text, sizeof(*f)->text, "user %s has no range of %d or more ids in %s", name,
		 KZ_OCI_UIDS, file);
	snprintf((*f)->fix, sizeof(*f)->fix, "sudo usermod --%s %llu-%llu %s", option,
		 (unsigned long long)first_free(file),
		 (unsigned long long)first_free(file) + GIVEN - 1, name);
	(*f)++;
}

size_t kz_rootless_look(struct kz_rootless_find *finds)
{
	struct kz_rootless_find *f = finds;
	int why = try_namespace();

	if (why) {
		snprintf(f->text, sizeof f->text, "a user cannot make a user namespace here: %s",
			 strerror(why));
		snprintf(f->fix, sizeof f->fix, "sudo sysctl -w %s",
			 why != EPERM && why != EACCES ? "user.max_user_namespaces=15000" :
			 is_apparmor_strict() ? "kernel.apparmor_restrict_unprivileged_userns=0" :
						"kernel.unprivileged_userns_clone=1");
		f++;
	}
	if (!is_installed("newuidmap") || !is_installed("newgidmap")) {
		snprintf(f->text, sizeof f->text, "newuidmap and newgidmap are not installed");
		snprintf(f->fix, sizeof f->fix, "sudo apt-get install uidmap");
		f++;
	}
	look_at_ids(&f, "/etc/subuid", "add-subuids");
	look_at_ids(&f, "/etc/subgid", "add-subgids");
	return (size_t)(f - finds);
}

enum kz_rc kz_rootless_check(struct kz_err *err)
{
	struct kz_rootless_find finds[KZ_ROOTLESS_FINDS] = { 0 };

	if (kz_rootless_look(finds) == 0)
		return KZ_OK;
	return kz_refuse(err, KZ_R_USERNS_UNAVAILABLE, "%s; try: %s", finds[0].text, finds[0].fix);
}
