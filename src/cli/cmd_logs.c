#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/progress.h"
#include "cli/request.h"
#include "model/limits.h"

enum { POLL_MS = 200, ARRIVAL_MS = 10000, NUMBER_MAX = 1000000000, LOG_BYTES_MAX = 64 << 20 };

/* Which log was printed last: a title stands between the logs of different attempts. */
struct printing {
    struct cli *cli;
    const char *operation;
    bool has_titles;
    struct strbuf title;
    bool ended_in_line; /* the last byte was not a line feed */
};

static void print_title(struct printing *printing, const json_t *entry)
{
    struct strbuf title;
    strbuf_init(&title, 2048);
    progress_add_name(&title, json_get_string(entry, "task_id", "?"),
                      json_get_int(entry, "map_index", -1), json_get_string(entry, "label", NULL));
    strbuf_addf(&title, " try %lld", (long long)json_get_int(entry, "try_number", 1));
    if (!str_equal(title.text, printing->title.text)) {
        const struct style *style = &printing->cli->output.style;
        (void)fprintf(printing->cli->host.out, "%s%s== %s ==%s\n",
                      printing->ended_in_line ? "\n" : "", style_bold(style), title.text,
                      style_reset(style));
        strbuf_clear(&printing->title);
        strbuf_add(&printing->title, title.text);
    }
    strbuf_fini(&title);
}

/* Output that is no text comes in base64 as well, so that it is printed as it was written. */
static void print_text(struct printing *printing, const json_t *entry)
{
    const json_t *text = json_object_get(entry, "text");
    const json_t *raw = json_object_get(entry, "base64");
    struct strbuf bytes;
    strbuf_init(&bytes, LOG_BYTES_MAX);
    if (!json_is_string(raw) ||
        !base64_decode(&bytes, json_string_value(raw), json_string_length(raw))) {
        strbuf_clear(&bytes);
        strbuf_add_bytes(&bytes, json_string_value(text), json_string_length(text));
    }
    (void)fwrite(bytes.text, 1, bytes.length, printing->cli->host.out);
    if (bytes.length > 0)
        printing->ended_in_line = bytes.text[bytes.length - 1] != '\n';
    strbuf_fini(&bytes);
}

static void print_entries(struct printing *printing, const json_t *response)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(response, "entries"), i, entry)
    {
        if (printing->has_titles)
            print_title(printing, entry);
        print_text(printing, entry);
    }
}

static enum status make_request(const struct parsed *parsed, json_t *request, struct err *err)
{
    request_put_option(request, parsed, "grep", "grep");
    if (request_put_int(request, parsed, "try", "try_number", NUMBER_MAX, err) != STATUS_OK ||
        request_put_int(request, parsed, "tail", "tail", NUMBER_MAX, err) != STATUS_OK)
        return err->code;
    return request_put_int(request, parsed, "map-index", "map_index", LIMIT_INSTANCES, err);
}

static int tell_missing(struct cli *cli, bool is_arriving, bool is_removed)
{
    if (is_removed)
        (void)fprintf(cli->host.err, "eider: what was printed is not kept any more; how long logs "
                                     "are kept says `eider config get keep_logs`\n");
    if (is_arriving)
        (void)fprintf(cli->host.err, "eider: the end of a log is still on the host that ran its "
                                     "task; try again when that host reaches the store\n");
    return EXIT_CODE_DONE;
}

/*
 * Ask for the next part until there is none; with --follow until nothing can come any more. The end
 * of a log that its host is about to bring is waited for, though not for ever.
 */
static int print_all(struct printing *printing, json_t *request, bool follow)
{
    struct cli *cli = printing->cli;
    int64_t idle_ms = 0;
    bool is_removed = false;
    for (;;) {
        struct err err = {0};
        json_t *response = NULL;
        if (cli_call(cli, printing->operation, json_incref(request), &response, &err) != STATUS_OK)
            return cli_fail(cli, &err);
        print_entries(printing, response);
        const char *cursor = json_get_string(response, "cursor", NULL);
        bool more = cursor != NULL && json_get_bool(response, "more", false);
        bool live = cursor != NULL && follow && json_get_bool(response, "live", false);
        bool is_arriving = cursor != NULL && json_get_bool(response, "arriving", false);
        is_removed |= json_get_bool(response, "removed", false);
        idle_ms = json_array_size(json_object_get(response, "entries")) > 0 ? 0 : idle_ms + POLL_MS;
        if (cursor != NULL)
            json_put_string(request, "cursor", cursor);
        json_decref(response);
        if (more)
            continue;
        (void)fflush(cli->host.out);
        if (!live && !(is_arriving && idle_ms < ARRIVAL_MS))
            return tell_missing(cli, is_arriving, is_removed);
        if (!cli->host.pause(cli->host.context, POLL_MS))
            return EXIT_CODE_INTERRUPTED;
    }
}

/* Print the log that the request names; the request is taken. */
static int print_log(struct printing *printing, const struct parsed *parsed, json_t *request)
{
    struct err err = {0};
    int code;
    strbuf_init(&printing->title, 2048);
    if (make_request(parsed, request, &err) != STATUS_OK)
        code = cli_fail(printing->cli, &err);
    else
        code = print_all(printing, request, parsed_has(parsed, "follow"));
    strbuf_fini(&printing->title);
    json_decref(request);
    return code;
}

int cmd_logs(struct cli *cli, const struct parsed *parsed)
{
    struct printing printing = {
        .cli = cli, .operation = "log.read", .has_titles = parsed->args_count == 1};
    json_t *request = request_of_run(parsed);
    if (parsed->args_count > 1)
        json_put_string(request, "task", parsed->args[1]);
    return print_log(&printing, parsed, request);
}

int cmd_jobs_logs(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    struct printing printing = {.cli = cli, .operation = "job.log"};
    json_t *request = request_of_job(parsed, &err);
    return request == NULL ? cli_fail(cli, &err) : print_log(&printing, parsed, request);
}
