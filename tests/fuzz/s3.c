/*
 * Answers of S3 servers: the first byte chooses a page of a listing or an error.  A page that is taken ascends, is after
 * what came before, has a way on when there is more; the code of an error is a word [WS-8].
 */
#include <ctype.h>
#include <string.h>

#include "core/files/s3_answer.h"
#include "fuzz.h"

static void check_page(const struct kz_s3_page *page, const char *after)
{
	CLAIM(page->count <= KZ_S3_PAGE_NAMES);
	for (size_t i = 0; i < page->count; i++) {
		const struct kz_s3_item *it = &page->items[i];

		CLAIM(strlen(it->key) > 0 && strlen(it->key) < KZ_S3_KEY);
		CLAIM(strcmp(it->key, after) > 0);
		CLAIM(it->size >= 0);
		after = it->key;
	}
	CLAIM(page->is_cut == (page->token[0] != 0));
	CLAIM(!page->is_cut || page->count > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kz_s3_page page;
	char code[KZ_S3_CODE];

	if (size == 0)
		return 0;
	if (data[0] == 'e') {
		kz_s3_error_code(data + 1, size - 1, code);
		CLAIM(strlen(code) < KZ_S3_CODE);
		for (const char *c = code; *c; c++)
			CLAIM(isalnum((unsigned char)*c));
		return 0;
	}
	if (kz_s3_page_read(data + 1, size - 1, data[0] == 'a' ? "m" : "", &page, NULL) == KZ_OK)
		check_page(&page, data[0] == 'a' ? "m" : "");
	kz_s3_page_release(&page);
	return 0;
}
