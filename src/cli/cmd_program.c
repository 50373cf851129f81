#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/completion.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/help.h"
#include "cli/reference.h"
#include "cli/request.h"
#include "cli/views.h"

int cmd_version(struct cli *cli, const struct parsed *parsed)
{
    (void)parsed;
    bool for_people = cli->output.format == OUTPUT_TABLE || cli->output.format == OUTPUT_WIDE;
    if (for_people) {
        (void)fprintf(cli->host.out, "eider %s\n", EIDER_VERSION);
        return EXIT_CODE_DONE;
    }
    json_t *response = request_new();
    json_put_string(response, "version", EIDER_VERSION);
    (void)output_print(&cli->output, &VIEW_VERSION, response);
    json_decref(response);
    return EXIT_CODE_DONE;
}

int cmd_help(struct cli *cli, const struct parsed *parsed)
{
    const struct style *style = &cli->output.style;
    char path[128];
    if (parsed->args_count == 0) {
        help_overview(cli->host.out, style);
        return EXIT_CODE_DONE;
    }
    int length =
        snprintf(path, sizeof path, "%.60s%s%.60s", parsed->args[0],
                 parsed->args_count > 1 ? " " : "", parsed->args_count > 1 ? parsed->args[1] : "");
    CHECK(length >= 0 && (size_t)length < sizeof path);
    const struct command *command = command_find(&COMMANDS, path);
    if (command != NULL) {
        help_command(cli->host.out, style, command);
        return EXIT_CODE_DONE;
    }
    if (parsed->args_count == 1 && command_is_noun(&COMMANDS, path)) {
        help_noun(cli->host.out, style, path);
        return EXIT_CODE_DONE;
    }
    (void)fprintf(cli->host.err, "eider: no command '%s' to help with\n", path);
    return EXIT_CODE_USAGE;
}

int cmd_completion(struct cli *cli, const struct parsed *parsed)
{
    if (completion_print(cli->host.out, parsed->args[0]))
        return EXIT_CODE_DONE;
    (void)fprintf(cli->host.err, "eider: no completion for '%.60s'; there is bash, zsh and fish\n",
                  parsed->args[0]);
    return EXIT_CODE_USAGE;
}

int cmd_man(struct cli *cli, const struct parsed *parsed)
{
    (void)parsed;
    help_manual(cli->host.out);
    return EXIT_CODE_DONE;
}

int cmd_docs(struct cli *cli, const struct parsed *parsed)
{
    if (reference_print(cli->host.out, parsed->args[0]))
        return EXIT_CODE_DONE;
    (void)fprintf(cli->host.err, "eider: no reference '%.60s'; there is:%s\n", parsed->args[0],
                  REFERENCE_NAMES);
    return EXIT_CODE_USAGE;
}

int cmd_up(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    (void)parsed;
    return cli_serve(cli, &err) == STATUS_OK ? EXIT_CODE_DONE : cli_fail(cli, &err);
}
