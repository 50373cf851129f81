#include "service/once.h"

#include <string.h>

#include "model/limits.h"
#include "service/together.h"

enum status once_begin(struct service *service, struct once *once, struct arena *arena,
                       struct answered *out, struct err *err)
{
    once->is_alone = !service->is_together;
    if (once->is_alone && together_begin(service, err) != STATUS_OK)
        return err->code;
    enum status status = store_answered_take(service->store, &once->key, arena, out, err);
    bool is_over = status != STATUS_OK || out->status != 0;
    if (is_over && once->is_alone)
        together_undo(service);
    return status;
}

/* What is done must not last, since its answer would not. */
static void give_up(struct service *service, const struct once *once)
{
    if (once->is_alone)
        together_undo(service);
    else
        together_spoil(service);
}

enum status once_keep(struct service *service, const struct once *once,
                      const struct answered *answer, struct err *err)
{
    enum status status =
        strlen(answer->body) > LIMIT_ANSWER_BYTES
            ? err_set(err, STATUS_LIMIT,
                      "the answer has more than %d MiB, which is too much to be kept for a key: "
                      "ask for less at once",
                      LIMIT_ANSWER_BYTES >> 20)
            : store_answered_keep(service->store, &once->key, answer, err);
    if (status != STATUS_OK) {
        give_up(service, once);
        return status;
    }
    return once->is_alone ? together_commit(service, err) : STATUS_OK;
}

void once_undo(struct service *service, const struct once *once)
{
    struct err ignored = {0}; /* of a transaction that fails as a whole then */
    if (once->is_alone || store_answered_forget(service->store, &once->key, &ignored) != STATUS_OK)
        give_up(service, once);
}
