/*
 * Valkey: one connection, commands as argument vectors, every wait bounded.
 * The only user of hiredis (0.14 is the oldest supported).
 *
 * A failure carries the reason it means: coordination_unavailable (refused, timed
 * out, broken), coordination_loading, _readonly, _memory, _busy, url_unsupported,
 * library_missing (no such function).  After a broken call the connection is
 * closed; the next call connects again.  Layer 1.
 */
#ifndef KZ_PORT_VK_H
#define KZ_PORT_VK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/auto.h"
#include "base/err.h"
#include "base/time.h"

struct kz_vk;
struct kz_vk_reply;

/* An argument: text, or p[0..n). */
struct kz_vk_arg {
	const char *p;
	size_t n;
};
struct kz_vk_arg kz_vk_text(const char *s);
/* A number as text in buf[0..24), borrowed from buf. */
struct kz_vk_arg kz_vk_num(char buf[24], int64_t n);

/*
 * Connect. in: url unix:PATH or valkey://[[USER]:PASSWORD@]HOST[:PORT][/DB]; unix:PATH may end in ?db=N.
 * err: url_unsupported (78) for every other form, coordination_*.
 * wait: until deadline
 */
enum kz_rc kz_vk_open(struct kz_vk **out, const char *url, struct kz_deadline until,
		      struct kz_err *err);
void kz_vk_close(struct kz_vk *v);
KZ_AUTO(kz_auto_vk_, struct kz_vk *, kz_vk_close)
#define kz_auto_vk kz_auto(kz_auto_vk_)
/* The database number of the URL. */
int kz_vk_db(const struct kz_vk *v);

/*
 * Send one command and wait for its answer.
 * out: reply (new), never an error reply: those are mapped. NULL is fine when it does not matter.
 * err: coordination_*, library_missing, KZ_E_SOFTWARE for any other error reply.
 */
enum kz_rc kz_vk_call(struct kz_vk *v, const struct kz_vk_arg *args, size_t count,
		      struct kz_deadline until, struct kz_vk_reply **reply, struct kz_err *err);
/*
 * Wait for an element of a list and take it, for slice at most, or until
 * other_fd is readable (-1: none) or the deadline passes.  A wait that ended before
 * its slice goes on with the next call for the same key.
 * out: taken, whether an element came; other, whether other_fd ended it.
 */
enum kz_rc kz_vk_pop(struct kz_vk *v, const char *key, struct kz_ms slice, int other_fd,
		     struct kz_deadline until, bool *taken, bool *other, struct kz_err *err);

/* Free a reply; NULL is fine. */
void kz_vk_reply_free(struct kz_vk_reply *r);
KZ_AUTO(kz_auto_vk_reply_, struct kz_vk_reply *, kz_vk_reply_free)
#define kz_auto_vk_reply kz_auto(kz_auto_vk_reply_)
/* Elements of an array, 0 for anything else. */
size_t kz_vk_count(const struct kz_vk_reply *r);
/* The i-th element, borrowed; NULL past the end or for no array. */
const struct kz_vk_reply *kz_vk_at(const struct kz_vk_reply *r, size_t i);
/* Text of a string or status; "" for anything else (r may be NULL). borrowed */
const char *kz_vk_str(const struct kz_vk_reply *r);
/* Number of an integer or of decimal text; 0 for anything else (r may be NULL). */
int64_t kz_vk_int(const struct kz_vk_reply *r);
bool kz_vk_is_null(const struct kz_vk_reply *r);

#endif
