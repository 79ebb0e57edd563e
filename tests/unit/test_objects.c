/* The object store in a directory: whole or not at all, order, links, room, writers at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/conf/objects_url.h"
#include "core/files/objects.h"
#include "port/seal.h"

#define SOON kz_deadline_in(KZ_SECONDS(60))

struct place {
	struct kz_conf c;
	struct kz_objects *o;
	char root[300];
};

static int place_make(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	struct kz_err err = KZ_ERR_INIT;

	if (!p)
		return -1;
	kz_settings_default(&p->c.set);
	kz_str_copy(p->c.state, sizeof(p->c.state), "/tmp/kz-unit.XXXXXX", NULL);
	if (!mkdtemp(p->c.state) || kz_objects_make(&p->c, (gid_t)-1, &err) ||
	    kz_objects_open(&p->c, &p->o, &err)) {
		print_error("%s\n", err.text);
		return -1;
	}
	kz_str_format(p->root, sizeof(p->root), NULL, "%s/objects", p->c.state);
	*state = p;
	return 0;
}

static int place_remove(void **state)
{
	struct place *p = *state;

	kz_objects_close(p->o);
	umount2(p->root, MNT_DETACH);
	if (kz_tree_remove(AT_FDCWD, p->c.state, NULL))
		return -1;
	free(p);
	return 0;
}

/* A file in memory that holds this. */
static int holds(const void *p, size_t n)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(kz_fd_write_all(fd, p, n, NULL), KZ_OK);
	return fd;
}

static enum kz_rc put(struct place *p, const char *name, const char *text, bool fresh,
		      struct kz_err *err)
{
	kz_auto_close int fd = holds(text, strlen(text));

	return kz_objects_put(p->o, name, fd, (int64_t)strlen(text), fresh, SOON, err);
}

/* The reason of a put, "" when it went well. */
static const char *put_reason(struct place *p, const char *name, const char *text, bool fresh)
{
	static struct kz_err err;

	err = (struct kz_err)KZ_ERR_INIT;
	put(p, name, text, fresh, &err);
	return err.reason;
}

static enum kz_rc get(struct place *p, const char *name, int64_t max, struct kz_buf *out,
		      struct kz_err *err)
{
	kz_auto_close int fd = memfd_create("test", MFD_CLOEXEC);
	int64_t size = -1;
	char sha256[65];
	enum kz_rc rc = kz_objects_get(p->o, name, fd, max, &size, sha256, SOON, err);
	char is[65];

	if (rc)
		return rc;
	assert_int_equal(kz_fd_read_all(fd, out, NULL), KZ_OK);
	assert_int_equal(size, out->len);
	kz_sha256_hex(out->data, out->len, is);
	assert_string_equal(sha256, is);
	return KZ_OK;
}

static const char *get_reason(struct place *p, const char *name, int64_t max)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(1 << 20);
	static struct kz_err err;

	err = (struct kz_err)KZ_ERR_INIT;
	get(p, name, max, &b, &err);
	return err.reason;
}

static void assert_holds(struct place *p, const char *name, const char *text)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(1 << 20);
	struct kz_err err = KZ_ERR_INIT;

	if (get(p, name, 1 << 20, &b, &err))
		fail_msg("%s", err.text);
	assert_string_equal(kz_buf_str(&b), text);
}

static enum kz_rc join(void *arg, const struct kz_object *x, struct kz_err *err)
{
	return kz_buf_printf(arg, err, "%s:%lld ", x->name, (long long)x->size);
}

static void assert_list(struct place *p, const char *prefix, const char *is)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(1 << 16);

	assert_int_equal(kz_objects_list(p->o, prefix, join, &b, SOON, NULL), KZ_OK);
	assert_string_equal(kz_buf_str(&b), is);
}

static int found;

static int count_file(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)path;
	(void)st;
	(void)at;
	found += kind != FTW_D;
	return 0;
}

/* How many entries there are below the root that are no directory. */
static int files_below(const struct place *p)
{
	found = 0;
	assert_int_equal(nftw(p->root, count_file, 8, FTW_PHYS), 0);
	return found;
}

static void test_put_get(void **state)
{
	struct place *p = *state;
	char path[400];
	struct stat st;

	assert_string_equal(put_reason(p, "w/k/g/1", "one", true), "");
	assert_holds(p, "w/k/g/1", "one");
	assert_string_equal(put_reason(p, "w/k/g/1", "two", true), "object_exists");
	assert_holds(p, "w/k/g/1", "one");
	assert_string_equal(put_reason(p, "w/k/g/1", "three", false), "");
	assert_holds(p, "w/k/g/1", "three");
	assert_string_equal(put_reason(p, "empty", "", true), "");
	assert_holds(p, "empty", "");
	assert_int_equal(files_below(p), 2);
	snprintf(path, sizeof(path), "%s/w/k/g/1", p->root);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0660);
	*strrchr(path, '/') = 0;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 02770);
}

static void test_get_refuses(void **state)
{
	struct place *p = *state;

	assert_string_equal(put_reason(p, "a/b", "12345", true), "");
	assert_string_equal(get_reason(p, "a/b", 5), "");
	assert_string_equal(get_reason(p, "a/b", 4), "object_too_large");
	assert_string_equal(get_reason(p, "a", 4), "object_missing");
	assert_string_equal(get_reason(p, "a/b/c", 4), "object_missing");
	assert_string_equal(get_reason(p, "b", 4), "object_missing");
	assert_string_equal(put_reason(p, "a/b/c", "x", true), "store_refused");
	assert_string_equal(put_reason(p, "a", "x", true), "object_exists");
}

static void test_names(void **state)
{
	static const char *const bad[] = { "",       "/",  "/a",   "a/",   "a//b",
					   ".",      "..", "../a", "a/..", "a/.b",
					   ".t-1",   "A",  "a b",  "a\n",  "\xc3\xa9",
					   "a/../b", "-a", "a/-b", "a\\b" };
	struct place *p = *state;
	char longest[KZ_OBJECT_NAME_MAX + 2];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_string_equal(put_reason(p, bad[i], "x", true), "internal");
		assert_string_equal(get_reason(p, bad[i], 1), "internal");
		assert_int_equal(kz_objects_remove(p->o, bad[i], SOON, NULL), KZ_E_SOFTWARE);
	}
	assert_int_equal(kz_objects_list(p->o, "a", join, NULL, SOON, NULL), KZ_E_SOFTWARE);
	assert_int_equal(kz_objects_list(p->o, "../", join, NULL, SOON, NULL), KZ_E_SOFTWARE);
	memset(longest, 'a', sizeof(longest) - 1);
	longest[KZ_OBJECT_NAME_MAX + 1] = '\0';
	assert_string_equal(put_reason(p, longest, "x", true), "internal");
	longest[KZ_OBJECT_NAME_MAX] = '\0';
	assert_string_equal(put_reason(p, longest, "x", true), "");
	assert_string_equal(put_reason(p, "_a.-9", "x", true), "");
	assert_int_equal(files_below(p), 2);
}

static void test_list_order(void **state)
{
	static const char *const names[] = { "a/b", "a-b", "a.b", "a0",      "b/x/y",
					     "b/x", "c",   "b-x", "a/b0/z/q" };
	struct place *p = *state;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(names[i], "b/x") != 0)
			assert_string_equal(put_reason(p, names[i], "xy", true), "");
	assert_list(p, "", "a-b:2 a.b:2 a/b:2 a/b0/z/q:2 a0:2 b-x:2 b/x/y:2 c:2 ");
	assert_list(p, "a/", "a/b:2 a/b0/z/q:2 ");
	assert_list(p, "a/b0/", "a/b0/z/q:2 ");
	assert_list(p, "c/", "");
	assert_list(p, "d/", "");
}

static enum kz_rc stop(void *arg, const struct kz_object *x, struct kz_err *err)
{
	(void)x;
	return ++*(int *)arg == 2 ? kz_err_set(err, KZ_E_NO, "enough") : KZ_OK;
}

static void test_list_stops(void **state)
{
	struct place *p = *state;
	int count = 0;

	for (const char *n = "abc"; *n; n++)
		assert_string_equal(put_reason(p, (char[]){ *n, 0 }, "", true), "");
	assert_int_equal(kz_objects_list(p->o, "", stop, &count, SOON, NULL), KZ_E_NO);
	assert_int_equal(count, 2);
}

static void test_remove(void **state)
{
	struct place *p = *state;
	char path[400];

	assert_string_equal(put_reason(p, "w/k/g/1", "x", true), "");
	assert_string_equal(put_reason(p, "w/k/b/1", "x", true), "");
	assert_int_equal(kz_objects_remove(p->o, "w/k/g", SOON, NULL), KZ_OK);
	assert_holds(p, "w/k/g/1", "x");
	assert_int_equal(kz_objects_remove(p->o, "w/k/g/1", SOON, NULL), KZ_OK);
	assert_int_equal(kz_objects_remove(p->o, "w/k/g/1", SOON, NULL), KZ_OK);
	assert_int_equal(kz_objects_remove(p->o, "never/there", SOON, NULL), KZ_OK);
	assert_string_equal(get_reason(p, "w/k/g/1", 1), "object_missing");
	assert_list(p, "", "w/k/b/1:1 ");
	/* a directory that is empty goes, the store itself stays */
	assert_int_equal(kz_objects_remove(p->o, "w/k/b/1", SOON, NULL), KZ_OK);
	snprintf(path, sizeof(path), "%s/w", p->root);
	assert_int_equal(access(path, F_OK), -1);
	assert_string_equal(put_reason(p, "w/k/b/1", "x", true), "");
}

/* Links of every kind are planted; the canary outside is never read, written, listed or removed. */
static void test_links(void **state)
{
	struct place *p = *state;
	char out[400], canary[420], at[400];
	kz_auto_buf struct kz_buf is = KZ_BUF_INIT(64);

	snprintf(out, sizeof(out), "%s/outside", p->c.state);
	assert_int_equal(mkdir(out, 0700), 0);
	snprintf(canary, sizeof(canary), "%s/canary", out);
	assert_int_equal(kz_file_replace(AT_FDCWD, canary, "canary", 6, 0600, (gid_t)-1, NULL), 0);
	snprintf(at, sizeof(at), "%s/dir", p->root);
	assert_int_equal(symlink(out, at), 0);
	snprintf(at, sizeof(at), "%s/rel", p->root);
	assert_int_equal(symlink("../outside", at), 0);
	snprintf(at, sizeof(at), "%s/file", p->root);
	assert_int_equal(symlink(canary, at), 0);
	snprintf(at, sizeof(at), "%s/fifo", p->root);
	assert_int_equal(mkfifo(at, 0666), 0);
	assert_string_equal(get_reason(p, "dir/canary", 99), "object_damaged");
	assert_string_equal(get_reason(p, "rel/canary", 99), "object_damaged");
	assert_string_equal(get_reason(p, "file", 99), "object_damaged");
	assert_string_equal(get_reason(p, "fifo", 99), "object_damaged");
	assert_string_equal(put_reason(p, "dir/canary", "x", false), "store_refused");
	assert_string_equal(put_reason(p, "dir/new", "x", true), "store_refused");
	assert_string_equal(put_reason(p, "rel/new/er", "x", true), "store_refused");
	assert_string_equal(put_reason(p, "file", "x", true), "object_exists");
	assert_list(p, "", "");
	assert_int_not_equal(kz_objects_list(p->o, "dir/", join, &is, SOON, NULL), KZ_OK);
	assert_int_not_equal(kz_objects_remove(p->o, "dir/canary", SOON, NULL), KZ_OK);
	/* what must not be fresh takes the place of the link, not of what it points to */
	assert_string_equal(put_reason(p, "file", "mine", false), "");
	assert_holds(p, "file", "mine");
	assert_int_equal(kz_file_read(AT_FDCWD, canary, &is, NULL), KZ_OK);
	assert_string_equal(kz_buf_str(&is), "canary");
}

static void test_short_input(void **state)
{
	struct place *p = *state;
	kz_auto_close int fd = holds("abc", 3);
	struct kz_err err = KZ_ERR_INIT;

	assert_int_equal(kz_objects_put(p->o, "a/b", fd, 4, true, SOON, &err), KZ_E_IO);
	assert_string_equal(err.reason, "io_failed");
	assert_int_equal(files_below(p), 0);
	assert_int_equal(kz_objects_put(p->o, "a/b", fd, 3, true, kz_deadline_in(KZ_MS(-1)), &err),
			 KZ_E_UNAVAILABLE);
	assert_string_equal(err.reason, "store_unavailable");
	assert_int_equal(files_below(p), 0);
}

static void test_full(void **state)
{
	struct place *p = *state;
	kz_auto_close int fd = -1;
	struct kz_err err = KZ_ERR_INIT;

	kz_objects_close(p->o);
	p->o = NULL;
	if (mount("none", p->root, "tmpfs", 0, "size=256k,mode=2770") != 0)
		skip();
	assert_int_equal(kz_objects_open(&p->c, &p->o, NULL), KZ_OK);
	assert_string_equal(put_reason(p, "w/small", "small", true), "");
	fd = holds("", 0);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	assert_int_equal(kz_objects_put(p->o, "w/large", fd, 1 << 20, true, SOON, &err),
			 KZ_E_CANTCREAT);
	assert_string_equal(err.reason, "store_full");
	assert_int_equal(files_below(p), 1);
	assert_list(p, "", "w/small:5 ");
	assert_holds(p, "w/small", "small");
	assert_int_equal(kz_objects_put(p->o, "w/fits", fd, 100000, true, SOON, &err), KZ_OK);
}

/* Writers at once, each with its own bytes: one wins, and what is there is one of them, whole. */
static void test_one_name(void **state)
{
	struct place *p = *state;
	pid_t pids[8];
	int won = 0;

	for (int round = 0; round < 20; round++) {
		char name[32];

		snprintf(name, sizeof(name), "r%d/a/b", round);
		for (int i = 0; i < 8; i++) {
			pids[i] = fork();
			assert_true(pids[i] >= 0);
			if (pids[i] == 0) {
				char text[3] = { (char)('0' + i), (char)('0' + i), 0 };

				_exit(put(p, name, text, true, NULL) == KZ_OK ? 0 : 1);
			}
		}
		for (int i = 0; i < 8; i++) {
			int status;

			assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
			won += WEXITSTATUS(status) == 0;
		}
	}
	assert_int_equal(won, 20);
	assert_int_equal(files_below(p), 20);
}

/* Putting and removing in one directory: the directory goes and comes, no put fails. */
static void test_put_while_directories_go(void **state)
{
	struct place *p = *state;
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		for (int i = 0; i < 400; i++)
			if (put(p, "w/k/x", "x", false, NULL) ||
			    kz_objects_remove(p->o, "w/k/x", SOON, NULL))
				_exit(1);
		_exit(0);
	}
	for (int i = 0; i < 400; i++) {
		struct kz_err err = KZ_ERR_INIT;

		if (put(p, "w/k/y", "y", false, &err))
			fail_msg("%s %d", err.text, i);
		if (kz_objects_remove(p->o, "w/k/y", SOON, &err))
			fail_msg("%s %d", err.text, i);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(files_below(p), 0);
}

static void make_old(const struct place *p, const char *name, bool is_dir, time_t age)
{
	time_t then = kz_time_wall_ms() / 1000 - age;
	struct timespec t[2] = { { then, 0 }, { then, 0 } };
	char path[400];

	snprintf(path, sizeof(path), "%s/%s", p->root, name);
	if (is_dir)
		assert_int_equal(mkdir(path, 0700), 0);
	else
		assert_int_equal(mknod(path, S_IFREG | 0600, 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
}

static void test_sweep(void **state)
{
	struct place *p = *state;
	int64_t count = -1;

	assert_string_equal(put_reason(p, "w/k/x", "x", true), "");
	make_old(p, "w/k/.t-old", false, 90000);
	make_old(p, "w/.t-olddir", true, 90000);
	make_old(p, "w/k/.t-young", false, 80000);
	make_old(p, "w/.other", false, 90000);
	make_old(p, "w/old", false, 90000);
	assert_list(p, "", "w/k/x:1 w/old:0 ");
	assert_int_equal(kz_objects_sweep(p->o, &count, SOON, NULL), KZ_OK);
	assert_int_equal(count, 2);
	assert_int_equal(files_below(p), 4);
	assert_list(p, "", "w/k/x:1 w/old:0 ");
}

static void test_probe(void **state)
{
	struct place *p = *state;
	bool conditional = false;

	assert_int_equal(kz_objects_probe(p->o, &conditional, SOON, NULL), KZ_OK);
	assert_true(conditional);
	assert_int_equal(files_below(p), 0);
}

static void test_not_there(void **state)
{
	struct place *p = *state;
	struct kz_objects *o = NULL;
	struct kz_err err = KZ_ERR_INIT;

	kz_str_copy(p->c.set.kz_objects_url, sizeof(p->c.set.kz_objects_url), "dir:objects/else",
		    NULL);
	assert_int_equal(kz_objects_open(&p->c, &o, &err), KZ_E_UNAVAILABLE);
	assert_string_equal(err.reason, "store_unavailable");
	assert_int_equal(kz_objects_make(&p->c, (gid_t)-1, &err), KZ_OK);
	assert_int_equal(kz_objects_open(&p->c, &o, &err), KZ_OK);
	kz_objects_close(o);
}

struct url_case {
	const char *url;
	const char *reason; /* "" : fine */
	const char *base, *prefix, *region;
};

static void test_url(void **state)
{
	static const struct url_case cases[] = {
		{ "dir:objects", "", "", "", "" },
		{ "dir:objects/a", "", "", "", "" },
		{ "dir:/srv/kz", "", "", "", "" },
		{ "dir:", "setting_invalid", "", "", "" },
		{ "dir:keys", "setting_invalid", "", "", "" },
		{ "dir:objects/../keys", "setting_invalid", "", "", "" },
		{ "dir:/", "setting_invalid", "", "", "" },
		{ "dir:/a//b", "setting_invalid", "", "", "" },
		{ "dir:objects/", "setting_invalid", "", "", "" },
		{ "file:/x", "url_unsupported", "", "", "" },
		{ "s3://h/bucket", "url_unsupported", "", "", "" },
		{ "s3+https://h.example/bucket", "", "https://h.example/bucket", "", "us-east-1" },
		{ "s3+http://127.0.0.1:9000/bucket/a/B_1?region=eu-west-3", "",
		  "http://127.0.0.1:9000/bucket", "a/B_1/", "eu-west-3" },
		{ "s3+http://[::1]:9000/bucket", "", "http://[::1]:9000/bucket", "", "us-east-1" },
		{ "s3+https://h/bucket/?region=r", "", "https://h/bucket", "", "r" },
		{ "s3+https://", "setting_invalid", "", "", "" },
		{ "s3+https://h", "setting_invalid", "", "", "" },
		{ "s3+https://h/", "setting_invalid", "", "", "" },
		{ "s3+https://h/ab", "setting_invalid", "", "", "" },
		{ "s3+https://h/Bucket", "setting_invalid", "", "", "" },
		{ "s3+https://h/buc_ket", "setting_invalid", "", "", "" },
		{ "s3+https://user:secret@h/bucket", "setting_invalid", "", "", "" },
		{ "s3+https://h:0/bucket", "setting_invalid", "", "", "" },
		{ "s3+https://h:65536/bucket", "setting_invalid", "", "", "" },
		{ "s3+https://h:/bucket", "setting_invalid", "", "", "" },
		{ "s3+https://h/bucket/../x", "setting_invalid", "", "", "" },
		{ "s3+https://h/bucket/a//b", "setting_invalid", "", "", "" },
		{ "s3+https://h/bucket/a/", "setting_invalid", "", "", "" },
		{ "s3+https://h/bucket/a b", "setting_invalid", "", "", "" },
		{ "s3+https://h/bucket/a%2f", "setting_invalid", "", "", "" },
		{ "s3+https://h/bucket?region=", "setting_invalid", "", "", "" },
		{ "s3+https://h/bucket?region=a&x=y", "setting_invalid", "", "", "" },
		{ "s3+https://h/bucket?x=y", "setting_invalid", "", "", "" },
		{ "s3+https://h/bucket#x", "setting_invalid", "", "", "" },
	};
	struct kz_objects_url url;
	struct kz_conf c = { .state = "/s" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct kz_err err = KZ_ERR_INIT;

		kz_settings_default(&c.set);
		kz_str_copy(c.set.kz_objects_url, sizeof(c.set.kz_objects_url), cases[i].url, NULL);
		kz_conf_objects_url(&c, &url, &err);
		if (strcmp(err.reason, cases[i].reason) != 0)
			fail_msg("%s: %s", cases[i].url, err.text);
		assert_null(strstr(err.text, "secret"));
		if (*err.reason)
			assert_int_not_equal(kz_conf_check(&c.set, NULL), KZ_OK);
		else if (url.is_s3) {
			assert_string_equal(url.base, cases[i].base);
			assert_string_equal(url.prefix, cases[i].prefix);
			assert_string_equal(url.region, cases[i].region);
		}
	}
}

#define IN_PLACE(f) cmocka_unit_test_setup_teardown(f, place_make, place_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_PLACE(test_put_get),
		IN_PLACE(test_get_refuses),
		IN_PLACE(test_names),
		IN_PLACE(test_list_order),
		IN_PLACE(test_list_stops),
		IN_PLACE(test_remove),
		IN_PLACE(test_links),
		IN_PLACE(test_short_input),
		IN_PLACE(test_full),
		IN_PLACE(test_one_name),
		IN_PLACE(test_put_while_directories_go),
		IN_PLACE(test_sweep),
		IN_PLACE(test_probe),
		IN_PLACE(test_not_there),
		cmocka_unit_test(test_url),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
