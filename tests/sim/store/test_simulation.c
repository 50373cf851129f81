/*
 * Random small DAGs, random outcomes, random order of everything that may happen to a run.
 *
 * After every step the rules between the tables and the invariants below must hold, every run
 * must end, and where nobody interfered the states must be those that a plain reading of the
 * rules gives. A failure names its seed: EIDER_SIM_SEED=n runs that one alone, and
 * EIDER_SIM_SEEDS=n runs more of them.
 */
#include <stdarg.h>

#include "base/strbuf.h"
#include "store/task_cancel.h"
#include "store_bench.h"

enum {
    SEEDS = 200,
    HELD_MAX = 256,
    NODES_MAX = 24,
    ITEMS_MAX = 4,
    STEPS_MAX = 5000,
    ACTIONS_MAX = 6,
    LOSSES_MAX = 2, /* of one run, so that no task is put aside */
};

struct sim {
    struct bench_store bench;
    uint64_t seed;
    uint64_t chance;
    bool with_actions;
    struct claim held[HELD_MAX];
    size_t held_count;
    struct claim stale;
    bool has_stale;
    int losses;
    int actions;
    bool marked;
    int failures[NODES_MAX][ITEMS_MAX + 1];
    int64_t next_due_us;
    bool over;
    enum run_state state;
    char trace[8192];
    size_t traced;
};

static struct sim sim;

/* --- chance ---------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

static unsigned draw(unsigned bound)
{
    sim.chance = mix(sim.chance);
    return (unsigned)(sim.chance >> 16) % bound;
}

static bool one_in(unsigned bound)
{
    return draw(bound) == 0;
}

/* What chance has in store for a task does not depend on when it is asked. */
static unsigned fate(int64_t node, int64_t map_index, unsigned question, unsigned bound)
{
    uint64_t key = sim.seed * 1000003 + (uint64_t)node * 4099 + (uint64_t)(map_index + 1) * 31;
    return (unsigned)(mix(key + question * 7919) >> 16) % bound;
}

static void trace(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void trace(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(sim.trace + sim.traced, sizeof sim.trace - sim.traced, fmt, args);
    va_end(args);
    if (length > 0 && (size_t)length < sizeof sim.trace - sim.traced)
        sim.traced += (size_t)length;
}

#define SIM_ASSERT(condition, ...)                                                                 \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            char said_[1024];                                                                      \
            (void)snprintf(said_, sizeof said_, __VA_ARGS__);                                      \
            cr_assert(false, "EIDER_SIM_SEED=%llu: %s\n%s", (unsigned long long)sim.seed, said_,   \
                      sim.trace);                                                                  \
        }                                                                                          \
    } while (0)

/* --- DAGs ------------------------------------------------------------------------------------ */

static void add_needs(struct strbuf *json, char prefix, int count, bool *after_choice)
{
    bool first = true;
    for (int i = MAX(0, count - 5); i < count; i++) {
        if (!one_in(3))
            continue;
        strbuf_addf(json, "%s\"%c%d\"", first ? ", \"needs\": [" : ", ", prefix, i);
        *after_choice |= prefix == 't' && i % 4 == 3;
        first = false;
    }
    if (!first)
        strbuf_add(json, "]");
}

static void add_rule(struct strbuf *json, bool after_choice)
{
    /* Rules that wait for all parents: a choice reaches its dependants before they decide. */
    static const enum trigger_rule PATIENT[] = {RULE_ALL_DONE, RULE_NONE_FAILED_MIN_ONE_SUCCESS,
                                                RULE_ALL_DONE_MIN_ONE_SUCCESS};
    enum trigger_rule rule = after_choice ? PATIENT[draw(3)]
                             : one_in(2)  ? RULE_ALL_SUCCESS
                                          : (enum trigger_rule)draw(RULE_ALL_DONE_SETUP_SUCCESS);
    strbuf_addf(json, ", \"trigger_rule\": \"%s\"", trigger_rule_name(rule));
}

static void add_extras(struct strbuf *json, bool may_map)
{
    if (one_in(3))
        strbuf_addf(json, ", \"retries\": %u, \"retry_delay\": %u", 1 + draw(2), 1 + draw(3));
    if (one_in(6))
        strbuf_add(json, ", \"allow_failure\": true");
    if (one_in(4))
        strbuf_addf(json, ", \"priority\": %u", draw(3));
    if (!may_map || !one_in(3))
        return;
    strbuf_add(json, ", \"foreach\": [1]");
    if (one_in(2))
        strbuf_addf(json, ", \"max_parallel\": %u", 1 + draw(2));
    if (sim.with_actions && one_in(3))
        strbuf_add(json, ", \"fail_fast\": true");
}

/* Every fourth task is a choice, whose branches are all that may follow it. */
static void add_task(struct strbuf *json, char prefix, int i)
{
    bool after_choice = false;
    bool is_choice = prefix == 't' && i % 4 == 3;
    strbuf_addf(json, "%s\"%c%d\": {%s", i > 0 ? ", " : "", prefix, i,
                is_choice   ? "\"short_circuit\": \"{{ true }}\""
                : one_in(4) ? "\"noop\": null"
                            : "\"run\": \"x\"");
    add_needs(json, prefix, i, &after_choice);
    add_rule(json, after_choice);
    add_extras(json, !is_choice);
    strbuf_add(json, "}");
}

static void make_dag(struct strbuf *json)
{
    strbuf_add(json, "{");
    if (one_in(4))
        strbuf_addf(json, "\"max_active_tasks\": %u, ", 1 + draw(3));
    strbuf_add(json, "\"tasks\": {");
    int count = 1 + (int)draw(8);
    for (int i = 0; i < count; i++)
        add_task(json, 't', i);
    if (one_in(3))
        strbuf_addf(json,
                    ", \"up\": {\"run\": \"x\", \"setup\": true, \"needs\": [\"t0\"]}, \"work\": "
                    "{\"run\": \"x\", \"needs\": [\"up\"]}, \"down\": {\"run\": \"x\", \"needs\": "
                    "[\"work\"], \"teardown\": [\"up\"]}");
    strbuf_add(json, "}");
    int last = (int)draw(3);
    if (last > 0)
        strbuf_add(json, ", \"finally\": {");
    for (int i = 0; i < last; i++)
        add_task(json, 'f', i);
    strbuf_add(json, last > 0 ? "}}" : "}");
}

/* --- outcomes -------------------------------------------------------------------------------- */

static const struct task_def *def_of(int64_t node)
{
    return &sim.bench.dag->tasks[node];
}

static int64_t items_of(int64_t node)
{
    return fate(node, -1, 1, ITEMS_MAX + 1);
}

static bool expansion_fails(int64_t node)
{
    return fate(node, -1, 2, 10) == 0;
}

/* The dependant a choice goes on with, or none. */
static int64_t choice_of(int64_t node)
{
    const struct node_list *next = &def_of(node)->dependants;
    size_t pick = fate(node, -1, 3, (unsigned)next->count + 1);
    return pick < next->count ? (int64_t)next->items[pick] : -1;
}

enum ends { ENDS_WELL, ENDS_BADLY, ENDS_SKIPPED, ENDS_WELL_LATER };

static enum ends end_of(int64_t node, int64_t map_index)
{
    unsigned number = fate(node, map_index, 4, 10);
    return number < 5   ? ENDS_WELL
           : number < 7 ? ENDS_BADLY
           : number < 8 ? ENDS_SKIPPED
                        : ENDS_WELL_LATER;
}

static int bad_tries_of(int64_t node, int64_t map_index)
{
    return 1 + (int)fate(node, map_index, 5, 2);
}

static struct outcome play_expander(const struct claim *claim)
{
    struct outcome outcome = bench_outcome(claim, 0);
    outcome.instances = items_of(claim->node);
    outcome.kind = outcome.instances > 0 ? OUTCOME_EXPAND : OUTCOME_END;
    outcome.end = (struct attempt_end){.reason = REASON_EMPTY, .result = TASK_SKIPPED};
    if (expansion_fails(claim->node)) {
        outcome.kind = OUTCOME_END;
        outcome.end = (struct attempt_end){.reason = REASON_TEMPLATE_ERROR, .result = TASK_FAILED};
    }
    return outcome;
}

static struct outcome play(const struct claim *claim)
{
    const struct task_def *def = def_of(claim->node);
    if (claim->map_index < 0 && task_def_is_mapped(def))
        return play_expander(claim);
    struct outcome outcome = bench_outcome(claim, 0);
    int *failures = &sim.failures[claim->node][claim->map_index + 1];
    enum ends ends = end_of(claim->node, claim->map_index);
    bool fails = ends == ENDS_BADLY || (ends == ENDS_WELL_LATER &&
                                        *failures < bad_tries_of(claim->node, claim->map_index));
    *failures += fails;
    outcome.end.exit_code = fails;
    if (ends == ENDS_SKIPPED)
        outcome.end = (struct attempt_end){.reason = REASON_RESULT, .result = TASK_SKIPPED};
    if (def->kind == KIND_SHORT_CIRCUIT) {
        int64_t chosen = choice_of(claim->node);
        uint32_t *nodes = arena_alloc(sim.bench.arena, sizeof *nodes);
        *nodes = (uint32_t)MAX(chosen, (int64_t)0);
        outcome.is_choice = true;
        outcome.chosen = nodes;
        outcome.chosen_count = chosen >= 0;
    }
    return outcome;
}

/* --- what must hold after every step --------------------------------------------------------- */

struct seen {
    struct task_row nodes[NODES_MAX];
    struct task_row instances[NODES_MAX][ITEMS_MAX];
    size_t instance_count[NODES_MAX];
    struct run_row run;
};

static enum status note_row(void *context, const struct run_row *run, const struct task_row *row,
                            struct err *err)
{
    (void)err;
    struct seen *seen = context;
    seen->run = *run;
    if (row->map_index < 0)
        seen->nodes[row->node] = *row;
    else
        seen->instances[row->node][seen->instance_count[row->node]++] = *row;
    return STATUS_OK;
}

static bool has_started(enum task_state state)
{
    return state != TASK_NONE && !task_state_is_final(state);
}

static bool needs_all_parents(enum trigger_rule rule)
{
    return rule != RULE_ONE_SUCCESS && rule != RULE_ONE_FAILED && rule != RULE_ONE_DONE &&
           rule != RULE_ALWAYS;
}

static void look(struct seen *seen)
{
    struct err err = {0};
    *seen = (struct seen){0};
    enum status status = store_task_each(sim.bench.store, sim.bench.run.id, note_row, seen, &err);
    SIM_ASSERT(status == STATUS_OK, "%s", err.text);
}

static void expect_order(const struct seen *seen)
{
    for (size_t node = 0; node < sim.bench.dag->tasks_count; node++) {
        const struct task_def *def = def_of((int64_t)node);
        /* What is to stop first still stands on what was cleared already. */
        if (!has_started(seen->nodes[node].state) || seen->nodes[node].wish != WISH_NONE)
            continue;
        SIM_ASSERT(!def->is_finally || seen->run.open_main == 0,
                   "finally task %s started before the rest was done", def->id);
        /* A mark reopens verdicts under what runs already. */
        bool is_held = sim.marked && (seen->nodes[node].state == TASK_RUNNING ||
                                      seen->nodes[node].state == TASK_DEFERRED);
        for (size_t i = 0; !is_held && needs_all_parents(def->rule) && i < def->needs.count; i++)
            SIM_ASSERT(task_state_is_final(seen->nodes[def->needs.items[i]].state),
                       "%s is %s while its parent %s is %s", def->id,
                       task_state_name(seen->nodes[node].state), def_of(def->needs.items[i])->id,
                       task_state_name(seen->nodes[def->needs.items[i]].state));
    }
}

static void expect_counters(const struct seen *seen)
{
    int64_t open[2] = {0};
    int64_t failures = 0;
    for (size_t node = 0; node < sim.bench.dag->tasks_count; node++) {
        const struct task_def *def = def_of((int64_t)node);
        const struct task_row *row = &seen->nodes[node];
        int64_t bad = row->state == TASK_FAILED || row->state == TASK_UPSTREAM_FAILED;
        int64_t *counter = &open[def->is_finally];
        *counter += !task_state_is_final(row->state);
        if (row->state == TASK_DEFERRED)
            *counter += row->counts.total - row->inserted;
        for (size_t i = 0; i < seen->instance_count[node]; i++) {
            *counter += !task_state_is_final(seen->instances[node][i].state);
            bad += seen->instances[node][i].state == TASK_FAILED;
        }
        failures += def->allow_failure ? 0 : bad;
    }
    SIM_ASSERT(open[0] == seen->run.open_main, "open_main is %lld, not %lld",
               (long long)seen->run.open_main, (long long)open[0]);
    SIM_ASSERT(open[1] == seen->run.open_finally, "open_finally is %lld, not %lld",
               (long long)seen->run.open_finally, (long long)open[1]);
    SIM_ASSERT(failures == seen->run.failures, "failures is %lld, not %lld",
               (long long)seen->run.failures, (long long)failures);
}

static void expect_limits(void)
{
    int64_t most = sim.bench.dag->max_active_tasks;
    SIM_ASSERT(most == 0 || (int64_t)sim.held_count <= most, "%zu run at once", sim.held_count);
    for (size_t i = 0; i < sim.held_count; i++) {
        const struct task_def *def = def_of(sim.held[i].node);
        int64_t count = 0;
        for (size_t j = 0; j < sim.held_count; j++)
            count += sim.held[j].map_index >= 0 && sim.held[j].node == sim.held[i].node;
        SIM_ASSERT(def->max_parallel == 0 || count <= def->max_parallel,
                   "%lld instances of %s at once", (long long)count, def->id);
    }
}

static void expect_sound(void)
{
    struct err err = {0};
    struct check_report report;
    struct seen seen;
    enum status status = store_check(sim.bench.store, &report, &err);
    SIM_ASSERT(status == STATUS_OK, "%s", err.text);
    SIM_ASSERT(report.count == 0, "%s: %lld", report.findings[0].rule,
               (long long)report.findings[0].count);
    look(&seen);
    expect_order(&seen);
    expect_counters(&seen);
    expect_limits();
    sim.over = run_state_is_final(seen.run.state);
    sim.state = seen.run.state;
}

/* --- wishes ---------------------------------------------------------------------------------- */

static bool is_wished(const struct claim *claim)
{
    struct err err = {0};
    struct stop_wish *wishes = NULL;
    size_t count = 0;
    bool found = false;
    enum status status =
        store_stop_wishes(sim.bench.store, 7, sim.bench.arena, &wishes, &count, &err);
    SIM_ASSERT(status == STATUS_OK, "%s", err.text);
    for (size_t i = 0; i < count; i++)
        found |= wishes[i].task == claim->task && wishes[i].attempt == claim->attempt;
    return found;
}

/* As an owner does who heard of it; one in three did not, and the attempt ends by itself. */
static struct outcome play_or_stop(const struct claim *claim)
{
    if (!is_wished(claim) || one_in(3))
        return play(claim);
    struct outcome outcome = bench_outcome(claim, 0);
    outcome.end = (struct attempt_end){.reason = REASON_CANCELLED};
    return outcome;
}

/* --- steps ----------------------------------------------------------------------------------- */

static void advance_some(size_t outcomes_count, int64_t slots)
{
    struct outcome outcomes[HELD_MAX + 1];
    size_t count = 0;
    for (; count < outcomes_count; count++) {
        size_t pick = draw((unsigned)sim.held_count);
        outcomes[count] = play_or_stop(&sim.held[pick]);
        trace("%s[%lld] ends %d\n", def_of(sim.held[pick].node)->id,
              (long long)sim.held[pick].map_index, outcomes[count].end.exit_code);
        sim.held[pick] = sim.held[--sim.held_count];
    }
    if (sim.has_stale)
        outcomes[count++] = bench_outcome(&sim.stale, 0);
    bench_now_us += 1 + draw(1000);
    struct advance_result result = bench_advance(&sim.bench, outcomes, count, slots);
    SIM_ASSERT(!sim.has_stale || !result.accepted[count - 1], "a late outcome was accepted");
    sim.has_stale = false;
    for (size_t i = 0; i < result.claims_count; i++) {
        SIM_ASSERT(sim.held_count < HELD_MAX, "too much is claimed");
        trace("claim %s[%lld]\n", def_of(result.claims[i].node)->id,
              (long long)result.claims[i].map_index);
        sim.held[sim.held_count++] = result.claims[i];
    }
    sim.next_due_us = result.next_due_us;
}

static bool nobody_lives(void *context, int64_t host)
{
    (void)context;
    (void)host;
    return false;
}

static void lose_owner(void)
{
    struct err err = {0};
    int64_t lost = 0;
    trace("lose %zu\n", sim.held_count);
    enum status status =
        store_recover(sim.bench.store, sim.bench.run.id, nobody_lives, NULL, &lost, &err);
    SIM_ASSERT(status == STATUS_OK, "%s", err.text);
    SIM_ASSERT(lost == (int64_t)sim.held_count, "%lld of %zu were lost", (long long)lost,
               sim.held_count);
    sim.stale = sim.held[0];
    sim.has_stale = sim.held_count > 0;
    sim.held_count = 0;
    sim.losses++;
}

static void expect_allowed(enum status status, const struct err *err, const char *what)
{
    trace("%s: %s\n", what, status == STATUS_OK ? "ok" : err->text);
    SIM_ASSERT(status == STATUS_OK || status == STATUS_CONFLICT || status == STATUS_NOT_FOUND,
               "%s: %s", what, err->text);
}

static void clear_some(void)
{
    struct err err = {0};
    bool nodes[NODES_MAX] = {0};
    struct clear_result result;
    size_t node = draw((unsigned)sim.bench.dag->tasks_count);
    nodes[node] = true;
    struct clear_request request = {
        .run = sim.bench.run.id,
        .nodes = one_in(2) ? NULL : nodes,
        .map_index = one_in(3) ? (int64_t)draw(ITEMS_MAX) : -1,
        .whole = one_in(2),
        .stops_running = one_in(2),
        .actor = "test",
    };
    trace("clear %s[%lld]%s\n", request.nodes != NULL ? def_of((int64_t)node)->id : "(failed)",
          (long long)request.map_index, request.whole ? " whole" : "");
    memset(sim.failures, 0, sizeof sim.failures);
    expect_allowed(store_clear(sim.bench.store, &request, sim.bench.arena, &result, &err), &err,
                   "clear");
}

static void act(void)
{
    static const enum task_state MARKS[] = {TASK_SUCCESS, TASK_FAILED, TASK_SKIPPED};
    struct err err = {0};
    int64_t node = draw((unsigned)sim.bench.dag->tasks_count);
    int64_t map_index = one_in(3) ? (int64_t)draw(ITEMS_MAX) : -1;
    sim.actions++;
    switch (draw(5)) {
    case 0: {
        struct cancel_request cancel = {.run = sim.bench.run.id,
                                        .cause = one_in(3) ? CANCEL_TIMEOUT : CANCEL_ASKED,
                                        .finally_too = one_in(3),
                                        .actor = "test"};
        expect_allowed(store_run_cancel(sim.bench.store, &cancel, &err), &err, "cancel");
        return;
    }
    case 1: {
        struct mark_request mark = {.run = sim.bench.run.id,
                                    .node = node,
                                    .map_index = map_index,
                                    .state = MARKS[draw(3)],
                                    .actor = "test"};
        sim.marked = true;
        trace("mark %s[%lld] %s\n", def_of(node)->id, (long long)map_index,
              task_state_name(mark.state));
        expect_allowed(store_mark(sim.bench.store, &mark, &err), &err, "mark");
        return;
    }
    case 2: {
        struct task_cancel_request cancel = {
            .run = sim.bench.run.id, .node = node, .map_index = map_index, .actor = "test"};
        trace("cancel %s[%lld]\n", def_of(node)->id, (long long)map_index);
        expect_allowed(store_task_cancel(sim.bench.store, &cancel, &err), &err, "cancel task");
        return;
    }
    default:
        clear_some();
    }
}

static void step(void)
{
    bool may_lose = sim.losses < LOSSES_MAX && sim.held_count > 0;
    bool may_act = sim.with_actions && sim.actions < ACTIONS_MAX;
    if (may_lose && one_in(12)) {
        lose_owner();
    } else if (may_act && (sim.over || one_in(6))) {
        act();
    } else if (!sim.over) {
        size_t count = sim.held_count > 0 ? draw((unsigned)sim.held_count + 1) : 0;
        int64_t slots = draw(5);
        advance_some(count, slots);
        if (sim.held_count > 0 || slots == 0)
            return;
        /* Idle with free capacity: only a retry may be waited for. */
        advance_some(0, 4);
        if (sim.held_count == 0 && sim.next_due_us > bench_now_us)
            bench_now_us = sim.next_due_us;
    }
}

/* --- the oracle ------------------------------------------------------------------------------ */

struct tally {
    int all, good, bad, upstream, skipped;
};

static void tally_add(struct tally *tally, enum task_state state)
{
    tally->all++;
    tally->good += state == TASK_SUCCESS;
    tally->bad += state == TASK_FAILED;
    tally->upstream += state == TASK_UPSTREAM_FAILED;
    tally->skipped += state == TASK_SKIPPED;
}

/* The table of rules, over parents that are all final. */
static enum task_state verdict_of_rule(enum trigger_rule rule, const struct tally *t,
                                       enum task_state setup)
{
    int failed = t->bad + t->upstream;
    enum task_state no = failed > 0 ? TASK_UPSTREAM_FAILED : TASK_SKIPPED;
    if (t->all == 0)
        return TASK_QUEUED;
    switch (rule) {
    case RULE_ALL_SUCCESS:
        return t->good == t->all ? TASK_QUEUED : no;
    case RULE_ALL_FAILED:
        return failed == t->all ? TASK_QUEUED : TASK_SKIPPED;
    case RULE_ALL_SKIPPED:
        return t->skipped == t->all ? TASK_QUEUED : TASK_SKIPPED;
    case RULE_ONE_SUCCESS:
    case RULE_ALL_DONE_MIN_ONE_SUCCESS:
        return t->good > 0 ? TASK_QUEUED : no;
    case RULE_ONE_FAILED:
        return failed > 0 ? TASK_QUEUED : TASK_SKIPPED;
    case RULE_ONE_DONE:
        return t->good + t->bad > 0 ? TASK_QUEUED : TASK_SKIPPED;
    case RULE_NONE_FAILED:
        return failed == 0 ? TASK_QUEUED : TASK_UPSTREAM_FAILED;
    case RULE_NONE_FAILED_MIN_ONE_SUCCESS:
        return failed == 0 && t->good > 0 ? TASK_QUEUED : no;
    case RULE_NONE_SKIPPED:
        return t->skipped == 0 ? TASK_QUEUED : TASK_SKIPPED;
    case RULE_ALL_DONE_SETUP_SUCCESS:
        return setup == TASK_SUCCESS   ? TASK_QUEUED
               : setup == TASK_SKIPPED ? TASK_SKIPPED
                                       : TASK_UPSTREAM_FAILED;
    case RULE_ALL_DONE:
    case RULE_ALWAYS:
    case RULE_COUNT:
        break;
    }
    return TASK_QUEUED;
}

static enum task_state state_of_end(int64_t node, int64_t map_index)
{
    enum ends ends = end_of(node, map_index);
    bool in_time = bad_tries_of(node, map_index) <= def_of(node)->retry.retries;
    if (ends == ENDS_SKIPPED)
        return TASK_SKIPPED;
    return ends == ENDS_WELL || (ends == ENDS_WELL_LATER && in_time) ? TASK_SUCCESS : TASK_FAILED;
}

struct wanted {
    enum task_state nodes[NODES_MAX];
    enum task_state instances[NODES_MAX][ITEMS_MAX];
    int64_t count[NODES_MAX]; /* of instances; 0: the task itself is the parent */
    bool unchosen[NODES_MAX];
};

static void note_unchosen(struct wanted *wanted, uint32_t node)
{
    const struct dag *dag = sim.bench.dag;
    bool reached[NODES_MAX] = {0};
    int64_t chosen = choice_of(node);
    if (chosen >= 0)
        reached[chosen] = true;
    for (size_t i = 0; i < dag->tasks_count; i++)
        for (size_t j = 0; j < dag->tasks[dag->order[i]].needs.count; j++)
            reached[dag->order[i]] |= reached[dag->tasks[dag->order[i]].needs.items[j]];
    for (size_t i = 0; i < dag->tasks[node].dependants.count; i++)
        wanted->unchosen[dag->tasks[node].dependants.items[i]] |=
            !reached[dag->tasks[node].dependants.items[i]];
}

static void run_wanted(struct wanted *wanted, uint32_t node)
{
    const struct task_def *def = def_of(node);
    if (!task_def_is_mapped(def)) {
        wanted->nodes[node] = state_of_end(node, -1);
        if (def->kind == KIND_SHORT_CIRCUIT && wanted->nodes[node] == TASK_SUCCESS)
            note_unchosen(wanted, node);
        return;
    }
    struct tally tally = {0};
    if (expansion_fails(node) || items_of(node) == 0) {
        wanted->nodes[node] = expansion_fails(node) ? TASK_FAILED : TASK_SKIPPED;
        return;
    }
    wanted->count[node] = items_of(node);
    for (int64_t i = 0; i < wanted->count[node]; i++) {
        wanted->instances[node][i] = state_of_end(node, i);
        tally_add(&tally, wanted->instances[node][i]);
    }
    wanted->nodes[node] = tally.bad > 0    ? TASK_FAILED
                          : tally.good > 0 ? TASK_SUCCESS
                                           : TASK_SKIPPED;
}

static void want(struct wanted *wanted)
{
    const struct dag *dag = sim.bench.dag;
    for (size_t i = 0; i < dag->tasks_count; i++) {
        uint32_t node = dag->order[i];
        const struct task_def *def = def_of(node);
        struct tally tally = {0};
        for (size_t j = 0; j < def->needs.count; j++) {
            uint32_t parent = def->needs.items[j];
            if (wanted->count[parent] == 0)
                tally_add(&tally, wanted->nodes[parent]);
            for (int64_t k = 0; k < wanted->count[parent]; k++)
                tally_add(&tally, wanted->instances[parent][k]);
        }
        enum task_state setup =
            def->teardown_of.count > 0 ? wanted->nodes[def->teardown_of.items[0]] : TASK_SUCCESS;
        wanted->nodes[node] =
            wanted->unchosen[node] ? TASK_SKIPPED : verdict_of_rule(def->rule, &tally, setup);
        if (wanted->nodes[node] == TASK_QUEUED)
            run_wanted(wanted, node);
    }
}

static void expect_oracle(void)
{
    struct wanted wanted = {0};
    struct seen seen;
    bool failed = false;
    want(&wanted);
    look(&seen);
    for (size_t node = 0; node < sim.bench.dag->tasks_count; node++) {
        const struct task_def *def = def_of((int64_t)node);
        SIM_ASSERT(seen.nodes[node].state == wanted.nodes[node], "%s is %s, not %s", def->id,
                   task_state_name(seen.nodes[node].state), task_state_name(wanted.nodes[node]));
        failed |= !def->allow_failure &&
                  (wanted.nodes[node] == TASK_FAILED || wanted.nodes[node] == TASK_UPSTREAM_FAILED);
        SIM_ASSERT((int64_t)seen.instance_count[node] == wanted.count[node], "%s has %zu instances",
                   def->id, seen.instance_count[node]);
        for (size_t i = 0; i < seen.instance_count[node]; i++)
            SIM_ASSERT(seen.instances[node][i].state == wanted.instances[node][i],
                       "%s[%zu] is %s, not %s", def->id, i,
                       task_state_name(seen.instances[node][i].state),
                       task_state_name(wanted.instances[node][i]));
    }
    SIM_ASSERT(sim.state == (failed ? RUN_FAILED : RUN_SUCCESS), "the run is %s",
               run_state_name(sim.state));
}

/* --- one seed -------------------------------------------------------------------------------- */

static void simulate(uint64_t seed)
{
    memset(&sim, 0, sizeof sim);
    sim.seed = seed;
    sim.chance = mix(seed);
    sim.with_actions = seed % 2 == 1;
    bench_open(&sim.bench);
    CLEANUP(strbuf_fini) struct strbuf json;
    strbuf_init(&json, 1 << 16);
    make_dag(&json);
    trace("%s\n", json.text);
    bench_start(&sim.bench, json.text);
    cr_assert_leq(sim.bench.dag->tasks_count, NODES_MAX);
    int idle = 0;
    for (int i = 0; i < STEPS_MAX; i++) {
        bool wants_more = sim.with_actions && sim.actions < ACTIONS_MAX;
        if (sim.over && !wants_more)
            break;
        step();
        expect_sound();
        bool moves = sim.over || sim.held_count > 0 || sim.next_due_us != 0;
        idle = moves ? 0 : idle + 1;
        SIM_ASSERT(idle < 100, "the run is stuck");
    }
    SIM_ASSERT(sim.over, "the run never ends");
    if (!sim.with_actions)
        expect_oracle();
    bench_close(&sim.bench);
}

Test(simulation, whatever_happens_a_run_ends_as_it_should)
{
    const char *one = getenv("EIDER_SIM_SEED");
    if (one != NULL) {
        simulate(strtoull(one, NULL, 10));
        return;
    }
    const char *more = getenv("EIDER_SIM_SEEDS");
    uint64_t seeds = more != NULL ? strtoull(more, NULL, 10) : SEEDS;
    for (uint64_t seed = 0; seed < seeds; seed++)
        simulate(seed);
}
