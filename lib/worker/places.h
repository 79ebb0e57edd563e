/*
 * Names of the places of the tenant's file system: outside, where process 1 mounts
 * it, and inside it.  Names alone, for those who mount and those who look.
 */
#ifndef KZ_WORKER_PLACES_H
#define KZ_WORKER_PLACES_H

#define KZ_SPACE_AT "/work"
/* Where the next tenant's is made while one still runs: a directory that every image has. */
#define KZ_SPACE_NEXT "/var/tmp"
/* Directories that a fresh one holds itself, its root included; the tenant's inodes come on top. */
#define KZ_SPACE_OWN_INODES 10

/* Directories inside it, and where the tenant sees them. */
#define KZ_SPACE_WORK "work"
#define KZ_SPACE_HOME "work/space"
#define KZ_SPACE_CODE "work/code"
#define KZ_SPACE_SHARED "work/shared"        /* a file system of its own is mounted there */
#define KZ_SPACE_PACKAGES "work/packages"    /* what was installed for a run: another file system */
#define KZ_SPACE_MODULES "work/node_modules" /* a link to its node_modules, where node looks */
#define KZ_SPACE_IN_WORK 5                   /* these five */
#define KZ_SPACE_TMP "tmp"
#define KZ_SPACE_SHM "shm"
#define KZ_SPACE_VTMP "vtmp"

#endif
