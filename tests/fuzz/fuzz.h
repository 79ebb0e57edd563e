/* What fuzz targets share: a claim that ends the run with its place when it does not hold. */
#ifndef KZ_TESTS_FUZZ_H
#define KZ_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CLAIM(x)                                                                                   \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #x);     \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* libFuzzer's entry: one input. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
