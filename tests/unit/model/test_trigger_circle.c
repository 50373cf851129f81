#include "base/clock.h"
#include "base/mem.h"
#include "expect.h"
#include "model/dag_read.h"
#include "model/trigger_circle.h"

/* ---- DAGs ---- */

struct cast {
    struct arena *arena;
    struct circle_dag *dags;
    struct triggers **triggers;
    size_t count;
};

static struct cast cast_new(size_t most)
{
    struct cast cast = {.arena = arena_new()};
    cast.dags = arena_array(cast.arena, most, sizeof *cast.dags);
    cast.triggers = arena_array(cast.arena, most, sizeof(struct triggers *));
    return cast;
}

static void cast_fini(struct cast *cast)
{
    for (size_t i = 0; i < cast->count; i++)
        triggers_free(cast->triggers[i]);
    arena_free(cast->arena);
}

/* `schedule` and `outputs` as JSON. False: no such DAG is taken, as one that starts itself. */
static bool cast_add(struct cast *cast, const char *id, const char *schedule, const char *outputs)
{
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *tree = NULL;
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    CLEANUP(mem_freep)
    char *text = mem_format("{\"dag\":\"%s\",\"schedule\":%s,\"tasks\":{\"t\":{\"run\":\"x\","
                            "\"outputs\":%s}}}",
                            id, schedule, outputs);
    EXPECT_OK(json_parse(text, strlen(text), &tree, &err), &err);
    struct dag *dag = dag_read(tree, &(struct dag_read_options){0}, &diags);
    if (dag == NULL || diags.count > 0) {
        dag_free(dag);
        return false;
    }
    EXPECT_OK(triggers_of_dag(dag, &cast->triggers[cast->count], &err), &err);
    cast->dags[cast->count] = circle_dag_of(dag, cast->triggers[cast->count], cast->arena);
    cast->count++;
    dag_free(dag);
    return true;
}

/* "id schedule output" of each DAG; the circles that are told, each and a semicolon. */
static void expect_circles(const char *const (*rows)[3], size_t count, const char *wanted)
{
    CLEANUP(cast_fini) struct cast cast = cast_new(count);
    struct circle_list found;
    for (size_t i = 0; i < count; i++)
        cr_assert(cast_add(&cast, rows[i][0], rows[i][1],
                           arena_format(cast.arena, "[\"%s\"]", rows[i][2])));
    trigger_circles(cast.dags, count, cast.arena, &found);
    const char *told = "";
    for (size_t i = 0; i < found.count; i++)
        told = arena_format(cast.arena, "%s%s;", told, found.items[i].text);
    EXPECT_STR(wanted, told);
}

Test(trigger_circle, ends_and_datasets_make_circles)
{
    static const char *const AFTER[][3] = {{"l1", "{\"after\":\"l2\"}", "x"},
                                           {"l2", "{\"after\":\"l1\"}", "y"}};
    expect_circles(AFTER, ARRAY_LEN(AFTER), "l1 -> l2 -> l1;");
    static const char *const MIXED[][3] = {{"lead", "{\"webhook\":true}", "in"},
                                           {"a", "{\"datasets\":{\"any\":[\"in\",\"z\"]}}", "x"},
                                           {"b", "{\"datasets\":\"x\"}", "y"},
                                           {"c", "{\"after\":\"b\"}", "z"}};
    expect_circles(MIXED, ARRAY_LEN(MIXED), "a -> b -> c -> a;");
}

Test(trigger_circle, what_ends_or_waits_for_something_else_is_none)
{
    static const char *const CHAIN[][3] = {{"a", "{\"datasets\":\"in\"}", "x"},
                                           {"b", "{\"datasets\":\"x\"}", "y"},
                                           {"c", "{\"datasets\":[\"x\",\"y\"]}", "z"}};
    expect_circles(CHAIN, ARRAY_LEN(CHAIN), "");
    static const char *const HELD[][3] = {{"a", "{\"datasets\":[\"y\",\"outside\"]}", "x"},
                                          {"b", "{\"datasets\":\"x\"}", "y"}};
    expect_circles(HELD, ARRAY_LEN(HELD), "");
}

Test(trigger_circle, two_circles_are_told_apart)
{
    static const char *const TWO[][3] = {{"a", "{\"after\":\"b\"}", "1"},
                                         {"b", "{\"after\":\"a\"}", "2"},
                                         {"c", "{\"after\":\"d\"}", "3"},
                                         {"d", "{\"after\":\"c\"}", "4"}};
    expect_circles(TWO, ARRAY_LEN(TWO), "a -> b -> a;c -> d -> c;");
}

Test(trigger_circle, one_that_leads_into_two_hides_neither)
{
    static const char *const BOTH[][3] = {{"a", "{\"after\":{\"any\":[\"c\",\"b\"]}}", "1"},
                                          {"b", "{\"after\":\"a\"}", "2"},
                                          {"c", "{\"after\":{\"any\":[\"d\",\"b\"]}}", "3"},
                                          {"d", "{\"after\":\"c\"}", "4"}};
    expect_circles(BOTH, ARRAY_LEN(BOTH), "a -> b -> a, and in circles with them: c, d;");
    static const char *const LEAD[][3] = {{"a", "{\"webhook\":true}", "1"},
                                          {"b", "{\"after\":{\"any\":[\"a\",\"c\"]}}", "2"},
                                          {"c", "{\"after\":\"b\"}", "3"},
                                          {"d", "{\"after\":{\"any\":[\"a\",\"e\"]}}", "4"},
                                          {"e", "{\"after\":\"d\"}", "5"}};
    expect_circles(LEAD, ARRAY_LEN(LEAD), "b -> c -> b;d -> e -> d;");
}

/* ---- against all pairs ---- */

enum { NODES_MAX = 9, NAMES = 5, ROUNDS = 3000 };

static uint64_t chance(uint64_t *state, uint64_t bound)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (*state >> 33) % bound;
}

/* Some names, each as a text: d0..d8 or x0..x4. */
static const char *some_names(struct cast *cast, uint64_t *state, const char *letter, uint64_t of,
                              uint64_t most)
{
    const char *text = "";
    uint64_t bits = 0;
    uint64_t count = 1 + chance(state, most);
    for (uint64_t i = 0; i < count; i++)
        bits |= 1U << chance(state, of);
    for (uint64_t i = 0; i < of; i++)
        if (bits >> i & 1)
            text = arena_format(cast->arena, "%s%s\"%s%d\"", text, *text != '\0' ? "," : "", letter,
                                (int)i);
    return arena_format(cast->arena, "[%s]", text);
}

static const char *some_rule(struct cast *cast, uint64_t *state, const char *letter, uint64_t of)
{
    const char *op = chance(state, 2) != 0 ? "any" : "all";
    return arena_format(cast->arena, "{\"%s\":%s}", op, some_names(cast, state, letter, of, 3));
}

static void some_dag(struct cast *cast, uint64_t *state, size_t nodes)
{
    const char *id = arena_format(cast->arena, "d%zu", cast->count);
    const char *after = some_rule(cast, state, "d", nodes);
    const char *datasets = some_rule(cast, state, "x", NAMES);
    uint64_t form = chance(state, 4);
    const char *schedule = "{\"webhook\":true}";
    if (form < 2)
        schedule = form == 0 ? arena_format(cast->arena, "{\"after\":%s}", after)
                             : arena_format(cast->arena, "{\"datasets\":%s}", datasets);
    else if (form == 2)
        schedule = arena_format(cast->arena, "[{\"after\":%s},{\"datasets\":%s}]", after, datasets);
    const char *outputs = chance(state, 3) == 0 ? "[]" : some_names(cast, state, "x", NAMES, 3);
    if (!cast_add(cast, id, schedule, outputs))
        cr_assert(cast_add(cast, id, "{\"webhook\":true}", outputs));
}

static bool is_written(const struct circle_dag *dag, const char *uri)
{
    for (size_t i = 0; i < dag->outputs_count; i++)
        if (strcmp(dag->outputs[i], uri) == 0)
            return true;
    return false;
}

static bool suffices(const struct trigger_rules *rules, const struct circle_dag *source,
                     bool is_dataset)
{
    bool happened[16] = {0};
    if (rules->root == NULL)
        return false;
    for (size_t i = 0; i < rules->leaves_count; i++)
        happened[i] = is_dataset ? is_written(source, rules->leaves[i]->name)
                                 : strcmp(source->id, rules->leaves[i]->name) == 0;
    return trigger_expr_holds(rules->root, happened);
}

struct oracle {
    bool starts[NODES_MAX][NODES_MAX];
    bool leads[NODES_MAX][NODES_MAX];
};

static struct oracle oracle_of(const struct cast *cast)
{
    struct oracle oracle;
    for (size_t s = 0; s < cast->count; s++)
        for (size_t t = 0; t < cast->count; t++)
            oracle.leads[s][t] = oracle.starts[s][t] =
                suffices(&cast->triggers[t]->after, &cast->dags[s], false) ||
                suffices(&cast->triggers[t]->datasets, &cast->dags[s], true);
    for (size_t k = 0; k < cast->count; k++)
        for (size_t s = 0; s < cast->count; s++)
            for (size_t t = 0; t < cast->count; t++)
                oracle.leads[s][t] |= oracle.leads[s][k] && oracle.leads[k][t];
    return oracle;
}

/* "d0 d2;d3;": each DAG with those that it leads to and that lead to it. */
static const char *oracle_text(const struct oracle *oracle, const struct cast *cast)
{
    const char *text = "";
    bool told[NODES_MAX] = {0};
    for (size_t s = 0; s < cast->count; s++) {
        if (told[s] || !oracle->leads[s][s])
            continue;
        for (size_t t = s; t < cast->count; t++)
            if (oracle->leads[s][t] && oracle->leads[t][s]) {
                text = arena_format(cast->arena, "%s d%zu", text, t);
                told[t] = true;
            }
        text = arena_format(cast->arena, "%s;", text);
    }
    return text;
}

/* "d1 -> d2 -> d1, and ..": every arrow is one. */
static void expect_real(const struct oracle *oracle, const char *text, uint64_t seed)
{
    size_t first = (size_t)atoi(text + 1);
    size_t from = first;
    const char *at = text;
    const char *end = strchr(text, ',') != NULL ? strchr(text, ',') : text + strlen(text);
    while ((at = strstr(at, " -> ")) != NULL && at < end) {
        size_t to = (size_t)atoi(at + 5);
        cr_assert(oracle->starts[from][to], "seed %llu: %s", (unsigned long long)seed, text);
        from = to;
        at += 4;
    }
    cr_assert_eq(from, first, "seed %llu: %s", (unsigned long long)seed, text);
}

Test(trigger_circle, exactly_those_that_lead_to_each_other_are_told)
{
    size_t circles = 0;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        uint64_t state = seed;
        size_t nodes = 2 + chance(&state, NODES_MAX - 1);
        CLEANUP(cast_fini) struct cast cast = cast_new(nodes);
        struct circle_list found;
        const char *told = "";
        for (size_t i = 0; i < nodes; i++)
            some_dag(&cast, &state, nodes);
        struct oracle oracle = oracle_of(&cast);
        trigger_circles(cast.dags, nodes, cast.arena, &found);
        for (size_t i = 0; i < found.count; i++) {
            expect_real(&oracle, found.items[i].text, seed);
            for (size_t k = 0; k < found.items[i].members_count; k++)
                told = arena_format(cast.arena, "%s d%zu", told, found.items[i].members[k]);
            told = arena_format(cast.arena, "%s;", told);
        }
        cr_assert_str_eq(told, oracle_text(&oracle, &cast), "seed %llu: told%s",
                         (unsigned long long)seed, told);
        circles += found.count;
    }
    cr_assert_gt(circles, ROUNDS / 10, "too few to be a test: %zu", circles);
}

/* ---- many ---- */

enum { MANY = 10000, MANY_MOST_US = 500000 };

/* A rule with one leaf, without reading ten thousand DAGs. */
struct bare {
    struct trigger_expr leaf;
    const struct trigger_expr *leaves[1];
    struct triggers triggers;
    const char *output[1];
};

static void make_bare(struct bare *bare, const char *reads, const char *writes,
                      struct circle_dag *out)
{
    bare->leaf = (struct trigger_expr){.op = TRIGGER_LEAF, .name = reads};
    bare->leaves[0] = &bare->leaf;
    bare->output[0] = writes;
    bare->triggers.datasets = (struct trigger_rules){&bare->leaf, bare->leaves, 1};
    *out = (struct circle_dag){writes, bare->output, 1, &bare->triggers};
}

/* Reads `from(i)`, writes its own; how long it took is asked of the clock of this machine. */
static void search_many(struct arena *arena, size_t (*from)(size_t i), struct circle_list *found)
{
    struct circle_dag *dags = arena_array(arena, MANY, sizeof *dags);
    struct bare *bare = arena_array(arena, MANY, sizeof *bare);
    for (size_t i = 0; i < MANY; i++)
        make_bare(&bare[i], arena_format(arena, "x%zu", from(i)), arena_format(arena, "x%zu", i),
                  &dags[i]);
    int64_t before_us = clock_mono_us();
    trigger_circles(dags, MANY, arena, found);
    int64_t took_us = clock_mono_us() - before_us;
    cr_assert_lt(took_us, MANY_MOST_US, "%lld us", (long long)took_us);
}

static size_t one_before(size_t i)
{
    return i > 0 ? i - 1 : MANY;
}

static size_t one_before_around(size_t i)
{
    return (i + MANY - 1) % MANY;
}

static size_t the_first(size_t i)
{
    return i == 0 ? MANY - 1 : 0;
}

Test(trigger_circle, ten_thousand_take_no_time)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct circle_list found;
    search_many(arena, one_before, &found);
    cr_assert_eq(found.count, 0);
    search_many(arena, one_before_around, &found);
    cr_assert_eq(found.count, 1);
    cr_assert_eq(found.items[0].members_count, MANY);
    cr_assert_str_eq(strstr(found.items[0].text, "(9980 more)"), "(9980 more) -> x0");
    search_many(arena, the_first, &found);
    cr_assert_eq(found.count, 1);
    EXPECT_STR("x0 -> x9999 -> x0", found.items[0].text);
}
