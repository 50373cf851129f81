#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "model/attempt.h"
#include "model/dag_read_priv.h"
#include "model/dag_roots.h"
#include "model/duration.h"
#include "model/hook.h"
#include "model/limits.h"
#include "model/template.h"

enum { TEXT_MAX = 2048 };

/* ---- problems ---- */

struct source_span reader_span(const struct reader *r, struct spot spot, bool of_key)
{
    if (spot.container == NULL)
        return r->place;
    if (r->locator == NULL)
        return (struct source_span){0};
    return r->locator->find(r->locator->context, spot.container, spot.index, of_key);
}

PRINTF(4, 0)
static void add_problem(struct reader *r, enum diag_severity severity, struct source_span span,
                        const char *fmt, va_list args)
{
    char text[TEXT_MAX];
    int length = vsnprintf(text, sizeof text, fmt, args);
    CHECK(length >= 0);
    diag_add(r->diags, severity, span.line, span.column, span.length, "%s", text);
}

/* Past the limit nobody sees the place, and finding it is not free. */
static struct source_span span_if_seen(const struct reader *r, struct spot spot, bool of_key)
{
    return r->diags->truncated ? (struct source_span){0} : reader_span(r, spot, of_key);
}

void reader_problem(struct reader *r, struct spot spot, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add_problem(r, DIAG_ERROR, span_if_seen(r, spot, false), fmt, args);
    va_end(args);
}

void reader_problem_at_key(struct reader *r, struct spot spot, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add_problem(r, DIAG_ERROR, span_if_seen(r, spot, true), fmt, args);
    va_end(args);
}

void reader_problem_at(struct reader *r, enum diag_severity severity, struct source_span span,
                       const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add_problem(r, severity, span, fmt, args);
    va_end(args);
}

void reader_mismatch(struct reader *r, struct spot spot, const char *key, const char *expected,
                     const json_t *value)
{
    static const char *const FOUND[] = {
        [JSON_OBJECT] = "a map",        [JSON_ARRAY] = "a list", [JSON_INTEGER] = "an integer",
        [JSON_REAL] = "a number",       [JSON_TRUE] = "true",    [JSON_FALSE] = "false",
        [JSON_NULL] = "nothing (null)",
    };
    if (json_is_string(value))
        reader_problem(r, spot, "'%s': expected %s, found the string '%.60s'", key, expected,
                       json_string_value(value));
    else
        reader_problem(r, spot, "'%s': expected %s, found %s", key, expected,
                       FOUND[json_typeof(value)]);
}

/* ---- unknown and kept keys ---- */

static const char *candidate_key(const void *context, size_t i)
{
    const struct field_table *table = context;
    return i < table->count ? table->fields[i].key
                            : task_kind_key((enum task_kind)(i - table->count));
}

void reader_unknown_key(struct reader *r, const struct field_table *table, struct spot spot,
                        const char *key, bool also_kinds)
{
    const char *near = NULL;
    if (!r->diags->truncated)
        near = str_nearest(key, table->count + (also_kinds ? KIND_COUNT : 0), candidate_key, table);
    if (near != NULL)
        reader_problem_at_key(r, spot, "unknown key '%.100s' of a %s; did you mean '%s'?", key,
                              table->what, near);
    else
        reader_problem_at_key(r, spot, "unknown key '%.100s' of a %s", key, table->what);
}

static bool already_said(const struct reader *r, const char *text)
{
    for (size_t i = 0; i < r->diags->count; i++)
        if (strcmp(r->diags->items[i].text, text) == 0)
            return true;
    return false;
}

static void warn_kept(struct reader *r, const struct field_table *table,
                      const struct dag_field *field, struct spot spot)
{
    size_t row = (size_t)(field - table->fields);
    uint64_t *warned = &r->warned[table == &DAG_FIELDS];
    CHECK(row < 64);
    if (*warned >> row & 1u)
        return;
    *warned |= (uint64_t)1 << row;
    char text[128];
    CHECK(snprintf(text, sizeof text, "'%s' is accepted but not acted on by this version",
                   field->key) > 0);
    if (!already_said(r, text))
        reader_problem_at(r, DIAG_WARNING, reader_span(r, spot, true), "%s", text);
}

static unsigned shape_of(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        return SHAPE_TEXT;
    case JSON_INTEGER:
        return SHAPE_INTEGER;
    case JSON_TRUE:
    case JSON_FALSE:
        return SHAPE_FLAG;
    case JSON_ARRAY:
        return SHAPE_LIST;
    case JSON_OBJECT:
        return SHAPE_MAP;
    case JSON_NULL:
        return SHAPE_NULL;
    case JSON_REAL:
        break;
    }
    return 0;
}

void reader_keep(struct reader *r, const struct field_table *table, const struct dag_field *field,
                 struct spot spot, const json_t *value, json_t **rest)
{
    char words[FIELD_WORDS_MAX];
    if ((shape_of(value) & field->shapes) == 0) {
        reader_mismatch(r, spot, field->key, dag_field_expects(field, words), value);
        return;
    }
    if (!field->has_effect)
        warn_kept(r, table, field, spot);
    reader_check_hooks(r, field->key, spot, value);
    reader_check_outputs(r, field->key, spot, value);
    struct sla ignored;
    if (strcmp(field->key, "sla") == 0)
        (void)reader_sla(r, spot, value, &ignored);
    /* What came from defaults is shared with other tasks. */
    json_t *own = *rest != NULL ? json_copy(*rest) : json_object();
    json_decref(*rest);
    *rest = own;
    json_put(own, field->key, json_incref(reader_mutable(value)));
}

/* ---- templates ---- */

void reader_template(struct reader *r, const char *text, struct spot spot, const char *suffix)
{
    bool in_hook = r->hook_path != NULL;
    if (template_is_plain(text))
        return;
    r->uses = mem_grow(r->uses, &r->uses_capacity, r->uses_count, sizeof *r->uses);
    r->uses[r->uses_count++] = (struct template_use){
        .text = text,
        .spot = spot,
        .draft = r->current,
        .in_hook = in_hook,
        /* What was kept before this was refused can still be read: the sender looks, too. */
        .takes_secrets = in_hook ? r->locator == NULL || hook_field_takes_secrets(suffix)
                                 : dag_field_takes_secrets(suffix),
    };
    reader_place(r, spot, suffix);
}

void reader_place(struct reader *r, struct spot spot, const char *suffix)
{
    if (r->locator == NULL)
        return;
    struct source_span span = reader_span(r, spot, false);
    span.line += r->locator->is_below(r->locator->context, spot.container, spot.index);
    const char *owner = r->current >= 0 ? r->drafts[r->current].def.id : NULL;
    if (r->hook_path != NULL)
        suffix = arena_format(r->dag->arena, "%s.%s", r->hook_path, suffix);
    r->places = mem_grow(r->places, &r->places_capacity, r->places_count, sizeof *r->places);
    r->places[r->places_count++] = (struct source_place){
        .path = owner != NULL ? arena_format(r->dag->arena, "tasks.%s.%s", owner, suffix)
                : r->current == CURRENT_DAG ? arena_strdup(r->dag->arena, suffix)
                                            : arena_format(r->dag->arena, "defaults.%s", suffix),
        .line = span.line,
        .column = span.column,
    };
}

const char *reader_condition(struct reader *r, const char *key, struct spot spot,
                             const json_t *value, const char *suffix)
{
    if (json_is_boolean(value))
        return json_is_true(value) ? "{{ true }}" : "{{ false }}";
    if (!json_is_string(value)) {
        reader_mismatch(r, spot, key, "a template such as \"{{ params.full }}\", true or false",
                        value);
        return NULL;
    }
    const char *text = arena_strdup(r->dag->arena, json_string_value(value));
    if (template_is_plain(text)) {
        reader_problem(r, spot,
                       "'%s': '%.60s' is not a template, so it is always the same: write \"{{ .. "
                       "}}\", true or false",
                       key, text);
        return NULL;
    }
    reader_template(r, text, spot, suffix);
    return text;
}

/* ---- typed values ---- */

static void read_text(struct reader *r, const struct dag_field *field, struct spot spot,
                      const json_t *value, const char **out)
{
    char words[FIELD_WORDS_MAX];
    if (!json_is_string(value)) {
        reader_mismatch(r, spot, field->key, dag_field_expects(field, words), value);
        return;
    }
    const char *text = json_string_value(value);
    if (field->type == FIELD_NAME && !dag_name_is_valid(text)) {
        reader_problem(r, spot, "'%s': '%.60s' is not a name: " DAG_NAME_RULE, field->key, text);
        return;
    }
    *out = arena_strdup(r->dag->arena, text);
    if (field->type == FIELD_TEMPLATE)
        reader_template(r, *out, spot, field->key);
}

static void read_integer(struct reader *r, const struct dag_field *field, struct spot spot,
                         const json_t *value, int64_t *out)
{
    char words[FIELD_WORDS_MAX];
    int64_t number = json_integer_value(value);
    if (!json_is_integer(value))
        reader_mismatch(r, spot, field->key, dag_field_expects(field, words), value);
    else if (number < field->least || number > field->most)
        reader_problem(r, spot, "'%s': %" PRId64 " is out of bounds: expected %s", field->key,
                       number, dag_field_expects(field, words));
    else
        *out = number;
}

static void read_number(struct reader *r, const struct dag_field *field, struct spot spot,
                        const json_t *value, double *out)
{
    char words[FIELD_WORDS_MAX];
    double number = json_number_value(value);
    if (!json_is_number(value))
        reader_mismatch(r, spot, field->key, dag_field_expects(field, words), value);
    else if (number < (double)field->least || number > (double)field->most)
        reader_problem(r, spot, "'%s': %g is out of bounds: expected %s", field->key, number,
                       dag_field_expects(field, words));
    else
        *out = number;
}

static void read_amount(struct reader *r, const struct dag_field *field, struct spot spot,
                        const json_t *value, int64_t *out)
{
    char words[FIELD_WORDS_MAX];
    bool is_size = field->type == FIELD_SIZE;
    int64_t amount = 0;
    bool is_right = false;
    if (json_is_string(value))
        is_right = is_size ? size_parse(json_string_value(value), &amount)
                           : duration_parse(json_string_value(value), &amount);
    else if (json_is_integer(value) && is_size)
        is_right = (amount = json_integer_value(value)) >= 0;
    else if (json_is_integer(value))
        is_right = duration_from_seconds(json_integer_value(value), &amount);
    if (!is_right)
        reader_mismatch(r, spot, field->key, dag_field_expects(field, words), value);
    else
        *out = amount;
}

static const char *nth_choice(const void *context, size_t i)
{
    return ((const struct field_choices *)context)->names[i];
}

static void read_choice(struct reader *r, const struct dag_field *field, struct spot spot,
                        const json_t *value, unsigned *out)
{
    char words[FIELD_WORDS_MAX];
    const char *text = json_string_value(value);
    for (size_t i = 0; text != NULL && i < field->choices->count; i++) {
        if (strcmp(field->choices->names[i], text) == 0) {
            *out = (unsigned)i;
            return;
        }
    }
    enum trigger_rule rule = RULE_COUNT;
    if (text != NULL && field->choices->count == RULE_COUNT && trigger_rule_parse(text, &rule)) {
        *out = rule;
        return;
    }
    const char *near =
        text != NULL ? str_nearest(text, field->choices->count, nth_choice, field->choices) : NULL;
    if (near != NULL)
        reader_problem(r, spot, "'%s': there is no '%s'; did you mean '%s'?", field->key, text,
                       near);
    else
        reader_mismatch(r, spot, field->key, dag_field_expects(field, words), value);
}

void reader_texts(struct reader *r, const char *what, struct spot spot, const json_t *value,
                  struct string_list *out)
{
    if (json_is_null(value))
        return;
    size_t count = json_is_string(value) ? 1 : json_array_size(value);
    if (!json_is_string(value) && !json_is_array(value)) {
        reader_mismatch(r, spot, what, "a list of strings", value);
        return;
    }
    const char **items = arena_array(r->dag->arena, count + 1, sizeof *items);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_is_string(value) ? value : json_array_get(value, i);
        struct spot at = json_is_string(value) ? spot : (struct spot){value, i};
        if (json_is_string(item))
            items[kept++] = arena_strdup(r->dag->arena, json_string_value(item));
        else
            reader_mismatch(r, at, what, "a string", item);
    }
    *out = (struct string_list){.items = items, .count = kept};
}

static bool read_code(struct reader *r, const struct dag_field *field, struct spot spot,
                      const json_t *value, int *out)
{
    int64_t code = json_integer_value(value);
    if (code < 0 || code > 255) {
        reader_problem(r, spot, "'%s': exit codes are 0 to 255, not %" PRId64, field->key, code);
        return false;
    }
    *out = (int)code;
    return true;
}

static void read_codes(struct reader *r, const struct dag_field *field, struct spot spot,
                       const json_t *value, struct exit_codes *out)
{
    size_t count = json_is_integer(value) ? 1 : json_array_size(value);
    if (!json_is_integer(value) && !json_is_array(value)) {
        reader_mismatch(r, spot, field->key, "a list of exit codes from 0 to 255", value);
        return;
    }
    int *items = arena_array(r->dag->arena, count + 1, sizeof *items);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_is_integer(value) ? value : json_array_get(value, i);
        struct spot at = json_is_integer(value) ? spot : (struct spot){value, i};
        if (json_is_integer(item))
            kept += read_code(r, field, at, item, &items[kept]);
        else
            reader_mismatch(r, at, field->key, "an exit code from 0 to 255", item);
    }
    *out = (struct exit_codes){.items = items, .count = kept};
}

static void read_cause(struct reader *r, const struct dag_field *field, struct spot spot,
                       const json_t *value, unsigned *reasons)
{
    static const char WANTED[] = "an exit code from 0 to 255, or exit, signal, timeout, exec_error";
    const struct field_choices *choices = field->choices;
    const char *name = json_string_value(value);
    enum reason reason = REASON_NONE;
    for (size_t i = 0; name != NULL && i < choices->count; i++) {
        if (strcmp(choices->names[i], name) == 0 && reason_parse(name, &reason)) {
            *reasons |= 1u << reason;
            return;
        }
    }
    const char *near = name != NULL ? str_nearest(name, choices->count, nth_choice, choices) : NULL;
    if (near != NULL)
        reader_problem(r, spot, "'%s': there is no '%s'; did you mean '%s'?", field->key, name,
                       near);
    else
        reader_mismatch(r, spot, field->key, WANTED, value);
}

static void read_causes(struct reader *r, const struct dag_field *field, struct spot spot,
                        const json_t *value, struct retry_causes *out)
{
    bool is_list = json_is_array(value);
    size_t count = is_list ? json_array_size(value) : 1;
    struct retry_causes causes = {
        .codes.items = arena_array(r->dag->arena, count + 1, sizeof *causes.codes.items)};
    for (size_t i = 0; i < count; i++) {
        const json_t *item = is_list ? json_array_get(value, i) : value;
        struct spot at = is_list ? (struct spot){value, i} : spot;
        if (json_is_integer(item))
            causes.codes.count +=
                read_code(r, field, at, item, &causes.codes.items[causes.codes.count]);
        else
            read_cause(r, field, at, item, &causes.reasons);
    }
    *out = causes;
}

/* ---- environment ---- */

static bool is_env_name(const char *name)
{
    if (!isalpha((unsigned char)name[0]) && name[0] != '_')
        return false;
    for (const char *p = name; *p != '\0'; p++)
        if (!isalnum((unsigned char)*p) && *p != '_')
            return false;
    return true;
}

/* Numbers and booleans are texts in an environment; NULL for what cannot be one. */
static const char *env_text(struct reader *r, const json_t *value)
{
    if (json_is_string(value))
        return arena_strdup(r->dag->arena, json_string_value(value));
    if (!json_is_number(value) && !json_is_boolean(value))
        return NULL;
    char *text = json_format(value);
    const char *kept = arena_strdup(r->dag->arena, text);
    free(text);
    return kept;
}

static int compare_env(const void *a, const void *b)
{
    return strcmp(((const struct env_entry *)a)->name, ((const struct env_entry *)b)->name);
}

/* Entries of `value` replace those of the same name that defaults gave. */
static void read_env(struct reader *r, struct spot spot, const json_t *value, struct task_def *task)
{
    if (json_is_null(value))
        return;
    if (!json_is_object(value)) {
        reader_mismatch(r, spot, "env", "a map of strings", value);
        return;
    }
    size_t room = task->env_count + json_object_size(value);
    struct env_entry *entries = arena_array(r->dag->arena, room + 1, sizeof *entries);
    size_t count = 0;
    struct spot at = {value, 0};
    for (READER_EACH(value, iter, at)) {
        const char *name = json_object_iter_key(iter);
        const char *text = env_text(r, json_object_iter_value(iter));
        if (!is_env_name(name)) {
            reader_problem_at_key(r, at,
                                  "'%.60s' is not the name of a variable: letters, digits and _, "
                                  "not starting with a digit",
                                  name);
            continue;
        }
        if (text == NULL) {
            reader_mismatch(r, at, name, "a string", json_object_iter_value(iter));
            continue;
        }
        entries[count++] =
            (struct env_entry){.name = arena_strdup(r->dag->arena, name), .value = text};
        reader_template(r, text, at, arena_format(r->dag->arena, "env.%s", name));
    }
    for (size_t i = 0; i < task->env_count; i++)
        if (json_object_get(value, task->env[i].name) == NULL)
            entries[count++] = task->env[i];
    if (count > 0)
        qsort(entries, count, sizeof *entries, compare_env);
    task->env = entries;
    task->env_count = count;
}

/* ---- groups of fields ---- */

static void read_members(struct reader *r, const struct dag_field *field, struct spot spot,
                         const json_t *value, void *base)
{
    if (json_is_null(value))
        return;
    if (!json_is_object(value)) {
        reader_mismatch(r, spot, field->key, "a map", value);
        return;
    }
    struct spot at = {value, 0};
    for (READER_EACH(value, iter, at)) {
        const char *key = json_object_iter_key(iter);
        const struct dag_field *member = dag_field_find(field->members, key);
        if (member == NULL) {
            reader_unknown_key(r, field->members, at, key, false);
            continue;
        }
        void *target = (char *)base + member->offset;
        if (member->type == FIELD_CODES)
            read_codes(r, member, at, json_object_iter_value(iter), target);
        else if (member->type == FIELD_INTEGER)
            read_integer(r, member, at, json_object_iter_value(iter), target);
        else
            read_amount(r, member, at, json_object_iter_value(iter), target);
    }
}

void reader_field(struct reader *r, const struct dag_field *field, struct spot spot,
                  const json_t *value, void *base)
{
    void *target = (char *)base + field->offset;
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_TEMPLATE:
    case FIELD_NAME:
        read_text(r, field, spot, value, target);
        break;
    case FIELD_CONDITION: {
        const char *text = reader_condition(r, field->key, spot, value, field->key);
        *(const char **)target = text;
        break;
    }
    case FIELD_FLAG:
        if (json_is_boolean(value))
            *(bool *)target = json_is_true(value);
        else
            reader_mismatch(r, spot, field->key, "true or false", value);
        break;
    case FIELD_INTEGER:
        read_integer(r, field, spot, value, target);
        break;
    case FIELD_NUMBER:
        read_number(r, field, spot, value, target);
        break;
    case FIELD_DURATION:
    case FIELD_SIZE:
        read_amount(r, field, spot, value, target);
        break;
    case FIELD_TEXTS:
        reader_texts(r, field->key, spot, value, target);
        break;
    case FIELD_CODES:
        read_codes(r, field, spot, value, target);
        break;
    case FIELD_CAUSES:
        read_causes(r, field, spot, value, target);
        break;
    case FIELD_CHOICE:
        read_choice(r, field, spot, value, target);
        break;
    case FIELD_ENV:
        read_env(r, spot, value, base);
        break;
    case FIELD_GROUP:
        read_members(r, field, spot, value, target);
        break;
    case FIELD_MISSING:
        reader_problem_at_key(r, spot, "'%s' is not available in this version", field->key);
        break;
    case FIELD_OWN:
    case FIELD_KEPT:
        CHECK(field->type != FIELD_OWN && field->type != FIELD_KEPT);
        break;
    }
}
