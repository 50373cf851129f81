#include "service/rehearsal.h"

#include "service/service.h"
#include "store/store.h"

/* A store of its own: what the other remembers would be wrong afterwards. */
static enum status rehearse(struct service *stage, const json_t *request, rehearsal_fn handler,
                            json_t **out, struct err *err)
{
    struct store *store = NULL;
    if (service_store(stage, DB_READ_WRITE, &store, err) != STATUS_OK ||
        store_rehearse(store, err) != STATUS_OK || handler(stage, request, out, err) != STATUS_OK)
        return err->code;
    json_put_bool(*out, "dry_run", true);
    return STATUS_OK;
}

enum status rehearsal_call(struct service *service, const json_t *request, rehearsal_fn handler,
                           json_t **out, struct err *err)
{
    if (!json_get_bool(request, "dry_run", false))
        return handler(service, request, out, err);
    /* What is done together holds the store: another one would wait for it. */
    if (service->is_together)
        return err_set(err, STATUS_INVALID,
                       "a dry run changes nothing, so it needs no key: leave out Idempotency-Key");
    struct service stage = *service;
    stage.store = NULL;
    stage.blob = NULL;
    stage.wake = NULL;
    stage.recover = NULL; /* it would kill what the dead left */
    enum status status = rehearse(&stage, request, handler, out, err);
    service_fini(&stage);
    return status;
}
