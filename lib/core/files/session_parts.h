/*
 * Parts of core/files/session, included by nobody else.  Layer 3.
 */
#ifndef KZ_CORE_FILES_SESSION_PARTS_H
#define KZ_CORE_FILES_SESSION_PARTS_H

#include "core/files/image.h"
#include "core/files/session.h"
#include "core/run/hold.h"

struct kz_workspace {
	struct kz_hold hold; /* settings and names; Valkey and lease of a writer */
	bool is_lease_own;
	bool writes;
	int cancel_fd;
	char key[KZ_ID_HEX];
	struct kz_objects *objects;
	struct kz_generation now;
};

/* How long one call may take. */
#define KZ_SESSION_CALL KZ_SECONDS(300)

/* The bounds of a stored tree, as the settings say. */
struct kz_tree_bounds kz_session_bounds(const struct kz_workspace *w);
/* The tree that the session stands on. out: m, empty before */
enum kz_rc kz_session_image(struct kz_workspace *w, struct kz_image *m, struct kz_err *err);

#endif
