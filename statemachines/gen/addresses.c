/* Do not edit: made by kzgen from policy/addresses.tbl. */
#include "gen/addresses.h"

const struct kz_addr_class_row kz_addr_classes[KZ_ADDR_CLASS_COUNT] = {
	[KZ_ADDR_PUBLIC] = { .name = "public", .meaning = "globally routable",
		.reason = KZ_R_ADDRESS_PUBLIC, .denied = KZ_ADDR_NEVER },
	[KZ_ADDR_PRIVATE] = { .name = "private", .meaning = "private use",
		.reason = KZ_R_ADDRESS_PRIVATE, .denied = KZ_ADDR_UNLESS_RANGE },
	[KZ_ADDR_SHARED] = { .name = "shared", .meaning = "shared by the customers of a provider (carrier-grade NAT)",
		.reason = KZ_R_ADDRESS_SHARED, .denied = KZ_ADDR_UNLESS_RANGE },
	[KZ_ADDR_SPECIAL] = { .name = "special", .meaning = "globally reachable, but for one purpose that no package or API host has",
		.reason = KZ_R_ADDRESS_SPECIAL, .denied = KZ_ADDR_ALWAYS },
	[KZ_ADDR_BENCHMARKING] = { .name = "benchmarking", .meaning = "for benchmarks of networks",
		.reason = KZ_R_ADDRESS_BENCHMARKING, .denied = KZ_ADDR_ALWAYS },
	[KZ_ADDR_DOCUMENTATION] = { .name = "documentation", .meaning = "for examples in documents",
		.reason = KZ_R_ADDRESS_DOCUMENTATION, .denied = KZ_ADDR_ALWAYS },
	[KZ_ADDR_RESERVED] = { .name = "reserved", .meaning = "reserved, returned, deprecated or not allocated",
		.reason = KZ_R_ADDRESS_RESERVED, .denied = KZ_ADDR_ALWAYS },
	[KZ_ADDR_EMBEDDED] = { .name = "embedded", .meaning = "an IPv6 form that carries an IPv4 address inside, or may",
		.reason = KZ_R_ADDRESS_EMBEDDED, .denied = KZ_ADDR_ALWAYS },
	[KZ_ADDR_MULTICAST] = { .name = "multicast", .meaning = "multicast",
		.reason = KZ_R_ADDRESS_MULTICAST, .denied = KZ_ADDR_ALWAYS },
	[KZ_ADDR_LINK_LOCAL] = { .name = "link_local", .meaning = "of one link only",
		.reason = KZ_R_ADDRESS_LINK_LOCAL, .denied = KZ_ADDR_ALWAYS },
	[KZ_ADDR_UNSPECIFIED] = { .name = "unspecified", .meaning = "no address, or this network",
		.reason = KZ_R_ADDRESS_UNSPECIFIED, .denied = KZ_ADDR_ALWAYS },
	[KZ_ADDR_LOOPBACK] = { .name = "loopback", .meaning = "the machine itself",
		.reason = KZ_R_ADDRESS_LOOPBACK, .denied = KZ_ADDR_ALWAYS },
	[KZ_ADDR_METADATA] = { .name = "metadata", .meaning = "where clouds and control planes answer their machines",
		.reason = KZ_R_ADDRESS_METADATA, .denied = KZ_ADDR_ALWAYS },
};

const struct kz_addr_block kz_addr_blocks[KZ_ADDR_BLOCKS] = {
	/* 0.0.0.0/32: this host on this network */
	{ .family = 4, .bits = 32, .class = KZ_ADDR_UNSPECIFIED,
		.value = { 0, 0, 0, 0 },
		.mask = { 255, 255, 255, 255 } },
	/* 192.0.0.8/32: dummy address */
	{ .family = 4, .bits = 32, .class = KZ_ADDR_RESERVED,
		.value = { 192, 0, 0, 8 },
		.mask = { 255, 255, 255, 255 } },
	/* 192.0.0.9/32: Port Control Protocol anycast */
	{ .family = 4, .bits = 32, .class = KZ_ADDR_RESERVED,
		.value = { 192, 0, 0, 9 },
		.mask = { 255, 255, 255, 255 } },
	/* 192.0.0.10/32: TURN anycast */
	{ .family = 4, .bits = 32, .class = KZ_ADDR_RESERVED,
		.value = { 192, 0, 0, 10 },
		.mask = { 255, 255, 255, 255 } },
	/* 192.0.0.170/32: NAT64 and DNS64 discovery */
	{ .family = 4, .bits = 32, .class = KZ_ADDR_RESERVED,
		.value = { 192, 0, 0, 170 },
		.mask = { 255, 255, 255, 255 } },
	/* 192.0.0.171/32: NAT64 and DNS64 discovery */
	{ .family = 4, .bits = 32, .class = KZ_ADDR_RESERVED,
		.value = { 192, 0, 0, 171 },
		.mask = { 255, 255, 255, 255 } },
	/* 192.88.99.2/32: 6a44 relay anycast */
	{ .family = 4, .bits = 32, .class = KZ_ADDR_SPECIAL,
		.value = { 192, 88, 99, 2 },
		.mask = { 255, 255, 255, 255 } },
	/* 255.255.255.255/32: limited broadcast */
	{ .family = 4, .bits = 32, .class = KZ_ADDR_RESERVED,
		.value = { 255, 255, 255, 255 },
		.mask = { 255, 255, 255, 255 } },
	/* 100.100.100.200/32: metadata */
	{ .family = 4, .bits = 32, .class = KZ_ADDR_METADATA,
		.value = { 100, 100, 100, 200 },
		.mask = { 255, 255, 255, 255 } },
	/* 168.63.129.16/32: wire server */
	{ .family = 4, .bits = 32, .class = KZ_ADDR_METADATA,
		.value = { 168, 63, 129, 16 },
		.mask = { 255, 255, 255, 255 } },
	/* 169.254.169.254/32: metadata */
	{ .family = 4, .bits = 32, .class = KZ_ADDR_METADATA,
		.value = { 169, 254, 169, 254 },
		.mask = { 255, 255, 255, 255 } },
	/* 169.254.170.2/32: credentials of containers */
	{ .family = 4, .bits = 32, .class = KZ_ADDR_METADATA,
		.value = { 169, 254, 170, 2 },
		.mask = { 255, 255, 255, 255 } },
	/* 169.254.170.23/32: credentials of pods */
	{ .family = 4, .bits = 32, .class = KZ_ADDR_METADATA,
		.value = { 169, 254, 170, 23 },
		.mask = { 255, 255, 255, 255 } },
	/* 192.0.0.192/32: metadata */
	{ .family = 4, .bits = 32, .class = KZ_ADDR_METADATA,
		.value = { 192, 0, 0, 192 },
		.mask = { 255, 255, 255, 255 } },
	/* 192.0.0.0/29: IPv4 service continuity */
	{ .family = 4, .bits = 29, .class = KZ_ADDR_RESERVED,
		.value = { 192, 0, 0, 0 },
		.mask = { 255, 255, 255, 248 } },
	/* 192.0.0.0/24: IETF protocol assignments */
	{ .family = 4, .bits = 24, .class = KZ_ADDR_RESERVED,
		.value = { 192, 0, 0, 0 },
		.mask = { 255, 255, 255, 0 } },
	/* 192.0.2.0/24: documentation (TEST-NET-1) */
	{ .family = 4, .bits = 24, .class = KZ_ADDR_DOCUMENTATION,
		.value = { 192, 0, 2, 0 },
		.mask = { 255, 255, 255, 0 } },
	/* 192.31.196.0/24: AS112 */
	{ .family = 4, .bits = 24, .class = KZ_ADDR_SPECIAL,
		.value = { 192, 31, 196, 0 },
		.mask = { 255, 255, 255, 0 } },
	/* 192.52.193.0/24: automatic multicast tunnelling */
	{ .family = 4, .bits = 24, .class = KZ_ADDR_SPECIAL,
		.value = { 192, 52, 193, 0 },
		.mask = { 255, 255, 255, 0 } },
	/* 192.88.99.0/24: deprecated 6to4 relay anycast */
	{ .family = 4, .bits = 24, .class = KZ_ADDR_SPECIAL,
		.value = { 192, 88, 99, 0 },
		.mask = { 255, 255, 255, 0 } },
	/* 192.175.48.0/24: direct delegation AS112 */
	{ .family = 4, .bits = 24, .class = KZ_ADDR_SPECIAL,
		.value = { 192, 175, 48, 0 },
		.mask = { 255, 255, 255, 0 } },
	/* 198.51.100.0/24: documentation (TEST-NET-2) */
	{ .family = 4, .bits = 24, .class = KZ_ADDR_DOCUMENTATION,
		.value = { 198, 51, 100, 0 },
		.mask = { 255, 255, 255, 0 } },
	/* 203.0.113.0/24: documentation (TEST-NET-3) */
	{ .family = 4, .bits = 24, .class = KZ_ADDR_DOCUMENTATION,
		.value = { 203, 0, 113, 0 },
		.mask = { 255, 255, 255, 0 } },
	/* 169.254.0.0/16: link-local */
	{ .family = 4, .bits = 16, .class = KZ_ADDR_LINK_LOCAL,
		.value = { 169, 254, 0, 0 },
		.mask = { 255, 255, 0, 0 } },
	/* 192.168.0.0/16: private use */
	{ .family = 4, .bits = 16, .class = KZ_ADDR_PRIVATE,
		.value = { 192, 168, 0, 0 },
		.mask = { 255, 255, 0, 0 } },
	/* 198.18.0.0/15: benchmarking */
	{ .family = 4, .bits = 15, .class = KZ_ADDR_BENCHMARKING,
		.value = { 198, 18, 0, 0 },
		.mask = { 255, 254, 0, 0 } },
	/* 172.16.0.0/12: private use */
	{ .family = 4, .bits = 12, .class = KZ_ADDR_PRIVATE,
		.value = { 172, 16, 0, 0 },
		.mask = { 255, 240, 0, 0 } },
	/* 100.64.0.0/10: shared address space */
	{ .family = 4, .bits = 10, .class = KZ_ADDR_SHARED,
		.value = { 100, 64, 0, 0 },
		.mask = { 255, 192, 0, 0 } },
	/* 0.0.0.0/8: this network */
	{ .family = 4, .bits = 8, .class = KZ_ADDR_UNSPECIFIED,
		.value = { 0, 0, 0, 0 },
		.mask = { 255, 0, 0, 0 } },
	/* 10.0.0.0/8: private use */
	{ .family = 4, .bits = 8, .class = KZ_ADDR_PRIVATE,
		.value = { 10, 0, 0, 0 },
		.mask = { 255, 0, 0, 0 } },
	/* 127.0.0.0/8: loopback */
	{ .family = 4, .bits = 8, .class = KZ_ADDR_LOOPBACK,
		.value = { 127, 0, 0, 0 },
		.mask = { 255, 0, 0, 0 } },
	/* 224.0.0.0/4: multicast */
	{ .family = 4, .bits = 4, .class = KZ_ADDR_MULTICAST,
		.value = { 224, 0, 0, 0 },
		.mask = { 240, 0, 0, 0 } },
	/* 240.0.0.0/4: reserved (class E) */
	{ .family = 4, .bits = 4, .class = KZ_ADDR_RESERVED,
		.value = { 240, 0, 0, 0 },
		.mask = { 240, 0, 0, 0 } },
	/* 0.0.0.0/0: all that has no row of its own */
	{ .family = 4, .bits = 0, .class = KZ_ADDR_PUBLIC,
		.value = { 0, 0, 0, 0 },
		.mask = { 0, 0, 0, 0 } },
	/* ::/128: unspecified */
	{ .family = 6, .bits = 128, .class = KZ_ADDR_UNSPECIFIED,
		.value = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 } },
	/* ::1/128: loopback */
	{ .family = 6, .bits = 128, .class = KZ_ADDR_LOOPBACK,
		.value = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
		.mask = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 } },
	/* 2001:1::1/128: Port Control Protocol anycast */
	{ .family = 6, .bits = 128, .class = KZ_ADDR_RESERVED,
		.value = { 32, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
		.mask = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 } },
	/* 2001:1::2/128: TURN anycast */
	{ .family = 6, .bits = 128, .class = KZ_ADDR_RESERVED,
		.value = { 32, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2 },
		.mask = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 } },
	/* 2001:1::3/128: DNS-SD service registration anycast */
	{ .family = 6, .bits = 128, .class = KZ_ADDR_RESERVED,
		.value = { 32, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3 },
		.mask = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 } },
	/* fd00:42::42/128: metadata */
	{ .family = 6, .bits = 128, .class = KZ_ADDR_METADATA,
		.value = { 253, 0, 0, 66, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 66 },
		.mask = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 } },
	/* fd00:a9fe:a9fe::1/128: metadata */
	{ .family = 6, .bits = 128, .class = KZ_ADDR_METADATA,
		.value = { 253, 0, 169, 254, 169, 254, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
		.mask = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 } },
	/* fd00:100::100:200/128: metadata */
	{ .family = 6, .bits = 128, .class = KZ_ADDR_METADATA,
		.value = { 253, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0 },
		.mask = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 } },
	/* fd00:c1::a9fe:a9fe/128: metadata */
	{ .family = 6, .bits = 128, .class = KZ_ADDR_METADATA,
		.value = { 253, 0, 0, 193, 0, 0, 0, 0, 0, 0, 0, 0, 169, 254, 169, 254 },
		.mask = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 } },
	/* fd20:ce::254/128: metadata */
	{ .family = 6, .bits = 128, .class = KZ_ADDR_METADATA,
		.value = { 253, 32, 0, 206, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 84 },
		.mask = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 } },
	/* ::/96: IPv4-compatible, deprecated */
	{ .family = 6, .bits = 96, .class = KZ_ADDR_EMBEDDED,
		.value = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0 } },
	/* ::ffff:0:0/96: IPv4-mapped */
	{ .family = 6, .bits = 96, .class = KZ_ADDR_EMBEDDED,
		.value = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0 },
		.mask = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0 } },
	/* ::ffff:0:0:0/96: IPv4-translated */
	{ .family = 6, .bits = 96, .class = KZ_ADDR_EMBEDDED,
		.value = { 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0 } },
	/* 64:ff9b::/96: IPv4-IPv6 translation, well-known prefix */
	{ .family = 6, .bits = 96, .class = KZ_ADDR_EMBEDDED,
		.value = { 0, 100, 255, 155, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0 } },
	/* 100::/64: discard only */
	{ .family = 6, .bits = 64, .class = KZ_ADDR_RESERVED,
		.value = { 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* 100:0:0:1::/64: dummy prefix */
	{ .family = 6, .bits = 64, .class = KZ_ADDR_RESERVED,
		.value = { 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* 64:ff9b:1::/48: IPv4-IPv6 translation, local use */
	{ .family = 6, .bits = 48, .class = KZ_ADDR_EMBEDDED,
		.value = { 0, 100, 255, 155, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* 2001:2::/48: benchmarking */
	{ .family = 6, .bits = 48, .class = KZ_ADDR_BENCHMARKING,
		.value = { 32, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* 2001:4:112::/48: AS112 */
	{ .family = 6, .bits = 48, .class = KZ_ADDR_SPECIAL,
		.value = { 32, 1, 0, 4, 1, 18, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* 2620:4f:8000::/48: direct delegation AS112 */
	{ .family = 6, .bits = 48, .class = KZ_ADDR_SPECIAL,
		.value = { 38, 32, 0, 79, 128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* 2001::/32: Teredo */
	{ .family = 6, .bits = 32, .class = KZ_ADDR_EMBEDDED,
		.value = { 32, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* 2001:3::/32: automatic multicast tunnelling */
	{ .family = 6, .bits = 32, .class = KZ_ADDR_SPECIAL,
		.value = { 32, 1, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* 2001:db8::/32: documentation */
	{ .family = 6, .bits = 32, .class = KZ_ADDR_DOCUMENTATION,
		.value = { 32, 1, 13, 184, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* RFC 5214: ISATAP, local IPv4 address */
	{ .family = 6, .bits = 32, .class = KZ_ADDR_EMBEDDED,
		.value = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 94, 254, 0, 0, 0, 0 },
		.mask = { 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0 } },
	/* RFC 5214: ISATAP, global IPv4 address */
	{ .family = 6, .bits = 32, .class = KZ_ADDR_EMBEDDED,
		.value = { 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 94, 254, 0, 0, 0, 0 },
		.mask = { 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0 } },
	/* fd00:ec2::/32: metadata and services of a machine */
	{ .family = 6, .bits = 32, .class = KZ_ADDR_METADATA,
		.value = { 253, 0, 14, 194, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* 2001:10::/28: ORCHID, deprecated */
	{ .family = 6, .bits = 28, .class = KZ_ADDR_RESERVED,
		.value = { 32, 1, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 255, 240, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* 2001:20::/28: ORCHID version 2 */
	{ .family = 6, .bits = 28, .class = KZ_ADDR_SPECIAL,
		.value = { 32, 1, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 255, 240, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* 2001:30::/28: drone remote identification */
	{ .family = 6, .bits = 28, .class = KZ_ADDR_SPECIAL,
		.value = { 32, 1, 0, 48, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 255, 240, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* 2001::/23: IETF protocol assignments */
	{ .family = 6, .bits = 23, .class = KZ_ADDR_RESERVED,
		.value = { 32, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 254, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* 3fff::/20: documentation */
	{ .family = 6, .bits = 20, .class = KZ_ADDR_DOCUMENTATION,
		.value = { 63, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 240, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* 2002::/16: 6to4 */
	{ .family = 6, .bits = 16, .class = KZ_ADDR_EMBEDDED,
		.value = { 32, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* 3ffe::/16: 6bone, returned */
	{ .family = 6, .bits = 16, .class = KZ_ADDR_RESERVED,
		.value = { 63, 254, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* 5f00::/16: segment routing identifiers */
	{ .family = 6, .bits = 16, .class = KZ_ADDR_RESERVED,
		.value = { 95, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* fe80::/10: link-local */
	{ .family = 6, .bits = 10, .class = KZ_ADDR_LINK_LOCAL,
		.value = { 254, 128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 192, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* fec0::/10: site-local, deprecated */
	{ .family = 6, .bits = 10, .class = KZ_ADDR_RESERVED,
		.value = { 254, 192, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 192, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* ff00::/8: multicast */
	{ .family = 6, .bits = 8, .class = KZ_ADDR_MULTICAST,
		.value = { 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* 200::/7: NSAP, deprecated */
	{ .family = 6, .bits = 7, .class = KZ_ADDR_RESERVED,
		.value = { 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 254, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* fc00::/7: unique local */
	{ .family = 6, .bits = 7, .class = KZ_ADDR_PRIVATE,
		.value = { 252, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 254, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* 2000::/3: global unicast */
	{ .family = 6, .bits = 3, .class = KZ_ADDR_PUBLIC,
		.value = { 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 224, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	/* ::/0: not allocated: only 2000::/3 is */
	{ .family = 6, .bits = 0, .class = KZ_ADDR_RESERVED,
		.value = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		.mask = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
};
