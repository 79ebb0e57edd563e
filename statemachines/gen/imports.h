/* Do not edit: made by kzgen from policy/imports.tbl. */
#ifndef KZ_GEN_IMPORTS_H
#define KZ_GEN_IMPORTS_H

/* A module of Python and the distribution that has it. */
struct kz_import_row {
	const char *module, *package;
};

#define KZ_IMPORT_ROWS 50
/* By module. */
extern const struct kz_import_row kz_import_rows[KZ_IMPORT_ROWS];

#endif
