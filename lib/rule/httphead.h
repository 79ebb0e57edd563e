/*
 * HTTP/1.1 request heads, parsed strictly: one form of each thing, everything
 * else refused, so that no two readers see different requests.  Lines end in
 * CR LF, names touch their colon, nothing folds, no control bytes, one length, one
 * Host (always in 1.1), credentials once, no coding in 1.0.  What a coding or a target
 * means is the reader's.
 * Pure: slices point into the caller's bytes.  Layer 2.
 * src: RFC 9112 sections 2 to 6
 */
#ifndef KZ_RULE_HTTPHEAD_H
#define KZ_RULE_HTTPHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KZ_HEAD_MAX 16384 /* bytes of a head, its empty line included */
#define KZ_HEAD_FIELDS 64

struct kz_slice {
	const char *p;
	size_t n;
};

enum kz_head_rc {
	KZ_HEAD_OK,
	KZ_HEAD_MORE,  /* no empty line yet: read on */
	KZ_HEAD_BAD,   /* malformed: answer 400 and close */
	KZ_HEAD_LARGE, /* over KZ_HEAD_MAX or KZ_HEAD_FIELDS: answer 431 and close */
};

struct kz_httphead {
	struct kz_slice method, target;
	int minor;    /* of HTTP/1.x: 0 or 1 */
	size_t bytes; /* of the head: the body starts here */
	size_t count;
	struct {
		struct kz_slice name, value; /* value without blanks around it */
	} fields[KZ_HEAD_FIELDS];
	int64_t content_length; /* -1: none given */
	bool has_transfer_encoding;
	bool is_close; /* the connection ends after this request */
};

/*
 * Where does the head end?  For who gets it in pieces: bytes before *at were looked at
 * already and are not again, so that a byte at a time costs no more than all at once.
 * in: *at 0 at first.  out: KZ_HEAD_OK and *at is the bytes of the head; KZ_HEAD_MORE and
 * *at goes into the next call; KZ_HEAD_BAD as soon as a byte shows it; KZ_HEAD_LARGE.
 */
enum kz_head_rc kz_httphead_find(const char *p, size_t n, size_t *at);
/* Parse the head at the start of p[0..n). out: h is whole only with KZ_HEAD_OK. wait: never */
enum kz_head_rc kz_httphead_parse(const char *p, size_t n, struct kz_httphead *h);
/* The same of a head that kz_httphead_find found to have end bytes. */
enum kz_head_rc kz_httphead_read(const char *p, size_t end, struct kz_httphead *h);
/* The value of a field by name (any case), or NULL when absent; the first when repeated. borrowed */
const struct kz_slice *kz_httphead_field(const struct kz_httphead *h, const char *name);
/* Is the slice exactly this text (case counts)? */
bool kz_slice_is(struct kz_slice s, const char *text);

#endif
