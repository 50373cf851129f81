#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/request.h"
#include "cli/views.h"

enum { SLOTS_MAX = 1000000 };

/* --- pools ----------------------------------------------------------------------------------- */

static json_t *request_of_pool(const struct parsed *parsed)
{
    json_t *request = request_new();
    json_put_string(request, "name", parsed->args[0]);
    request_put_option(request, parsed, "namespace", "namespace");
    return request;
}

int cmd_pools_list(struct cli *cli, const struct parsed *parsed)
{
    return cli_list(cli, parsed, "pool.list", NULL, &VIEW_POOLS);
}

int cmd_pools_show(struct cli *cli, const struct parsed *parsed)
{
    return cli_show(cli, "pool.show", request_of_pool(parsed), &VIEW_POOL);
}

int cmd_pools_set(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_of_pool(parsed);
    request_put_option(request, parsed, "description", "description");
    if (request_put_int(request, parsed, "slots", "slots", SLOTS_MAX, &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_change(cli, parsed, "pool.set", request, &VIEW_POOL);
}

int cmd_pools_delete(struct cli *cli, const struct parsed *parsed)
{
    if (!cli_is_confirmed(cli, parsed, "delete the pool"))
        return EXIT_CODE_USAGE;
    bool is_dry = parsed_has(parsed, "dry-run");
    json_t *request = request_of_pool(parsed);
    json_put_bool(request, "dry_run", is_dry);
    int code = cli_show(cli, "pool.delete", request, &VIEW_POOL);
    if (code == EXIT_CODE_DONE)
        cli_say(cli, "%s", is_dry ? "would be deleted; nothing was changed" : "deleted");
    return code;
}

/* --- limits ---------------------------------------------------------------------------------- */

static json_t *request_of_limit(const struct parsed *parsed)
{
    json_t *request = request_new();
    json_put_string(request, "kind", parsed->args[0]);
    json_put_string(request, "name", parsed->args[1]);
    return request;
}

int cmd_limits_list(struct cli *cli, const struct parsed *parsed)
{
    return cli_list(cli, parsed, "limit.list", NULL, &VIEW_LIMITS);
}

int cmd_limits_set(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *response = NULL;
    if (!parsed_has(parsed, "max-running")) {
        (void)err_set(&err, STATUS_INVALID, "--max-running is missing: how many at once?");
        return cli_fail(cli, &err);
    }
    json_t *request = request_of_limit(parsed);
    if (request_put_int(request, parsed, "max-running", "max_running", SLOTS_MAX, &err) !=
        STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    if (cli_call(cli, "limit.set", request, &response, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    cli_print(cli, &VIEW_LIMITS, response);
    if (json_get_string(response, "warning", NULL) != NULL)
        cli_say(cli, "%s", json_get_string(response, "warning", ""));
    json_decref(response);
    return EXIT_CODE_DONE;
}

int cmd_limits_delete(struct cli *cli, const struct parsed *parsed)
{
    if (!cli_is_confirmed(cli, parsed, "remove the limit"))
        return EXIT_CODE_USAGE;
    return cli_change(cli, parsed, "limit.delete", request_of_limit(parsed), &VIEW_LIMITS);
}
