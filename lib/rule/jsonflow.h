/*
 * JSON in pieces: a strict reader (RFC 8259) that tells what it finds as it comes and keeps
 * nothing but one string.  What its owner does not want is read past without being kept,
 * however long it is.  Pure.  Layer 2.
 */
#ifndef KZ_RULE_JSONFLOW_H
#define KZ_RULE_JSONFLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define KZ_JSONFLOW_DEPTH 64

enum kz_jsonflow_what {
	KZ_JSON_OBJECT,
	KZ_JSON_OBJECT_END,
	KZ_JSON_ARRAY,
	KZ_JSON_ARRAY_END,
	KZ_JSON_KEY,    /* decoded */
	KZ_JSON_STRING, /* decoded */
	KZ_JSON_OTHER,  /* a number, true, false or null, as it came */
};

/* What the owner says to one. */
enum kz_jsonflow_say {
	KZ_JSON_GO,
	KZ_JSON_PASS, /* to a key: its value is read past and not told */
	KZ_JSON_STOP, /* it is refused */
};

/* in: text[0..n) is borrowed during the call and terminated; a zero byte inside is possible */
typedef enum kz_jsonflow_say (*kz_jsonflow_fn)(void *arg, enum kz_jsonflow_what what,
					       const char *text, size_t n);

struct kz_jsonflow {
	kz_jsonflow_fn fn;
	void *arg;
	struct kz_buf text; /* the string or word that is being read */
	uint8_t state, word;
	uint16_t depth, pass; /* pass: the depth at which telling goes on; 0: it goes on */
	bool is_array[KZ_JSONFLOW_DEPTH + 1];
	bool is_key, is_passed; /* of the string that is being read; the next value is not told */
	uint32_t code, high;    /* of an escaped character; the first half of a pair */
	uint8_t code_at, utf8_left;
	bool is_failed;
};

/* in: text_max: bytes of one string that is wanted; a longer one is refused. own: kz_jsonflow_release */
void kz_jsonflow_init(struct kz_jsonflow *j, size_t text_max, kz_jsonflow_fn fn, void *arg);
void kz_jsonflow_release(struct kz_jsonflow *j);
/* Read the next piece. out: false: it is no JSON, too deep, too long, or its owner stopped it; then for ever. wait: never */
bool kz_jsonflow_add(struct kz_jsonflow *j, const void *p, size_t n);
/* Nothing more comes. out: was it one whole value? */
bool kz_jsonflow_end(struct kz_jsonflow *j);

/* Append text[0..n) as a string of JSON, with its quotes. err: as kz_buf_add */
enum kz_rc kz_jsonflow_quote(struct kz_buf *b, const char *text, size_t n, struct kz_err *err);

#endif
