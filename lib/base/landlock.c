/* Landlock by numbers: the headers of the oldest system know only its first versions. */
#include "base/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"

#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446
#define ASK_VERSION 1
#define PATH_BENEATH 1

/* Those that a single file has: execute, write, read, truncate, device control. */
#define OF_A_FILE                                                                                  \
	(UINT64_C(1) | UINT64_C(1) << 1 | UINT64_C(1) << 2 | UINT64_C(1) << 14 | UINT64_C(1) << 15)

struct ruleset {
	uint64_t files, tcp, others;
};

struct beneath {
	uint64_t rights;
	int32_t fd;
} __attribute__((packed));

int kz_landlock_version(void)
{
	long v = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);

	return v < 0 ? 0 : (int)v;
}

bool kz_landlock_open(struct kz_landlock *l, unsigned also)
{
	/* how many rights to files each version knows */
	static const int bits[] = { 0, 13, 14, 15, 15, 16 };
	const int known = (int)(sizeof bits / sizeof *bits) - 1;
	int version = kz_landlock_version();
	struct ruleset r = { (UINT64_C(1) << bits[version < known ? version : known]) - 1,
			     also & KZ_LAND_NO_TCP && version >= 4 ? 3 : 0,
			     also & KZ_LAND_NO_OTHERS && version >= 6 ? 3 : 0 };
	size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;

	l->files = r.files;
	l->fd = (int)syscall(CREATE_RULESET, &r, size, 0);
	return l->fd >= 0;
}

bool kz_landlock_allow(struct kz_landlock *l, const char *path, uint64_t rights)
{
	kz_auto_close int fd = open(path, O_PATH | O_CLOEXEC);
	struct beneath b = { rights & l->files, fd };
	struct stat st;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR;
	if (fstat(fd, &st) != 0)
		return false;
	if (!S_ISDIR(st.st_mode))
		b.rights &= OF_A_FILE;
	return syscall(ADD_RULE, l->fd, PATH_BENEATH, &b, 0) == 0;
}

bool kz_landlock_enter(struct kz_landlock *l)
{
	return syscall(RESTRICT_SELF, l->fd, 0) == 0;
}

void kz_landlock_drop(struct kz_landlock *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}
