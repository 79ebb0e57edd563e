/*
 * A server of the Model Context Protocol on two descriptors: one JSON-RPC message a line.
 * Revisions 2026-07-28 (each request says what it speaks) and 2025-11-25 (initialize).
 * Each call of a tool is a kz-run or kz-workspace of its own, beside the others; who the
 * caller is comes from the configuration below and never from a message.  Layer 3.
 */
#ifndef KZ_CORE_MCP_MCP_H
#define KZ_CORE_MCP_MCP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* How much of the outputs stays below outdir. */
struct kz_mcp_bounds {
	int64_t runs, bytes;
	int64_t age_s; /* 0: however old */
};

struct kz_mcp_ask {
	const char *actor;        /* NULL: the calling user */
	const char *conversation; /* whose workspace it is */
	const char *outdir;       /* absolute, where outputs stay; NULL: they end with the server */
	const char *tmpdir;       /* absolute, where outputs that do not stay are put meanwhile */
	struct kz_mcp_bounds bounds;
	int64_t inline_bytes; /* of outputs that an answer carries itself, at most */
	bool is_compressed;   /* kz-run --compress */
	const char *const *
		env; /* of the programs it starts, NULL-terminated: nothing else of the caller's goes there */
	int in_fd, out_fd;
};

/*
 * Serve until the end of input, SIGTERM, SIGINT or SIGHUP, or until the reader is gone; calls that are under way
 * are ended then.  err: input_missing (the table of tools, outdir), output_uncreatable (outdir), system_failed. wait: for the client
 */
enum kz_rc kz_mcp_serve(const struct kz_mcp_ask *ask, struct kz_err *err);

#endif
