#include <stdlib.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "expect.h"
#include "model/dag_read.h"
#include "model/dag_write.h"

static struct dag *read_text(const char *text)
{
    json_t *tree = NULL;
    struct err err = {0};
    EXPECT_OK(json_parse(text, strlen(text), &tree, &err), &err);
    struct diag_list diags = {0};
    struct dag *dag = dag_read(tree, &(struct dag_read_options){.default_id = "d"}, &diags);
    cr_assert_not_null(dag, "%s\n%s", text, diags.count > 0 ? diags.items[0].text : "?");
    diag_list_fini(&diags);
    json_decref(tree);
    return dag;
}

static char *canonical(const struct dag *dag)
{
    json_t *tree = dag_write(dag);
    char *text = json_format(tree);
    json_decref(tree);
    return text;
}

/* ---- random files ---- */

static uint32_t state;

static unsigned chance(unsigned n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

/* One key of a task, from a pool that touches every type of field. */
static const char *const KEYS[] = {
    "\"retries\":3",
    "\"retries\":0",
    "\"retry_delay\":\"90s\"",
    "\"retry_backoff\":1.5",
    "\"retry_jitter\":0",
    "\"max_retry_delay\":7",
    "\"timeout\":\"1h\"",
    "\"env\":{\"A\":\"{{ ds }}\",\"B\":2}",
    "\"env_pass\":[\"HOME\"]",
    "\"limits\":{\"cpu\":\"5s\",\"memory\":\"64MiB\",\"procs\":3,\"output\":100}",
    "\"exit\":{\"skip\":[],\"retry\":[1,2]}",
    "\"retry_on\":[75,9]",
    "\"retry_on\":[75,\"exit\",\"timeout\"]",
    "\"retry_on\":[\"signal\",\"exec_error\"]",
    "\"tags\":[\"x\",\"y\"]",
    "\"priority\":-5",
    "\"slots\":2",
    "\"pool\":\"p\"",
    "\"queue\":\"q\"",
    "\"on_lost_lease\":\"finish\"",
    "\"allow_failure\":true",
    "\"workdir\":\"/tmp/{{ run_id }}\"",
    "\"user\":\"nobody\"",
    "\"fail_fast\":true",
    "\"max_parallel\":4",
    "\"sla\":\"5m\"",
    "\"on_failure\":[{\"slack\":\"x\"}]",
    "\"grace\":\"1s\"",
    "\"queue_timeout\":60",
};
static const char *const OWN_KEYS[] = {
    "\"trigger_rule\":\"all_done\"",
    "\"if\":\"{{ ds == '2026-01-01' }}\"",
    "\"if\":false",
    "\"doc\":\"what it is for\"",
    "\"foreach\":[1,{\"a\":2},null]",
    "\"foreach\":\"{{ params.list }}\"",
    "\"matrix\":{\"x\":[1,2],\"y\":[\"a\"]}",
};
static const char *const KINDS[] = {
    "\"run\":\"echo {{ ds }}\"",
    "\"run\":[\"echo\",\"a b\"]",
    "\"script\":\"text\",\"interpreter\":\"python3 -u\"",
    "\"script\":{\"file\":\"x.sh\",\"args\":[\"1\"]}",
    "\"noop\":{}",
    "\"short_circuit\":\"{{ true }}\"",
};

static void add_keys(struct strbuf *out, const char *const *keys, size_t count, unsigned most)
{
    size_t start = chance((unsigned)count);
    for (unsigned i = chance(most + 1); i > 0 && start < count; i--, start += 1 + chance(3)) {
        const char *colon = strchr(keys[start], ':');
        char key[40] = {0};
        memcpy(key, keys[start], (size_t)(colon - keys[start]) + 1);
        const char *object = strrchr(out->text, '\n');
        if (strstr(object, key) == NULL)
            strbuf_addf(out, ",%s", keys[start]);
    }
}

static void add_task(struct strbuf *out, const char *prefix, unsigned number)
{
    strbuf_addf(out, "%s\n\"%s%u\":{%s", number > 0 ? "," : "", prefix, number,
                KINDS[chance(ARRAY_LEN(KINDS))]);
    add_keys(out, KEYS, ARRAY_LEN(KEYS), 4);
    add_keys(out, OWN_KEYS, ARRAY_LEN(OWN_KEYS), 1);
    if (number > 0 && chance(3) > 0)
        strbuf_addf(out, ",\"needs\":[\"%s%u\"]", prefix, chance(number));
    strbuf_add(out, "}");
}

static void add_tasks(struct strbuf *out, const char *prefix, unsigned count)
{
    strbuf_add(out, "{");
    for (unsigned i = 0; i < count; i++)
        add_task(out, prefix, i);
    strbuf_add(out, "}");
}

static void random_file(struct strbuf *out, uint32_t seed)
{
    state = seed;
    strbuf_add(out, "{\"params\":{\"list\":{\"type\":\"array\",\"default\":[]},\"s\":\"x\"},"
                    "\"title\":\"t\",\"defaults\":\n{\"retry_delay\":\"5s\"");
    add_keys(out, KEYS, ARRAY_LEN(KEYS), 5);
    strbuf_add(out, "},\"tasks\":");
    add_tasks(out, "t", 1 + chance(6));
    strbuf_add(out, ",\"groups\":{\"g\":{\"needs\":\"t0\",\"defaults\":\n{\"grace\":2");
    strbuf_add(out, "},\"tasks\":");
    add_tasks(out, "t", 1 + chance(4));
    strbuf_add(out, ",\"groups\":{\"h\":{\"needs\":[\"t0\"],\"tasks\":");
    add_tasks(out, "u", 1 + chance(3));
    strbuf_add(out, "}}}},\"finally\":");
    add_tasks(out, "z", 1 + chance(3));
    strbuf_add(out, "}");
}

Test(dag_write, what_is_written_reads_back_to_the_same)
{
    for (uint32_t seed = 1; seed <= 400; seed++) {
        struct strbuf file;
        strbuf_init(&file, 1 << 16);
        random_file(&file, seed);
        CLEANUP(dag_freep) struct dag *dag = read_text(file.text);
        CLEANUP(mem_freep) char *once = canonical(dag);
        CLEANUP(dag_freep) struct dag *again = read_text(once);
        CLEANUP(mem_freep) char *twice = canonical(again);
        cr_assert_str_eq(once, twice, "seed %u\n%s\n%s", seed, once, twice);

        cr_assert_eq(dag->tasks_count, again->tasks_count);
        cr_assert_eq(dag->finally_count, again->finally_count);
        for (size_t i = 0; i < dag->tasks_count; i++) {
            const struct task_def *a = &dag->tasks[i];
            const struct task_def *b = &again->tasks[i];
            EXPECT_STR(a->id, b->id);
            EXPECT_STR(a->group, b->group);
            cr_assert_eq(dag->order[i], again->order[i]);
            cr_assert_eq(a->rule, b->rule);
            cr_assert_eq(a->retry.delay_ms, b->retry.delay_ms);
            cr_assert_float_eq(a->retry.backoff, b->retry.backoff, 0);
            cr_assert_eq(a->limits.memory_bytes, b->limits.memory_bytes);
            cr_assert_eq(a->exit_retry.count, b->exit_retry.count);
            cr_assert_eq(a->env_count, b->env_count);
            cr_assert_eq(a->needs.count, b->needs.count);
            cr_assert_eq(a->on_lost_lease, b->on_lost_lease);
            cr_assert_eq(json_equal(a->settings, b->settings), 1);
        }
        strbuf_fini(&file);
    }
}

Test(dag_write, the_hash_follows_the_meaning)
{
    static const struct {
        const char *a;
        const char *b;
        bool same;
    } CASES[] = {
        {"{\"tasks\":{\"a\":{\"noop\":null},\"b\":{\"noop\":{},\"needs\":[\"a\"]}}}",
         "{\"tasks\":{\"b\":{\"needs\":\"a\",\"noop\":true},\"a\":{\"retries\":0,\"noop\":null}}}",
         true},
        {"{\"tasks\":{\"a\":{\"noop\":null,\"timeout\":90}}}",
         "{\"defaults\":{\"timeout\":\"1m30s\"},\"tasks\":{\"a\":{\"noop\":null}}}", true},
        {"{\"groups\":{\"g\":{\"tasks\":{\"a\":{\"noop\":null}}}}}",
         "{\"tasks\":{\"g.a\":{\"noop\":null,\"group\":\"g\"}}}", true},
        {"{\"tasks\":{\"a\":{\"run\":\"x\"}}}", "{\"tasks\":{\"a\":{\"run\":\"x \"}}}", false},
        {"{\"tasks\":{\"a\":{\"run\":\"x\"}}}", "{\"tasks\":{\"a\":{\"run\":[\"x\"]}}}", false},
        {"{\"tasks\":{\"a\":{\"noop\":null}}}",
         "{\"tasks\":{\"a\":{\"noop\":null}},\"schedule\":\"@daily\"}", false},
        {"{\"tasks\":{\"a\":{\"noop\":null},\"b\":{\"noop\":null}}}",
         "{\"tasks\":{\"a\":{\"noop\":null}},\"finally\":{\"b\":{\"noop\":null}}}", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(dag_freep) struct dag *a = read_text(CASES[i].a);
        CLEANUP(dag_freep) struct dag *b = read_text(CASES[i].b);
        char hash_a[SHA256_HEX_MAX];
        char hash_b[SHA256_HEX_MAX];
        cr_expect_eq(strcmp(dag_hash(a, hash_a), dag_hash(b, hash_b)) == 0, CASES[i].same, "%s",
                     CASES[i].b);
        cr_expect_eq(strlen(hash_a), 64);
    }
}
