/*
 * One client of the load generator: it opens a tunnel through a CONNECT proxy, or a connection without
 * one, and uses it.  All clients of a plan share one event loop.
 */
#ifndef KZ_BENCH_CLIENT_H
#define KZ_BENCH_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum mode {
	MODE_RATE, /* open, one byte there and back, close, again */
	MODE_BULK, /* all open first, then bytes one way */
	MODE_IDLE, /* all open, held, then one byte there and back each */
};

struct plan {
	enum mode mode;
	bool up; /* bulk: towards the origin */
	size_t clients;
	struct sockaddr_storage via; /* of the proxy */
	socklen_t via_len;           /* 0: no proxy */
	const char *execution;       /* first line on a Unix socket; NULL: none */
	const char *host;            /* with one %d, or none */
	int hosts, port;
	char **credentials; /* values of Proxy-Authorization, taken in turn */
	size_t credential_count;
	int expect;        /* status of the answer; the tunnel is used when it is 200 */
	uint64_t tolerate; /* failures that are counted and not fatal */
};

enum state {
	S_CLOSED,
	S_CONNECTING,
	S_ASKED, /* the head is sent */
	S_ECHO,  /* the byte is sent */
	S_HELD,  /* open, and nothing to do */
	S_BULK,
	S_REFUSED, /* an answer other than 200 was expected and came */
};

struct client {
	int fd;
	enum state state;
	int64_t begin_us, open_us; /* when it began to connect; how long it took to open */
	char head[512];            /* of the answer */
	size_t got;
};

/* What all clients did. */
struct tally {
	uint64_t opened, echoed, refused, failed, bytes;
	uint32_t *open_us, *echo_us; /* one entry an echo, while counting */
	size_t samples, room;
	bool counting;
};

extern struct plan plan;
extern struct tally tally;

/* Make the event loop and room for count samples. */
void clients_init(size_t samples);
/* Begin to connect the next one. */
void client_start(struct client *c);
/* Send the first byte: E for an echo, S or D for the bulk. */
void client_use(struct client *c, char what);
void client_close(struct client *c);
/* Close it and count a failure; more than plan.tolerate of them end the program with 1 and what was wrong. */
void client_fail(struct client *c, const char *what);
/* Wait at most ms and let every client that can do something do it. */
void clients_step(int ms);

#endif
