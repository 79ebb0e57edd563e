/*
 * Authorities, hosts, addresses and ranges against the C library's readers: what is taken is
 * read the same by the strict ones, a name is an address to none of the loose ones, and what is
 * printed reads the same again [PROXY-7, PROXY-8, POL-15].
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

#include "fuzz.h"
#include "rule/decide.h"

/* The library's reader of either family. */
static bool library(const char *text, struct kz_addr *out)
{
	*out = (struct kz_addr){ .family = 4 };
	if (inet_pton(AF_INET, text, out->bytes) == 1)
		return true;
	out->family = 6;
	return inet_pton(AF_INET6, text, out->bytes) == 1;
}

static void check_address(const char *p, size_t n)
{
	struct kz_addr a, b;
	char text[64], printed[KZ_ADDR_TEXT];
	bool is_taken = kz_addr_parse(p, n, &a);

	if (n >= sizeof text || memchr(p, 0, n)) {
		CLAIM(!is_taken);
		return;
	}
	memcpy(text, p, n);
	text[n] = '\0';
	CLAIM(is_taken == library(text, &b));
	if (!is_taken)
		return;
	CLAIM(kz_addr_equal(&a, &b));
	kz_addr_print(&a, printed);
	CLAIM(kz_addr_parse(printed, strlen(printed), &b) && kz_addr_equal(&a, &b));
	CLAIM(kz_addr_classify(&a) < KZ_ADDR_CLASS_COUNT);
}

static void check_range(const char *p, size_t n)
{
	struct kz_cidr c, again;
	char text[KZ_CIDR_TEXT];

	if (!kz_cidr_parse(p, n, &c))
		return;
	kz_cidr_print(&c, text);
	CLAIM(kz_cidr_parse(text, strlen(text), &again));
	CLAIM(again.bits == c.bits && kz_addr_equal(&again.base, &c.base));
	CLAIM(kz_cidr_has(&c, &c.base) && kz_cidr_overlaps(&c, &again));
	/* A range that may be given begins with an address that no class protects. */
	if (kz_cidr_is_private(&c) && c.bits == (c.base.family == 4 ? 32 : 128))
		CLAIM(!kz_addr_class_is_protected(kz_addr_classify(&c.base)));
}

/* No reader may take a name for an address. */
static void check_name(const char *host)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM }, *found;
	struct in_addr v4;
	struct kz_addr a;

	CLAIM(inet_aton(host, &v4) == 0);
	CLAIM(!library(host, &a));
	CLAIM(getaddrinfo(host, NULL, &hints, &found) != 0);
	CLAIM(strlen(host) <= KZ_HOST_MAX &&
	      host[strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789-_.")] == '\0');
	CLAIM(!strstr(host, "..") && host[0] != '.' && host[strlen(host) - 1] != '.');
}

static void check_decided(const struct kz_target *t)
{
	static const struct kz_decide_env env = { 0 };
	struct kz_scope s = { .mode = KZ_SCOPE_PUBLIC_INTERNET,
			      .port_count = 1,
			      .ports = { t->port } };

	if (kz_decide_target(&s, &env, t) != KZ_R_NONE)
		return;
	CLAIM(t->is_literal ? kz_addr_classify(&t->addr) == KZ_ADDR_PUBLIC :
			      kz_host_kind(t->host) == KZ_HOST_PUBLIC);
	s.mode = KZ_SCOPE_ISOLATED;
	CLAIM(kz_decide_target(&s, &env, t) == KZ_R_MODE_ISOLATED);
}

static void check_target(const char *p, size_t n, uint16_t default_port)
{
	struct kz_target t, again;
	char text[KZ_AUTHORITY_TEXT];

	if (kz_target_parse(p, n, default_port, &t) != KZ_R_NONE)
		return;
	CLAIM(t.port > 0);
	kz_target_print(&t, text);
	CLAIM(kz_target_parse(text, strlen(text), 0, &again) == KZ_R_NONE);
	CLAIM(kz_target_same_host(&t, &again) && strcmp(t.host, again.host) == 0 &&
	      t.port == again.port);
	CLAIM(kz_host_parse(t.host, strlen(t.host), &again) == KZ_R_NONE);
	CLAIM(kz_target_same_host(&t, &again));
	if (!t.is_literal)
		check_name(t.host);
	check_decided(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data;
	struct kz_target t;

	check_address(p, size);
	check_range(p, size);
	check_target(p, size, 0);
	check_target(p, size, 80);
	if (kz_host_parse(p, size, &t) == KZ_R_NONE && !t.is_literal)
		check_name(t.host);
	return 0;
}
