/* Files into and out of the tenant's file system. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "port/json.h"
#include "rule/path.h"
#include "rule/reason.h"
#include "worker/client.h"

#define GET_CHUNK 65536

/* out: dir, NULL for the place of shared files */
static enum kz_rc place_of(const struct kz_json *o, const char **dir, struct kz_err *err)
{
	const char *p = kz_json_str(o, "place", "space");

	if (kz_str_eq(p, "space"))
		*dir = KZ_SPACE_HOME;
	else if (kz_str_eq(p, "code"))
		*dir = KZ_SPACE_CODE;
	else if (kz_str_eq(p, "shared"))
		*dir = NULL;
	else
		return kz_refuse(err, KZ_R_MALFORMED_INPUT, "there is no such place");
	return KZ_OK;
}

static enum kz_rc name_of(const struct kz_json *o, char out[KZ_PATH_MAX + 1], struct kz_err *err)
{
	const char *s = kz_json_str(o, "name", "");
	enum kz_path_fault f = kz_path_normal(s, strlen(s), out);

	if (f != KZ_PATH_OK)
		return kz_refuse(err, KZ_R_PATH_REJECTED, "the name %s", kz_path_fault_text(f));
	return KZ_OK;
}

/* the directory that a name lies in, made where it is missing; out: descriptor or -1 */
static int parent_of(struct kz_worker *w, int top, char *name, bool is_tenants)
{
	kz_auto_close int dir = kz_space_at(top, ".", O_RDONLY | O_DIRECTORY, 0);

	for (char *at = name, *slash; dir >= 0 && (slash = strchr(at, '/')); at = slash + 1) {
		int sub;

		*slash = 0;
		if (mkdirat(dir, at, 0755) == 0 && is_tenants &&
		    fchownat(dir, at, w->boot.tenant_uid, w->boot.tenant_gid, AT_SYMLINK_NOFOLLOW) <
			    0)
			return -1;
		sub = kz_space_at(dir, at, O_RDONLY | O_DIRECTORY, 0);
		*slash = '/';
		close(dir);
		dir = sub;
	}
	return kz_take_fd(&dir);
}

static enum kz_rc open_put(struct kz_client *c, const struct kz_json *o, struct kz_err *err)
{
	struct kz_worker *w = c->w;
	char name[KZ_PATH_MAX + 1];
	const char *dir = NULL;
	int64_t mode = kz_json_num(o, "mode", 0644);
	kz_auto_close int top = -1, parent = -1, fd = -1;
	bool is_tenants;

	if (kz_tenure_check(&w->tenure, kz_json_str(o, "lease", NULL), kz_deadline_in(KZ_MS(0)),
			    err) != KZ_OK ||
	    place_of(o, &dir, err) != KZ_OK || name_of(o, name, err) != KZ_OK)
		return KZ_E_DATA;
	if (mode < 0 || mode > 0777 || kz_json_num(o, "size", -1) != c->body_left)
		return kz_refuse(err, KZ_R_MALFORMED_INPUT, "mode or size is wrong");
	if (!dir)
		return kz_client_shared_open(c, o, err);
	is_tenants = kz_str_eq(dir, KZ_SPACE_HOME);
	if (is_tenants)
		w->tenure.label[0] = 0;
	top = kz_space_at(w->space.dir, dir, O_RDONLY | O_DIRECTORY, 0);
	parent = top < 0 ? -1 : parent_of(w, top, name, is_tenants);
	if (parent >= 0) {
		const char *base = kz_path_base(name);

		unlinkat(parent, base, 0);
		fd = kz_space_at(parent, base, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
				 (unsigned)mode);
	}
	if (fd < 0 && (errno == ENOSPC || errno == EDQUOT))
		return kz_refuse(err, KZ_R_INPUT_OVER_BOUND, NULL);
	if (fd < 0)
		return kz_refuse(err, KZ_R_PATH_REJECTED, "the file cannot be made");
	if (is_tenants && fchown(fd, w->boot.tenant_uid, w->boot.tenant_gid) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot hand the file over");
	c->file = kz_take_fd(&fd);
	return KZ_OK;
}

/* the framed head of a put; out: 1 taken, 0 more bytes are needed, -1 malformed */
static int take_put_head(struct kz_client *c)
{
	kz_auto_json struct kz_json *o = NULL;
	const unsigned char *p = kz_conn_peek(c->conn, 4);
	size_t n;

	if (!p)
		return c->body_left < 4 ? -1 : 0;
	n = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
	if (n > KZ_PUT_HEAD_MAX || (int64_t)n + 4 > c->body_left)
		return -1;
	p = kz_conn_peek(c->conn, n + 4);
	if (!p)
		return 0;
	if (kz_json_parse((const char *)p + 4, n, &o, NULL) != KZ_OK || !kz_json_is_object(o))
		return -1;
	kz_conn_drop(c->conn, n + 4);
	c->body_left -= (int64_t)n + 4;
	c->file_left = c->body_left;
	c->shared_at = -1;
	/* a refusal is kept until the bytes have passed, so that the connection stays usable */
	open_put(c, o, &c->put_err);
	return 1;
}

static void put_bytes(struct kz_client *c, const char *p, size_t n)
{
	ssize_t done = 0;

	while (c->file >= 0 && n) {
		done = write(c->file, p, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			close(c->file);
			c->file = -1;
			if (errno == ENOSPC || errno == EFBIG)
				kz_refuse(&c->put_err, KZ_R_INPUT_OVER_BOUND, NULL);
			else
				kz_err_sys(&c->put_err, KZ_E_OS, "cannot write the file");
			return;
		}
		if (c->shared_at >= 0)
			kz_sha256_add(&c->hash, p, (size_t)done);
		p += done;
		n -= (size_t)done;
	}
}

static void end_put(struct kz_client *c)
{
	struct kz_json *o;

	if (c->file >= 0)
		close(c->file);
	c->file = -1;
	if (c->put_err.rc == KZ_OK && c->shared_at >= 0)
		kz_client_shared_end(c);
	c->shared_at = -1;
	if (c->put_err.rc != KZ_OK) {
		kz_client_refuse(c, &c->put_err);
		return;
	}
	o = kz_json_object();
	kz_json_set_int(o, "size", c->file_left);
	kz_client_answer(c, 200, o);
}

bool kz_client_put(struct kz_client *c)
{
	size_t n = kz_conn_ready(c->conn);

	if (c->file_left < 0) {
		int rc = take_put_head(c);

		if (rc < 0) {
			struct kz_err err = KZ_ERR_INIT;

			kz_refuse(&err, KZ_R_MALFORMED_INPUT, "the head of the file is malformed");
			c->is_close = true;
			kz_client_refuse(c, &err);
		}
		if (rc <= 0)
			return false;
		n = kz_conn_ready(c->conn);
	}
	if ((int64_t)n > c->body_left)
		n = (size_t)c->body_left;
	while (n) {
		size_t part = n < GET_CHUNK ? n : GET_CHUNK;

		put_bytes(c, kz_conn_peek(c->conn, part), part);
		kz_conn_drop(c->conn, part);
		c->body_left -= (int64_t)part;
		n -= part;
	}
	if (c->body_left > 0)
		return false;
	end_put(c);
	return true;
}

static enum kz_rc open_get(struct kz_client *c, const struct kz_json *o, struct kz_err *err)
{
	struct kz_worker *w = c->w;
	char name[KZ_PATH_MAX + 1];
	struct stat st;
	kz_auto_close int top = -1, fd = -1;

	if (kz_tenure_check(&w->tenure, kz_json_str(o, "lease", NULL), kz_deadline_in(KZ_MS(0)),
			    err) != KZ_OK ||
	    name_of(o, name, err) != KZ_OK)
		return KZ_E_DATA;
	top = kz_space_at(w->space.dir, KZ_SPACE_HOME, O_RDONLY | O_DIRECTORY, 0);
	/* O_NONBLOCK: a fifo in its place must not hold process 1 */
	fd = top < 0 ? -1 : kz_space_at(top, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
	if (fd < 0 && errno == ENOENT)
		return kz_refuse(err, KZ_R_OUTPUT_MISSING, NULL);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return kz_refuse(err, KZ_R_OUTPUT_NOT_REGULAR, NULL);
	if (st.st_size > kz_json_num(o, "max", 0))
		return kz_refuse(err, KZ_R_OUTPUT_TOO_LARGE, NULL);
	c->file = kz_take_fd(&fd);
	c->file_left = st.st_size;
	return KZ_OK;
}

void kz_client_get(struct kz_client *c, const struct kz_json *o, struct kz_slice tail)
{
	struct kz_err err = KZ_ERR_INIT;
	kz_auto_buf struct kz_buf head = KZ_BUF_INIT(1024);

	(void)tail;
	if (open_get(c, o, &err) != KZ_OK ||
	    kz_buf_printf(
		    &head, &err,
		    "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: %lld\r\n\r\n",
		    (long long)c->file_left) != KZ_OK) {
		kz_client_refuse(c, &err);
		return;
	}
	c->state = KZ_CLIENT_GET;
	kz_client_send(c, head.data, head.len);
	kz_client_get_more(c);
}

void kz_client_get_more(struct kz_client *c)
{
	char t[GET_CHUNK];
	ssize_t n = 0;

	if (c->file_left > 0)
		n = read(c->file, t, c->file_left < GET_CHUNK ? (size_t)c->file_left : sizeof t);
	if (n > 0) {
		c->file_left -= n;
		kz_client_send(c, t, (size_t)n);
		return;
	}
	close(c->file);
	c->file = -1;
	if (c->file_left > 0 || c->is_close) {
		/* it shrank: fewer bytes than promised and the end tell the reader */
		c->state = KZ_CLIENT_CLOSING;
		kz_conn_finish(c->conn);
		return;
	}
	c->state = KZ_CLIENT_HEAD;
}
