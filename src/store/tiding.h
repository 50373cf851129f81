#pragma once
/*
 * tiding: what happened that DAGs may wait for, written in the transaction in which it happens.
 *
 * An update of a dataset is kept for ever; for each DAG that waits for it, it waits as well until a
 * run is made of it (trigger_store.h). An end of a run is kept only for those who wait.
 *
 * Private to the store layer.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "model/run_state.h"
#include "store/db.h"

struct tiding {
    const char *uri;
    int64_t run; /* whose task it was; 0: nobody's */
    const char *task_id;
    int64_t map_index;
    const char *actor; /* who said so where no task did, or NULL */
    const char *extra; /* JSON object; NULL: empty */
};

struct tiding_list {
    struct tiding *items; /* heap; texts are borrowed */
    size_t count;
    size_t capacity;
};

void tiding_list_add(struct tiding_list *list, const struct tiding *tiding);
void tiding_list_fini(struct tiding_list *list);

/* All of them, each dataset once per task. *news becomes true when somebody waits for one. */
NODISCARD enum status tidings_save(struct db *db, int64_t now_us, struct tiding_list *list,
                                   bool *news, struct err *err);
struct tiding_end {
    int64_t run;
    const char *dag_id;
    enum run_state state;
};
NODISCARD enum status tiding_save_end(struct db *db, int64_t now_us, const struct tiding_end *end,
                                      bool *news, struct err *err);
/* For those who wait: the schedulers of all hosts look. */
NODISCARD enum status tiding_spread(struct db *db, bool news, struct err *err);
