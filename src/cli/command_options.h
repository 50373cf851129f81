#pragma once
/*
 * command_options: how options are written in the table of commands, and those that several
 * commands have. Private to this layer.
 */
#include "base/attrs.h"
#include "cli/command.h"

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
#define GRAPH_FORMATS "text dot mermaid svg"
#define RUN_STATES    "queued running success failed cancelled"

/* clang-format off */
#define OPTION_PARAM                                                                               \
    {"param", 'p', "KEY=VALUE", "a parameter of the DAG", true, COMPLETE_NONE, NULL, NULL}
#define OPTION_CONF  VALUE("conf", 'c', "JSON", "parameters as a JSON object")
#define OPTION_DATE  VALUE("date", 0, "DATE", "logical date; now by default")
#define OPTION_SLOTS                                                                               \
    {"slots", 'j', "N", "tasks that run at once", false, COMPLETE_NONE, NULL, "slots"}
#define OPTION_DAG                                                                                 \
    {"dag", 0, "DAG", "which DAG of a file with several", false, COMPLETE_DAG, NULL, NULL}
#define OPTION_YES   SWITCH("yes", 'y', "do it; without this nothing changes")
#define OPTION_KILL  SWITCH("kill", 0, "of a run: its `finally` tasks, too")
#define OPTION_DRY   SWITCH("dry-run", 0, "only show what would happen")
#define OPTION_MAP   VALUE("map-index", 0, "N", "one instance of a mapped task")
#define OPTION_LOGS  SWITCH("logs", 'l', "show the output of tasks as it comes")
#define OPTION_DRAWING                                                                             \
    {"format", 0, "FORMAT", "text, dot, mermaid or svg", false, COMPLETE_CHOICE,                   \
     GRAPH_FORMATS, NULL},                                                                         \
    VALUE("width", 0, "COLUMNS", "room for the picture"),                                          \
    VALUE("task", 't', "TASK", "only what is around this task"),                                   \
    VALUE("up", 0, "LEVELS", "of what the task needs; 1 by default"),                              \
    VALUE("down", 0, "LEVELS", "of what needs the task; 1 by default"),                            \
    {"collapse", 0, "GROUP", "the group as one node; '*' for all (repeatable)", true,              \
     COMPLETE_NONE, NULL, NULL}
#define JOB_STATUSES "pending delayed claimed completed failed skipped cancelled"
#define OPTION_QUEUE VALUE("queue", 0, "QUEUE", "only of this queue")
#define OPTION_OLDER VALUE("older", 0, "DURATION", "only what is older, such as 7d")
#define OPTION_STATUS                                                                              \
    {"status", 's', "STATUS", "only of this status", false, COMPLETE_CHOICE, JOB_STATUSES, NULL}
#define OPTION_LIMIT VALUE("limit", 'n', "N", "at most so many; 20 by default")
#define OPTION_DELAY VALUE("delay", 0, "DURATION", "not before so long from now, such as 5m")
#define OPTION_AT    VALUE("at", 0, "TIME", "not before, such as 2026-01-15T02:00:00Z")
#define OPTION_NAMESPACE VALUE("namespace", 0, "NAME", "whose pool it is; default by default")
#define OPTION_JOB_SPACE VALUE("namespace", 0, "NAME", "whose job it is; default by default")
#define OPTION_ONLY_DAG                                                                            \
    {"dag", 0, "DAG", "only of this DAG", false, COMPLETE_DAG, NULL, NULL}
#define OPTION_SPACE VALUE("namespace", 0, "NAME", "the namespace in the store; `default` by default")
#define OPTION_REASON VALUE("reason", 0, "TEXT", "why; kept with the change")

#define OPTION_EVERY VALUE("every", 'n', "SECONDS", "ask so often: 1, 2, 5, 10, 30 or 60; 2 by default")

#define TOP_HELP                                                                                   \
    "Numbers and throughput, runs, tasks, DAGs, queues, pools, hosts and events; the tasks of a\n"  \
    "run as a tree, their logs, and why they wait. ? shows the keys. Needs a terminal; NO_COLOR is\n" \
    "honoured. See docs/top.md."

#define ENQUEUE_ARGS "QUEUE [HANDLER [PAYLOAD] | -- COMMAND..]"
#define ENQUEUE_HELP                                                                               \
    "HANDLER is a name from `handlers` in eider.yaml, or the built-in noop or sleep. PAYLOAD is\n"  \
    "JSON; - reads it from standard input, @FILE from a file. After -- stands a command: one\n"     \
    "argument is given to the shell as it is, several are quoted each.\n"                            \
    "\n"                                                                                            \
    "With --batch [FILE] every line is a job: {\"handler\", \"payload\", \"queue\", \"delay\",\n"     \
    "\"run_after\", \"priority\", \"dedupe\", \"retries\", \"retry_delay\", \"timeout\",\n"             \
    "\"on_lost_lease\", \"namespace\"}; --namespace is that of the lines that name none. A thousand\n" \
    "lines are committed at a time; a bad line is named, and nothing of its thousand is kept."
#define ENQUEUE_EXAMPLES                                                                           \
    "eider enqueue mail send '{\"to\": \"ann\"}' --retries 3 --dedupe order-17\n"                   \
    "eider enqueue default --delay 10m -- pg_dump -f /backup/shop.sql shop\n"                      \
    "eider enqueue mail --batch < jobs.jsonl"

#define VAULT_VALUE_HELP                                                                           \
    "Without a value it is read from standard input, or typed without being shown. The last line\n" \
    "end of a file or of standard input does not belong to the value."

#define BACKFILL_CHOICES                                                                           \
    VALUE("from", 0, "DATE", "first logical date"),                                                \
    VALUE("to", 0, "DATE", "last logical date, included; a day is the whole day"),                 \
    {"order", 0, "ORDER", "asc, the oldest date first, or desc", false, COMPLETE_CHOICE,           \
        "asc desc", NULL},                                                                         \
    {"redo", 0, "WHICH", "dates that have a run: none, failed or all", false, COMPLETE_CHOICE,     \
        "none failed all", NULL},                                                                  \
    VALUE("max-active", 0, "N", "runs at once; the DAG's max_active_runs by default"),             \
    VALUE("queue", 0, "QUEUE", "where all its tasks wait; their own by default"),                  \
    OPTION_PARAM, OPTION_CONF,                                                                     \
    {"task", 't', "TASK", "only this task (repeatable)", true, COMPLETE_NONE, NULL, NULL},         \
    SWITCH("with-upstream", 0, "and what the tasks need"),                                         \
    SWITCH("with-downstream", 0, "and what comes after the tasks"),                                \
    VALUE("dag-version", 0, "N", "for new runs: current (default), newest, original or a number"), \
    VALUE("note", 0, "TEXT", "a note kept with every run"), OPTION_REASON, OPTION_DAG
/* clang-format on */
