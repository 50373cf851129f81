#include "expect.h"
#include "model/dag.h"
#include "model/dag_fields.h"
#include "model/dag_roots.h"
#include "model/kind.h"

static void expect_sane(const struct field_table *table)
{
    /* Kept keys are warned about once, by a bit per row. */
    cr_expect_leq(table->count, 64);
    for (size_t i = 0; i < table->count; i++) {
        const struct dag_field *field = &table->fields[i];
        char words[FIELD_WORDS_MAX];
        cr_expect_eq(dag_field_find(table, field->key), field, "%s twice", field->key);
        cr_expect(field->alias == NULL || dag_field_find(table, field->alias) == field, "%s",
                  field->alias);
        cr_expect_leq(field->least, field->most, "%s", field->key);
        cr_expect(field->doc != NULL && field->doc[0] != '\0', "%s has no doc", field->key);
        cr_expect_eq(field->type == FIELD_KEPT, field->shapes != 0, "%s", field->key);
        bool has_choices = field->type == FIELD_CHOICE || field->type == FIELD_CAUSES;
        cr_expect_eq(has_choices, field->choices != NULL, "%s", field->key);
        cr_expect_eq(field->type == FIELD_GROUP, field->members != NULL, "%s", field->key);
        cr_expect_neq(dag_field_expects(field, words)[0], '\0', "%s", field->key);
        if (field->members != NULL)
            expect_sane(field->members);
    }
}

Test(dag_fields, tables_are_complete_and_without_doubles)
{
    expect_sane(&DAG_FIELDS);
    expect_sane(&TASK_FIELDS);
    expect_sane(&GROUP_FIELDS);
    cr_expect_null(dag_field_find(&TASK_FIELDS, ""));
    cr_expect_null(dag_field_find(&TASK_FIELDS, "Needs"));
}

Test(dag_fields, no_kind_is_also_a_field)
{
    for (enum task_kind kind = 0; kind < KIND_COUNT; kind++)
        cr_expect_null(dag_field_find(&TASK_FIELDS, task_kind_key(kind)), "%s",
                       task_kind_key(kind));
}

Test(dag_fields, airflow_names_are_accepted)
{
    static const struct {
        const struct field_table *table;
        const char *alias;
        const char *key;
    } CASES[] = {
        {&DAG_FIELDS, "schedule_interval", "schedule"},
        {&DAG_FIELDS, "default_args", "defaults"},
        {&DAG_FIELDS, "start_date", "start_date"},
        {&DAG_FIELDS, "dag_id", "dag"},
        {&TASK_FIELDS, "execution_timeout", "timeout"},
        {&TASK_FIELDS, "priority_weight", "priority"},
        {&TASK_FIELDS, "pool_slots", "slots"},
        {&TASK_FIELDS, "depends_on_past", "depends_on_past"},
        {&TASK_FIELDS, "email_on_retry", "email_on_retry"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        const struct dag_field *field = dag_field_find(CASES[i].table, CASES[i].alias);
        cr_assert_not_null(field, "%s", CASES[i].alias);
        EXPECT_STR(CASES[i].key, field->key);
    }
}

Test(dag_fields, the_default_task_is_as_the_manual_says)
{
    const struct task_def *task = task_def_default();
    cr_expect_eq(task->retry.retries, RETRY_POLICY_DEFAULT.retries);
    cr_expect_eq(task->retry.delay_ms, RETRY_POLICY_DEFAULT.delay_ms);
    cr_expect_float_eq(task->retry.backoff, RETRY_POLICY_DEFAULT.backoff, 0);
    cr_expect_eq(task->retry.max_delay_ms, RETRY_POLICY_DEFAULT.max_delay_ms);
    cr_expect_float_eq(task->retry.jitter, RETRY_POLICY_DEFAULT.jitter, 0);
    cr_expect_eq(task->exit_skip.items[0], 99);
    cr_expect_eq(task->exit_retry.items[0], 75);
    cr_expect_eq(task->rule, RULE_ALL_SUCCESS);
    EXPECT_STR("default", task->queue);
}

Test(dag_fields, roots_are_sorted_and_found)
{
    for (size_t i = 0; i < DAG_ROOTS_COUNT; i++) {
        cr_expect_eq(dag_root_find(dag_root_name(NULL, i)), &DAG_ROOTS[i]);
        cr_expect(i == 0 || strcmp(DAG_ROOTS[i - 1].name, DAG_ROOTS[i].name) < 0);
    }
    cr_expect_null(dag_root_find("nobody"));
}
