/*
 * Pools against a simple oracle: random ends, retries, losses, cancels, new runs and resizing, and
 * after each step exactly those tasks run that the rule says. EIDER_POOL_SEED=n plays one game
 * alone, EIDER_POOL_SEEDS=n plays more.
 *
 * The rule: all that want to run, urgent ones first, then older runs, then lower tasks. Who fits
 * takes its slots. Behind one that does not fit nobody gets any, unless that one needs more than
 * there is at all.
 */
#include "model/limits.h"
#include "store/pool.h"
#include "store/task_cancel.h"
#include "store_bench.h"

enum { STEPS = 60, RUNS_MAX = 64, TASKS = 5, ROWS_MAX = RUNS_MAX * TASKS };

static struct bench_store bench;
static uint64_t chance;

static int64_t draw(int64_t bound)
{
    chance = chance * 6364136223846793005U + 1442695040888963407U;
    return (int64_t)((chance >> 33) % (uint64_t)bound);
}

/* --- the oracle ------------------------------------------------------------------------------ */

enum wish { WISH_RUN, WISH_HELD, WISH_LATER, WISH_OVER };

struct subject {
    int64_t task;
    int64_t run;
    int64_t age_us;
    int64_t node;
    enum wish wish;
    struct claim claim; /* WISH_HELD: runs, and holds its slots */
    int64_t failures;
    int64_t losses;
};

static const struct {
    int64_t slots;
    int64_t priority;
} SHAPE[TASKS] = {{1, 0}, {2, 0}, {3, 2}, {1, 2}, {6, 1}};

#define SHAPE_JSON                                                                                 \
    "{\"tasks\": {"                                                                                \
    "\"a\": {\"run\": \"x\", \"pool\": \"p\", \"retries\": 1, \"retry_delay\": 1},"                \
    "\"b\": {\"run\": \"x\", \"pool\": \"p\", \"slots\": 2, \"retries\": 1, \"retry_delay\": 1},"  \
    "\"c\": {\"run\": \"x\", \"pool\": \"p\", \"slots\": 3, \"priority\": 2, \"retries\": 1,"      \
    " \"retry_delay\": 1},"                                                                        \
    "\"d\": {\"run\": \"x\", \"pool\": \"p\", \"priority\": 2, \"retries\": 1, \"retry_delay\": "  \
    "1},"                                                                                          \
    "\"e\": {\"run\": \"x\", \"pool\": \"p\", \"slots\": 6, \"priority\": 1, \"retries\": 1,"      \
    " \"retry_delay\": 1}}}"

static struct subject subjects[ROWS_MAX];
static size_t subjects_count;
static int64_t capacity;

static int by_order(const void *a, const void *b)
{
    const struct subject *x = a;
    const struct subject *y = b;
    if (SHAPE[x->node].priority != SHAPE[y->node].priority)
        return SHAPE[x->node].priority > SHAPE[y->node].priority ? -1 : 1;
    if (x->age_us != y->age_us)
        return x->age_us < y->age_us ? -1 : 1;
    return x->task < y->task ? -1 : 1;
}

/* Marks who runs from now on with WISH_HELD; their claims are not known yet. */
static size_t decide(bool is_new[ROWS_MAX])
{
    int64_t used = 0;
    bool blocked = false;
    size_t count = 0;
    qsort(subjects, subjects_count, sizeof *subjects, by_order);
    for (size_t i = 0; i < subjects_count; i++)
        if (subjects[i].wish == WISH_HELD)
            used += SHAPE[subjects[i].node].slots;
    for (size_t i = 0; i < subjects_count; i++) {
        int64_t need = SHAPE[subjects[i].node].slots;
        is_new[i] = false;
        if (subjects[i].wish != WISH_RUN || need > capacity)
            continue;
        blocked |= used + need > capacity;
        if (blocked)
            continue;
        used += need;
        subjects[i].wish = WISH_HELD;
        is_new[i] = true;
        count++;
    }
    return count;
}

/* --- the game -------------------------------------------------------------------------------- */

static void resize(int64_t slots)
{
    struct err err = {0};
    struct pool_change change = {
        .namespace_ = "default", .name = "p", .slots = &slots, .actor = "test"};
    EXPECT_OK(store_pool_set(bench.store, &change, &err), &err);
    capacity = slots;
}

static void start_run(void)
{
    if (subjects_count + TASKS > ROWS_MAX)
        return;
    bench_start(&bench, SHAPE_JSON);
    bench_sql(&bench, "UPDATE run SET scope = 0");
    bench_sql(&bench, "UPDATE ready SET scope = 0");
    bench.run.scope = 0;
    int64_t age_us =
        bench_number(&bench, "SELECT created_at_us FROM run WHERE id = $1", bench.run.id);
    int64_t first = bench_number(&bench, "SELECT first_task FROM run WHERE id = $1", bench.run.id);
    for (int64_t node = 0; node < TASKS; node++)
        subjects[subjects_count++] = (struct subject){.task = first + node,
                                                      .run = bench.run.id,
                                                      .age_us = age_us,
                                                      .node = node,
                                                      .wish = WISH_RUN};
    bench_now_us += 1000;
}

static void cancel_one(void)
{
    struct err err = {0};
    struct subject *one = &subjects[draw((int64_t)subjects_count)];
    if (one->wish != WISH_RUN)
        return;
    struct task_cancel_request request = {
        .run = one->run, .node = one->node, .map_index = -1, .actor = "test"};
    EXPECT_OK(store_task_cancel(bench.store, &request, &err), &err);
    one->wish = WISH_OVER;
}

/* Some of what runs stops, in one of the ways there are. */
static size_t stop_some(struct outcome *outcomes)
{
    size_t count = 0;
    for (size_t i = 0; i < subjects_count; i++) {
        struct subject *one = &subjects[i];
        if (one->wish != WISH_HELD || draw(3) == 0)
            continue;
        int64_t way = draw(8);
        outcomes[count] = bench_outcome(&one->claim, way == 0);
        outcomes[count].kind = way == 1 ? OUTCOME_RETURN : way == 2 ? OUTCOME_LOST : OUTCOME_END;
        one->wish = way == 2 && ++one->losses < LIMIT_OWNER_LOSSES ? WISH_RUN : WISH_OVER;
        /* What a host hands back is not for itself to take at once. */
        if (way == 1 || (way == 0 && one->failures++ == 0))
            one->wish = WISH_LATER;
        count++;
    }
    return count;
}

static void expect_claims(const struct advance_result *result, uint64_t seed, int step)
{
    static bool is_new[ROWS_MAX];
    size_t expected = decide(is_new);
    cr_assert_eq(result->claims_count, expected, "EIDER_POOL_SEED=%llu step %d: %zu, not %zu",
                 (unsigned long long)seed, step, result->claims_count, expected);
    for (size_t k = 0; k < result->claims_count; k++) {
        size_t i = 0;
        while (i < subjects_count && subjects[i].task != result->claims[k].task)
            i++;
        cr_assert(i < subjects_count && is_new[i],
                  "EIDER_POOL_SEED=%llu step %d: task %lld should wait", (unsigned long long)seed,
                  step, (long long)result->claims[k].task);
        subjects[i].claim = result->claims[k];
    }
}

static void play(uint64_t seed)
{
    bench = (struct bench_store){0};
    bench_open(&bench);
    chance = seed * 7919 + 1;
    subjects_count = 0;
    resize(4);
    start_run();
    for (int step = 0; step < STEPS; step++) {
        struct outcome outcomes[ROWS_MAX];
        if (draw(4) == 0)
            start_run();
        if (draw(6) == 0)
            resize(draw(8));
        if (draw(6) == 0)
            cancel_one();
        size_t count = stop_some(outcomes);
        bench_now_us += 60000000; /* every retry is due at the next step */
        struct advance_result result = bench_advance(&bench, outcomes, count, 1000);
        expect_claims(&result, seed, step);
        bench_check(&bench);
        for (size_t i = 0; i < subjects_count; i++)
            if (subjects[i].wish == WISH_LATER)
                subjects[i].wish = WISH_RUN;
    }
    bench_close(&bench);
}

Test(pool_oracle, exactly_those_run_that_the_rule_says, .timeout = 300)
{
    const char *one = getenv("EIDER_POOL_SEED");
    const char *more = getenv("EIDER_POOL_SEEDS");
    uint64_t seeds = more != NULL ? strtoull(more, NULL, 10) : 8;
    if (one != NULL)
        play(strtoull(one, NULL, 10));
    for (uint64_t seed = 1; one == NULL && seed <= seeds; seed++)
        play(seed);
}
