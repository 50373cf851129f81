#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/request.h"
#include "cli/views.h"

enum { LIST_MAX = 10000, LIST_DEFAULT = 20, POLL_MS = 200 };

/* Columns cannot be aligned to what has not come yet. */
static void print_line(const struct cli *cli, const json_t *event)
{
    const char *separator = "";
    for (size_t i = 0; i < VIEW_EVENTS.columns_count; i++) {
        const struct column *column = &VIEW_EVENTS.columns[i];
        CLEANUP(mem_freep) char *cell = output_cell(column, event);
        if ((column->wide && cli->output.format != OUTPUT_WIDE) || cell[0] == '\0')
            continue;
        (void)fprintf(cli->host.out, "%s%s", separator, cell);
        separator = "  ";
    }
    (void)fputc('\n', cli->host.out);
}

/* What was missed is told where it is missing: to programs that read lines, by one of its own. */
static void tell_gap(struct cli *cli, const json_t *response, bool is_in_lines)
{
    const char *gap = json_get_string(response, "gap", NULL);
    const char *text = json_get_string(response, "gap_text", "");
    if (gap == NULL)
        return;
    cli_say(cli, "%s", text);
    if (!is_in_lines)
        return;
    CLEANUP(json_decrefp) json_t *line = json_object();
    json_put_string(line, "kind", "gap");
    json_put_string(line, "reason", gap);
    json_put_string(line, "text", text);
    CLEANUP(mem_freep) char *written = json_format(line);
    (void)fprintf(cli->host.out, "%s\n", written);
}

static void print_events(const struct cli *cli, const json_t *response)
{
    size_t i;
    json_t *event;
    json_array_foreach(json_object_get(response, "events"), i, event)
    {
        if (cli->output.format == OUTPUT_JSON) {
            CLEANUP(mem_freep) char *text = json_format(event);
            (void)fprintf(cli->host.out, "%s\n", text);
        } else {
            print_line(cli, event);
        }
    }
    (void)fflush(cli->host.out);
}

/* Ask for what came after the last answer, until nothing can come any more. */
static int follow(struct cli *cli, json_t *request)
{
    for (;;) {
        struct err err = {0};
        CLEANUP(json_decrefp) json_t *response = NULL;
        if (cli_call(cli, "event.list", json_incref(request), &response, &err) != STATUS_OK)
            return cli_fail(cli, &err);
        tell_gap(cli, response, cli->output.format == OUTPUT_JSON);
        print_events(cli, response);
        const char *cursor = json_get_string(response, "cursor", NULL);
        if (cursor != NULL)
            json_put_string(request, "cursor", cursor);
        if (json_get_bool(response, "more", false))
            continue;
        if (!json_get_bool(response, "live", true))
            return EXIT_CODE_DONE;
        if (!cli->host.pause(cli->host.context, POLL_MS))
            return EXIT_CODE_INTERRUPTED;
    }
}

static int list(struct cli *cli, json_t *request)
{
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *response = NULL;
    if (cli_call(cli, "event.list", json_incref(request), &response, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    tell_gap(cli, response, false);
    cli_print(cli, &VIEW_EVENTS, response);
    return EXIT_CODE_DONE;
}

/* "task_ended,run" as a list. */
static void put_kinds(json_t *request, const char *kinds)
{
    json_t *list = json_array();
    CHECK(list != NULL);
    while (kinds != NULL && *kinds != '\0') {
        size_t length = strcspn(kinds, ", ");
        if (length > 0)
            CHECK(json_array_append_new(list, json_text(kinds, length)) == 0);
        kinds += length + (kinds[length] != '\0' ? 1 : 0);
    }
    json_put(request, "kinds", list);
}

int cmd_events(struct cli *cli, const struct parsed *parsed)
{
    enum output_format format = cli->output.format;
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *request = request_new();
    request_put_option(request, parsed, "dag", "dag");
    request_put_option(request, parsed, "run", "run");
    request_put_option(request, parsed, "after", "cursor");
    request_put_option(request, parsed, "task", "task");
    request_put_option(request, parsed, "host", "host");
    put_kinds(request, parsed_get(parsed, "kind", NULL));
    json_put_int(request, "limit", LIST_DEFAULT);
    if (request_put_int(request, parsed, "limit", "limit", LIST_MAX, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    if (!parsed_has(parsed, "follow"))
        return list(cli, request);
    if (format != OUTPUT_JSON && format != OUTPUT_TABLE && format != OUTPUT_WIDE) {
        (void)err_set(&err, STATUS_INVALID, "--follow prints a table, wide or json, not %s",
                      output_format_name(format));
        return cli_fail(cli, &err);
    }
    return follow(cli, request);
}
