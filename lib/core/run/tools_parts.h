/*
 * Parts of core/run/tools, included by nobody else.  Layer 3.
 */
#ifndef KZ_CORE_RUN_TOOLS_PARTS_H
#define KZ_CORE_RUN_TOOLS_PARTS_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/time.h"

struct kz_json;

#define KZ_TOOL_WORDS 64 /* of a command */

/*
 * Do what a tool is: run its command with nothing in its environment, or ask its socket.
 * in: a checked descriptor; arguments, JSON text. out: result, one JSON value as text.
 * err: tool_too_large, tool_failed. wait: until the deadline or cancel_fd is readable
 */
enum kz_rc kz_tool_run(const struct kz_json *tool, const struct kz_buf *arguments,
		       int64_t max_bytes, struct kz_deadline until, int cancel_fd,
		       struct kz_buf *result, struct kz_err *err);

#endif
