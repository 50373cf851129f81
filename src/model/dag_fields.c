#include "model/dag_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/strbuf.h"
#include "model/dag.h"
#include "model/duration.h"
#include "model/limits.h"

static const char *const RULES[] = {
#define X(name, text) [RULE_##name] = text,
    TRIGGER_RULE_MAP(X)
#undef X
};
static const struct field_choices RULE_CHOICES = {ARRAY_LEN(RULES), RULES};

static const char *const VERDICTS[] = {[VERDICT_ALL] = "all", [VERDICT_LEAVES] = "leaves"};
static const struct field_choices VERDICT_CHOICES = {ARRAY_LEN(VERDICTS), VERDICTS};

static const char *const WEIGHT_RULES[] = WEIGHT_RULE_NAMES;
static const struct field_choices WEIGHT_CHOICES = {ARRAY_LEN(WEIGHT_RULES), WEIGHT_RULES};

static const char *const LOST_LEASES[] = {
    [LOST_LEASE_STOP] = "stop", [LOST_LEASE_FINISH] = "finish"};
static const struct field_choices LOST_LEASE_CHOICES = {ARRAY_LEN(LOST_LEASES), LOST_LEASES};

/* The failures that may or may not come again; the names are those of enum reason. */
static const char *const CAUSES[] = {"exit", "signal", "timeout", "exec_error"};
static const struct field_choices CAUSE_CHOICES = {ARRAY_LEN(CAUSES), CAUSES};

enum { HOOK = SHAPE_LIST | SHAPE_MAP, NAMES = SHAPE_TEXT | SHAPE_LIST };

#define AT(member)      .offset = offsetof(struct task_def, member)
#define AT_DAG(member)  .offset = offsetof(struct dag, member)
#define AT_LIM(member)  .offset = offsetof(struct task_limits, member)
#define SPAN            .least = 0, .most = DURATION_MS_MAX
#define BOUND(low, top) .least = (low), .most = (top)
#define OWN             .own_only = true

static const struct dag_field LIMIT_ROWS[] = {
    {"cpu", NULL, FIELD_DURATION, AT_LIM(cpu_ms), SPAN,
     .doc = "CPU time of one attempt; default: no bound"},
    {"memory", NULL, FIELD_SIZE, AT_LIM(memory_bytes), .doc = "address space; default: no bound"},
    {"procs", NULL, FIELD_INTEGER, AT_LIM(procs), BOUND(0, 1000000),
     .doc = "processes of the user; default: no bound"},
    {"output", NULL, FIELD_SIZE, AT_LIM(output_bytes),
     .doc = "log kept of one attempt; default: the setting output_bytes"},
};
static const struct field_table LIMIT_FIELDS = {"'limits'", ARRAY_LEN(LIMIT_ROWS), LIMIT_ROWS};

static const struct dag_field EXIT_ROWS[] = {
    {"skip", NULL, FIELD_CODES, AT(exit_skip), .doc = "exit codes that skip the task; default 99"},
    {"retry", NULL, FIELD_CODES, AT(exit_retry),
     .doc = "exit codes of a temporary failure; default 75"},
};
static const struct field_table EXIT_FIELDS = {"'exit'", ARRAY_LEN(EXIT_ROWS), EXIT_ROWS};

static const struct dag_field TASK_ROWS[] = {
    {"needs", NULL, FIELD_OWN, OWN, .doc = "list of tasks or groups that come before"},
    {"trigger_rule", NULL, FIELD_CHOICE, AT(rule), .choices = &RULE_CHOICES,
     .doc = "when to run, given what became of the parents; default all_success"},
    {"if", NULL, FIELD_CONDITION, AT(condition), OWN, .doc = "template; false skips the task"},
    {"doc", NULL, FIELD_TEXT, AT(doc), OWN, .doc = "what the task is for"},
    {"group", NULL, FIELD_OWN, OWN,
     .doc = "group that the task is shown in; its id starts with the group's"},
    {"setup", NULL, FIELD_FLAG, AT(is_setup), OWN,
     .doc = "prepares something that a teardown removes"},
    {"teardown", NULL, FIELD_OWN, OWN, .doc = "list of the setups that this task undoes"},
    {"allow_failure", NULL, FIELD_FLAG, AT(allow_failure),
     .doc = "its failure does not fail the run"},
    {"foreach", NULL, FIELD_OWN, OWN,
     .doc = "list, or template that gives one: one instance per item"},
    {"matrix", NULL, FIELD_OWN, OWN, .doc = "map of lists: one instance per combination"},
    {"label", NULL, FIELD_TEMPLATE, AT(label), OWN,
     .doc = "name of an instance; default: its index"},
    {"max_parallel", NULL, FIELD_INTEGER, AT(max_parallel), BOUND(0, LIMIT_INSTANCES),
     .doc = "instances at once; default 0: no bound"},
    {"fail_fast", NULL, FIELD_FLAG, AT(fail_fast),
     .doc = "a failed instance cancels those not started"},
    {"retries", NULL, FIELD_INTEGER, AT(retry.retries), BOUND(0, LIMIT_RETRIES),
     .doc = "attempts after the first; default 0"},
    {"retry_delay", NULL, FIELD_DURATION, AT(retry.delay_ms), SPAN,
     .doc = "before the first retry; default 2m"},
    {"retry_backoff", NULL, FIELD_NUMBER, AT(retry.backoff), BOUND(1, 100),
     .doc = "factor from one delay to the next; default 2"},
    {"max_retry_delay", NULL, FIELD_DURATION, AT(retry.max_delay_ms), SPAN,
     .doc = "longest delay; default 1h"},
    {"retry_jitter", NULL, FIELD_NUMBER, AT(retry.jitter), BOUND(0, 1),
     .doc = "part of a delay, 0 to 1, that chance may add; default 0.1"},
    {"retry_on", NULL, FIELD_CAUSES, AT(retry_on), .choices = &CAUSE_CHOICES,
     .doc = "retry only after these: exit codes, exit, signal, timeout, exec_error; default: any "
            "failure"},
    {"exit", NULL, FIELD_GROUP, .members = &EXIT_FIELDS, .doc = "meaning of exit codes"},
    {"timeout", "execution_timeout", FIELD_DURATION, AT(timeout_ms), SPAN,
     .doc = "longest time of one attempt; default: no bound"},
    {"grace", NULL, FIELD_DURATION, AT(grace_ms), SPAN,
     .doc = "between the TERM and the KILL signal; default 10s"},
    {"queue_timeout", NULL, FIELD_DURATION, AT(queue_timeout_ms), SPAN,
     .doc = "longest time to wait for a slot; default: no bound"},
    {"env", NULL, FIELD_ENV, .doc = "variables of the process; adds to those in defaults"},
    {"env_pass", NULL, FIELD_TEXTS, AT(env_pass),
     .doc = "variables passed on from Eider's own environment"},
    {"workdir", NULL, FIELD_TEMPLATE, AT(workdir),
     .doc = "working directory; default: the folder of the DAG file"},
    {"user", NULL, FIELD_TEXT, AT(user), .doc = "run as this user; Eider must be root"},
    {"limits", NULL, FIELD_GROUP, AT(limits), .members = &LIMIT_FIELDS,
     .doc = "bounds on the process"},
    {"protocol", NULL, FIELD_FLAG, AT(protocol), OWN,
     .doc = "the process speaks the task protocol on descriptors 3 and 4"},
    {"pool", NULL, FIELD_NAME, AT(pool),
     .doc = "pool whose slots it takes while it runs; default: none"},
    {"slots", "pool_slots", FIELD_INTEGER, AT(slots), BOUND(1, 1000000),
     .doc = "how many slots of its pool it takes; default 1"},
    {"queue", NULL, FIELD_NAME, AT(queue), .doc = "queue in which it waits for a host"},
    {"priority", "priority_weight", FIELD_INTEGER, AT(priority), BOUND(-1000000, 1000000),
     .doc = "higher goes first"},
    {"weight_rule", NULL, FIELD_CHOICE, AT(weight_rule), .choices = &WEIGHT_CHOICES,
     .doc = "whose priorities add to its own: absolute (nobody's), downstream, upstream; default "
            "absolute"},
    {"on_lost_lease", NULL, FIELD_CHOICE, AT(on_lost_lease), .choices = &LOST_LEASE_CHOICES,
     .doc = "what a host does with the task when it loses the store"},
    {"tags", NULL, FIELD_TEXTS, AT(tags), .doc = "for searching"},
    {"interpreter", NULL, FIELD_OWN, OWN,
     .doc = "program that reads the script, text or list; default /bin/sh"},
    {"args", NULL, FIELD_OWN, OWN, .doc = "list of arguments of the script"},
    {"on_success", NULL, FIELD_KEPT, .shapes = HOOK, .has_effect = true,
     .doc = "who is told of a success"},
    {"on_failure", NULL, FIELD_KEPT, .shapes = HOOK, .has_effect = true,
     .doc = "who is told of a failure"},
    {"on_retry", NULL, FIELD_KEPT, .shapes = HOOK, .has_effect = true,
     .doc = "who is told of a retry"},
    {"on_skip", NULL, FIELD_KEPT, .shapes = HOOK, .has_effect = true,
     .doc = "who is told that it was skipped"},
    {"on_sla_miss", NULL, FIELD_KEPT, .shapes = HOOK, .has_effect = true,
     .doc = "who is told that it is late"},
    {"sla", NULL, FIELD_KEPT, .shapes = SHAPE_TEXT | SHAPE_INTEGER | SHAPE_MAP, .has_effect = true,
     .doc = "time in which it should be done"},
    {"inputs", NULL, FIELD_KEPT, .shapes = NAMES, .has_effect = true,
     .doc = "datasets it reads, for the lineage of what it writes"},
    {"outputs", NULL, FIELD_KEPT, .shapes = NAMES, .has_effect = true,
     .doc = "datasets it writes: a success tells those who wait for them"},
    {"throttle", NULL, FIELD_KEPT, .shapes = SHAPE_TEXT | SHAPE_MAP, .doc = "rate limit it obeys"},
    {"cache", NULL, FIELD_KEPT, .shapes = SHAPE_FLAG | SHAPE_TEXT | SHAPE_MAP,
     .doc = "reuse of earlier results"},
    {"depends_on_past", NULL, FIELD_FLAG, AT(depends_on_past),
     .doc = "wait until the same task of the run before has succeeded or was skipped"},
    {"worker", NULL, FIELD_KEPT, .shapes = NAMES | SHAPE_MAP, .has_effect = true,
     .doc = "label, or list of labels, that a host must have"},
    {"email", NULL, FIELD_KEPT, .shapes = NAMES, .has_effect = true, .doc = "who is told"},
    {"email_on_failure", NULL, FIELD_KEPT, .shapes = SHAPE_FLAG, .has_effect = true,
     .doc = "tell about failures"},
    {"email_on_retry", NULL, FIELD_KEPT, .shapes = SHAPE_FLAG, .has_effect = true,
     .doc = "tell about retries"},
    {"with", NULL, FIELD_KEPT, OWN, .shapes = SHAPE_MAP, .doc = "params of the child DAG"},
    {"wait", NULL, FIELD_KEPT, OWN, .shapes = SHAPE_FLAG, .doc = "wait for the child DAG"},
};

static const struct dag_field DAG_ROWS[] = {
    {"eider", NULL, FIELD_OWN, .doc = "version of the format: 1"},
    {"dag", "dag_id", FIELD_NAME, AT_DAG(id), .doc = "id; default: the file's name"},
    {"title", NULL, FIELD_TEXT, AT_DAG(title), .doc = "one line for people"},
    {"description", NULL, FIELD_TEXT, AT_DAG(description), .doc = "a few lines for people"},
    {"doc", NULL, FIELD_TEXT, AT_DAG(doc), .doc = "documentation, Markdown"},
    {"owner", NULL, FIELD_TEXT, AT_DAG(owner), .doc = "who answers for it"},
    {"namespace", NULL, FIELD_NAME, AT_DAG(namespace_),
     .doc = "scope of pools, variables, connections; default: default"},
    {"tier", NULL, FIELD_NAME, AT_DAG(tier),
     .doc = "which DAGs it shares a limit with, by how much depends on them; default: default"},
    {"tags", NULL, FIELD_TEXTS, AT_DAG(tags), .doc = "for searching"},
    {"params", NULL, FIELD_OWN, .doc = "what a run can be given: name to type, default, bounds"},
    {"max_active_runs", NULL, FIELD_INTEGER, AT_DAG(max_active_runs), BOUND(1, 1000000),
     .doc = "runs at once; default 1; foreground runs do not count"},
    {"max_active_tasks", NULL, FIELD_INTEGER, AT_DAG(max_active_tasks), BOUND(0, 1000000),
     .doc = "tasks of a run at once; default 0: no bound"},
    {"timeout", "dagrun_timeout", FIELD_DURATION, AT_DAG(timeout_ms), SPAN,
     .doc = "longest time of a run; default: no bound"},
    {"verdict", NULL, FIELD_CHOICE, AT_DAG(verdict), .choices = &VERDICT_CHOICES,
     .doc = "tasks that decide whether a run failed; default all"},
    {"defaults", "default_args", FIELD_OWN,
     .doc = "keys for all tasks; owner, start_date and end_date in it are the DAG's"},
    {"tasks", NULL, FIELD_OWN, .doc = "map from id to task; required unless groups has some"},
    {"groups", NULL, FIELD_OWN, .doc = "groups of tasks: name to {tasks, groups, needs, defaults}"},
    {"finally", NULL, FIELD_OWN, .doc = "tasks that run after all others, whatever happened"},
    {"include", NULL, FIELD_MISSING, .doc = "other files"},
    {"schedule", "schedule_interval", FIELD_KEPT,
     .shapes = SHAPE_TEXT | SHAPE_LIST | SHAPE_MAP | SHAPE_NULL, .has_effect = true,
     .doc = "when it runs by itself"},
    {"start_date", NULL, FIELD_KEPT, .shapes = SHAPE_TEXT, .has_effect = true,
     .doc = "first date of the schedule"},
    {"end_date", NULL, FIELD_KEPT, .shapes = SHAPE_TEXT, .has_effect = true,
     .doc = "last date of the schedule"},
    {"catchup", NULL, FIELD_KEPT, .shapes = SHAPE_FLAG | SHAPE_TEXT, .has_effect = true,
     .doc = "what happens to missed ticks"},
    {"depends_on_past", NULL, FIELD_FLAG, AT_DAG(depends_on_past),
     .doc = "a run waits until the one before has succeeded"},
    {"sla", NULL, FIELD_KEPT, .shapes = SHAPE_TEXT | SHAPE_INTEGER | SHAPE_MAP, .has_effect = true,
     .doc = "time in which a run should be done"},
    {"on_success", NULL, FIELD_KEPT, .shapes = HOOK, .has_effect = true,
     .doc = "who is told of a success"},
    {"on_failure", NULL, FIELD_KEPT, .shapes = HOOK, .has_effect = true,
     .doc = "who is told of a failure"},
    {"on_retry", NULL, FIELD_KEPT, .shapes = HOOK, .has_effect = true,
     .doc = "who is told of retries of tasks that have none of their own"},
    {"on_skip", NULL, FIELD_KEPT, .shapes = HOOK, .has_effect = true,
     .doc = "who is told of skips of tasks that have none of their own"},
    {"on_sla_miss", NULL, FIELD_KEPT, .shapes = HOOK, .has_effect = true,
     .doc = "who is told that it is late"},
    {"email", NULL, FIELD_KEPT, .shapes = NAMES, .has_effect = true, .doc = "who is told"},
    {"email_on_failure", NULL, FIELD_KEPT, .shapes = SHAPE_FLAG, .has_effect = true,
     .doc = "tell about failures"},
    {"email_on_retry", NULL, FIELD_KEPT, .shapes = SHAPE_FLAG, .has_effect = true,
     .doc = "tell about retries"},
};

static const struct dag_field GROUP_ROWS[] = {
    {"tasks", NULL, FIELD_OWN, .doc = "tasks of the group; their ids become group.task"},
    {"groups", NULL, FIELD_OWN, .doc = "groups in the group"},
    {"needs", NULL, FIELD_OWN, .doc = "what comes before the whole group"},
    {"defaults", "default_args", FIELD_OWN, .doc = "keys for the tasks of the group"},
    {"doc", NULL, FIELD_OWN, .doc = "what the group is for"},
};

const struct field_table TASK_FIELDS = {"task", ARRAY_LEN(TASK_ROWS), TASK_ROWS};
const struct field_table DAG_FIELDS = {"DAG", ARRAY_LEN(DAG_ROWS), DAG_ROWS};
const struct field_table GROUP_FIELDS = {"group", ARRAY_LEN(GROUP_ROWS), GROUP_ROWS};

const struct dag_field *dag_field_find(const struct field_table *table, const char *key)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct dag_field *field = &table->fields[i];
        if (field->key[0] == key[0] && strcmp(field->key, key) == 0)
            return field;
    }
    for (size_t i = 0; i < table->count; i++) {
        const char *alias = table->fields[i].alias;
        if (alias != NULL && strcmp(alias, key) == 0)
            return &table->fields[i];
    }
    return NULL;
}

static const char *const TYPE_WORDS[] = {
    [FIELD_TEXT] = "a string",
    [FIELD_TEMPLATE] = "a string",
    [FIELD_CONDITION] = "a template such as \"{{ params.full }}\", true or false",
    [FIELD_NAME] = "a name",
    [FIELD_FLAG] = "true or false",
    [FIELD_INTEGER] = "an integer",
    [FIELD_NUMBER] = "a number",
    [FIELD_DURATION] = "a duration such as 500ms, 30s, 5m, 2h or 1d",
    [FIELD_SIZE] = "a size such as 512, 64KiB or 2GiB",
    [FIELD_TEXTS] = "a list of strings",
    [FIELD_CODES] = "a list of exit codes from 0 to 255",
    [FIELD_CAUSES] = "a list of exit codes from 0 to 255 and of exit, signal, timeout, exec_error",
    [FIELD_CHOICE] = "one of",
    [FIELD_ENV] = "a map of strings",
    [FIELD_GROUP] = "a map",
    [FIELD_OWN] = "something else",
    [FIELD_KEPT] = "",
    [FIELD_MISSING] = "nothing",
};

static void add_shapes(struct strbuf *words, unsigned shapes)
{
    static const struct {
        enum field_shape shape;
        const char *word;
    } WORDS[] = {
        {SHAPE_TEXT, "a string"}, {SHAPE_INTEGER, "an integer"}, {SHAPE_FLAG, "true or false"},
        {SHAPE_LIST, "a list"},   {SHAPE_MAP, "a map"},          {SHAPE_NULL, "null"},
    };
    for (size_t i = 0; i < ARRAY_LEN(WORDS); i++)
        if (shapes & WORDS[i].shape)
            strbuf_addf(words, "%s%s", words->length > 0 ? " or " : "", WORDS[i].word);
}

const char *dag_field_expects(const struct dag_field *field, char out[static FIELD_WORDS_MAX])
{
    struct strbuf words;
    strbuf_init(&words, FIELD_WORDS_MAX - 1);
    strbuf_add(&words, TYPE_WORDS[field->type]);
    if (field->type == FIELD_KEPT)
        add_shapes(&words, field->shapes);
    if (field->type == FIELD_INTEGER || field->type == FIELD_NUMBER)
        strbuf_addf(&words, " from %" PRId64 " to %" PRId64, field->least, field->most);
    if (field->type == FIELD_CHOICE)
        for (size_t i = 0; i < field->choices->count; i++)
            strbuf_addf(&words, "%s %s", i > 0 ? "," : "", field->choices->names[i]);
    (void)snprintf(out, FIELD_WORDS_MAX, "%s", words.text);
    strbuf_fini(&words);
    return out;
}

const struct task_def *task_def_default(void)
{
    static int skip_codes[] = {99};
    static int retry_codes[] = {75};
    static const struct task_def DEFAULT = {
        .group = "",
        .rule = RULE_ALL_SUCCESS,
        .retry = {.delay_ms = (int64_t)2 * 60 * 1000,
                  .backoff = 2.0,
                  .max_delay_ms = (int64_t)60 * 60 * 1000,
                  .jitter = 0.1},
        .exit_skip = {skip_codes, 1},
        .exit_retry = {retry_codes, 1},
        .grace_ms = -1,
        .slots = 1,
        .queue = "default",
    };
    return &DEFAULT;
}
