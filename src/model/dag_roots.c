#include "model/dag_roots.h"

#include <string.h>

#include "base/attrs.h"

/* One row per name; a table is read by column. */
/* clang-format off */
const struct dag_root DAG_ROOTS[] = {
    {"conf", "what the run was given: conf.KEY"},
    {"conn", "connections: conn.NAME.host"},
    {"dag", "the DAG: id, title, owner, tags"},
    {"dag_run", "the run: run_id, conf, logical_date, ..."},
    {"data_interval_end", "end of the interval that the run is for"},
    {"data_interval_start", "start of the interval that the run is for"},
    {"ds", "logical date as YYYY-MM-DD"},
    {"ds_nodash", "logical date as YYYYMMDD"},
    {"env", "variables of the task's environment"},
    {"execution_date", "Airflow's name for logical_date"},
    {"item", "the item of a mapped task"},
    {"logical_date", "the instant that the run is for"},
    {"map_index", "number of the instance of a mapped task"},
    {"matrix", "the combination of a mapped task: matrix.KEY"},
    {"next_execution_date", "logical date after this one"},
    {"params", "params of the run"},
    {"prev_execution_date", "logical date before this one"},
    {"run_id", "id of the run"},
    {"secrets", "secrets, in env only: secrets.NAME"},
    {"task", "the task: id, group, tags"},
    {"task_instance", "Airflow's long name for ti"},
    {"task_instance_key_str", "DAG, task and date in one name"},
    {"tasks", "values of tasks that come before: tasks.ID.KEY"},
    {"ti", "the task instance: ti.xcom_pull('task'), try_number, map_index"},
    {"try_number", "number of the attempt, from 1"},
    {"ts", "logical date and time, RFC 3339"},
    {"ts_nodash", "logical date and time as YYYYMMDDTHHMMSS"},
    {"ts_nodash_with_tz", "logical date and time as YYYYMMDDTHHMMSS+0000"},
    {"var", "variables: var.value.NAME, var.json.NAME"},
    {"xcom_pull", "function: values of other tasks"},
};
/* clang-format on */
const size_t DAG_ROOTS_COUNT = ARRAY_LEN(DAG_ROOTS);

const char *dag_root_name(const void *context, size_t i)
{
    (void)context;
    return DAG_ROOTS[i].name;
}

const struct dag_root *dag_root_find(const char *name)
{
    for (size_t i = 0; i < DAG_ROOTS_COUNT; i++)
        if (strcmp(DAG_ROOTS[i].name, name) == 0)
            return &DAG_ROOTS[i];
    return NULL;
}
