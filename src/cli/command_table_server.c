/*
 * The rows about servers. Fenced off from the formatter because a table is read by column.
 */
#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/handlers.h"

/* clang-format off */
static const struct command_option API_OPTIONS[] = {
    VALUE("data", 'd', "JSON", "the body; @FILE reads it from a file, @- from standard input"),
    {"header", 'H', "HEADER", "'Name: value' (repeatable)", true, COMPLETE_NONE, NULL, NULL},
    {"query", 0, "NAME=VALUE", "added to the path, encoded (repeatable)", true, COMPLETE_NONE,
        NULL, NULL},
};

static const struct command ROWS[] = {
    {"context list", GROUP_SERVER, COMMAND_READS | COMMAND_HERE, "", 0, 0, COMPLETE_NONE, NULL,
        "list servers by name, and which is in use", NULL, NULL, {NULL, 0}, cmd_context_list},
    {"context add", GROUP_SERVER, COMMAND_HERE, "NAME URL", 2, 2, COMPLETE_NONE, NULL,
        "give a server a name",
        "The name, the URL and what --token and --ca-file say are kept in a file of yours that nobody\n"
        "else may read (~/.config/eider/contexts.json). With `--token -` the token is read from\n"
        "standard input, so that it stands on no command line. One of the same name is replaced.",
        "eider context add prod https://eider.example:4337 --token - < token\n"
        "eider context add lab https://10.0.0.7:4337 --ca-file lab.pem",
        {NULL, 0}, cmd_context_add},
    {"context use", GROUP_SERVER, COMMAND_HERE, "NAME", 1, 1, COMPLETE_NONE, NULL,
        "let commands talk to a server from now on",
        "`off` lets them work on this machine's store again.", "eider context use prod",
        {NULL, 0}, cmd_context_use},
    {"context remove", GROUP_SERVER, COMMAND_HERE, "NAME", 1, 1, COMPLETE_NONE, NULL,
        "forget a server and its token", NULL, "eider context remove lab", {NULL, 0},
        cmd_context_remove},
    {"api", GROUP_SERVER, 0, "METHOD PATH", 2, 2, COMPLETE_NONE, NULL,
        "send a request to a server as it is",
        "To the server in use, or to the daemon of this machine's state folder. A PATH that begins\n"
        "with no slash is below /api/v1/. The answer goes to standard output as it came; the exit code\n"
        "says what its status means.",
        "eider api GET dags --query limit=5\n"
        "eider api POST dags/orders/dagRuns -d '{\"conf\": {\"region\": \"eu\"}}'\n"
        "eider api PATCH dags/orders -d @change.json\n"
        "eider api GET x/runs/7/tasks/load/log -H 'Accept: text/plain'",
        OPTIONS(API_OPTIONS), cmd_api},
    {"health", GROUP_SERVER, COMMAND_READS, "", 0, 0, COMPLETE_NONE, NULL,
        "check that work moves",
        "Looks at the store in use, or asks the server in use. Exit code 8 when work does not move, or when\n"
        "neither answers.",
        "eider health\neider health --server https://eider.example:4337", {NULL, 0}, cmd_health},
    {"schema", GROUP_SERVER, COMMAND_READS, "WHAT", 1, 1, COMPLETE_CHOICE, "openapi dag config",
        "print a schema: of the API, of DAG files, of eider.yaml",
        "WHAT is openapi (OpenAPI 3.1), dag or config (JSON Schema).",
        "eider schema dag > dag.schema.json", {NULL, 0}, cmd_schema},
};
/* clang-format on */

const struct command_table COMMANDS_SERVER = {ROWS, ARRAY_LEN(ROWS), &COMMANDS_USERS};
