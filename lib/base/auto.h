/*
 * Scope-bound cleanup: a variable releases what it holds when it leaves scope.
 *
 * kz_auto_X marks the variable; kz_take hands a pointer out and leaves NULL.
 * Each module that has a free function adds its own with KZ_AUTO.  Layer 0.
 */
#ifndef KZ_BASE_AUTO_H
#define KZ_BASE_AUTO_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define kz_auto(fn) __attribute__((cleanup(fn)))

static inline void kz_auto_free_(void *p)
{
	free(*(void **)p);
}

static inline void kz_auto_close_(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void kz_auto_closedir_(DIR **d)
{
	if (*d)
		closedir(*d);
}

static inline void kz_auto_fclose_(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define kz_auto_free kz_auto(kz_auto_free_)         /* char *p = NULL; free() */
#define kz_auto_close kz_auto(kz_auto_close_)       /* int fd = -1; close() */
#define kz_auto_closedir kz_auto(kz_auto_closedir_) /* DIR *d = NULL */
#define kz_auto_fclose kz_auto(kz_auto_fclose_)     /* FILE *f = NULL */

/* Define kz_auto cleanup NAME for pointer TYPE freed by FN: KZ_AUTO(kz_auto_x_, struct x *, x_free) */
#define KZ_AUTO(name, type, fn)                                                                    \
	static inline void name(type *p)                                                           \
	{                                                                                          \
		if (*p)                                                                            \
			fn(*p);                                                                    \
	}

/* Hand a pointer out of its scope: returns the value and leaves NULL. */
#define kz_take(p)                                                                                 \
	({                                                                                         \
		__typeof__(p) kz_take_ = (p);                                                      \
		(p) = NULL;                                                                        \
		kz_take_;                                                                          \
	})

/* Hand a descriptor out of its scope: returns it and leaves -1. */
static inline int kz_take_fd(int *fd)
{
	int v = *fd;

	*fd = -1;
	return v;
}

#endif
