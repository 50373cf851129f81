#include "store/spare.h"

#include <stdlib.h>

#include "base/mem.h"
#include "os/turns.h"

struct spare {
    struct turns *turns;
    struct store_options options;
    struct store *store; /* of whoever's turn it is; NULL: it was not opened yet */
};

struct spare *spare_new(const struct store_options *options)
{
    struct spare *spare = mem_zalloc(1, sizeof *spare);
    *spare = (struct spare){.turns = turns_new(), .options = *options};
    return spare;
}

void spare_free(struct spare *spare)
{
    if (spare == NULL)
        return;
    store_close(spare->store);
    turns_free(spare->turns);
    free(spare);
}

enum status spare_take(struct spare *spare, struct store **out, struct err *err)
{
    turns_take(spare->turns);
    if (spare->store == NULL && store_open(&spare->options, &spare->store, err) != STATUS_OK) {
        turns_give(spare->turns);
        return err->code;
    }
    *out = spare->store;
    return STATUS_OK;
}

void spare_give(struct spare *spare)
{
    turns_give(spare->turns);
}

void spare_rest(struct spare *spare, int64_t idle_ms)
{
    if (spare == NULL || !turns_try(spare->turns))
        return;
    if (spare->store != NULL)
        store_rest(spare->store, idle_ms);
    turns_give(spare->turns);
}
