/* kz-archive: trees of files into tar and out of it, behind a wall. */
#include "cli/main.h"
#include "cli/opt.h"
#include "core/archive/archive.h"
#include "core/jail/jail.h"

#define BYTES_DEFAULT (8 << 20)
#define BYTES_MOST (INT64_C(1) << 34)
#define ENTRIES_DEFAULT 65536
#define ENTRIES_MOST (INT64_C(1) << 24)

#define OWN_MEMORY (INT64_C(256) << 20)
#define CPU_SECONDS 300

typedef enum kz_rc (*work_fn)(int in, int out, const struct kz_archive_bounds *b,
			      struct kz_err *err);

/* The archive, what comes out of it, and a record and a name an entry. */
static int64_t memory_of(const struct kz_archive_bounds *b)
{
	return OWN_MEMORY + 3 * b->bytes + b->entries * (KZ_ENTRY_NAME_MAX + 512);
}

static int run(struct kz_cli *cli, const struct kz_usage *u, struct kz_archive_bounds *b,
	       work_fn work, int argc, char **argv)
{
	struct kz_jail_bounds jail = { .cpu_seconds = CPU_SECONDS };
	enum kz_rc rc;

	if (!kz_opt_parse(cli, u, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	jail.memory_bytes = memory_of(b);
	rc = kz_jail_enter(&jail, NULL, 0, &cli->err);
	if (rc == KZ_OK)
		rc = work(0, 1, b, &cli->err);
	return kz_main_end(cli, rc);
}

#define BOUNDS                                                                                     \
	{                                                                                          \
		'b', "bytes",   KZ_OPT_INT, &b.bytes, "N", "bytes that the tar may have",          \
		512, BYTES_MOST                                                                    \
	},                                                                                         \
	{                                                                                          \
		'e', "entries", KZ_OPT_INT, &b.entries, "N",                                       \
			"files, directories and links that it may have", 0, ENTRIES_MOST           \
	}

static int verb_pack(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_archive_bounds b = { .bytes = BYTES_DEFAULT, .entries = ENTRIES_DEFAULT };
	const struct kz_opt opts[] = { BOUNDS, KZ_OPT_END };
	const struct kz_usage u = {
		.program = "kz-archive",
		.verb = "pack",
		.synopsis = "[-b N] [-e N]",
		.what = "entries on standard input, a tar on standard output",
		.opts = opts,
	};

	return run(cli, &u, &b, kz_archive_pack, argc, argv);
}

static int verb_unpack(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_archive_bounds b = { .bytes = BYTES_DEFAULT, .entries = ENTRIES_DEFAULT };
	const struct kz_opt opts[] = {
		BOUNDS,
		{ 'z', "compressed", KZ_OPT_FLAG, &b.may_be_compressed, NULL,
		  "take a tar compressed by gzip, zstd or xz too", 0, 0 },
		KZ_OPT_END,
	};
	const struct kz_usage u = {
		.program = "kz-archive",
		.verb = "unpack",
		.synopsis = "[-z] [-b N] [-e N]",
		.what = "a tar on standard input, entries on standard output",
		.opts = opts,
	};

	return run(cli, &u, &b, kz_archive_unpack, argc, argv);
}

#ifdef __SANITIZE_ADDRESS__
int __lsan_is_turned_off(void);

/* The search for leaks at exit starts a process that looks into this one: the jail allows neither. */
int __lsan_is_turned_off(void)
{
	return 1;
}
#endif

int main(int argc, char **argv)
{
	static const struct kz_verb verbs[] = {
		{ "pack", "[-b N] [-e N]", "entries on standard input, a tar on standard output",
		  verb_pack },
		{ "unpack", "[-z] [-b N] [-e N]",
		  "a tar on standard input, entries on standard output", verb_unpack },
		{ NULL, NULL, NULL, NULL },
	};
	struct kz_cli cli;

	kz_main_start(&cli, "kz-archive");
	return kz_main_verbs(&cli, "trees of files into tar and out of it", verbs, argc, argv);
}
