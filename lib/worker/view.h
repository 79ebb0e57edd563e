/*
 * What the namespaces of the calling process hold: System V objects, message
 * queues, sockets, mounts, limits, owners and modes.  Process 1 takes it of its
 * own namespaces, the tenant's fresh first process of the tenant's.
 */
#ifndef KZ_WORKER_VIEW_H
#define KZ_WORKER_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KZ_VIEW_PLACES 17
/* Owner and mode of a place that stays; all 0: it is not there. */
struct kz_view_mode {
	uint32_t mode, uid, gid, rdev;
};

/* What the tenant's namespaces hold; -1 where it could not be read. */
struct kz_view {
	int64_t shm, msg, sem, mqueue, sockets, mounts, projection;
	char mounts_digest[65], limits_digest[65], modes_digest[65];
	struct kz_view_mode
		modes[KZ_VIEW_PLACES]; /* what modes_digest is of, in the order of view.c */
};

/* Measure. in: inside: the caller lives in the tenant's namespaces. out: -1 or "" for what could not be read. wait: never */
void kz_view_take(struct kz_view *v, bool inside);
/*
 * The first place whose owner or mode is another than at birth, in words: "/tmp was 1777 0:0, is 755 0:0".
 * in: readings of the same side. out: text, "" when none is
 */
void kz_view_changed(const struct kz_view_mode now[KZ_VIEW_PLACES],
		     const struct kz_view_mode base[KZ_VIEW_PLACES], bool inside, char *out,
		     size_t size);
/* Sockets of the caller's network namespace alone; -1 when they could not be counted. wait: never */
int64_t kz_view_sockets(void);

#endif
