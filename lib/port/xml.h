/*
 * XML, read as a stream of elements.  The only user of expat.  No DTD, no entity but
 * the five, no external anything, bounded depth, names and attribute counts.  Layer 1.
 */
#ifndef KZ_PORT_XML_H
#define KZ_PORT_XML_H

#include <stddef.h>

#include "base/err.h"

#define KZ_XML_DEPTH_MAX 256

/* Names are "NAMESPACE NAME" with one space between, or NAME alone; attributes are name, value pairs, NULL-terminated. Return non-KZ_OK to stop. */
struct kz_xml_sink {
	void *arg;
	enum kz_rc (*start)(void *arg, const char *name, const char *const *attributes,
			    struct kz_err *err);
	enum kz_rc (*end)(void *arg, const char *name, struct kz_err *err);
	enum kz_rc (*text)(void *arg, const char *p, size_t n,
			   struct kz_err *err); /* NULL: not wanted */
};

struct kz_xml;
/* own: kz_xml_free. err: KZ_E_OS */
enum kz_rc kz_xml_open(const struct kz_xml_sink *to, struct kz_xml **out, struct kz_err *err);
/* A piece of the document. err: KZ_E_DATA with line and what is wrong; what the sink returned */
enum kz_rc kz_xml_add(struct kz_xml *x, const void *p, size_t n, struct kz_err *err);
/* The document ended. err: KZ_E_DATA when it did not end well */
enum kz_rc kz_xml_end(struct kz_xml *x, struct kz_err *err);
void kz_xml_free(struct kz_xml *x);

#endif
