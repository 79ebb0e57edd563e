/*
 * DNS answers: the first byte asks for a family, the rest is the message.  Whatever it is, no more than the bound comes
 * out, all of the family that was asked for, each once, and twice the same [PROXY-4, PROXY-5].
 */
#include <string.h>

#include "fuzz.h"
#include "port/dns_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct kz_dns_found found, again;
	enum kz_dns_rc rc;
	uint8_t family;

	if (size == 0)
		return 0;
	family = *data & 1 ? 6 : 4;
	found.count = again.count = 0;
	rc = kz_dns_answer(data + 1, size - 1, "pub.test", family, &found);
	CLAIM(rc == kz_dns_answer(data + 1, size - 1, "pub.test", family, &again));
	if (rc != KZ_DNS_OK)
		return 0;
	CLAIM(found.count <= KZ_DNS_MOST && found.count == again.count);
	for (size_t i = 0; i < found.count; i++) {
		CLAIM(found.addr[i].family == family);
		CLAIM(memcmp(&found.addr[i], &again.addr[i], sizeof found.addr[i]) == 0);
		for (size_t k = 0; k < i; k++)
			CLAIM(memcmp(&found.addr[i], &found.addr[k], sizeof found.addr[i]) != 0);
	}
	return 0;
}
