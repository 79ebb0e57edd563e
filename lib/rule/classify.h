/*
 * Classification of a program before it is sent: does it say of itself that it administers a host?
 *
 * What counts is what the text demands outright: a command that is sudo, su, doas, pkexec or visudo, in a
 * shell program or in a call that starts one; a file of /etc/sudoers opened or written; user 0 taken or demanded.
 * Words in comments, prose and names do not count.
 *
 * It is a heuristic and no wall: what is computed while the program runs is not seen, and a sandbox has no root
 * to give anyway.  In doubt the answer is "ordinary", because a refusal of honest work costs more than a program
 * that fails by itself.  Time is linear in the text, memory is fixed.  Layer 2, pure.
 * src: EXEC-11, EXEC-12
 */
#ifndef KZ_RULE_CLASSIFY_H
#define KZ_RULE_CLASSIFY_H

#include <stdbool.h>
#include <stddef.h>

/* Which rules of lexing hold. */
enum kz_classify_language { KZ_CLASSIFY_PYTHON, KZ_CLASSIFY_NODE, KZ_CLASSIFY_SHELL };

/* What was found. */
enum kz_admin {
	KZ_ADMIN_SUDO,
	KZ_ADMIN_SU,
	KZ_ADMIN_DOAS,
	KZ_ADMIN_PKEXEC,
	KZ_ADMIN_VISUDO,
	KZ_ADMIN_SUDOERS,    /* a file of /etc/sudoers is read or written */
	KZ_ADMIN_GROUP,      /* somebody is put into the group of those who may sudo */
	KZ_ADMIN_UID_DEMAND, /* ends unless it runs as user 0 */
	KZ_ADMIN_SET_UID,    /* makes itself user 0 */
	KZ_ADMIN_RUN_AS,     /* starts a program as user 0 */
};

/* Most matches that are told; one more is not looked for. */
#define KZ_CLASSIFY_MATCHES 16

struct kz_admin_match {
	size_t line; /* from 1 */
	enum kz_admin what;
};

struct kz_classify {
	struct kz_admin_match matches[KZ_CLASSIFY_MATCHES];
	size_t count;
};

/* Look through the program text p[0..n), any bytes. out: matches in order; returns whether there is one. wait: never */
bool kz_classify(enum kz_classify_language language, const char *p, size_t n,
		 struct kz_classify *out);
/* "sudo", "uid_demand", ...; static */
const char *kz_admin_name(enum kz_admin what);

#endif
