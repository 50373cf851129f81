
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/request.h"
#include "cli/views.h"

/* A list of checks; the exit code says whether all passed. */
static int show_checks_or(struct cli *cli, const char *operation, int failed)
{
    struct err err = {0};
    json_t *response = NULL;
    if (cli_call(cli, operation, NULL, &response, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    (void)output_print(&cli->output, &VIEW_CHECKS, response);
    bool ok = json_get_bool(response, "ok", false);
    json_decref(response);
    return ok ? EXIT_CODE_DONE : failed;
}

static int show_checks(struct cli *cli, const char *operation)
{
    return show_checks_or(cli, operation, EXIT_CODE_FAILED);
}

int cmd_store_check(struct cli *cli, const struct parsed *parsed)
{
    (void)parsed;
    return show_checks(cli, "store.check");
}

int cmd_doctor(struct cli *cli, const struct parsed *parsed)
{
    (void)parsed;
    return show_checks(cli, "doctor.check");
}

int cmd_health(struct cli *cli, const struct parsed *parsed)
{
    (void)parsed;
    return show_checks_or(cli, "health.show", EXIT_CODE_UNREACHABLE);
}

int cmd_store_backup(struct cli *cli, const struct parsed *parsed)
{
    json_t *request = request_new();
    json_put_string(request, "path", parsed->args[0]);
    return cli_show(cli, "store.backup", request, &VIEW_BACKUP);
}

int cmd_store_restore(struct cli *cli, const struct parsed *parsed)
{
    if (!parsed_has(parsed, "yes")) {
        (void)fprintf(cli->host.err, "eider: this will replace the store; say --yes to do it\n");
        return EXIT_CODE_USAGE;
    }
    json_t *request = request_new();
    json_put_string(request, "path", parsed->args[0]);
    return cli_show(cli, "store.restore", request, &VIEW_BACKUP);
}

/* "-" is a stream of this process. */
static json_t *request_for_move(const struct parsed *parsed, const char *stream)
{
    json_t *request = request_new();
    bool is_stream = strcmp(parsed->args[0], "-") == 0;
    json_put_string(request, "path", is_stream ? stream : parsed->args[0]);
    return request;
}

int cmd_store_export(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_for_move(parsed, "/dev/stdout");
    json_put_bool(request, "logs", parsed_has(parsed, "logs"));
    if (strcmp(parsed->args[0], "-") != 0)
        return cli_show(cli, "store.export", request, &VIEW_MOVE);
    /* Nothing else may stand on standard output then. */
    json_t *response = NULL;
    if (cli_call(cli, "store.export", request, &response, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    json_decref(response);
    return EXIT_CODE_DONE;
}

int cmd_store_import(struct cli *cli, const struct parsed *parsed)
{
    return cli_show(cli, "store.import", request_for_move(parsed, "/dev/stdin"), &VIEW_MOVE);
}

int cmd_store_migrate(struct cli *cli, const struct parsed *parsed)
{
    json_t *request = request_new();
    json_put_bool(request, "dry_run", parsed_has(parsed, "dry-run"));
    return cli_show(cli, "store.migrate", request, &VIEW_MIGRATION);
}

int cmd_store_prune(struct cli *cli, const struct parsed *parsed)
{
    json_t *request = request_new();
    json_put_bool(request, "dry_run", parsed_has(parsed, "dry-run"));
    return cli_show(cli, "store.prune", request, &VIEW_PRUNE);
}

int cmd_config_list(struct cli *cli, const struct parsed *parsed)
{
    (void)parsed;
    return cli_show(cli, "config.list", NULL, &VIEW_SETTINGS);
}

int cmd_config_get(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_new();
    json_t *response = NULL;
    json_put_string(request, "key", parsed->args[0]);
    if (cli_call(cli, "config.get", request, &response, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    if (!output_print_plain(&cli->output, response))
        (void)fprintf(cli->host.out, "%s\n", json_get_string(response, "value", ""));
    json_decref(response);
    return EXIT_CODE_DONE;
}
