#include "base/json.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/request.h"
#include "cli/views.h"
#include "model/duration.h"

static bool read_unknown(const struct parsed *parsed, json_t *request, struct err *err)
{
    const char *text = parsed_get(parsed, "unknown", NULL);
    int64_t ms = 0;
    if (text == NULL)
        return true;
    if (duration_parse(text, &ms) && ms >= 0) {
        json_put_int(request, "unknown_ms", ms);
        return true;
    }
    (void)err_set(err, STATUS_INVALID, "--unknown: '%s' is not a time such as 30s or 5m", text);
    return false;
}

/* By hours, and on a terminal what makes the load below. */
int cmd_simulate(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *response = NULL;
    json_t *request = request_new();
    request_put_option(request, parsed, "from", "from");
    request_put_option(request, parsed, "to", "to");
    bool is_valid =
        request_put_int(request, parsed, "slots", "slots", 1000000, &err) == STATUS_OK &&
        read_unknown(parsed, request, &err);
    if (!is_valid) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    if (cli_call(cli, "schedule.simulate", request, &response, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    bool is_dags = parsed_has(parsed, "by-dag");
    (void)output_print(&cli->output, is_dags ? &VIEW_FORECAST_DAGS : &VIEW_FORECAST, response);
    return EXIT_CODE_DONE;
}
