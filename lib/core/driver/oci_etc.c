#include "core/driver/oci_part.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"

#define COPY_MAX (16 << 20)

struct made {
	const char *name;
	const char *text;
};

/* Nothing of the host's accounts, names or addresses. */
static const struct made files[] = {
	{ "passwd", "root:x:0:0:root:/:/usr/sbin/nologin\n"
		    "kz:x:1000:1000:kz:/work/space:/bin/sh\n"
		    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n" },
	{ "group", "root:x:0:\nkz:x:1000:\nnogroup:x:65534:\n" },
	{ "hosts", "127.0.0.1\tlocalhost kz\n::1\tlocalhost ip6-localhost ip6-loopback\n" },
	{ "hostname", "kz\n" },
	{ "nsswitch.conf",
	  "passwd: files\ngroup: files\nshadow: files\nhosts: files\nprotocols: files\nservices: files\n" },
	{ "host.conf", "multi on\n" },
	{ "timezone", "Etc/UTC\n" },
};

static const struct made links[] = {
	{ "os-release", "../usr/lib/os-release" },
	{ "localtime", "/usr/share/zoneinfo/Etc/UTC" },
};

static enum kz_rc copy_file(const char *from, int dir, const char *to, struct kz_err *err)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(COPY_MAX);

	if (access(from, F_OK) != 0)
		return KZ_OK; /* a host without certificates gives workers without certificates */
	if (kz_file_read(AT_FDCWD, from, &text, err))
		return err ? err->rc : KZ_E_IO;
	return kz_file_replace(dir, to, text.data, text.len, 0644, (gid_t)-1, err);
}

static enum kz_rc make_link(const char *target, int dir, const char *name, struct kz_err *err)
{
	if (symlinkat(target, dir, name) != 0 && errno != EEXIST)
		return kz_err_sys(err, KZ_E_CANTCREAT, "cannot make the link etc/%s", name);
	return KZ_OK;
}

/* The entries of one directory of the host: the links of alternatives, or the regular files of another. */
static enum kz_rc copy_entries(const char *from, bool are_links, int etc, const char *to,
			       struct kz_err *err)
{
	kz_auto_closedir DIR *d = opendir(from);
	kz_auto_close int dir = -1;
	struct dirent *e;

	if (!d)
		return errno == ENOENT ? KZ_OK : kz_err_sys(err, KZ_E_IO, "cannot open %s", from);
	if (kz_dir_make(etc, to, 0755, (gid_t)-1, err))
		return err ? err->rc : KZ_E_CANTCREAT;
	dir = openat(etc, to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot open etc/%s", to);
	while ((e = readdir(d)) != NULL) {
		char target[1024];
		char path[1280];
		ssize_t n;

		if (are_links) {
			n = readlinkat(dirfd(d), e->d_name, target, sizeof target - 1);
			if (n < 0)
				continue;
			target[n] = '\0';
			if (make_link(target, dir, e->d_name, err))
				return err ? err->rc : KZ_E_CANTCREAT;
		} else if (e->d_type == DT_REG) {
			if (kz_str_format(path, sizeof path, err, "%s/%s", from, e->d_name) ||
			    copy_file(path, dir, e->d_name, err))
				return err ? err->rc : KZ_E_IO;
		}
	}
	return KZ_OK;
}

enum kz_rc kz_oci_etc_make(int root, struct kz_err *err)
{
	kz_auto_close int etc = -1;

	if (kz_dir_make(root, "etc", 0755, (gid_t)-1, err))
		return err ? err->rc : KZ_E_CANTCREAT;
	etc = openat(root, "etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (etc < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot open etc");
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		if (kz_file_replace(etc, files[i].name, files[i].text, strlen(files[i].text), 0644,
				    (gid_t)-1, err))
			return err ? err->rc : KZ_E_CANTCREAT;
	for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
		if (make_link(links[i].text, etc, links[i].name, err))
			return err ? err->rc : KZ_E_CANTCREAT;
	/* Debian's matplotlib is not imported without its settings */
	if (copy_file("/etc/ld.so.cache", etc, "ld.so.cache", err) ||
	    copy_file("/etc/ld.so.conf", etc, "ld.so.conf", err) ||
	    copy_file("/etc/matplotlibrc", etc, "matplotlibrc", err) ||
	    copy_entries("/etc/ld.so.conf.d", false, etc, "ld.so.conf.d", err) ||
	    copy_entries("/etc/alternatives", true, etc, "alternatives", err))
		return err ? err->rc : KZ_E_IO;
	if (kz_dir_make(etc, "ssl", 0755, (gid_t)-1, err) ||
	    kz_dir_make(etc, "ssl/certs", 0755, (gid_t)-1, err))
		return err ? err->rc : KZ_E_CANTCREAT;
	return copy_file("/etc/ssl/certs/ca-certificates.crt", etc, "ssl/certs/ca-certificates.crt",
			 err);
}
