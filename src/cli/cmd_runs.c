#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/request.h"
#include "cli/views.h"
#include "model/limits.h"
#include "service/render_gantt.h"

enum { LIST_MAX = 100000, LIST_DEFAULT = 20, WAIT_MS = 500, TIMEOUT_MAX_S = 1000000000 };

int cmd_runs_list(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_new();
    request_put_option(request, parsed, "dag", "dag");
    request_put_option(request, parsed, "state", "state");
    json_put_int(request, "limit", LIST_DEFAULT);
    if (request_put_int(request, parsed, "limit", "limit", LIST_MAX, &err) != STATUS_OK ||
        request_put_int(request, parsed, "offset", "offset", INT64_MAX, &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_list(cli, parsed, "run.list", request, &VIEW_RUNS);
}

int cmd_runs_show(struct cli *cli, const struct parsed *parsed)
{
    return cli_show(cli, "run.show", request_of_run(parsed), &VIEW_RUN);
}

int cmd_runs_tasks(struct cli *cli, const struct parsed *parsed)
{
    json_t *request = request_of_run(parsed);
    request_put_option(request, parsed, "state", "state");
    return cli_list(cli, parsed, "run.tasks", request, &VIEW_TASK_INSTANCES);
}

int cmd_ps(struct cli *cli, const struct parsed *parsed)
{
    return cli_list(cli, parsed, "run.active", NULL, &VIEW_ACTIVE);
}

int cmd_runs_gantt(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *response = NULL;
    if (cli_call(cli, "run.tasks", request_of_run(parsed), &response, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    struct strbuf text;
    strbuf_init(&text, 64 << 20);
    struct gantt_request gantt = {
        .tasks = json_object_get(response, "task_instances"),
        .width = cli_columns(cli),
        .ascii = !cli->output.style.utf8,
        .now_us = cli->host.now_us(cli->host.context),
    };
    render_gantt(&gantt, &text);
    (void)fputs(text.text, cli->host.out);
    strbuf_fini(&text);
    json_decref(response);
    return EXIT_CODE_DONE;
}

static bool run_has_ended(const json_t *run)
{
    const char *state = json_get_string(run, "state", "");
    return str_equal(state, "success") || str_equal(state, "failed") ||
           str_equal(state, "cancelled");
}

int cmd_runs_wait(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    const struct int_bounds bounds = {0, TIMEOUT_MAX_S, TIMEOUT_MAX_S};
    int64_t timeout_s = 0;
    if (parsed_get_int(parsed, "timeout", &bounds, &timeout_s, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    int64_t waited_ms = 0;
    for (;;) {
        json_t *run = NULL;
        if (cli_call(cli, "run.show", request_of_run(parsed), &run, &err) != STATUS_OK)
            return cli_fail(cli, &err);
        bool ended = run_has_ended(run);
        if (ended)
            (void)output_print(&cli->output, &VIEW_RUN, run);
        int code = exit_code_of_run_state(json_get_string(run, "state", ""));
        json_decref(run);
        if (ended)
            return code;
        if (waited_ms >= timeout_s * 1000) {
            (void)err_set(&err, STATUS_TIMEOUT, "run '%s' has not ended after %lld s",
                          parsed->args[0], (long long)timeout_s);
            return cli_fail(cli, &err);
        }
        if (!cli->host.pause(cli->host.context, WAIT_MS))
            return EXIT_CODE_INTERRUPTED;
        waited_ms += WAIT_MS;
    }
}

int cmd_runs_delete(struct cli *cli, const struct parsed *parsed)
{
    if (!cli_is_confirmed(cli, parsed, "delete the run with its logs and values"))
        return EXIT_CODE_USAGE;
    json_t *request = request_of_run(parsed);
    bool is_dry = parsed_has(parsed, "dry-run");
    json_put_bool(request, "dry_run", is_dry);
    int code = cli_show(cli, "run.delete", request, &VIEW_RUN);
    if (code == EXIT_CODE_DONE)
        cli_say(cli, "%s", is_dry ? "would be deleted; nothing was changed" : "deleted");
    return code;
}

int cmd_runs_note(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    if (strlen(parsed->args[1]) > LIMIT_NOTE_BYTES) {
        (void)err_set(&err, STATUS_LIMIT, "a note has at most %d bytes", LIMIT_NOTE_BYTES);
        return cli_fail(cli, &err);
    }
    json_t *request = request_of_run(parsed);
    json_put_string(request, "note", parsed->args[1]);
    return cli_show(cli, "run.note", request, &VIEW_RUN);
}

int cmd_runs_values(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_of_run(parsed);
    if (parsed->args_count > 1)
        json_put_string(request, "task", parsed->args[1]);
    request_put_option(request, parsed, "key", "key");
    if (request_put_int(request, parsed, "map-index", "map_index", LIMIT_INSTANCES, &err) !=
        STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_show(cli, "run.values", request, &VIEW_VALUES);
}

int cmd_stop(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_of_run(parsed);
    if (parsed->args_count > 1)
        json_put_string(request, "task", parsed->args[1]);
    if (parsed_has(parsed, "kill"))
        json_put_bool(request, "kill", true);
    if (request_put_int(request, parsed, "map-index", "map_index", LIMIT_INSTANCES, &err) !=
        STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_change(cli, parsed, "run.cancel", request, &VIEW_RUN);
}
