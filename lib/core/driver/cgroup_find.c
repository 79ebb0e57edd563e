#include "core/driver/cgroup.h"

#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "port/json.h"
#include "rule/reason.h"

#define MOUNTS_MAX (4 << 20)

/* A line of /proc/self/mountinfo, as far as it matters here; borrowed from the text. */
struct mount {
	char *root;
	char *point;
	char *type;
	char *options;
};

bool kz_cg_has(const char *list, const char *controller)
{
	size_t n = strlen(controller);

	for (const char *p = list; *p;) {
		size_t len = strcspn(p, ",");

		if (len == n && memcmp(p, controller, n) == 0)
			return true;
		p += len + (p[len] == ',');
	}
	return false;
}

size_t kz_cg_tree_of(const struct kz_cg *cg, const char *controller)
{
	for (size_t i = 0; i < cg->count; i++)
		if (cg->is_v2 ? !cg->trees[i].controllers[0] :
				kz_cg_has(cg->trees[i].controllers, controller))
			return i;
	return KZ_CG_NONE;
}

/* Split a line: "ID PARENT DEV ROOT POINT OPTIONS [TAGS] - TYPE SOURCE SUPER". */
static bool mount_parse(char *line, struct mount *m)
{
	char *save = NULL;
	char *field[6];
	char *word;

	for (int i = 0; i < 6; i++) {
		field[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!field[i])
			return false;
	}
	while ((word = strtok_r(NULL, " ", &save)) != NULL && strcmp(word, "-") != 0)
		;
	m->root = field[3];
	m->point = field[4];
	m->type = strtok_r(NULL, " ", &save);
	if (!m->type || !strtok_r(NULL, " ", &save))
		return false;
	m->options = strtok_r(NULL, " ", &save);
	return m->options != NULL;
}

/* Is m the hierarchy of this line?  All controllers of the line are options of the mount. */
static bool mount_carries(const struct mount *m, const char *controllers)
{
	char first[64];
	size_t n = strcspn(controllers, ",");

	if (!controllers[0])
		return strcmp(m->type, "cgroup2") == 0;
	if (strcmp(m->type, "cgroup") != 0 || n >= sizeof first)
		return false;
	memcpy(first, controllers, n);
	first[n] = '\0';
	return kz_cg_has(m->options, first);
}

/* The path below the mount point of what /proc/self/cgroup calls path. */
static const char *below_root(const char *root, const char *path)
{
	size_t n = strlen(root);

	if (strcmp(root, "/") == 0)
		return strcmp(path, "/") == 0 ? "" : path;
	if (strncmp(path, root, n) == 0 && (path[n] == '/' || !path[n]))
		return path + n;
	return ""; /* seen from another cgroup namespace: the mount point is the nearest we can name */
}

static enum kz_rc tree_add(struct kz_cg *cg, const char *controllers, const char *path,
			   const char *unit, const char *mounts, struct kz_err *err)
{
	kz_auto_free char *copy = kz_str_dup(mounts);
	struct kz_cg_tree *t = &cg->trees[cg->count];
	char *save = NULL;
	struct mount m;

	if (!copy)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!mount_parse(line, &m) || !mount_carries(&m, controllers))
			continue;
		if (cg->count == KZ_CG_TREES)
			return kz_refuse(err, KZ_R_CGROUP_UNAVAILABLE,
					 "more than %d cgroup hierarchies", KZ_CG_TREES);
		if (kz_str_copy(t->controllers, sizeof t->controllers, controllers, err) ||
		    kz_str_format(t->dir, sizeof t->dir, err, "%s%s/%s", m.point,
				  below_root(m.root, path), unit))
			return err ? err->rc : KZ_E_DATA;
		if (!controllers[0] && kz_str_copy(cg->mount_v2, sizeof cg->mount_v2, m.point, err))
			return KZ_E_DATA;
		cg->count++;
		return KZ_OK;
	}
	return KZ_OK; /* a hierarchy that is mounted nowhere cannot be used by the runtime either */
}

static enum kz_rc require(struct kz_cg *cg, struct kz_err *err)
{
	static const char *const needed[] = { "memory", "pids", "cpu" };
	size_t in_v1 = 0;

	cg->is_v2 = false;
	for (size_t i = 0; i < 3; i++)
		in_v1 += kz_cg_tree_of(cg, needed[i]) != KZ_CG_NONE;
	if (in_v1 == 3)
		return KZ_OK;
	cg->is_v2 = true;
	if (in_v1 == 0 && kz_cg_tree_of(cg, "memory") != KZ_CG_NONE)
		return KZ_OK;
	for (size_t i = 0; i < 3; i++) {
		cg->is_v2 = false;
		if (kz_cg_tree_of(cg, needed[i]) == KZ_CG_NONE)
			return kz_refuse(
				err, KZ_R_CGROUP_UNAVAILABLE,
				"the cgroup controller %s is mounted nowhere; mount it, or boot with cgroup v2",
				needed[i]);
	}
	return kz_refuse(err, KZ_R_CGROUP_UNAVAILABLE, "no cgroup hierarchy is mounted");
}

enum kz_rc kz_cg_find(struct kz_cg *cg, const char *unit, const char *self, const char *mounts,
		      struct kz_err *err)
{
	kz_auto_buf struct kz_buf own = KZ_BUF_INIT(64 << 10);
	kz_auto_buf struct kz_buf table = KZ_BUF_INIT(MOUNTS_MAX);
	char *save = NULL;

	memset(cg, 0, sizeof *cg);
	if (kz_file_read(AT_FDCWD, self, &own, err) || kz_file_read(AT_FDCWD, mounts, &table, err))
		return kz_err_reason(err, kz_reason_code(KZ_R_CGROUP_UNAVAILABLE));
	for (char *line = strtok_r(own.data, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *list = strchr(line, ':'); /* ID:CONTROLLERS:PATH */
		char *path = list ? strchr(list + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = '\0';
		if (tree_add(cg, list + 1, path, unit, kz_buf_str(&table), err))
			return err ? err->rc : KZ_E_UNAVAILABLE;
	}
	return require(cg, err);
}

enum kz_rc kz_cg_container_path(const struct kz_cg *cg, char *out, size_t size, struct kz_err *err)
{
	size_t i = kz_cg_tree_of(cg, "memory");

	if (!cg->is_v2 || i == KZ_CG_NONE)
		return kz_str_copy(out, size, "worker", err);
	return kz_str_format(out, size, err, "%s/worker", cg->trees[i].dir + strlen(cg->mount_v2));
}

struct kz_json *kz_cg_to_json(const struct kz_cg *cg)
{
	struct kz_json *o = kz_json_object();
	struct kz_json *trees = kz_json_array();

	kz_json_set_bool(o, "v2", cg->is_v2);
	for (size_t i = 0; i < cg->count; i++) {
		struct kz_json *t = kz_json_object();

		kz_json_set_str(t, "controllers", cg->trees[i].controllers);
		kz_json_set_str(t, "dir", cg->trees[i].dir);
		kz_json_append(trees, t);
	}
	kz_json_set(o, "trees", trees);
	return o;
}

enum kz_rc kz_cg_from_json(const struct kz_json *j, struct kz_cg *cg, struct kz_err *err)
{
	struct kz_json *trees = kz_json_get(j, "trees");

	memset(cg, 0, sizeof *cg);
	cg->is_v2 = kz_json_flag(j, "v2", false);
	if (!kz_json_is_array(trees) || kz_json_count(trees) > KZ_CG_TREES)
		return kz_err_set(err, KZ_E_DATA, "the record holds no cgroups");
	for (size_t i = 0; i < kz_json_count(trees); i++) {
		struct kz_json *t = kz_json_at(trees, i);
		const char *dir = kz_json_str(t, "dir", "");

		/* This path will be killed and removed: take nothing that is not below a mount of ours. */
		if (dir[0] != '/' || strstr(dir, "/../") || !strstr(dir, "/kz-"))
			return kz_err_set(err, KZ_E_DATA, "the record names a strange cgroup");
		if (kz_str_copy(cg->trees[i].dir, sizeof cg->trees[i].dir, dir, err) ||
		    kz_str_copy(cg->trees[i].controllers, sizeof cg->trees[i].controllers,
				kz_json_str(t, "controllers", ""), err))
			return err ? err->rc : KZ_E_DATA;
		cg->count++;
	}
	return KZ_OK;
}
