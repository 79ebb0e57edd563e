/*
 * Reader of an entry stream that comes in pieces (rule/entry.h).  It holds one head and
 * one name, never content.  Order and twice the same name are matters of who keeps a
 * tree.  Layer 2, pure.
 * src: WS-15
 */
#ifndef KZ_RULE_ENTRY_READER_H
#define KZ_RULE_ENTRY_READER_H

#include "base/err.h"
#include "rule/entry.h"

enum kz_entry_reader_state {
	KZ_ENTRY_AT_HEAD,
	KZ_ENTRY_AT_NAME,
	KZ_ENTRY_AT_DATA,
	KZ_ENTRY_AT_END, /* the last record came */
	KZ_ENTRY_AT_FAULT,
};

struct kz_entry_reader {
	enum kz_entry_reader_state state;
	uint8_t head[KZ_ENTRY_HEAD];
	char name[KZ_ENTRY_NAME_MAX + 1];
	size_t have;       /* bytes of head or name */
	struct kz_entry e; /* the one at hand */
	int64_t left;      /* bytes of it still to come */
	int64_t count;     /* entries so far */
	int64_t skipped;   /* told by the last record */
};

/* What it calls: each entry with its name (terminated, borrowed), then its bytes in any number of pieces. */
struct kz_entry_sink {
	void *arg;
	enum kz_rc (*entry)(void *arg, const struct kz_entry *e, const char *name,
			    struct kz_err *err);
	enum kz_rc (*data)(void *arg, const void *p, size_t n, struct kz_err *err);
};

/* Begin. */
void kz_entry_start(struct kz_entry_reader *r);
/*
 * Take a piece of the stream.  After a failure nothing more is taken.
 * err: KZ_E_DATA without a reason for what is no entry stream; what the sink returned
 */
enum kz_rc kz_entry_feed(struct kz_entry_reader *r, const void *p, size_t n,
			 const struct kz_entry_sink *to, struct kz_err *err);
/* Did the stream end as it should? */
bool kz_entry_is_whole(const struct kz_entry_reader *r);

#endif
