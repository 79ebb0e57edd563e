/*
 * The egress proxy: the only way out of a worker.  It holds public keys alone, decides
 * by rule/decide, dials what it judged, and relays.  As root it first makes its
 * sockets, then leaves everything behind that it does not need: it runs under a user id
 * of its own, without rights, and sees of the file system what it reads and the audit.
 * Another user's keeps that user's id and has the same view of files by Landlock; either
 * makes no Unix socket, executes nothing and signals nobody (jail/service).
 * Layer 3.
 * src: PROXY-1 to PROXY-21, INV-27, INV-30, INV-33
 */
#ifndef KZ_CORE_EGRESS_PROXY_H
#define KZ_CORE_EGRESS_PROXY_H

#include "base/err.h"

#define KZ_PROXY_DIR "run/proxy" /* below STATE: what workers see */
#define KZ_PROXY_SOCKET KZ_PROXY_DIR "/proxy.sock"

struct kz_proxy_options {
	const char *state;  /* NULL: as kz_conf_state */
	const char *listen; /* ADDRESS:PORT of a TCP listener beside the Unix one; NULL: none */
	int ready_fd;       /* gets a line once it listens; -1: none */
};

/*
 * Serve until SIGTERM or SIGINT; then nobody new, and who is there has a short while.
 * err: usage (listen), not_running, setting_invalid, KZ_E_CANTCREAT (a socket in use), KZ_E_OS
 * wait: for its whole life
 */
enum kz_rc kz_proxy_run(const struct kz_proxy_options *o, struct kz_err *err);

#endif
