/*
 * Rows of users, tokens and namespaces. Fenced off from the formatter because a table is read by
 * column.
 */
#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/handlers.h"

/* clang-format off */
#define OPTION_ROLE                                                                                \
    {"role", 0, "NAMESPACE=ROLE", "viewer, operator, editor or admin there; a role alone is for all (repeatable)", \
        true, COMPLETE_NONE, NULL, NULL}
static const struct command_option USERS_ADD_OPTIONS[] = {
    OPTION_ROLE,
    SWITCH("no-password", 0, "only tokens let in, and no password is asked for"),
    OPTION_REASON,
};
static const struct command_option USERS_SET_OPTIONS[] = {
    OPTION_ROLE,
    SWITCH("password", 0, "ask for a new password; ends all sessions"),
    SWITCH("disable", 0, "let in no more"),
    SWITCH("enable", 0, "let in again"),
    OPTION_REASON,
};
static const struct command_option REMOVE_OPTIONS[] = {OPTION_YES, OPTION_DRY, OPTION_REASON};
static const struct command_option TOKENS_ADD_OPTIONS[] = {
    VALUE("owner", 0, "USER", "whose it is: it may no more than that one, and goes with that one"),
    OPTION_ROLE,
    {"queue", 0, "QUEUE", "makes it a worker's, which serves this queue and may nothing else; * for all (repeatable)",
        true, COMPLETE_NONE, NULL, NULL},
    VALUE("expires", 0, "DURATION", "void after so long, such as 90d"),
    OPTION_REASON,
};
static const struct command_option CHANGE_OPTIONS[] = {OPTION_REASON};
static const struct command_option NAMESPACES_ADD_OPTIONS[] = {
    VALUE("doc", 0, "TEXT", "what it is for"), OPTION_REASON,
};

static const struct command ROWS[] = {
    {"users list", GROUP_USERS, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "list who may use the API, and what each may do", NULL, "eider users list",
        {NULL, 0}, cmd_users_list},
    {"users add", GROUP_USERS, COMMAND_READS, "NAME", 1, 1, COMPLETE_NONE, NULL,
        "let somebody use the API",
        "The password is asked for without showing it, or is the first line of standard input.",
        "eider users add anna --role admin\neider users add ben --role '*=viewer' --role sales=editor",
        OPTIONS(USERS_ADD_OPTIONS), cmd_users_add},
    {"users set", GROUP_USERS, COMMAND_READS, "NAME", 1, 1, COMPLETE_NONE, NULL,
        "change roles or the password of a user",
        "Roles that are given take the place of all those before.",
        "eider users set ben --role sales=operator\neider users set ben --password",
        OPTIONS(USERS_SET_OPTIONS), cmd_users_set},
    {"users remove", GROUP_USERS, COMMAND_READS, "NAME", 1, 1, COMPLETE_NONE, NULL,
        "let somebody in no more, with all tokens of that one", NULL,
        "eider users remove ben --yes", OPTIONS(REMOVE_OPTIONS), cmd_users_remove},
    {"tokens list", GROUP_USERS, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "list tokens, never the tokens themselves", NULL, "eider tokens list",
        {NULL, 0}, cmd_tokens_list},
    {"tokens add", GROUP_USERS, COMMAND_READS, "NAME", 1, 1, COMPLETE_NONE, NULL,
        "make a token for a program or a worker", "The token is shown once; `-o name` prints it alone.",
        "eider tokens add ci --owner anna --role sales=operator --expires 90d\n"
        "eider tokens add gpu-worker --queue gpu",
        OPTIONS(TOKENS_ADD_OPTIONS), cmd_tokens_add},
    {"tokens remove", GROUP_USERS, COMMAND_READS, "ID", 1, 1, COMPLETE_NONE, NULL,
        "take a token back, at once", NULL, "eider tokens remove 3", OPTIONS(CHANGE_OPTIONS),
        cmd_tokens_remove},
    {"namespaces list", GROUP_USERS, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "list namespaces and what is in them", NULL, "eider namespaces list",
        {NULL, 0}, cmd_namespaces_list},
    {"namespaces add", GROUP_USERS, COMMAND_READS, "NAME", 1, 1, COMPLETE_NONE, NULL,
        "make a namespace",
        "One is there as well once something is in it: a DAG with `namespace: sales`, a pool, ...",
        "eider namespaces add sales --doc 'what shops sold'", OPTIONS(NAMESPACES_ADD_OPTIONS),
        cmd_namespaces_add},
    {"namespaces remove", GROUP_USERS, COMMAND_READS, "NAME", 1, 1, COMPLETE_NONE, NULL,
        "remove a namespace that is empty", NULL, "eider namespaces remove sales",
        OPTIONS(CHANGE_OPTIONS), cmd_namespaces_remove},
};
/* clang-format on */

const struct command_table COMMANDS_USERS = {ROWS, ARRAY_LEN(ROWS), NULL};
