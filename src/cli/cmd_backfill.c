#include "base/clock.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/request.h"
#include "cli/views.h"

enum { ACTIVE_MOST = 1000000, LIST_MOST = 1000000, DATES_USUAL = 50 };

#define DAY_US ((int64_t)86400 * 1000000)

/* --- plan and create ------------------------------------------------------------------------- */

/* A day as the end of a range is the whole day. */
static enum status put_date(json_t *request, const struct parsed *parsed, const char *option,
                            bool is_end, struct err *err)
{
    const char *text = parsed_get(parsed, option, NULL);
    struct instant_form form;
    char kept[INSTANT_TEXT_MAX];
    int64_t at_us = 0;
    if (text == NULL)
        return err_set(err, STATUS_INVALID, "--%s is missing: which dates?", option);
    if (!instant_parse_form(text, &at_us, &form))
        return err_set(err, STATUS_INVALID,
                       "--%s: '%.60s' is no date; write 2026-01-15 or 2026-01-15T02:00:00Z", option,
                       text);
    if (is_end && !form.has_time)
        at_us += DAY_US - 1;
    json_put_string(request, option, instant_format(at_us, kept));
    return STATUS_OK;
}

static enum status put_inputs(json_t *request, const struct parsed *parsed, struct err *err)
{
    json_t *params = NULL;
    json_t *conf = NULL;
    if (request_params(parsed, &params, err) != STATUS_OK)
        return err->code;
    if (params != NULL)
        json_put(request, "params", params);
    if (request_conf(parsed, &conf, err) != STATUS_OK)
        return err->code;
    if (conf != NULL)
        json_put(request, "conf", conf);
    json_t *tasks = json_array();
    const char *task;
    for (size_t i = 0; (task = parsed_get_nth(parsed, "task", i)) != NULL; i++)
        (void)json_array_append_new(tasks, json_string(task));
    json_put(request, "tasks", tasks);
    json_put_bool(request, "upstream", parsed_has(parsed, "with-upstream"));
    json_put_bool(request, "downstream", parsed_has(parsed, "with-downstream"));
    return STATUS_OK;
}

static enum status fill_request(json_t *request, const struct parsed *parsed, struct err *err)
{
    if (put_date(request, parsed, "from", false, err) != STATUS_OK ||
        put_date(request, parsed, "to", true, err) != STATUS_OK ||
        request_put_int(request, parsed, "max-active", "max_active", ACTIVE_MOST, err) !=
            STATUS_OK ||
        put_inputs(request, parsed, err) != STATUS_OK)
        return err->code;
    request_put_option(request, parsed, "order", "order");
    request_put_option(request, parsed, "redo", "redo");
    request_put_option(request, parsed, "queue", "queue");
    request_put_option(request, parsed, "dag-version", "version");
    request_put_option(request, parsed, "note", "note");
    return STATUS_OK;
}

static int show_plan(struct cli *cli, json_t *taken_request)
{
    json_put_int(taken_request, "dates", DATES_USUAL);
    return cli_show(cli, "backfill.plan", taken_request, &VIEW_BACKFILL_PLAN);
}

int cmd_backfill_plan(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_of_dag(parsed);
    if (fill_request(request, parsed, &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return show_plan(cli, request);
}

static void say_approval(struct cli *cli, const json_t *backfill)
{
    const char *number = json_get_string(backfill, "backfill", "?");
    cli_say(cli,
            "it has %lld dates, so many that somebody has to approve it: `eider backfill approve "
            "%s` lets it begin, `eider backfill cancel %s` gives it up",
            (long long)json_get_int(backfill, "size", 0), number, number);
}

int cmd_backfill_create(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *response = NULL;
    json_t *request = request_of_dag(parsed);
    if (fill_request(request, parsed, &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    if (parsed_has(parsed, "dry-run"))
        return show_plan(cli, request);
    if (cli_call(cli, "backfill.create", request, &response, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    (void)output_print(&cli->output, &VIEW_BACKFILL, response);
    if (str_equal(json_get_string(response, "state", ""), "awaiting_approval"))
        say_approval(cli, response);
    else if (json_get_string(response, "held_because", NULL) != NULL)
        cli_say(cli, "it does not begin: %s", json_get_string(response, "held_because", ""));
    return EXIT_CODE_DONE;
}

/* --- looking --------------------------------------------------------------------------------- */

int cmd_backfill_list(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_new();
    request_put_option(request, parsed, "dag", "dag");
    request_put_option(request, parsed, "state", "state");
    if (request_put_int(request, parsed, "limit", "limit", LIST_MOST, &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_list(cli, parsed, "backfill.list", request, &VIEW_BACKFILLS);
}

static json_t *request_of_backfill(const struct parsed *parsed)
{
    json_t *request = request_new();
    json_put_string(request, "backfill", parsed->args[0]);
    return request;
}

int cmd_backfill_show(struct cli *cli, const struct parsed *parsed)
{
    json_t *request = request_of_backfill(parsed);
    if (!parsed_has(parsed, "dates"))
        return cli_list(cli, parsed, "backfill.show", request, &VIEW_BACKFILL);
    json_put_int(request, "dates", LIST_MOST);
    return cli_list(cli, parsed, "backfill.show", request, &VIEW_BACKFILL_DATES);
}

/* --- changing -------------------------------------------------------------------------------- */

int cmd_backfill_pause(struct cli *cli, const struct parsed *parsed)
{
    return cli_show(cli, "backfill.pause", request_of_backfill(parsed), &VIEW_BACKFILL);
}

int cmd_backfill_resume(struct cli *cli, const struct parsed *parsed)
{
    return cli_show(cli, "backfill.resume", request_of_backfill(parsed), &VIEW_BACKFILL);
}

int cmd_backfill_approve(struct cli *cli, const struct parsed *parsed)
{
    return cli_show(cli, "backfill.approve", request_of_backfill(parsed), &VIEW_BACKFILL);
}

int cmd_backfill_cancel(struct cli *cli, const struct parsed *parsed)
{
    json_t *request = request_of_backfill(parsed);
    json_put_bool(request, "running", parsed_has(parsed, "running"));
    return cli_change(cli, parsed, "backfill.cancel", request, &VIEW_BACKFILL);
}
