/*
 * Classification of programs: any bytes end in at most 16 matches, each with a line that the text has; twice is the
 * same; what stands behind the end is not read [EXEC-11].  The first byte chooses the language.
 */
#include <string.h>

#include "fuzz.h"
#include "rule/classify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kz_classify a, b;
	enum kz_classify_language language;
	size_t lines = 1;
	char *text;

	if (size < 1)
		return 0;
	language = (enum kz_classify_language)(data[0] % 3);
	text = malloc(size); /* of its own, so that a byte too far is seen */
	CLAIM(text);
	memcpy(text, data + 1, size - 1);
	for (size_t i = 0; i < size - 1; i++)
		lines += text[i] == '\n';
	CLAIM(kz_classify(language, text, size - 1, &a) == (a.count > 0));
	CLAIM(a.count <= KZ_CLASSIFY_MATCHES);
	for (size_t i = 0; i < a.count; i++) {
		CLAIM(a.matches[i].line >= 1 && a.matches[i].line <= lines);
		CLAIM(kz_admin_name(a.matches[i].what));
	}
	kz_classify(language, text, size - 1, &b);
	CLAIM(a.count == b.count &&
	      memcmp(a.matches, b.matches, a.count * sizeof(*a.matches)) == 0);
	free(text);
	return 0;
}
