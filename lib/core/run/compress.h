/*
 * Shortening of what a model reads of a stream.  It comes when everything else of a run is
 * done, sees text that the model may read anyway, and changes nothing else: whatever goes
 * wrong, the view stays as it is without it.  For the files of core/run only.  Layer 3.
 * src: CMP-1 to CMP-8, INV-60
 */
#ifndef KZ_CORE_RUN_COMPRESS_H
#define KZ_CORE_RUN_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct kz_job;
struct kz_job_stream;

/* May this run's output be shortened: switched on in the settings, asked for, and nothing private in it? */
bool kz_job_may_compress(const struct kz_job *j);
/* Keep the next bytes of a stream whose run may be compressed. */
void kz_job_compress_add(const struct kz_job *j, struct kz_job_stream *s, const void *p, size_t n);
/*
 * The stream shortened. out: by: which way, static; text: at most as long as what the model
 * would read otherwise. returns false: stays as it is; why is logged when something failed
 * wait: KZ_COMPRESS_SECONDS
 */
bool kz_job_compress(const struct kz_job *j, const struct kz_job_stream *s, struct kz_buf *text,
		     const char **by);

#endif
