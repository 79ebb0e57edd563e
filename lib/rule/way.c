/* The ways out of a worker's loopback. */
#include "rule/way.h"

const struct kz_way_text *kz_way_text(enum kz_way way)
{
	static const struct kz_way_text ways[KZ_WAYS] = {
		[KZ_WAY_PROXY] = { "proxy", "proxy_dir", "run/proxy", "proxy.sock",
				   KZ_WAY_PROXY_PORT },
		[KZ_WAY_GATEWAY] = { "gateway", "gateway_dir", "run/gateway", "gateway.sock",
				     KZ_WAY_GATEWAY_PORT },
	};

	return &ways[way];
}
