/* Generations of workspaces in a directory: the newest, commits whole or not at all, what stays, what is pruned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/files/prune.h"
#include "core/files/workspace_parts.h"
#include "rule/reason.h"

#define SOON kz_deadline_in(KZ_SECONDS(60))
#define KEY "0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210"

struct place {
	struct kz_conf c;
	struct kz_objects *o;
	struct kz_generation now;
	int asked, sure_for; /* the lease is sure for so many questions; -1: always */
};

static int place_make(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	struct kz_err err = KZ_ERR_INIT;

	if (!p)
		return -1;
	kz_settings_default(&p->c.set);
	kz_str_copy(p->c.state, sizeof(p->c.state), "/tmp/kz-unit.XXXXXX", NULL);
	if (kz_seal_init(&err) || !mkdtemp(p->c.state) || kz_objects_make(&p->c, (gid_t)-1, &err) ||
	    kz_objects_open(&p->c, &p->o, &err)) {
		print_error("%s\n", err.text);
		return -1;
	}
	kz_generation_none(&p->now);
	p->sure_for = -1;
	*state = p;
	return 0;
}

static int place_remove(void **state)
{
	struct place *p = *state;

	kz_objects_close(p->o);
	if (kz_tree_remove(AT_FDCWD, p->c.state, NULL))
		return -1;
	free(p);
	return 0;
}

static struct kz_deadline sure(void *arg)
{
	struct place *p = arg;

	return p->sure_for >= 0 && p->asked++ >= p->sure_for ? (struct kz_deadline){ 0 } : SOON;
}

static int holds(const char *text)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(kz_fd_write_all(fd, text, strlen(text), NULL), KZ_OK);
	return fd;
}

struct ask {
	int64_t fence;
	const char *tree, *lines; /* NULL: the parent's; "": none */
	int64_t tree_max, lines_max, keep;
	bool is_private, is_fresh;
	const char *packages; /* NULL: the parent's */
};

static enum kz_rc commit_on(struct place *p, const struct kz_generation *parent, struct ask a,
			    struct kz_generation *out, struct kz_err *err)
{
	kz_auto_close int tree = a.tree ? holds(a.tree) : -1;
	kz_auto_close int lines = a.lines && *a.lines ? holds(a.lines) : -1;
	kz_auto_close int packages = a.packages ? holds(a.packages) : -1;
	const struct kz_commit c = {
		.parent = parent,
		.fence = a.fence,
		.tree_fd = tree,
		.entries = a.tree && *a.tree ? 1 : 0,
		.lines_fd = lines,
		.packages_fd = packages,
		.packages_entries = a.packages ? 1 : 0,
		.packages_max = 10,
		.drops_lines = a.lines && !*a.lines,
		.tree_max = a.tree_max ? a.tree_max : 1000,
		.lines_max = a.lines_max ? a.lines_max : 1000,
		.keep = a.keep ? a.keep : 2,
		.is_private = a.is_private,
		.is_fresh = a.is_fresh,
		.sure = sure,
		.sure_arg = p,
	};

	*err = (struct kz_err)KZ_ERR_INIT;
	p->asked = 0;
	return kz_workspace_commit(p->o, KEY, &c, out, err);
}

static enum kz_rc commit(struct place *p, struct ask a, struct kz_err *err)
{
	struct kz_generation parent = p->now;

	return commit_on(p, &parent, a, &p->now, err);
}

static void done(struct place *p, struct ask a)
{
	struct kz_err err;

	if (commit(p, a, &err))
		fail_msg("commit: %s: %s", err.reason, err.text);
}

#define refused(p, reason_code, ...)                                                               \
	do {                                                                                       \
		struct kz_err err_;                                                                \
		assert_int_not_equal(commit(p, (struct ask){ __VA_ARGS__ }, &err_), KZ_OK);        \
		assert_string_equal(err_.reason, reason_code);                                     \
	} while (0)

/* What the newest generation holds. */
static void newest_is(struct place *p, const char *tree, const char *lines)
{
	struct kz_generation g;
	const struct kz_blob *const blobs[] = { &g.tree, &g.lines };
	const char *const want[] = { tree, lines };
	struct kz_err err = KZ_ERR_INIT;

	if (kz_workspace_newest(p->o, KEY, &g, SOON, &err))
		fail_msg("newest: %s: %s", err.reason, err.text);
	for (int i = 0; i < 2; i++) {
		kz_auto_close int fd = -1;
		char text[64] = "";

		if (!*want[i]) {
			assert_int_equal(blobs[i]->size, -1);
			continue;
		}
		if (kz_workspace_fetch(p->o, KEY, blobs[i], &fd, SOON, &err))
			fail_msg("fetch: %s: %s", err.reason, err.text);
		assert_int_equal(pread(fd, text, sizeof(text), 0), strlen(want[i]));
		assert_string_equal(text, want[i]);
	}
}

static enum kz_rc add_one(void *arg, const struct kz_object *x, struct kz_err *err)
{
	(void)err;
	(void)x;
	++*(int *)arg;
	return KZ_OK;
}

static int count(struct place *p, const char *prefix)
{
	char all[100];
	int n = 0;

	snprintf(all, sizeof(all), "w/" KEY "/%s", prefix);
	assert_int_equal(kz_objects_list(p->o, all, add_one, &n, SOON, NULL), KZ_OK);
	return n;
}

static void path_of(struct place *p, const char *object, char out[600])
{
	snprintf(out, 600, "%s/objects/%s", p->c.state, object);
}

/* Replace the bytes of a stored generation. */
static void overwrite(struct place *p, const char *name, const char *text, size_t n)
{
	char object[KZ_OBJECT_NAME_MAX + 1], path[600];
	FILE *f;

	kz_generation_object(KEY, name, object);
	path_of(p, object, path);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* Both names count, and no two pairs have one key, however they read when they are put together [WS-1, WS-2]. */
static void test_ws1_ws2_key(void **state)
{
	static const char *const pairs[][2] = {
		{ "ab", "c" },
		{ "a", "bc" },
		{ "abc", "" },
		{ "", "abc" },
		{ "c", "ab" },
		{ "ab", "d" },
		{ "b", "c" },
		{ "a:b", "c" },
		{ "a", "b:c" },
		{ "a/b", "c" },
		{ "a", "b/c" },
		{ "a\x1f", "b" },
		{ "a", "\x1f"
		       "b" },
		{ "a\n", "b" },
		{ "a", "\nb" },
		{ "2ab", "c" },
		{ "2", "abc" },
		{ "1a2bc", "" },
		{ "1a", "2bc" },
	};
	enum { COUNT = sizeof(pairs) / sizeof(*pairs) };
	struct kz_secret a = { .bytes = { 1 }, .is_set = true },
			 b = { .bytes = { 2 }, .is_set = true };
	char keys[COUNT][KZ_ID_HEX], again[KZ_ID_HEX];

	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		kz_workspace_key(&a, pairs[i][0], pairs[i][1], keys[i]);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(keys[i], keys[k]);
		kz_workspace_key(&b, pairs[i][0], pairs[i][1], again);
		assert_string_not_equal(keys[i], again);
		kz_workspace_key(&a, pairs[i][0], pairs[i][1], again);
		assert_string_equal(keys[i], again);
	}
}

static void test_text(void **state)
{
	struct kz_generation g, back;
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(KZ_GENERATION_MAX);
	struct kz_err err = KZ_ERR_INIT;
	bool is_cut;

	(void)state;
	kz_generation_none(&g);
	kz_generation_name(17, 3, g.name);
	kz_generation_name(16, 999999, g.parent);
	g.tree = (struct kz_blob){ .size = 5 };
	memset(g.tree.sha256, 'a', 64);
	memcpy(g.tree.id, KEY, sizeof(KEY));
	g.entries = 4;
	g.at_s = 1;
	assert_int_equal(kz_generation_write(&g, KEY, &b, &err), KZ_OK);
	assert_int_equal(kz_generation_read(b.data, b.len, KEY, g.name, &back, &is_cut, &err),
			 KZ_OK);
	assert_false(is_cut);
	assert_memory_equal(&g, &back, sizeof(g));
	/* every cut is seen as one, every altered byte is damage, also under another key or name */
	for (size_t n = 0; n < b.len; n++) {
		assert_int_equal(kz_generation_read(b.data, n, KEY, g.name, &back, &is_cut, &err),
				 KZ_OK);
		assert_true(is_cut);
	}
	for (size_t n = 0; n + 1 < b.len; n++) {
		b.data[n] ^= 1;
		err = (struct kz_err)KZ_ERR_INIT;
		if (b.data[n] != '\n' || n + 1 < b.len)
			assert_int_not_equal(kz_generation_read(b.data, b.len, KEY, g.name, &back,
								&is_cut, &err),
					     KZ_OK);
		assert_string_equal(err.reason, "object_damaged");
		b.data[n] ^= 1;
	}
	assert_int_not_equal(kz_generation_read(b.data, b.len, OTHER, g.name, &back, &is_cut, &err),
			     KZ_OK);
	assert_int_not_equal(kz_generation_read(b.data, b.len, KEY, g.parent, &back, &is_cut, &err),
			     KZ_OK);
}

/* The line with another text in place of its mark, and the digest of that. */
static size_t respell(const char *line, const char *mark, char out[KZ_GENERATION_MAX])
{
	const char *digest = strstr(line, "\"digest\":"), *rest = strstr(line, "\"entries\":");
	const char *old = strstr(line, "\"private\":true");
	char bare[KZ_GENERATION_MAX], sha256[KZ_SHA256_HEX];
	int n;

	assert_true(digest && rest && old && digest < rest && rest < old);
	n = snprintf(bare, sizeof(bare), "%.*s%.*s%s%.*s", (int)(digest - line), line,
		     (int)(old - rest), rest, mark,
		     (int)strcspn(old + strlen("\"private\":true"), "\n"),
		     old + strlen("\"private\":true"));
	kz_sha256_hex(bare, (size_t)n, sha256);
	n = snprintf(out, KZ_GENERATION_MAX, "%.*s\"digest\":\"%s\",%s\n", (int)(digest - line),
		     line, sha256, bare + (digest - line));
	return (size_t)n;
}

/* One that is not marked reads as those did before there was a mark; the mark has one spelling [PRJ-52]. */
static void test_text_of_mark(void **state)
{
	static const char *const others[] = { "\"private\":true",     "\"private\":false",
					      "\"private\":1",        "\"private\":null",
					      "\"private\":\"true\"", "\"Private\":true" };
	struct kz_generation g, back;
	kz_auto_buf struct kz_buf bare = KZ_BUF_INIT(KZ_GENERATION_MAX),
				  marked = KZ_BUF_INIT(KZ_GENERATION_MAX);
	struct kz_err err = KZ_ERR_INIT;
	bool is_cut;

	(void)state;
	kz_generation_none(&g);
	kz_generation_name(17, 3, g.name);
	assert_int_equal(kz_generation_write(&g, KEY, &bare, &err), KZ_OK);
	g.is_private = true;
	assert_int_equal(kz_generation_write(&g, KEY, &marked, &err), KZ_OK);
	assert_int_equal(kz_buf_add(&marked, "", 1, &err), KZ_OK);
	assert_null(memmem(bare.data, bare.len, "private", 7));
	assert_int_equal(kz_generation_read(bare.data, bare.len, KEY, g.name, &back, &is_cut, &err),
			 KZ_OK);
	assert_false(back.is_private);
	assert_int_equal(
		kz_generation_read(marked.data, marked.len - 1, KEY, g.name, &back, &is_cut, &err),
		KZ_OK);
	assert_true(back.is_private);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		char text[KZ_GENERATION_MAX];
		size_t n = respell(marked.data, others[i], text);

		assert_int_equal(kz_generation_read(text, n, KEY, g.name, &back, &is_cut, &err) ==
					 KZ_OK,
				 i == 0);
	}
}

static void test_names(void **state)
{
	static const char *const bad[] = { "",
					   "1-1",
					   "0000000000000000001a-000001",
					   "00000000000000000001-00001",
					   "99999999999999999999-000001",
					   "00000000000000000001_000001" };
	char name[KZ_GENERATION_TEXT];
	int64_t fence, seq;

	(void)state;
	kz_generation_name(INT64_MAX / 16, 999999, name);
	assert_true(kz_generation_name_parse(name, &fence, &seq));
	assert_int_equal(fence, INT64_MAX / 16);
	assert_int_equal(seq, 999999);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(kz_generation_name_parse(bad[i], &fence, &seq));
}

static void test_commits(void **state)
{
	struct place *p = *state;
	char first[KZ_GENERATION_TEXT];

	newest_is(p, "", "");
	/* still empty: nothing is written */
	done(p, (struct ask){ .fence = 5, .tree = "" });
	assert_string_equal(p->now.name, "");
	assert_int_equal(count(p, ""), 0);
	done(p, (struct ask){ .fence = 5, .tree = "one" });
	memcpy(first, p->now.name, sizeof(first));
	newest_is(p, "one", "");
	/* unchanged: nothing is written */
	done(p, (struct ask){ .fence = 6, .tree = "one" });
	assert_string_equal(p->now.name, first);
	assert_int_equal(count(p, ""), 2);
	/* both or either; what is not named stays [WS-14] */
	done(p, (struct ask){ .fence = 6, .lines = "seen" });
	newest_is(p, "one", "seen");
	assert_string_equal(p->now.parent, first);
	done(p, (struct ask){ .fence = 6, .tree = "two", .lines = "more" });
	newest_is(p, "two", "more");
	assert_string_equal(p->now.name, "00000000000000000006-000002");
	done(p, (struct ask){ .fence = 7, .lines = "" });
	newest_is(p, "two", "");
	done(p, (struct ask){ .fence = 7, .tree = "" });
	newest_is(p, "", "");
	assert_int_not_equal(strlen(p->now.name), 0);
}

static void mark_is(struct place *p, bool want)
{
	struct kz_generation g;

	assert_int_equal(kz_workspace_newest(p->o, KEY, &g, SOON, NULL), KZ_OK);
	assert_int_equal(g.is_private, want);
	assert_int_equal(p->now.is_private, want);
}

/* A copy may lie anywhere in what a program left: the mark ends only with all of it [PRJ-52]. */
static void test_mark(void **state)
{
	struct place *p = *state;
	char name[KZ_GENERATION_TEXT];

	done(p, (struct ask){ .fence = 1, .tree = "", .is_private = true });
	assert_string_equal(p->now.name, "");
	done(p, (struct ask){ .fence = 1, .tree = "own", .lines = "seen" });
	mark_is(p, false);
	/* it left all as it was */
	memcpy(name, p->now.name, sizeof(name));
	done(p, (struct ask){ .fence = 1, .tree = "own", .is_private = true });
	assert_string_equal(p->now.name, name);
	mark_is(p, false);
	done(p, (struct ask){ .fence = 1, .tree = "copy", .is_private = true });
	mark_is(p, true);
	/* who was shown nothing may have moved the copy */
	done(p, (struct ask){ .fence = 2, .tree = "moved" });
	mark_is(p, true);
	done(p, (struct ask){ .fence = 2, .lines = "other" });
	mark_is(p, true);
	/* the record may hold it as well as the tree, and goes with that */
	done(p, (struct ask){ .fence = 2, .tree = "" });
	mark_is(p, false);
	newest_is(p, "", "");
	done(p, (struct ask){ .fence = 2, .tree = "own", .lines = "seen" });
	mark_is(p, false);
	done(p, (struct ask){ .fence = 2, .tree = "copy", .is_private = true });
	mark_is(p, true);
	/* also where it is, byte for byte, what was there */
	done(p, (struct ask){ .fence = 2, .tree = "copy", .is_fresh = true });
	mark_is(p, false);
	newest_is(p, "copy", "");
	/* nothing of before, and all of it of a program that saw a selection */
	done(p, (struct ask){ .fence = 3, .tree = "new", .is_fresh = true, .is_private = true });
	mark_is(p, true);
	done(p, (struct ask){ .fence = 3, .tree = "", .is_private = true });
	mark_is(p, false);
	/* without the tree the record alone may hold it */
	done(p, (struct ask){ .fence = 3, .tree = "", .lines = "text", .is_private = true });
	mark_is(p, true);
}

static void test_keep(void **state)
{
	struct place *p = *state;
	char text[8];

	for (int i = 0; i < 10; i++) {
		snprintf(text, sizeof(text), "t%d", i);
		done(p, (struct ask){ .fence = 3 + i / 3,
				      .tree = text,
				      .keep = 3,
				      .lines = i == 1 ? "seen" : NULL });
	}
	assert_int_equal(count(p, "g/"), 3);
	assert_int_equal(count(p, "b/"), 4);
	newest_is(p, "t9", "seen");
	done(p, (struct ask){ .fence = 9, .tree = "last", .lines = "", .keep = 1 });
	assert_int_equal(count(p, "g/"), 1);
	assert_int_equal(count(p, "b/"), 1);
	newest_is(p, "last", "");
}

/* Two writers of one parent: the second is told, and nothing of it is left [WS-16]. */
static void test_superseded(void **state)
{
	struct place *p = *state;
	struct kz_generation parent, mine;
	struct kz_err err;

	done(p, (struct ask){ .fence = 5, .tree = "one" });
	parent = p->now;
	done(p, (struct ask){ .fence = 5, .tree = "two" });
	assert_int_not_equal(
		commit_on(p, &parent, (struct ask){ .fence = 5, .tree = "lost" }, &mine, &err),
		KZ_OK);
	assert_string_equal(err.reason, "workspace_superseded");
	done(p, (struct ask){ .fence = 8, .tree = "three" });
	parent = p->now;
	assert_int_not_equal(
		commit_on(p, &parent, (struct ask){ .fence = 7, .tree = "late" }, &mine, &err),
		KZ_OK);
	assert_string_equal(err.reason, "workspace_superseded");
	newest_is(p, "three", "");
	assert_int_equal(count(p, "b/"), 2);
}

/* What a writer left whose lease is over does not stand in the way of the next, and is never the newest again. */
static void test_late_writer(void **state)
{
	struct place *p = *state;
	struct kz_generation parent, late;
	struct kz_err err;

	done(p, (struct ask){ .fence = 5, .tree = "one" });
	parent = p->now;
	assert_int_equal(
		commit_on(p, &parent, (struct ask){ .fence = 6, .tree = "late" }, &late, &err),
		KZ_OK);
	done(p, (struct ask){ .fence = 7, .tree = "two" });
	newest_is(p, "two", "");
	done(p, (struct ask){ .fence = 7, .tree = "three" });
	newest_is(p, "three", "");
	assert_int_equal(count(p, "g/"), 2);
	assert_int_equal(count(p, "b/"), 2);
}

/* The lease ends at each step of a commit: it is told, and the old state or the new one is there. */
static void test_lease_ends(void **state)
{
	struct place *p = *state;
	struct kz_generation parent, mine;
	struct kz_err err;
	enum kz_rc rc = KZ_E_NO;
	int steps;

	done(p, (struct ask){ .fence = 5, .tree = "one" });
	parent = p->now;
	for (steps = 0; rc && steps < 100; steps++) {
		p->sure_for = steps;
		rc = commit_on(p, &parent, (struct ask){ .fence = 6, .tree = "two" }, &mine, &err);
		if (rc)
			assert_string_equal(err.reason, "lease_lost");
		if (rc && count(p, "g/") == 1)
			newest_is(p, "one", "");
		else
			break;
	}
	assert_true(steps > 3);
	/* it stands although it was told as lost: whoever comes next goes on from it */
	newest_is(p, "two", "");
	p->sure_for = -1;
	assert_int_equal(kz_workspace_newest(p->o, KEY, &p->now, SOON, &err), KZ_OK);
	done(p, (struct ask){ .fence = 9, .tree = "three" });
	newest_is(p, "three", "");
}

static void test_bounds(void **state)
{
	struct place *p = *state;

	done(p, (struct ask){ .fence = 1,
			      .tree = "0123456789",
			      .tree_max = 10,
			      .lines = "01234",
			      .lines_max = 5 });
	refused(p, "workspace_over_bound", .fence = 1, .tree = "0123456789a", .tree_max = 10);
	refused(p, "lines_over_bound", .fence = 1, .lines = "012345", .lines_max = 5);
	/* a tree that is there already is not judged again */
	done(p, (struct ask){ .fence = 1, .lines = "x", .tree_max = 1 });
	newest_is(p, "0123456789", "x");
}

static void test_damage(void **state)
{
	struct place *p = *state;
	struct kz_generation g;
	char object[KZ_OBJECT_NAME_MAX + 1], path[600], old[KZ_GENERATION_TEXT];
	struct kz_err err = KZ_ERR_INIT;
	int fd = -1;

	done(p, (struct ask){ .fence = 5, .tree = "one" });
	memcpy(old, p->now.name, sizeof(old));
	done(p, (struct ask){ .fence = 5, .tree = "two", .keep = 9 });
	/* a line without an end was never whole: the one before counts, and the next name comes after both */
	overwrite(p, p->now.name, "{\"at_s\":1,", 10);
	newest_is(p, "one", "");
	assert_int_equal(kz_workspace_newest(p->o, KEY, &p->now, SOON, &err), KZ_OK);
	assert_string_equal(p->now.name, old);
	done(p, (struct ask){ .fence = 5, .tree = "three", .keep = 9 });
	assert_string_equal(p->now.name, "00000000000000000005-000003");
	newest_is(p, "three", "");
	/* a whole one that was altered is damage, never an older state */
	overwrite(p, p->now.name, "{\"at_s\":1}\n", 11);
	assert_int_not_equal(kz_workspace_newest(p->o, KEY, &g, SOON, &err), KZ_OK);
	assert_string_equal(err.reason, "object_damaged");
	/* content that is cut, altered or gone */
	kz_blob_object(KEY, p->now.tree.id, object);
	path_of(p, object, path);
	for (int i = 0; i < 3; i++) {
		FILE *f = fopen(path, "we");

		assert_non_null(f);
		fputs(i == 0 ? "thre" : i == 1 ? "threE" : "threeee", f);
		fclose(f);
		err = (struct kz_err)KZ_ERR_INIT;
		assert_int_not_equal(kz_workspace_fetch(p->o, KEY, &p->now.tree, &fd, SOON, &err),
				     KZ_OK);
		assert_string_equal(err.reason, "object_damaged");
	}
	assert_int_equal(unlink(path), 0);
	assert_int_not_equal(kz_workspace_fetch(p->o, KEY, &p->now.tree, &fd, SOON, &err), KZ_OK);
	assert_string_equal(err.reason, "object_damaged");
}

/* The store says no at the last step: nothing is claimed, nothing is left. */
static void test_store_fails(void **state)
{
	struct place *p = *state;
	char path[600], away[300];

	done(p, (struct ask){ .fence = 5, .tree = "one" });
	snprintf(away, sizeof(away), "%s/away", p->c.state);
	path_of(p, "w/" KEY "/g", path);
	assert_int_equal(rename(path, away), 0);
	assert_int_equal(symlink("/tmp", path), 0);
	refused(p, "store_refused", .fence = 6, .tree = "two");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rename(away, path), 0);
	newest_is(p, "one", "");
	assert_int_equal(count(p, "b/"), 1);
}

struct backdate {
	struct place *p;
	int64_t by_s;
};

static enum kz_rc backdate_one(void *arg, const struct kz_object *x, struct kz_err *err)
{
	const struct backdate *b = arg;
	struct timespec t[2] = { { .tv_sec = x->mtime_s - b->by_s },
				 { .tv_sec = x->mtime_s - b->by_s } };
	char path[600];

	(void)err;
	path_of(b->p, x->name, path);
	assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
	return KZ_OK;
}

static void backdate(struct place *p, const char *prefix, int64_t by_s)
{
	struct backdate b = { p, by_s };
	char all[100];

	snprintf(all, sizeof(all), "w/" KEY "/%s", prefix);
	assert_int_equal(kz_objects_list(p->o, all, backdate_one, &b, SOON, NULL), KZ_OK);
}

static void put(struct place *p, const char *name)
{
	kz_auto_close int fd = holds("orphan");

	assert_int_equal(kz_objects_put(p->o, name, fd, 6, true, SOON, NULL), KZ_OK);
}

static void test_prune(void **state)
{
	struct place *p = *state;
	struct kz_pruned n;
	struct kz_err err = KZ_ERR_INIT;

	done(p, (struct ask){ .fence = 5, .tree = "one", .lines = "seen" });
	put(p, "w/" KEY "/b/" OTHER);
	/* young: nothing goes */
	assert_int_equal(kz_workspace_prune(p->o, 3600, false, &n, SOON, &err), KZ_OK);
	assert_int_equal(n.objects, 0);
	assert_int_equal(n.left, 1);
	/* what nothing names goes when it is old; what is named stays, however old */
	backdate(p, "b/", 4000);
	assert_int_equal(kz_workspace_prune(p->o, 3600, true, &n, SOON, &err), KZ_OK);
	assert_int_equal(n.objects, 1);
	assert_int_equal(count(p, "b/"), 3);
	assert_int_equal(kz_workspace_prune(p->o, 3600, false, &n, SOON, &err), KZ_OK);
	assert_int_equal(n.objects, 1);
	assert_int_equal(n.bytes, 6);
	newest_is(p, "one", "seen");
	/* old as a whole, but what is young among it may be a commit under way */
	put(p, "w/" KEY "/b/" OTHER);
	backdate(p, "g/", 4000);
	assert_int_equal(kz_workspace_prune(p->o, 3600, false, &n, SOON, &err), KZ_OK);
	assert_int_equal(n.workspaces, 1);
	assert_int_equal(n.left, 0);
	assert_int_equal(count(p, ""), 1);
	newest_is(p, "", "");
}

/* A parent that may be on its way out is not named again, and counts as unchanged only while it is there. */
static void test_prune_meanwhile(void **state)
{
	struct place *p = *state;
	struct kz_generation parent;
	struct kz_pruned n;
	char id[KZ_ID_HEX];

	done(p, (struct ask){ .fence = 5, .tree = "one", .lines = "seen" });
	parent = p->now;
	memcpy(id, parent.lines.id, sizeof(id));
	done(p, (struct ask){ .fence = 6, .tree = "two" });
	assert_string_equal(p->now.lines.id, id);
	p->now.at_s -= 2000;
	done(p, (struct ask){ .fence = 7, .tree = "three" });
	assert_string_not_equal(p->now.lines.id, id);
	newest_is(p, "three", "seen");
	/* unchanged, and pruned since it was read */
	done(p, (struct ask){ .fence = 8, .lines = "" });
	p->now.at_s -= 4000;
	backdate(p, "", 4000);
	assert_int_equal(kz_workspace_prune(p->o, 3600, false, &n, SOON, NULL), KZ_OK);
	assert_int_equal(count(p, ""), 0);
	done(p, (struct ask){ .fence = 9, .tree = "three" });
	newest_is(p, "three", "");
}

static void check_blob(struct place *p, const struct kz_blob *b, const char *text)
{
	kz_auto_buf struct kz_buf got = KZ_BUF_INIT(1000);
	kz_auto_close int fd = -1;
	struct kz_err err = KZ_ERR_INIT;

	assert_int_equal(kz_workspace_fetch(p->o, KEY, b, &fd, SOON, &err), KZ_OK);
	assert_int_equal(kz_fd_read_all(fd, &got, &err), KZ_OK);
	assert_string_equal(kz_buf_str(&got), text);
}

/* Packages have a bound of their own, and stay through every change of what lies beside them. */
static void test_brk26_packages_stand_beside_the_tree(void **state)
{
	struct place *p = *state;
	struct kz_blob first;
	struct kz_err err;

	done(p, (struct ask){ .fence = 1, .tree = "tree", .packages = "ten bytes!" });
	first = p->now.packages;
	check_blob(p, &first, "ten bytes!");
	refused(p, "packages_over_bound", .fence = 1, .packages = "11 bytes ..");
	for (int i = 2; i < 6; i++) {
		char text[8];

		kz_str_format(text, sizeof text, NULL, "tree%d", i);
		done(p, (struct ask){ .fence = i, .tree = text });
		assert_string_equal(p->now.packages.id, first.id);
		assert_int_equal(p->now.packages_entries, 1);
	}
	check_blob(p, &p->now.packages, "ten bytes!");
	assert_int_equal(kz_workspace_newest(p->o, KEY, &p->now, SOON, &err), KZ_OK);
	assert_string_equal(p->now.packages.sha256, first.sha256);
	done(p, (struct ask){ .fence = 7, .packages = "others" });
	check_blob(p, &p->now.packages, "others");
	check_blob(p, &p->now.tree, "tree5");
	done(p, (struct ask){ .fence = 8, .tree = "x" });
	done(p, (struct ask){ .fence = 9, .tree = "y" });
	/* what no generation names is gone */
	assert_int_not_equal(kz_workspace_fetch(p->o, KEY, &first, &(int){ -1 }, SOON, &err),
			     KZ_OK);
	/* what may hold a copy of a private selection goes with the rest of it [PRJ-52] */
	done(p, (struct ask){ .fence = 10, .packages = "copy", .is_private = true });
	assert_true(p->now.is_private);
	done(p, (struct ask){ .fence = 11, .tree = "fresh", .is_fresh = true });
	assert_false(p->now.is_private);
	assert_int_equal(p->now.packages.size, -1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, place_make, place_remove)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ws1_ws2_key),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_of_mark),
		cmocka_unit_test(test_names),
		T(test_commits),
		T(test_mark),
		T(test_keep),
		T(test_superseded),
		T(test_late_writer),
		T(test_lease_ends),
		T(test_bounds),
		T(test_damage),
		T(test_store_fails),
		T(test_prune),
		T(test_brk26_packages_stand_beside_the_tree),
		T(test_prune_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
