/* kz-worker: process 1 of a worker.  Started by a driver (docs/worker-boot.md). */
#include "base/err.h"
#include "base/log.h"
#include "worker/worker.h"

int main(void)
{
	struct kz_err err = KZ_ERR_INIT;
	enum kz_rc rc;

	kz_log_init("kz-worker", KZ_LOG_INFO);
	rc = kz_worker_main(&err);
	if (rc != KZ_OK)
		kz_log(KZ_LOG_FATAL, "worker ends", "reason", err.reason, "text", err.text, NULL);
	return kz_rc_status(rc);
}
