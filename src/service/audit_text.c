#include "service/audit_text.h"

#include <string.h>

#include "base/str.h"
#include "base/strbuf.h"

enum { TEXT_BYTES_MAX = 300, NAMES_SHOWN = 20 };

/* --- what ------------------------------------------------------------------------------------ */

static const char *const NAME_KEYS[] = {"name", "pool", "queue", "dag_id", "uri", "target"};
static const char *const NUMBER_KEYS[] = {"host", "notice"};

/* What stands before a name: its namespace, its DAG, or what a limit is of. */
static const char *qualifier(struct arena *arena, enum event_kind kind, const char *key,
                             const json_t *data)
{
    const char *space = json_get_string(data, "namespace", NULL);
    const char *dag_id = json_get_string(data, "dag_id", NULL);
    if (kind == EVENT_LIMIT_SET || kind == EVENT_LIMIT_DELETED)
        return arena_format(arena, "%s ", json_get_string(data, "kind", "?"));
    if (space != NULL)
        return arena_format(arena, "%s/", space);
    return dag_id != NULL && !str_equal(key, "dag_id") ? arena_format(arena, "%s/", dag_id) : "";
}

/* The first word of a kind names what was changed: pool_set, variable_deleted, ... */
static const char *describe_thing(struct arena *arena, const struct event_row *row,
                                  const json_t *data, const char *dag_id)
{
    const char *kind = event_kind_name(row->kind);
    int length = (int)strcspn(kind, "_");
    int64_t backfill = json_get_int(data, "backfill", 0);
    if (backfill != 0)
        return arena_format(arena, "backfill %lld%s%s", (long long)backfill,
                            dag_id != NULL ? " of " : "", dag_id != NULL ? dag_id : "");
    for (size_t i = 0; i < ARRAY_LEN(NAME_KEYS); i++) {
        const char *name = json_get_string(data, NAME_KEYS[i], NULL);
        if (name != NULL)
            return arena_format(arena, "%.*s %s%s", length, kind,
                                qualifier(arena, row->kind, NAME_KEYS[i], data), name);
    }
    for (size_t i = 0; i < ARRAY_LEN(NUMBER_KEYS); i++) {
        const json_t *number = json_object_get(data, NUMBER_KEYS[i]);
        if (json_is_string(number))
            return arena_format(arena, "%.*s %s", length, kind, json_string_value(number));
        if (json_is_integer(number))
            return arena_format(arena, "%.*s %lld", length, kind,
                                (long long)json_integer_value(number));
    }
    return arena_format(arena, "%.*s", length, kind);
}

static const char *describe_run(struct arena *arena, const struct event_row *row,
                                const json_t *data)
{
    const char *dag_id = row->dag_id != NULL ? row->dag_id : json_get_string(data, "dag_id", "");
    const char *run_id = row->run_id != NULL ? row->run_id : json_get_string(data, "run_id", "");
    return arena_format(arena, "run %lld %s/%s", (long long)row->run, dag_id, run_id);
}

const char *audit_object_text(struct arena *arena, const struct event_row *row, const json_t *data,
                              const char *dag_id, const char *task_id)
{
    if (row->run == 0 && row->task != 0)
        return arena_format(arena, "job %lld", (long long)row->task);
    if (row->run == 0)
        return describe_thing(arena, row, data, dag_id);
    const char *run = describe_run(arena, row, data);
    if (task_id == NULL)
        return run;
    return row->map_index < 0
               ? arena_format(arena, "%s %s", run, task_id)
               : arena_format(arena, "%s %s[%lld]", run, task_id, (long long)row->map_index);
}

const char *audit_asked_text(struct arena *arena, const struct event_row *row, const json_t *asked)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    const json_t *names = json_object_get(asked, "tasks");
    int64_t map_index = json_get_int(asked, "map_index", -1);
    strbuf_init(&text, TEXT_BYTES_MAX);
    strbuf_add(&text, describe_run(arena, row, NULL));
    if (json_array_size(names) == 0)
        strbuf_add(&text, ": what did not succeed");
    for (size_t i = 0; i < json_array_size(names) && i < NAMES_SHOWN; i++) {
        strbuf_addf(&text, "%s%s", i == 0 ? " " : ", ",
                    json_string_value(json_array_get(names, i)));
        if (map_index >= 0)
            strbuf_addf(&text, "[%lld]", (long long)map_index);
    }
    if (json_array_size(names) > NAMES_SHOWN)
        strbuf_add(&text, ", ...");
    return arena_strdup(arena, text.text);
}

/* --- how ------------------------------------------------------------------------------------- */

static bool names_the_object(const char *key)
{
    static const char *const OTHERS[] = {"namespace", "backfill", "dag",    "kind",
                                         "reason",    "was",      "run_id", "asked"};
    for (size_t i = 0; i < ARRAY_LEN(NAME_KEYS); i++)
        if (str_equal(key, NAME_KEYS[i]))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(NUMBER_KEYS); i++)
        if (str_equal(key, NUMBER_KEYS[i]))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(OTHERS); i++)
        if (str_equal(key, OTHERS[i]))
            return true;
    return false;
}

static void add_value(struct strbuf *out, const json_t *value)
{
    if (json_is_string(value))
        strbuf_add(out, json_string_value(value));
    else if (json_is_integer(value))
        strbuf_addf(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        strbuf_addf(out, "%g", json_real_value(value));
    else
        strbuf_add(out, json_is_true(value) ? "yes" : json_is_false(value) ? "no" : "none");
}

/* How a clear was widened and narrowed. */
static void add_asked(struct strbuf *out, const json_t *asked)
{
    static const struct {
        const char *key;
        const char *text;
    } WORDS[] = {
        {"upstream", "with what they need"},
        {"downstream", "with what comes after them"},
        {"failed", "only what did not succeed"},
    };
    for (size_t i = 0; i < ARRAY_LEN(WORDS); i++)
        if (json_get_bool(asked, WORDS[i].key, false))
            strbuf_addf(out, "%s%s", out->length > 0 ? ", " : "", WORDS[i].text);
}

const char *audit_change_text(struct arena *arena, const json_t *details)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    const json_t *was = json_object_get(details, "was");
    const char *key = NULL;
    json_t *value = NULL;
    strbuf_init(&text, TEXT_BYTES_MAX);
    json_object_foreach((json_t *)(uintptr_t)details, key, value)
    {
        const json_t *before = json_object_get(was, key);
        if (names_the_object(key) || json_is_object(value) || json_is_array(value))
            continue;
        strbuf_addf(&text, "%s%s ", text.length > 0 ? ", " : "", key);
        if (before != NULL) {
            add_value(&text, before);
            strbuf_add(&text, " -> ");
        }
        add_value(&text, value);
    }
    add_asked(&text, json_object_get(details, "asked"));
    return text.length > 0 ? arena_strdup(arena, text.text) : NULL;
}
