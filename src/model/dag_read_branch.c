/*
 * dag_read_branch: the choices of a branch.
 *
 * Canonical form: [{"if": template, "then": [full ids]}, .., {"else": [full ids]}], the last
 * one optional.
 */
#include <string.h>

#include "base/arena.h"
#include "model/dag_read_priv.h"

static const struct dag_field CHOICE_ROWS[] = {{.key = "if"}, {.key = "then"}, {.key = "else"}};
static const struct field_table CHOICE_FIELDS = {"choice of a branch", ARRAY_LEN(CHOICE_ROWS),
                                                 CHOICE_ROWS};

static json_t *read_targets(struct reader *r, const char *key, struct spot spot,
                            const json_t *value)
{
    struct string_list names = {0};
    reader_texts(r, key, spot, value, &names);
    json_t *list = json_array();
    for (size_t i = 0; i < names.count; i++)
        (void)json_array_append_new(list, json_string(names.items[i]));
    return list;
}

static json_t *read_choice(struct reader *r, struct spot spot, const json_t *value)
{
    json_t *choice = json_object();
    if (!json_is_object(value)) {
        reader_mismatch(r, spot, "branch", "{if: .., then: [..]} or {else: [..]}", value);
        return choice;
    }
    struct spot at = {value, 0};
    for (READER_EACH(value, iter, at)) {
        const char *key = json_object_iter_key(iter);
        const json_t *member = json_object_iter_value(iter);
        if (strcmp(key, "if") == 0) {
            const char *suffix = arena_format(r->dag->arena, "branch.%zu.if", spot.index);
            const char *text = reader_condition(r, key, at, member, suffix);
            json_put(choice, key, json_string(text != NULL ? text : ""));
        } else if (strcmp(key, "then") == 0 || strcmp(key, "else") == 0) {
            json_put(choice, key, read_targets(r, key, at, member));
        } else {
            reader_unknown_key(r, &CHOICE_FIELDS, at, key, false);
        }
    }
    return choice;
}

static void check_choice(struct reader *r, struct spot spot, const json_t *choice, bool is_last)
{
    bool has_if = json_object_get(choice, "if") != NULL;
    bool has_then = json_object_get(choice, "then") != NULL;
    bool has_else = json_object_get(choice, "else") != NULL;
    if (has_else && (has_if || has_then))
        reader_problem(r, spot, "'branch': 'else' stands alone, without 'if' and 'then'");
    else if (has_else && !is_last)
        reader_problem(r, spot, "'branch': 'else' must be the last choice");
    else if (!has_else && has_if != has_then)
        reader_problem(r, spot, "'branch': '%s' needs '%s'", has_if ? "if" : "then",
                       has_if ? "then" : "if");
    else if (!has_else && !has_if)
        reader_problem(r, spot, "'branch': an empty choice: write {if: .., then: [..]}");
}

void reader_branch(struct reader *r, struct draft *draft, struct spot spot, const json_t *value)
{
    if (!json_is_array(value) || json_array_size(value) == 0) {
        reader_mismatch(r, spot, "branch", "a list of {if: .., then: [..]} and {else: [..]}",
                        value);
        return;
    }
    json_t *choices = json_array();
    size_t count = json_array_size(value);
    for (size_t i = 0; i < count; i++) {
        struct spot at = {value, i};
        json_t *choice = read_choice(r, at, json_array_get(value, i));
        if (json_is_object(json_array_get(value, i)))
            check_choice(r, at, choice, i + 1 == count);
        (void)json_array_append_new(choices, choice);
    }
    draft->def.settings = choices;
}

static bool is_dependant(const struct task_def *task, uint32_t node)
{
    size_t low = 0;
    size_t high = task->dependants.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (task->dependants.items[middle] == node)
            return true;
        if (task->dependants.items[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* Full id of a target, or NULL after a problem. */
static const char *check_target(struct reader *r, const struct draft *draft, struct spot spot,
                                const char *name)
{
    int64_t target = reader_resolve(r, draft->group, name);
    if (target == REF_NONE) {
        reader_unknown_task(r, spot, "branch", name);
        return NULL;
    }
    if (target < 0) {
        reader_problem(r, spot, "'branch': '%s' is a group: name its first tasks", name);
        return NULL;
    }
    const struct draft *chosen = &r->drafts[target];
    if (!is_dependant(&r->dag->tasks[draft->node], chosen->node)) {
        reader_problem(r, spot, "'branch': '%s' does not need '%s': add it to its 'needs'",
                       chosen->def.id, draft->def.id);
        return NULL;
    }
    return chosen->def.id;
}

static void check_targets(struct reader *r, const struct draft *draft, size_t choice,
                          const char *key)
{
    const json_t *source = json_object_get(draft->settings.container, task_kind_key(KIND_BRANCH));
    const json_t *object = json_array_get(source, choice);
    json_t *names = json_object_get(json_array_get(draft->def.settings, choice), key);
    const json_t *written = json_object_get(object, key);
    size_t count = json_array_size(names);
    /* A name that was no text is reported, and shifts the others. */
    if (json_is_array(written) && json_array_size(written) != count)
        return;
    for (size_t i = 0; i < count; i++) {
        struct spot spot = {written, i};
        if (!json_is_array(written)) {
            spot = (struct spot){object, 0};
            for (READER_EACH(object, iter, spot))
                if (strcmp(json_object_iter_key(iter), key) == 0)
                    break;
        }
        const char *id = check_target(r, draft, spot, json_string_value(json_array_get(names, i)));
        if (id != NULL)
            (void)json_array_set_new(names, i, json_string(id));
    }
}

void reader_check_branches(struct reader *r)
{
    for (size_t i = 0; i < r->drafts_count; i++) {
        const struct draft *draft = &r->drafts[i];
        if (draft->def.kind != KIND_BRANCH)
            continue;
        for (size_t k = 0; k < json_array_size(draft->def.settings); k++) {
            check_targets(r, draft, k, "then");
            check_targets(r, draft, k, "else");
        }
    }
}
