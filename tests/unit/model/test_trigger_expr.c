/*
 * Expressions over events: what holds, what is still wanted and how many events a run takes, each
 * compared with plain counting over small random expressions.
 */
#include <stdio.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "expect.h"
#include "model/dag.h"
#include "model/trigger_expr.h"

/* Chance that is the same in every run. */
static uint64_t state = 88172645463325252u;

static size_t draw(size_t bound)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)(state % bound);
}

static struct triggers *make(const char *schedule)
{
    struct err err = {0};
    CLEANUP(mem_freep) char *text = mem_format("{\"schedule\":%s}", schedule);
    CLEANUP(json_decrefp) json_t *rest = NULL;
    EXPECT_OK(json_parse(text, strlen(text), &rest, &err), &err);
    struct dag dag = {.id = "d", .rest = rest};
    struct triggers *triggers = NULL;
    enum status status = triggers_of_dag(&dag, &triggers, &err);
    cr_assert_eq(status, STATUS_OK, "%s: %s", schedule, err.text);
    return triggers;
}

/* --- random expressions, as JSON ---------------------------------------------------------------
 */

enum { LEAVES_MAX = 8, ROUNDS = 400 };

_Static_assert(LEAVES_MAX <= 10, "the number of a leaf is one digit");

struct drawing {
    struct strbuf text;
    size_t leaves;
};

static void draw_expr(struct drawing *drawing, size_t depth)
{
    if (depth == 0 || draw(3) == 0 || drawing->leaves >= LEAVES_MAX - 2) {
        strbuf_addf(&drawing->text, "\"x%zu\"", drawing->leaves++);
        return;
    }
    size_t count = 1 + draw(3);
    size_t form = draw(3);
    strbuf_add(&drawing->text, form == 0 ? "[" : form == 1 ? "{\"all\":[" : "{\"any\":[");
    for (size_t i = 0; i < count && drawing->leaves < LEAVES_MAX; i++) {
        strbuf_add(&drawing->text, i > 0 ? "," : "");
        draw_expr(drawing, depth - 1);
    }
    strbuf_add(&drawing->text, form == 0 ? "]" : "]}");
}

/* The truth by the JSON form alone. */
static bool holds_in_json(const json_t *value, unsigned happened)
{
    if (json_is_string(value)) {
        const char *leaf = json_string_value(value); /* x and a digit; asked millions of times */
        return (happened >> (leaf[1] - '0') & 1u) != 0;
    }
    const json_t *any = json_object_get(value, "any");
    const json_t *all = json_object_get(value, "all");
    const json_t *list = any != NULL ? any : all != NULL ? all : value;
    size_t good = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        good += holds_in_json(json_array_get(list, i), happened);
    return any != NULL ? good > 0 : good == json_array_size(list);
}

static void spread(unsigned happened, bool *out)
{
    for (size_t i = 0; i < LEAVES_MAX; i++)
        out[i] = (happened >> i & 1u) != 0;
}

/* Some set of further events lacks only this one. */
static bool is_pivotal(const json_t *value, unsigned happened, unsigned leaf, size_t leaves)
{
    for (unsigned more = 0; more < 1u << leaves; more++) {
        unsigned without = (happened | more) & ~(1u << leaf);
        if (!holds_in_json(value, without) && holds_in_json(value, without | 1u << leaf))
            return true;
    }
    return false;
}

static void compare_all(const json_t *value, const struct trigger_rules *rules)
{
    for (unsigned happened = 0; happened < 1u << rules->leaves_count; happened++) {
        bool bits[LEAVES_MAX];
        bool wanted[LEAVES_MAX];
        spread(happened, bits);
        bool holds = holds_in_json(value, happened);
        cr_assert_eq(trigger_expr_holds(rules->root, bits), holds);
        trigger_rules_wanted(rules, bits, wanted);
        for (unsigned leaf = 0; leaf < rules->leaves_count; leaf++) {
            bool is_wanted =
                !holds && !bits[leaf] && is_pivotal(value, happened, leaf, rules->leaves_count);
            cr_assert_eq(wanted[leaf], is_wanted, "leaf %u of %zu, %x", leaf, rules->leaves_count,
                         happened);
        }
        CLEANUP(strbuf_fini) struct strbuf words;
        strbuf_init(&words, 1000);
        trigger_rules_describe(rules, bits, &words);
        cr_assert_eq(words.length == 0, holds);
    }
}

static void compare_taking(const json_t *value, const struct trigger_rules *rules)
{
    enum { EVENTS = 6 };
    struct trigger_event events[EVENTS];
    char names[EVENTS][8];
    unsigned all = 0;
    size_t shortest = 0;
    for (size_t i = 0; i < EVENTS; i++) {
        size_t leaf = draw(rules->leaves_count + 1);
        (void)snprintf(names[i], sizeof names[i], "x%zu", leaf);
        events[i] = (struct trigger_event){.name = names[i]};
        all |= leaf < rules->leaves_count ? 1u << leaf : 0;
        if (shortest == 0 && holds_in_json(value, all))
            shortest = i + 1;
    }
    size_t whole = holds_in_json(value, all) ? EVENTS : 0;
    cr_assert_eq(trigger_rules_take(rules, events, EVENTS, TRIGGER_TAKE_FIRST), shortest);
    cr_assert_eq(trigger_rules_take(rules, events, EVENTS, TRIGGER_TAKE_ALL), whole);
}

Test(trigger_expr, random_expressions_mean_what_counting_says)
{
    for (size_t round = 0; round < ROUNDS; round++) {
        struct drawing drawing = {.leaves = 0};
        struct err err = {0};
        strbuf_init(&drawing.text, 10000);
        draw_expr(&drawing, 3);
        CLEANUP(json_decrefp) json_t *value = NULL;
        EXPECT_OK(json_parse(drawing.text.text, drawing.text.length, &value, &err), &err);
        CLEANUP(mem_freep) char *schedule = mem_format("{\"datasets\":%s}", drawing.text.text);
        CLEANUP(triggers_freep) struct triggers *triggers = make(schedule);
        cr_assert_eq(triggers->datasets.leaves_count, drawing.leaves);
        compare_all(value, &triggers->datasets);
        compare_taking(value, &triggers->datasets);
        strbuf_fini(&drawing.text);
    }
}

/* --- examples ----------------------------------------------------------------------------------
 */

static void expect_words(const char *datasets, unsigned happened, const char *wanted)
{
    CLEANUP(mem_freep) char *schedule = mem_format("{\"datasets\":%s}", datasets);
    CLEANUP(triggers_freep) struct triggers *triggers = make(schedule);
    CLEANUP(strbuf_fini) struct strbuf words;
    bool bits[LEAVES_MAX];
    strbuf_init(&words, 1000);
    spread(happened, bits);
    trigger_rules_describe(&triggers->datasets, bits, &words);
    EXPECT_STR(wanted, words.text);
}

Test(trigger_expr, what_is_still_needed_is_said_in_words)
{
    expect_words("\"a\"", 0, "a");
    expect_words("[\"a\",\"b\"]", 0, "a and b");
    expect_words("[\"a\",\"b\"]", 1, "b");
    expect_words("[\"a\",{\"any\":[\"b\",\"c\"]}]", 0, "a and (b or c)");
    expect_words("[\"a\",{\"any\":[\"b\",\"c\"]}]", 1, "b or c");
    expect_words("{\"any\":[\"a\",[\"b\",\"c\"]]}", 2, "a or c");
    expect_words("{\"any\":[\"a\",[\"b\",\"c\"]]}", 6, "");
}

Test(trigger_expr, maps_of_a_list_are_alternatives)
{
    CLEANUP(triggers_freep)
    struct triggers *triggers =
        make("[\"@daily\",{\"datasets\":[\"a\",\"b\"]},{\"assets\":\"c\",\"after\":\"x\"}]");
    const bool only_c[] = {false, false, true};
    const bool only_a[] = {true, false, false};

    cr_assert_eq(triggers->datasets.leaves_count, 3);
    cr_assert(trigger_expr_holds(triggers->datasets.root, only_c));
    cr_assert(!trigger_expr_holds(triggers->datasets.root, only_a));
    cr_assert_eq(triggers->after.leaves_count, 1);
    EXPECT_STR("x", triggers->after.leaves[0]->name);
}

Test(trigger_expr, the_state_of_a_run_that_ended_counts)
{
    CLEANUP(triggers_freep)
    struct triggers *triggers =
        make("{\"after\":{\"any\":[\"a\",{\"dag\":\"b\",\"states\":[\"failed\",\"cancelled\"]},"
             "{\"dag\":\"c\",\"states\":\"any\",\"conf\":true}]}}");
    static const struct {
        struct trigger_event event;
        size_t taken;
    } CASES[] = {
        {{"a", RUN_SUCCESS}, 1},   {{"a", RUN_FAILED}, 0},    {{"b", RUN_SUCCESS}, 0},
        {{"b", RUN_FAILED}, 1},    {{"b", RUN_CANCELLED}, 1}, {{"c", RUN_SUCCESS}, 1},
        {{"c", RUN_CANCELLED}, 1}, {{"d", RUN_SUCCESS}, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        cr_expect_eq(trigger_rules_take(&triggers->after, &CASES[i].event, 1, TRIGGER_TAKE_FIRST),
                     CASES[i].taken, "%zu", i);
    cr_assert(triggers->after.leaves[2]->passes_conf);
    cr_assert(!triggers->after.leaves[0]->passes_conf);
}

Test(trigger_expr, files_and_webhooks_are_listed_and_catchup_keeps)
{
    CLEANUP(triggers_freep)
    struct triggers *triggers =
        make("{\"file\":[\"in/*.csv\",{\"path\":\"/x\",\"settle\":\"5s\"}],"
             "\"webhook\":[true,{\"name\":\"git\",\"signature\":\"github\"}],"
             "\"catchup\":\"all\"}");
    CLEANUP(triggers_freep) struct triggers *none = make("\"@daily\"");

    cr_assert_eq(triggers->files_count, 2);
    EXPECT_STR("in/*.csv", triggers->files[0].path);
    cr_assert_eq(triggers->files[0].settle_ms, 2000);
    cr_assert_eq(triggers->files[1].settle_ms, 5000);
    cr_assert_eq(triggers->webhooks_count, 2);
    EXPECT_STR(TRIGGER_WEBHOOK_DEFAULT, triggers->webhooks[0].name);
    cr_assert(!triggers->webhooks[0].takes_github);
    EXPECT_STR("git", triggers->webhooks[1].name);
    cr_assert(triggers->webhooks[1].takes_github);
    cr_assert(triggers->keeps_while_paused);
    cr_assert(!triggers_are_none(triggers));
    cr_assert(triggers_are_none(none));
    cr_assert(!none->keeps_while_paused);
}
