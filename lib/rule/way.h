/*
 * The ways out of a worker's loopback: a port there, and the directory below STATE and
 * the socket in it that process 1 leads connections to.  Names alone, for the driver,
 * process 1 and those who tell a program where to turn.  Layer 2.
 */
#ifndef KZ_RULE_WAY_H
#define KZ_RULE_WAY_H

enum kz_way { KZ_WAY_PROXY, KZ_WAY_GATEWAY, KZ_WAYS };

#define KZ_WAY_PROXY_PORT 3128
#define KZ_WAY_GATEWAY_PORT 8000

struct kz_way_text {
	const char *name;   /* for messages */
	const char *boot;   /* its directory in the boot object */
	const char *dir;    /* below STATE */
	const char *socket; /* in that directory */
	int port;
};

/* What belongs to a way; static. */
const struct kz_way_text *kz_way_text(enum kz_way way);

#endif
