/*
 * What a kernel cell says over its channel: lines of JSON, written by the tenant and so
 * bounded, parsed and taken for no more than its word.  A part of core/run, included by
 * nobody else.  Layer 3.
 * src: KRN-3, KRN-4, KRN-8, KRN-15, KRN-16, CB-2
 */
#ifndef KZ_CORE_RUN_KERNEL_REPORT_H
#define KZ_CORE_RUN_KERNEL_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct kz_json;

#define KZ_KERNEL_LIST_MOST 200
#define KZ_KERNEL_TEXT_MOST 512 /* bytes of a name or reason */

enum kz_kernel_line {
	KZ_KERNEL_LINE_BAD, /* nothing that a cell may say */
	KZ_KERNEL_LINE_STATE,
	KZ_KERNEL_LINE_CALL,
	KZ_KERNEL_LINE_REPORT,
};

/* A call of a tool. */
struct kz_kernel_call {
	int64_t id;
	const char *tool;                /* of line */
	const struct kz_json *arguments; /* of line; NULL: there are none */
	struct kz_json *line;            /* own: kz_json_free */
};

/*
 * Read one line.
 * out: generation of a state line; the call; the report (new): {"status","generation",
 * "bytes","restored","lost":[{"name","type","reason"}],"restore_lost":[...],"notes":[...],
 * "reason"}, with texts cut and without control characters, and lists cut.
 */
enum kz_kernel_line kz_kernel_line_read(const char *p, size_t n, int64_t *generation,
					struct kz_kernel_call *call, struct kz_json **report);

#endif
