/* base: files, trees, sockets, locks; hostile, concurrent and failing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mark.h"
#include "base/str.h"

#ifndef F_SEAL_EXEC
#define F_SEAL_EXEC 0x0020
#endif

struct place {
	char path[64];
	int fd;
};

static int place_make(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	if (!p)
		return -1;
	kz_str_copy(p->path, sizeof(p->path), "/tmp/kz-unit.XXXXXX", NULL);
	if (!mkdtemp(p->path))
		return -1;
	p->fd = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = p;
	return p->fd < 0 ? -1 : 0;
}

static int place_drop(void **state)
{
	struct place *p = *state;
	int bad = kz_tree_remove(AT_FDCWD, p->path, NULL) != KZ_OK;

	close(p->fd);
	free(p);
	return bad;
}

static int count(int dir)
{
	int n = 0;
	kz_auto_closedir DIR *d = fdopendir(openat(dir, ".", O_RDONLY | O_DIRECTORY));

	while (readdir(d))
		n++;
	return n - 2;
}

static void file_replace_sets_content_and_mode(void **state)
{
	struct place *p = *state;
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(100);
	struct stat st;

	umask(077);
	assert_int_equal(kz_file_replace(p->fd, "f", "one", 3, 0644, (gid_t)-1, NULL), KZ_OK);
	assert_int_equal(fstatat(p->fd, "f", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(kz_file_replace(p->fd, "f", "", 0, 0600, (gid_t)-1, NULL), KZ_OK);
	assert_int_equal(kz_file_read(p->fd, "f", &b, NULL), KZ_OK);
	assert_int_equal(b.len, 0);
	assert_int_equal(count(p->fd), 1);
}

static void file_replace_failing_leaves_old_and_nothing_else(void **state)
{
	struct place *p = *state;
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(100);
	struct kz_err err = KZ_ERR_INIT;

	assert_int_equal(mkdirat(p->fd, "d", 0700), 0);
	assert_int_equal(kz_file_replace(p->fd, "d", "x", 1, 0600, (gid_t)-1, &err),
			 KZ_E_CANTCREAT);
	assert_int_equal(kz_file_replace(p->fd, "no/f", "x", 1, 0600, (gid_t)-1, &err),
			 KZ_E_CANTCREAT);
	assert_int_equal(kz_file_replace(p->fd, "", "x", 1, 0600, (gid_t)-1, &err), KZ_E_CANTCREAT);
	assert_int_equal(kz_file_replace(p->fd, "d/", "x", 1, 0600, (gid_t)-1, &err),
			 KZ_E_CANTCREAT);
	assert_int_equal(kz_file_replace(p->fd, "d/..", "x", 1, 0600, (gid_t)-1, &err),
			 KZ_E_CANTCREAT);
	assert_int_equal(count(p->fd), 1);
	assert_int_equal(kz_file_read(p->fd, "absent", &b, &err), KZ_E_NOINPUT);
	assert_int_equal(kz_file_read(p->fd, "d", &b, &err), KZ_E_IO);
}

static void file_replace_does_not_follow_a_link(void **state)
{
	struct place *p = *state;
	struct stat st;

	assert_int_equal(symlinkat("target", p->fd, "f"), 0);
	assert_int_equal(kz_file_replace(p->fd, "f", "x", 1, 0600, (gid_t)-1, NULL), KZ_OK);
	assert_int_equal(fstatat(p->fd, "f", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_not_equal(fstatat(p->fd, "target", &st, 0), 0);
}

static void file_replace_shows_old_or_new_to_a_reader(void **state)
{
	struct place *p = *state;
	static char a[65536], b[65536];
	pid_t writer;

	memset(a, 'a', sizeof(a));
	memset(b, 'b', sizeof(b));
	assert_int_equal(kz_file_replace(p->fd, "f", a, sizeof(a), 0600, (gid_t)-1, NULL), KZ_OK);
	writer = fork();
	if (writer == 0) {
		for (int i = 0; i < 100; i++)
			if (kz_file_replace(p->fd, "f", i % 2 ? a : b, sizeof(a), 0600, (gid_t)-1,
					    NULL))
				_exit(1);
		_exit(0);
	}
	for (int status = 0; waitpid(writer, &status, WNOHANG) == 0;) {
		kz_auto_buf struct kz_buf got = KZ_BUF_INIT(100000);

		assert_int_equal(kz_file_read(p->fd, "f", &got, NULL), KZ_OK);
		assert_int_equal(got.len, sizeof(a));
		assert_true(memcmp(got.data, got.data[0] == 'a' ? a : b, sizeof(a)) == 0);
	}
	assert_int_equal(count(p->fd), 1);
}

static void file_read_stops_at_the_maximum(void **state)
{
	struct place *p = *state;
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(4);
	kz_auto_buf struct kz_buf zero = KZ_BUF_INIT(1000);

	kz_file_replace(p->fd, "f", "12345", 5, 0600, (gid_t)-1, NULL);
	assert_int_equal(kz_file_read(p->fd, "f", &b, NULL), KZ_E_DATA);
	assert_int_equal(kz_file_read(AT_FDCWD, "/dev/zero", &zero, NULL), KZ_E_DATA);
}

static void dir_make_fixes_an_existing_one_and_refuses_a_link(void **state)
{
	struct place *p = *state;
	struct stat st;

	assert_int_equal(mkdirat(p->fd, "d", 0777), 0);
	assert_int_equal(kz_dir_make(p->fd, "d", 0750, (gid_t)-1, NULL), KZ_OK);
	assert_int_equal(fstatat(p->fd, "d", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
	assert_int_equal(symlinkat("d", p->fd, "l"), 0);
	assert_int_equal(kz_dir_make(p->fd, "l", 0777, (gid_t)-1, NULL), KZ_E_CANTCREAT);
	assert_int_equal(fstatat(p->fd, "d", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
}

static void tree_remove_goes_as_deep_as_a_tenant_can(void **state)
{
	struct place *p = *state;
	int fd = openat(p->fd, ".", O_RDONLY | O_DIRECTORY);

	/* Deeper than PATH_MAX, than the descriptor limit, and than a stack of frames would like. */
	for (int i = 0; i < 5000; i++) {
		int next;

		assert_int_equal(mkdirat(fd, "deep", 0700), 0);
		if (i % 50 == 0)
			close(openat(fd, "file", O_WRONLY | O_CREAT, 0600));
		next = openat(fd, "deep", O_RDONLY | O_DIRECTORY);
		close(fd);
		fd = next;
		assert_true(fd >= 0);
	}
	close(fd);
	assert_int_equal(kz_tree_remove(p->fd, "deep", NULL), KZ_OK);
	assert_int_equal(faccessat(p->fd, "deep", F_OK, 0), -1);
}

static void tree_remove_does_not_follow_links(void **state)
{
	struct place *p = *state;

	assert_int_equal(mkdirat(p->fd, "keep", 0700), 0);
	kz_file_replace(p->fd, "keep/f", "x", 1, 0600, (gid_t)-1, NULL);
	assert_int_equal(mkdirat(p->fd, "go", 0700), 0);
	assert_int_equal(symlinkat("../keep", p->fd, "go/l"), 0);
	assert_int_equal(symlinkat("keep", p->fd, "top"), 0);
	assert_int_equal(kz_tree_remove(p->fd, "go", NULL), KZ_OK);
	assert_int_equal(kz_tree_remove(p->fd, "top", NULL), KZ_OK);
	assert_int_equal(faccessat(p->fd, "keep/f", F_OK, 0), 0);
	assert_int_equal(kz_tree_remove(p->fd, "absent", NULL), KZ_OK);
}

static void tree_remove_takes_hostile_names_and_many(void **state)
{
	struct place *p = *state;
	char name[300];

	assert_int_equal(mkdirat(p->fd, "go", 0700), 0);
	assert_int_equal(mkdirat(p->fd, "go/sub", 0700), 0);
	memset(name, 'n', 255 + 7);
	memcpy(name, "go/sub/", 7);
	name[255 + 7] = '\0';
	assert_int_equal(mkdirat(p->fd, name, 0), 0);
	/* The names that moved directories would get. */
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "go/kz-rm-%d", i);
		assert_int_equal(mkdirat(p->fd, name, 0700), 0);
		snprintf(name, sizeof(name), "go/kz-rm-%d/\n\x1b%d", i, i);
		assert_int_equal(mkdirat(p->fd, name, 0700), 0);
		snprintf(name, sizeof(name), "go/kz-rm-%d/\n\x1b%d/-rf", i, i);
		assert_int_equal(mkdirat(p->fd, name, 0700), 0);
	}
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "go/sub/%d", i);
		close(openat(p->fd, name, O_WRONLY | O_CREAT, 0));
	}
	assert_int_equal(kz_tree_remove(p->fd, "go", NULL), KZ_OK);
	assert_int_equal(count(p->fd), 0);
}

static void tree_remove_does_not_cross_a_mount(void **state)
{
	struct place *p = *state;
	struct kz_err err = KZ_ERR_INIT;
	char mnt[128];

	if (geteuid() != 0)
		return;
	assert_int_equal(mkdirat(p->fd, "keep", 0700), 0);
	kz_file_replace(p->fd, "keep/f", "x", 1, 0600, (gid_t)-1, NULL);
	assert_int_equal(mkdirat(p->fd, "go", 0700), 0);
	assert_int_equal(mkdirat(p->fd, "go/m", 0700), 0);
	snprintf(mnt, sizeof(mnt), "%s/go/m", p->path);
	snprintf(err.text, sizeof(err.text), "%s/keep", p->path);
	assert_int_equal(mount(err.text, mnt, NULL, MS_BIND, NULL), 0);
	assert_int_equal(kz_tree_remove(p->fd, "go", &err), KZ_E_IO);
	assert_int_equal(umount2(mnt, MNT_DETACH), 0);
	assert_int_equal(faccessat(p->fd, "keep/f", F_OK, 0), 0);
	assert_int_equal(kz_tree_remove(p->fd, "go", NULL), KZ_OK);
}

static void unix_sockets_work_at_any_path_length(void **state)
{
	struct place *p = *state;
	kz_auto_close int server = -1;
	kz_auto_close int client = -1;
	char path[1200];
	size_t len;
	struct stat st;

	len = strlen(p->path);
	memcpy(path, p->path, len);
	for (int i = 0; i < 4; i++) {
		path[len++] = '/';
		memset(path + len, 'd', 200);
		len += 200;
		path[len] = '\0';
		assert_int_equal(mkdir(path, 0700), 0);
	}
	memcpy(path + len, "/s", 3);
	assert_int_equal(kz_unix_listen(path, 0660, (gid_t)-1, 4, &server, NULL), KZ_OK);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0660);
	assert_int_equal(kz_unix_connect(path, KZ_NEVER, &client, NULL), KZ_OK);
	assert_true(fcntl(client, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(client, F_GETFD) & FD_CLOEXEC);
}

static void unix_listen_replaces_stale_and_spares_the_rest(void **state)
{
	struct place *p = *state;
	struct kz_err err = KZ_ERR_INIT;
	char path[128];
	int first, second, client;

	snprintf(path, sizeof(path), "%s/s", p->path);
	assert_int_equal(kz_unix_listen(path, 0600, (gid_t)-1, 4, &first, NULL), KZ_OK);
	assert_int_equal(kz_unix_listen(path, 0600, (gid_t)-1, 4, &second, &err), KZ_E_CANTCREAT);
	close(first);
	assert_int_equal(kz_unix_connect(path, KZ_NEVER, &client, &err), KZ_E_UNAVAILABLE);
	assert_int_equal(kz_unix_listen(path, 0600, (gid_t)-1, 4, &second, NULL), KZ_OK);
	close(second);
	kz_file_replace(p->fd, "f", "x", 1, 0600, (gid_t)-1, NULL);
	snprintf(path, sizeof(path), "%s/f", p->path);
	assert_int_equal(kz_unix_listen(path, 0600, (gid_t)-1, 4, &second, &err), KZ_E_CANTCREAT);
	assert_int_equal(faccessat(p->fd, "f", F_OK, 0), 0);
	snprintf(path, sizeof(path), "%s/absent/s", p->path);
	assert_int_equal(kz_unix_connect(path, KZ_NEVER, &client, &err), KZ_E_UNAVAILABLE);
}

static void unix_connect_to_a_full_queue_ends_at_the_deadline(void **state)
{
	struct place *p = *state;
	kz_auto_close int server = -1;
	int held[64], n = 0;
	char path[128];
	enum kz_rc rc = KZ_OK;

	snprintf(path, sizeof(path), "%s/s", p->path);
	assert_int_equal(kz_unix_listen(path, 0600, (gid_t)-1, 1, &server, NULL), KZ_OK);
	while (n < 64 && !rc) {
		rc = kz_unix_connect(path, kz_deadline_in(KZ_MS(20)), &held[n], NULL);
		n += rc == KZ_OK;
	}
	assert_int_equal(rc, KZ_E_UNAVAILABLE);
	while (n > 0)
		close(held[--n]);
}

static void write_until_gives_up_when_nobody_reads(void **state)
{
	static char big[1 << 20];
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	assert_int_equal(
		kz_fd_write_until(ends[0], big, sizeof(big), kz_deadline_in(KZ_MS(30)), NULL),
		KZ_E_TEMPFAIL);
	assert_int_equal(kz_fd_wait(ends[1], POLLIN, KZ_NEVER, NULL), KZ_OK);
	close(ends[1]);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(kz_fd_write_all(ends[0], big, 10, NULL), KZ_E_IO);
	close(ends[0]);
	assert_int_equal(kz_fd_wait(1000, POLLIN, KZ_NEVER, NULL), KZ_E_SOFTWARE);
	assert_int_equal(kz_fd_write_all(1000, "", 0, NULL), KZ_OK);
}

static void lock_is_exclusive_until_closed(void **state)
{
	struct place *p = *state;
	int a, b;

	assert_int_equal(kz_file_lock(p->fd, "l", KZ_NEVER, &a, NULL), KZ_OK);
	assert_int_equal(kz_file_lock(p->fd, "l", kz_deadline_in(KZ_MS(20)), &b, NULL),
			 KZ_E_TEMPFAIL);
	close(a);
	assert_int_equal(kz_file_lock(p->fd, "l", kz_deadline_in(KZ_MS(20)), &b, NULL), KZ_OK);
	close(b);
}

/* What is read again only when it was changed must see every change [POL-19]. */
static void a_mark_tells_every_change(void **state)
{
	struct place *p = *state;
	char a[128], b[128];
	uint64_t dir, file;

	kz_str_format(a, sizeof(a), NULL, "%s/a", p->path);
	kz_str_format(b, sizeof(b), NULL, "%s/b", p->path);
	assert_int_equal(kz_mark_file(a), 0);
	assert_int_equal(kz_mark_dir(a), 0);
	dir = kz_mark_dir(p->path);
	assert_int_not_equal(dir, 0);
	assert_int_equal(kz_file_replace(p->fd, "a", "1", 1, 0600, (gid_t)-1, NULL), KZ_OK);
	assert_int_not_equal(kz_mark_dir(p->path), dir);
	dir = kz_mark_dir(p->path);
	file = kz_mark_file(a);
	assert_int_not_equal(file, 0);
	/* the same bytes again, in a new file */
	assert_int_equal(kz_file_replace(p->fd, "a", "1", 1, 0600, (gid_t)-1, NULL), KZ_OK);
	assert_int_not_equal(kz_mark_dir(p->path), dir);
	assert_int_not_equal(kz_mark_file(a), file);
	dir = kz_mark_dir(p->path);
	assert_int_equal(rename(a, b), 0);
	assert_int_not_equal(kz_mark_dir(p->path), dir);
	dir = kz_mark_dir(p->path);
	/* reading changes nothing, and a file of another name does not count */
	assert_int_equal(kz_file_replace(p->fd, ".lock", "", 0, 0600, (gid_t)-1, NULL), KZ_OK);
	assert_int_equal(kz_mark_dir(p->path), dir);
	assert_int_equal(unlink(b), 0);
	assert_int_not_equal(kz_mark_dir(p->path), dir);
}

static void a_memory_file_is_read_from_its_beginning_and_never_executed(void **state)
{
	struct kz_buf b = KZ_BUF_INIT(64);
	struct stat st;
	int fd = -1, empty = -1;

	(void)state;
	assert_int_equal(kz_memory_file_of("kz-unit", "twelve bytes", 12, &fd, NULL), KZ_OK);
	assert_int_equal(kz_fd_read_all(fd, &b, NULL), KZ_OK);
	assert_string_equal(b.data, "twelve bytes");
	assert_int_equal(kz_fd_rewind(fd, NULL), KZ_OK);
	b.len = 0;
	assert_int_equal(kz_fd_read_all(fd, &b, NULL), KZ_OK);
	assert_int_equal(b.len, 12);
	assert_int_equal(kz_memory_file_of("kz-unit", "", 0, &empty, NULL), KZ_OK);
	assert_int_equal(fstat(empty, &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GET_SEALS) & F_SEAL_SEAL, 0);
	if (fcntl(fd, F_GET_SEALS) & F_SEAL_EXEC) /* Linux 6.3 */
		assert_int_equal(fchmod(fd, 0755), -1);
	kz_buf_release(&b);
	close(fd);
	close(empty);
}

static void a_memory_file_that_cannot_be_made_leaves_no_descriptor(void **state)
{
	struct kz_err err = KZ_ERR_INIT;
	char name[300];
	int fd = -1;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	assert_int_equal(kz_memory_file_of(name, "a", 1, &fd, &err), KZ_E_OS);
	assert_int_equal(fd, -1);
}

#define IN_PLACE(fn) cmocka_unit_test_setup_teardown(fn, place_make, place_drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_PLACE(a_mark_tells_every_change),
		IN_PLACE(file_replace_sets_content_and_mode),
		IN_PLACE(file_replace_failing_leaves_old_and_nothing_else),
		IN_PLACE(file_replace_does_not_follow_a_link),
		IN_PLACE(file_replace_shows_old_or_new_to_a_reader),
		IN_PLACE(file_read_stops_at_the_maximum),
		IN_PLACE(dir_make_fixes_an_existing_one_and_refuses_a_link),
		IN_PLACE(tree_remove_goes_as_deep_as_a_tenant_can),
		IN_PLACE(tree_remove_does_not_follow_links),
		IN_PLACE(tree_remove_takes_hostile_names_and_many),
		IN_PLACE(tree_remove_does_not_cross_a_mount),
		IN_PLACE(unix_sockets_work_at_any_path_length),
		IN_PLACE(unix_listen_replaces_stale_and_spares_the_rest),
		IN_PLACE(unix_connect_to_a_full_queue_ends_at_the_deadline),
		cmocka_unit_test(a_memory_file_is_read_from_its_beginning_and_never_executed),
		cmocka_unit_test(a_memory_file_that_cannot_be_made_leaves_no_descriptor),
		IN_PLACE(write_until_gives_up_when_nobody_reads),
		IN_PLACE(lock_is_exclusive_until_closed),
	};

	return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
