/* Where a worker's cgroups go: version 1, hybrid, version 2, and records that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/driver/cgroup.h"
#include "port/json.h"

struct place {
	char dir[64];
	char self[96];
	char mounts[96];
};

static int setup(void **state)
{
	static struct place p;

	snprintf(p.dir, sizeof p.dir, "/tmp/kz-cgroup.XXXXXX");
	if (!mkdtemp(p.dir))
		return -1;
	snprintf(p.self, sizeof p.self, "%s/self", p.dir);
	snprintf(p.mounts, sizeof p.mounts, "%s/mounts", p.dir);
	*state = &p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	return kz_tree_remove(AT_FDCWD, p->dir, NULL);
}

static void put(const char *path, const char *text)
{
	assert_int_equal(kz_file_replace(AT_FDCWD, path, text, strlen(text), 0644, (gid_t)-1, NULL),
			 0);
}

static enum kz_rc find(struct place *p, const char *self, const char *mounts, struct kz_cg *cg,
		       struct kz_err *err)
{
	put(p->self, self);
	put(p->mounts, mounts);
	return kz_cg_find(cg, "kz-1.w", p->self, p->mounts, err);
}

#define V1(id, list)                                                                               \
#id " 20 0:" #id " / /sys/fs/cgroup/" list " rw,relatime - cgroup cgroup rw," list "\n"

static void rt1_hybrid_takes_each_controllers_own_line(void **state)
{
	struct kz_cg cg;

	assert_int_equal(
		find(*state,
		     "4:memory:/nested/abc\n3:pids:/\n2:cpu,cpuacct:/x\n1:name=systemd:/\n0::/\n",
		     V1(31, "memory") V1(32, "pids") V1(
			     33,
			     "cpu,cpuacct") "34 20 0:34 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
					    "35 20 0:35 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
		     &cg, NULL),
		0);
	assert_false(cg.is_v2);
	assert_int_equal(cg.count, 5);
	assert_string_equal(cg.trees[kz_cg_tree_of(&cg, "memory")].dir,
			    "/sys/fs/cgroup/memory/nested/abc/kz-1.w");
	assert_string_equal(cg.trees[kz_cg_tree_of(&cg, "pids")].dir, "/sys/fs/cgroup/pids/kz-1.w");
	/* One hierarchy with two controllers is one place. */
	assert_int_equal(kz_cg_tree_of(&cg, "cpu"), kz_cg_tree_of(&cg, "cpuacct"));
	assert_string_equal(cg.trees[kz_cg_tree_of(&cg, "cpu")].dir,
			    "/sys/fs/cgroup/cpu,cpuacct/x/kz-1.w");
	/* The names of controllers are whole words. */
	assert_int_equal(kz_cg_tree_of(&cg, "cpuse"), KZ_CG_NONE);
}

static void rt1_v2_alone(void **state)
{
	struct kz_cg cg;
	char path[64];

	assert_int_equal(find(*state, "0::/system.slice/kz.service\n",
			      "35 20 0:35 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n",
			      &cg, NULL),
			 0);
	assert_true(cg.is_v2);
	assert_string_equal(cg.trees[0].dir, "/sys/fs/cgroup/system.slice/kz.service/kz-1.w");
	assert_int_equal(kz_cg_container_path(&cg, path, sizeof path, NULL), 0);
	assert_string_equal(path, "/system.slice/kz.service/kz-1.w/worker");
}

static void rt1_a_mount_that_shows_a_part(void **state)
{
	struct kz_cg cg;

	/* A container on a version 1 host: its own group is the root of the mount. */
	assert_int_equal(find(*state,
			      "3:memory:/docker/ab\n2:pids:/docker/ab/kid\n1:cpu:/docker/abc\n",
			      "31 20 0:31 /docker/ab /c/memory rw - cgroup cgroup rw,memory\n"
			      "32 20 0:32 /docker/ab /c/pids rw - cgroup cgroup rw,pids\n"
			      "33 20 0:33 /docker/ab /c/cpu rw - cgroup cgroup rw,cpu\n",
			      &cg, NULL),
			 0);
	assert_string_equal(cg.trees[0].dir, "/c/memory/kz-1.w");
	assert_string_equal(cg.trees[1].dir, "/c/pids/kid/kz-1.w");
	assert_string_equal(cg.trees[2].dir, "/c/cpu/kz-1.w"); /* ab is not a parent of abc */
}

static void rt6_a_missing_controller_is_named(void **state)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_cg cg;

	assert_int_not_equal(
		find(*state, "3:memory:/\n1:cpu:/\n", V1(31, "memory") V1(33, "cpu"), &cg, &err),
		0);
	assert_string_equal(err.reason, "cgroup_unavailable");
	assert_non_null(strstr(err.text, "pids"));
	assert_int_not_equal(find(*state, "", "", &cg, &err), 0);
	assert_int_not_equal(find(*state, "garbage\n::\n:::::\n0:\n", "x\n - - -\n", &cg, &err), 0);
	assert_string_equal(err.reason, "cgroup_unavailable");
}

static void fence4_a_record_keeps_its_cgroups(void **state)
{
	kz_auto_json struct kz_json *j = NULL;
	struct kz_cg cg;
	struct kz_cg back;

	assert_int_equal(find(*state, "4:memory:/m\n3:pids:/\n2:cpu:/\n",
			      V1(31, "memory") V1(32, "pids") V1(33, "cpu"), &cg, NULL),
			 0);
	j = kz_cg_to_json(&cg);
	assert_int_equal(kz_cg_from_json(j, &back, NULL), 0);
	assert_int_equal(back.count, 3);
	assert_string_equal(back.trees[0].dir, cg.trees[0].dir);
	assert_string_equal(back.trees[2].controllers, "cpu");
}

static void fence4_a_record_that_lies_is_refused(void **state)
{
	static const char *const lies[] = {
		"{}",
		"{\"v2\":false,\"trees\":7}",
		"{\"v2\":false,\"trees\":[{\"controllers\":\"memory\",\"dir\":\"/sys/fs/cgroup/memory\"}]}",
		"{\"v2\":false,\"trees\":[{\"controllers\":\"memory\",\"dir\":\"kz-1.w\"}]}",
		"{\"v2\":false,\"trees\":[{\"controllers\":\"memory\",\"dir\":\"/sys/fs/cgroup/kz-1/../memory\"}]}",
		"{\"v2\":false,\"trees\":[null]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
		kz_auto_json struct kz_json *j = NULL;
		struct kz_cg cg;

		assert_int_equal(kz_json_parse(lies[i], strlen(lies[i]), &j, NULL), 0);
		assert_int_not_equal(kz_cg_from_json(j, &cg, NULL), 0);
	}
}

static void rt1_v2_goes_up_to_where_controllers_can_be_handed_down(void **state)
{
	struct place *p = *state;
	struct kz_cg cg = { .count = 1, .is_v2 = true };
	char path[160];

	/* ROOT has the file of a group that may hand down, ROOT/shell has not (it holds processes). */
	snprintf(path, sizeof path, "%s/root", p->dir);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof path, "%s/root/shell", p->dir);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof path, "%s/root/cgroup.procs", p->dir);
	put(path, "");
	snprintf(path, sizeof path, "%s/root/cgroup.subtree_control", p->dir);
	put(path, "");
	snprintf(cg.trees[0].dir, sizeof cg.trees[0].dir, "%s/root/shell/kz-1.w", p->dir);
	assert_int_equal(kz_cg_place(&cg, NULL), 0);
	snprintf(path, sizeof path, "%s/root/kz-1.w", p->dir);
	assert_string_equal(cg.trees[0].dir, path);
	/* Where none can, it says so instead of leaving the hierarchy. */
	snprintf(path, sizeof path, "%s/root/cgroup.subtree_control", p->dir);
	assert_int_equal(unlink(path), 0);
	snprintf(cg.trees[0].dir, sizeof cg.trees[0].dir, "%s/root/shell/kz-1.w", p->dir);
	assert_int_not_equal(kz_cg_place(&cg, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rt1_hybrid_takes_each_controllers_own_line, setup,
						teardown),
		cmocka_unit_test_setup_teardown(rt1_v2_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(rt1_a_mount_that_shows_a_part, setup, teardown),
		cmocka_unit_test_setup_teardown(rt6_a_missing_controller_is_named, setup, teardown),
		cmocka_unit_test_setup_teardown(fence4_a_record_keeps_its_cgroups, setup, teardown),
		cmocka_unit_test(fence4_a_record_that_lies_is_refused),
		cmocka_unit_test_setup_teardown(
			rt1_v2_goes_up_to_where_controllers_can_be_handed_down, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
