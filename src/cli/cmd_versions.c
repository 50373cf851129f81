/*
 * Versions of DAGs, and the files they come from.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/request.h"
#include "cli/views.h"

static json_t *request_of_dag_id(const struct parsed *parsed)
{
    json_t *request = request_new();
    json_put_string(request, "dag", parsed->args[0]);
    return request;
}

/* An argument that is the number of a version. */
static enum status put_number(json_t *request, const char *key, const char *text, struct err *err)
{
    int64_t number = 0;
    if (!str_parse_i64(text, 1, INT32_MAX, &number))
        return err_set(err, STATUS_INVALID, "'%.60s' is no version: write its number", text);
    json_put_int(request, key, number);
    return STATUS_OK;
}

int cmd_dags_versions(struct cli *cli, const struct parsed *parsed)
{
    return cli_list(cli, parsed, "dag.versions", request_of_dag_id(parsed), &VIEW_VERSIONS);
}

int cmd_dags_errors(struct cli *cli, const struct parsed *parsed)
{
    json_t *request = request_new();
    if (parsed->args_count > 0)
        json_put_string(request, "dag", parsed->args[0]);
    return cli_list(cli, parsed, "dag.errors", request, &VIEW_DAG_ERRORS);
}

/* "+ load", "~ build: retries, run", "~ (the DAG): schedule" */
static void print_change(FILE *out, const json_t *change)
{
    const char *what = json_get_string(change, "what", "");
    const char *task = json_get_string(change, "task", NULL);
    const json_t *keys = json_object_get(change, "keys");
    char mark = str_equal(what, "added") ? '+' : str_equal(what, "removed") ? '-' : '~';
    (void)fprintf(out, "%c %s", mark, task != NULL ? task : "(the DAG)");
    for (size_t i = 0; i < json_array_size(keys); i++)
        (void)fprintf(out, "%s%s", i == 0 ? ": " : ", ",
                      json_string_value(json_array_get(keys, i)));
    (void)fputc('\n', out);
}

int cmd_dags_diff(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *response = NULL;
    json_t *request = request_of_dag_id(parsed);
    if ((parsed->args_count > 1 &&
         put_number(request, "from", parsed->args[1], &err) != STATUS_OK) ||
        (parsed->args_count > 2 && put_number(request, "to", parsed->args[2], &err) != STATUS_OK)) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    if (cli_call(cli, "dag.diff", request, &response, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    if (!output_print_plain(&cli->output, response)) {
        const json_t *changes = json_object_get(response, "changes");
        for (size_t i = 0; i < json_array_size(changes); i++)
            print_change(cli->host.out, json_array_get(changes, i));
        if (json_array_size(changes) > 0)
            (void)fputc('\n', cli->host.out);
        (void)fputs(json_get_string(response, "text", ""), cli->host.out);
    }
    json_decref(response);
    return EXIT_CODE_DONE;
}

int cmd_dags_rollback(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_of_dag_id(parsed);
    bool is_dry = parsed_has(parsed, "dry-run");
    json_put_bool(request, "dry_run", is_dry);
    if (put_number(request, "version", parsed->args[1], &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    int code = cli_show(cli, "dag.rollback", request, &VIEW_VERSION_OF_DAG);
    if (code == EXIT_CODE_DONE)
        cli_say(cli, "%s",
                is_dry ? "would be current; nothing was changed"
                       : "current until the DAG's file is changed");
    return code;
}

int cmd_dags_delete(struct cli *cli, const struct parsed *parsed)
{
    if (!cli_is_confirmed(cli, parsed, "delete the DAG with all its versions, runs and logs"))
        return EXIT_CODE_USAGE;
    json_t *request = request_of_dag_id(parsed);
    bool is_dry = parsed_has(parsed, "dry-run");
    json_put_bool(request, "dry_run", is_dry);
    int code = cli_show(cli, "dag.delete", request, &VIEW_DAG_DELETED);
    if (code == EXIT_CODE_DONE)
        cli_say(cli, "%s", is_dry ? "would be deleted; nothing was changed" : "deleted");
    return code;
}

int cmd_runs_rerun(struct cli *cli, const struct parsed *parsed)
{
    json_t *request = request_of_run(parsed);
    request_put_option(request, parsed, "version", "version");
    return cli_change(cli, parsed, "run.rerun", request, &VIEW_RUN);
}
