#include "app/prove.h"

#include <signal.h>

#include "app/prove_adoption.h"
#include "app/prove_backfill.h"
#include "app/prove_waiting.h"
#include "base/check.h"
#include "base/clock.h"
#include "store/store.h"

struct proof_kind {
    const char *name;
    enum status (*run)(const struct prove_world *world, const struct prove_request *request,
                       struct prove_report *report, bool *out_interrupted, struct err *err);
};

static const struct proof_kind KINDS[] = {
    [PROOF_ADOPTION] = {"adoption", prove_adoption},
    [PROOF_WAITING] = {"waiting", prove_waiting},
    [PROOF_BACKFILL] = {"backfill", prove_backfill},
};
_Static_assert(ARRAY_LEN(KINDS) == PROOF_COUNT, "every proof can be run");

/* A host would wait for a store that is away; a proof has nothing to prove then. */
static enum status reach_store(const struct prove_world *world, struct err *err)
{
    CLEANUP(store_closep) struct store *store = NULL;
    struct store_options options = {.url = world->home->store_url, .mode = DB_READ_WRITE};
    if (home_make(world->home, err) != STATUS_OK)
        return err->code;
    return store_open(&options, &store, err);
}

enum status prove_run(void *context, const struct prove_request *request, json_t **out_report,
                      struct err *err)
{
    const struct prove_world *world = context;
    const struct proof_kind *kind = &KINDS[request->proof];
    CLEANUP(prove_report_fini) struct prove_report report = {0};
    bool is_interrupted = false;
    sigset_t interrupts;
    sigset_t before;
    int64_t began_us = clock_mono_us();
    if (reach_store(world, err) != STATUS_OK)
        return err_wrap(err, "prove %s", kind->name);
    prove_report_init(&report);
    /* They wait until the next pause, so that nothing is left behind. */
    (void)sigemptyset(&interrupts);
    (void)sigaddset(&interrupts, SIGINT);
    (void)sigaddset(&interrupts, SIGTERM);
    CHECK(sigprocmask(SIG_BLOCK, &interrupts, &before) == 0);
    enum status status = kind->run(world, request, &report, &is_interrupted, err);
    CHECK(sigprocmask(SIG_SETMASK, &before, NULL) == 0);
    if (status != STATUS_OK)
        return err_wrap(err, "prove %s", kind->name);
    *out_report = prove_report_json(&report, kind->name, (clock_mono_us() - began_us) / 1000);
    json_put_bool(*out_report, "interrupted", is_interrupted);
    return STATUS_OK;
}
