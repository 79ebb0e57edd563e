/* The environment of the program, built from empty [EXEC-13]. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "core/run/egress.h"
#include "core/run/job.h"
#include "rule/reason.h"

#define ENV_MAX_BYTES 131072 /* of all variables together */

static const char *const fixed[] = {
	"PATH=/usr/local/bin:/usr/bin:/bin",
	"HOME=/work/space",
	"LANG=C.UTF-8",
	/* into a pipe Python holds back what is printed until 8 KiB are there: a bound would take it away */
	"PYTHONUNBUFFERED=1",
};
#define FIXED_COUNT (sizeof(fixed) / sizeof(*fixed))

static size_t name_length(const char *s)
{
	size_t n = strcspn(s, "=");

	if (n == 0 || isdigit((unsigned char)s[0]))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '_')
			return 0;
	return n;
}

/* Set, replacing one of the same name. own: takes var */
static void put(const char **env, char *var)
{
	size_t n = strcspn(var, "=") + 1, i = 0;

	while (env[i] && strncmp(env[i], var, n) != 0)
		i++;
	free((void *)(uintptr_t)env[i]);
	env[i] = var;
}

/* The caller's value of a variable, NULL when it has none. */
static const char *caller_value(const struct kz_job *j, const char *name)
{
	size_t n = strlen(name);

	for (const char *const *e = j->ask->caller_env; e && *e; e++)
		if (!strncmp(*e, name, n) && (*e)[n] == '=')
			return *e + n + 1;
	return NULL;
}

static enum kz_rc make(const struct kz_job *j, const char *ask, char **out, struct kz_err *err)
{
	size_t n = name_length(ask);
	const char *value = NULL;

	if (!n)
		return kz_refuse(
			err, KZ_R_USAGE,
			"-e needs NAME or NAME=VALUE with a name of letters, digits and _");
	if (!ask[n]) {
		value = caller_value(j, ask);
		if (!value)
			return kz_refuse(err, KZ_R_USAGE, "-e %.60s: not set in the environment",
					 ask);
	}
	if (value ? asprintf(out, "%s=%s", ask, value) < 0 : !(*out = kz_str_dup(ask))) {
		*out = NULL;
		return kz_err_set(err, KZ_E_OS, "memory is out");
	}
	if (!kz_utf8_valid(*out, strlen(*out)))
		return kz_refuse(err, KZ_R_USAGE, "-e %.*s: the value is not UTF-8",
				 (int)(n < 60 ? n : 60), ask);
	return KZ_OK;
}

static enum kz_rc add_asked(struct kz_job *j, struct kz_err *err)
{
	size_t total = 0;

	for (size_t i = 0; i < j->ask->env_count; i++) {
		char *var = NULL;
		enum kz_rc rc = make(j, j->ask->env[i], &var, err);

		if (!rc && (total += strlen(var) + 1) > ENV_MAX_BYTES)
			rc = kz_refuse(err, KZ_R_USAGE,
				       "the variables of -e have more than %d bytes",
				       ENV_MAX_BYTES);
		if (rc) {
			free(var);
			return rc;
		}
		put(j->env, var);
	}
	return KZ_OK;
}

enum kz_rc kz_job_env(struct kz_job *j, struct kz_err *err)
{
	/* A program that is a file lies outside the workspace, and still finds modules in it. */
	const char *modules = NULL;

	j->env = calloc(FIXED_COUNT + j->ask->env_count + 2, sizeof(*j->env));
	if (!j->env)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	if (!j->source.text && j->source.language == KZ_LANG_PYTHON)
		modules = "PYTHONPATH=/work/space";
	else if (!j->source.text && j->source.language == KZ_LANG_NODE)
		modules = "NODE_PATH=/work/space";
	for (size_t i = 0; i < FIXED_COUNT; i++) {
		j->env[i] = kz_str_dup(fixed[i]);
		if (!j->env[i])
			return kz_err_set(err, KZ_E_OS, "memory is out");
	}
	if (modules)
		j->env[FIXED_COUNT] = kz_str_dup(modules);
	return add_asked(j, err);
}

const char *kz_job_env_get(const struct kz_job *j, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; j->env[i]; i++)
		if (!strncmp(j->env[i], name, n) && j->env[i][n] == '=')
			return j->env[i] + n + 1;
	return NULL;
}

enum kz_rc kz_job_env_set(struct kz_job *j, const char *name, struct kz_err *err, const char *fmt,
			  ...)
{
	kz_auto_free char *value = NULL;
	const char **more;
	char *var = NULL;
	size_t n = 0;
	va_list ap;

	while (j->env[n])
		n++;
	more = realloc(j->env, (n + 2) * sizeof(*more));
	if (!more)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	j->env = more;
	j->env[n + 1] = NULL;
	va_start(ap, fmt);
	if (vasprintf(&value, fmt, ap) < 0)
		value = NULL;
	va_end(ap);
	if (!value || asprintf(&var, "%s=%s", name, value) < 0)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	explicit_bzero(value, strlen(value));
	put(j->env, var);
	return KZ_OK;
}

void kz_job_env_unset(struct kz_job *j, const char *name)
{
	size_t n = strlen(name), kept = 0;

	for (size_t i = 0; j->env[i]; i++) {
		if (!strncmp(j->env[i], name, n) && j->env[i][n] == '=')
			free((void *)(uintptr_t)j->env[i]);
		else
			j->env[kept++] = j->env[i];
	}
	j->env[kept] = NULL;
}

/* A grant is a credential: it does not stay in freed memory. */
void kz_job_env_free(struct kz_job *j)
{
	for (size_t i = 0; j->env && j->env[i]; i++) {
		char *var = (char *)(uintptr_t)j->env[i];

		explicit_bzero(var, strlen(var));
		free(var);
	}
	free(j->env);
	j->env = NULL;
}
