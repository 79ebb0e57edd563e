#include "core/driver/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "base/sys.h"
#include "rule/reason.h"

#define PROCS_MAX (1 << 20)
#define DEPTH_MAX 16

/* Write and forget: these are means to an end that is checked afterwards. */
static void poke(const char *dir, const char *file, const char *text)
{
	kz_auto_close int fd = -1;
	char path[1024];

	if (kz_str_format(path, sizeof path, NULL, "%s/%s", dir, file))
		return;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		errno = 0;
}

static void kill_members(const char *dir)
{
	kz_auto_buf struct kz_buf procs = KZ_BUF_INIT(PROCS_MAX);
	char path[1024];
	char *save = NULL;
	int64_t pid;

	if (kz_str_format(path, sizeof path, NULL, "%s/cgroup.procs", dir) ||
	    kz_file_read(AT_FDCWD, path, &procs, NULL) || !procs.len)
		return;
	for (char *line = strtok_r(procs.data, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		/* 0 is a process of another pid namespace; ourselves we never kill. */
		if (!kz_str_int(line, 1, INT32_MAX, &pid, NULL) && pid != getpid())
			kill((pid_t)pid, SIGKILL);
}

/* Thaw and kill from the top down, then remove from the bottom up; children that stay keep their parent. */
static void end_below(const char *dir, int depth)
{
	kz_auto_closedir DIR *d = opendir(dir);
	struct dirent *e;
	char child[1024];

	if (!d || depth > DEPTH_MAX)
		return;
	poke(dir, "freezer.state", "THAWED"); /* a frozen process cannot die on version 1 */
	poke(dir, "cgroup.freeze", "0");
	poke(dir, "cgroup.kill", "1");
	kill_members(dir);
	while ((e = readdir(d)) != NULL) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		if (!kz_str_format(child, sizeof child, NULL, "%s/%s", dir, e->d_name))
			end_below(child, depth + 1);
	}
	if (kz_sys_before(KZ_SYS_CG_REMOVE))
		return;
	if (rmdir(dir) == 0)
		kz_sys_after(KZ_SYS_CG_REMOVE);
}

/* Children first: while they stand, the unit of every hierarchy stays as the place to find them. */
static const char *remaining(const struct kz_cg *cg)
{
	for (size_t i = 0; i < cg->count; i++)
		if (access(cg->trees[i].dir, F_OK) == 0 || errno != ENOENT)
			return cg->trees[i].dir;
	return NULL;
}

enum kz_rc kz_cg_end(const struct kz_cg *cg, struct kz_deadline until, struct kz_err *err)
{
	int64_t pause = 1;
	const char *left;

	for (;;) {
		for (size_t i = 0; i < cg->count; i++)
			end_below(cg->trees[i].dir, 0);
		left = remaining(cg);
		if (!left)
			return KZ_OK;
		if (kz_deadline_passed(until))
			return kz_refuse(err, KZ_R_CGROUP_UNAVAILABLE,
					 "the cgroup %s still holds processes", left);
		kz_time_sleep(KZ_MS(pause), until);
		pause = pause < 50 ? pause * 2 : 50;
	}
}

/* Process 1 of a container seen from here: two pid namespaces deep, alive. */
static bool is_init(pid_t pid, bool any)
{
	kz_auto_buf struct kz_buf status = KZ_BUF_INIT(64 << 10);
	char path[64];
	const char *state;
	const char *ns;
	int numbers[3];

	if (kz_str_format(path, sizeof path, NULL, "/proc/%d/status", pid) ||
	    kz_file_read(AT_FDCWD, path, &status, NULL))
		return false;
	state = strstr(kz_buf_str(&status), "\nState:\t");
	ns = strstr(kz_buf_str(&status), "\nNSpid:\t");
	if (!state || !ns || state[8] == 'Z' || state[8] == 'X')
		return false;
	return any ||
	       (sscanf(ns, "\nNSpid:\t%d\t%d\t%d", &numbers[0], &numbers[1], &numbers[2]) == 2 &&
		numbers[1] == 1);
}

pid_t kz_cg_init(const struct kz_cg *cg, bool any)
{
	kz_auto_buf struct kz_buf procs = KZ_BUF_INIT(PROCS_MAX);
	size_t i = kz_cg_tree_of(cg, "pids");
	char path[400];
	char *save = NULL;
	int64_t pid;

	if (i == KZ_CG_NONE ||
	    kz_str_format(path, sizeof path, NULL, "%s/worker/cgroup.procs", cg->trees[i].dir) ||
	    kz_file_read(AT_FDCWD, path, &procs, NULL) || !procs.len)
		return 0;
	for (char *line = strtok_r(procs.data, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		if (!kz_str_int(line, 1, INT32_MAX, &pid, NULL) && is_init((pid_t)pid, any))
			return (pid_t)pid;
	return 0;
}
