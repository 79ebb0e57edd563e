/*
 * Drivers: make, delete, list and look at workers.
 *
 * A driver is an executable that reads one JSON object a line on standard input
 * and answers each with one line [POOL-24].  Answers are present, absent or
 * unknown; unknown is never absent [POOL-25].  kz-driver-oci is the one shipped.
 *
 *   {"v":1,"verb":"probe"}                       -> {"v":1,"ok":true,"runtime","version","posture":{...},"single_use":bool} | {"ok":false,"reason","text"}
 *   {"v":1,"verb":"image"}                       -> {"v":1,"ok":true,"identity":"sha256:..."}
 *   {"v":1,"verb":"create","worker","instance","image"} -> {"v":1,"answer":"present","worker","instance","image"} | absent (certainly not made) | unknown
 *   {"v":1,"verb":"delete","worker","instance"}  -> {"v":1,"answer":"absent"} | present | unknown    (instance "" : whatever has that name)
 *   {"v":1,"verb":"get","worker"}                -> {"v":1,"answer":"present","worker","instance","image","alive":bool} | absent | unknown
 *   {"v":1,"verb":"list"}                        -> {"v":1,"answer":"present","workers":[{"worker","instance","image","alive"}]} | unknown
 *
 * Every failure carries "reason" and "text".  A create that is answered absent
 * left nothing behind.  delete is idempotent and never hits another instance.
 * Layer 3.
 */
#ifndef KZ_CORE_DRIVER_DRIVER_H
#define KZ_CORE_DRIVER_DRIVER_H

#include <stdbool.h>

#include "base/err.h"
#include "base/time.h"

struct kz_json;
struct kz_driver_job; /* one verb under way in a child process */

enum kz_answer { KZ_ANSWER_UNKNOWN, KZ_ANSWER_PRESENT, KZ_ANSWER_ABSENT };

/* Start a verb. in: program is the driver's path, request borrowed. wait: never */
enum kz_rc kz_driver_start(const char *program, const char *state, const struct kz_json *request,
			   struct kz_deadline until, struct kz_driver_job **out,
			   struct kz_err *err);
/* A descriptor that becomes readable when the job can make progress. */
int kz_driver_fd(const struct kz_driver_job *j);
/* Progress without waiting. out: done; then reply (new) and answer; a job past its deadline is killed and answers unknown. */
enum kz_rc kz_driver_poll(struct kz_driver_job *j, bool *done, struct kz_json **reply,
			  enum kz_answer *answer, struct kz_err *err);
void kz_driver_free(struct kz_driver_job *j);
/* Start and wait. */
enum kz_rc kz_driver_call(const char *program, const char *state, const struct kz_json *request,
			  struct kz_deadline until, struct kz_json **reply, enum kz_answer *answer,
			  struct kz_err *err);

#endif
