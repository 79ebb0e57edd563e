/*
 * Where packages come from on a new installation: what the host's own pip and npm ask.
 * Asked while the services start, so that it costs no time.  Layer 3, for core/front only.
 * src: BRK-1, BRK-32, BRK-33
 */
#ifndef KZ_CORE_FRONT_REGISTRIES_H
#define KZ_CORE_FRONT_REGISTRIES_H

#include <sys/types.h>

#include "core/front/front.h"

/* The two that are asked; pid 0: nobody is. */
struct kz_registries_asked {
	struct kz_asked_tool {
		pid_t pid;
		int pidfd, out;
	} pip, npm;
};
#define KZ_REGISTRIES_NONE                                                                         \
	{                                                                                          \
		{ 0, -1, -1 },                                                                     \
		{                                                                                  \
			0, -1, -1                                                                  \
		}                                                                                  \
	}

/* Start asking. wait: never. A tool that is not there is asked for nothing. */
void kz_front_registries_ask(struct kz_registries_asked *a);
/*
 * Collect what they said, store SANDBOX_PACKAGE_REGISTRIES and say so in a line; a tool that
 * failed, took too long, or names something with a password in it, counts for nothing.
 * wait: 10 s. err: as kz_conf_store
 */
enum kz_rc kz_front_registries_store(const struct kz_front *f, struct kz_registries_asked *a,
				     struct kz_err *err);

/* The setting for two URLs and the host that keeps the index's files, each "" where there is none. Pure. out: appended. err: KZ_E_OS */
enum kz_rc kz_front_registries_text(const char *index, const char *files, const char *registry,
				    struct kz_buf *b, struct kz_err *err);

#endif
