/*
 * The boot of a worker as docs/worker-boot.md has it: the descriptors that process 1
 * inherits, the boot object it reads from the first of them, its ready line.  Layer 3.
 */
#ifndef KZ_CORE_DRIVER_OCI_BOOT_H
#define KZ_CORE_DRIVER_OCI_BOOT_H

#include "core/driver/oci.h"
#include "rule/way.h"

#define KZ_BOOT_FDS (KZ_CG_FILES + 3 + KZ_WAYS)

struct kz_oci_boot {
	int fds[KZ_BOOT_FDS]; /* in order 3, 4, ...: boot pipe, ready, control, ways out, cgroup files */
	int count;
	int ways_at;    /* which of fds is the first of KZ_WAYS directories; -1: none */
	int boot_write; /* the driver's ends of the two pipes */
	int ready_read;
	int output;            /* what the runtime and process 1 print; bounded */
	struct kz_json *names; /* the "fds" member of the boot object */
};

/* Make socket, pipes and the rest for a worker whose directory and cgroups stand. out: b, to be released even after a failure */
enum kz_rc kz_oci_boot_open(const struct kz_oci *o, const struct kz_oci_record *r,
			    struct kz_oci_boot *b, struct kz_err *err);
/* Close the ends that the container now has; what is left belongs to the driver. */
void kz_oci_boot_handed(struct kz_oci_boot *b);
/* Send the boot object, secret included, and its end. */
enum kz_rc kz_oci_boot_send(const struct kz_oci *o, const struct kz_oci_record *r,
			    struct kz_oci_boot *b, struct kz_deadline until, struct kz_err *err);
/* Wait for the ready line. out: posture (new, may be NULL). err: what the worker says, posture_failed when it died, KZ_E_TEMPFAIL */
enum kz_rc kz_oci_boot_wait(struct kz_oci_boot *b, struct kz_deadline until,
			    struct kz_json **posture, struct kz_err *err);
/* Say that process 1 ended before it was ready, and what it printed last; returns posture_failed. */
enum kz_rc kz_oci_boot_died(const struct kz_oci_boot *b, struct kz_err *err);
void kz_oci_boot_release(struct kz_oci_boot *b);

#endif
