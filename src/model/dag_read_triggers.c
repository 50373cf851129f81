/*
 * dag_read_triggers: the event keys of the DAG's `schedule` as triggers.
 *
 *     datasets: [a, b]                     all of them
 *     datasets: {any: [a, {all: [b, c]}]}  nested
 *     after: other_dag                     or {dag: other_dag, states: any, conf: true}, or the
 *                                          same lists and maps as for datasets
 *     file: landing/orders-?.csv           or {path: .., settle: 2s}, or a list
 *     webhook: true                        or a name, or {name, signature}, or a list of these
 */
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/dag_read_priv.h"
#include "model/duration.h"
#include "model/limits.h"
#include "model/schedule_fields.h"
#include "model/template.h"
#include "model/trigger_expr.h"

enum { SETTLE_MS_DEFAULT = 2000, SETTLE_MS_MAX = 3600000 };

/* What differs between expressions over datasets and over DAGs. */
enum subject { OF_DATASETS, OF_DAGS };

struct trigger_reader {
    struct reader *r;
    struct triggers *triggers;
    struct arena *arena;
    enum subject subject;
    const char *key;    /* "datasets", "after": for problems */
    size_t leaves;      /* of the expressions of this subject so far */
    struct spot *spots; /* of the leaves */
};

/* ---- leaves ---- */

static bool is_uri(const char *text)
{
    size_t length = text != NULL ? strlen(text) : 0;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f)
            return false;
    return length > 0 && length <= LIMIT_URI_BYTES;
}

static bool check_name(struct trigger_reader *t, struct placed placed)
{
    const char *text = json_string_value(placed.value);
    if (t->subject == OF_DATASETS && text != NULL && !template_is_plain(text)) {
        reader_problem(t->r, placed.spot,
                       "'%s': a template cannot stand here, since no run exists yet", t->key);
        return false;
    }
    bool is_good =
        t->subject == OF_DATASETS ? is_uri(text) : text != NULL && dag_name_is_valid(text);
    if (!is_good) {
        reader_mismatch(t->r, placed.spot, t->key,
                        t->subject == OF_DATASETS
                            ? "the URI of a dataset, without blanks and at most 2000 bytes"
                            : "the id of a DAG",
                        placed.value);
        return false;
    }
    if (t->subject == OF_DAGS && t->r->dag != NULL && str_equal(text, t->r->dag->id)) {
        reader_problem(t->r, placed.spot, "a DAG that starts after itself would never stop");
        return false;
    }
    return true;
}

static void read_leaf(struct trigger_reader *t, struct placed placed, struct trigger_expr *out)
{
    if (!check_name(t, placed))
        return;
    if (t->leaves == LIMIT_TRIGGERS)
        reader_problem(t->r, placed.spot, "'%s' names more than %d", t->key, LIMIT_TRIGGERS);
    out->op = TRIGGER_LEAF;
    out->name = arena_strdup(t->arena, json_string_value(placed.value));
    out->states = t->subject == OF_DAGS ? 1u << RUN_SUCCESS : 0;
    if (t->leaves < LIMIT_TRIGGERS)
        t->spots[t->leaves] = placed.spot;
    out->leaf = t->leaves++;
}

static void read_state(struct trigger_reader *t, struct placed placed, unsigned *states)
{
    static const unsigned ANY = 1u << RUN_SUCCESS | 1u << RUN_FAILED | 1u << RUN_CANCELLED;
    const char *text = json_string_value(placed.value);
    enum run_state state = RUN_QUEUED;
    if (str_equal(text, "any"))
        *states |= ANY;
    else if (text != NULL && run_state_parse(text, &state) && run_state_is_final(state))
        *states |= 1u << state;
    else
        reader_mismatch(t->r, placed.spot, "states", "success, failed, cancelled or any",
                        placed.value);
}

static void read_states(struct trigger_reader *t, struct placed placed, unsigned *out)
{
    unsigned states = 0;
    if (!json_is_array(placed.value))
        read_state(t, placed, &states);
    for (size_t i = 0; i < json_array_size(placed.value); i++)
        read_state(t, (struct placed){{placed.value, i}, json_array_get(placed.value, i)}, &states);
    if (json_is_array(placed.value) && json_array_size(placed.value) == 0)
        reader_problem(t->r, placed.spot, "'states' is empty: no end of the DAG would count");
    *out = states;
}

/* {dag: .., states: .., conf: ..} */
static void read_dag_leaf(struct trigger_reader *t, const json_t *map, struct trigger_expr *out)
{
    struct spot at = {map, 0};
    for (READER_EACH(map, iter, at)) {
        struct placed member = {at, json_object_iter_value(iter)};
        if (str_equal(json_object_iter_key(iter), "dag"))
            read_leaf(t, member, out);
    }
    at.index = 0;
    for (READER_EACH(map, iter, at)) {
        const char *key = json_object_iter_key(iter);
        struct placed member = {at, json_object_iter_value(iter)};
        if (str_equal(key, "states"))
            read_states(t, member, &out->states);
        else if (str_equal(key, "conf") && json_is_boolean(member.value))
            out->passes_conf = json_is_true(member.value);
        else if (str_equal(key, "conf"))
            reader_mismatch(t->r, at, "conf", "true or false", member.value);
        else if (!str_equal(key, "dag"))
            reader_problem_at_key(t->r, at, "unknown key '%s' in 'after': dag, states, conf", key);
    }
}

/* ---- expressions ---- */

static void read_expr(struct trigger_reader *t, struct placed placed, size_t depth,
                      struct trigger_expr *out);

/* NOLINTNEXTLINE(misc-no-recursion) */
static void read_list(struct trigger_reader *t, struct placed placed, enum trigger_op op,
                      size_t depth, struct trigger_expr *out)
{
    size_t count = json_array_size(placed.value);
    if (!json_is_array(placed.value)) {
        reader_mismatch(t->r, placed.spot, t->key, "a list", placed.value);
        return;
    }
    if (count == 0) {
        reader_problem(t->r, placed.spot, "'%s': the list is empty", t->key);
        return;
    }
    /* What makes no sense inside leaves an empty list, which no problem-free DAG has. */
    *out = (struct trigger_expr){.op = op};
    if (count > LIMIT_TRIGGERS) {
        reader_problem(t->r, placed.spot, "'%s' lists %zu, at most %d", t->key, count,
                       LIMIT_TRIGGERS);
        return;
    }
    out->items = arena_array(t->arena, count, sizeof *out->items);
    out->count = count;
    for (size_t i = 0; i < count; i++)
        read_expr(t, (struct placed){{placed.value, i}, json_array_get(placed.value, i)}, depth + 1,
                  &out->items[i]);
}

/* {any: [..]} or {all: [..]} */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void read_group(struct trigger_reader *t, struct placed placed, size_t depth,
                       struct trigger_expr *out)
{
    struct spot at = {placed.value, 0};
    if (json_object_size(placed.value) != 1) {
        reader_problem(t->r, placed.spot, "'%s': expected a map with one key, any or all", t->key);
        return;
    }
    void *iter = json_object_iter(reader_mutable(placed.value));
    const char *key = json_object_iter_key(iter);
    struct placed list = {at, json_object_iter_value(iter)};
    if (str_equal(key, "any"))
        read_list(t, list, TRIGGER_ANY, depth, out);
    else if (str_equal(key, "all"))
        read_list(t, list, TRIGGER_ALL, depth, out);
    else
        reader_problem_at_key(t->r, at, "unknown key '%s' in '%s': any or all", key, t->key);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void read_expr(struct trigger_reader *t, struct placed placed, size_t depth,
                      struct trigger_expr *out)
{
    /* Whatever is wrong, what is left can be walked. */
    *out = (struct trigger_expr){.op = TRIGGER_ALL};
    if (depth > LIMIT_TRIGGER_DEPTH)
        reader_problem(t->r, placed.spot, "'%s' is nested deeper than %d", t->key,
                       LIMIT_TRIGGER_DEPTH);
    else if (json_is_array(placed.value))
        read_list(t, placed, TRIGGER_ALL, depth, out);
    else if (json_object_get(placed.value, "dag") != NULL && t->subject == OF_DAGS)
        read_dag_leaf(t, placed.value, out);
    else if (json_is_object(placed.value))
        read_group(t, placed, depth, out);
    else
        read_leaf(t, placed, out);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void list_leaves(struct trigger_expr *expr, const struct trigger_expr **out)
{
    if (expr->op == TRIGGER_LEAF)
        out[expr->leaf] = expr;
    for (size_t i = 0; i < expr->count; i++)
        list_leaves(&expr->items[i], out);
}

/* Every map that has the key is an alternative. */
static void read_rules(struct trigger_reader *t, const struct placed *found, size_t count,
                       struct trigger_rules *out)
{
    if (count == 0)
        return;
    struct trigger_expr *root = arena_alloc(t->arena, sizeof *root);
    struct trigger_expr *items = arena_array(t->arena, count, sizeof *items);
    for (size_t i = 0; i < count; i++)
        read_expr(t, found[i], 1, &items[i]);
    *root = count == 1 ? items[0]
                       : (struct trigger_expr){.op = TRIGGER_ANY, .items = items, .count = count};
    out->root = root;
    out->leaves_count = t->leaves;
    out->leaves = arena_array(t->arena, t->leaves + 1, sizeof(struct trigger_expr *));
    list_leaves(root, out->leaves);
}

/* ---- a DAG that starts itself ---- */

static const struct draft *find_writer(const struct reader *r, const char *uri)
{
    for (size_t i = 0; i < r->drafts_count; i++)
        if (task_def_writes(&r->drafts[i].def, uri))
            return &r->drafts[i];
    return NULL;
}

/* What else it waits for would stop it: only where its own datasets are enough is it a loop. */
static void check_own_datasets(struct trigger_reader *t, const struct trigger_rules *rules)
{
    const struct draft *writer = NULL;
    size_t first = 0;
    if (rules->root == NULL || rules->leaves_count > LIMIT_TRIGGERS)
        return;
    bool *happened = arena_array(t->arena, rules->leaves_count + 1, sizeof *happened);
    for (size_t i = rules->leaves_count; i > 0; i--) {
        const struct draft *found = find_writer(t->r, rules->leaves[i - 1]->name);
        happened[i - 1] = found != NULL;
        if (found == NULL)
            continue;
        writer = found;
        first = i - 1;
    }
    if (writer != NULL && trigger_expr_holds(rules->root, happened))
        reader_problem(t->r, t->spots[first],
                       "a DAG that starts by '%s', which its own task '%s' writes, would never "
                       "stop",
                       rules->leaves[first]->name, writer->def.id);
}

/* ---- files and webhooks ---- */

static bool is_watchable(const char *path)
{
    const char *last = path != NULL ? strrchr(path, '/') : NULL;
    if (path == NULL || path[0] == '\0' || strlen(path) > LIMIT_PATH_BYTES ||
        str_ends_with(path, "/") || !template_is_plain(path))
        return false;
    size_t pattern = strcspn(path, "*?[");
    return path[pattern] == '\0' || last == NULL || (size_t)(last - path) < pattern;
}

static void add_file(struct trigger_reader *t, struct placed placed, struct trigger_file *out)
{
    const char *path = json_string_value(placed.value);
    if (is_watchable(path))
        out->path = arena_strdup(t->arena, path);
    else
        reader_mismatch(t->r, placed.spot, "file",
                        "the path of a file; its last part may be a pattern such as *.csv",
                        placed.value);
}

static void read_settle(struct trigger_reader *t, struct placed placed, int64_t *out)
{
    const char *text = json_string_value(placed.value);
    int64_t ms = 0;
    bool is_good = text != NULL ? duration_parse(text, &ms)
                                : json_is_integer(placed.value) &&
                                      duration_from_seconds(json_integer_value(placed.value), &ms);
    if (is_good && ms <= SETTLE_MS_MAX)
        *out = ms;
    else
        reader_mismatch(t->r, placed.spot, "settle", "a duration of at most 1h such as 2s",
                        placed.value);
}

static void read_file(struct trigger_reader *t, struct placed placed)
{
    struct trigger_file *file = &t->triggers->files[t->triggers->files_count++];
    *file = (struct trigger_file){.path = "", .settle_ms = SETTLE_MS_DEFAULT};
    if (!json_is_object(placed.value)) {
        add_file(t, placed, file);
        return;
    }
    struct spot at = {placed.value, 0};
    bool has_path = false;
    for (READER_EACH(placed.value, iter, at)) {
        const char *key = json_object_iter_key(iter);
        struct placed member = {at, json_object_iter_value(iter)};
        has_path |= str_equal(key, "path");
        if (str_equal(key, "path"))
            add_file(t, member, file);
        else if (str_equal(key, "settle"))
            read_settle(t, member, &file->settle_ms);
        else
            reader_problem_at_key(t->r, at, "unknown key '%s' in 'file': path, settle", key);
    }
    if (!has_path)
        reader_problem(t->r, placed.spot, "'file' has no 'path'");
}

static void read_webhook_name(struct trigger_reader *t, struct placed placed,
                              struct trigger_webhook *out)
{
    const char *name =
        json_is_true(placed.value) ? TRIGGER_WEBHOOK_DEFAULT : json_string_value(placed.value);
    if (name == NULL || !dag_name_is_valid(name))
        reader_mismatch(t->r, placed.spot, "webhook", "true, a name, or a map with name, signature",
                        placed.value);
    else
        out->name = arena_strdup(t->arena, name);
}

static void read_signature(struct trigger_reader *t, struct placed placed, bool *out)
{
    const char *text = json_string_value(placed.value);
    *out = str_equal(text, "github");
    if (!*out && !str_equal(text, "eider"))
        reader_mismatch(t->r, placed.spot, "signature", "eider or github", placed.value);
}

static void read_webhook(struct trigger_reader *t, struct placed placed)
{
    struct trigger_webhook webhook = {.name = TRIGGER_WEBHOOK_DEFAULT};
    struct spot at = {placed.value, 0};
    if (json_is_false(placed.value))
        return;
    if (!json_is_object(placed.value))
        read_webhook_name(t, placed, &webhook);
    for (READER_EACH(placed.value, iter, at)) {
        const char *key = json_object_iter_key(iter);
        struct placed member = {at, json_object_iter_value(iter)};
        if (str_equal(key, "name"))
            read_webhook_name(t, member, &webhook);
        else if (str_equal(key, "signature"))
            read_signature(t, member, &webhook.takes_github);
        else
            reader_problem_at_key(t->r, at, "unknown key '%s' in 'webhook': name, signature", key);
    }
    t->triggers->webhooks[t->triggers->webhooks_count++] = webhook;
}

static size_t size_of(const struct placed *placed)
{
    return json_is_array(placed->value) ? json_array_size(placed->value) : 1;
}

/* The value, or each item of the list that it is. */
static void read_each(struct trigger_reader *t, const struct placed *found, size_t count,
                      void (*read)(struct trigger_reader *t, struct placed placed))
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        total += size_of(&found[i]);
        if (total > LIMIT_TRIGGERS) {
            reader_problem(t->r, found[i].spot, "'%s' lists more than %d", t->key, LIMIT_TRIGGERS);
            return;
        }
        if (!json_is_array(found[i].value))
            read(t, found[i]);
        for (size_t j = 0; j < json_array_size(found[i].value); j++)
            read(t, (struct placed){{found[i].value, j}, json_array_get(found[i].value, j)});
    }
}

/* ---- the whole ---- */

/* Where the maps of the schedule have this key. */
static size_t find_key(struct placed schedule, enum schedule_key key, struct placed *out)
{
    size_t found = 0;
    size_t maps = json_is_array(schedule.value) ? json_array_size(schedule.value) : 1;
    for (size_t i = 0; i < maps; i++) {
        const json_t *map =
            json_is_array(schedule.value) ? json_array_get(schedule.value, i) : schedule.value;
        struct spot at = {map, 0};
        if (!json_is_object(map))
            continue;
        for (READER_EACH(map, iter, at)) {
            const struct dag_field *field =
                dag_field_find(&SCHEDULE_FIELDS, json_object_iter_key(iter));
            if (field == &SCHEDULE_FIELDS.fields[key] && found < LIMIT_SCHEDULES)
                out[found++] = (struct placed){at, json_object_iter_value(iter)};
        }
    }
    return found;
}

static bool is_none(const json_t *catchup)
{
    return catchup == NULL || json_is_false(catchup) ||
           str_equal(json_string_value(catchup), "none");
}

static bool keeps_while_paused(const struct schedule_source *source)
{
    struct placed found[LIMIT_SCHEDULES];
    size_t count = find_key(source->schedule, SCHEDULE_KEY_CATCHUP, found);
    return !is_none(count > 0 ? found[0].value : source->catchup.value);
}

struct triggers *reader_triggers(struct reader *r, const struct schedule_source *source)
{
    struct arena *arena = arena_new();
    struct triggers *triggers = arena_alloc(arena, sizeof *triggers);
    struct placed found[LIMIT_SCHEDULES];
    *triggers = (struct triggers){
        .arena = arena,
        .files = arena_array(arena, LIMIT_TRIGGERS, sizeof *triggers->files),
        .webhooks = arena_array(arena, LIMIT_TRIGGERS, sizeof *triggers->webhooks),
        .keeps_while_paused = keeps_while_paused(source),
    };
    struct spot *spots = arena_array(arena, LIMIT_TRIGGERS, sizeof *spots);
    struct trigger_reader t = {r, triggers, arena, OF_DATASETS, "datasets", 0, spots};
    size_t count = find_key(source->schedule, SCHEDULE_KEY_DATASETS, found);
    read_rules(&t, found, count, &triggers->datasets);
    if (r->diags->errors == r->errors_before)
        check_own_datasets(&t, &triggers->datasets);
    t = (struct trigger_reader){r, triggers, arena, OF_DAGS, "after", 0, spots};
    count = find_key(source->schedule, SCHEDULE_KEY_AFTER, found);
    read_rules(&t, found, count, &triggers->after);
    t.key = "file";
    count = find_key(source->schedule, SCHEDULE_KEY_FILE, found);
    read_each(&t, found, count, read_file);
    t.key = "webhook";
    count = find_key(source->schedule, SCHEDULE_KEY_WEBHOOK, found);
    read_each(&t, found, count, read_webhook);
    return triggers;
}

enum status triggers_of_dag(const struct dag *dag, struct triggers **out, struct err *err)
{
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    struct reader reader = {.diags = &diags};
    struct schedule_source source = {
        .schedule.value = json_object_get(dag->rest, "schedule"),
        .catchup.value = json_object_get(dag->rest, "catchup"),
    };
    struct triggers *triggers = reader_triggers(&reader, &source);
    if (diags.errors > 0) {
        triggers_free(triggers);
        return err_set(err, STATUS_INVALID, "schedule of DAG '%s': %s", dag->id,
                       diags.items[0].text);
    }
    *out = triggers;
    return STATUS_OK;
}

/* ---- what tasks write ---- */

void reader_check_outputs(struct reader *r, const char *key, struct spot spot, const json_t *value)
{
    if (!str_equal(key, "outputs"))
        return;
    size_t count = json_is_string(value) ? 1 : json_array_size(value);
    if (count > LIMIT_OUTPUTS)
        reader_problem(r, spot, "'outputs' lists %zu datasets, at most %d", count, LIMIT_OUTPUTS);
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_is_string(value) ? value : json_array_get(value, i);
        struct spot at = json_is_string(value) ? spot : (struct spot){value, i};
        const char *text = json_string_value(item);
        bool is_plain = text != NULL && template_is_plain(text);
        CLEANUP(mem_freep) char *suffix = mem_format("outputs.%zu", i);
        if (text == NULL || (is_plain && !is_uri(text)))
            reader_mismatch(r, at, "outputs",
                            "the URI of a dataset, without blanks and at most 2000 bytes", item);
        else if (!is_plain)
            reader_template(r, text, at, suffix);
    }
}

bool dataset_uri_is_valid(const char *text)
{
    return is_uri(text);
}
