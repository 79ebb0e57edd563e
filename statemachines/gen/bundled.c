/* Do not edit: made by kzgen from policy/bundled_python.tbl. */
#include "gen/bundled.h"

const struct kz_bundled_row kz_bundled_rows[KZ_BUNDLED_ROWS] = {
	{ "pandas", "pandas", true },
	{ "numpy", "numpy", true },
	{ "scipy", "scipy", true },
	{ "matplotlib", "matplotlib", true },
	{ "openpyxl", "openpyxl", true },
	{ "XlsxWriter", "xlsxwriter", true },
	{ "python-docx", "docx", true },
	{ "python-pptx", "pptx", false },
	{ "pypdf", "pypdf", true },
	{ "Pillow", "PIL", true },
	{ "reportlab", "reportlab", true },
	{ "requests", "requests", true },
	{ "beautifulsoup4", "bs4", true },
	{ "lxml", "lxml", true },
	{ "tabulate", "tabulate", true },
	{ "PyYAML", "yaml", true },
};
