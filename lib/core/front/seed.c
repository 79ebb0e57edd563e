/* What a new installation is allowed, written once. */
#include "core/front/seed.h"

#define VINTAGE "KZ_INSTALL_VINTAGE"

static bool is_set(const char *state, const char *name)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(8192);
	bool set = false;

	/* what cannot be read was put there by somebody, and stays */
	return kz_conf_policy(state, name, &b, &set, NULL) || set;
}

enum kz_rc kz_front_seed(const struct kz_conf *c, const char *state, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	if (is_set(state, VINTAGE))
		return KZ_OK;
	if (c->set.kz_deployment_id[0])
		return kz_conf_store(state, VINTAGE, "upgrade", err);
	for (int i = 0; !rc && i < KZ_SETTING_COUNT; i++) {
		const struct kz_setting *s = &kz_setting_table[i];

		if (s->packaged && i != KZ_SETTING_KZ_INSTALL_VINTAGE && !is_set(state, s->name))
			rc = kz_conf_store(state, s->name, s->packaged, err);
	}
	return rc ? rc :
		    kz_conf_store(state, VINTAGE,
				  kz_setting_table[KZ_SETTING_KZ_INSTALL_VINTAGE].packaged, err);
}
