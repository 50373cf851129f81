#include <string.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/request.h"
#include "cli/views.h"

enum { TICKS_MAX = 1000 };

int cmd_dags_next(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_of_dag(parsed);
    if (request_put_int(request, parsed, "count", "count", TICKS_MAX, &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    request_put_option(request, parsed, "from", "from");
    json_t *response = NULL;
    if (cli_call(cli, "dag.next", request, &response, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    cli_print(cli, parsed_has(parsed, "missed") ? &VIEW_MISSED : &VIEW_TICKS, response);
    if (json_get_bool(response, "is_paused", false))
        cli_say(cli, "%s is paused: nothing starts by itself before `eider dags unpause %s`",
                json_get_string(response, "dag_id", ""), json_get_string(response, "dag_id", ""));
    json_decref(response);
    return EXIT_CODE_DONE;
}

static int set_paused(struct cli *cli, const struct parsed *parsed, const char *operation)
{
    json_t *request = request_new();
    json_t *names = json_array();
    for (size_t i = 0; i < parsed->args_count; i++)
        (void)json_array_append_new(names, json_text(parsed->args[i], strlen(parsed->args[i])));
    json_put(request, "dags", names);
    return cli_show(cli, operation, request, &VIEW_PAUSED);
}

int cmd_dags_pause(struct cli *cli, const struct parsed *parsed)
{
    return set_paused(cli, parsed, "dag.pause");
}

int cmd_dags_unpause(struct cli *cli, const struct parsed *parsed)
{
    return set_paused(cli, parsed, "dag.unpause");
}
