/*
 * One call of a library function: shared by the authority_*.c files, not a
 * contract with others.  Layer 3.
 */
#ifndef KZ_CORE_POOL_AUTHORITY_CALL_H
#define KZ_CORE_POOL_AUTHORITY_CALL_H

#include "core/pool/authority.h"
#include "port/vk.h"

struct kz_auth {
	struct kz_vk *vk;
	struct kz_vk *waits; /* a second connection for blocking pops, opened when needed */
	char url[768];
	char tag[64];          /* hash tag that every key begins with */
	char owner[KZ_ID_HEX]; /* a controller that speaks for a node; "" for anybody else */
};

/*
 * Call a function of this build's library with up to 250 arguments.
 * out: reply (new) of any answer; NULL is fine.
 * err: as kz_vk_call, and the refusal that the answer names, unless it is ok or wait.
 */
enum kz_rc kz_auth_call(struct kz_auth *a, const char *function, const struct kz_vk_arg *args,
			size_t count, struct kz_deadline until, struct kz_vk_reply **reply,
			struct kz_err *err);
/* As above with strings, within KZ_AUTH_CALL. in: NULL-terminated */
enum kz_rc kz_auth_call_text(struct kz_auth *a, const char *function, const char *const *args,
			     struct kz_vk_reply **reply, struct kz_err *err);
/* Wait on list KEY below the deployment's tag; see kz_vk_pop. */
enum kz_rc kz_auth_pop(struct kz_auth *a, const char *key, struct kz_ms slice, int other_fd,
		       struct kz_deadline until, bool *taken, bool *other, struct kz_err *err);
/* Fill worker, instance, node, fence, expiry, TTL and id from elements 1 to 7 of a reply. */
enum kz_rc kz_auth_take_lease(const struct kz_vk_reply *r, struct kz_lease *l, struct kz_err *err);
/* Who calls, as the library takes it: the controller, or "-". */
const char *kz_auth_me(const struct kz_auth *a);
/* Fail unless it is 1 to size-1 printable bytes without blanks: what the outbox line can carry. */
enum kz_rc kz_auth_word(const char *s, size_t size, const char *what, struct kz_err *err);

#endif
