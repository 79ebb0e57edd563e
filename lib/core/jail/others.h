/*
 * Other processes of the same user: what a filter denies so that none of them is signalled, nor ended by a bound
 * that is set for it.  For the files of core/jail only.  Layer 3.
 */
#ifndef KZ_CORE_JAIL_OTHERS_H
#define KZ_CORE_JAIL_OTHERS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>

#include "port/filter.h"

#define DENY(call)                                                                                 \
	{                                                                                          \
		.name = (call), .deny_errno = EPERM, .test = KZ_FILTER_ALWAYS                      \
	}
#define DENY_WHEN(call, how, at, what)                                                             \
	{                                                                                          \
		.name = (call), .deny_errno = EPERM, .test = (how), .arg = (at), .value = (what)   \
	}
/* in: own: the id of this process, whose threads raise signals for it. The last four name who gets those of a descriptor. */
#define DENY_OTHERS(own)                                                                           \
	DENY("kill"), DENY("tkill"), DENY("rt_sigqueueinfo"), DENY("rt_tgsigqueueinfo"),           \
		DENY("pidfd_send_signal"), DENY_WHEN("tgkill", KZ_FILTER_NOT, 0, (uint64_t)(own)), \
		DENY_WHEN("prlimit64", KZ_FILTER_NOT, 0, 0),                                       \
		DENY_WHEN("fcntl", KZ_FILTER_LOW, 1, F_SETOWN),                                    \
		DENY_WHEN("fcntl", KZ_FILTER_LOW, 1, F_SETOWN_EX),                                 \
		DENY_WHEN("ioctl", KZ_FILTER_LOW, 1, FIOSETOWN),                                   \
		DENY_WHEN("ioctl", KZ_FILTER_LOW, 1, SIOCSPGRP)

#endif
