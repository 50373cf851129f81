#include "model/dag_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "model/dag_read_priv.h"
#include "model/limits.h"
#include "model/schedule_fields.h"
#include "model/template.h"
#include "model/watch.h"

/* ---- references ---- */

static void add_ref(struct reader *r, enum ref_kind kind, struct spot spot, const json_t *value)
{
    if (!json_is_string(value)) {
        reader_mismatch(r, spot, kind == REF_NEEDS ? "needs" : "teardown", "the id of a task",
                        value);
        return;
    }
    r->refs = mem_grow(r->refs, &r->refs_capacity, r->refs_count, sizeof *r->refs);
    r->refs[r->refs_count++] = (struct ref){
        .name = json_string_value(value), .spot = spot, .kind = kind, .target = REF_NONE};
}

static void add_refs(struct reader *r, enum ref_kind kind, struct spot spot, const json_t *value)
{
    if (json_is_null(value))
        return;
    if (!json_is_array(value)) {
        if (json_is_string(value))
            add_ref(r, kind, spot, value);
        else
            reader_mismatch(r, spot, kind == REF_NEEDS ? "needs" : "teardown", "a list of tasks",
                            value);
        return;
    }
    size_t count = json_array_size(value);
    if (count > LIMIT_NEEDS) {
        reader_problem(r, spot, "%zu tasks in one list, at most %d", count, LIMIT_NEEDS);
        return;
    }
    for (size_t i = 0; i < count; i++)
        add_ref(r, kind, (struct spot){value, i}, json_array_get(value, i));
}

/* ---- mapping ---- */

static void read_foreach(struct reader *r, struct spot spot, const json_t *value,
                         struct task_def *task)
{
    if (json_is_string(value) && !template_is_plain(json_string_value(value))) {
        if (reader_condition(r, "foreach", spot, value, "foreach") != NULL)
            task->foreach = json_incref(reader_mutable(value));
        return;
    }
    if (!json_is_array(value)) {
        reader_mismatch(r, spot, "foreach", "a list, or a template that gives one", value);
        return;
    }
    if (json_array_size(value) > LIMIT_INSTANCES)
        reader_problem(r, spot, "'foreach': %zu items, at most %d", json_array_size(value),
                       LIMIT_INSTANCES);
    task->foreach = json_incref(reader_mutable(value));
}

static void read_matrix(struct reader *r, struct spot spot, const json_t *value,
                        struct task_def *task)
{
    if (!json_is_object(value) || json_object_size(value) == 0) {
        reader_mismatch(r, spot, "matrix", "a map of lists", value);
        return;
    }
    size_t product = 1;
    struct spot at = {value, 0};
    for (READER_EACH(value, iter, at)) {
        const json_t *list = json_object_iter_value(iter);
        const char *key = json_object_iter_key(iter);
        size_t count = json_array_size(list);
        if (!dag_name_is_valid(key))
            reader_problem_at_key(r, at, "'matrix': '%.60s' is not a name: " DAG_NAME_RULE, key);
        if (count == 0) {
            reader_mismatch(r, at, key, "a list with at least one value", list);
            continue;
        }
        product = count > LIMIT_INSTANCES ? LIMIT_INSTANCES + 1 : product * count;
        product = MIN(product, (size_t)LIMIT_INSTANCES + 1);
    }
    if (product > LIMIT_INSTANCES)
        reader_problem(r, spot, "'matrix': more than %d combinations", LIMIT_INSTANCES);
    task->matrix = json_incref(reader_mutable(value));
}

/* ---- tasks ---- */

/* A key and its alias side by side: which one counts would be a guess. */
static void check_alias(struct reader *r, const struct dag_field *field, const char *key,
                        struct spot spot)
{
    if (field == NULL || strcmp(key, field->key) == 0 ||
        json_object_get(spot.container, field->key) == NULL)
        return;
    reader_problem_at_key(r, spot, "'%s' and '%s' mean the same: keep one", key, field->key);
}

static void read_group_name(struct reader *r, struct spot spot, const json_t *value,
                            struct task_def *task)
{
    const char *group = json_string_value(value);
    if (group == NULL) {
        reader_mismatch(r, spot, "group", "a string", value);
        return;
    }
    size_t length = strlen(group);
    if (!dag_name_is_valid(group) || strncmp(task->id, group, length) != 0 ||
        task->id[length] != '.')
        reader_problem(r, spot, "'group': the task's id must start with '%.60s.'", group);
    else
        task->group = arena_strdup(r->dag->arena, group);
}

static void read_own_key(struct reader *r, struct draft *draft, const char *key, struct spot spot,
                         const json_t *value)
{
    if (strcmp(key, "needs") == 0) {
        add_refs(r, REF_NEEDS, spot, value);
    } else if (strcmp(key, "teardown") == 0) {
        draft->teardown = spot;
        add_refs(r, REF_TEARDOWN, spot, value);
    } else if (strcmp(key, "foreach") == 0) {
        read_foreach(r, spot, value, &draft->def);
    } else if (strcmp(key, "matrix") == 0) {
        read_matrix(r, spot, value, &draft->def);
    } else if (strcmp(key, "group") == 0) {
        read_group_name(r, spot, value, &draft->def);
    } else if (strcmp(key, "interpreter") == 0) {
        draft->interpreter = spot;
    } else {
        CHECK(strcmp(key, "args") == 0);
        draft->args = spot;
    }
}

static void read_kind(struct reader *r, struct draft *draft, enum task_kind kind, struct spot spot,
                      const json_t *value)
{
    if (draft->settings.container != NULL) {
        reader_problem_at_key(r, spot, "task '%s' has two kinds, '%s' and '%s': keep one",
                              draft->def.id, task_kind_key(draft->def.kind), task_kind_key(kind));
        return;
    }
    reader_settings(r, draft, kind, spot, value);
}

static void read_task_key(struct reader *r, struct draft *draft, const char *key, struct spot spot,
                          const json_t *value)
{
    const struct dag_field *field = dag_field_find(&TASK_FIELDS, key);
    enum task_kind kind = KIND_COUNT;
    if (field == NULL && task_kind_parse(key, &kind))
        read_kind(r, draft, kind, spot, value);
    else if (field == NULL)
        reader_unknown_key(r, &TASK_FIELDS, spot, key, true);
    else if (field->type == FIELD_OWN)
        read_own_key(r, draft, key, spot, value);
    else if (field->type == FIELD_KEPT)
        reader_keep(r, &TASK_FIELDS, field, spot, value, &draft->def.rest);
    else
        reader_field(r, field, spot, value, &draft->def);
    check_alias(r, field, key, spot);
    draft->rule_given |= field != NULL && strcmp(key, "trigger_rule") == 0;
}

static void check_task(struct reader *r, struct draft *draft)
{
    const struct task_def *task = &draft->def;
    reader_finish_settings(r, draft);
    if (draft->settings.container == NULL)
        reader_problem_at_key(r, draft->spot,
                              "task '%s' has no kind: add run, script, noop, sensor, branch or "
                              "short_circuit",
                              task->id);
    if (task->foreach != NULL && task->matrix != NULL)
        reader_problem_at_key(r, draft->spot, "task '%s' has both 'foreach' and 'matrix'",
                              task->id);
    if (task->protocol && task->kind != KIND_RUN && task->kind != KIND_SCRIPT)
        reader_problem_at_key(r, draft->spot, "task '%s': 'protocol' is for run and script",
                              task->id);
    if (task->is_setup && draft->teardown.container != NULL)
        reader_problem_at_key(r, draft->spot, "task '%s' is both setup and teardown", task->id);
}

/* The id inside its group, or NULL after a problem. */
static const char *full_id(struct reader *r, int64_t group, struct spot spot, const char *name,
                           const char *what)
{
    const char *id = name;
    if (group >= 0)
        id = arena_format(r->dag->arena, "%s.%s", r->groups[group].name, name);
    else
        id = arena_strdup(r->dag->arena, name);
    if (!dag_name_is_valid(name) || !dag_name_is_valid(id)) {
        reader_problem_at_key(r, spot, "'%.60s' is not a %s id: " DAG_NAME_RULE, name, what);
        return NULL;
    }
    return id;
}

static void read_task(struct reader *r, int64_t group, bool is_finally, struct spot spot,
                      const char *name, const json_t *value)
{
    const char *id = full_id(r, group, spot, name, "task");
    if (id == NULL)
        return;
    if (!strmap_add(r->names, id, (int64_t)r->drafts_count)) {
        reader_problem_at_key(r, spot, "'%s' is the id of another task or group", id);
        return;
    }
    r->drafts = mem_grow(r->drafts, &r->drafts_capacity, r->drafts_count, sizeof *r->drafts);
    struct draft *draft = &r->drafts[r->drafts_count];
    *draft = (struct draft){
        .def = group >= 0 ? r->groups[group].defaults : r->defaults,
        .spot = spot,
        .group = group,
        .refs_first = r->refs_count,
    };
    draft->def.id = id;
    draft->def.group = group >= 0 ? r->groups[group].name : "";
    draft->def.is_finally = is_finally;
    json_incref(draft->def.rest);
    r->current = (int64_t)r->drafts_count++;
    if (!json_is_object(value)) {
        reader_mismatch(r, spot, name, "a map such as { run: echo hello }", value);
        return;
    }
    struct spot at = {value, 0};
    for (READER_EACH(value, iter, at))
        read_task_key(r, draft, json_object_iter_key(iter), at, json_object_iter_value(iter));
    draft->refs_count = r->refs_count - draft->refs_first;
    check_task(r, draft);
}

static void read_tasks(struct reader *r, int64_t group, bool is_finally, struct spot spot,
                       const json_t *value)
{
    if (json_is_null(value))
        return;
    if (!json_is_object(value)) {
        reader_mismatch(r, spot, is_finally ? "finally" : "tasks", "a map from id to task", value);
        return;
    }
    struct spot at = {value, 0};
    for (READER_EACH(value, iter, at)) {
        if (r->drafts_count == LIMIT_TASKS) {
            reader_problem_at_key(r, at, "more than %d tasks in one DAG", LIMIT_TASKS);
            return;
        }
        read_task(r, group, is_finally, at, json_object_iter_key(iter),
                  json_object_iter_value(iter));
    }
}

/* ---- defaults and groups ---- */

/* Keys that the defaults of a DAG may have for the DAG itself. */
static bool is_dag_default(const char *key)
{
    static const char *const KEYS[] = {"owner", "start_date", "end_date"};
    for (size_t i = 0; i < ARRAY_LEN(KEYS); i++)
        if (strcmp(KEYS[i], key) == 0)
            return true;
    return false;
}

static void read_defaults(struct reader *r, struct spot spot, const json_t *value,
                          struct task_def *into)
{
    if (json_is_null(value))
        return;
    if (!json_is_object(value)) {
        reader_mismatch(r, spot, "defaults", "a map", value);
        return;
    }
    r->current = CURRENT_DEFAULTS;
    struct spot at = {value, 0};
    for (READER_EACH(value, iter, at)) {
        const char *key = json_object_iter_key(iter);
        const struct dag_field *field = dag_field_find(&TASK_FIELDS, key);
        enum task_kind kind = KIND_COUNT;
        if (into == &r->defaults && is_dag_default(key))
            continue;
        if ((field != NULL && field->own_only) || (field == NULL && task_kind_parse(key, &kind)))
            reader_problem_at_key(r, at, "'%s' belongs to a task, not to 'defaults'", key);
        else if (field == NULL)
            reader_unknown_key(r, &TASK_FIELDS, at, key, false);
        else if (field->type == FIELD_KEPT)
            reader_keep(r, &TASK_FIELDS, field, at, json_object_iter_value(iter), &into->rest);
        else
            reader_field(r, field, at, json_object_iter_value(iter), into);
    }
}

/* Where a member stands; its index is 0 when it is absent. */
static struct spot member_spot(const json_t *object, const char *key)
{
    struct spot spot = {object, 0};
    for (READER_EACH(object, iter, spot))
        if (strcmp(json_object_iter_key(iter), key) == 0)
            return spot;
    return (struct spot){object, 0};
}

static const json_t *member_or_alias(const json_t *object, const char *key, const char *alias,
                                     struct spot *out_spot)
{
    const json_t *value = json_object_get(object, key);
    const char *found = value != NULL ? key : alias;
    *out_spot = member_spot(object, found);
    return value != NULL ? value : json_object_get(object, alias);
}

static void check_group_keys(struct reader *r, const json_t *object)
{
    struct spot at = {object, 0};
    for (READER_EACH(object, iter, at)) {
        const char *key = json_object_iter_key(iter);
        if (dag_field_find(&GROUP_FIELDS, key) == NULL)
            reader_unknown_key(r, &GROUP_FIELDS, at, key, false);
        else if (strcmp(key, "doc") == 0 && !json_is_string(json_object_iter_value(iter)))
            reader_mismatch(r, at, key, "a string", json_object_iter_value(iter));
    }
}

/* Read a group without the groups in it; its number, or -1 after a problem. */
static int64_t open_group(struct reader *r, int64_t parent, struct spot spot, const char *name,
                          const json_t *value)
{
    const char *id = full_id(r, parent, spot, name, "group");
    if (id == NULL)
        return -1;
    int64_t number = (int64_t)r->groups_count;
    if (!strmap_add(r->names, id, -1 - number)) {
        reader_problem_at_key(r, spot, "'%s' is the id of another task or group", id);
        return -1;
    }
    if (!json_is_object(value)) {
        reader_mismatch(r, spot, name, "a map with tasks", value);
        return -1;
    }
    r->groups = mem_grow(r->groups, &r->groups_capacity, r->groups_count, sizeof *r->groups);
    struct group_draft *group = &r->groups[r->groups_count++];
    *group = (struct group_draft){
        .name = id,
        .parent = parent,
        .spot = spot,
        .drafts_first = r->drafts_count,
        .refs_first = r->refs_count,
        .defaults = parent >= 0 ? r->groups[parent].defaults : r->defaults,
    };
    json_incref(group->defaults.rest);
    check_group_keys(r, value);
    struct spot at;
    const json_t *defaults = member_or_alias(value, "defaults", "default_args", &at);
    if (defaults != NULL)
        read_defaults(r, at, defaults, &group->defaults);
    if (json_object_get(value, "needs") != NULL)
        add_refs(r, REF_NEEDS, member_spot(value, "needs"), json_object_get(value, "needs"));
    group->refs_count = r->refs_count - group->refs_first;
    if (json_object_get(value, "tasks") != NULL)
        read_tasks(r, number, false, member_spot(value, "tasks"), json_object_get(value, "tasks"));
    return number;
}

static void close_group(struct reader *r, int64_t number)
{
    struct group_draft *group = &r->groups[number];
    group->drafts_end = r->drafts_count;
    group->groups_end = r->groups_count;
    if (group->drafts_first == group->drafts_end)
        reader_problem_at_key(r, group->spot, "group '%s' has no tasks", group->name);
}

struct group_frame {
    const json_t *map;
    void *iter;
    size_t index;
    int64_t owner; /* the group whose groups these are, or -1 */
};

static bool push_groups(struct reader *r, struct group_frame *stack, size_t *depth,
                        const json_t *map, int64_t owner, struct spot spot)
{
    if (map == NULL || json_is_null(map))
        return false;
    if (!json_is_object(map)) {
        reader_mismatch(r, spot, "groups", "a map from name to group", map);
        return false;
    }
    if (*depth == LIMIT_YAML_DEPTH) {
        reader_problem(r, spot, "groups are nested too deeply");
        return false;
    }
    stack[(*depth)++] = (struct group_frame){
        .map = map, .iter = json_object_iter(reader_mutable(map)), .owner = owner};
    return true;
}

/* Depth first, so that the tasks of a group and of the groups in it are neighbours. */
static void read_groups(struct reader *r, struct spot spot, const json_t *value)
{
    struct group_frame stack[LIMIT_YAML_DEPTH];
    size_t depth = 0;
    (void)push_groups(r, stack, &depth, value, -1, spot);
    while (depth > 0) {
        struct group_frame *top = &stack[depth - 1];
        if (top->iter == NULL) {
            if (top->owner >= 0)
                close_group(r, top->owner);
            depth--;
            continue;
        }
        const char *name = json_object_iter_key(top->iter);
        const json_t *member = json_object_iter_value(top->iter);
        int64_t number =
            open_group(r, top->owner, (struct spot){top->map, top->index}, name, member);
        top->iter = json_object_iter_next(reader_mutable(top->map), top->iter);
        top->index++;
        if (number < 0)
            continue;
        const json_t *inner = json_object_get(member, "groups");
        struct spot inner_spot = {member, 0};
        if (inner != NULL)
            inner_spot = member_spot(member, "groups");
        if (!push_groups(r, stack, &depth, inner, number, inner_spot))
            close_group(r, number);
    }
}

/* ---- the DAG ---- */

static void note_schedule_key(struct reader *r, const char *key, struct placed placed)
{
    struct schedule_source *source = &r->schedule;
    if (strcmp(key, "schedule") == 0)
        source->schedule = placed;
    else if (strcmp(key, "start_date") == 0)
        source->start = placed;
    else if (strcmp(key, "end_date") == 0)
        source->end = placed;
    else if (strcmp(key, "catchup") == 0)
        source->catchup = placed;
}

static void keep_dag_key(struct reader *r, const struct dag_field *field, struct spot spot,
                         const json_t *value)
{
    size_t errors_before = r->diags->errors;
    reader_keep(r, &DAG_FIELDS, field, spot, value, &r->dag->rest);
    if (r->diags->errors == errors_before)
        note_schedule_key(r, field->key, (struct placed){spot, value});
}

/* A zone or an interval beside the schedule is meant to be in it. */
static void unknown_dag_key(struct reader *r, const char *key, struct spot spot)
{
    const struct dag_field *field = dag_field_find(&SCHEDULE_FIELDS, key);
    if (field != NULL)
        reader_problem_at_key(r, spot,
                              "'%s' is no key of a DAG but of its schedule: write it into the map, "
                              "as in schedule: {cron: \"15 2 * * *\", tz: Europe/Berlin}",
                              key);
    else
        reader_unknown_key(r, &DAG_FIELDS, spot, key, false);
}

static void read_dag_key(struct reader *r, const char *key, struct spot spot, const json_t *value)
{
    const struct dag_field *field = dag_field_find(&DAG_FIELDS, key);
    r->current = CURRENT_DAG;
    /* Nobody writes it: it follows from what the tasks name. */
    if (r->locator == NULL && strcmp(key, "files") == 0) {
        reader_files(r, spot, value);
        return;
    }
    if (field == NULL)
        unknown_dag_key(r, key, spot);
    else if (field->type == FIELD_KEPT)
        keep_dag_key(r, field, spot, value);
    else if (field->type != FIELD_OWN)
        reader_field(r, field, spot, value, r->dag);
    else if (strcmp(key, "params") == 0)
        reader_params(r, spot, value);
    else if (strcmp(key, "eider") == 0 &&
             !(json_is_integer(value) && json_integer_value(value) == 1))
        reader_problem(r, spot, "'eider': this version reads format 1");
    check_alias(r, field, key, spot);
}

/* Airflow's default_args has keys of the DAG, too; what the DAG itself says counts more. */
static void read_dag_defaults(struct reader *r, const json_t *tree, const json_t *defaults)
{
    struct spot at = {defaults, 0};
    for (READER_EACH(defaults, iter, at)) {
        const char *key = json_object_iter_key(iter);
        if (is_dag_default(key) && json_object_get(tree, key) == NULL)
            read_dag_key(r, key, at, json_object_iter_value(iter));
    }
}

static void read_tree(struct reader *r, const json_t *tree)
{
    struct spot at = {tree, 0};
    for (READER_EACH(tree, iter, at))
        read_dag_key(r, json_object_iter_key(iter), at, json_object_iter_value(iter));
    struct spot spot;
    const json_t *defaults = member_or_alias(tree, "defaults", "default_args", &spot);
    read_dag_defaults(r, tree, defaults);
    if (defaults != NULL)
        read_defaults(r, spot, defaults, &r->defaults);
    const json_t *tasks = json_object_get(tree, "tasks");
    if (tasks != NULL)
        read_tasks(r, -1, false, member_spot(tree, "tasks"), tasks);
    const json_t *groups = json_object_get(tree, "groups");
    if (groups != NULL)
        read_groups(r, member_spot(tree, "groups"), groups);
    size_t main_tasks = r->drafts_count;
    const json_t *finally = json_object_get(tree, "finally");
    if (finally != NULL)
        read_tasks(r, -1, true, member_spot(tree, "finally"), finally);
    if (main_tasks == 0 && r->diags->errors == r->errors_before) {
        if (tasks != NULL)
            reader_problem_at_key(r, member_spot(tree, "tasks"), "the DAG has no tasks");
        else
            reader_problem_at(r, DIAG_ERROR, r->place, "the DAG has no tasks: add 'tasks'");
    }
}

static int compare_places(const void *a, const void *b)
{
    return strcmp(((const struct source_place *)a)->path, ((const struct source_place *)b)->path);
}

static void keep_places(struct reader *r)
{
    if (r->places_count == 0)
        return;
    qsort(r->places, r->places_count, sizeof *r->places, compare_places);
    r->dag->places = arena_array(r->dag->arena, r->places_count, sizeof *r->places);
    memcpy(r->dag->places, r->places, r->places_count * sizeof *r->places);
    r->dag->places_count = r->places_count;
}

static void drop_task(struct task_def *task)
{
    json_decref(task->settings);
    json_decref(task->foreach);
    json_decref(task->matrix);
    json_decref(task->rest);
}

static void reader_fini(struct reader *r, bool tasks_taken)
{
    for (size_t i = 0; i < r->drafts_count && !tasks_taken; i++)
        drop_task(&r->drafts[i].def);
    for (size_t i = 0; i < r->groups_count; i++)
        json_decref(r->groups[i].defaults.rest);
    json_decref(r->defaults.rest);
    strmap_free(r->names);
    free(r->drafts);
    free(r->groups);
    free(r->refs);
    free(r->uses);
    free(r->places);
}

static struct dag *new_dag(const char *id)
{
    struct arena *arena = arena_new();
    struct dag *dag = arena_alloc(arena, sizeof *dag);
    *dag = (struct dag){
        .arena = arena,
        .id = id != NULL ? arena_strdup(arena, id) : NULL,
        .namespace_ = "default",
        .tier = "default",
        .max_active_runs = 1,
    };
    return dag;
}

static void check_id(struct reader *r, const char *refused_id)
{
    if (r->dag->id != NULL)
        return;
    if (refused_id == NULL)
        reader_problem_at(r, DIAG_ERROR, r->place, "the DAG has no id: add 'dag: NAME'");
    else
        reader_problem_at(
            r, DIAG_ERROR, r->place,
            "the DAG has no id, and the file's name '%.100s' cannot be one: add 'dag: "
            "NAME' (" DAG_NAME_RULE ")",
            refused_id);
}

struct dag *dag_read(const json_t *tree, const struct dag_read_options *options,
                     struct diag_list *diags)
{
    size_t errors_before = diags->errors;
    if (!json_is_object(tree)) {
        diag_add(diags, DIAG_ERROR, options->place.line, options->place.column,
                 options->place.length, "a DAG is a map with 'tasks'");
        return NULL;
    }
    struct reader r = {
        .dag = new_dag(options->default_id),
        .locator = options->locator,
        .place = options->place,
        .diags = diags,
        .errors_before = errors_before,
        .names = strmap_new(),
        .defaults = *task_def_default(),
        .zones = options->zones,
        .current = CURRENT_DAG,
    };
    read_tree(&r, tree);
    if (options->zones != NULL) {
        CLEANUP(timetable_freep) struct timetable *timetable = reader_timetable(&r, &r.schedule);
        CLEANUP(triggers_freep) struct triggers *triggers = reader_triggers(&r, &r.schedule);
        reader_check_params_given(&r, timetable, triggers);
    }
    bool has_order = false;
    bool is_linked = reader_link(&r, &has_order);
    if (is_linked) {
        reader_check_branches(&r);
        reader_check_templates(&r, has_order);
    }
    check_id(&r, options->refused_id);
    keep_places(&r);
    struct dag *dag = r.dag;
    reader_fini(&r, is_linked);
    if (diags->errors > errors_before) {
        dag_free(dag);
        return NULL;
    }
    dag->watch = watch_of_dag(dag);
    return dag;
}
