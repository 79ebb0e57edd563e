/*
 * The inside of a run, shared by run.c (life), runio.c (pipes) and record.c (what is told of it).
 */
#ifndef KZ_WORKER_RUNPRIV_H
#define KZ_WORKER_RUNPRIV_H

#include "base/buf.h"
#include "worker/forward.h"
#include "worker/keep.h"
#include "worker/run.h"

#define KZ_RUN_WINDOW 65536
/* What the kernel may hold of a channel when its program is dead, and is sent without leave. */
#define KZ_RUN_CHANNEL_REST (512 << 10)

enum kz_run_state {
	KZ_RUN_IDLE,
	KZ_RUN_GOING,
	KZ_RUN_ENDING, /* killed; waiting for the last process */
};

struct kz_run_marks { /* counters of the cgroup */
	int64_t oom, denied, cpu_us;
};

/* Our end of the program's descriptor 3; each direction is let go on by the other side. */
struct kz_run_channel {
	int fd; /* -1: there is none */
	struct kz_watch *in, *out;
	struct kz_buf to;    /* for the program */
	size_t window, room; /* that may still be given to it; that it may still send */
};

struct kz_run {
	struct kz_serve *serve;
	const struct kz_boot *boot;
	struct kz_wall *wall;
	struct kz_space *space;
	struct kz_timer *wall_timer, *gauge_timer, *kill_timer;
	struct kz_run_calls calls;
	void *arg;
	enum kz_run_state state;

	int pipe[3]; /* our ends of 0, 1, 2; -1 closed */
	struct kz_watch *watch[3];
	struct kz_watch *sock, *death;
	struct kz_buf input;
	size_t window;
	bool input_ended;
	struct kz_run_channel channel;
	struct kz_keep keep;
	struct kz_forward *forward;
	char execution[KZ_EXECUTION_HEX + 1];
	enum kz_way way;

	bool is_refused, has_status, is_dead;
	int status;
	const char *cause;  /* of an end that was not the program's own; static */
	const char *reason; /* code; static */
	int64_t began_us, ended_us, killed;
	bool hit_disk, hit_inodes;
	struct kz_run_marks before, after;
	int64_t peak;          /* or the highest that was seen so far */
	int64_t peak_from;     /* what was charged when it began */
	int64_t memory_bound;  /* of the tenant's group */
	int64_t memory_from;   /* what that had when an installation began */
	int64_t packages_from; /* and what the packages' files had */
};

/* runio.c */
/* Make the three pipes and hand the program's ends over. out: theirs, also in part on failure. err: KZ_E_OS */
enum kz_rc kz_run_make_pipes(struct kz_run *r, int theirs[3], struct kz_err *err);
/* Close ours of pipe i and stop watching it; closed already is fine. */
void kz_run_close_pipe(struct kz_run *r, int i);
/* Take what there is of output i (1 or 2). out: false when it is empty for now or at its end */
bool kz_run_read_once(struct kz_run *r, int i);
/* Called by the loop; arg is the run. */
void kz_run_out_ready(void *arg);
void kz_run_err_ready(void *arg);
void kz_run_write_input(void *arg);

/* channel.c */
/* Make the channel and watch it. out: theirs (own). err: KZ_E_OS */
enum kz_rc kz_run_channel_open(struct kz_run *r, int *theirs, struct kz_err *err);
/* The program is dead: tell what is left, and close. Nothing where there is none */
void kz_run_channel_end(struct kz_run *r);
void kz_run_channel_close(struct kz_run *r);

/* Look at the cgroup and the file system. out: the cause that ends the run now, or NULL */
const char *kz_run_look(struct kz_run *r);
/* The terminal record. out: new, NULL when memory is out */
struct kz_json *kz_run_record(struct kz_run *r);

#endif
