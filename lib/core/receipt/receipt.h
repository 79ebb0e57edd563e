/*
 * Receipts: what ran, with what, within what bounds, what came out of it and how the
 * worker was found afterwards, signed by a deployment.  The audit store is the only
 * source of what one says; who checks one needs the public key and nothing else.
 *
 * A receipt is a v4.public token with the implicit assertion "kz receipt 1" and the
 * footer {"kid":"k4.pid.…"}.  It says what was recorded, also that a reset was not
 * clean; it is no promise that the code was good.  Layer 3.
 * src: AUD-1, AUD-2, AUD-9, RESET-13; policy/schema/check_receipt.json has the claims
 */
#ifndef KZ_CORE_RECEIPT_RECEIPT_H
#define KZ_CORE_RECEIPT_RECEIPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/err.h"
#include "port/seal.h"

#define KZ_RECEIPT_MAX (256 << 10) /* bytes of a token */
#define KZ_RECEIPT_ASSERTION "kz receipt 1"

struct kz_json;
struct kz_audit_run;

/*
 * The claims about a run.
 * in: deployment: KZ_DEPLOYMENT_ID; now_ms: wall clock
 * out: new. Digests of lists and objects are SHA-256 of their canonical JSON (members
 * sorted, no blanks); null is what the store does not hold of this run.
 * err: KZ_E_OS
 */
enum kz_rc kz_receipt_claims(const struct kz_audit_run *run, const char *deployment, int64_t now_ms,
			     struct kz_json **out, struct kz_err *err);
/* Sign claims. in: key is receipt.key. out: the token is appended. err: KZ_E_DATA over KZ_RECEIPT_MAX, KZ_E_OS */
enum kz_rc kz_receipt_sign(const struct kz_secret *key, const struct kz_json *claims,
			   struct kz_buf *out, struct kz_err *err);

struct kz_receipt_keys; /* public keys of receipts */

/*
 * Public keys.
 * in: text is one k4.public key; or a file's content: such keys, one a line ('#' and
 * empty lines are skipped), or the JSON of STATE/public/keys.json.
 * own: kz_receipt_keys_free. err: keys_invalid, KZ_E_OS
 */
enum kz_rc kz_receipt_keys_parse(const char *text, size_t n, struct kz_receipt_keys **out,
				 struct kz_err *err);
void kz_receipt_keys_free(struct kz_receipt_keys *k);
KZ_AUTO(kz_auto_receipt_keys_, struct kz_receipt_keys *, kz_receipt_keys_free)
#define kz_auto_receipt_keys kz_auto(kz_auto_receipt_keys_)

/*
 * Verify p[0..n) and take its claims.
 * out: kid, and claims (new), whole and of the known form.
 * err: receipt_invalid, with what is wrong; KZ_E_OS. wait: never
 */
enum kz_rc kz_receipt_check(const struct kz_receipt_keys *keys, const char *p, size_t n,
			    char kid[64], struct kz_json **claims, struct kz_err *err);

/* What of a receipt a file is compared with. */
enum kz_receipt_part { KZ_RECEIPT_CODE, KZ_RECEIPT_INPUT, KZ_RECEIPT_OUTPUT };
/*
 * Is this file the one that checked claims name?
 * in: name as the run had it (NULL for the code); path of the file here.
 * err: receipt_differs (also: no such name, or a list too long to be in the receipt);
 * KZ_E_NOINPUT, KZ_E_IO for the file
 */
enum kz_rc kz_receipt_compare(const struct kz_json *claims, enum kz_receipt_part part,
			      const char *name, const char *path, struct kz_err *err);

#endif
