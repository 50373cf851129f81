#pragma once
/*
 * dag_watch: keeps the store in step with the folder of DAG files, in a thread of its own.
 *
 * A change takes effect when the files have been quiet for a moment. A slow look at everything is
 * the floor, for folders whose changes are not heard, such as those on other machines.
 */
#include "base/attrs.h"
#include "base/err.h"
#include "os/loop.h"
#include "store/spare.h"

struct dag_watch;
struct meters;

struct dag_watch_options {
    struct spare *spare; /* taken for each turn */
    const char *folder;
    const char *host;      /* name */
    int64_t rescan_ms;     /* the floor */
    bool starts_paused;    /* DAGs that were not offered before */
    struct meters *meters; /* that count what is read; NULL: nobody counts */
    /* In the loop's thread: something changed; first of all, that everything was read once. */
    void (*changed)(void *context);
    void *context;
};

/* The texts are borrowed until the stop. */
NODISCARD enum status dag_watch_start(struct loop *loop, const struct dag_watch_options *options,
                                      struct dag_watch **out, struct err *err);
/* Look at everything now, and say what was found. From any thread; NULL is allowed. */
void dag_watch_look(struct dag_watch *watch);
/* Before the loop is freed. NULL is allowed. */
void dag_watch_stop(struct dag_watch *watch);
