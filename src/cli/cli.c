#include "cli/cli.h"

#include <stdarg.h>
#include <string.h>

#include "base/check.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "cli/exit_code.h"
#include "cli/help.h"
#include "cli/parsed.h"
#include "cli/request.h"
#include "service/operations.h"

enum { WATCH_MS = 2000 };

int cli_fail(struct cli *cli, const struct err *err)
{
    (void)fflush(cli->host.out);
    (void)fprintf(cli->host.err, "eider: %s\n", err->text);
    return exit_code_of_status(err->code);
}

void cli_say(struct cli *cli, const char *fmt, ...)
{
    if (cli->quiet)
        return;
    (void)fflush(cli->host.out); /* where both go to one file, what was said first comes first */
    va_list args;
    va_start(args, fmt);
    (void)vfprintf(cli->host.err, fmt, args);
    va_end(args);
    (void)fputc('\n', cli->host.err);
}

size_t cli_columns(struct cli *cli)
{
    size_t columns = 0;
    size_t rows = 0;
    cli->host.terminal_size(cli->host.context, &columns, &rows);
    return columns > 0 ? columns : 80;
}

static enum status configure(struct cli *cli, struct err *err)
{
    if (cli->is_configured)
        return STATUS_OK;
    if (cli->host.configure != NULL &&
        cli->host.configure(cli->host.context, cli->flags, err) != STATUS_OK)
        return err->code;
    cli->is_configured = true;
    return STATUS_OK;
}

/* Of the operations that a command calls some only look. */
static void add_reason(const struct cli *cli, const char *operation, json_t *request)
{
    const struct operation *row = operation_find(&OPERATIONS, operation);
    if (cli->reason != NULL && row != NULL && operation_takes(row, "reason"))
        json_put_string(request, "reason", cli->reason);
}

/* Programs page by the total; people do not wait for it. */
static void ask_total(const struct cli *cli, const char *operation, json_t *request)
{
    const struct operation *row = operation_find(&OPERATIONS, operation);
    bool is_for_programs = cli->output.format == OUTPUT_JSON || cli->output.format == OUTPUT_YAML;
    if (is_for_programs && row != NULL && operation_takes(row, "with_total"))
        json_put_bool(request, "with_total", true);
}

enum status cli_call(struct cli *cli, const char *operation, json_t *taken_request,
                     json_t **out_response, struct err *err)
{
    json_t *request = taken_request != NULL ? taken_request : request_new();
    add_reason(cli, operation, request);
    ask_total(cli, operation, request);
    enum status status = configure(cli, err);
    const struct operation_caller *caller =
        cli->is_here && cli->host.here.call != NULL ? &cli->host.here : &cli->host.operations;
    if (status == STATUS_OK)
        status = operation_call(caller, operation, request, out_response, err);
    json_decref(request);
    return status;
}

const char *cli_server(struct cli *cli)
{
    struct err ignored = {0};
    if (cli->host.server == NULL || configure(cli, &ignored) != STATUS_OK)
        return NULL;
    return cli->host.server(cli->host.context);
}

enum status cli_connect(struct cli *cli, struct client **out, struct err *err)
{
    if (configure(cli, err) != STATUS_OK)
        return err->code;
    return cli->host.connect(cli->host.context, out, err);
}

enum status cli_run_engine(struct cli *cli, const struct engine_request *request,
                           const struct engine_observer *observer, struct engine_result *out_result,
                           struct err *err)
{
    if (configure(cli, err) != STATUS_OK)
        return err->code;
    return cli->host.engine.run(cli->host.engine.context, request, observer, out_result, err);
}

enum status cli_serve(struct cli *cli, struct err *err)
{
    if (configure(cli, err) != STATUS_OK)
        return err->code;
    return cli->host.serve(cli->host.context, err);
}

enum status cli_prove(struct cli *cli, const struct prove_request *request, json_t **out_report,
                      struct err *err)
{
    if (configure(cli, err) != STATUS_OK)
        return err->code;
    return cli->host.prover.run(cli->host.prover.context, request, out_report, err);
}

void cli_print(struct cli *cli, const struct view *view, const json_t *response)
{
    size_t rows = output_print(&cli->output, view, response);
    bool for_people = cli->output.format == OUTPUT_TABLE || cli->output.format == OUTPUT_WIDE;
    if (rows == 0 && for_people && view->empty != NULL)
        cli_say(cli, "%s", view->empty);
}

int cli_show(struct cli *cli, const char *operation, json_t *taken_request, const struct view *view)
{
    struct err err = {0};
    json_t *response = NULL;
    if (cli_call(cli, operation, taken_request, &response, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    cli_print(cli, view, response);
    json_decref(response);
    return EXIT_CODE_DONE;
}

int cli_change(struct cli *cli, const struct parsed *parsed, const char *operation,
               json_t *taken_request, const struct view *view)
{
    bool is_dry = parsed_has(parsed, "dry-run");
    if (is_dry)
        json_put_bool(taken_request, "dry_run", true);
    int code = cli_show(cli, operation, taken_request, view);
    if (code == EXIT_CODE_DONE && is_dry)
        cli_say(cli, "that is how it would be; nothing was changed");
    return code;
}

int cli_watch(struct cli *cli, const char *operation, json_t *taken_request,
              const struct view *view)
{
    int code = EXIT_CODE_DONE;
    do {
        struct err err = {0};
        json_t *response = NULL;
        if (cli_call(cli, operation, json_incref(taken_request), &response, &err) != STATUS_OK) {
            code = cli_fail(cli, &err);
            break;
        }
        if (cli->host.out_is_terminal)
            (void)fputs("\033[H\033[2J", cli->host.out);
        cli_print(cli, view, response);
        json_decref(response);
        (void)fflush(cli->host.out);
    } while (cli->host.pause(cli->host.context, WATCH_MS));
    json_decref(taken_request);
    return code;
}

/* Settings given as options, by key. */
int cli_list(struct cli *cli, const struct parsed *parsed, const char *operation,
             json_t *taken_request, const struct view *view)
{
    return parsed_has(parsed, "watch") ? cli_watch(cli, operation, taken_request, view)
                                       : cli_show(cli, operation, taken_request, view);
}

bool cli_is_confirmed(struct cli *cli, const struct parsed *parsed, const char *what)
{
    if (parsed_has(parsed, "yes") || parsed_has(parsed, "dry-run"))
        return true;
    (void)fprintf(cli->host.err, "eider: this will %s; say --yes to do it\n", what);
    return false;
}

static json_t *collect_flags(const struct parsed *parsed)
{
    json_t *flags = json_object();
    CHECK(flags != NULL);
    for (size_t i = 0; i < parsed->options_count; i++) {
        const struct parsed_option *given = &parsed->options[i];
        if (given->option->setting != NULL)
            json_put_string(flags, given->option->setting, given->value);
    }
    return flags;
}

static int run_command(struct cli *cli, const struct parsed *parsed)
{
    const struct command *command = parsed->command;
    bool is_pretty = cli->output.format == OUTPUT_TABLE;
    if (!(command->flags & COMMAND_READS) && !is_pretty && parsed_has(parsed, "output")) {
        (void)fprintf(cli->host.err, "eider: '%s' has no output formats\n", command->path);
        return EXIT_CODE_USAGE;
    }
    const char *server = (command->flags & COMMAND_LOCAL) ? cli_server(cli) : NULL;
    if (server != NULL) {
        (void)fprintf(
            cli->host.err,
            "eider: '%s' works on this machine alone, and %s is in use; say --server off\n",
            command->path, server);
        return EXIT_CODE_USAGE;
    }
    cli->is_here = (command->flags & COMMAND_HERE) != 0;
    return command->run(cli, parsed);
}

static int dispatch(struct cli *cli, const struct parsed *parsed)
{
    const struct style *style = &cli->output.style;
    /* Some commands have an option of that name with a value. */
    if (parsed_has(parsed, "version") && parsed_get(parsed, "version", NULL) == NULL) {
        (void)fprintf(cli->host.out, "eider %s\n", EIDER_VERSION);
        return EXIT_CODE_DONE;
    }
    bool asked = parsed_has(parsed, "help");
    if (parsed->command != NULL && !asked)
        return run_command(cli, parsed);
    if (parsed->command != NULL)
        help_command(cli->host.out, style, parsed->command);
    else if (parsed->noun != NULL)
        help_noun(asked ? cli->host.out : cli->host.err, style, parsed->noun);
    else
        help_overview(cli->host.out, style);
    return asked || parsed->noun == NULL ? EXIT_CODE_DONE : EXIT_CODE_USAGE;
}

int cli_main(const struct cli_host *host, int argc, const char *const *argv)
{
    struct cli cli = {.host = *host};
    struct parsed parsed = {0};
    struct err err = {0};
    if (parsed_read(&COMMANDS, argc, argv, &parsed, &err) != STATUS_OK) {
        (void)fprintf(host->err, "eider: %s\n", err.text);
        if (strstr(err.text, "usage:") == NULL)
            (void)fprintf(host->err, "See 'eider help'.\n");
        return EXIT_CODE_USAGE;
    }
    cli.quiet = parsed_has(&parsed, "quiet");
    cli.verbose = parsed_has(&parsed, "verbose");
    cli.output = (struct output){
        .stream = host->out,
        .is_terminal = host->out_is_terminal,
        .style = style_detect(host->out_is_terminal, parsed_has(&parsed, "no-color"),
                              host->environment, host->context),
    };
    CHECK(output_format_parse(parsed_get(&parsed, "output", "table"), &cli.output.format));
    cli.flags = collect_flags(&parsed);
    cli.reason = parsed_get(&parsed, "reason", NULL);
    int code = dispatch(&cli, &parsed);
    json_decref(cli.flags);
    parsed_fini(&parsed);
    if (fflush(host->out) != 0 && code == EXIT_CODE_DONE) {
        (void)fprintf(host->err, "eider: cannot write to standard output\n");
        code = EXIT_CODE_UNREACHABLE;
    }
    return code;
}
