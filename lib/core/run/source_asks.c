/* Looking for the names of the contract of attached files in a program. */
#include "core/run/source_asks.h"

#include <string.h>
#include <sys/mman.h>

#include "rule/projection.h"

enum kz_rc kz_source_asks(const struct kz_source *s, bool *out, struct kz_err *err)
{
	void *p;

	*out = s->text && kz_prj_asks(s->text, strlen(s->text));
	if (s->text || !s->size)
		return KZ_OK;
	p = mmap(NULL, (size_t)s->size, PROT_READ, MAP_PRIVATE, s->fd, 0);
	if (p == MAP_FAILED)
		return kz_err_sys(err, KZ_E_OS, "cannot map the program");
	*out = kz_prj_asks(p, (size_t)s->size);
	munmap(p, (size_t)s->size);
	return KZ_OK;
}
