#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "library/handle_priv.h"

static const enum eider_status OUTSIDE[] = {
    [STATUS_OK] = EIDER_OK,
    [STATUS_INVALID] = EIDER_INVALID,
    [STATUS_NOT_FOUND] = EIDER_NOT_FOUND,
    [STATUS_CONFLICT] = EIDER_CONFLICT,
    [STATUS_LIMIT] = EIDER_LIMIT,
    [STATUS_BUSY] = EIDER_BUSY,
    [STATUS_TIMEOUT] = EIDER_BUSY,
    [STATUS_IO] = EIDER_IO,
    [STATUS_DENIED] = EIDER_DENIED,
    [STATUS_UNKNOWN] = EIDER_UNKNOWN,
    [STATUS_FULL] = EIDER_FULL,
    [STATUS_CORRUPT] = EIDER_CORRUPT,
    [STATUS_BAD_DAG] = EIDER_INVALID,
    [STATUS_UNREACHABLE] = EIDER_UNREACHABLE,
};
_Static_assert(ARRAY_LEN(OUTSIDE) == STATUS_COUNT, "every status has one outside");

static const char *const TEXTS[] = {
    [EIDER_OK] = "ok",
    [EIDER_INVALID] = "invalid input",
    [EIDER_NOT_FOUND] = "not found",
    [EIDER_CONFLICT] = "conflicts with current state",
    [EIDER_LIMIT] = "limit exceeded",
    [EIDER_BUSY] = "temporarily busy",
    [EIDER_UNREACHABLE] = "cannot be reached",
    [EIDER_DENIED] = "not allowed",
    [EIDER_IO] = "input/output failure",
    [EIDER_FULL] = "no space",
    [EIDER_CORRUPT] = "stored data is inconsistent",
    [EIDER_UNKNOWN] = "outcome unknown",
    [EIDER_STALE] = "the claim is not the current one",
    [EIDER_LOST] = "the lease was taken",
};
_Static_assert(ARRAY_LEN(TEXTS) == EIDER_LOST + 1, "every status has a text");

/* --- for the files beside -------------------------------------------------------------------- */

enum eider_status handle_failed(struct eider *e, const struct err *err)
{
    e->err = *err;
    return OUTSIDE[err->code];
}

enum eider_status handle_refuse(struct eider *e, enum eider_status status, const char *text)
{
    (void)err_set(&e->err, STATUS_INVALID, "%s", text);
    return status;
}

enum eider_status handle_check_open(struct eider *e)
{
    if (e->store == NULL)
        return handle_refuse(e, EIDER_INVALID, "the store could not be opened");
    return EIDER_OK;
}

enum eider_status handle_check_worker(struct eider *e)
{
    enum eider_status status = handle_check_open(e);
    if (status != EIDER_OK)
        return status;
    if (!e->is_worker)
        return handle_refuse(e, EIDER_INVALID,
                             "this is no worker; eider_worker_begin makes it one");
    if (e->is_lost)
        return handle_refuse(e, EIDER_LOST, "the lease of this worker was taken");
    return EIDER_OK;
}

void handle_forget_worker(struct eider *e)
{
    e->is_worker = e->is_lost = e->is_draining = e->must_read_back = false;
    e->host = e->next_due_us = e->healthy_us = 0;
    e->held_count = 0;
    mem_freep(&e->labels);
    mem_freep(&e->queues);
    e->labels = e->queues = NULL;
}

/* --- outside --------------------------------------------------------------------------------- */

const char *eider_version(void)
{
    return EIDER_VERSION;
}

const char *eider_status_text(enum eider_status status)
{
    return (size_t)status < ARRAY_LEN(TEXTS) ? TEXTS[status] : "no such status";
}

enum eider_status eider_open(const char *url, struct eider **out)
{
    struct eider *e = mem_zalloc(1, sizeof *e);
    struct err err = {0};
    *out = e;
    if (url == NULL)
        return handle_refuse(e, EIDER_INVALID, "a store has a URL such as sqlite:PATH");
    e->is_embedded = str_starts_with(url, "sqlite:");
    struct store_options options = {.url = url, .mode = DB_READ_WRITE};
    if (store_open(&options, &e->store, &err) != STATUS_OK)
        return handle_failed(e, &err);
    return EIDER_OK;
}

void eider_close(struct eider *e)
{
    if (e == NULL)
        return;
    if (e->is_worker)
        (void)eider_worker_end(e); /* if it fails, the lease ends what is left */
    handle_forget_worker(e);
    store_close(e->store);
    free(e->held);
    free(e);
}

const char *eider_error(const struct eider *e)
{
    return e->err.text;
}
