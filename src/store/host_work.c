#include "store/host_work.h"

#include "base/str.h"
#include "model/word_set.h"
#include "store/host.h"

struct search {
    bool (*is_alive)(void *context, int64_t host);
    void *context;
    bool is_found;
};

static enum status look_at(void *context, const struct host_info *info, struct err *err)
{
    (void)err;
    struct search *search = context;
    bool works = str_equal(info->kind, "daemon") && word_set_has(info->roles, "worker");
    bool lives = info->lease_ms > 0
                     ? !info->has_expired
                     : search->is_alive == NULL || search->is_alive(search->context, info->id);
    search->is_found |= works && lives;
    return STATUS_OK;
}

enum status store_has_worker(struct store *store, bool (*is_alive)(void *context, int64_t host),
                             void *context, bool *out, struct err *err)
{
    struct search search = {.is_alive = is_alive, .context = context};
    if (store_host_each(store, false, look_at, &search, err) != STATUS_OK)
        return err_wrap(err, "look for a worker");
    *out = search.is_found;
    return STATUS_OK;
}
