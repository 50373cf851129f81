#include "base/check.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/request.h"
#include "cli/views.h"
#include "model/limits.h"

enum { WIDTH_MAX = 100000 };

int cmd_dags_list(struct cli *cli, const struct parsed *parsed)
{
    json_t *request = request_new();
    request_put_option(request, parsed, "tag", "tag");
    if (parsed_has(parsed, "all"))
        json_put_bool(request, "all", true);
    return cli_list(cli, parsed, "dag.list", request, &VIEW_DAGS);
}

/* {"dag" or "file", "version"}; NULL after a message when --version is no number. */
static json_t *request_of_version(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_of_dag(parsed);
    if (request_put_int(request, parsed, "version", "version", INT32_MAX, &err) == STATUS_OK)
        return request;
    json_decref(request);
    (void)cli_fail(cli, &err);
    return NULL;
}

int cmd_dags_show(struct cli *cli, const struct parsed *parsed)
{
    json_t *request = request_of_version(cli, parsed);
    return request != NULL ? cli_show(cli, "dag.show", request, &VIEW_DAG) : EXIT_CODE_USAGE;
}

/* Print the member "text" of a response as it is. */
static int print_text(struct cli *cli, const char *operation, json_t *taken_request)
{
    struct err err = {0};
    json_t *response = NULL;
    if (cli_call(cli, operation, taken_request, &response, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    (void)fputs(json_get_string(response, "text", ""), cli->host.out);
    json_decref(response);
    return EXIT_CODE_DONE;
}

/* What is around a task, and groups that are one node each. */
static enum status put_part(const struct parsed *parsed, json_t *request, struct err *err)
{
    request_put_option(request, parsed, "task", "task");
    if (request_put_int(request, parsed, "up", "up", LIMIT_TASKS, err) != STATUS_OK ||
        request_put_int(request, parsed, "down", "down", LIMIT_TASKS, err) != STATUS_OK)
        return err->code;
    if (!parsed_has(parsed, "collapse"))
        return STATUS_OK;
    json_t *groups = json_array();
    CHECK(groups != NULL);
    const char *group = NULL;
    for (size_t i = 0; (group = parsed_get_nth(parsed, "collapse", i)) != NULL; i++)
        CHECK(json_array_append_new(groups, json_string(group)) == 0);
    json_put(request, "collapsed", groups);
    return STATUS_OK;
}

static int print_graph(struct cli *cli, const struct parsed *parsed, json_t *request)
{
    struct err err = {0};
    const struct int_bounds bounds = {1, WIDTH_MAX, (int64_t)cli_columns(cli)};
    int64_t width = 0;
    if (parsed_get_int(parsed, "width", &bounds, &width, &err) != STATUS_OK ||
        put_part(parsed, request, &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    json_put_string(request, "format", parsed_get(parsed, "format", "text"));
    json_put_int(request, "width", width);
    json_put_bool(request, "ascii", !cli->output.style.utf8);
    return print_text(cli, "dag.graph", request);
}

int cmd_dags_graph(struct cli *cli, const struct parsed *parsed)
{
    return print_graph(cli, parsed, request_of_dag(parsed));
}

int cmd_runs_graph(struct cli *cli, const struct parsed *parsed)
{
    return print_graph(cli, parsed, request_of_run(parsed));
}

int cmd_dags_source(struct cli *cli, const struct parsed *parsed)
{
    json_t *request = request_of_version(cli, parsed);
    return request != NULL ? print_text(cli, "dag.source", request) : EXIT_CODE_USAGE;
}
