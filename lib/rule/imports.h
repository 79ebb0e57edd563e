/*
 * Imports: which packages a program names that it will need as soon as it runs, told from its text
 * alone.  An import inside "try" is the program's own question whether something is
 * there, so it asks for nothing; neither does one of the interpreter's own modules.
 * Layer 2, pure.  src: BRK-10
 */
#ifndef KZ_RULE_IMPORTS_H
#define KZ_RULE_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>

#include "rule/requirement.h"

#define KZ_IMPORTS_MOST 64

struct kz_import {
	char module[KZ_REQUIREMENT_NAME];  /* Python: the first component; node: the package */
	char package[KZ_REQUIREMENT_NAME]; /* the distribution that has it */
};

struct kz_imports {
	struct kz_import list[KZ_IMPORTS_MOST];
	size_t count;
	bool is_cut; /* there were more */
};

/* Find them in text[0..n): each once, in the order of the text. */
void kz_imports_find(enum kz_ecosystem eco, const char *text, size_t n, struct kz_imports *out);
/* The distribution that a Python module comes from: policy/bundled_python.tbl, policy/imports.tbl, else its own name. */
const char *kz_imports_package(const char *module);
/* Does the interpreter bring this module? */
bool kz_imports_is_builtin(enum kz_ecosystem eco, const char *module);

#endif
