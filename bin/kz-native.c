/* kz-native: are documents sound, and may an answer claim them? */
#include "kz-native-verbs/verbs.h"

int main(int argc, char **argv)
{
	static const struct kz_verb verbs[] = {
		{ "check", KZ_CHECK_SYNOPSIS, KZ_CHECK_WHAT, kz_verb_check },
		{ "gate", KZ_GATE_SYNOPSIS, KZ_GATE_WHAT, kz_verb_gate },
		{ NULL, NULL, NULL, NULL },
	};
	struct kz_cli cli;

	kz_main_start(&cli, "kz-native");
	return kz_main_verbs(&cli, "PDF and Office documents: their structure, and claims of them",
			     verbs, argc, argv);
}
