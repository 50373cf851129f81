/*
 * The journal of undelivered outcomes: what goes in comes out, whatever happens in between.
 */
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "expect.h"
#include "os/file_tree.h"
#include "store/journal.h"

static char dir[64];
static char path[96];
static struct arena *arena;

static void setup(void)
{
    (void)snprintf(dir, sizeof dir, "/tmp/eider-journal-XXXXXX");
    cr_assert_not_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/journal.db", dir);
    arena = arena_new();
}

static void teardown(void)
{
    (void)umount2(dir, MNT_DETACH); /* of a test that failed */
    struct err err = {0};
    int parent = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    EXPECT_OK(file_tree_remove(parent, dir + strlen("/tmp/"), &err), &err);
    (void)close(parent);
    arena_free(arena);
}

TestSuite(journal, .init = setup, .fini = teardown);

static struct journal *open_whole(void)
{
    struct err err = {0};
    struct journal *journal = NULL;
    char *kept_as = NULL;
    EXPECT_OK(journal_open(path, &journal, &kept_as, &err), &err);
    cr_assert_null(kept_as, "%s", kept_as);
    return journal;
}

static struct journal_batch load(struct journal *journal, size_t max)
{
    struct err err = {0};
    struct journal_batch batch = {0};
    EXPECT_OK(journal_load(journal, arena, max, &batch, &err), &err);
    return batch;
}

/* Behind the program's back. */
static void tamper(const char *sql)
{
    sqlite3 *other = NULL;
    char *problem = NULL;
    cr_assert_eq(sqlite3_open(path, &other), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(other, sql, NULL, NULL, &problem), SQLITE_OK, "%s: %s", sql,
                 problem != NULL ? problem : "");
    cr_assert_eq(sqlite3_close(other), SQLITE_OK);
}

/* --- random outcomes ------------------------------------------------------------------------- */

static int64_t random_number(void)
{
    static const int64_t EDGES[] = {0, 1, -1, INT64_MAX, INT64_MIN, 1700000000000000};
    return EDGES[rng_below(ARRAY_LEN(EDGES))];
}

static const char *random_text(void)
{
    static const char *const TEXTS[] = {
        "", "plain", "two\nlines\t\"quoted\" \\ / \x01", "\u00e4 \u6f22 \U0001F986", "{\"a\":[1]}",
    };
    size_t i = rng_below(ARRAY_LEN(TEXTS) + 1);
    return i < ARRAY_LEN(TEXTS) ? TEXTS[i] : NULL;
}

static struct outcome random_outcome(int64_t task)
{
    struct outcome outcome = {
        .task = task,
        .run = random_number(),
        .attempt = (int64_t)rng_below(5) + 1,
        .kind = (enum outcome_kind)rng_below(OUTCOME_LOST + 1),
        .end = {.reason = (enum reason)rng_below(REASON_COUNT),
                .exit_code = (int)rng_below(512) - 256,
                .result = (enum task_state)rng_below(TASK_STATE_COUNT)},
        .detail = random_text(),
        .label = random_text(),
        .started_at_us = random_number(),
        .ended_at_us = random_number(),
        .log_bytes = random_number(),
        .cpu_ms = random_number(),
        .rss_kb = random_number(),
        .values_count = rng_below(4),
        .is_choice = rng_below(2) == 0,
        .chosen_count = rng_below(4),
        .datasets_count = rng_below(4),
        .instances = random_number(),
    };
    rng_bytes(outcome.nonce.bytes, sizeof outcome.nonce.bytes);
    struct outcome_value *values = arena_array(arena, 4, sizeof *values);
    uint32_t *chosen = arena_array(arena, 4, sizeof *chosen);
    const char **datasets = arena_array(arena, 4, sizeof *datasets);
    for (size_t i = 0; i < 4; i++) {
        values[i] = (struct outcome_value){.key = arena_format(arena, "k%zu", i),
                                           .json = random_text(),
                                           .bytes = (int64_t)rng_below(1 << 20)};
        rng_bytes(&chosen[i], sizeof chosen[i]);
        datasets[i] = arena_format(arena, "s3://%zu", i);
    }
    outcome.values = values;
    outcome.chosen = chosen;
    outcome.datasets = datasets;
    return outcome;
}

static void expect_text(const char *got, const char *wanted, const char *what)
{
    cr_assert_eq(got == NULL, wanted == NULL, "%s", what);
    if (got != NULL)
        cr_assert_str_eq(got, wanted, "%s", what);
}

#define EXPECT_MEMBER(name)                                                                        \
    cr_assert_eq(got->name, wanted->name, "%s: %lld, not %lld", #name, (long long)got->name,       \
                 (long long)wanted->name)

static void expect_same(const struct outcome *got, const struct outcome *wanted)
{
    EXPECT_MEMBER(task);
    EXPECT_MEMBER(run);
    EXPECT_MEMBER(attempt);
    cr_assert_arr_eq(got->nonce.bytes, wanted->nonce.bytes, sizeof got->nonce.bytes);
    EXPECT_MEMBER(kind);
    EXPECT_MEMBER(end.reason);
    EXPECT_MEMBER(end.exit_code);
    EXPECT_MEMBER(end.result);
    expect_text(got->detail, wanted->detail, "detail");
    expect_text(got->label, wanted->label, "label");
    EXPECT_MEMBER(started_at_us);
    EXPECT_MEMBER(ended_at_us);
    EXPECT_MEMBER(log_bytes);
    EXPECT_MEMBER(cpu_ms);
    EXPECT_MEMBER(rss_kb);
    EXPECT_MEMBER(is_choice);
    EXPECT_MEMBER(instances);
    EXPECT_MEMBER(values_count);
    for (size_t i = 0; i < wanted->values_count; i++) {
        expect_text(got->values[i].key, wanted->values[i].key, "key");
        expect_text(got->values[i].json, wanted->values[i].json, "json");
        EXPECT_MEMBER(values[i].bytes);
    }
    EXPECT_MEMBER(chosen_count);
    for (size_t i = 0; i < wanted->chosen_count; i++)
        EXPECT_MEMBER(chosen[i]);
    EXPECT_MEMBER(datasets_count);
    for (size_t i = 0; i < wanted->datasets_count; i++)
        expect_text(got->datasets[i], wanted->datasets[i], "dataset");
}

/* --- what it promises ------------------------------------------------------------------------ */

Test(journal, every_member_comes_back_in_the_order_it_was_added)
{
    enum { COUNT = 300 };
    struct err err = {0};
    static struct outcome sent[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        sent[i] = random_outcome((int64_t)(COUNT - i));
    struct journal *journal = open_whole();
    EXPECT_OK(journal_add(journal, sent, 100, &err), &err);
    EXPECT_OK(journal_add(journal, sent + 100, COUNT - 100, &err), &err);
    journal_close(journal);

    CLEANUP(journal_closep) struct journal *again = open_whole();
    struct journal_batch batch = load(again, COUNT);

    cr_assert_eq(batch.count, COUNT);
    cr_assert_eq(batch.set_aside, 0);
    for (size_t i = 0; i < COUNT; i++)
        expect_same(&batch.outcomes[i], &sent[i]);
}

Test(journal, what_was_delivered_goes_and_the_rest_stays)
{
    struct err err = {0};
    struct journal_size size;
    struct outcome sent[4];
    for (size_t i = 0; i < ARRAY_LEN(sent); i++)
        sent[i] = random_outcome((int64_t)i + 1);
    CLEANUP(journal_closep) struct journal *journal = open_whole();
    EXPECT_OK(journal_add(journal, sent, 4, &err), &err);

    struct journal_batch first = load(journal, 2);
    EXPECT_OK(journal_remove(journal, first.outcomes, first.count, &err), &err);
    EXPECT_OK(journal_remove(journal, first.outcomes, first.count, &err), &err);

    struct journal_batch rest = load(journal, 100);
    cr_assert_eq(rest.count, 2);
    expect_same(&rest.outcomes[0], &sent[2]);
    EXPECT_OK(journal_count(journal, &size, &err), &err);
    cr_assert_eq(size.waiting, 2);
    cr_assert_eq(size.set_aside, 0);
}

Test(journal, the_same_outcome_twice_is_one_but_another_claim_of_the_task_is_not)
{
    struct err err = {0};
    struct outcome sent[3];
    for (size_t i = 0; i < ARRAY_LEN(sent); i++)
        sent[i] = random_outcome(7);
    sent[0].attempt = sent[1].attempt = sent[2].attempt = 1;
    sent[1].nonce = sent[0].nonce;
    CLEANUP(journal_closep) struct journal *journal = open_whole();

    EXPECT_OK(journal_add(journal, sent, 3, &err), &err);
    EXPECT_OK(journal_add(journal, sent, 1, &err), &err);

    struct journal_batch batch = load(journal, 10);
    cr_assert_eq(batch.count, 2);
    expect_same(&batch.outcomes[0], &sent[0]);
    expect_same(&batch.outcomes[1], &sent[2]);
}

/* --- what can go wrong ----------------------------------------------------------------------- */

Test(journal, rows_that_cannot_be_read_are_told_once_and_do_not_stop_the_others)
{
    struct err err = {0};
    struct journal_size size;
    struct outcome sent[6];
    for (size_t i = 0; i < ARRAY_LEN(sent); i++)
        sent[i] = random_outcome((int64_t)i + 1);
    struct journal *journal = open_whole();
    EXPECT_OK(journal_add(journal, sent, ARRAY_LEN(sent), &err), &err);
    journal_close(journal);
    tamper("UPDATE outcome SET format = 99 WHERE task = 1;"
           "UPDATE outcome SET json = 'oops' WHERE task = 2;"
           "UPDATE outcome SET json = '{\"run\":1}' WHERE task = 3;"
           "UPDATE outcome SET nonce = x'00' WHERE task = 4;"
           "UPDATE outcome SET json = replace(json, '\"kind\":', '\"kind\":7') WHERE task = 5");

    CLEANUP(journal_closep) struct journal *again = open_whole();
    struct journal_batch batch = load(again, 10);

    cr_assert_eq(batch.count, 1);
    expect_same(&batch.outcomes[0], &sent[5]);
    cr_assert_eq(batch.set_aside, 5);
    EXPECT_CONTAINS(batch.why, "task 1");
    EXPECT_CONTAINS(batch.why, "newer program");
    batch = load(again, 10);
    cr_assert_eq(batch.count, 1);
    cr_assert_eq(batch.set_aside, 0, "told once");
    EXPECT_OK(journal_count(again, &size, &err), &err);
    cr_assert_eq(size.waiting, 1);
    cr_assert_eq(size.set_aside, 5, "still in the file");
}

Test(journal, a_program_that_knows_more_reads_what_was_set_aside)
{
    struct err err = {0};
    struct outcome sent = random_outcome(1);
    struct journal *journal = open_whole();
    EXPECT_OK(journal_add(journal, &sent, 1, &err), &err);
    journal_close(journal);
    tamper("UPDATE outcome SET unread_by = 0");

    CLEANUP(journal_closep) struct journal *again = open_whole();
    cr_assert_eq(load(again, 10).count, 1);
}

Test(journal, a_newer_programs_file_is_left_alone)
{
    struct err err = {0};
    struct journal *journal = open_whole();
    char *kept_as = NULL;
    journal_close(journal);
    tamper("UPDATE journal SET schema = 2");

    EXPECT_STATUS(STATUS_CONFLICT, journal_open(path, &journal, &kept_as, &err), &err);
    EXPECT_CONTAINS(err.text, "newer eider");
    EXPECT_CONTAINS(err.text, path);
}

static void overwrite(off_t at, size_t count)
{
    char noise[4096];
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    rng_bytes(noise, sizeof noise);
    cr_assert_eq(pwrite(fd, noise, MIN(count, sizeof noise), at), (ssize_t)count);
    (void)close(fd);
}

Test(journal, a_damaged_file_is_kept_and_a_new_one_begun)
{
    static const off_t PLACES[] = {0, 4096, 3 * 4096};
    for (size_t i = 0; i < ARRAY_LEN(PLACES); i++) {
        struct err err = {0};
        struct outcome sent[40];
        for (size_t k = 0; k < ARRAY_LEN(sent); k++)
            sent[k] = random_outcome((int64_t)k);
        struct journal *journal = open_whole();
        EXPECT_OK(journal_add(journal, sent, ARRAY_LEN(sent), &err), &err);
        journal_close(journal);
        overwrite(PLACES[i], 3000);

        CLEANUP(journal_closep) struct journal *fresh = NULL;
        CLEANUP(mem_freep) char *kept_as = NULL;
        EXPECT_OK(journal_open(path, &fresh, &kept_as, &err), &err);

        cr_assert_not_null(kept_as, "damage at %lld went unnoticed", (long long)PLACES[i]);
        cr_assert_eq(access(kept_as, F_OK), 0);
        cr_assert_eq(load(fresh, 10).count, 0);
        EXPECT_OK(journal_add(fresh, sent, 1, &err), &err);
        cr_assert_eq(load(fresh, 10).count, 1);
        EXPECT_OK(journal_remove(fresh, sent, 1, &err), &err);
    }
}

/* Adds outcomes of tasks 1, 2, ... in twos and tells each time how many are safe. */
NORETURN static void add_until_killed(int told)
{
    struct err err = {0};
    struct journal *journal = NULL;
    char *kept_as = NULL;
    if (journal_open(path, &journal, &kept_as, &err) != STATUS_OK)
        _exit(1);
    for (int64_t count = 2;; count += 2) {
        struct outcome pair[2] = {random_outcome(count - 1), random_outcome(count)};
        if (journal_add(journal, pair, 2, &err) != STATUS_OK ||
            write(told, &count, sizeof count) != sizeof count)
            _exit(1);
    }
}

static int64_t kill_after(int64_t acknowledged)
{
    int told[2];
    int64_t safe = 0;
    cr_assert_eq(pipe(told), 0);
    pid_t child = fork();
    if (child == 0)
        add_until_killed(told[1]);
    (void)close(told[1]);
    while (safe < acknowledged)
        cr_assert_eq(read(told[0], &safe, sizeof safe), sizeof safe);
    cr_assert_eq(kill(child, SIGKILL), 0);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    for (int64_t more = 0; read(told[0], &more, sizeof more) == sizeof more;)
        safe = more;
    (void)close(told[0]);
    return safe;
}

Test(journal, what_was_acknowledged_survives_a_kill_and_pairs_stay_together, .timeout = 60)
{
    for (int round = 0; round < 15; round++) {
        struct err err = {0};
        int64_t safe = kill_after((int64_t)rng_below(40));

        struct journal *journal = open_whole();
        struct journal_batch batch = load(journal, 100000);

        cr_assert_geq((int64_t)batch.count, safe);
        cr_assert_eq(batch.count % 2, 0, "half of a commit");
        for (size_t i = 0; i < batch.count; i++)
            cr_assert_eq(batch.outcomes[i].task, (int64_t)i + 1);
        EXPECT_OK(journal_remove(journal, batch.outcomes, batch.count, &err), &err);
        journal_close(journal);
    }
}

Test(journal, a_full_disk_says_so_and_keeps_what_is_there)
{
    struct err err = {0};
    if (mount("tmpfs", dir, "tmpfs", 0, "size=400k") != 0)
        cr_skip("only root can make a small disk");
    struct journal *journal = open_whole();
    enum status status = STATUS_OK;
    int64_t kept = 0;
    for (int64_t task = 1; task < 10000 && status == STATUS_OK; task++) {
        struct outcome outcome = random_outcome(task);
        status = journal_add(journal, &outcome, 1, &err);
        kept += status == STATUS_OK;
    }

    cr_assert_eq(status, STATUS_FULL, "%s", err.text);
    cr_assert_gt(kept, 0);
    struct journal_batch batch = load(journal, 10000);
    cr_assert_eq((int64_t)batch.count, kept);
    cr_assert_eq(mount("tmpfs", dir, "tmpfs", MS_REMOUNT, "size=4m"), 0, "space again");
    EXPECT_OK(journal_remove(journal, batch.outcomes, batch.count, &err), &err);
    EXPECT_OK(journal_add(journal, &batch.outcomes[0], 1, &err), &err);
    journal_close(journal);
    cr_assert_eq(umount(dir), 0);
}
