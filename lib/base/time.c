/* Time: the only place that reads a clock. */
#include "base/time.h"

#include <limits.h>
#include <poll.h>
#include <time.h>

static int64_t clock_us(clockid_t clock)
{
	struct timespec ts;

	/* Cannot fail: both clocks exist in every kernel that kz supports. */
	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t kz_time_boot_ms(void)
{
	return clock_us(CLOCK_BOOTTIME) / 1000;
}

int64_t kz_time_boot_us(void)
{
	return clock_us(CLOCK_BOOTTIME);
}

int64_t kz_time_wall_ms(void)
{
	return clock_us(CLOCK_REALTIME) / 1000;
}

struct kz_deadline kz_deadline_in(struct kz_ms d)
{
	struct kz_deadline at;

	if (d.ms < 0)
		d.ms = 0;
	if (__builtin_add_overflow(kz_time_boot_ms(), d.ms, &at.boot_ms))
		return KZ_NEVER;
	return at;
}

struct kz_deadline kz_deadline_min(struct kz_deadline a, struct kz_deadline b)
{
	return a.boot_ms < b.boot_ms ? a : b;
}

struct kz_ms kz_deadline_left(struct kz_deadline d)
{
	int64_t now;

	if (d.boot_ms == INT64_MAX)
		return KZ_MS(INT64_MAX);
	now = kz_time_boot_ms();
	return KZ_MS(d.boot_ms > now ? d.boot_ms - now : 0);
}

int kz_deadline_poll_ms(struct kz_deadline d)
{
	struct kz_ms left = kz_deadline_left(d);

	if (left.ms == INT64_MAX)
		return -1;
	return left.ms > INT_MAX ? INT_MAX : (int)left.ms;
}

bool kz_deadline_passed(struct kz_deadline d)
{
	return kz_deadline_left(d).ms == 0;
}

void kz_time_sleep(struct kz_ms d, struct kz_deadline until)
{
	struct kz_deadline end = kz_deadline_min(kz_deadline_in(d), until);

	/* A signal may end poll early. */
	while (!kz_deadline_passed(end))
		(void)poll(NULL, 0, kz_deadline_poll_ms(end));
}
