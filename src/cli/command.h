#pragma once
/*
 * command: the commands and their options as tables.
 *
 * Parser, help, completion, man page and reference are all made from these rows.
 * The rows are in command_table.c, the handlers in cmd_*.c.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"

struct cli;
struct parsed;

/* What a shell offers for an argument. */
enum complete_kind {
    COMPLETE_NONE,
    COMPLETE_FILE,
    COMPLETE_FOLDER,
    COMPLETE_CHOICE, /* the words of `choices` */
    COMPLETE_DAG,
    COMPLETE_RUN,
    COMPLETE_COMMAND
};

struct command_option {
    const char *name;     /* without dashes */
    char letter;          /* 0: none */
    const char *argument; /* "FORMAT"; NULL: a switch */
    const char *doc;
    bool repeatable;
    enum complete_kind complete;
    const char *choices; /* "table json"; other values are refused */
    const char *setting; /* key of the setting that it sets, or NULL */
};

struct option_list {
    const struct command_option *rows;
    size_t count;
};

#define COMMAND_GROUP_MAP(X)                                                                       \
    X(DAILY, "Daily")                                                                              \
    X(DAGS, "DAGs")                                                                                \
    X(RUNS, "Runs")                                                                                \
    X(TASKS, "Tasks")                                                                              \
    X(JOBS, "Queues, pools, jobs and hosts")                                                       \
    X(VAULT, "Variables, connections and secrets")                                                 \
    X(ALERTS, "Deadlines and messages")                                                            \
    X(STORE, "Store and settings")                                                                 \
    X(USERS, "Users, tokens and namespaces")                                                       \
    X(SERVER, "Servers")                                                                           \
    X(PROGRAM, "The program itself")

enum command_group {
#define X(name, title) GROUP_##name,
    COMMAND_GROUP_MAP(X)
#undef X
        GROUP_COUNT
};

enum command_flags {
    COMMAND_READS = 1 << 0, /* takes -o */
    COMMAND_WATCH = 1 << 1, /* takes --watch */
    COMMAND_HIDDEN = 1 << 2,
    COMMAND_LOCAL = 1 << 3, /* makes no sense on a server, and says so */
    COMMAND_HERE = 1 << 4,  /* is about this machine, whichever server is in use */
};

#define ARGS_ANY ((size_t)-1)

struct command {
    const char *path; /* "runs list" */
    enum command_group group;
    unsigned flags;
    const char *args; /* synopsis: "RUN [TASK]" */
    size_t args_min, args_max;
    enum complete_kind complete; /* of its arguments */
    const char *choices;         /* of its last argument, with COMPLETE_CHOICE */
    const char *summary;
    const char *help;     /* paragraphs beyond the summary, or NULL */
    const char *examples; /* lines, or NULL */
    struct option_list options;
    int (*run)(struct cli *cli, const struct parsed *parsed); /* gives the exit code */
};

struct command_table {
    const struct command *rows;
    size_t count;
    const struct command_table *more; /* NULL: that is all */
};

extern const struct command_table COMMANDS;
/* A part of those. */
extern const struct command_table COMMANDS_SERVER;
extern const struct command_table COMMANDS_USERS;
extern const struct option_list GLOBAL_OPTIONS;
/* Options that flags of a command add. */
extern const struct command_option WATCH_OPTION;

size_t command_count(const struct command_table *table);
/* The i-th of those that there are. */
const struct command *command_at(const struct command_table *table, size_t i);

const char *command_group_title(enum command_group group);
/* The command with exactly this path, or NULL. */
const struct command *command_find(const struct command_table *table, const char *path);
/* Is `word` the first of several in some command's path ("runs")? */
bool command_is_noun(const struct command_table *table, const char *word);
/* By long name among the command's own, those of its flags and the global ones; or NULL. */
const struct command_option *command_find_option(const struct command *command, const char *name);
const struct command_option *command_find_letter(const struct command *command, char letter);
/*
 * The i-th option that the command takes, global ones last, without those that it has an option of
 * the same name for; NULL after the last.
 */
const struct command_option *command_option_at(const struct command *command, size_t i);
