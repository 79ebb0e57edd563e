/* kzgen: one source for each table of kz, many readers.  Run from the top of the tree. */
#include "kzgen/sm.h"

#include <string.h>
#include <unistd.h>

static int usage(void)
{
	fputs("usage: kzgen [-o OUT] settings FILE | reasons FILE | addresses FILE | imports FILE | bundled FILE | machines GUARDS FILE...\n",
	      stderr);
	return 64;
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "o:")) != -1) {
		if (c != 'o')
			return usage();
		out_root = optarg;
	}
	argv += optind;
	argc -= optind;
	if (argc == 2 && strcmp(argv[0], "settings") == 0)
		make_settings(argv[1]);
	else if (argc == 2 && strcmp(argv[0], "reasons") == 0)
		make_reasons(argv[1]);
	else if (argc == 2 && strcmp(argv[0], "addresses") == 0)
		make_addresses(argv[1]);
	else if (argc == 2 && strcmp(argv[0], "imports") == 0)
		make_imports(argv[1]);
	else if (argc == 2 && strcmp(argv[0], "bundled") == 0)
		make_bundled(argv[1]);
	else if (argc >= 3 && strcmp(argv[0], "machines") == 0)
		make_machines(argv[1], argv + 2, argc - 2);
	else
		return usage();
	return 0;
}
