#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/request.h"
#include "cli/views.h"

static bool is_for_people(const struct cli *cli)
{
    return cli->output.format == OUTPUT_TABLE || cli->output.format == OUTPUT_WIDE;
}

static bool has_code(const json_t *response, const char *code)
{
    size_t i;
    json_t *condition;
    json_array_foreach(json_object_get(response, "conditions"), i, condition)
    {
        if (str_equal(json_get_string(condition, "code", ""), code))
            return true;
    }
    return false;
}

static enum status ask_dag(struct cli *cli, const char *dag, json_t **out, struct err *err)
{
    json_t *request = request_new();
    json_put_string(request, "dag", dag);
    return cli_call(cli, "dag.explain", request, out, err);
}

/* The DAG was named, and nothing of its latest run is to come. */
static bool asks_for_dag(const struct parsed *parsed, const json_t *run)
{
    const char *state = json_get_string(run, "state", "");
    return parsed->args_count == 1 &&
           str_equal(parsed->args[0], json_get_string(run, "dag_id", "")) &&
           !str_equal(state, "queued") && !str_equal(state, "running");
}

/* Where only people start runs there is nothing to wait for, unless the file is broken. */
static bool waits_for_something(const json_t *dag)
{
    bool is_by_hand =
        has_code(dag, "no_schedule") || (has_code(dag, "no_file") && has_code(dag, "no_scheduler"));
    return !is_by_hand || has_code(dag, "broken_file");
}

static enum status add_dag(struct cli *cli, json_t *run, struct err *err)
{
    CLEANUP(json_decrefp) json_t *dag = NULL;
    if (ask_dag(cli, json_get_string(run, "dag_id", ""), &dag, err) != STATUS_OK)
        return err->code;
    if (waits_for_something(dag))
        json_put(run, "dag", json_incref(dag));
    return STATUS_OK;
}

static void print_run(struct cli *cli, const struct parsed *parsed, const json_t *run)
{
    const json_t *dag = json_object_get(run, "dag");
    if (is_for_people(cli))
        (void)fprintf(cli->host.out, "%s\n", json_get_string(run, "summary", ""));
    if (is_for_people(cli) && dag != NULL)
        (void)fprintf(cli->host.out, "%s\n", json_get_string(dag, "summary", ""));
    /* Of one task the sentence has said everything. */
    bool is_said = parsed->args_count > 1 && json_array_size(json_object_get(run, "tasks")) < 2;
    if (!is_for_people(cli) || !is_said)
        (void)output_print(&cli->output, &VIEW_EXPLAIN, run);
}

/* There is no such run: perhaps a DAG that has none yet. Else the first answer stands. */
static int explain_dag_alone(struct cli *cli, const char *dag, const struct err *problem)
{
    CLEANUP(json_decrefp) json_t *response = NULL;
    struct err err = {0};
    enum status status = ask_dag(cli, dag, &response, &err);
    if (status == STATUS_NOT_FOUND)
        return cli_fail(cli, problem);
    if (status != STATUS_OK)
        return cli_fail(cli, &err);
    if (is_for_people(cli))
        (void)fprintf(cli->host.out, "%s\n", json_get_string(response, "summary", ""));
    else
        (void)output_print(&cli->output, &VIEW_EXPLAIN_DAG, response);
    return EXIT_CODE_DONE;
}

int cmd_explain(struct cli *cli, const struct parsed *parsed)
{
    CLEANUP(json_decrefp) json_t *response = NULL;
    struct err err = {0};
    json_t *request = request_of_run(parsed);
    if (parsed->args_count > 1)
        json_put_string(request, "task", parsed->args[1]);
    enum status status = cli_call(cli, "run.explain", request, &response, &err);
    if (status == STATUS_NOT_FOUND && parsed->args_count == 1 &&
        strchr(parsed->args[0], '/') == NULL)
        return explain_dag_alone(cli, parsed->args[0], &err);
    if (status != STATUS_OK ||
        (asks_for_dag(parsed, response) && add_dag(cli, response, &err) != STATUS_OK))
        return cli_fail(cli, &err);
    print_run(cli, parsed, response);
    return EXIT_CODE_DONE;
}
