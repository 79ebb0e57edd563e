/*
 * Scope documents and live audiences.  The input is a document and, behind the first 0 byte, an audience.  A document
 * whose only fault is the digest of its manifest gets the right one, so that the digest is no wall before the
 * reader.  Whatever is taken is decided whole: all files within the bounds, each with a safe name of its own, or
 * none and a reason [PRJ-1 to PRJ-3, PRJ-54].
 */
#include <string.h>
#include <strings.h>

#include "core/files/turn.h"
#include "fuzz.h"

/* The turn that audiences are read against when the input's own is none. */
static const char usual[] =
	"{\"v\":1,\"type\":\"scope_document\",\"actor\":\"a\",\"conversation\":\"c\",\"kind\":\"room\","
	"\"turn\":\"t\",\"admission_position\":1,\"audience_version\":\"1\",\"roster\":[\"a\"],"
	"\"manifest\":[],\"manifest_sha256\":\"\",\"capability\":\"x\"}";

/* Read it, with the right digest when only that was wrong. own: kz_turn_release in any case */
static bool read_turn(const char *p, size_t n, struct kz_turn *t)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(4 * KZ_TURN_MAX);
	struct kz_json *j = NULL;
	char sha256[KZ_SHA256_HEX];
	bool ok = kz_turn_read(p, n, t, NULL) == KZ_OK;

	if (ok || kz_json_parse(p, n, &j, NULL) != KZ_OK)
		return ok;
	if (kz_json_is_object(j) && kz_json_get(j, "manifest") &&
	    kz_turn_digest(kz_json_get(j, "manifest"), sha256, NULL) == KZ_OK) {
		kz_turn_release(t);
		kz_json_set_str(j, "manifest_sha256", sha256);
		ok = kz_json_write(j, &b, NULL) == KZ_OK &&
		     kz_turn_read(b.data, b.len, t, NULL) == KZ_OK;
	}
	kz_json_free(j);
	return ok;
}

static void check_name(const struct kz_prj_set *set, size_t i)
{
	const char *name = set->files[i].name;

	CLAIM(*name && *name != '.' && *name != '-' && memchr(name, 0, KZ_PRJ_NAME));
	for (const char *c = name; *c; c++)
		CLAIM((unsigned char)*c > 0x20 && *c != 0x7f && !strchr("/\\\"'`$*?;&|<>", *c));
	for (size_t k = 0; k < i; k++)
		CLAIM(strcasecmp(name, set->files[k].name) != 0);
}

static void check_decision(const struct kz_turn *t, const struct kz_prj_live *live, bool asks)
{
	static struct kz_prj_set set;
	int64_t bytes = 0;

	kz_prj_decide(&t->scope, live, asks, &set);
	CLAIM(set.file_count <= KZ_PRJ_FILES && set.file_bytes <= KZ_PRJ_BYTES);
	if (set.reason != KZ_R_NONE) {
		CLAIM(!set.file_count && !set.file_bytes && !set.has_selection);
		return;
	}
	for (size_t i = 0; i < set.file_count; i++) {
		CLAIM(set.files[i].doc->state == KZ_PRJ_READY);
		bytes += set.files[i].doc->size;
		check_name(&set, i);
	}
	CLAIM(bytes == set.file_bytes);
	/* what is withheld is not there [PRJ-29] */
	CLAIM(!set.event || (!set.has_selection && set.withheld != KZ_R_NONE));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = size ? memchr(p, 0, size) : NULL;
	size_t n = end ? (size_t)(end - p) : size;
	const char *audience = end ? end + 1 : p;
	struct kz_prj_live nobody = { .is_known = false };
	struct kz_turn t;
	struct kz_live live;

	if (!read_turn(p, n, &t)) {
		kz_turn_release(&t);
		CLAIM(read_turn(usual, sizeof(usual) - 1, &t));
	}
	CLAIM(t.scope.actor && t.scope.turn && t.conversation && t.capability);
	check_decision(&t, &nobody, true);
	if (kz_live_read(audience, size - (size_t)(audience - p), &t, &live, NULL) == KZ_OK) {
		CLAIM(live.live.is_known && live.live.version);
		check_decision(&t, &live.live, true);
		check_decision(&t, &live.live, false);
	} else {
		CLAIM(!live.live.is_known);
	}
	kz_live_release(&live);
	kz_turn_release(&t);
	return 0;
}
