/*
 * A folder of logs that several stores used: each takes its own, and only that.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "blob/blob.h"
#include "os/file.h"
#include "os/file_tree.h"
#include "store/job.h"
#include "store_bench.h"
#include "worker/old_logs.h"

static const char ONE_TASK[] = "{\"tasks\": {\"a\": {\"run\": \"x\"}}}";

static struct bench_store ours, theirs;
static char from[64], near[64], far[64]; /* `far` is on another disk, where there is one */

static void make(char *dir, size_t size, const char *parent)
{
    (void)snprintf(dir, size, "%s/eider-old-XXXXXX", parent);
    cr_assert_not_null(mkdtemp(dir));
}

static void drop(const char *dir)
{
    struct err err = {0};
    CLEANUP(file_closep) int parent = -1;
    CLEANUP(mem_freep) char *above = mem_strndup(dir, (size_t)(strrchr(dir, '/') - dir));
    EXPECT_OK(file_open_directory(above, &parent, &err), &err);
    EXPECT_OK(file_tree_remove(parent, strrchr(dir, '/') + 1, &err), &err);
}

static void setup(void)
{
    ours = theirs = (struct bench_store){0};
    bench_open(&ours);
    bench_open(&theirs);
    bench_start(&ours, ONE_TASK);
    make(from, sizeof from, "/tmp");
    make(near, sizeof near, "/tmp");
    make(far, sizeof far, "/dev/shm");
}

static void teardown(void)
{
    drop(from);
    drop(near);
    drop(far);
    bench_close(&ours);
    bench_close(&theirs);
}

TestSuite(old_logs, .init = setup, .fini = teardown, .timeout = 60);

static int64_t task_of(struct bench_store *bench)
{
    struct advance_result result = bench_advance(bench, NULL, 0, 1);
    cr_assert_eq(result.claims_count, 1);
    return result.claims[0].task;
}

static char *name(const char *dir, int64_t run, int64_t task, const char *rest)
{
    return mem_format("%s/%lld/%lld/%s", dir, (long long)run, (long long)task, rest);
}

static void put(const char *dir, int64_t run, int64_t task, const char *rest, const char *text)
{
    struct err err = {0};
    CLEANUP(mem_freep) char *path = name(dir, run, task, rest);
    CLEANUP(mem_freep) char *folder = mem_strndup(path, (size_t)(strrchr(path, '/') - path));
    EXPECT_OK(file_tree_make(folder, 0700, &err), &err);
    EXPECT_OK(file_write_atomic(path, text, strlen(text), 0600, &err), &err);
}

/* `text` NULL: it is not there. */
static void expect(const char *dir, int64_t run, int64_t task, const char *rest, const char *text)
{
    struct err err = {0};
    CLEANUP(mem_freep) char *path = name(dir, run, task, rest);
    CLEANUP(mem_freep) char *bytes = NULL;
    size_t length = 0;
    if (text == NULL) {
        cr_expect_neq(access(path, F_OK), 0, "%s is there", path);
        return;
    }
    EXPECT_OK(file_read(path, 1 << 20, &bytes, &length, &err), &err);
    EXPECT_STR(text, bytes);
}

static int64_t left; /* by the last take */

static int64_t take(const char *to, struct store *resident, bool has_values)
{
    struct err err = {0};
    struct old_logs_result result = {-1, -1};
    struct old_logs request = {.store = ours.store,
                               .resident = resident,
                               .from = from,
                               .to = to,
                               .has_values = has_values};
    EXPECT_OK(old_logs_take(&request, &result, &err), &err);
    left = result.left;
    return result.count;
}

/* The number of a task that is over. */
static int64_t ended_task_of(struct bench_store *bench)
{
    struct advance_result result = bench_advance(bench, NULL, 0, 1);
    cr_assert_eq(result.claims_count, 1);
    struct outcome outcome = bench_outcome(&result.claims[0], 0);
    (void)bench_advance(bench, &outcome, 1, 0);
    return result.claims[0].task;
}

Test(old_logs, what_the_store_knows_is_moved)
{
    int64_t run = ours.run.id;
    int64_t task = ended_task_of(&ours);
    const char *const places[] = {near, far};
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        put(from, run, task, "1.log", "log\n");
        put(from, run, task, "1.idx", "index");
        put(from, run, task, "1/5.val", "value");
        put(from, run + 1, task, "1.log", "of another run\n");
        put(from, run, task + 1, "1.log", "of another task\n");

        cr_expect_eq(take(places[i], NULL, true), 3);

        expect(places[i], run, task, "1.log", "log\n");
        expect(places[i], run, task, "1.idx", "index");
        expect(places[i], run, task, "1/5.val", "value");
        expect(from, run, task, "", NULL);
        expect(from, run + 1, task, "1.log", "of another run\n");
        expect(from, run, task + 1, "1.log", "of another task\n");
    }
}

/* Whoever writes holds the file: it may change its name, but not its disk. */
Test(old_logs, what_somebody_writes_to_is_not_copied)
{
    struct err err = {0};
    struct stat one, other;
    cr_assert_eq(stat(from, &one), 0);
    cr_assert_eq(stat(far, &other), 0);
    if (one.st_dev == other.st_dev)
        cr_skip_test("there is only one disk");
    int64_t run = ours.run.id;
    struct advance_result held = bench_advance(&ours, NULL, 0, 1);
    int64_t task = held.claims[0].task;
    put(from, run, task, "1.log", "first\n");
    CLEANUP(mem_freep) char *path = name(from, run, task, "1.log");
    CLEANUP(file_closep) int writer = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

    cr_expect_eq(take(far, NULL, true), 0);
    cr_expect_eq(left, 1);
    EXPECT_OK(file_write_fd(writer, "log", "second\n", 7, &err), &err);
    expect(far, run, task, "1.log", NULL);

    struct outcome outcome = bench_outcome(&held.claims[0], 0);
    (void)bench_advance(&ours, &outcome, 1, 0);
    cr_expect_eq(take(far, NULL, true), 1);
    cr_expect_eq(left, 0);
    expect(far, run, task, "1.log", "first\nsecond\n");
}

Test(old_logs, what_the_resident_knows_stays)
{
    struct err err = {0};
    bench_start(&theirs, ONE_TASK);
    int64_t run = ours.run.id;
    int64_t task = task_of(&ours);
    struct advance_result result = bench_advance(&theirs, NULL, 0, 1);
    cr_assert_eq(theirs.run.id, run);
    cr_assert_eq(result.claims[0].task, task);
    struct outcome outcome = bench_outcome(&result.claims[0], 0);
    (void)bench_advance(&theirs, &outcome, 1, 0);
    put(from, run, task, "1.log", "whose?\n");

    cr_expect_eq(take(near, theirs.store, true), 0);
    expect(from, run, task, "1.log", "whose?\n");
    /* Nor what it has forgotten. */
    EXPECT_OK(store_run_delete(theirs.store, run, "test", &err), &err);
    cr_expect_eq(take(near, theirs.store, true), 0);
    cr_expect_eq(take(near, NULL, true), 1);
}

/* Jobs have no run, and numbers that seldom meet: the store stands for both. */
Test(old_logs, a_job_of_the_resident_stays)
{
    struct err err = {0};
    struct job_created job;
    struct job_request request = {.queue = "default", .handler = "noop", .payload = "1"};
    EXPECT_OK(store_jobs_enqueue(ours.store, &request, 1, &job, NULL, &err), &err);
    put(from, 0, job.id, "1.log", "job\n");

    cr_expect_eq(take(near, ours.store, false), 0);
    cr_expect_eq(take(near, theirs.store, false), 1);
    expect(near, 0, job.id, "1.log", "job\n");
}

Test(old_logs, values_stay_when_the_store_has_none_in_files)
{
    int64_t run = ours.run.id;
    int64_t task = task_of(&ours);
    put(from, run, task, "1.log", "log\n");
    put(from, run, task, "1/5.val", "value");

    cr_expect_eq(take(near, theirs.store, false), 1);

    expect(near, run, task, "1.log", "log\n");
    expect(from, run, task, "1/5.val", "value");
}

Test(old_logs, what_is_there_already_is_not_replaced)
{
    int64_t run = ours.run.id;
    int64_t task = task_of(&ours);
    put(from, run, task, "1.log", "old\n");
    put(near, run, task, "1.log", "new\n");

    cr_expect_eq(take(near, NULL, true), 0);

    expect(near, run, task, "1.log", "new\n");
    expect(from, run, task, "1.log", "old\n");
}
