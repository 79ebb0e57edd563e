/*
 * A run: the one sequence behind kz-run (design section 7).
 *
 *   prepare (signals, settings, program, inputs, outputs, environment)
 *   -> lease (acquire, or take the one in force) -> worker (connect, bind)
 *   -> restore (the workspace) -> put (program and inputs)
 *   -> egress (a grant, if the run was approved and the policy gives one)
 *   -> dispatch (audit; a failed write stops the run) -> exec -> collect -> save
 *   -> audit record -> reset and release -> drain what was printed -> record
 *
 * Reset and release happen whatever failed before.  Layer 3; writes to the given
 * descriptors only, never exits.
 */
#ifndef KZ_CORE_RUN_RUN_H
#define KZ_CORE_RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct kz_run_ask {
	const char *actor;        /* NULL: the calling user (or whose the held lease is) */
	const char *conversation; /* NULL: one of its own (or the held lease's) */
	const char *language;     /* NULL: found out */
	const char *path;         /* FILE or "-"; NULL with code */
	const char *code;         /* text of -c; NULL with path */
	const char *const *args;  /* of the program, args[0..arg_count) */
	size_t arg_count;
	const char *const *inputs; /* [NAME=]FILE */
	size_t input_count;
	const char *const *outputs; /* names relative to the workspace */
	size_t output_count;
	const char *const *canvases; /* names of editable texts, which are outputs too */
	size_t canvas_count;
	const char *outdir;     /* NULL: "." */
	const char *const *env; /* NAME=VALUE, or NAME alone: from the caller's */
	size_t env_count;
	const char *const *caller_env;   /* where a NAME alone is looked up; NULL-terminated */
	const char *scope;               /* FILE of a scope document; NULL: none */
	const char *documents;           /* directory of its files; NULL: none */
	const char *audience;            /* source of the live audience; NULL: none */
	const char *const *requirements; /* packages, as -r names them */
	size_t requirement_count;
	bool has_no_inference; /* imports ask for nothing */
	const char *approval;  /* of the network; NULL: there is none, and nothing is asked */
	int64_t wall_ms;       /* 0: the bound of the settings; else only lowers it */
	bool is_kernel;        /* a cell of the conversation's kernel (core/run/kernel.h) */
	bool is_compressed;    /* what the model reads may be shortened (KZ_COMPRESS) */
	bool is_json;          /* events and record as JSON lines on stdout_fd */
	int stdin_fd, stdout_fd, stderr_fd;
	int record_fd; /* the record goes there too; -1: nowhere */
	/* The lease in force around this run (kz-lease with), as its environment names it; NULL: none. */
	const char *lease, *token, *fence;
};

struct kz_run_result {
	int status;      /* exit status */
	bool has_reason; /* err tells the reason, to be said in plain mode */
	bool is_unsent;  /* the record did not go out: to be said with -j too */
	struct kz_err err;
};

/*
 * Run to the end.  out: result always; the record has been written when this returns.
 * wait: acquire wait + wall bound + reset timeout, plus as long as stdout's reader takes.
 * safe: blocks SIGINT, SIGTERM and SIGHUP for the rest of the process; starts threads
 */
void kz_run(const struct kz_run_ask *ask, struct kz_run_result *out);

#endif
