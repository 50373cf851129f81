/*
 * The trail of changes: who, what, why; and notes of tasks.
 */
#include "model/event_kind.h"
#include "store/audit.h"
#include "store/control.h"
#include "store/host.h"
#include "store/pool.h"
#include "store/task_cancel.h"
#include "store/task_note.h"
#include "store_bench.h"

static struct bench_store bench;

static void setup(void)
{
    bench = (struct bench_store){0};
    bench_open(&bench);
}

static void teardown(void)
{
    bench_close(&bench);
}

TestSuite(audit, .init = setup, .fini = teardown);

static const char CHAIN[] = "{\"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"x\", "
                            "\"needs\": [\"a\"]}, \"c\": {\"run\": \"x\", \"needs\": [\"b\"]}}}";

struct found {
    char text[4096]; /* a line for each row: kind, actor, data */
    size_t most;     /* 0: all */
    size_t count;
    int64_t last;
};

static enum status note_row(void *context, const struct event_row *row, bool *out_enough,
                            struct err *err)
{
    (void)err;
    struct found *found = context;
    size_t length = strlen(found->text);
    (void)snprintf(found->text + length, sizeof found->text - length, "%s %s %s\n",
                   event_kind_name(row->kind), row->actor, row->data != NULL ? row->data : "-");
    found->last = row->id;
    *out_enough = ++found->count == found->most;
    return STATUS_OK;
}

static struct found look(const struct audit_filter *filter, size_t most)
{
    struct err err = {0};
    struct found found = {.most = most};
    EXPECT_OK(store_audit_each(bench.store, filter, note_row, &found, &err), &err);
    return found;
}

static void set_pool(const char *name, const char *actor)
{
    struct err err = {0};
    int64_t slots = 4;
    struct pool_change change = {
        .namespace_ = "default", .name = name, .slots = &slots, .actor = actor};
    EXPECT_OK(store_pool_set(bench.store, &change, &err), &err);
}

static void cancel(const char *actor)
{
    struct err err = {0};
    struct cancel_request request = {
        .run = bench.run.id, .cause = CANCEL_ASKED, .finally_too = true, .actor = actor};
    EXPECT_OK(store_run_cancel(bench.store, &request, &err), &err);
}

Test(audit, a_change_is_kept_with_who_and_why)
{
    bench_start(&bench, CHAIN);
    store_set_reason(bench.store, "more \"room\"");
    set_pool("gpu", "ann");
    store_set_reason(bench.store, NULL);
    set_pool("gpu", "bob");
    store_set_reason(bench.store, "wrong date");
    cancel("cleo");

    struct found found = look(&(struct audit_filter){0}, 0);

    EXPECT_STR("run_cancel_asked cleo {\"reason\":\"wrong date\"}\n"
               "pool_set bob {\"namespace\":\"default\",\"pool\":\"gpu\",\"slots\":4,"
               "\"was\":{\"slots\":4}}\n"
               "pool_set ann {\"namespace\":\"default\",\"pool\":\"gpu\",\"reason\":\"more "
               "\\\"room\\\"\",\"slots\":4}\n"
               "run_created test -\n",
               found.text);
}

Test(audit, it_is_filtered_by_actor_run_and_time_and_read_page_by_page)
{
    bench_start(&bench, CHAIN);
    int64_t from_us = ++bench_now_us;
    set_pool("one", "ann");
    bench_now_us++;
    set_pool("two", "bob");
    cancel("bob");

    cr_assert_eq(look(&(struct audit_filter){.actor = "bob"}, 0).count, 2);
    cr_assert_eq(look(&(struct audit_filter){.run = bench.run.id}, 0).count, 2);
    cr_assert_eq(look(&(struct audit_filter){.from_us = from_us}, 0).count, 3);
    cr_assert_eq(look(&(struct audit_filter){.to_us = from_us}, 0).count, 1);
    cr_assert_eq(look(&(struct audit_filter){.from_us = from_us, .to_us = from_us + 1}, 0).count,
                 1);
    struct found page = look(&(struct audit_filter){0}, 3);
    cr_assert_eq(page.count, 3);
    struct found rest = look(&(struct audit_filter){.before = page.last}, 0);
    EXPECT_STR("run_created test -\n", rest.text);
}

Test(audit, more_rows_than_a_page_are_all_seen)
{
    enum { MANY = 1003 };
    struct err err = {0};
    for (int i = 0; i < MANY; i++)
        EXPECT_OK(store_audit_add(bench.store, EVENT_STORE_PRUNED, "ann", "{}", &err), &err);

    cr_assert_eq(look(&(struct audit_filter){0}, 0).count, MANY);
}

Test(audit, what_the_program_does_by_itself_is_left_out_unless_asked_for)
{
    bench_start(&bench, CHAIN);
    cancel("timeout");
    set_pool("gpu", "host north");

    cr_assert_eq(look(&(struct audit_filter){0}, 0).count, 1);
    cr_assert_eq(look(&(struct audit_filter){.with_machines = true}, 0).count, 3);
    cr_assert_eq(look(&(struct audit_filter){.actor = "timeout"}, 0).count, 1);
}

/* What is about a DAG, as whoever reads the trail tells. */
struct about {
    const char *dag_id;
    struct found found;
};

static enum status note_of_dag(void *context, const struct event_row *row, bool *out_enough,
                               struct err *err)
{
    struct about *about = context;
    CLEANUP(mem_freep) char *quoted = mem_format("\"%s\"", about->dag_id);
    bool is_named = row->data != NULL && strstr(row->data, quoted) != NULL;
    if (row->dag_id != NULL ? strcmp(row->dag_id, about->dag_id) != 0 : !is_named)
        return STATUS_OK;
    return note_row(&about->found, row, out_enough, err);
}

static enum status note_of_actor(void *context, const struct event_row *row, bool *out_enough,
                                 struct err *err)
{
    struct about *about = context;
    return strcmp(row->actor, about->dag_id) == 0 ? note_row(&about->found, row, out_enough, err)
                                                  : STATUS_OK;
}

static void tell(enum event_kind kind, const char *actor, const char *data)
{
    struct err err = {0};
    EXPECT_OK(store_audit_add(bench.store, kind, actor, data, &err), &err);
    bench_now_us++;
}

/* Runs of two DAGs, and what is about either of them, both or none. */
static void make_history(void)
{
    static const char OTHER[] = "{\"dag\": \"other\", \"tasks\": {\"a\": {\"run\": \"x\"}}}";
    static const char *const ACTORS[] = {"schedule", "timeout", "retention", "ann", "host north"};
    for (size_t i = 0; i < 20; i++) {
        bench_start(&bench, i % 3 == 0 ? OTHER : CHAIN);
        if (i % 2 == 0)
            cancel(ACTORS[i % ARRAY_LEN(ACTORS)]);
        tell(EVENT_DAG_PAUSED, ACTORS[i % ARRAY_LEN(ACTORS)],
             i % 4 == 0 ? "{\"dag_id\":\"other\"}" : "{\"dag_id\":\"d\"}");
        tell(EVENT_LIMIT_SET, ACTORS[(i + 1) % ARRAY_LEN(ACTORS)],
             "{\"kind\":\"dag\",\"name\":\"other\"}");
        tell(EVENT_STORE_PRUNED, "retention", "{}");
    }
    bench_sql(&bench, "UPDATE event SET actor = 'schedule' WHERE kind = 1 AND run > 4");
}

static void expect_as_walked(const struct audit_filter *filter)
{
    struct err err = {0};
    bool is_of_actor = filter->actor != NULL;
    struct about walked = {.dag_id = is_of_actor ? filter->actor : filter->dag_id};
    struct about found = walked;
    struct audit_filter all = {.with_machines = is_of_actor || filter->with_machines,
                               .from_us = filter->from_us,
                               .to_us = filter->to_us,
                               .before = filter->before};
    EXPECT_OK(store_audit_each(bench.store, &all, is_of_actor ? note_of_actor : note_of_dag,
                               &walked, &err),
              &err);
    EXPECT_OK(store_audit_each(bench.store, filter, is_of_actor ? note_of_actor : note_of_dag,
                               &found, &err),
              &err);
    EXPECT_STR(walked.found.text, found.found.text);
    cr_assert_eq(walked.found.last, found.found.last);
}

STORE_TEST(audit, what_a_dag_and_an_actor_did_is_found_as_by_looking_at_all)
{
    static const char *const DAGS[] = {"d", "other", "none"};
    static const char *const ACTORS[] = {"schedule", "timeout",    "retention",
                                         "ann",      "host north", "zoe"};
    make_history();
    int64_t to_us = bench_now_us - 20;
    int64_t before = look(&(struct audit_filter){.with_machines = true}, 30).last;
    for (size_t i = 0; i < ARRAY_LEN(DAGS); i++) {
        expect_as_walked(&(struct audit_filter){.dag_id = DAGS[i]});
        expect_as_walked(&(struct audit_filter){.dag_id = DAGS[i], .with_machines = true});
        expect_as_walked(&(struct audit_filter){
            .dag_id = DAGS[i], .with_machines = true, .from_us = to_us - 30, .to_us = to_us});
        expect_as_walked(
            &(struct audit_filter){.dag_id = DAGS[i], .with_machines = true, .before = before});
    }
    for (size_t i = 0; i < ARRAY_LEN(ACTORS); i++) {
        expect_as_walked(&(struct audit_filter){.actor = ACTORS[i]});
        expect_as_walked(&(struct audit_filter){.actor = ACTORS[i], .before = before});
        expect_as_walked(&(struct audit_filter){.actor = ACTORS[i], .to_us = to_us});
    }
    cr_assert_gt(look(&(struct audit_filter){.actor = "retention"}, 0).count, 20);
    cr_assert_gt(look(&(struct audit_filter){.dag_id = "other", .with_machines = true}, 0).count,
                 20);
}

/* More runs than are looked at one by one, and more events than are looked at first. */
STORE_TEST(audit, of_a_dag_with_many_runs_the_old_ones_are_found_too)
{
    enum { RUNS = 1100 };
    bench_start(&bench, CHAIN);
    for (int i = 1; i < RUNS; i++)
        bench_start(&bench, CHAIN);
    struct audit_filter filter = {.dag_id = "d", .with_machines = true};
    bench_sql(&bench, "UPDATE event SET id = id + 500000 WHERE id % 2 = 0");
    size_t count = look(&filter, 0).count;
    cr_assert_geq(count, RUNS);
    bench_sql(&bench, "UPDATE event SET actor = 'backfill 7' WHERE id % 3 = 0");
    cr_assert_eq(look(&filter, 0).count, count);
}

Test(audit, stopping_a_task_and_deleting_a_run_are_changes)
{
    struct err err = {0};
    bench_start(&bench, CHAIN);
    store_set_reason(bench.store, "not needed");
    struct task_cancel_request stop = {
        .run = bench.run.id, .node = 1, .map_index = -1, .actor = "ann"};
    EXPECT_OK(store_task_cancel(bench.store, &stop, &err), &err);
    EXPECT_CONTAINS(look(&(struct audit_filter){0}, 1).text,
                    "task_cancel_asked ann {\"reason\":\"not needed\"}");
    cancel("ann");
    store_set_reason(bench.store, "old");
    EXPECT_OK(store_run_delete(bench.store, bench.run.id, "bob", &err), &err);

    struct found found = look(&(struct audit_filter){.run = bench.run.id}, 0);

    cr_assert_eq(found.count, 1, "%s", found.text);
    EXPECT_CONTAINS(found.text, "run_deleted bob {\"dag_id\":\"d\",\"reason\":\"old\"");
    EXPECT_CONTAINS(found.text, "\"run_id\":\"");
}

static const char *note_of(int64_t task)
{
    struct err err = {0};
    struct task_note_list notes;
    struct run_info run;
    EXPECT_OK(store_run_load(bench.store, bench.arena, bench.run.id, &run, &err), &err);
    EXPECT_OK(store_task_notes(bench.store, bench.arena, &run, &notes, &err), &err);
    return task_note_find(&notes, task);
}

static void set_note(int64_t task, const char *note)
{
    struct err err = {0};
    struct task_note_request request = {
        .run = bench.run.id, .task = task, .note = note, .actor = "ann"};
    EXPECT_OK(store_task_set_note(bench.store, &request, &err), &err);
}

Test(audit, notes_of_tasks_are_set_replaced_and_removed)
{
    bench_start(&bench, CHAIN);
    int64_t first = bench.run.first_task;
    cr_assert_null(note_of(first));

    set_note(first + 2, "third");
    set_note(first, "one");
    set_note(first, "two");
    EXPECT_STR("two", note_of(first));
    EXPECT_STR("third", note_of(first + 2));
    cr_assert_null(note_of(first + 1));
    set_note(first, "");
    cr_assert_null(note_of(first));
    cr_assert_eq(look(&(struct audit_filter){.run = bench.run.id, .actor = "ann"}, 0).count, 4);

    struct err err = {0};
    cancel("ann");
    EXPECT_OK(store_run_delete(bench.store, bench.run.id, "ann", &err), &err);
    const struct run_info before = {.id = bench.run.id, .task_notes = 1};
    struct task_note_list notes;
    EXPECT_OK(store_task_notes(bench.store, bench.arena, &before, &notes, &err), &err);
    cr_assert_eq(notes.count, 0);
    struct task_note_request gone = {
        .run = bench.run.id, .task = first, .note = "x", .actor = "ann"};
    EXPECT_STATUS(STATUS_NOT_FOUND, store_task_set_note(bench.store, &gone, &err), &err);
}

Test(audit, only_what_failed_of_the_chosen_is_cleared)
{
    static const struct bench_script SCRIPT[] = {{.task = "b", .exit_code = 1}, {0}};
    static const bool ALL[] = {true, true, true};
    struct err err = {0};
    struct clear_result result;
    bench_start(&bench, CHAIN);
    (void)bench_drain(&bench, SCRIPT, 4);
    struct clear_request request = {.run = bench.run.id,
                                    .nodes = ALL,
                                    .map_index = -1,
                                    .only_failed = true,
                                    .dry_run = true,
                                    .actor = "test"};

    EXPECT_OK(store_clear(bench.store, &request, bench.arena, &result, &err), &err);

    cr_assert(!result.cleared[0]);
    cr_assert(result.cleared[1]);
    cr_assert(result.cleared[2]);
}
