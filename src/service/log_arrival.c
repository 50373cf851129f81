#include "service/log_arrival.h"

#include "store/chunk.h"
#include "store/run_store.h"

static enum status is_sealed(struct blob *blob, const struct blob_key *key, bool *out,
                             struct err *err)
{
    CLEANUP(blob_handle_closep) struct blob_handle *handle = NULL;
    struct err problem = {0};
    *out = false;
    enum status status = blob_open(blob, key, BLOB_READ, &handle, &problem);
    if (status == STATUS_OK)
        status = blob_is_sealed(handle, out, &problem);
    if (status == STATUS_OK || status == STATUS_NOT_FOUND)
        return STATUS_OK;
    *err = problem;
    return status;
}

struct search {
    int64_t attempt;
    int64_t host;
    int64_t log_bytes;
};

static enum status note_attempt(void *context, const struct task_row *attempt, struct err *err)
{
    (void)err;
    struct search *search = context;
    if (attempt->attempt == search->attempt) {
        search->host = attempt->host;
        search->log_bytes = attempt->log_bytes;
    }
    return STATUS_OK;
}

enum status log_arrival_is_due(const struct service *service, struct blob *blob,
                               const struct blob_key *key, const struct task_row *task, bool *out,
                               struct err *err)
{
    struct store *store = service->store;
    struct search search = {.attempt = key->ids[2]};
    bool sealed = false;
    *out = false;
    if (!chunk_is_place_of_logs(store))
        return STATUS_OK;
    if (blob != NULL && is_sealed(blob, key, &sealed, err) != STATUS_OK)
        return err->code;
    if (sealed)
        return STATUS_OK;
    if (search.attempt == task->attempt)
        (void)note_attempt(&search, task, err);
    /* One that was given back has no line of its own in the store's book of attempts. */
    else if (store_attempt_each(store, task->id, note_attempt, &search, err) != STATUS_OK)
        return err->code;
    *out = search.log_bytes > 0 && search.host != 0 && service_host_is_alive(service, search.host);
    return STATUS_OK;
}
