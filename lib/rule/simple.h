/*
 * Indexes of Python projects, filtered while they come: the JSON form and the HTML form are
 * read, and either is handed out.  Links are rewritten to the broker with the name of
 * the file kept; what an installer goes by (hashes, Python's version, yanked, metadata)
 * is passed on, all else is dropped.  Pure.  Layer 2.
 * src: BRK-1, BRK-3, BRK-6, BRK-7; PEP 503, PEP 592, PEP 629, PEP 658, PEP 691, PEP 700, PEP 714, PEP 792
 */
#ifndef KZ_RULE_SIMPLE_H
#define KZ_RULE_SIMPLE_H

#include <stdint.h>

#include "rule/jsonflow.h"
#include "rule/package.h"

#define KZ_SIMPLE_TEXT 4096 /* bytes of one text of an index */
#define KZ_SIMPLE_TAG 16384 /* bytes of one tag of an HTML page */

enum kz_simple_form { KZ_SIMPLE_JSON, KZ_SIMPLE_HTML };

/* One file of a project. "" and -1: not told */
struct kz_simple_file {
	char name[KZ_PKG_FILE];
	char url[2048]; /* as the registry writes it, perhaps relative to base, without fragment */
	char sha256[65];
	char hashes[512]; /* all of them, as members of a JSON object */
	char requires_python[256];
	bool is_yanked, has_metadata;
	char yanked[512];         /* the reason */
	char metadata_sha256[65]; /* of the companion */
	char upload_time[48];
	int64_t size;
};

struct kz_simple {
	const char *project,
		*base; /* normal form; what links begin with, "http://127.0.0.1:8000" */
	enum kz_simple_form from, to;
	struct kz_buf *out; /* what is handed out, behind head */
	struct kz_buf head; /* ... and what comes first; whole after kz_simple_end */
	/*
	 * Remember it. in: page: what links are relative to, "" the page itself
	 * out: false: the link cannot be followed, so the file is left out
	 */
	bool (*on_file)(void *arg, const struct kz_simple_file *f, const char *page);
	void *arg;

	/* private */
	enum kz_pkg_read read;
	struct kz_jsonflow flow;
	struct kz_buf tag, versions;
	struct kz_simple_file file;
	int place, want, html;
	char key[32], quote;
	char page[2048], status[32], status_reason[512], skip[12];
	bool has_tag, has_file, is_named, has_files;
};

/* in: project, base, out borrowed; out's maximum is the bound. own: kz_simple_release */
void kz_simple_init(struct kz_simple *s, const char *project, const char *base,
		    enum kz_simple_form from, enum kz_simple_form to, struct kz_buf *out,
		    bool (*on_file)(void *arg, const struct kz_simple_file *f, const char *page),
		    void *arg);
void kz_simple_release(struct kz_simple *s);
/* The next piece. wait: never */
enum kz_pkg_read kz_simple_add(struct kz_simple *s, const void *data, size_t n);
/* Nothing more comes: was it whole, and of this project? out: head and out are what is handed out */
enum kz_pkg_read kz_simple_end(struct kz_simple *s);

/* Which form does a client like best that says this? in: the value of Accept, p[0..n); none at all: HTML */
enum kz_simple_form kz_simple_accepts(const char *p, size_t n);
/* Which form does a registry send with this Content-Type? out: false: none that is read, or not UTF-8 */
bool kz_simple_is_form(const char *type, enum kz_simple_form *out);
/* "application/vnd.pypi.simple.v1+json" and "text/html"; static */
const char *kz_simple_type(enum kz_simple_form f);

#endif
