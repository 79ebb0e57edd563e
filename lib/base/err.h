/*
 * Error records: what went wrong, in a fixed-size struct that needs no memory.
 *
 * Every function of the library that can fail returns enum kz_rc (0 or a
 * negative code) and takes struct kz_err last.  Success leaves the record
 * untouched.  The library never prints and never exits: the caller decides.
 * Layer 0: libc only.
 */
#ifndef KZ_BASE_ERR_H
#define KZ_BASE_ERR_H

/* One code for each exit status of docs/operations.md. */
enum kz_rc {
	KZ_OK = 0,
	KZ_E_NO = -1,          /* the answer is no (status 1) */
	KZ_E_USAGE = -2,       /* wrong command line (64) */
	KZ_E_DATA = -3,        /* malformed input (65) */
	KZ_E_NOINPUT = -4,     /* a named thing is missing (66) */
	KZ_E_UNAVAILABLE = -5, /* a service does not answer (69) */
	KZ_E_SOFTWARE = -6,    /* a bug (70) */
	KZ_E_OS = -7,          /* memory, processes, descriptors (71) */
	KZ_E_CANTCREAT = -8,   /* output cannot be created (73) */
	KZ_E_IO = -9,          /* read or write failed (74) */
	KZ_E_TEMPFAIL = -10,   /* busy, deadline passed (75) */
	KZ_E_PROTOCOL = -11,   /* peer or library version differs (76) */
	KZ_E_NOPERM = -12,     /* policy says no (77) */
	KZ_E_CONFIG = -13,     /* our configuration is wrong (78) */
};

struct kz_err {
	enum kz_rc rc;
	int sys_errno;   /* errno at the failure, or 0 */
	char reason[48]; /* code from policy/reasons.tbl, or "" */
	char text[472];  /* one line, lower case, no full stop */
};

#define KZ_ERR_INIT                                                                                \
	{                                                                                          \
		KZ_OK, 0, "", ""                                                                   \
	}

/*
 * Record a failure and return its code, so that callers write
 * "return kz_err_set(err, KZ_E_DATA, ...)".
 * in: err may be NULL (then only the code is returned); fmt as printf.
 * out: text is cut to fit, control characters are replaced by '?'.
 * wait: never; safe: allocates nothing.
 */
enum kz_rc kz_err_set(struct kz_err *err, enum kz_rc rc, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As kz_err_set, and appends ": " and the text of errno, which is kept. */
enum kz_rc kz_err_sys(struct kz_err *err, enum kz_rc rc, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Put context before the text of a failure on its way outward
 * ("reset L12: no answer").  Keeps code and reason.
 * out: returns err->rc (KZ_E_SOFTWARE if err is NULL or holds no failure, so a
 * caller that allows a NULL err returns its own code).
 */
enum kz_rc kz_err_wrap(struct kz_err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Name the reason of the failure in err; returns err->rc. */
enum kz_rc kz_err_reason(struct kz_err *err, const char *reason);

/* The exit status of a code (0, 1, 64 to 78). wait: never */
int kz_rc_status(enum kz_rc rc);

/* The code for an exit status; KZ_E_SOFTWARE for one that has none. */
enum kz_rc kz_rc_of_status(int status);

/* The short name of a code ("usage", "tempfail", ...), static. */
const char *kz_rc_name(enum kz_rc rc);

#endif
