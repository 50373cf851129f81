#include "service/together.h"

#include "base/check.h"

enum status together_begin(struct service *service, struct err *err)
{
    struct store *store = NULL;
    CHECK(!service->is_together);
    if (service_store(service, DB_READ_WRITE, &store, err) != STATUS_OK ||
        store_together_begin(store, err) != STATUS_OK)
        return err->code;
    service->is_together = true;
    service->wakes_at_end = false;
    return STATUS_OK;
}

enum status together_commit(struct service *service, struct err *err)
{
    CHECK(service->is_together);
    service->is_together = false;
    enum status status = store_together_commit(service->store, err);
    if (status != STATUS_OK)
        service_close_store(service); /* what it remembers did not happen */
    if (service->wakes_at_end)
        service_wake(service);
    return status;
}

void together_spoil(struct service *service)
{
    CHECK(service->is_together);
    store_together_spoil(service->store);
}

void together_undo(struct service *service)
{
    CHECK(service->is_together);
    service->is_together = false;
    if (!store_together_undo(service->store))
        service_close_store(service); /* what it remembers did not happen */
}
