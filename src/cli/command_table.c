/*
 * The rows. Fenced off from the formatter because a table is read by column.
 */
#include "cli/command.h"
#include "cli/handlers.h"

#define OPTIONS(table)                                                                             \
    {                                                                                              \
        table, ARRAY_LEN(table)                                                                    \
    }
#define SWITCH(name, letter, doc)                                                                  \
    {                                                                                              \
        name, letter, NULL, doc, false, COMPLETE_NONE, NULL, NULL                                  \
    }
#define VALUE(name, letter, argument, doc)                                                         \
    {                                                                                              \
        name, letter, argument, doc, false, COMPLETE_NONE, NULL, NULL                              \
    }
#define FORMATS       "table wide json yaml csv name"
#define GRAPH_FORMATS "text dot mermaid svg"
#define RUN_STATES    "queued running success failed cancelled"

/* clang-format off */
static const struct command_option GLOBAL[] = {
    {"output", 'o', "FORMAT", "table, wide, json, yaml, csv or name", false, COMPLETE_CHOICE,
        FORMATS, NULL},
    {"store", 0, "URL", "where state is kept", false, COMPLETE_FILE, NULL, "store"},
    {"home", 0, "DIR", "state directory", false, COMPLETE_FOLDER, NULL, "home"},
    SWITCH("no-color", 0, "no colours"),
    SWITCH("quiet", 'q', "only data and errors"),
    SWITCH("verbose", 'v', "say more"),
    {"log-level", 0, "LEVEL", "the program's own messages", false, COMPLETE_CHOICE,
        "error warn info debug", "log_level"},
    {"log-format", 0, "FORM", "form of those messages", false, COMPLETE_CHOICE, "text json",
        "log_format"},
    {"dags", 0, "DIR", "folder of DAG files", false, COMPLETE_FOLDER, NULL, "dags"},
    SWITCH("help", 'h', "show help"),
    SWITCH("version", 0, "show the version"),
};
const struct option_list GLOBAL_OPTIONS = OPTIONS(GLOBAL);

const struct command_option WATCH_OPTION =
    SWITCH("watch", 'w', "show again every two seconds");

#define OPTION_PARAM                                                                               \
    {"param", 'p', "KEY=VALUE", "a parameter of the DAG", true, COMPLETE_NONE, NULL, NULL}
#define OPTION_CONF  VALUE("conf", 'c', "JSON", "parameters as a JSON object")
#define OPTION_DATE  VALUE("date", 0, "DATE", "logical date; now by default")
#define OPTION_SLOTS                                                                               \
    {"slots", 'j', "N", "tasks that run at once", false, COMPLETE_NONE, NULL, "slots"}
#define OPTION_DAG                                                                                 \
    {"dag", 0, "DAG", "which DAG of a file with several", false, COMPLETE_DAG, NULL, NULL}
#define OPTION_YES   SWITCH("yes", 'y', "do it; without this nothing changes")
#define OPTION_DRY   SWITCH("dry-run", 0, "only show what would happen")
#define OPTION_MAP   VALUE("map-index", 0, "N", "one instance of a mapped task")
#define OPTION_LOGS  SWITCH("logs", 'l', "show the output of tasks as it comes")
#define OPTION_GRAPH                                                                               \
    {"format", 0, "FORMAT", "text, dot, mermaid or svg", false, COMPLETE_CHOICE,                   \
     GRAPH_FORMATS, NULL}
#define OPTION_WIDTH VALUE("width", 0, "COLUMNS", "room for the picture")

static const struct command_option RUN_OPTIONS[] = {
    OPTION_PARAM, OPTION_CONF, OPTION_DATE,
    {"task", 't', "TASK", "only this task (repeatable)", true, COMPLETE_NONE, NULL, NULL},
    VALUE("run-id", 0, "ID", "name of the run"),
    VALUE("note", 0, "TEXT", "a note kept with the run"),
    OPTION_DAG, OPTION_SLOTS, OPTION_LOGS,
    SWITCH("detach", 'd', "let a daemon run it, and do not wait"),
};
static const struct command_option TRIGGER_OPTIONS[] = {
    OPTION_PARAM, OPTION_CONF, OPTION_DATE,
    {"task", 't', "TASK", "only this task (repeatable)", true, COMPLETE_NONE, NULL, NULL},
    VALUE("run-id", 0, "ID", "name of the run"),
    VALUE("note", 0, "TEXT", "a note kept with the run"),
    OPTION_DAG,
};
static const struct command_option TEST_OPTIONS[] = {
    OPTION_PARAM, OPTION_CONF, OPTION_DATE, OPTION_DAG, OPTION_SLOTS,
};
static const struct command_option RETRY_OPTIONS[] = {OPTION_SLOTS, OPTION_LOGS, OPTION_DRY};
#define OPTION_OF(name, argument, doc, setting)                                                    \
    {name, 0, argument, doc, false, COMPLETE_NONE, NULL, setting}
static const struct command_option UP_OPTIONS[] = {
    OPTION_SLOTS,
    OPTION_OF("host-name", "NAME", "name of this host; the machine's by default", "host_name"),
    OPTION_OF("labels", "WORDS", "what tasks may ask for in a host: gpu,big", "labels"),
    OPTION_OF("queues", "NAMES", "queues to serve; all by default", "queues"),
    OPTION_OF("roles", "ROLES", "scheduler, worker, api; all by default", "roles"),
};
static const struct command_option LOGS_OPTIONS[] = {
    SWITCH("follow", 'f', "wait for more until the task ends"),
    VALUE("try", 0, "N", "an earlier attempt; the newest by default"),
    VALUE("tail", 'n', "N", "only the last lines"),
    VALUE("grep", 'g', "RE", "only lines that match"),
    OPTION_MAP,
};
static const struct command_option MARK_OPTIONS[] = {OPTION_MAP};
static const struct command_option DAGS_LIST_OPTIONS[] = {
    VALUE("tag", 0, "TAG", "only with this tag"),
};
static const struct command_option GRAPH_OPTIONS[] = {OPTION_GRAPH, OPTION_WIDTH, OPTION_DAG};
static const struct command_option FILE_OPTIONS[] = {OPTION_DAG};
static const struct command_option RUN_GRAPH_OPTIONS[] = {OPTION_GRAPH, OPTION_WIDTH};
static const struct command_option RUNS_LIST_OPTIONS[] = {
    {"dag", 0, "DAG", "only of this DAG", false, COMPLETE_DAG, NULL, NULL},
    {"state", 's', "STATE", "only in this state", false, COMPLETE_CHOICE, RUN_STATES, NULL},
    VALUE("limit", 'n', "N", "at most so many; 20 by default"),
    VALUE("offset", 0, "N", "leave out the first"),
};
static const struct command_option STATE_OPTIONS[] = {
    VALUE("state", 's', "STATE", "only in this state"),
};
static const struct command_option WAIT_OPTIONS[] = {
    VALUE("timeout", 0, "SECONDS", "give up after"),
};
static const struct command_option CANCEL_OPTIONS[] = {OPTION_DRY};
static const struct command_option DELETE_OPTIONS[] = {OPTION_YES, OPTION_DRY};
static const struct command_option VALUES_OPTIONS[] = {
    VALUE("key", 'k', "KEY", "only this key"), OPTION_MAP,
};
static const struct command_option RENDER_OPTIONS[] = {
    OPTION_PARAM, OPTION_CONF, OPTION_DATE, OPTION_DAG,
};
static const struct command_option CLEAR_OPTIONS[] = {
    SWITCH("downstream", 0, "what comes after it, too"), OPTION_DRY,
};
static const struct command_option RESTORE_OPTIONS[] = {OPTION_YES};
static const struct command_option MIGRATE_OPTIONS[] = {OPTION_DRY};

static const struct command ROWS[] = {
    /* --- daily --- */
    {"run", GROUP_DAILY, COMMAND_READS, "FILE|DAG", 1, 1, COMPLETE_FILE, NULL,
        "run a DAG now and follow it",
        "A file needs no server: its tasks run here, and the command ends with the run. On a\n"
        "terminal a live view shows every task; otherwise each change of a task is one line. The\n"
        "first Ctrl-C stops gently, the second kills.",
        "eider run hello.yaml\n"
        "eider run orders.yaml -p region=eu -p full_refresh=true --date 2026-01-15\n"
        "eider run orders.yaml --task build --task verify",
        OPTIONS(RUN_OPTIONS), cmd_run},
    {"up", GROUP_DAILY, 0, "", 0, 0, COMPLETE_NONE, NULL,
        "run as a daemon that works off what is triggered",
        "Offers the DAG files of --dags by name, claims what is triggered or enqueued and runs it,\n"
        "until it is told to stop. HUP reads the files again. The first TERM or INT claims nothing\n"
        "more, waits for `drain_grace` and gives back what still runs; the second does that at\n"
        "once. A daemon that was killed goes on with its tasks when it is started again.",
        "eider up\neider up --dags /srv/dags --slots 32 --labels gpu",
        OPTIONS(UP_OPTIONS), cmd_up},
    {"validate", GROUP_DAILY, COMMAND_READS, "PATH..", 1, ARGS_ANY, COMPLETE_FILE, NULL,
        "check DAG files",
        "Shows every problem of every file with its place; folders are read recursively. Exit\n"
        "code 6 when something is wrong.",
        "eider validate dags/\neider validate hello.yaml -o json",
        {NULL, 0}, cmd_validate},
    {"init", GROUP_DAILY, 0, "[NAME]", 0, 1, COMPLETE_FOLDER, NULL,
        "start a project",
        "Creates the folder NAME (the current one by default) with eider.yaml,\n"
        "dags/hello.yaml and .gitignore. Existing files are never changed.",
        "eider init shop", {NULL, 0}, cmd_init},
    {"test", GROUP_DAILY, COMMAND_READS, "FILE [TASK]", 1, 2, COMPLETE_FILE, NULL,
        "run a file without recording it",
        "Like `eider run`, with the output of the tasks shown and nothing kept afterwards.",
        "eider test hello.yaml\neider test orders.yaml build -p region=eu",
        OPTIONS(TEST_OPTIONS), cmd_test},
    {"ps", GROUP_DAILY, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "show what runs now", NULL, "eider ps --watch", {NULL, 0}, cmd_ps},
    {"logs", GROUP_DAILY, 0, "RUN [TASK]", 1, 2, COMPLETE_RUN, NULL,
        "show what tasks printed",
        "RUN is a number, DAG/RUN_ID or a DAG, which stands for its latest run. Without TASK the\n"
        "logs of all tasks follow each other.",
        "eider logs orders_daily\neider logs 7 build -f\n"
        "eider logs 7 stage --map-index 3 --try 1 --grep ERROR",
        OPTIONS(LOGS_OPTIONS), cmd_logs},
    {"explain", GROUP_DAILY, COMMAND_READS, "RUN [TASK]", 1, 2, COMPLETE_RUN, NULL,
        "say why something is or is not running", NULL,
        "eider explain orders_daily\neider explain 7 publish", {NULL, 0}, cmd_explain},
    {"retry", GROUP_DAILY, COMMAND_READS, "RUN [TASK..]", 1, ARGS_ANY, COMPLETE_RUN, NULL,
        "run again what did not succeed",
        "Finished tasks are kept. With tasks named, those and what comes after them run again.",
        "eider retry orders_daily\neider retry 7 build", OPTIONS(RETRY_OPTIONS), cmd_retry},
    {"stop", GROUP_DAILY, COMMAND_READS, "RUN [TASK]", 1, 2, COMPLETE_RUN, NULL,
        "stop a run or one of its tasks", NULL, "eider stop orders_daily",
        OPTIONS(CANCEL_OPTIONS), cmd_stop},
    {"mark", GROUP_DAILY, COMMAND_READS, "RUN TASK STATE", 3, 3, COMPLETE_CHOICE,
        "success failed skipped", "set the state of a task by hand",
        "STATE is success, failed or skipped.", "eider mark 7 verify success",
        OPTIONS(MARK_OPTIONS), cmd_mark},

    /* --- DAGs --- */
    {"dags list", GROUP_DAGS, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "list DAGs", NULL, "eider dags list --tag tier1", OPTIONS(DAGS_LIST_OPTIONS),
        cmd_dags_list},
    {"dags trigger", GROUP_DAGS, COMMAND_READS, "FILE|DAG", 1, 1, COMPLETE_DAG, NULL,
        "make a run for daemons to work off",
        "The run waits until an `eider up` claims it.",
        "eider dags trigger orders_daily -p region=eu", OPTIONS(TRIGGER_OPTIONS),
        cmd_dags_trigger},
    {"dags show", GROUP_DAGS, COMMAND_READS, "FILE|DAG", 1, 1, COMPLETE_FILE, NULL,
        "show a DAG", NULL, "eider dags show orders.yaml", OPTIONS(FILE_OPTIONS), cmd_dags_show},
    {"dags graph", GROUP_DAGS, 0, "FILE|DAG", 1, 1, COMPLETE_FILE, NULL,
        "draw a DAG", "As text for a terminal, or for DOT, Mermaid and browsers.",
        "eider dags graph orders.yaml\neider dags graph orders.yaml --format svg > orders.svg",
        OPTIONS(GRAPH_OPTIONS), cmd_dags_graph},
    {"dags source", GROUP_DAGS, 0, "FILE|DAG", 1, 1, COMPLETE_FILE, NULL,
        "print the file of a DAG", NULL, "eider dags source orders_daily", OPTIONS(FILE_OPTIONS),
        cmd_dags_source},

    /* --- runs --- */
    {"runs list", GROUP_RUNS, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "list runs, newest first", NULL,
        "eider runs list --state failed\neider runs list --dag orders_daily -o json",
        OPTIONS(RUNS_LIST_OPTIONS), cmd_runs_list},
    {"runs show", GROUP_RUNS, COMMAND_READS, "RUN", 1, 1, COMPLETE_RUN, NULL,
        "show a run", NULL, "eider runs show orders_daily", {NULL, 0}, cmd_runs_show},
    {"runs tasks", GROUP_RUNS, COMMAND_READS | COMMAND_WATCH, "RUN", 1, 1, COMPLETE_RUN, NULL,
        "list the tasks of a run", NULL, "eider runs tasks 7 --state failed",
        OPTIONS(STATE_OPTIONS), cmd_runs_tasks},
    {"runs graph", GROUP_RUNS, 0, "RUN", 1, 1, COMPLETE_RUN, NULL,
        "draw a run with its states", NULL, "eider runs graph 7",
        OPTIONS(RUN_GRAPH_OPTIONS), cmd_runs_graph},
    {"runs gantt", GROUP_RUNS, 0, "RUN", 1, 1, COMPLETE_RUN, NULL,
        "show when each task ran", NULL, "eider runs gantt 7", {NULL, 0}, cmd_runs_gantt},
    {"runs wait", GROUP_RUNS, COMMAND_READS, "RUN", 1, 1, COMPLETE_RUN, NULL,
        "wait for the end of a run",
        "The exit code tells the verdict: 0 success, 1 failed, 9 cancelled; 7 when the time is up.",
        "eider runs wait 7 --timeout 600", OPTIONS(WAIT_OPTIONS), cmd_runs_wait},
    {"runs cancel", GROUP_RUNS, COMMAND_READS, "RUN", 1, 1, COMPLETE_RUN, NULL,
        "stop a run", NULL, "eider runs cancel 7", OPTIONS(CANCEL_OPTIONS), cmd_stop},
    {"runs delete", GROUP_RUNS, COMMAND_READS, "RUN", 1, 1, COMPLETE_RUN, NULL,
        "delete a run with its logs and values", NULL, "eider runs delete 7 --yes",
        OPTIONS(DELETE_OPTIONS), cmd_runs_delete},
    {"runs note", GROUP_RUNS, COMMAND_READS, "RUN TEXT", 2, 2, COMPLETE_RUN, NULL,
        "set the note of a run", NULL, "eider runs note 7 'late file from the shop'",
        {NULL, 0}, cmd_runs_note},
    {"runs values", GROUP_RUNS, COMMAND_READS, "RUN [TASK]", 1, 2, COMPLETE_RUN, NULL,
        "show the values that tasks returned", NULL, "eider runs values 7 list_parts -o json",
        OPTIONS(VALUES_OPTIONS), cmd_runs_values},

    /* --- tasks --- */
    {"tasks list", GROUP_TASKS, COMMAND_READS, "FILE|DAG", 1, 1, COMPLETE_FILE, NULL,
        "list the tasks of a DAG", NULL, "eider tasks list orders.yaml", OPTIONS(FILE_OPTIONS),
        cmd_tasks_list},
    {"tasks show", GROUP_TASKS, COMMAND_READS, "FILE|DAG TASK", 2, 2, COMPLETE_FILE, NULL,
        "show a task of a DAG", NULL, "eider tasks show orders.yaml build",
        OPTIONS(FILE_OPTIONS), cmd_tasks_show},
    {"tasks render", GROUP_TASKS, COMMAND_READS, "FILE|DAG TASK", 2, 2, COMPLETE_FILE, NULL,
        "show a task with its templates filled in", NULL,
        "eider tasks render orders.yaml build --date 2026-01-15", OPTIONS(RENDER_OPTIONS),
        cmd_tasks_render},
    {"tasks states", GROUP_TASKS, COMMAND_READS | COMMAND_WATCH, "RUN", 1, 1, COMPLETE_RUN, NULL,
        "list the states of a run's tasks", NULL, "eider tasks states 7 --watch",
        OPTIONS(STATE_OPTIONS), cmd_runs_tasks},
    {"tasks clear", GROUP_TASKS, COMMAND_READS, "RUN TASK..", 2, ARGS_ANY, COMPLETE_RUN, NULL,
        "forget the outcome of tasks, so that they run again", NULL,
        "eider tasks clear 7 build --downstream --dry-run", OPTIONS(CLEAR_OPTIONS),
        cmd_tasks_clear},

    /* --- store and settings --- */
    {"store check", GROUP_STORE, COMMAND_READS, "", 0, 0, COMPLETE_NONE, NULL,
        "check the store for damage", NULL, NULL, {NULL, 0}, cmd_store_check},
    {"store backup", GROUP_STORE, COMMAND_READS, "PATH", 1, 1, COMPLETE_FILE, NULL,
        "copy the store, also while it is in use", NULL, "eider store backup /backup/eider.db",
        {NULL, 0}, cmd_store_backup},
    {"store restore", GROUP_STORE, COMMAND_READS, "PATH", 1, 1, COMPLETE_FILE, NULL,
        "replace the store by a backup", NULL, "eider store restore /backup/eider.db --yes",
        OPTIONS(RESTORE_OPTIONS), cmd_store_restore},
    {"store migrate", GROUP_STORE, COMMAND_READS, "", 0, 0, COMPLETE_NONE, NULL,
        "bring the store to this version's schema", NULL, NULL, OPTIONS(MIGRATE_OPTIONS),
        cmd_store_migrate},
    {"config list", GROUP_STORE, COMMAND_READS, "", 0, 0, COMPLETE_NONE, NULL,
        "list settings and where each value came from", NULL, NULL, {NULL, 0}, cmd_config_list},
    {"config get", GROUP_STORE, COMMAND_READS, "KEY", 1, 1, COMPLETE_NONE, NULL,
        "print the value of a setting", NULL, "eider config get store", {NULL, 0}, cmd_config_get},

    /* --- the program itself --- */
    {"doctor", GROUP_PROGRAM, COMMAND_READS, "", 0, 0, COMPLETE_NONE, NULL,
        "check that this machine has what is needed", NULL, NULL, {NULL, 0}, cmd_doctor},
    {"completion", GROUP_PROGRAM, 0, "SHELL", 1, 1, COMPLETE_CHOICE, "bash zsh fish",
        "print completion for bash, zsh or fish", NULL, "source <(eider completion bash)",
        {NULL, 0}, cmd_completion},
    {"version", GROUP_PROGRAM, COMMAND_READS, "", 0, 0, COMPLETE_NONE, NULL,
        "show the version", NULL, NULL, {NULL, 0}, cmd_version},
    {"help", GROUP_PROGRAM, 0, "[COMMAND]", 0, 2, COMPLETE_COMMAND, NULL,
        "show help", NULL, "eider help runs list", {NULL, 0}, cmd_help},
    {"man", GROUP_PROGRAM, COMMAND_HIDDEN, "", 0, 0, COMPLETE_NONE, NULL,
        "print the manual page", NULL, NULL, {NULL, 0}, cmd_man},
    {"__docs", GROUP_PROGRAM, COMMAND_HIDDEN, "PART", 1, 1, COMPLETE_NONE, NULL,
        "print a part of the documents", NULL, NULL, {NULL, 0}, cmd_docs},
};
/* clang-format on */

const struct command_table COMMANDS = {ROWS, ARRAY_LEN(ROWS)};
