/* port/deflate: whole streams, cut ones, and the bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "port/deflate.h"

#define TEXT 100000 /* several pieces long */

static enum kz_rc keep(void *arg, const void *p, size_t n, struct kz_err *err)
{
	return kz_buf_add(arg, p, n, err);
}

static enum kz_rc refuse(void *arg, const void *p, size_t n, struct kz_err *err)
{
	(void)arg;
	(void)p;
	return kz_err_set(err, KZ_E_NOPERM, "not %zu", n);
}

/* A text that packs, packed in either form. */
static size_t packed(enum kz_inflate_form form, unsigned char *out, size_t room, char *text)
{
	z_stream z = { 0 };

	for (size_t i = 0; i < TEXT; i++)
		text[i] = (char)('a' + (i * i / 7) % 23);
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, form == KZ_INFLATE_RAW ? -15 : 15, 8, 0),
			 Z_OK);
	z.next_in = (unsigned char *)text;
	z.avail_in = TEXT;
	z.next_out = out;
	z.avail_out = (uInt)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return z.total_out;
}

static void expands_both_forms_up_to_the_bound(void **state)
{
	static char text[TEXT];
	static unsigned char in[2 * TEXT];

	(void)state;
	for (int form = KZ_INFLATE_RAW; form <= KZ_INFLATE_ZLIB; form++) {
		kz_auto_buf struct kz_buf out = KZ_BUF_INIT(2 * TEXT);
		size_t n = packed((enum kz_inflate_form)form, in, sizeof in - 8, text);
		struct kz_inflate how = { (enum kz_inflate_form)form, TEXT, keep, &out };
		struct kz_inflated told;
		memcpy(in + n, "behind", 6);
		assert_int_equal(kz_inflate(&how, in, n + 6, &told, NULL), KZ_OK);
		assert_int_equal(out.len, TEXT);
		assert_memory_equal(out.data, text, TEXT);
		assert_int_equal(told.used, n);
		assert_int_equal(told.made, TEXT);
		/* BOUND-12: inclusive */
		how.max = TEXT - 1;
		how.piece = NULL;
		assert_int_equal(kz_inflate(&how, in, n, &told, NULL), KZ_E_DATA);
		assert_true(told.over);
		assert_true(told.made < TEXT);
	}
}

static void refuses_cut_and_damaged_streams(void **state)
{
	static char text[TEXT];
	static unsigned char in[2 * TEXT];
	struct kz_inflate how = { KZ_INFLATE_ZLIB, TEXT, NULL, NULL };
	size_t n = packed(KZ_INFLATE_ZLIB, in, sizeof in, text);
	struct kz_err err = KZ_ERR_INIT;
	struct kz_inflated told;

	(void)state;
	for (size_t cut = 0; cut < n; cut += cut < n - 8 ? n / 50 : 1)
		assert_int_equal(kz_inflate(&how, in, cut, NULL, NULL), KZ_E_DATA);
	assert_int_equal(kz_inflate(&how, NULL, 0, &told, NULL), KZ_E_DATA);
	in[n - 1] ^= 1; /* the checksum */
	assert_int_equal(kz_inflate(&how, in, n, &told, &err), KZ_E_DATA);
	assert_false(told.over);
	how.form = KZ_INFLATE_RAW;
	assert_int_equal(kz_inflate(&how, "\xff\xff\xff", 3, NULL, NULL), KZ_E_DATA);
}

static void stops_where_the_caller_says(void **state)
{
	static char text[TEXT];
	static unsigned char in[2 * TEXT];
	const struct kz_inflate how = { KZ_INFLATE_RAW, TEXT, refuse, NULL };
	size_t n = packed(KZ_INFLATE_RAW, in, sizeof in, text);
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	assert_int_equal(kz_inflate(&how, in, n, NULL, &err), KZ_E_NOPERM);
	assert_non_null(strstr(err.text, "not "));
}

static void crc_goes_on_in_pieces(void **state)
{
	(void)state;
	assert_int_equal(kz_crc32(0, "123456789", 9), 0xcbf43926);
	assert_int_equal(kz_crc32(kz_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expands_both_forms_up_to_the_bound),
		cmocka_unit_test(refuses_cut_and_damaged_streams),
		cmocka_unit_test(stops_where_the_caller_says),
		cmocka_unit_test(crc_goes_on_in_pieces),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
