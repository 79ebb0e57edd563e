/* PDF documents: bounded, the same twice, and what is sound at level 2 is at level 1 [NAT-2, NAT-8]. */
#include "native.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (judge(KZ_NATIVE_PDF, 2, data, size))
		CLAIM(judge(KZ_NATIVE_PDF, 1, data, size));
	return 0;
}
