/*
 * The files that runs handed out, as resources of this server: open descriptors, so that
 * what is read later is the file that was handed out, whatever became of its name.  The
 * oldest go when there are too many.  For core/mcp only.  Layer 3.
 */
#ifndef KZ_CORE_MCP_SHELF_H
#define KZ_CORE_MCP_SHELF_H

#include <stdint.h>

#include "port/json.h"

#define KZ_MCP_SHELF_FILES 128
#define KZ_MCP_SHELF_BYTES ((int64_t)256 << 20)
#define KZ_MCP_READ_MAX (16 << 20) /* bytes of a file that one answer has */

struct kz_mcp_file {
	char *uri, *name; /* own */
	char type[128];   /* media type, "" when nobody knows */
	int64_t bytes;
	int fd; /* own */
};

struct kz_mcp_shelf {
	struct kz_mcp_file files[KZ_MCP_SHELF_FILES]; /* the oldest first */
	size_t count;
	int64_t bytes;
};

/* Put a file on it. in: fd is taken, and closed when memory is out; type NULL: nobody knows. out: borrowed until the next change; NULL: memory is out */
const struct kz_mcp_file *kz_mcp_shelf_add(struct kz_mcp_shelf *s, const char *uri,
					   const char *name, const char *type, int fd,
					   int64_t bytes);
/* What resources/list says: uri, name, mimeType and size of each. out: new */
struct kz_json *kz_mcp_shelf_list(const struct kz_mcp_shelf *s);
/* One of them. out: NULL: there is none of that name (any more) */
const struct kz_mcp_file *kz_mcp_shelf_find(const struct kz_mcp_shelf *s, const char *uri);
/* uri, name, mimeType and size. out: new */
struct kz_json *kz_mcp_file_words(const struct kz_mcp_file *f);
/*
 * What is in it: uri, mimeType and either text (UTF-8 without a zero byte) or blob.
 * out: new. err: output_too_large (over KZ_MCP_READ_MAX), io_failed, system_failed
 */
enum kz_rc kz_mcp_file_contents(const struct kz_mcp_file *f, struct kz_json **out,
				struct kz_err *err);
/* Its bytes in base64. out: new, freed with free; NULL with err as above */
char *kz_mcp_file_base64(const struct kz_mcp_file *f, struct kz_err *err);
/* Close all. */
void kz_mcp_shelf_release(struct kz_mcp_shelf *s);

#endif
