/*
 * Time: the only place that reads a clock.
 *
 * Durations and instants are types, so seconds cannot be passed as
 * milliseconds.  Anything that can wait takes an absolute struct kz_deadline
 * on CLOCK_BOOTTIME.  Layer 0.
 */
#ifndef KZ_BASE_TIME_H
#define KZ_BASE_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* A duration. */
struct kz_ms {
	int64_t ms;
};
/* An instant on CLOCK_BOOTTIME. */
struct kz_deadline {
	int64_t boot_ms;
};

#define KZ_MS(n) ((struct kz_ms){ (n) })
#define KZ_SECONDS(n) ((struct kz_ms){ (int64_t)(n)*1000 })

/* A deadline that never passes. */
#define KZ_NEVER ((struct kz_deadline){ INT64_MAX })

/* Now on CLOCK_BOOTTIME, milliseconds. wait: never */
int64_t kz_time_boot_ms(void);
/* Now on CLOCK_BOOTTIME, microseconds, for measuring. */
int64_t kz_time_boot_us(void);
/* Milliseconds since the epoch, UTC; for records only, never for decisions. */
int64_t kz_time_wall_ms(void);

/* The deadline d from now. */
struct kz_deadline kz_deadline_in(struct kz_ms d);
/* The earlier of two deadlines. */
struct kz_deadline kz_deadline_min(struct kz_deadline a, struct kz_deadline b);
/* What is left, never below 0. */
struct kz_ms kz_deadline_left(struct kz_deadline d);
/* What is left as a poll(2) timeout: 0 when passed, -1 for never. */
int kz_deadline_poll_ms(struct kz_deadline d);
/* Has it passed? */
bool kz_deadline_passed(struct kz_deadline d);
/* Sleep for d or until the deadline, whichever comes first. */
void kz_time_sleep(struct kz_ms d, struct kz_deadline until);

#endif
