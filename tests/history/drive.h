/*
 * What the parts of drive share.  For tests/history only.
 */
#ifndef KZ_TESTS_HISTORY_DRIVE_H
#define KZ_TESTS_HISTORY_DRIVE_H

#include <stdint.h>
#include <stdio.h>

#include "core/conf/conf.h"
#include "core/pool/authority_keeper.h"
#include "core/pool/authority_outbox.h"

#define IMAGE "sha256:drive"

/* The failure of the call that was made last. */
extern struct kz_err err;
/* Say it. returns its status */
int failed(const char *what);
/* The number in an argument; ends the program when it is none. */
int64_t number(const char *s);
/* A connection to URL and DEP, v[2] and v[3]; ends the program when there is none in so many seconds. own: new */
struct kz_auth *connect_in(char **v, int64_t seconds);
/* In the time that one operation has. own: new */
struct kz_auth *connect_to(char **v);
/* A random number below of. */
uint32_t chance(uint32_t of);
/* Settings from NAME=VALUE, the defaults of drive beneath. */
struct kz_settings settings_of(char **v);
/* Load the library and configure it with NAME=VALUE settings. own: new */
struct kz_auth *load_and_configure(char **v, char **sets);
/* Write what is in the outbox to f, a page at a time, then acknowledge it. */
enum kz_rc drain(struct kz_auth *a, const char *node, FILE *f);

/* drive_life.c: verbs that last. */
int do_controller(int c, char **v);
int do_client(int c, char **v);

#endif
