#include "base/check.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/request.h"
#include "cli/views.h"
#include "model/limits.h"

int cmd_tasks_list(struct cli *cli, const struct parsed *parsed)
{
    return cli_show(cli, "task.list", request_of_dag(parsed), &VIEW_TASKS);
}

int cmd_tasks_show(struct cli *cli, const struct parsed *parsed)
{
    json_t *request = request_of_dag(parsed);
    json_put_string(request, "task", parsed->args[1]);
    return cli_show(cli, "task.show", request, &VIEW_TASK);
}

static enum status add_render_inputs(json_t *request, const struct parsed *parsed, struct err *err)
{
    json_t *params = NULL;
    json_t *conf = NULL;
    bool dated = false;
    int64_t at_us = 0;
    if (request_date(parsed, &dated, &at_us, err) != STATUS_OK ||
        request_params(parsed, &params, err) != STATUS_OK)
        return err->code;
    if (params != NULL)
        json_put(request, "params", params);
    if (request_conf(parsed, &conf, err) != STATUS_OK)
        return err->code;
    if (conf != NULL)
        json_put(request, "conf", conf);
    if (dated)
        request_put_option(request, parsed, "date", "logical_date");
    return STATUS_OK;
}

int cmd_tasks_render(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_of_dag(parsed);
    json_put_string(request, "task", parsed->args[1]);
    if (add_render_inputs(request, parsed, &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_show(cli, "task.render", request, &VIEW_FIELDS);
}

int cmd_tasks_clear(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_of_run(parsed);
    json_t *tasks = json_array();
    CHECK(tasks != NULL);
    for (size_t i = 1; i < parsed->args_count; i++)
        CHECK(json_array_append_new(tasks, json_string(parsed->args[i])) == 0);
    json_put(request, "tasks", tasks);
    json_put_bool(request, "downstream", parsed_has(parsed, "downstream"));
    json_put_bool(request, "upstream", parsed_has(parsed, "upstream"));
    json_put_bool(request, "failed", parsed_has(parsed, "failed"));
    json_put_bool(request, "dry_run", parsed_has(parsed, "dry-run"));
    if (request_put_int(request, parsed, "map-index", "map_index", LIMIT_INSTANCES, &err) !=
        STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_show(cli, "task.clear", request, &VIEW_CLEARED);
}

int cmd_tasks_note(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_of_run(parsed);
    json_put_string(request, "task", parsed->args[1]);
    json_put_string(request, "note", parsed->args[2]);
    if (request_put_int(request, parsed, "map-index", "map_index", LIMIT_INSTANCES, &err) !=
        STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_show(cli, "task.note", request, &VIEW_TASK_INSTANCE);
}

int cmd_mark(struct cli *cli, const struct parsed *parsed)
{
    static const char *const STATES[] = {"success", "failed", "skipped"};
    struct err err = {0};
    const char *state = parsed->args[2];
    bool known = false;
    for (size_t i = 0; i < ARRAY_LEN(STATES); i++)
        known = known || str_equal(STATES[i], state);
    if (!known) {
        (void)err_set(&err, STATUS_INVALID,
                      "mark: '%.60s' is no state to set; write success, failed or skipped", state);
        return cli_fail(cli, &err);
    }
    json_t *request = request_of_run(parsed);
    json_put_string(request, "task", parsed->args[1]);
    json_put_string(request, "state", state);
    if (request_put_int(request, parsed, "map-index", "map_index", LIMIT_INSTANCES, &err) !=
        STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_change(cli, parsed, "task.mark", request, &VIEW_TASK_INSTANCE);
}
