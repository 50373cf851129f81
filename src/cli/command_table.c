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
#define OPTION_REASON VALUE("reason", 0, "TEXT", "why, for the record")
static const struct command_option DAGS_LIST_OPTIONS[] = {
    VALUE("tag", 0, "TAG", "only with this tag"),
    SWITCH("all", 'a', "inactive ones, too"),
};
static const struct command_option VERSION_OPTIONS[] = {
    OPTION_DAG, VALUE("version", 0, "N", "a version other than the current one"),
};
static const struct command_option ROLLBACK_OPTIONS[] = {OPTION_REASON, OPTION_DRY};
static const struct command_option DAGS_DELETE_OPTIONS[] = {OPTION_YES, OPTION_DRY, OPTION_REASON};
static const struct command_option RERUN_OPTIONS[] = {
    {"version", 0, "WHICH", "original (by default) or newest", false, COMPLETE_CHOICE,
        "original newest", NULL},
    OPTION_REASON,
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
#define JOB_STATUSES "pending delayed claimed completed failed skipped cancelled"
#define OPTION_QUEUE VALUE("queue", 0, "QUEUE", "only of this queue")
#define OPTION_OLDER VALUE("older", 0, "DURATION", "only what is older, such as 7d")
#define OPTION_STATUS                                                                              \
    {"status", 's', "STATUS", "only of this status", false, COMPLETE_CHOICE, JOB_STATUSES, NULL}
#define OPTION_LIMIT VALUE("limit", 'n', "N", "at most so many; 20 by default")
#define OPTION_DELAY VALUE("delay", 0, "DURATION", "not before so long from now, such as 5m")
#define OPTION_AT    VALUE("at", 0, "TIME", "not before, such as 2026-01-15T02:00:00Z")

static const struct command_option ENQUEUE_OPTIONS[] = {
    OPTION_DELAY, OPTION_AT,
    VALUE("priority", 0, "N", "higher ones come first within their queue"),
    VALUE("dedupe", 0, "KEY", "only one job has this key"),
    VALUE("retries", 0, "N", "after the first attempt"),
    VALUE("retry-delay", 0, "DURATION", "between attempts; a growing one by default"),
    VALUE("timeout", 0, "DURATION", "for an attempt"),
    {"on-lost-lease", 0, "HOW", "when its host loses the store: stop or finish", false,
        COMPLETE_CHOICE, "stop finish", NULL},
    SWITCH("batch", 0, "jobs as JSON lines, from a file or standard input"),
};
static const struct command_option QUEUE_SET_OPTIONS[] = {
    VALUE("priority", 0, "N", "higher ones are served first"),
    VALUE("max-running", 0, "N", "on all hosts together; 0: no bound"),
    VALUE("soft", 0, "N", "warn producers when so many wait; 0: never"),
    VALUE("hard", 0, "N", "refuse producers when so many wait; 0: never"),
};
static const struct command_option JOBS_LIST_OPTIONS[] = {
    OPTION_QUEUE, OPTION_STATUS, OPTION_LIMIT,
    VALUE("before", 0, "ID", "only older ones than this, for the next page"),
};
static const struct command_option JOBS_LOGS_OPTIONS[] = {
    SWITCH("follow", 'f', "wait for more until the job is over"),
    VALUE("try", 0, "N", "an earlier attempt; the newest by default"),
    VALUE("tail", 0, "N", "only the last lines"),
    VALUE("grep", 'g', "RE", "only lines that match"),
};
static const struct command_option RESCHEDULE_OPTIONS[] = {OPTION_DELAY, OPTION_AT};
static const struct command_option JOBS_PURGE_OPTIONS[] = {
    OPTION_OLDER, OPTION_QUEUE, OPTION_STATUS, OPTION_YES, OPTION_DRY,
};
static const struct command_option DLQ_LIST_OPTIONS[] = {OPTION_QUEUE, OPTION_LIMIT};
static const struct command_option DLQ_REQUEUE_OPTIONS[] = {
    SWITCH("all", 0, "all of them"), OPTION_QUEUE, OPTION_DRY,
};
static const struct command_option DLQ_PURGE_OPTIONS[] = {
    OPTION_OLDER, OPTION_QUEUE, OPTION_YES, OPTION_DRY,
};
static const struct command_option DLQ_EXPORT_OPTIONS[] = {OPTION_QUEUE};
static const struct command_option HOSTS_LIST_OPTIONS[] = {
    SWITCH("all", 'a', "those that left or were lost, too"),
};
static const struct command_option DESIRED_OPTIONS[] = {
    VALUE("min", 0, "N", "never fewer"), VALUE("max", 0, "N", "never more"),
};
#define ENQUEUE_ARGS "QUEUE [HANDLER [PAYLOAD] | -- COMMAND..]"
#define ENQUEUE_HELP                                                                               \
    "HANDLER is a name from `handlers` in eider.yaml, or the built-in noop or sleep. PAYLOAD is\n"  \
    "JSON; - reads it from standard input, @FILE from a file. After -- stands a command: one\n"     \
    "argument is given to the shell as it is, several are quoted each.\n"                            \
    "\n"                                                                                            \
    "With --batch [FILE] every line is a job: {\"handler\", \"payload\", \"queue\", \"delay\",\n"     \
    "\"run_after\", \"priority\", \"dedupe\", \"retries\", \"retry_delay\", \"timeout\",\n"             \
    "\"on_lost_lease\"}. A thousand lines are committed at a time; a bad line is named, and\n"      \
    "nothing of its thousand is kept."
#define ENQUEUE_EXAMPLES                                                                           \
    "eider enqueue mail send '{\"to\": \"ann\"}' --retries 3 --dedupe order-17\n"                   \
    "eider enqueue default --delay 10m -- pg_dump -f /backup/shop.sql shop\n"                      \
    "eider enqueue mail --batch < jobs.jsonl"

static const struct command_option RESTORE_OPTIONS[] = {OPTION_YES};
static const struct command_option EXPORT_OPTIONS[] = {
    SWITCH("logs", 'l', "the output of tasks, too"),
};
static const struct command_option MIGRATE_OPTIONS[] = {OPTION_DRY};
static const struct command_option PROVE_OPTIONS[] = {
    VALUE("kills", 0, "N", "how often a host is killed; 2 by default"),
    VALUE("tasks", 0, "N", "tasks of the run; 8 by default"),
    SWITCH("keep", 0, "keep the run and the folder with the evidence"),
};

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
        "until it is told to stop. A file that is changed takes effect within a second; HUP looks at\n"
        "all of them again. The first TERM or INT claims nothing\n"
        "more, waits for `drain_grace` and gives back what still runs; the second does that at\n"
        "once. A daemon that was killed goes on with its tasks when it is started again.",
        "eider up\neider up --dags /srv/dags --slots 32 --labels gpu\n"
        "eider up --store postgresql://eider@db/eider",
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
        "list DAGs",
        "STATUS is broken when the file of a DAG has problems (`eider dags errors`), so that what it\n"
        "had before still counts; rolled_back after `eider dags rollback`; inactive when its file is\n"
        "gone.",
        "eider dags list --tag tier1", OPTIONS(DAGS_LIST_OPTIONS),
        cmd_dags_list},
    {"dags trigger", GROUP_DAGS, COMMAND_READS, "FILE|DAG", 1, 1, COMPLETE_DAG, NULL,
        "make a run for daemons to work off",
        "The run waits until an `eider up` claims it.",
        "eider dags trigger orders_daily -p region=eu", OPTIONS(TRIGGER_OPTIONS),
        cmd_dags_trigger},
    {"dags show", GROUP_DAGS, COMMAND_READS, "FILE|DAG", 1, 1, COMPLETE_FILE, NULL,
        "show a DAG", NULL, "eider dags show orders.yaml", OPTIONS(VERSION_OPTIONS),
        cmd_dags_show},
    {"dags graph", GROUP_DAGS, 0, "FILE|DAG", 1, 1, COMPLETE_FILE, NULL,
        "draw a DAG", "As text for a terminal, or for DOT, Mermaid and browsers.",
        "eider dags graph orders.yaml\neider dags graph orders.yaml --format svg > orders.svg",
        OPTIONS(GRAPH_OPTIONS), cmd_dags_graph},
    {"dags source", GROUP_DAGS, 0, "FILE|DAG", 1, 1, COMPLETE_FILE, NULL,
        "print the file of a DAG", NULL,
        "eider dags source orders_daily\neider dags source orders_daily --version 3",
        OPTIONS(VERSION_OPTIONS), cmd_dags_source},
    {"dags versions", GROUP_DAGS, COMMAND_READS, "DAG", 1, 1, COMPLETE_DAG, NULL,
        "list the versions of a DAG", NULL, "eider dags versions orders_daily", {NULL, 0},
        cmd_dags_versions},
    {"dags diff", GROUP_DAGS, COMMAND_READS, "DAG [FROM [TO]]", 1, 3, COMPLETE_DAG, NULL,
        "show what changed between two versions of a DAG",
        "Tasks that came (+), went (-) or have other keys (~), then the difference of the sources and\n"
        "of the files that tasks name. Without numbers: what the current version changed. With one:\n"
        "what changed since then.",
        "eider dags diff orders_daily\neider dags diff orders_daily 3 5", {NULL, 0}, cmd_dags_diff},
    {"dags rollback", GROUP_DAGS, COMMAND_READS, "DAG VERSION", 2, 2, COMPLETE_DAG, NULL,
        "make another version of a DAG the current one",
        "New runs get it, until the DAG's file is changed. Runs that are there keep theirs.",
        "eider dags rollback orders_daily 3 --reason 'wrong totals'", OPTIONS(ROLLBACK_OPTIONS),
        cmd_dags_rollback},
    {"dags errors", GROUP_DAGS, COMMAND_READS | COMMAND_WATCH, "[DAG]", 0, 1, COMPLETE_DAG, NULL,
        "list the problems of DAG files that daemons watch", NULL, "eider dags errors", {NULL, 0},
        cmd_dags_errors},
    {"dags delete", GROUP_DAGS, COMMAND_READS, "DAG", 1, 1, COMPLETE_DAG, NULL,
        "delete a DAG with its versions, runs and logs",
        "Its file must be gone from the folders of all running daemons, and its runs over.",
        "eider dags delete orders_daily --yes", OPTIONS(DAGS_DELETE_OPTIONS), cmd_dags_delete},

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
    {"runs rerun", GROUP_RUNS, COMMAND_READS, "RUN", 1, 1, COMPLETE_RUN, NULL,
        "make a new run of what another run was",
        "For the same date, with the same parameters, for daemons to work off. The version is that of\n"
        "the other run or the DAG's current one.",
        "eider runs rerun 7 --version newest --reason 'fixed totals'", OPTIONS(RERUN_OPTIONS),
        cmd_runs_rerun},
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

    /* --- queues, jobs and hosts --- */
    {"enqueue", GROUP_JOBS, COMMAND_READS, ENQUEUE_ARGS, 1, ARGS_ANY, COMPLETE_NONE, NULL,
        "put a job in a queue", ENQUEUE_HELP, ENQUEUE_EXAMPLES, OPTIONS(ENQUEUE_OPTIONS),
        cmd_enqueue},
    {"jobs enqueue", GROUP_JOBS, COMMAND_READS, ENQUEUE_ARGS, 1, ARGS_ANY, COMPLETE_NONE, NULL,
        "the same as `eider enqueue`", ENQUEUE_HELP, NULL, OPTIONS(ENQUEUE_OPTIONS), cmd_enqueue},
    {"jobs list", GROUP_JOBS, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "list jobs, newest first", NULL, "eider jobs list --queue mail --status failed",
        OPTIONS(JOBS_LIST_OPTIONS), cmd_jobs_list},
    {"jobs show", GROUP_JOBS, COMMAND_READS, "ID", 1, 1, COMPLETE_NONE, NULL,
        "show a job", NULL, "eider jobs show 380503554898525184 -o json", {NULL, 0},
        cmd_jobs_show},
    {"jobs wait", GROUP_JOBS, COMMAND_READS, "ID", 1, 1, COMPLETE_NONE, NULL,
        "wait for the end of a job",
        "The exit code tells how it ended: 0 completed, 1 failed, 9 cancelled; 7 when the time is\n"
        "up.",
        "eider jobs wait 380503554898525184 --timeout 60", OPTIONS(WAIT_OPTIONS), cmd_jobs_wait},
    {"jobs logs", GROUP_JOBS, 0, "ID", 1, 1, COMPLETE_NONE, NULL,
        "show what a job printed", NULL, "eider jobs logs 380503554898525184 -f",
        OPTIONS(JOBS_LOGS_OPTIONS), cmd_jobs_logs},
    {"jobs cancel", GROUP_JOBS, COMMAND_READS, "ID", 1, 1, COMPLETE_NONE, NULL,
        "stop a job",
        "One that waits does not run; one that runs is ended by its host.",
        "eider jobs cancel 380503554898525184", {NULL, 0}, cmd_jobs_cancel},
    {"jobs retry", GROUP_JOBS, COMMAND_READS, "ID", 1, 1, COMPLETE_NONE, NULL,
        "run a job again that is over, or now one that waits for its time", NULL,
        "eider jobs retry 380503554898525184", {NULL, 0}, cmd_jobs_retry},
    {"jobs reschedule", GROUP_JOBS, COMMAND_READS, "ID", 1, 1, COMPLETE_NONE, NULL,
        "give a job that waits another time", NULL,
        "eider jobs reschedule 380503554898525184 --delay 2h", OPTIONS(RESCHEDULE_OPTIONS),
        cmd_jobs_reschedule},
    {"jobs purge", GROUP_JOBS, COMMAND_READS, "", 0, 0, COMPLETE_NONE, NULL,
        "remove jobs that are over, with their logs",
        "Jobs among the dead letters stay; see `eider dlq purge`.",
        "eider jobs purge --older 30d --yes", OPTIONS(JOBS_PURGE_OPTIONS), cmd_jobs_purge},
    {"queues list", GROUP_JOBS, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "list queues with what waits in them",
        "READY: a living host serves it. LATE: something claimable waits for more than 15 s.",
        "eider queues list --watch", {NULL, 0}, cmd_queues_list},
    {"queues show", GROUP_JOBS, COMMAND_READS, "QUEUE", 1, 1, COMPLETE_NONE, NULL,
        "show a queue", NULL, "eider queues show mail", {NULL, 0}, cmd_queues_show},
    {"queues set", GROUP_JOBS, COMMAND_READS, "QUEUE", 1, 1, COMPLETE_NONE, NULL,
        "make or change a queue", NULL,
        "eider queues set mail --priority 10 --max-running 4 --soft 1000 --hard 10000",
        OPTIONS(QUEUE_SET_OPTIONS), cmd_queues_set},
    {"queues pause", GROUP_JOBS, COMMAND_READS, "QUEUE", 1, 1, COMPLETE_NONE, NULL,
        "claim nothing more of a queue; what runs goes on", NULL, "eider queues pause mail",
        {NULL, 0}, cmd_queues_pause},
    {"queues resume", GROUP_JOBS, COMMAND_READS, "QUEUE", 1, 1, COMPLETE_NONE, NULL,
        "let hosts claim from a queue again", NULL, "eider queues resume mail", {NULL, 0},
        cmd_queues_resume},
    {"queues delete", GROUP_JOBS, COMMAND_READS, "QUEUE", 1, 1, COMPLETE_NONE, NULL,
        "delete an empty queue", NULL, "eider queues delete mail --yes", OPTIONS(DELETE_OPTIONS),
        cmd_queues_delete},
    {"dlq list", GROUP_JOBS, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "list dead letters: what failed for good or was put aside", NULL,
        "eider dlq list --queue mail", OPTIONS(DLQ_LIST_OPTIONS), cmd_dlq_list},
    {"dlq show", GROUP_JOBS, COMMAND_READS, "ID", 1, 1, COMPLETE_NONE, NULL,
        "show a dead letter", NULL, "eider dlq show 380503554898525184", {NULL, 0}, cmd_dlq_show},
    {"dlq requeue", GROUP_JOBS, COMMAND_READS, "[ID]", 0, 1, COMPLETE_NONE, NULL,
        "let dead letters run again", NULL,
        "eider dlq requeue 380503554898525184\neider dlq requeue --all --queue mail --dry-run",
        OPTIONS(DLQ_REQUEUE_OPTIONS), cmd_dlq_requeue},
    {"dlq purge", GROUP_JOBS, COMMAND_READS, "", 0, 0, COMPLETE_NONE, NULL,
        "forget dead letters; the jobs themselves stay", NULL,
        "eider dlq purge --older 30d --yes", OPTIONS(DLQ_PURGE_OPTIONS), cmd_dlq_purge},
    {"dlq export", GROUP_JOBS, 0, "[FILE]", 0, 1, COMPLETE_FILE, NULL,
        "write dead letters as JSON lines", NULL, "eider dlq export letters.jsonl",
        OPTIONS(DLQ_EXPORT_OPTIONS), cmd_dlq_export},
    {"hosts list", GROUP_JOBS, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "list the processes that run tasks", NULL, "eider hosts list --all",
        OPTIONS(HOSTS_LIST_OPTIONS), cmd_hosts_list},
    {"hosts show", GROUP_JOBS, COMMAND_READS, "HOST", 1, 1, COMPLETE_NONE, NULL,
        "show a host", NULL, "eider hosts show worker-3", {NULL, 0}, cmd_hosts_show},
    {"hosts drain", GROUP_JOBS, COMMAND_READS, "HOST", 1, 1, COMPLETE_NONE, NULL,
        "let a host finish what it has and claim nothing more", NULL,
        "eider hosts drain worker-3", {NULL, 0}, cmd_hosts_drain},
    {"hosts resume", GROUP_JOBS, COMMAND_READS, "HOST", 1, 1, COMPLETE_NONE, NULL,
        "let a host claim again", NULL, "eider hosts resume worker-3", {NULL, 0},
        cmd_hosts_resume},
    {"hosts desired", GROUP_JOBS, COMMAND_READS, "", 0, 0, COMPLETE_NONE, NULL,
        "say how many hosts the work that is there asks for",
        "The number is demand / slots per host, rounded up. Demand is what is claimable or runs\n"
        "now, of each queue at most its max-running, of a paused one only what runs; jobs that wait\n"
        "for their time do not count. Slots per host is the average of the living hosts that claim,\n"
        "or the setting `slots` when there is none.",
        "eider hosts desired --min 1 --max 20 -o name", OPTIONS(DESIRED_OPTIONS),
        cmd_hosts_desired},

    /* --- store and settings --- */
    {"store check", GROUP_STORE, COMMAND_READS, "", 0, 0, COMPLETE_NONE, NULL,
        "check the store for damage", NULL, NULL, {NULL, 0}, cmd_store_check},
    {"store backup", GROUP_STORE, COMMAND_READS, "PATH", 1, 1, COMPLETE_FILE, NULL,
        "copy the store, also while it is in use", NULL, "eider store backup /backup/eider.db",
        {NULL, 0}, cmd_store_backup},
    {"store restore", GROUP_STORE, COMMAND_READS, "PATH", 1, 1, COMPLETE_FILE, NULL,
        "replace the store by a backup", NULL, "eider store restore /backup/eider.db --yes",
        OPTIONS(RESTORE_OPTIONS), cmd_store_restore},
    {"store export", GROUP_STORE, COMMAND_READS, "FILE", 1, 1, COMPLETE_FILE, NULL,
        "write the store as a file, also while it is in use",
        "Another store, of whichever kind, reads it by 'store import'. With '-' it goes to standard\n"
        "output.",
        "eider store export everything.jsonl --logs", OPTIONS(EXPORT_OPTIONS), cmd_store_export},
    {"store import", GROUP_STORE, COMMAND_READS, "FILE", 1, 1, COMPLETE_FILE, NULL,
        "fill an empty store from an export",
        "All or nothing. What ran when it was written is taken back as lost, and runs again. With\n"
        "'-' it is read from standard input.",
        "eider store import everything.jsonl --store postgresql://eider@db/eider",
        {NULL, 0}, cmd_store_import},
    {"store migrate", GROUP_STORE, COMMAND_READS, "", 0, 0, COMPLETE_NONE, NULL,
        "bring the store to this version's schema", NULL, NULL, OPTIONS(MIGRATE_OPTIONS),
        cmd_store_migrate},
    {"store prune", GROUP_STORE, COMMAND_READS, "", 0, 0, COMPLETE_NONE, NULL,
        "remove what is older than the settings keep",
        "A daemon does so by itself, a little at a time. The settings are keep_runs,\n"
        "keep_runs_per_dag, keep_logs, keep_values, keep_jobs and keep_events. With --dry-run\n"
        "runs and jobs are counted and nothing is removed.",
        "eider store prune --dry-run", OPTIONS(MIGRATE_OPTIONS), cmd_store_prune},
    {"config list", GROUP_STORE, COMMAND_READS, "", 0, 0, COMPLETE_NONE, NULL,
        "list settings and where each value came from", NULL, NULL, {NULL, 0}, cmd_config_list},
    {"config get", GROUP_STORE, COMMAND_READS, "KEY", 1, 1, COMPLETE_NONE, NULL,
        "print the value of a setting", NULL, "eider config get store", {NULL, 0}, cmd_config_get},

    /* --- the program itself --- */
    {"doctor", GROUP_PROGRAM, COMMAND_READS, "", 0, 0, COMPLETE_NONE, NULL,
        "check that this machine has what is needed", NULL, NULL, {NULL, 0}, cmd_doctor},
    {"prove", GROUP_PROGRAM, COMMAND_READS, "[PROOF]", 0, 1, COMPLETE_CHOICE, "adoption",
        "prove a promise on your own store",
        "Without PROOF the proofs are listed. `adoption` makes a run of its own, starts hosts of its\n"
        "own that take nothing but its tasks, and kills their daemons with -9 in the middle, the last\n"
        "time with everything the daemon runs. In a fleet it freezes one for longer than its lease,\n"
        "too. What tasks wrote themselves is compared with what the store says; exit code 1 when that\n"
        "is not as promised. It takes some seconds. The run, its queue and the folder are removed, the\n"
        "DAG stays known, and so does that hosts were lost.",
        "eider prove\neider prove adoption\n"
        "eider prove adoption --store postgresql://eider@db/eider --kills 5 --tasks 40",
        OPTIONS(PROVE_OPTIONS), cmd_prove},
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
