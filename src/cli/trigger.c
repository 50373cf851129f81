#include "cli/trigger.h"

#include "base/json.h"
#include "cli/cli.h"
#include "cli/handlers.h"
#include "cli/request.h"
#include "cli/views.h"

static enum status put_inputs(json_t *request, const struct parsed *parsed, struct err *err)
{
    json_t *params = NULL;
    json_t *conf = NULL;
    bool has_date = false;
    int64_t date_us = 0;
    if (request_params(parsed, &params, err) != STATUS_OK)
        return err->code;
    if (params != NULL)
        json_put(request, "params", params);
    if (request_conf(parsed, &conf, err) != STATUS_OK)
        return err->code;
    if (conf != NULL)
        json_put(request, "conf", conf);
    if (request_date(parsed, &has_date, &date_us, err) != STATUS_OK)
        return err->code;
    if (has_date)
        json_put_instant(request, "logical_date", date_us);
    request_put_option(request, parsed, "run-id", "run_id");
    request_put_option(request, parsed, "note", "note");
    json_t *tasks = json_array();
    const char *task;
    for (size_t i = 0; (task = parsed_get_nth(parsed, "task", i)) != NULL; i++)
        (void)json_array_append_new(tasks, json_string(task));
    json_put(request, "tasks", tasks);
    return STATUS_OK;
}

int trigger_run(struct cli *cli, const struct parsed *parsed, bool needs_worker)
{
    struct err err = {0};
    json_t *request = request_of_dag(parsed);
    json_put_bool(request, "needs_worker", needs_worker);
    if (put_inputs(request, parsed, &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_change(cli, parsed, "dag.trigger", request, &VIEW_RUN);
}

int cmd_dags_trigger(struct cli *cli, const struct parsed *parsed)
{
    return trigger_run(cli, parsed, false);
}
