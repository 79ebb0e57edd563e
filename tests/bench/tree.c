/* The tree is found by parents in /proc/PID/stat; processor time is that of the process clock, which counts in ns. */
#include "tree.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"

#define MOST 4096

struct process {
	pid_t pid, parent;
	uint64_t waited_ticks; /* of its dead children */
	bool in;
};

static bool read_stat(const char *name, struct process *p)
{
	char path[64], text[1024], *at;
	unsigned long long utime, stime;
	long long waited_u, waited_s;
	kz_auto_fclose FILE *f = NULL;
	int parent;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", name);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	at = strrchr(text, ')'); /* a program's name may hold anything */
	if (!at || sscanf(at + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld",
			  &parent, &utime, &stime, &waited_u, &waited_s) != 5)
		return false;
	p->parent = parent;
	p->waited_ticks = (uint64_t)(waited_u + waited_s);
	p->in = false;
	return true;
}

static size_t read_all(struct process *all)
{
	kz_auto_closedir DIR *d = opendir("/proc");
	const struct dirent *e;
	size_t n = 0;

	while (d && n < MOST && (e = readdir(d))) {
		int64_t pid;

		if (kz_str_int(e->d_name, 1, INT32_MAX, &pid, NULL) ||
		    !read_stat(e->d_name, &all[n]))
			continue;
		all[n++].pid = (pid_t)pid;
	}
	return n;
}

static void add_memory(pid_t pid, struct tree_use *u)
{
	char path[64], line[160];
	unsigned long long kib;
	kz_auto_fclose FILE *f = NULL;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Rss: %llu", &kib) == 1)
			u->rss_kib += kib;
		else if (sscanf(line, "Private_Clean: %llu", &kib) == 1 ||
			 sscanf(line, "Private_Dirty: %llu", &kib) == 1)
			u->private_kib += kib;
	}
}

static double cpu_us(const struct process *p)
{
	double us = (double)p->waited_ticks * 1e6 / (double)sysconf(_SC_CLK_TCK);
	struct timespec t;
	clockid_t clock;

	if (!clock_getcpuclockid(p->pid, &clock) && !clock_gettime(clock, &t))
		us += (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
	return us;
}

bool tree_use(pid_t root, bool memory, struct tree_use *out)
{
	kz_auto_free struct process *all = calloc(MOST, sizeof(*all));
	size_t n = all ? read_all(all) : 0, last;

	*out = (struct tree_use){ 0 };
	do {
		last = (size_t)out->processes;
		for (size_t i = 0; i < n; i++) {
			bool in = all[i].pid == root;

			for (size_t j = 0; j < n && !in; j++)
				in = all[j].in && all[j].pid == all[i].parent;
			if (all[i].in || !in)
				continue;
			all[i].in = true;
			out->processes++;
			out->cpu_us += cpu_us(&all[i]);
			if (memory)
				add_memory(all[i].pid, out);
		}
	} while ((size_t)out->processes != last);
	return out->processes > 0;
}
