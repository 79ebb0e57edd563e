/*
 * Log lines: stderr only, one line an event, one write(2) each, logfmt pairs.
 * "kz-proxy: warning: egress refused reason=protected_class port=25".
 * Never allocates, never fails, keeps errno.  No secrets, raw identifiers,
 * worker addresses or file names may be given to it.  Layer 0.
 */
#ifndef KZ_BASE_LOG_H
#define KZ_BASE_LOG_H

#include <stdbool.h>

enum kz_log_level { KZ_LOG_FATAL, KZ_LOG_ERROR, KZ_LOG_WARNING, KZ_LOG_INFO, KZ_LOG_DEBUG };

/* Name that opens every line, and the level up to which lines are written (default info). */
void kz_log_init(const char *program, enum kz_log_level level);
enum kz_log_level kz_log_get_level(void);
const char *kz_log_program(void);

/*
 * Write one event: a fixed phrase, then key and value pairs, NULL-terminated.
 * in: values with spaces are quoted, control characters escaped; a NULL value is left out.
 */
void kz_log(enum kz_log_level level, const char *phrase,
	    ... /* const char *key, const char *value, ..., NULL */) __attribute__((sentinel));
/* A small number as text for kz_log; up to 8 live at once in a thread. */
const char *kz_log_int(long long n);

#endif
