/* Do not edit: made by kzgen from policy/bundled_python.tbl. */
#ifndef KZ_GEN_BUNDLED_H
#define KZ_GEN_BUNDLED_H

#include <stdbool.h>

/* A Python distribution that a worker image promises, and what it is imported as. */
struct kz_bundled_row {
	const char *name, *module;
	bool is_baked; /* else the package broker gives it */
};

#define KZ_BUNDLED_ROWS 16
extern const struct kz_bundled_row kz_bundled_rows[KZ_BUNDLED_ROWS];

#endif
