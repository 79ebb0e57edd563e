/*
 * Outputs below the operator's directory (kz-mcp -d), which stay when the server ends, and
 * how many of them: each run has a directory OUTDIR/run-XXXXXX and a mark of that name in
 * OUTDIR/.kz-mcp, which says what was written there.  What goes is what a mark names and
 * what is still as it was written (same inode, size and time); everything else in OUTDIR
 * is left alone, and no symbolic link is followed.  For core/mcp only.  Layer 3.
 */
#ifndef KZ_CORE_MCP_KEEP_H
#define KZ_CORE_MCP_KEEP_H

#include "core/mcp/mcp.h"
#include "port/json.h"

struct kz_mcp_keep {
	int out_fd, marks_fd; /* own; -1: there is no such directory */
	struct kz_mcp_bounds bounds;
};

/*
 * Open the directory, which is made when only it is missing, and the one for marks.
 * in: outdir NULL: keep nothing. err: input_missing, output_uncreatable (a .kz-mcp that is not ours)
 */
enum kz_rc kz_mcp_keep_open(struct kz_mcp_keep *k, const char *outdir,
			    const struct kz_mcp_bounds *bounds, struct kz_err *err);
/* A mark for the run-directory of that name, held until it is closed, so that nobody removes what is being written. err: output_uncreatable */
enum kz_rc kz_mcp_keep_begin(const struct kz_mcp_keep *k, const char *name, int *mark_fd,
			     struct kz_err *err);
/* What one file looks like now, for a mark. in: fd of it. out: new; NULL: it cannot be told */
struct kz_json *kz_mcp_keep_look(const char *name, int fd);
/* Write the mark of a run that has ended. in: dir_fd, its directory; files of kz_mcp_keep_look. A mark that cannot be written names nothing. */
void kz_mcp_keep_end(int mark_fd, int dir_fd, const struct kz_json *files);
/* Remove the oldest until the bounds hold; the newest stays whatever its size is. wait: never */
void kz_mcp_keep_prune(const struct kz_mcp_keep *k);
/* Open a path below dir without following links, and without leaving it. out: -1 with errno */
int kz_mcp_keep_below(int dir, const char *path, int flags);
/* Close what is open. */
void kz_mcp_keep_close(struct kz_mcp_keep *k);

#endif
