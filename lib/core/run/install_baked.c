/* What the worker's image has: read from where its interpreters look, so that it cannot differ from what is there. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "core/run/install_parts.h"
#include "gen/bundled.h"

#define METADATA_MAX (256 << 10)
#define ENTRIES_MOST 20000

/* Below the root of the image. */
static const char python_dir[] = "usr/lib/python3/dist-packages";
static const char *const node_dirs[] = { "usr/share/nodejs", "usr/lib/nodejs" };

static int open_root(const struct kz_conf *conf)
{
	char path[300];

	if (kz_str_eq(conf->set.kz_image, "host"))
		return open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (kz_str_format(path, sizeof(path), NULL, "%s/root", conf->set.kz_image))
		return -1;
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* The length of what stands before the ending of a metadata entry; 0: it is none. */
static size_t stem_of(const char *entry)
{
	static const char *const endings[] = { ".dist-info", ".egg-info" };
	size_t n = strlen(entry);

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		if (n > strlen(endings[i]) && !strcmp(entry + n - strlen(endings[i]), endings[i]))
			return n - strlen(endings[i]);
	return 0;
}

/* "Name-1.2.dist-info" or "Name-1.2.egg-info" or "Name.egg-info": is it the package's? */
static bool is_metadata_of(const char *entry, const char *key, char version[KZ_INSTALL_VERSION])
{
	char name[KZ_REQUIREMENT_NAME], of[KZ_REQUIREMENT_NAME];
	const char *dash, *end = entry + stem_of(entry);
	size_t length;

	if (end == entry)
		return false;
	dash = memchr(entry, '-', (size_t)(end - entry));
	length = (size_t)((dash ? dash : end) - entry);
	if (length >= sizeof(name))
		return false;
	memcpy(name, entry, length);
	name[length] = '\0';
	kz_requirement_key(KZ_ECO_PYTHON, name, of);
	if (strcmp(of, key))
		return false;
	length = dash ? (size_t)(end - dash - 1) : 0;
	/* "1.0-py3.11": what follows names the interpreter */
	if (dash && memchr(dash + 1, '-', length))
		length = (size_t)((const char *)memchr(dash + 1, '-', length) - dash - 1);
	if (length >= KZ_INSTALL_VERSION)
		length = 0;
	if (length)
		memcpy(version, dash + 1, length);
	version[length] = '\0';
	return true;
}

/* The line "Version: " of a metadata file. */
static void read_version(int dir, const char *entry, char version[KZ_INSTALL_VERSION])
{
	static const char *const files[] = { "METADATA", "PKG-INFO", "" };
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(METADATA_MAX);
	char path[400];
	const char *at;
	size_t n;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !text.len; i++)
		if (!kz_str_format(path, sizeof(path), NULL, "%s%s%s", entry, *files[i] ? "/" : "",
				   files[i]))
			(void)kz_file_read(dir, path, &text, NULL);
	at = text.len ? strstr(kz_buf_str(&text), "\nVersion: ") : NULL;
	if (!at)
		return;
	at += strlen("\nVersion: ");
	n = strcspn(at, "\r\n");
	if (n >= KZ_INSTALL_VERSION)
		return;
	memcpy(version, at, n);
	version[n] = '\0';
}

static DIR *open_list(int dir)
{
	DIR *d = dir < 0 ? NULL : fdopendir(dir);

	if (!d && dir >= 0)
		close(dir);
	return d;
}

static bool python_version(int root, const char *key, char version[KZ_INSTALL_VERSION])
{
	kz_auto_closedir DIR *d =
		open_list(openat(root, python_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *e;
	int left = ENTRIES_MOST;

	while (d && left-- > 0 && (e = readdir(d)))
		if (is_metadata_of(e->d_name, key, version)) {
			if (!*version)
				read_version(dirfd(d), e->d_name, version);
			return *version != '\0';
		}
	return false;
}

static bool node_version(int root, const char *key, char version[KZ_INSTALL_VERSION])
{
	for (size_t i = 0; i < sizeof(node_dirs) / sizeof(*node_dirs); i++) {
		kz_auto_buf struct kz_buf text = KZ_BUF_INIT(METADATA_MAX);
		kz_auto_json struct kz_json *o = NULL;
		char path[400];

		if (kz_str_format(path, sizeof(path), NULL, "%s/%s/package.json", node_dirs[i],
				  key) ||
		    kz_file_read(root, path, &text, NULL) ||
		    kz_json_parse(text.data, text.len, &o, NULL))
			continue;
		if (!kz_str_copy(version, KZ_INSTALL_VERSION, kz_json_str(o, "version", ""), NULL))
			return *version != '\0';
	}
	return false;
}

bool kz_baked_version(const struct kz_conf *conf, enum kz_ecosystem eco, const char *key,
		      char out[KZ_INSTALL_VERSION])
{
	kz_auto_close int root = open_root(conf);

	*out = '\0';
	if (root < 0)
		return false;
	return eco == KZ_ECO_NODE ? node_version(root, key, out) : python_version(root, key, out);
}

static bool exists(int root, const char *dir, const char *name, const char *suffix)
{
	char path[600];

	return !kz_str_format(path, sizeof(path), NULL, "%s/%s%s", dir, name, suffix) &&
	       faccessat(root, path, F_OK, 0) == 0;
}

/* A module that is one file of machine code has a suffix of its interpreter. */
static bool has_extension(int root, const char *module)
{
	kz_auto_closedir DIR *d =
		open_list(openat(root, python_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	size_t n = strlen(module);
	struct dirent *e;
	int left = ENTRIES_MOST;

	while (d && left-- > 0 && (e = readdir(d)))
		if (!strncmp(e->d_name, module, n) && e->d_name[n] == '.' &&
		    strlen(e->d_name) > 3 && !strcmp(e->d_name + strlen(e->d_name) - 3, ".so"))
			return true;
	return false;
}

bool kz_baked_module(const struct kz_conf *conf, enum kz_ecosystem eco, const char *module)
{
	kz_auto_close int root = open_root(conf);

	if (root < 0)
		return false;
	for (size_t i = 0; eco == KZ_ECO_NODE && i < sizeof(node_dirs) / sizeof(*node_dirs); i++)
		if (exists(root, node_dirs[i], module, ""))
			return true;
	return eco == KZ_ECO_PYTHON &&
	       (exists(root, python_dir, module, "") || exists(root, python_dir, module, ".py") ||
		has_extension(root, module));
}

void kz_baked_stack(const struct kz_conf *conf, enum kz_ecosystem eco, char *out, size_t size)
{
	kz_auto_close int root = open_root(conf);
	char version[KZ_INSTALL_VERSION], key[KZ_REQUIREMENT_NAME];
	size_t used = 0;

	*out = '\0';
	for (size_t i = 0; root >= 0 && eco == KZ_ECO_PYTHON && i < KZ_BUNDLED_ROWS; i++) {
		version[0] = '\0';
		kz_requirement_key(eco, kz_bundled_rows[i].name, key);
		if (!python_version(root, key, version))
			continue;
		if (kz_str_format(out + used, size - used, NULL, "%s%s %s", used ? ", " : "",
				  kz_bundled_rows[i].name, version)) {
			out[used] = '\0';
			return;
		}
		used += strlen(out + used);
	}
}
