#include "model/dag_roots.h"

#include <string.h>

#include "base/attrs.h"
#include "base/str.h"

/* One row per name; a table is read by column. */
/* clang-format off */
const struct dag_root DAG_ROOTS[] = {
    {"conf", "what the run was given: conf.KEY"},
    {"conn", "connections, as in conn.NAME.host, port, login, schema, extra; its password and uri only in `env` and hooks; see variables.md"},
    {"dag", "the DAG: id, title, owner, tags"},
    {"dag_run", "the run, as in dag_run.conf.KEY: conf, run_id, logical_date, execution_date"},
    {"data_interval_end", "end of the interval that the run is for"},
    {"data_interval_start", "start of the interval that the run is for"},
    {"ds", "logical date as YYYY-MM-DD"},
    {"ds_nodash", "logical date as YYYYMMDD"},
    {"env", "environment of Eider, as in env.HOME; only names that env_pass lists"},
    {"execution_date", "Airflow's name for logical_date"},
    {"item", "the item of this instance of a foreach; of a matrix, item.KEY"},
    {"logical_date", "the instant that the run is for"},
    {"map_index", "number of this instance, from 0; -1 when the task is not mapped"},
    {"matrix", "the combination of this instance of a matrix: matrix.KEY"},
    {"next_execution_date", "logical date after this one; null without a schedule"},
    {"params", "params of the run, as in params.NAME"},
    {"prev_execution_date", "logical date before this one; null without a schedule"},
    {"run_id", "id of the run"},
    {"secrets", "secrets, as in secrets.NAME; only in `env`, headers and hooks; see secrets.md"},
    {"task", "the task: id, group, tags"},
    {"task_instance", "Airflow's long name for ti"},
    {"task_instance_key_str", "DAG, task and date in one name"},
    {"tasks", "values of tasks before: tasks.ID.KEY, tasks['a-b'].KEY; of a mapped task a list"},
    {"ti", "the task instance: ti.xcom_pull('task', key='k'), try_number, map_index"},
    {"triggering_dataset_events", "updates that started the run, by dataset: a list of {timestamp, extra, source_run_id, ...}"},
    {"try_number", "number of the attempt, from 1"},
    {"ts", "logical date and time, RFC 3339"},
    {"ts_nodash", "logical date and time as YYYYMMDDTHHMMSS"},
    {"ts_nodash_with_tz", "the same with the offset, YYYYMMDDTHHMMSS+0000"},
    {"var", "variables: var.value.NAME, var.json.NAME.KEY, var.value.get('NAME', 1); "
            "see variables.md"},
    {"xcom_pull", "as ti.xcom_pull; key return_value by default, several tasks give a list; dag_id='x' pulls from "
                  "the run of DAG x for the same date, or the last before"},
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

bool dag_field_takes_secrets(const char *field)
{
    return str_starts_with(field, "env.") || str_starts_with(field, "headers.") ||
           strstr(field, ".headers.") != NULL;
}

bool dag_path_is_secret(const char *const *path, size_t count)
{
    if (strcmp(path[0], "secrets") == 0)
        return true;
    return strcmp(path[0], "conn") == 0 && count > 2 &&
           (strcmp(path[2], "password") == 0 || strcmp(path[2], "uri") == 0);
}
