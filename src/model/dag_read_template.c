/*
 * dag_read_template: what can be said of a template before anything runs.
 *
 * Syntax, names, declared params, and that the tasks whose values it uses come before. What
 * is under `| default` or `is defined` may be absent, so it is not held against it.
 */
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "model/dag_graph.h"
#include "model/dag_read_priv.h"
#include "model/dag_roots.h"
#include "model/hook.h"
#include "model/limits.h"
#include "model/template.h"

struct check {
    struct reader *r;
    const struct template_use *use;
    struct dag_reach *reach; /* NULL: there is no order */
};

/* Byte offset of a place in a text. */
static size_t offset_of(const char *text, struct template_fault place)
{
    const char *p = text;
    for (int line = 1; line < place.line; line++) {
        const char *end = strchr(p, '\n');
        if (end == NULL)
            break;
        p = end + 1;
    }
    for (int column = 1; column < place.column && *p != '\0' && *p != '\n'; column++) {
        p++;
        while (((unsigned char)*p & 0xC0) == 0x80)
            p++;
    }
    return (size_t)(p - text);
}

static struct source_span span_inside(const struct reader *r, const struct template_use *use,
                                      struct template_fault place, size_t length)
{
    if (r->locator == NULL || r->diags->truncated)
        return (struct source_span){0};
    struct source_span whole = reader_span(r, use->spot, false);
    struct source_span span = r->locator->find_inside(r->locator->context, use->spot.container,
                                                      use->spot.index, offset_of(use->text, place));
    /* An exact place underlines the name; else the whole text stays underlined. */
    bool is_exact = span.line != whole.line || span.column != whole.column;
    if (is_exact)
        span.length = (int)length;
    return span;
}

static struct source_span name_span(const struct check *check, const struct template_name *name)
{
    return span_inside(check->r, check->use, name->place, strlen(name->parts[0]));
}

/* ---- roots ---- */

static void unknown_root(const struct check *check, const struct template_name *name)
{
    const char *root = name->parts[0];
    bool in_hook = check->use->in_hook;
    const char *near = in_hook ? str_nearest(root, HOOK_ROOTS_COUNT, hook_root_name, NULL)
                               : str_nearest(root, DAG_ROOTS_COUNT, dag_root_name, NULL);
    struct source_span span = name_span(check, name);
    if (in_hook && dag_root_find(root) != NULL)
        reader_problem_at(check->r, DIAG_ERROR, span,
                          "template: '%s' is not known in hooks, which are rendered when it is "
                          "over",
                          root);
    else if (near != NULL)
        reader_problem_at(check->r, DIAG_ERROR, span,
                          "template: unknown name '%.100s'; did you mean '%s'?", root, near);
    else
        reader_problem_at(check->r, DIAG_ERROR, span, "template: unknown name '%.100s'", root);
}

/* ---- params ---- */

static const char *param_name(const void *context, size_t i)
{
    return ((const struct dag *)context)->params[i].name;
}

static void check_param(const struct check *check, const struct template_name *name)
{
    const struct dag *dag = check->r->dag;
    if (name->count < 2 || name->guarded || (name->called && name->count == 2))
        return;
    for (size_t i = 0; i < dag->params_count; i++)
        if (strcmp(dag->params[i].name, name->parts[1]) == 0)
            return;
    const char *near = str_nearest(name->parts[1], dag->params_count, param_name, dag);
    struct source_span span = name_span(check, name);
    if (near != NULL)
        reader_problem_at(check->r, DIAG_ERROR, span,
                          "template: there is no param '%.100s'; did you mean '%s'?",
                          name->parts[1], near);
    else
        reader_problem_at(check->r, DIAG_ERROR, span,
                          "template: there is no param '%.100s': declare it in 'params'",
                          name->parts[1]);
}

/* ---- values of tasks ---- */

/* Ids may contain dots, so tasks.g.load.rows may mean task 'g' or 'g.load'. */
static int64_t find_named_task(const struct dag *dag, const struct template_name *name)
{
    char id[LIMIT_ID_BYTES + 1];
    size_t used = 0;
    for (size_t i = 1; i < name->count; i++) {
        size_t length = strlen(name->parts[i]);
        if (used + 1 + length >= sizeof id)
            return -1;
        if (i > 1)
            id[used++] = '.';
        memcpy(id + used, name->parts[i], length + 1);
        used += length;
        int64_t node = dag_find_task(dag, id);
        if (node >= 0)
            return node;
    }
    return -1;
}

static const char *task_name(const void *context, size_t i)
{
    return ((const struct dag *)context)->tasks[i].id;
}

static void unknown_task(const struct check *check, const struct template_name *name)
{
    const struct dag *dag = check->r->dag;
    const char *id = name->parts[1];
    const char *near = NULL;
    if (!check->r->diags->truncated)
        near = str_nearest(id, dag->tasks_count, task_name, dag);
    struct source_span span = name_span(check, name);
    if (near != NULL)
        reader_problem_at(check->r, DIAG_ERROR, span,
                          "template: there is no task '%.100s'; did you mean '%s'?", id, near);
    else
        reader_problem_at(check->r, DIAG_ERROR, span, "template: there is no task '%.100s'", id);
}

static void check_task_value(const struct check *check, const struct template_name *name)
{
    const struct dag *dag = check->r->dag;
    if (name->count < 2 || name->guarded || (name->called && name->count == 2))
        return;
    int64_t target = find_named_task(dag, name);
    if (target < 0) {
        unknown_task(check, name);
        return;
    }
    if (check->use->draft < 0 || check->reach == NULL)
        return;
    uint32_t node = check->r->drafts[check->use->draft].node;
    const struct task_def *user = &dag->tasks[node];
    if (user->is_finally && !dag->tasks[target].is_finally)
        return;
    if ((uint32_t)target == node)
        reader_problem_at(check->r, DIAG_ERROR, name_span(check, name),
                          "template: task '%s' uses its own value, which does not exist yet",
                          user->id);
    else if (!dag_reach_has(check->reach, (uint32_t)target, node))
        reader_problem_at(check->r, DIAG_ERROR, name_span(check, name),
                          "template: task '%s' uses a value of '%s', which does not come before "
                          "it: add it to 'needs'",
                          user->id, dag->tasks[target].id);
}

/* ---- secrets ---- */

static void secret_elsewhere(const struct check *check, const struct template_name *name)
{
    static const char TASK[] = "in 'env', headers and hooks only, since everything else is shown "
                               "and kept: give it to the task as a variable of 'env'";
    static const char COMMAND[] = "only in 'env' of a command, since everybody on its host sees "
                                  "what it runs: give it to the command as a variable of 'env'";
    bool is_secret = strcmp(name->parts[0], "secrets") == 0;
    reader_problem_at(check->r, DIAG_ERROR, name_span(check, name),
                      "template: %s%s%s can be used %s", is_secret ? "'secrets'" : "conn.",
                      is_secret ? "" : name->parts[1],
                      is_secret                                 ? ""
                      : strcmp(name->parts[2], "password") == 0 ? ".password"
                                                                : ".uri",
                      check->use->in_hook ? COMMAND : TASK);
}

/* ---- all of them ---- */

static void check_name(void *context, const struct template_name *name)
{
    const struct check *check = context;
    const char *root = name->parts[0];
    bool is_mapped =
        check->use->draft < 0 ||
        task_def_is_mapped(&check->r->dag->tasks[check->r->drafts[check->use->draft].node]);
    bool is_known =
        check->use->in_hook ? hook_root_find(root) != NULL : dag_root_find(root) != NULL;
    if (!is_known) {
        if (!name->guarded)
            unknown_root(check, name);
    } else if (strcmp(root, "params") == 0) {
        check_param(check, name);
    } else if (strcmp(root, "tasks") == 0) {
        check_task_value(check, name);
    } else if ((strcmp(root, "item") == 0 || strcmp(root, "matrix") == 0) && !is_mapped &&
               !name->guarded) {
        reader_problem_at(check->r, DIAG_ERROR, name_span(check, name),
                          "template: '%s' exists only in tasks with 'foreach' or 'matrix'", root);
    } else if (dag_path_is_secret(name->parts, name->count) && !check->use->takes_secrets) {
        secret_elsewhere(check, name);
    }
}

static void check_use(struct check *check, struct arena *arena)
{
    struct err err = {0};
    struct template_fault fault = {0};
    const struct template *template = NULL;
    if (template_parse(arena, check->use->text, &template, &fault, &err) != STATUS_OK) {
        reader_problem_at(check->r, DIAG_ERROR, span_inside(check->r, check->use, fault, 1),
                          "template: %s", err.text);
        return;
    }
    template_visit_names(template, check_name, check);
}

void reader_check_templates(struct reader *r, bool has_order)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(dag_reach_freep) struct dag_reach *reach = has_order ? dag_reach_new(r->dag) : NULL;
    for (size_t i = 0; i < r->uses_count; i++) {
        struct check check = {.r = r, .use = &r->uses[i], .reach = reach};
        check_use(&check, arena);
    }
}
