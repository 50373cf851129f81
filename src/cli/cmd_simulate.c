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

/* How much of it there is, and where it is shown. */
static void say_trouble(struct cli *cli, const json_t *response)
{
    size_t i;
    json_t *row;
    int64_t full = 0;
    int64_t missed = 0;
    json_array_foreach(json_object_get(response, "pools"), i, row)
    {
        full += json_get_int(row, "hours_waited", 0) > 0;
    }
    json_array_foreach(json_object_get(response, "misses"), i, row)
    {
        missed += json_get_int(row, "count", 0);
    }
    if (full > 0)
        cli_say(cli, "tasks wait for %lld pools: see --pools", (long long)full);
    if (missed > 0)
        cli_say(cli, "%lld deadlines are missed: see --misses", (long long)missed);
}

/* By hours, or what makes the load, which pools are short, which deadlines are missed. */
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
    const struct view *view = parsed_has(parsed, "by-dag")   ? &VIEW_FORECAST_DAGS
                              : parsed_has(parsed, "pools")  ? &VIEW_FORECAST_POOLS
                              : parsed_has(parsed, "misses") ? &VIEW_FORECAST_MISSES
                                                             : &VIEW_FORECAST;
    (void)output_print(&cli->output, view, response);
    if (view == &VIEW_FORECAST)
        say_trouble(cli, response);
    return EXIT_CODE_DONE;
}
