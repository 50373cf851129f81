#pragma once
/*
 * webhook_priv: tokens of webhooks as they are sealed, for who seals everything anew.
 */
#include "os/secret_box.h"
#include "store/store_priv.h"

struct webhook_sealed {
    const char *hash;
    const char *sealed;
    bool takes_github;
};

/* A token belongs to its hash: in the row of another one it does not open. */
struct secret_context webhook_context(const char *hash);
/* All of them, in the arena. */
NODISCARD enum status webhook_list_sealed(struct store *store, struct arena *arena,
                                          struct webhook_sealed **out, size_t *out_count,
                                          struct err *err);
/* Unless it has changed or gone meanwhile. */
NODISCARD enum status webhook_reseal(struct store *store, const struct webhook_sealed *row,
                                     const char *sealed, struct err *err);
