/*
 * What rule/classify says of the program of a run, and the refusal that follows.  Layer 3.
 * src: EXEC-11, EXEC-12
 */
#ifndef KZ_CORE_RUN_CLASSIFY_H
#define KZ_CORE_RUN_CLASSIFY_H

#include "core/run/source.h"
#include "port/json.h"
#include "rule/classify.h"

/* Classify a program that was read. err: KZ_E_OS when it cannot be mapped */
enum kz_rc kz_source_classify(const struct kz_source *s, struct kz_classify *out,
			      struct kz_err *err);
/* A program that administers a host is never run. err: host_administration, naming the first line; KZ_E_OS */
enum kz_rc kz_source_permitted(const struct kz_source *s, struct kz_err *err);

/*
 * Read a program as kz_source_read does and say what it is, as one object; nothing is started.
 * out: has_admin, and an own object for a line of JSON. err: as kz_source_read
 */
enum kz_rc kz_run_classify(const char *path, const char *code, const char *language, bool *is_admin,
			   struct kz_json **out, struct kz_err *err);

#endif
