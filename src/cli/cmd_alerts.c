#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/request.h"
#include "cli/views.h"

enum { LIST_MAX = 100000 };

/* --- deadlines ------------------------------------------------------------------------------- */

int cmd_sla_list(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_new();
    request_put_option(request, parsed, "dag", "dag");
    json_put_bool(request, "open", parsed_has(parsed, "open"));
    if (request_put_int(request, parsed, "limit", "limit", LIST_MAX, &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_list(cli, parsed, "sla.list", request, &VIEW_MISSES);
}

int cmd_sla_report(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_new();
    request_put_option(request, parsed, "dag", "dag");
    if (request_put_int(request, parsed, "last", "last", LIST_MAX, &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_list(cli, parsed, "sla.report", request, &VIEW_SLAS);
}

/* --- messages -------------------------------------------------------------------------------- */

int cmd_notify_list(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_new();
    request_put_option(request, parsed, "dag", "dag");
    request_put_option(request, parsed, "state", "state");
    if (parsed_has(parsed, "failed"))
        json_put_string(request, "state", "failed");
    if (request_put_int(request, parsed, "limit", "limit", LIST_MAX, &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_list(cli, parsed, "notify.list", request, &VIEW_NOTICES);
}

int cmd_notify_retry(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_new();
    json_t *response = NULL;
    json_put_string(request, "id", parsed->args[0]);
    if (cli_call(cli, "notify.retry", request, &response, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    (void)output_print(&cli->output, &VIEW_NOTICE, response);
    if (!json_get_bool(response, "has_sender", true))
        cli_say(cli, "no daemon runs that would send it: it waits until one does (eider up)");
    json_decref(response);
    return EXIT_CODE_DONE;
}

int cmd_notify_test(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_new();
    json_t *response = NULL;
    json_put_string(request, "target", parsed->args[0]);
    request_put_option(request, parsed, "kind", "kind");
    if (cli_call(cli, "notify.test", request, &response, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    (void)output_print(&cli->output, &VIEW_TRIALS, response);
    bool is_ok = json_get_bool(response, "ok", false);
    json_decref(response);
    return is_ok ? EXIT_CODE_DONE : EXIT_CODE_FAILED;
}
