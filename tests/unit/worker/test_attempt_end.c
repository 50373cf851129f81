/*
 * From the end of a process to the outcome of its attempt.
 */
#include <sys/stat.h>

#include "base/mem.h"
#include "blob/log_writer.h"
#include "model/limits.h"
#include "worker/attempt_end.h"
#include "worker_bench.h"

static struct worker_bench bench;
static const struct claim CLAIM = {.task = 5, .run = 1, .map_index = -1, .attempt = 2};

static void setup(void)
{
    worker_bench_open(&bench);
}

static void teardown(void)
{
    worker_bench_close(&bench);
}

TestSuite(attempt_end, .init = setup, .fini = teardown);

static struct outcome make(const struct keeper_exit *exit, const struct attempt_reports *reports)
{
    struct outcome out;
    attempt_end_make(&(struct attempt_facts){.claim = &CLAIM,
                                             .outputs_dir = "/nonexistent",
                                             .started_at_us = 1000,
                                             .reports = reports,
                                             .blob = bench.blob},
                     exit, bench.store.arena, &out);
    return out;
}

Test(attempt_end, every_way_to_end_has_its_reason)
{
    static const struct {
        struct keeper_exit exit;
        enum outcome_kind kind;
        enum reason reason;
        int code;
        const char *detail;
    } CASES[KEEPER_EXIT_KIND_COUNT] = {
        {{.kind = KEEPER_EXITED, .code = 3}, OUTCOME_END, REASON_EXIT, 3, NULL},
        {{.kind = KEEPER_SIGNALLED, .signal = 11}, OUTCOME_END, REASON_SIGNAL, 11, NULL},
        {{.kind = KEEPER_EXEC_ERROR, .text = "no such file"},
         OUTCOME_END,
         REASON_EXEC_ERROR,
         0,
         "no such file"},
        {{.kind = KEEPER_NO_RESOURCES, .text = "no memory"},
         OUTCOME_RETURN,
         REASON_NONE,
         0,
         "no memory"},
        {{.kind = KEEPER_TIMEOUT, .signal = 15}, OUTCOME_END, REASON_TIMEOUT, 0, NULL},
        {{.kind = KEEPER_STOPPED, .code = 1}, OUTCOME_END, REASON_CANCELLED, 1, NULL},
        {{.kind = KEEPER_LOST}, OUTCOME_LOST, REASON_LOST_OWNER, 0, NULL},
    };
    struct attempt_reports said = {.has_result = true, .result = KEEPER_OUTCOME_SUCCESS};
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct keeper_exit exit = CASES[i].exit;
        exit.wall_us = 250;
        exit.user_us = 1500;
        exit.system_us = 600;
        struct outcome got = make(&exit, &(struct attempt_reports){0});
        cr_assert_eq(got.kind, CASES[i].kind, "%s", keeper_exit_kind_name(exit.kind));
        cr_assert_eq(got.end.reason, CASES[i].reason, "%s", keeper_exit_kind_name(exit.kind));
        cr_assert_eq(got.end.exit_code, CASES[i].code, "%s", keeper_exit_kind_name(exit.kind));
        cr_assert_eq(got.detail == NULL, CASES[i].detail == NULL);
        if (got.detail != NULL)
            EXPECT_STR(CASES[i].detail, got.detail);
        cr_assert_eq(got.ended_at_us, 1250);
        cr_assert_eq(got.cpu_ms, 2);
        /* A result counts only when the process ended by itself. */
        cr_assert_eq(make(&exit, &said).end.reason,
                     exit.kind == KEEPER_EXITED ? REASON_RESULT : CASES[i].reason);
    }
}

Test(attempt_end, a_result_beats_the_exit_code_and_keeps_its_reason)
{
    static const struct {
        enum keeper_outcome said;
        enum task_state state;
    } CASES[] = {{KEEPER_OUTCOME_SUCCESS, TASK_SUCCESS},
                 {KEEPER_OUTCOME_FAILED, TASK_FAILED},
                 {KEEPER_OUTCOME_SKIPPED, TASK_SKIPPED},
                 {KEEPER_OUTCOME_RETRY, TASK_UP_FOR_RETRY}};
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        for (int code = 0; code <= 1; code++) {
            struct attempt_reports reports = {0};
            attempt_reports_add(&reports, &(struct keeper_report){.type = KEEPER_REPORT_RESULT,
                                                                  .outcome = 0,
                                                                  .reason = "first"});
            attempt_reports_add(&reports, &(struct keeper_report){.type = KEEPER_REPORT_RESULT,
                                                                  .outcome = CASES[i].said,
                                                                  .reason = "why"});
            struct outcome got = make(&(struct keeper_exit){.code = code}, &reports);
            cr_assert_eq(got.end.reason, REASON_RESULT);
            cr_assert_eq(got.end.result, CASES[i].state);
            cr_assert_not_null(got.detail, "result %zu, exit %d", i, code);
            EXPECT_STR("why", got.detail);
            attempt_reports_fini(&reports);
        }
    }
}

/* One value of `bytes` bytes of JSON under `key`. */
static struct outcome with_value(const char *key, size_t bytes)
{
    struct attempt_reports reports = {0};
    CLEANUP(mem_freep) char *text = mem_alloc(bytes);
    memset(text, 'x', bytes);
    CLEANUP(json_decrefp) json_t *value = json_stringn(text, bytes - 2);
    attempt_reports_add(
        &reports, &(struct keeper_report){.type = KEEPER_REPORT_VALUE, .key = key, .value = value});
    struct outcome got = make(&(struct keeper_exit){.code = 0}, &reports);
    attempt_reports_fini(&reports);
    return got;
}

Test(attempt_end, values_are_inline_spilled_or_refused_by_size)
{
    static const struct {
        const char *key;
        size_t bytes;
        enum reason reason;
        bool is_inline;
    } CASES[] = {
        {"k", 2, REASON_EXIT, true},
        {"k", LIMIT_VALUE_INLINE_BYTES, REASON_EXIT, true},
        {"k", LIMIT_VALUE_INLINE_BYTES + 1, REASON_EXIT, false},
        {"k", LIMIT_VALUE_BYTES, REASON_EXIT, false},
        {"k", LIMIT_VALUE_BYTES + 1, REASON_LIMIT, false},
        {"_k", 2, REASON_EXIT, true},
        {"__k", 2, REASON_LIMIT, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct outcome got = with_value(CASES[i].key, CASES[i].bytes);
        cr_assert_eq(got.end.reason, CASES[i].reason, "case %zu: %s", i, got.detail);
        cr_assert_eq(got.values_count, CASES[i].reason == REASON_EXIT, "case %zu", i);
        if (got.values_count == 0)
            continue;
        cr_assert_eq(got.values[0].json != NULL, CASES[i].is_inline, "case %zu", i);
        cr_assert_eq(got.values[0].bytes, (int64_t)CASES[i].bytes);
    }
}

/* --- outputs --------------------------------------------------------------------------------- */

static const char *outputs_dir(void)
{
    const char *dir = arena_format(bench.store.arena, "%s/out", bench.store.dir);
    cr_assert_eq(mkdir(dir, 0700), 0);
    return dir;
}

static void put_output(const char *dir, const char *name, const char *text)
{
    FILE *file = fopen(arena_format(bench.store.arena, "%s/%s", dir, name), "w");
    cr_assert_not_null(file);
    cr_assert_geq(fputs(text, file), 0);
    cr_assert_eq(fclose(file), 0);
}

static struct outcome make_in(const char *dir, int code, const struct attempt_reports *reports)
{
    struct outcome out;
    attempt_end_make(&(struct attempt_facts){.claim = &CLAIM,
                                             .outputs_dir = dir,
                                             .started_at_us = 1000,
                                             .reports = reports,
                                             .blob = bench.blob},
                     &(struct keeper_exit){.code = code, .outputs_left = true}, bench.store.arena,
                     &out);
    return out;
}

static const char *value_of(const struct outcome *outcome, const char *key)
{
    for (size_t i = 0; i < outcome->values_count; i++)
        if (strcmp(outcome->values[i].key, key) == 0)
            return outcome->values[i].json;
    return "none";
}

Test(attempt_end, files_of_the_outputs_folder_become_values)
{
    struct attempt_reports reports = {.values = json_pack("{s:i}", "both", 2)};
    const char *dir = outputs_dir();
    put_output(dir, "number", "5\n");
    put_output(dir, "map", "{\"a\": [1]}");
    put_output(dir, "text", "two words\n");
    put_output(dir, "empty", "");
    put_output(dir, "both", "1");

    struct outcome got = make_in(dir, 0, &reports);

    cr_assert_eq(got.end.reason, REASON_EXIT);
    cr_assert_eq(got.values_count, 5);
    EXPECT_STR("5", value_of(&got, "number"));
    EXPECT_STR("{\"a\":[1]}", value_of(&got, "map"));
    EXPECT_STR("\"two words\"", value_of(&got, "text"));
    EXPECT_STR("\"\"", value_of(&got, "empty"));
    EXPECT_STR("2", value_of(&got, "both")); /* what it said counts more than what it left */
    cr_assert_neq(access(dir, F_OK), 0, "the folder is gone");
    attempt_reports_fini(&reports);
}

Test(attempt_end, outputs_that_cannot_be_taken_fail_only_a_task_that_ended_well)
{
    for (int code = 0; code <= 1; code++) {
        const char *dir = outputs_dir();
        cr_assert_eq(symlink("/etc/passwd", arena_format(bench.store.arena, "%s/link", dir)), 0);

        struct outcome got = make_in(dir, code, &(struct attempt_reports){0});

        cr_assert_eq(got.end.reason, code == 0 ? REASON_LIMIT : REASON_EXIT);
        cr_assert_eq(got.values_count, 0);
        cr_assert_eq(got.detail == NULL, code == 1);
        if (code == 0)
            EXPECT_STR("outputs: output 'link' is not a regular file", got.detail);
        cr_assert_neq(access(dir, F_OK), 0, "the folder is gone");
    }
}

/* --- last words ------------------------------------------------------------------------------ */

/* The end of an attempt that printed `text`; `attempt` makes its log another one. */
static struct outcome after_printing(const char *text, int64_t attempt,
                                     const struct keeper_exit *exit)
{
    struct claim claim = CLAIM;
    claim.attempt = attempt;
    struct blob_key key = {
        .kind = BLOB_LOG, .ids = {claim.run, claim.task, claim.attempt}, .id_count = 3};
    struct log_writer writer;
    log_writer_init(&writer, bench.blob, &key, 1 << 20, NULL);
    log_writer_write(&writer, text, strlen(text));
    log_writer_finish(&writer);
    struct outcome out;
    attempt_end_make(&(struct attempt_facts){.claim = &claim,
                                             .outputs_dir = "/nonexistent",
                                             .reports = &(struct attempt_reports){0},
                                             .blob = bench.blob},
                     exit, bench.store.arena, &out);
    return out;
}

Test(attempt_end, the_last_line_with_text_tells_why_it_failed)
{
    static const struct {
        struct keeper_exit exit;
        const char *text;
        const char *detail;
    } CASES[] = {
        {{.code = 1}, "one\ntwo\n", "two"},
        {{.code = 1}, "one\ntwo", "two"},
        {{.code = 1}, "one\ntwo\n\n  \t\n", "two"},
        {{.code = 1}, "\n \n", NULL},
        {{.code = 1}, "bad \xff byte\n", "bad \xef\xbf\xbd byte"},
        {{.code = 0}, "all is well\n", NULL},
        {{.kind = KEEPER_SIGNALLED, .signal = 9}, "so far\n", "so far"},
        {{.kind = KEEPER_TIMEOUT, .signal = 15}, "slow\n", "slow"},
        {{.kind = KEEPER_STOPPED}, "asked to stop\n", NULL},
        {{.kind = KEEPER_EXEC_ERROR, .text = "no such file"}, "printed\n", "no such file"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct outcome got = after_printing(CASES[i].text, (int64_t)i + 10, &CASES[i].exit);
        cr_assert_eq(got.detail == NULL, CASES[i].detail == NULL, "case %zu: %s", i,
                     got.detail != NULL ? got.detail : "nothing");
        if (got.detail != NULL)
            EXPECT_STR(CASES[i].detail, got.detail);
    }
}

Test(attempt_end, a_long_last_line_is_cut)
{
    char text[1002];
    memset(text, 'x', sizeof text);
    text[1000] = '\n';
    text[1001] = '\0';

    struct outcome got = after_printing(text, 10, &(struct keeper_exit){.code = 1});

    cr_assert_not_null(got.detail);
    cr_assert_eq(strlen(got.detail), 199);
}
