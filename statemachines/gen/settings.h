/* Do not edit: made by kzgen from policy/settings.tbl. */
#ifndef KZ_GEN_SETTINGS_H
#define KZ_GEN_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All settings but those of the policy, one typed member each. */
struct kz_settings {
	int64_t sandbox_warm_pool_min; /* workers */
	int64_t sandbox_pool_target_idle; /* workers */
	int64_t sandbox_pool_max_allocated; /* workers */
	int64_t sandbox_max_concurrent_creates; /* workers */
	int64_t sandbox_burst_idle_ttl_seconds; /* s */
	int64_t sandbox_acquire_wait_seconds; /* s */
	int64_t sandbox_acquire_queue_max; /* tickets */
	int64_t sandbox_max_concurrent_per_member; /* leases */
	int64_t sandbox_lease_heartbeat_seconds; /* s */
	int64_t sandbox_lease_ttl_seconds; /* s */
	int64_t sandbox_max_wall_seconds; /* s */
	int64_t sandbox_max_output_bytes; /* bytes */
	int64_t sandbox_max_artifact_bytes; /* bytes */
	int64_t kz_run_memory_bytes; /* bytes */
	int64_t kz_run_pids; /* processes */
	int64_t kz_run_disk_bytes; /* bytes */
	int64_t kz_run_inodes; /* files */
	int64_t kz_run_cpus; /* thousandths */
	int64_t kz_run_open_files; /* descriptors */
	int64_t kz_reset_timeout_seconds; /* s */
	int64_t kz_create_timeout_seconds; /* s */
	int64_t kz_delete_timeout_seconds; /* s */
	int64_t kz_inventory_seconds; /* s */
	char kz_valkey_url[256]; /* url */
	char kz_deployment_id[41]; /* name */
	char kz_node[41]; /* name */
	char kz_driver[256]; /* program */
	char kz_runtime[256]; /* program */
	char kz_image[256]; /* directory */
	int64_t kz_uid_base; /* uid */
	char kz_group[33]; /* group */
	int64_t kz_log_keep_bytes; /* bytes */
	int64_t kz_audit_keep_days; /* days */
	char kz_egress_families[5]; /* families */
	char kz_egress_resolvers[256]; /* addresses */
	int64_t kz_proxy_head_seconds; /* s */
	int64_t kz_proxy_connect_seconds; /* s */
	int64_t kz_proxy_first_byte_seconds; /* s */
	int64_t kz_proxy_idle_seconds; /* s */
	int64_t kz_proxy_tunnels_per_grant; /* connections */
	bool sandbox_workspace_persist;
	int64_t sandbox_workspace_max_bytes; /* bytes */
	int64_t sandbox_hashline_state_max_bytes; /* bytes */
	int64_t kz_workspace_keep; /* generations */
	char kz_objects_url[256]; /* url */
	char kz_app_keys_file[256]; /* path */
	char kz_gateway_listen[65]; /* address */
	char kz_gateway_hosts[256]; /* hosts */
	char sandbox_package_broker_url[256]; /* url */
	char sandbox_package_registries[4001]; /* JSON */
	int64_t sandbox_package_token_ttl_seconds; /* s */
	int64_t sandbox_package_max_index_bytes; /* bytes */
	int64_t sandbox_package_max_file_bytes; /* bytes */
	int64_t sandbox_dependency_install_timeout_seconds; /* s */
	int64_t kz_packages_max_bytes; /* bytes */
	int64_t kz_packages_inodes; /* files */
	int64_t kz_kernel_value_bytes; /* bytes */
	char kz_callback_providers[256]; /* path */
	int64_t kz_callback_max_calls; /* calls */
	int64_t kz_callback_rate; /* calls */
	int64_t kz_callback_max_bytes; /* bytes */
	int64_t kz_callback_seconds; /* s */
	char kz_compress[256]; /* program */
	int64_t kz_compress_over_bytes; /* bytes */
	int64_t kz_compress_seconds; /* s */
};

enum kz_setting_id {
	KZ_SETTING_SANDBOX_WARM_POOL_MIN,
	KZ_SETTING_SANDBOX_POOL_TARGET_IDLE,
	KZ_SETTING_SANDBOX_POOL_MAX_ALLOCATED,
	KZ_SETTING_SANDBOX_MAX_CONCURRENT_CREATES,
	KZ_SETTING_SANDBOX_BURST_IDLE_TTL_SECONDS,
	KZ_SETTING_SANDBOX_ACQUIRE_WAIT_SECONDS,
	KZ_SETTING_SANDBOX_ACQUIRE_QUEUE_MAX,
	KZ_SETTING_SANDBOX_MAX_CONCURRENT_PER_MEMBER,
	KZ_SETTING_SANDBOX_LEASE_HEARTBEAT_SECONDS,
	KZ_SETTING_SANDBOX_LEASE_TTL_SECONDS,
	KZ_SETTING_SANDBOX_MAX_WALL_SECONDS,
	KZ_SETTING_SANDBOX_MAX_OUTPUT_BYTES,
	KZ_SETTING_SANDBOX_MAX_ARTIFACT_BYTES,
	KZ_SETTING_KZ_RUN_MEMORY_BYTES,
	KZ_SETTING_KZ_RUN_PIDS,
	KZ_SETTING_KZ_RUN_DISK_BYTES,
	KZ_SETTING_KZ_RUN_INODES,
	KZ_SETTING_KZ_RUN_CPUS,
	KZ_SETTING_KZ_RUN_OPEN_FILES,
	KZ_SETTING_KZ_RESET_TIMEOUT_SECONDS,
	KZ_SETTING_KZ_CREATE_TIMEOUT_SECONDS,
	KZ_SETTING_KZ_DELETE_TIMEOUT_SECONDS,
	KZ_SETTING_KZ_INVENTORY_SECONDS,
	KZ_SETTING_KZ_VALKEY_URL,
	KZ_SETTING_KZ_DEPLOYMENT_ID,
	KZ_SETTING_KZ_NODE,
	KZ_SETTING_KZ_DRIVER,
	KZ_SETTING_KZ_RUNTIME,
	KZ_SETTING_KZ_IMAGE,
	KZ_SETTING_KZ_UID_BASE,
	KZ_SETTING_KZ_GROUP,
	KZ_SETTING_KZ_LOG_KEEP_BYTES,
	KZ_SETTING_KZ_AUDIT_KEEP_DAYS,
	KZ_SETTING_SANDBOX_EGRESS_ENABLED,
	KZ_SETTING_SANDBOX_EGRESS_MODE,
	KZ_SETTING_SANDBOX_EGRESS_HOST_ALLOWLIST,
	KZ_SETTING_SANDBOX_EGRESS_PRIVATE_CIDRS,
	KZ_SETTING_SANDBOX_EGRESS_ALLOWED_PORTS,
	KZ_SETTING_SANDBOX_EGRESS_TOKEN_TTL_SECONDS,
	KZ_SETTING_KZ_EGRESS_DENY_CIDRS,
	KZ_SETTING_KZ_PROXY_URL,
	KZ_SETTING_KZ_INSTALL_VINTAGE,
	KZ_SETTING_KZ_EGRESS_FAMILIES,
	KZ_SETTING_KZ_EGRESS_RESOLVERS,
	KZ_SETTING_KZ_PROXY_HEAD_SECONDS,
	KZ_SETTING_KZ_PROXY_CONNECT_SECONDS,
	KZ_SETTING_KZ_PROXY_FIRST_BYTE_SECONDS,
	KZ_SETTING_KZ_PROXY_IDLE_SECONDS,
	KZ_SETTING_KZ_PROXY_TUNNELS_PER_GRANT,
	KZ_SETTING_SANDBOX_WORKSPACE_PERSIST,
	KZ_SETTING_SANDBOX_WORKSPACE_MAX_BYTES,
	KZ_SETTING_SANDBOX_HASHLINE_STATE_MAX_BYTES,
	KZ_SETTING_KZ_WORKSPACE_KEEP,
	KZ_SETTING_KZ_OBJECTS_URL,
	KZ_SETTING_KZ_APP_KEYS_FILE,
	KZ_SETTING_KZ_GATEWAY_LISTEN,
	KZ_SETTING_KZ_GATEWAY_HOSTS,
	KZ_SETTING_SANDBOX_PACKAGE_BROKER_URL,
	KZ_SETTING_SANDBOX_PACKAGE_REGISTRIES,
	KZ_SETTING_SANDBOX_PACKAGE_TOKEN_TTL_SECONDS,
	KZ_SETTING_SANDBOX_PACKAGE_MAX_INDEX_BYTES,
	KZ_SETTING_SANDBOX_PACKAGE_MAX_FILE_BYTES,
	KZ_SETTING_SANDBOX_DEPENDENCY_INSTALL_TIMEOUT_SECONDS,
	KZ_SETTING_KZ_PACKAGES_MAX_BYTES,
	KZ_SETTING_KZ_PACKAGES_INODES,
	KZ_SETTING_KZ_KERNEL_VALUE_BYTES,
	KZ_SETTING_KZ_CALLBACK_PROVIDERS,
	KZ_SETTING_KZ_CALLBACK_MAX_CALLS,
	KZ_SETTING_KZ_CALLBACK_RATE,
	KZ_SETTING_KZ_CALLBACK_MAX_BYTES,
	KZ_SETTING_KZ_CALLBACK_SECONDS,
	KZ_SETTING_KZ_COMPRESS,
	KZ_SETTING_KZ_COMPRESS_OVER_BYTES,
	KZ_SETTING_KZ_COMPRESS_SECONDS,
	KZ_SETTING_COUNT
};

/* INT: int64_t in [least, most]. BOOL: "true" or "false". TEXT: least..most bytes.
 * CHOICE: one of choices, separated by commas. An empty default means not set.
 * POLICY: least..most bytes of any text, without a default and without a member. */
enum kz_setting_type { KZ_SETTING_INT, KZ_SETTING_BOOL, KZ_SETTING_TEXT, KZ_SETTING_CHOICE, KZ_SETTING_POLICY };

struct kz_setting {
	const char *name;
	const char *unit;
	const char *default_text;
	const char *choices; /* "" unless CHOICE */
	const char *packaged; /* what a new state directory gets; NULL unless POLICY */
	const char *what;
	int64_t least;
	int64_t most;
	size_t offset; /* in struct kz_settings */
	size_t size;   /* of the member; for text with the final 0 */
	enum kz_setting_type type;
};

extern const struct kz_setting kz_setting_table[KZ_SETTING_COUNT];

/* Fill s with the default of every setting. */
void kz_settings_default(struct kz_settings *s);

#endif
