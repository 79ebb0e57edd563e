/* Marks of files: inode, size and times, mixed (FNV-1a). */
#include "base/mark.h"

#include <dirent.h>
#include <sys/stat.h>

#include "base/auto.h"

#define START UINT64_C(0xcbf29ce484222325)

static uint64_t mix(uint64_t h, uint64_t v)
{
	return (h ^ v) * UINT64_C(0x100000001b3);
}

static uint64_t mix_stat(uint64_t h, const struct stat *st)
{
	h = mix(mix(h, st->st_ino), (uint64_t)st->st_size);
	h = mix(mix(h, (uint64_t)st->st_mtim.tv_sec), (uint64_t)st->st_mtim.tv_nsec);
	return mix(mix(h, (uint64_t)st->st_ctim.tv_sec), (uint64_t)st->st_ctim.tv_nsec);
}

uint64_t kz_mark_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? mix_stat(START, &st) : 0;
}

uint64_t kz_mark_dir(const char *path)
{
	kz_auto_closedir DIR *d = opendir(path);
	const struct dirent *e;
	struct stat st;
	uint64_t sum = 1;

	if (!d)
		return 0;
	while ((e = readdir(d))) {
		uint64_t h = START;

		if (e->d_name[0] == '.' || fstatat(dirfd(d), e->d_name, &st, 0) < 0)
			continue;
		for (const char *p = e->d_name; *p; p++)
			h = mix(h, (unsigned char)*p);
		sum += mix_stat(h, &st);
	}
	return sum;
}
