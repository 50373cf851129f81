#include "sched/retention_turn.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "blob/value_key.h"
#include "store/answered.h"
#include "store/dead.h"
#include "store/job.h"
#include "store/retention.h"
#include "store/run_store.h"
#include "store/value.h"

enum { PORTION = 50, ROWS_PORTION = 1000, JOBS_PORTION = 500 };

static const int64_t DAY_MS = 86400000;
static const int64_t ARRIVALS_LEAST_MS = INT64_C(30) * 86400000;

struct retention_policy retention_policy_of(const struct settings *settings)
{
    return (struct retention_policy){
        .runs_ms = settings_number(settings, SETTING_KEEP_RUNS),
        .runs_per_dag = settings_number(settings, SETTING_KEEP_RUNS_PER_DAG),
        .logs_ms = settings_number(settings, SETTING_KEEP_LOGS),
        .values_ms = settings_number(settings, SETTING_KEEP_VALUES),
        .jobs_ms = settings_number(settings, SETTING_KEEP_JOBS),
        .dead_ms = settings_number(settings, SETTING_KEEP_DEAD),
        .messages_ms = settings_number(settings, SETTING_KEEP_MESSAGES),
        .events_ms = settings_number(settings, SETTING_KEEP_EVENTS),
    };
}

static int64_t instant_before(const struct retention_call *call, int64_t age_ms)
{
    return store_now_us(call->store) - age_ms * 1000;
}

/* --- whole runs ------------------------------------------------------------------------------ */

/* A dry turn finds again what a real one would have removed before. */
static bool is_gone(const struct retention_call *call, int64_t run)
{
    return call->is_dry && idmap_find(call->gone, run) != NULL;
}

static enum status remove_runs(const struct retention_call *call, const struct old_runs *runs,
                               struct retention_report *report, struct err *err)
{
    for (size_t i = 0; i < runs->count; i++) {
        if (is_gone(call, runs->ids[i]))
            continue;
        if (!call->is_dry && call->blob != NULL &&
            blob_delete_all(call->blob, &runs->ids[i], 1, err) != STATUS_OK)
            return err->code;
        enum status status = call->is_dry
                                 ? STATUS_OK
                                 : store_run_delete(call->store, runs->ids[i], call->actor, err);
        if (status == STATUS_NOT_FOUND || status == STATUS_CONFLICT)
            continue; /* somebody else did it, or made it run again */
        if (status != STATUS_OK)
            return status;
        if (call->is_dry)
            idmap_set(call->gone, runs->ids[i], call->gone);
        report->runs++;
    }
    return STATUS_OK;
}

/* A dry turn looks at everything, since nothing that it saw goes away. */
static enum status remove_by_age(const struct retention_call *call, struct retention_report *report,
                                 bool *out_more, struct err *err)
{
    int64_t ids[PORTION];
    struct old_runs runs = {.ids = ids, .room = PORTION, .more = true};
    if (call->policy->runs_ms == 0)
        return STATUS_OK;
    int64_t before_us = instant_before(call, call->policy->runs_ms);
    do {
        if (store_runs_ended_before(call->store, runs.looked_to, before_us, &runs, err) !=
                STATUS_OK ||
            remove_runs(call, &runs, report, err) != STATUS_OK)
            return err->code;
    } while (runs.more && (call->is_dry || runs.count == 0));
    *out_more |= runs.more;
    return STATUS_OK;
}

static enum status remove_by_count(const struct retention_call *call,
                                   struct retention_report *report, bool *out_more, struct err *err)
{
    if (call->policy->runs_per_dag == 0)
        return STATUS_OK;
    size_t room = call->is_dry ? 1000000 : PORTION;
    CLEANUP(mem_freep) int64_t *ids = mem_alloc(room * sizeof *ids);
    struct old_runs runs = {.ids = ids, .room = room};
    if (store_runs_beyond(call->store, call->policy->runs_per_dag, &runs, err) != STATUS_OK)
        return err->code;
    *out_more |= runs.more && !call->is_dry;
    return remove_runs(call, &runs, report, err);
}

/* --- what belongs to a run that stays -------------------------------------------------------- */

/* The tasks of a run; they are listed first, since logs may lie in the same store. */
struct attempts {
    struct attempts_of_task {
        int64_t task;
        int64_t count;
    } * items;
    size_t count;
    size_t capacity;
};

static void attempts_fini(struct attempts *attempts)
{
    free(attempts->items);
}

static enum status note_task(void *context, const struct run_row *run, const struct task_row *task,
                             struct err *err)
{
    (void)run, (void)err;
    struct attempts *attempts = context;
    attempts->items =
        mem_grow(attempts->items, &attempts->capacity, attempts->count, sizeof *attempts->items);
    attempts->items[attempts->count++] =
        (struct attempts_of_task){.task = task->id, .count = task->attempt};
    return STATUS_OK;
}

static enum status remove_log(struct blob *blob, struct blob_key key, struct err *err)
{
    key.kind = BLOB_LOG_INDEX;
    if (blob_delete(blob, &key, err) != STATUS_OK)
        return err->code;
    key.kind = BLOB_LOG;
    return blob_delete(blob, &key, err);
}

static enum status remove_logs(const struct retention_call *call, int64_t run,
                               struct retention_report *report, struct err *err)
{
    CLEANUP(attempts_fini) struct attempts attempts = {0};
    report->runs_without_logs++;
    if (call->is_dry || call->blob == NULL)
        return STATUS_OK;
    if (store_task_each(call->store, run, note_task, &attempts, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < attempts.count; i++)
        for (int64_t attempt = 1; attempt <= attempts.items[i].count; attempt++) {
            struct blob_key key = {.ids = {run, attempts.items[i].task, attempt}, .id_count = 3};
            if (remove_log(call->blob, key, err) != STATUS_OK)
                return err->code;
        }
    return STATUS_OK;
}

/* Keys of large values, as they are found. */
struct spilled {
    struct blob_key *items;
    size_t count;
    size_t capacity;
    int64_t run;
    const struct attempts_of_task *of;
};

static void spilled_fini(struct spilled *spilled)
{
    free(spilled->items);
}

static enum status note_spilled(void *context, const struct value_info *value, struct err *err)
{
    (void)err;
    struct spilled *spilled = context;
    if (value->json != NULL)
        return STATUS_OK;
    spilled->items =
        mem_grow(spilled->items, &spilled->capacity, spilled->count, sizeof *spilled->items);
    spilled->items[spilled->count++] =
        value_key(spilled->run, spilled->of->task, spilled->of->count, value->key);
    return STATUS_OK;
}

static enum status remove_spilled(const struct retention_call *call, int64_t run, struct err *err)
{
    CLEANUP(attempts_fini) struct attempts attempts = {0};
    CLEANUP(spilled_fini) struct spilled spilled = {.run = run};
    if (store_task_each(call->store, run, note_task, &attempts, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < attempts.count; i++) {
        spilled.of = &attempts.items[i];
        if (store_value_each(call->store, spilled.of->task, note_spilled, &spilled, err) !=
            STATUS_OK)
            return err->code;
    }
    for (size_t i = 0; i < spilled.count; i++)
        if (blob_delete(call->blob, &spilled.items[i], err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

static enum status remove_values(const struct retention_call *call, int64_t run,
                                 struct retention_report *report, struct err *err)
{
    int64_t count = 0;
    report->runs_without_values++;
    if (call->is_dry)
        return STATUS_OK;
    if (call->blob != NULL && remove_spilled(call, run, err) != STATUS_OK)
        return err->code;
    if (store_values_remove(call->store, run, &count, err) != STATUS_OK)
        return err->code;
    report->values += count;
    return STATUS_OK;
}

/* Something that runs may lose before they go themselves. */
struct part {
    const char *name;
    int64_t age_ms;
    enum status (*remove)(const struct retention_call *call, int64_t run,
                          struct retention_report *report, struct err *err);
};

static enum status remove_part_of_all(const struct retention_call *call, const struct part *part,
                                      const struct old_runs *runs, struct retention_report *report,
                                      struct err *err)
{
    for (size_t i = 0; i < runs->count; i++) {
        struct err problem = {0};
        enum status status = is_gone(call, runs->ids[i])
                                 ? STATUS_OK
                                 : part->remove(call, runs->ids[i], report, &problem);
        if (status == STATUS_OK || status == STATUS_NOT_FOUND)
            continue;
        *err = problem;
        return status;
    }
    return STATUS_OK;
}

/*
 * Goes on where the last turn ended, by the ends of runs: those up to that instant are done. Of the
 * last instant of a portion there may be more, so that it is begun again.
 */
static enum status remove_parts(const struct retention_call *call, const struct part *part,
                                struct retention_report *report, bool *out_more, struct err *err)
{
    int64_t ids[PORTION];
    struct old_runs runs = {.ids = ids, .room = PORTION};
    struct ended_place place = {.run = INT64_MAX};
    if (part->age_ms == 0)
        return STATUS_OK;
    if (store_retention_place(call->store, part->name, &place.ended_us, err) != STATUS_OK)
        return err->code;
    int64_t begun_us = place.ended_us;
    int64_t done_us;
    int64_t before_us = instant_before(call, part->age_ms);
    do {
        if (store_runs_ended_after(call->store, &place, before_us, &runs, err) != STATUS_OK ||
            remove_part_of_all(call, part, &runs, report, err) != STATUS_OK)
            return err->code;
        done_us = runs.more ? place.ended_us - 1 : place.ended_us;
    } while (runs.more && (call->is_dry || done_us == begun_us));
    *out_more |= runs.more;
    if (call->is_dry || done_us == begun_us)
        return STATUS_OK;
    return store_retention_move(call->store, part->name, done_us, err);
}

/* --- the rest -------------------------------------------------------------------------------- */

struct gone_jobs {
    int64_t ids[JOBS_PORTION];
    size_t count;
};

static void note_job(void *context, int64_t job)
{
    struct gone_jobs *gone = context;
    if (gone->count < JOBS_PORTION)
        gone->ids[gone->count++] = job;
}

/* A log that stays is only lost space: nothing points to it. */
static void delete_job_logs(const struct retention_call *call, const struct gone_jobs *gone)
{
    for (size_t i = 0; i < gone->count && call->blob != NULL; i++) {
        const int64_t ids[] = {RUN_OF_JOBS, gone->ids[i]};
        struct err ignored = {0};
        (void)!blob_delete_all(call->blob, ids, ARRAY_LEN(ids), &ignored);
    }
}

static enum status remove_jobs(const struct retention_call *call, struct retention_report *report,
                               bool *out_more, struct err *err)
{
    if (call->policy->jobs_ms == 0)
        return STATUS_OK;
    CLEANUP(mem_freep) struct gone_jobs *gone = mem_zalloc(1, sizeof *gone);
    const struct job_purge purge = {
        .filter = {.limit = call->is_dry ? INT64_MAX : JOBS_PORTION},
        .ended_before_us = instant_before(call, call->policy->jobs_ms),
        .dry_run = call->is_dry,
        .actor = call->actor,
        .each = note_job,
        .context = gone,
    };
    int64_t count = 0;
    if (store_job_purge(call->store, &purge, &count, err) != STATUS_OK)
        return err->code;
    delete_job_logs(call, gone);
    report->jobs += count;
    *out_more |= !call->is_dry && count == JOBS_PORTION;
    return STATUS_OK;
}

static enum status count_letter(void *context, const struct dead_info *info, struct err *err)
{
    (void)info, (void)err;
    *(int64_t *)context += 1;
    return STATUS_OK;
}

/* Before jobs: one that has no letter any more goes when it is old itself. */
static enum status remove_dead(const struct retention_call *call, struct retention_report *report,
                               bool *out_more, struct err *err)
{
    int64_t count = 0;
    if (call->policy->dead_ms == 0)
        return STATUS_OK;
    const struct dead_filter filter = {
        .before_us = instant_before(call, call->policy->dead_ms),
        .limit = call->is_dry ? INT64_MAX : JOBS_PORTION,
    };
    enum status status = call->is_dry
                             ? store_dead_each(call->store, &filter, count_letter, &count, err)
                             : store_dead_purge(call->store, &filter, call->actor, &count, err);
    if (status != STATUS_OK)
        return status;
    report->dead += count;
    *out_more |= !call->is_dry && count == JOBS_PORTION;
    return STATUS_OK;
}

/* 0: for ever. */
static int64_t age_of(const struct retention_policy *policy, enum old_rows kind)
{
    switch (kind) {
    case OLD_EVENTS:
    case OLD_ASSET_EVENTS:
    case OLD_WEBHOOK_CALLS:
    case OLD_MISSED:
        return policy->events_ms;
    case OLD_NOTICES:
        return policy->messages_ms;
    case OLD_ARRIVALS: /* whoever was away for a while still finds what arrived meanwhile */
        return policy->events_ms > 0 ? MAX(policy->events_ms, ARRIVALS_LEAST_MS) : 0;
    case OLD_BACKFILLS:
    case OLD_VERSIONS:
        return policy->runs_ms;
    case OLD_HOSTS: /* jobs tell where they ran, too */
        return policy->runs_ms > 0 && policy->jobs_ms > 0 ? MAX(policy->runs_ms, policy->jobs_ms)
                                                          : 0;
    case OLD_RATES:
    case OLD_SESSIONS:
    case OLD_LINKS:
        return DAY_MS;
    case OLD_ANSWERS:
        return ANSWERED_KEPT_MS;
    case OLD_TOKENS: /* people see for a while why something stopped */
        return 30 * DAY_MS;
    case OLD_ROWS_COUNT:
        break;
    }
    return 0;
}

static enum status remove_rest(const struct retention_call *call, enum old_rows kind,
                               struct retention_report *report, bool *out_more, struct err *err)
{
    int64_t age_ms = age_of(call->policy, kind);
    int64_t count = 0;
    if (age_ms == 0)
        return STATUS_OK;
    int64_t before_us = instant_before(call, age_ms);
    enum status status =
        call->is_dry
            ? store_old_rows_count(call->store, kind, before_us, &count, err)
            : store_old_rows_remove(call->store, kind, before_us, ROWS_PORTION, &count, err);
    if (status != STATUS_OK)
        return status;
    report->rest[kind] += count;
    *out_more |= !call->is_dry && count >= ROWS_PORTION;
    return STATUS_OK;
}

int64_t retention_report_events(const struct retention_report *report)
{
    return report->rest[OLD_EVENTS] + report->rest[OLD_ASSET_EVENTS] +
           report->rest[OLD_WEBHOOK_CALLS] + report->rest[OLD_MISSED];
}

static enum status remove_all(const struct retention_call *call, struct retention_report *report,
                              bool *out_more, struct err *err)
{
    const struct part logs = {"logs", call->policy->logs_ms, remove_logs};
    const struct part values = {"values", call->policy->values_ms, remove_values};
    *out_more = false;
    if (remove_by_age(call, report, out_more, err) != STATUS_OK ||
        remove_by_count(call, report, out_more, err) != STATUS_OK ||
        remove_parts(call, &logs, report, out_more, err) != STATUS_OK ||
        remove_parts(call, &values, report, out_more, err) != STATUS_OK ||
        remove_dead(call, report, out_more, err) != STATUS_OK ||
        remove_jobs(call, report, out_more, err) != STATUS_OK)
        return err_wrap(err, "remove what is old");
    /* While runs are worked off, the rest waits: it is looked for from the beginning each time. */
    for (int kind = 0; kind < OLD_ROWS_COUNT && !*out_more; kind++)
        if (remove_rest(call, (enum old_rows)kind, report, out_more, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

enum status retention_turn(const struct retention_call *call, struct retention_report *report,
                           bool *out_more, struct err *err)
{
    CLEANUP(idmap_freep) struct idmap *gone = idmap_new();
    struct retention_call turn = *call;
    turn.gone = gone;
    return remove_all(&turn, report, out_more, err);
}
