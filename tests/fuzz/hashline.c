/*
 * Edits in text form on a fixed conversation: what is refused changes no file; what is done reads
 * back as its tag says, keeps what it did not touch, and can be edited again [HL-3, HL-7, HL-10].
 * The input: one byte that chooses how the file is now, then the edit.
 */
#include <string.h>

#include "fuzz.h"
#include "rule/hashline_apply.h"
#include "rule/tag.h"

static const char *const now[] = {
	"one\ntwo\nthree\nfour\nfive\n}\nsix\n}\n", /* as it was shown */
	"zero\none\ntwo\nthree\nfour\nfive\n}\nsix\n}\n",
	"one\r\ntwo\r\nthree\r\nfour\r\nfive\r\n}\r\nsix\r\n}\r\n",
	"one\rtwo\nthree\r\nfour\nfive\n}\n\nsix\n}",
	"one\ntwo\nTHREE\nfour\nfive\n}\nsix\n}\n",
	"",
};
#define KINDS (sizeof now / sizeof *now)

static void show(struct kz_book *b, const char *path, const char *text, uint32_t lines,
		 uint32_t seen)
{
	kz_auto_spans struct kz_spans s = { NULL, 0, 0 };

	CLAIM(kz_spans_add(&s, 1, seen, NULL) == KZ_OK);
	CLAIM(kz_book_show(b, path, text, strlen(text), false, lines, &s, NULL, NULL) == KZ_OK);
}

static void check(const struct kz_effect *x, const struct kz_book *b)
{
	kz_auto_text struct kz_text t = { NULL, 0, false };
	kz_auto_buf struct kz_buf normal = KZ_BUF_INIT(KZ_TEXT_MAX);
	const struct kz_page *p = kz_book_find(b, x->op == KZ_EFFECT_MOVE ? x->dest : x->path);

	if (x->op == KZ_EFFECT_REMOVE) {
		CLAIM(x->bytes.len == 0);
		return;
	}
	CLAIM(kz_text_split(kz_buf_str(&x->bytes), x->bytes.len, &t, NULL) == KZ_OK);
	CLAIM(t.count == x->lines);
	CLAIM(kz_text_normal(&t, &normal, NULL) == KZ_OK);
	CLAIM(kz_tag(kz_buf_str(&normal), normal.len) == x->tag);
	CLAIM(p && p->version[0].tag == x->tag && p->version[0].lines == x->lines);
	CLAIM(kz_spans_sound(&p->version[0].seen, x->lines));
	CLAIM(kz_text_is_ended(&t) ||
	      (x->old_n && x->old[x->old_n - 1] != 10 && x->old[x->old_n - 1] != 13));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	kz_auto_book struct kz_book b = { .pages = 0 };
	kz_auto_edit struct kz_edit e = { .sections = 0 };
	kz_auto_effects struct kz_effects x = { NULL, 0 };
	struct kz_edit_file f[] = { { "a", true, NULL, 0 },
				    { "b/c", true, "x\ny", 3 },
				    { "d", false, NULL, 0 } };
	struct kz_row kept = { "kept", 4 };
	struct kz_err err = KZ_ERR_INIT;
	enum kz_rc rc;

	if (size < 1 || size > 4096)
		return 0;
	f[0].bytes = now[data[0] % KINDS];
	f[0].n = strlen(f[0].bytes);
	show(&b, "a", now[0], 8, 8);
	show(&b, "b/c", "x\ny", 2, 1);
	CLAIM(kz_book_keep(&b, "r", &kept, 1, NULL) == KZ_OK);
	rc = kz_edit_parse((const char *)data + 1, size - 1, &e, &err);
	if (rc == KZ_OK)
		rc = kz_edit_apply(&e, &b, f, 3, &x, &err);
	CLAIM(rc == KZ_OK || *err.reason);
	CLAIM(rc != KZ_E_SOFTWARE);
	for (size_t i = 0; i < x.count && rc == KZ_OK; i++)
		check(&x.effect[i], &b);
	return 0;
}
