/* The requests that move a whole tree, the workspace or the packages, and the label of the workspace. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/str.h"
#include "port/json.h"
#include "rule/reason.h"
#include "worker/client.h"
#include "worker/tree.h"

#define OUT_MAX (1 << 20)

/* May this request touch the workspace?  Only while nothing of the tenant is alive. */
static enum kz_rc check(struct kz_client *c, const struct kz_json *o, struct kz_err *err)
{
	struct kz_worker *w = c->w;

	if (kz_tenure_check(&w->tenure, kz_json_str(o, "lease", NULL), kz_deadline_in(KZ_MS(0)),
			    err) != KZ_OK)
		return KZ_E_TEMPFAIL;
	if (kz_run_is_busy(w->run))
		return kz_refuse(err, KZ_R_WORKER_REFUSED, "a program is running");
	return KZ_OK;
}

static enum kz_rc label_of(const struct kz_json *o, const char **label, struct kz_err *err)
{
	*label = kz_json_str(o, "label", NULL);
	if (!*label || strlen(*label) >= KZ_TENURE_LABEL || kz_str_has_control(*label))
		return kz_refuse(err, KZ_R_MALFORMED_INPUT, "the label is missing or too long");
	return KZ_OK;
}

/* Which of the two trees: the workspace unless it says otherwise. */
static enum kz_rc place_of(const struct kz_json *o, bool *is_packages, struct kz_err *err)
{
	const char *name = kz_json_get(o, "place") ? kz_json_str(o, "place", "") : "space";

	*is_packages = kz_str_eq(name, "packages");
	if (!*is_packages && !kz_str_eq(name, "space"))
		return kz_refuse(err, KZ_R_MALFORMED_INPUT, "the place is unknown");
	return KZ_OK;
}

static enum kz_rc open_place(struct kz_worker *w, bool is_packages, int *dir, struct kz_err *err)
{
	*dir = kz_space_at(is_packages ? w->space.packages : w->space.dir,
			   is_packages ? "." : KZ_SPACE_HOME, O_RDONLY | O_DIRECTORY, 0);
	return *dir < 0 ? kz_refuse(err, KZ_R_WORKER_FAULT, "the tree cannot be opened: error %d",
				    errno) :
			  KZ_OK;
}

/* out: a tree that can be neither emptied nor believed ends the worker's use */
static enum kz_rc clear(struct kz_worker *w, bool is_packages, struct kz_err *err)
{
	uid_t uid = w->boot.tenant_uid;
	gid_t gid = w->boot.tenant_gid;
	enum kz_rc rc;

	if (is_packages) {
		rc = kz_tree_empty(w->space.packages, uid, gid, err);
		/* what comes is charged to process 1 */
		w->space.packages_charged = 0;
	} else {
		rc = kz_tree_clear(w->space.dir, KZ_SPACE_HOME, uid, gid, err);
		w->tenure.label[0] = 0;
	}
	if (rc != KZ_OK)
		w->tenure.state = KZ_TENURE_BROKEN;
	return rc;
}

static void answer_empty(struct kz_client *c)
{
	kz_client_answer(c, 200, kz_json_object());
}

void kz_client_label(struct kz_client *c, const struct kz_json *o, struct kz_slice tail)
{
	struct kz_err err = KZ_ERR_INIT;
	const char *label;

	(void)tail;
	if (check(c, o, &err) != KZ_OK || label_of(o, &label, &err) != KZ_OK ||
	    kz_str_copy(c->w->tenure.label, KZ_TENURE_LABEL, label, &err) != KZ_OK) {
		kz_client_refuse(c, &err);
		return;
	}
	answer_empty(c);
}

static enum kz_rc begin_get(struct kz_client *c, const struct kz_json *o, int64_t *length,
			    struct kz_err *err)
{
	const struct kz_walk_bounds b = { .bytes = kz_json_num(o, "bytes", -1),
					  .entries = kz_json_num(o, "entries", -1) };
	bool is_packages;
	int dir;

	if (check(c, o, err) != KZ_OK)
		return KZ_E_TEMPFAIL;
	if (place_of(o, &is_packages, err) != KZ_OK)
		return KZ_E_DATA;
	if (b.bytes < 0 || b.entries < 0)
		return kz_refuse(err, KZ_R_MALFORMED_INPUT, "a bound is missing");
	if (c->w->tree_in)
		return kz_refuse(err, KZ_R_WORKER_REFUSED, "the workspace is on its way in");
	if (open_place(c->w, is_packages, &dir, err) != KZ_OK)
		return KZ_E_OS;
	return kz_tree_out_new(dir, &b, &c->tree, length, err);
}

void kz_client_tree_get(struct kz_client *c, const struct kz_json *o, struct kz_slice tail)
{
	struct kz_err err = KZ_ERR_INIT;
	kz_auto_buf struct kz_buf head = KZ_BUF_INIT(1024);
	int64_t length = 0;

	(void)tail;
	if (begin_get(c, o, &length, &err) != KZ_OK ||
	    kz_buf_printf(
		    &head, &err,
		    "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: %lld\r\n\r\n",
		    (long long)length) != KZ_OK) {
		kz_client_refuse(c, &err);
		return;
	}
	c->state = KZ_CLIENT_GET;
	kz_client_send(c, head.data, head.len);
	kz_client_tree_more(c);
}

void kz_client_tree_more(struct kz_client *c)
{
	kz_auto_buf struct kz_buf piece = KZ_BUF_INIT(OUT_MAX);
	bool is_over = false;
	enum kz_rc rc = kz_tree_out_more(c->tree, &piece, &is_over, NULL);

	kz_client_send(c, piece.data, piece.len);
	if (rc == KZ_OK && !is_over)
		return;
	kz_tree_out_free(c->tree);
	c->tree = NULL;
	if (rc == KZ_OK && !c->is_close) {
		c->state = KZ_CLIENT_HEAD;
		return;
	}
	/* it changed: fewer bytes than promised and the end tell the reader */
	c->state = KZ_CLIENT_CLOSING;
	kz_conn_finish(c->conn);
}

/* The tree that was coming is not: nothing of it stays. */
static void drop_in(struct kz_worker *w)
{
	kz_tree_in_free(w->tree_in);
	w->tree_in = NULL;
	w->tree_from = NULL;
	if (w->tenure.state == KZ_TENURE_BOUND)
		(void)clear(w, w->tree_is_packages, NULL);
}

void kz_client_tree_gone(struct kz_client *c)
{
	kz_tree_out_free(c->tree);
	c->tree = NULL;
	if (c->w->tree_from == c)
		drop_in(c->w);
}

static bool is_going_out(const struct kz_worker *w)
{
	for (int i = 0; i < w->client_count; i++)
		if (w->clients[i]->tree)
			return true;
	return false;
}

bool kz_client_tree_is_moving(const struct kz_worker *w)
{
	return w->tree_in || is_going_out(w);
}

void kz_client_tree_stop(struct kz_worker *w)
{
	kz_tree_in_free(w->tree_in);
	w->tree_in = NULL;
	w->tree_from = NULL;
	/* backwards: closing one puts the last in its place */
	for (int i = w->client_count - 1; i >= 0; i--)
		if (w->clients[i]->tree)
			kz_client_close(w->clients[i]);
}

static enum kz_rc begin_put(struct kz_client *c, const struct kz_json *o, struct kz_err *err)
{
	struct kz_worker *w = c->w;
	const char *label;
	bool is_packages;
	int dir;

	if (check(c, o, err) != KZ_OK || label_of(o, &label, err) != KZ_OK ||
	    place_of(o, &is_packages, err) != KZ_OK)
		return KZ_E_DATA;
	if (kz_client_tree_is_moving(w))
		return kz_refuse(err, KZ_R_WORKER_REFUSED, "the workspace is on its way");
	if (clear(w, is_packages, err) != KZ_OK || open_place(w, is_packages, &dir, err) != KZ_OK)
		return KZ_E_OS;
	w->tree_is_packages = is_packages;
	w->tree_in = kz_tree_in_new(dir, w->boot.tenant_uid, w->boot.tenant_gid);
	if (!w->tree_in)
		return kz_refuse(err, KZ_R_WORKER_FAULT, "out of memory");
	w->tree_from = c;
	return kz_str_copy(w->tree_label, sizeof w->tree_label, label, err);
}

void kz_client_tree_put(struct kz_client *c, const struct kz_json *o, struct kz_slice tail)
{
	struct kz_err err = KZ_ERR_INIT;

	(void)tail;
	if (begin_put(c, o, &err) != KZ_OK)
		kz_client_refuse(c, &err);
	else
		answer_empty(c);
}

static enum kz_rc check_coming(struct kz_client *c, const struct kz_json *o, struct kz_err *err)
{
	if (c->w->tree_from != c)
		return kz_refuse(err, KZ_R_WORKER_REFUSED,
				 "no workspace is coming on this connection");
	return check(c, o, err);
}

void kz_client_tree_add(struct kz_client *c, const struct kz_json *o, struct kz_slice tail)
{
	struct kz_err err = KZ_ERR_INIT;

	if (check_coming(c, o, &err) != KZ_OK) {
		kz_client_refuse(c, &err);
	} else if (kz_tree_in_add(c->w->tree_in, tail.p, tail.n, &err) != KZ_OK) {
		drop_in(c->w);
		kz_client_refuse(c, &err);
	} else {
		answer_empty(c);
	}
}

void kz_client_tree_end(struct kz_client *c, const struct kz_json *o, struct kz_slice tail)
{
	struct kz_worker *w = c->w;
	struct kz_err err = KZ_ERR_INIT;
	int64_t count = 0;
	struct kz_json *j;

	(void)tail;
	if (check_coming(c, o, &err) != KZ_OK) {
		kz_client_refuse(c, &err);
		return;
	}
	if (kz_tree_in_end(w->tree_in, &count, &err) != KZ_OK) {
		drop_in(w);
		kz_client_refuse(c, &err);
		return;
	}
	kz_tree_in_free(w->tree_in);
	w->tree_in = NULL;
	w->tree_from = NULL;
	/* the label names what the workspace holds, whatever packages there are */
	if (!w->tree_is_packages)
		(void)kz_str_copy(w->tenure.label, KZ_TENURE_LABEL, w->tree_label, NULL);
	j = kz_json_object();
	kz_json_set_int(j, "entries", count);
	kz_client_answer(c, 200, j);
}
