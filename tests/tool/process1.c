/*
 * A process 1 for the tests of the driver, so that they need no kz-worker: it takes
 * the boot object, says ready, and runs each line that comes to the control socket
 * in a shell.  MODE chooses what it does instead: 0 work, 1 die at once, 2 never
 * become ready, 3 refuse.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MODE
#define MODE 0
#endif

static char boot[65536];

/* The number after "name": in the boot object. */
static int number(const char *name)
{
	char key[64];
	const char *p;

	snprintf(key, sizeof key, "\"%s\":", name);
	p = strstr(boot, key);
	return p ? (int)strtol(p + strlen(key), NULL, 10) : -1;
}

static void serve(int client)
{
	char line[8192];
	ssize_t n = read(client, line, sizeof line - 1);

	if (n > 0 && fork() == 0) {
		line[n] = '\0';
		dup2(client, 0);
		dup2(client, 1);
		dup2(client, 2);
		close(client);
		setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
		execl("/bin/sh", "sh", "-c", line, (char *)NULL);
		_exit(127);
	}
	close(client);
	while (waitpid(-1, NULL, 0) > 0)
		;
}

int main(void)
{
	static const char yes[] = "{\"ready\":true,\"image\":\"x\",\"posture\":{\"seen\":true}}\n";
	static const char no[] =
		"{\"ready\":false,\"reason\":\"posture_failed\",\"text\":\"mode 3\"}\n";
	size_t len = 0;
	ssize_t n;

	if (MODE == 1) {
		fprintf(stderr, "process1: dying as asked\n");
		return 9;
	}
	while ((n = read(3, boot + len, sizeof boot - 1 - len)) > 0)
		len += (size_t)n;
	close(3);
	if (len == 0) /* the driver is gone */
		return 7;
	if (MODE == 2)
		for (;;)
			pause();
	n = MODE == 3 ? write(number("ready"), no, sizeof no - 1) :
			write(number("ready"), yes, sizeof yes - 1);
	close(number("ready"));
	if (MODE == 3 || n < 0)
		return 78;
	for (;;) {
		int client = accept(number("control"), NULL, NULL);

		if (client >= 0)
			serve(client);
	}
}
