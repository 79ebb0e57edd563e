/* XML as a stream over expat. */
#include "port/xml.h"

#include <expat.h>
#include <stdlib.h>

#define ATTRIBUTES_MAX 1024
#define PIECE_MAX 65536

struct kz_xml {
	struct kz_xml_sink to;
	XML_Parser parser;
	struct kz_err *err; /* of the call that is running */
	enum kz_rc rc;      /* what stopped it, for good */
	int depth;
};

static void stop(struct kz_xml *x, enum kz_rc rc)
{
	if (x->rc == KZ_OK)
		x->rc = rc;
	(void)XML_StopParser(x->parser, XML_FALSE);
}

/* Later versions have another name for it and warn of this one, which is all that the oldest has. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static unsigned long line_of(const struct kz_xml *x)
{
	return (unsigned long)XML_GetCurrentLineNumber(x->parser);
}
#pragma GCC diagnostic pop

static void refuse(struct kz_xml *x, const char *what)
{
	if (x->rc == KZ_OK)
		stop(x, kz_err_set(x->err, KZ_E_DATA, "line %lu: %s", line_of(x), what));
}

/* expat may still call after it was stopped: nothing reaches the sink then. */
static void on_start(void *arg, const XML_Char *name, const XML_Char **attributes)
{
	struct kz_xml *x = arg;
	size_t n = 0;

	if (x->rc != KZ_OK)
		return;
	if (++x->depth > KZ_XML_DEPTH_MAX) {
		refuse(x, "elements are nested too deep");
		return;
	}
	while (attributes[n] && n <= 2 * ATTRIBUTES_MAX)
		n += 2;
	if (n > 2 * ATTRIBUTES_MAX) {
		refuse(x, "an element has too many attributes");
		return;
	}
	if (x->to.start) {
		enum kz_rc rc = x->to.start(x->to.arg, name, attributes, x->err);
		if (rc != KZ_OK)
			stop(x, rc);
	}
}

static void on_end(void *arg, const XML_Char *name)
{
	struct kz_xml *x = arg;
	enum kz_rc rc;

	if (x->rc != KZ_OK)
		return;
	x->depth--;
	if (x->to.end && (rc = x->to.end(x->to.arg, name, x->err)) != KZ_OK)
		stop(x, rc);
}

static void on_text(void *arg, const XML_Char *p, int n)
{
	struct kz_xml *x = arg;
	enum kz_rc rc;

	if (x->rc == KZ_OK && (rc = x->to.text(x->to.arg, p, (size_t)n, x->err)) != KZ_OK)
		stop(x, rc);
}

/* Without a DTD no entity but the five can exist, and nothing outside the document is named. */
static void on_doctype(void *arg, const XML_Char *name, const XML_Char *system,
		       const XML_Char *public, int has_internal)
{
	(void)name;
	(void)system;
	(void)public;
	(void)has_internal;
	refuse(arg, "a document type is not taken");
}

enum kz_rc kz_xml_open(const struct kz_xml_sink *to, struct kz_xml **out, struct kz_err *err)
{
	struct kz_xml *x = calloc(1, sizeof *x);

	if (!x || !(x->parser = XML_ParserCreateNS(NULL, ' '))) {
		free(x);
		return kz_err_set(err, KZ_E_OS, "no memory for an XML reader");
	}
	x->to = *to;
	XML_SetUserData(x->parser, x);
	XML_SetElementHandler(x->parser, on_start, on_end);
	if (to->text)
		XML_SetCharacterDataHandler(x->parser, on_text);
	XML_SetStartDoctypeDeclHandler(x->parser, on_doctype);
	*out = x;
	return KZ_OK;
}

static enum kz_rc parse(struct kz_xml *x, const char *p, int n, int is_final, struct kz_err *err)
{
	enum XML_Error code;

	x->err = err;
	if (XML_Parse(x->parser, p, n, is_final) == XML_STATUS_OK && x->rc == KZ_OK)
		return KZ_OK;
	code = XML_GetErrorCode(x->parser);
	if (x->rc != KZ_OK)
		return x->rc;
	if (code == XML_ERROR_NO_MEMORY)
		return x->rc = kz_err_set(err, KZ_E_OS, "no memory to read XML");
	refuse(x, XML_ErrorString(code));
	return x->rc;
}

enum kz_rc kz_xml_add(struct kz_xml *x, const void *p, size_t n, struct kz_err *err)
{
	const char *at = p;

	if (x->rc != KZ_OK)
		return kz_err_set(err, x->rc, "the XML document was refused before");
	while (n > 0) {
		int piece = n > PIECE_MAX ? PIECE_MAX : (int)n;
		if (parse(x, at, piece, 0, err) != KZ_OK)
			return x->rc;
		at += piece;
		n -= (size_t)piece;
	}
	return KZ_OK;
}

enum kz_rc kz_xml_end(struct kz_xml *x, struct kz_err *err)
{
	if (x->rc != KZ_OK)
		return kz_err_set(err, x->rc, "the XML document was refused before");
	return parse(x, "", 0, 1, err);
}

void kz_xml_free(struct kz_xml *x)
{
	if (!x)
		return;
	XML_ParserFree(x->parser);
	free(x);
}
