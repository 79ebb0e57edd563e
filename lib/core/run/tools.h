/*
 * The read-only tools that a kernel cell may call (docs/kernels.md): the provider snapshot
 * of KZ_CALLBACK_PROVIDERS, the check of each call against it, and the call itself.
 *
 * What is advertised is read once, when the run is dispatched; each call reads the file
 * again, and a tool whose descriptor has another digest by then is refused.  The caller is
 * the owner of the run, so the way of a call is its authority: nothing that the code says
 * finds a run.  A part of core/run, included by nobody else.  Layer 3.
 * src: CB-1 to CB-9, CB-11
 */
#ifndef KZ_CORE_RUN_TOOLS_H
#define KZ_CORE_RUN_TOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/conf/conf.h"
#include "port/seal.h"

struct kz_json;

#define KZ_TOOLS_MOST 256
#define KZ_TOOL_NAME_MOST 64
#define KZ_TOOL_REASONS 7 /* for which a call is refused */

struct kz_tools {
	const char *path; /* of the snapshot, borrowed; "": there is none */
	int64_t max_calls, rate, max_bytes, seconds;
	struct kz_json *snapshot; /* as advertised */
	/* Of this run: calls, all that were refused, the same by reason, bytes of arguments that a tool was given and of results that the cell got. */
	int64_t calls, refused, refused_for[KZ_TOOL_REASONS], bytes;
	int64_t *began_ms; /* of the newest calls, as many as may begin within a second */
};

/* Read the snapshot. own: kz_tools_release. err: tools_invalid, KZ_E_OS */
enum kz_rc kz_tools_open(struct kz_tools *t, const struct kz_settings *set, struct kz_err *err);
void kz_tools_release(struct kz_tools *t);
/* What refused_for counts. in: i below KZ_TOOL_REASONS. out: a reason code, static */
const char *kz_tool_reason(size_t i);
/* Counts a call that was refused before it could be asked for. in: reason of kz_tools_call */
void kz_tools_refused(struct kz_tools *t, const char *reason);
/* Names that a cell may call. out: new array */
struct kz_json *kz_tools_names(const struct kz_tools *t);
/* The digest that a descriptor has: SHA-256 of its canonical form without "digest". err: KZ_E_OS */
enum kz_rc kz_tool_digest(const struct kz_json *tool, char out[KZ_SHA256_HEX], struct kz_err *err);
/* Check a snapshot's form. err: tools_invalid, naming the entry */
enum kz_rc kz_tools_check(const struct kz_json *snapshot, struct kz_err *err);
/*
 * One call. in: arguments an object; cancel_fd readable ends it.
 * out: result, its JSON text, at most max_bytes. err: tool_unknown, tool_writes,
 * tool_recursive, tool_changed, tool_limit, tool_too_large, tool_failed. wait: KZ_CALLBACK_SECONDS
 */
enum kz_rc kz_tools_call(struct kz_tools *t, const char *name, const struct kz_json *arguments,
			 int cancel_fd, struct kz_buf *result, struct kz_err *err);

#endif
