#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/request.h"
#include "cli/views.h"
#include "model/limits.h"

enum { MOST_PENDING = 1000000000, HOSTS_MAX = 1000000 };

/* --- queues ---------------------------------------------------------------------------------- */

static json_t *request_of_queue(const struct parsed *parsed)
{
    json_t *request = request_new();
    json_put_string(request, "name", parsed->args[0]);
    return request;
}

int cmd_queues_list(struct cli *cli, const struct parsed *parsed)
{
    return cli_list(cli, parsed, "queue.list", NULL, &VIEW_QUEUES);
}

int cmd_queues_show(struct cli *cli, const struct parsed *parsed)
{
    return cli_show(cli, "queue.show", request_of_queue(parsed), &VIEW_QUEUE);
}

int cmd_queues_set(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_of_queue(parsed);
    const struct int_bounds bounds = {-LIMIT_PRIORITY, LIMIT_PRIORITY, 0};
    int64_t priority = 0;
    if (parsed_get_int(parsed, "priority", &bounds, &priority, &err) != STATUS_OK ||
        request_put_int(request, parsed, "max-running", "max_running", MOST_PENDING, &err) !=
            STATUS_OK ||
        request_put_int(request, parsed, "max-share", "max_share", 100, &err) != STATUS_OK ||
        request_put_int(request, parsed, "soft", "soft_pending", MOST_PENDING, &err) != STATUS_OK ||
        request_put_int(request, parsed, "hard", "hard_pending", MOST_PENDING, &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    if (parsed_has(parsed, "priority"))
        json_put_int(request, "priority", priority);
    return cli_show(cli, "queue.set", request, &VIEW_QUEUE);
}

static int set_paused(struct cli *cli, const struct parsed *parsed, bool paused)
{
    json_t *request = request_of_queue(parsed);
    json_put_bool(request, "paused", paused);
    json_put_bool(request, "create", false);
    return cli_show(cli, "queue.set", request, &VIEW_QUEUE);
}

int cmd_queues_pause(struct cli *cli, const struct parsed *parsed)
{
    return set_paused(cli, parsed, true);
}

int cmd_queues_resume(struct cli *cli, const struct parsed *parsed)
{
    return set_paused(cli, parsed, false);
}

int cmd_queues_delete(struct cli *cli, const struct parsed *parsed)
{
    if (!cli_is_confirmed(cli, parsed, "delete the queue"))
        return EXIT_CODE_USAGE;
    bool is_dry = parsed_has(parsed, "dry-run");
    json_t *request = request_of_queue(parsed);
    json_put_bool(request, "dry_run", is_dry);
    int code = cli_show(cli, "queue.delete", request, &VIEW_QUEUE);
    if (code == EXIT_CODE_DONE)
        cli_say(cli, "%s", is_dry ? "would be deleted; nothing was changed" : "deleted");
    return code;
}

/* --- hosts ----------------------------------------------------------------------------------- */

static json_t *request_of_host(const struct parsed *parsed)
{
    json_t *request = request_new();
    json_put_string(request, "host", parsed->args[0]);
    return request;
}

int cmd_hosts_list(struct cli *cli, const struct parsed *parsed)
{
    json_t *request = request_new();
    json_put_bool(request, "all", parsed_has(parsed, "all"));
    return cli_list(cli, parsed, "host.list", request, &VIEW_HOSTS);
}

int cmd_hosts_show(struct cli *cli, const struct parsed *parsed)
{
    return cli_show(cli, "host.show", request_of_host(parsed), &VIEW_HOST);
}

static int set_drain(struct cli *cli, const struct parsed *parsed, bool drain)
{
    json_t *request = request_of_host(parsed);
    json_put_bool(request, "drain", drain);
    return cli_show(cli, "host.drain", request, &VIEW_HOST);
}

int cmd_hosts_drain(struct cli *cli, const struct parsed *parsed)
{
    return set_drain(cli, parsed, true);
}

int cmd_hosts_resume(struct cli *cli, const struct parsed *parsed)
{
    return set_drain(cli, parsed, false);
}

int cmd_hosts_desired(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_new();
    if (request_put_int(request, parsed, "min", "min", HOSTS_MAX, &err) != STATUS_OK ||
        request_put_int(request, parsed, "max", "max", HOSTS_MAX, &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_show(cli, "host.desired", request, &VIEW_DESIRED);
}
