/* Lines of an image's list: what is taken is told again in the same bytes, and its name stays below the root [IMG-11]. */
#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "rule/image_entry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct kz_image_line line;
	static char again[KZ_IMAGE_LINE + 64];

	if (!kz_image_line_parse((const char *)data, size, &line))
		return 0;
	CLAIM(line.mode <= 07777 && line.size >= 0 && line.name[0] && line.name[0] != '/');
	CLAIM(strcmp(line.name, "..") && strncmp(line.name, "../", 3) &&
	      !strstr(line.name, "/../"));
	snprintf(again, sizeof again, "%c\t%04o\t", (char)line.type, line.mode);
	CLAIM(!memcmp(again, data, strlen(again)));
	snprintf(again, sizeof again, "\t%s\t%s", line.sum, line.name);
	CLAIM(size > strlen(again) && !memcmp(data + size - strlen(again), again, strlen(again)));
	return 0;
}
