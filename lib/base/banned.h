/*
 * Functions that must not be used: calling one does not compile.
 *
 * Forced into every file by the Makefile.  The headers that declare the
 * functions come first, so that their own text is not touched.  A file with a
 * reason to use one says so by #undef, and scripts/check-layers counts those.
 * Layer 0.
 */
#ifndef KZ_BASE_BANNED_H
#define KZ_BASE_BANNED_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KZ_BANNED(fn, use) kz_banned_function_##fn##_use_##use

/* No bound on what is written. */
#undef strcpy
#define strcpy(d, s) KZ_BANNED(strcpy, kz_str_copy)
#undef strcat
#define strcat(d, s) KZ_BANNED(strcat, kz_str_format)
#undef strncpy
#define strncpy(d, s, n) KZ_BANNED(strncpy, kz_str_copy)
#undef strncat
#define strncat(d, s, n) KZ_BANNED(strncat, kz_str_format)
#undef sprintf
#define sprintf(...) KZ_BANNED(sprintf, kz_str_format)
#undef vsprintf
#define vsprintf(...) KZ_BANNED(vsprintf, vsnprintf)
#undef gets
#define gets(s) KZ_BANNED(gets, kz_fd_read_all)
#undef alloca
#define alloca(n) KZ_BANNED(alloca, malloc)

/* No report of malformed or too large numbers. */
#undef atoi
#define atoi(s) KZ_BANNED(atoi, kz_str_int)
#undef atol
#define atol(s) KZ_BANNED(atol, kz_str_int)
#undef atoll
#define atoll(s) KZ_BANNED(atoll, kz_str_int)
#undef atof
#define atof(s) KZ_BANNED(atof, kz_str_int)

/* Hidden state shared by every caller. */
#undef strtok
#define strtok(s, d) KZ_BANNED(strtok, strtok_r)
#undef localtime
#define localtime(t) KZ_BANNED(localtime, gmtime_r)
#undef gmtime
#define gmtime(t) KZ_BANNED(gmtime, gmtime_r)
#undef ctime
#define ctime(t) KZ_BANNED(ctime, gmtime_r)
#undef asctime
#define asctime(t) KZ_BANNED(asctime, strftime)
#undef rand
#define rand() KZ_BANNED(rand, kz_random)
#undef srand
#define srand(n) KZ_BANNED(srand, kz_random)

/* A shell, or a name that somebody else can take first. */
#undef system
#define system(c) KZ_BANNED(system, kz_proc_run)
#undef popen
#define popen(c, m) KZ_BANNED(popen, kz_proc_run)
#undef tmpnam
#define tmpnam(s) KZ_BANNED(tmpnam, kz_file_replace)
#undef tempnam
#define tempnam(d, p) KZ_BANNED(tempnam, kz_file_replace)
#undef mktemp
#define mktemp(t) KZ_BANNED(mktemp, kz_file_replace)

/* Clocks and waits belong to base/time.h. */
#undef time
#define time(t) KZ_BANNED(time, kz_time_wall_ms)
#undef sleep
#define sleep(n) KZ_BANNED(sleep, kz_time_sleep)
#undef usleep
#define usleep(n) KZ_BANNED(usleep, kz_time_sleep)

#endif
