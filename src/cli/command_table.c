/*
 * The rows. Fenced off from the formatter because a table is read by column.
 */
#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/handlers.h"

/* clang-format off */
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
    OPTION_DAG, OPTION_REASON, OPTION_DRY,
};
static const struct command_option TEST_OPTIONS[] = {
    OPTION_PARAM, OPTION_CONF, OPTION_DATE, OPTION_DAG, OPTION_SLOTS,
};
static const struct command_option RETRY_OPTIONS[] = {
    OPTION_SLOTS, OPTION_LOGS, OPTION_DRY, OPTION_REASON,
};
#define OPTION_OF(name, argument, doc, setting)                                                    \
    {name, 0, argument, doc, false, COMPLETE_NONE, NULL, setting}
static const struct command_option UP_OPTIONS[] = {
    OPTION_SLOTS,
    OPTION_OF("host-name", "NAME", "name of this host; the machine's by default", "host_name"),
    OPTION_OF("labels", "WORDS", "what tasks may ask for in a host: gpu,big", "labels"),
    OPTION_OF("queues", "NAMES", "queues to serve; all by default", "queues"),
    OPTION_OF("roles", "ROLES", "scheduler, worker, api; all by default", "roles"),
    OPTION_OF("listen", "ADDRESS", "HOST:PORT of the API; 127.0.0.1:4337 by default", "listen"),
};
static const struct command_option TOP_OPTIONS[] = {OPTION_EVERY};
static const struct command_option LOGS_OPTIONS[] = {
    SWITCH("follow", 'f', "wait for more until the task ends"),
    VALUE("try", 0, "N", "an earlier attempt; the newest by default"),
    VALUE("tail", 'n', "N", "only the last lines"),
    VALUE("grep", 'g', "RE", "only lines that match"),
    OPTION_MAP,
};
static const struct command_option MARK_OPTIONS[] = {OPTION_MAP, OPTION_REASON, OPTION_DRY};
static const struct command_option DAGS_LIST_OPTIONS[] = {
    VALUE("tag", 0, "TAG", "only with this tag"),
    SWITCH("all", 'a', "inactive ones, too"),
};
static const struct command_option VERSION_OPTIONS[] = {
    OPTION_DAG, VALUE("version", 0, "N", "a version other than the current one"),
};
static const struct command_option ROLLBACK_OPTIONS[] = {OPTION_REASON, OPTION_DRY};
static const struct command_option RERUN_OPTIONS[] = {
    VALUE("version", 0, "WHICH",
        "original (by default), current, newest (the highest), or a number"),
    OPTION_REASON, OPTION_DRY,
};
static const struct command_option NEXT_OPTIONS[] = {
    VALUE("count", 'n', "N", "how many; 5 by default"),
    VALUE("from", 0, "DATE", "from there on; now by default"),
    SWITCH("missed", 0, "those that became no run instead"),
    OPTION_DAG,
};
static const struct command_option CHANGE_OPTIONS[] = {OPTION_REASON};
static const struct command_option GRAPH_OPTIONS[] = {OPTION_DRAWING, OPTION_DAG};
static const struct command_option FILE_OPTIONS[] = {OPTION_DAG};
static const struct command_option RUN_GRAPH_OPTIONS[] = {OPTION_DRAWING};
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
static const struct command_option CANCEL_OPTIONS[] = {OPTION_DRY, OPTION_REASON};
static const struct command_option STOP_OPTIONS[] = {OPTION_MAP, OPTION_KILL, OPTION_DRY, OPTION_REASON};
static const struct command_option RUN_CANCEL_OPTIONS[] = {OPTION_KILL, OPTION_DRY, OPTION_REASON};
static const struct command_option DELETE_OPTIONS[] = {OPTION_YES, OPTION_DRY, OPTION_REASON};
static const struct command_option ASSETS_LIST_OPTIONS[] = {
    VALUE("contains", 0, "TEXT", "only URIs with this in them"),
    VALUE("limit", 'n', "N", "at most so many; 100 by default"),
};
static const struct command_option ASSETS_SHOW_OPTIONS[] = {
    VALUE("limit", 'n', "N", "at most so many updates; 20 by default"),
};
static const struct command_option ASSETS_EMIT_OPTIONS[] = {
    VALUE("extra", 0, "JSON", "an object that is told to those who wait"), OPTION_REASON,
};
static const struct command_option WEBHOOKS_CREATE_OPTIONS[] = {
    VALUE("name", 0, "NAME", "as in the DAG's schedule; not needed when it says 'webhook: true'"),
    {"token-file", 0, "FILE", "write the token there, readable by you alone, instead of showing it",
        false, COMPLETE_FILE, NULL, NULL},
    OPTION_REASON,
};
static const struct command_option WEBHOOKS_FIRE_OPTIONS[] = {
    VALUE("body", 0, "JSON", "what is told; an object becomes the conf of the run"),
    VALUE("key", 0, "KEY", "the same key again gives the same run"),
};
static const struct command_option VALUES_OPTIONS[] = {
    VALUE("key", 'k', "KEY", "only this key"), OPTION_MAP,
};
static const struct command_option RENDER_OPTIONS[] = {
    OPTION_PARAM, OPTION_CONF, OPTION_DATE, OPTION_DAG,
};
static const struct command_option CLEAR_OPTIONS[] = {
    SWITCH("downstream", 0, "what comes after them, too; what started of it always is"),
    SWITCH("upstream", 0, "what they need, too"),
    SWITCH("failed", 0, "of all those only what did not succeed"),
    OPTION_MAP, OPTION_DRY, OPTION_REASON,
};
#define BACKFILL_STATES                                                                            \
    "awaiting_approval running paused cancelling success failed cancelled"
static const struct command_option BACKFILL_PLAN_OPTIONS[] = {BACKFILL_CHOICES};
static const struct command_option BACKFILL_CREATE_OPTIONS[] = {BACKFILL_CHOICES, OPTION_DRY};
static const struct command_option BACKFILL_LIST_OPTIONS[] = {
    {"dag", 0, "DAG", "only of this DAG", false, COMPLETE_DAG, NULL, NULL},
    {"state", 's', "STATE", "only in this state", false, COMPLETE_CHOICE, BACKFILL_STATES, NULL},
    VALUE("limit", 'n', "N", "at most so many; 20 by default"),
};
static const struct command_option BACKFILL_SHOW_OPTIONS[] = {
    SWITCH("dates", 0, "list its dates with their runs"),
};
static const struct command_option BACKFILL_CANCEL_OPTIONS[] = {
    SWITCH("running", 0, "stop what runs, too"), OPTION_REASON, OPTION_DRY,
};

static const struct command_option ENQUEUE_OPTIONS[] = {
    OPTION_JOB_SPACE, OPTION_DELAY, OPTION_AT,
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
    VALUE("max-share", 0, "PERCENT", "of each host's slots, with others that have a share; 0: no bound"),
    VALUE("soft", 0, "N", "warn producers when so many wait; 0: never"),
    VALUE("hard", 0, "N", "refuse producers when so many wait; 0: never"),
    OPTION_REASON,
};
static const struct command_option POOL_OPTIONS[] = {OPTION_NAMESPACE};
static const struct command_option POOL_DELETE_OPTIONS[] = {
    OPTION_NAMESPACE, OPTION_YES, OPTION_DRY, OPTION_REASON,
};
static const struct command_option POOL_SET_OPTIONS[] = {
    OPTION_NAMESPACE,
    VALUE("slots", 0, "N", "how many there are; a new pool needs them"),
    VALUE("description", 0, "TEXT", "what it is for"), OPTION_REASON, OPTION_DRY,
};
static const struct command_option LIMIT_SET_OPTIONS[] = {
    VALUE("max-running", 0, "N", "tasks that run at once on all hosts"), OPTION_REASON,
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
static const struct command_option RESCHEDULE_OPTIONS[] = {OPTION_DELAY, OPTION_AT, OPTION_REASON};
static const struct command_option JOBS_PURGE_OPTIONS[] = {
    OPTION_OLDER, OPTION_QUEUE, OPTION_STATUS, OPTION_YES, OPTION_DRY, OPTION_REASON,
};
static const struct command_option DLQ_LIST_OPTIONS[] = {OPTION_QUEUE, OPTION_LIMIT};
static const struct command_option DLQ_REQUEUE_OPTIONS[] = {
    SWITCH("all", 0, "all of them"), OPTION_QUEUE, OPTION_DRY, OPTION_REASON,
};
static const struct command_option DLQ_PURGE_OPTIONS[] = {
    OPTION_OLDER, OPTION_QUEUE, OPTION_YES, OPTION_DRY, OPTION_REASON,
};
static const struct command_option DLQ_EXPORT_OPTIONS[] = {OPTION_QUEUE};
static const struct command_option HOSTS_LIST_OPTIONS[] = {
    SWITCH("all", 'a', "those that left or were lost, too"),
};
static const struct command_option DESIRED_OPTIONS[] = {
    VALUE("min", 0, "N", "never fewer"), VALUE("max", 0, "N", "never more"),
};

static const struct command_option SLA_LIST_OPTIONS[] = {
    OPTION_ONLY_DAG, SWITCH("open", 0, "only what is late now"), OPTION_LIMIT,
};
static const struct command_option SLA_REPORT_OPTIONS[] = {
    OPTION_ONLY_DAG, VALUE("last", 0, "N", "runs of each DAG that count; 20 by default"),
};
static const struct command_option NOTIFY_LIST_OPTIONS[] = {
    SWITCH("failed", 0, "only those that were given up"),
    {"state", 's', "STATE", "only in this state", false, COMPLETE_CHOICE,
        "pending sending sent failed dropped folded", NULL},
    OPTION_ONLY_DAG, OPTION_LIMIT,
};
static const struct command_option NOTIFY_TEST_OPTIONS[] = {
    {"kind", 0, "KIND", "what is said to have happened; failure by default", false,
        COMPLETE_CHOICE, "success failure retry skip sla_miss", NULL},
};
static const struct command_option VAULT_LIST_OPTIONS[] = {
    VALUE("namespace", 0, "NAME", "only of this namespace, and what counts for all"),
};
static const struct command_option VAULT_SHOW_OPTIONS[] = {OPTION_SPACE};
static const struct command_option VAULT_SET_OPTIONS[] = {
    OPTION_SPACE,
    {"file", 0, "FILE", "read the value from a file", false, COMPLETE_FILE, NULL, NULL},
    VALUE("doc", 0, "TEXT", "what it is for"), OPTION_REASON,
};
static const struct command_option VAULT_DELETE_OPTIONS[] = {
    OPTION_SPACE, OPTION_YES, OPTION_DRY, OPTION_REASON,
};
static const struct command_option AUDIT_OPTIONS[] = {
    VALUE("actor", 0, "NAME", "only of this one"), OPTION_ONLY_DAG,
    {"run", 0, "RUN", "only of this run", false, COMPLETE_RUN, NULL, NULL},
    VALUE("from", 0, "TIME", "not before"), VALUE("to", 0, "TIME", "before that"),
    SWITCH("all", 'a', "what the program did by itself, too"),
    OPTION_LIMIT, VALUE("before", 0, "ID", "only older ones than this, for the next page"),
};

static const struct command_option EVENTS_OPTIONS[] = {
    SWITCH("follow", 'f', "wait for more, until the run is over or you interrupt it"), OPTION_LIMIT,
    OPTION_ONLY_DAG, {"run", 0, "RUN", "only of this run", false, COMPLETE_RUN, NULL, NULL},
    VALUE("after", 0, "CURSOR", "what came after the cursor of an earlier answer"),
    VALUE("kind", 0, "KINDS", "only of these, as task_ended,run; a word that several begin with is all of them"),
    VALUE("task", 0, "TASK", "only of tasks with this id"), VALUE("host", 0, "ID", "only of this host")};
static const struct command_option RESTORE_OPTIONS[] = {OPTION_YES};
static const struct command_option EXPORT_OPTIONS[] = {
    SWITCH("logs", 'l', "the output of tasks, too"),
};
static const struct command_option SIMULATE_OPTIONS[] = {
    VALUE("from", 0, "DATE", "first instant; default: now"),
    VALUE("to", 0, "DATE", "last instant; default: a day later"),
    VALUE("slots", 0, "N", "of the whole fleet; default: those of this machine"),
    VALUE("unknown", 0, "TIME", "how long a task takes that has never run; default 1m"),
    SWITCH("by-dag", 0, "the DAGs that make the load, the busiest first"),
    SWITCH("pools", 0, "how full pools get, and how long tasks wait for them"),
    SWITCH("misses", 0, "the deadlines that will be missed, how often and by how much"),
};
static const struct command_option MIGRATE_OPTIONS[] = {OPTION_DRY};
static const struct command_option PROVE_OPTIONS[] = {
    VALUE("kills", 0, "N", "how often a host is killed; 2 by default"),
    VALUE("tasks", 0, "N", "tasks of the run, or production runs; 8 by default"),
    VALUE("count", 0, "N", "tasks that wait; 10000 by default"),
    SWITCH("keep", 0, "keep the runs and the folder with the evidence"),
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
    {"up", GROUP_DAILY, COMMAND_LOCAL, "", 0, 0, COMPLETE_NONE, NULL,
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
    {"init", GROUP_DAILY, COMMAND_LOCAL, "[NAME]", 0, 1, COMPLETE_FOLDER, NULL,
        "start a project",
        "Creates the folder NAME (the current one by default) with eider.yaml,\n"
        "dags/hello.yaml and .gitignore. Existing files are never changed.",
        "eider init shop", {NULL, 0}, cmd_init},
    {"test", GROUP_DAILY, COMMAND_READS | COMMAND_LOCAL, "FILE [TASK]", 1, 2, COMPLETE_FILE, NULL,
        "run a file without recording it",
        "Like `eider run`, with the output of the tasks shown and nothing kept afterwards.",
        "eider test hello.yaml\neider test orders.yaml build -p region=eu",
        OPTIONS(TEST_OPTIONS), cmd_test},
    {"ps", GROUP_DAILY, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "show what runs now", NULL, "eider ps --watch", {NULL, 0}, cmd_ps},
    {"top", GROUP_DAILY, 0, "", 0, 0, COMPLETE_NONE, NULL, "watch everything on a full screen",
        TOP_HELP, "eider top\neider top --every 10", OPTIONS(TOP_OPTIONS), cmd_top},
    {"logs", GROUP_DAILY, 0, "RUN [TASK]", 1, 2, COMPLETE_RUN, NULL,
        "show what tasks printed",
        "RUN is a number, DAG/RUN_ID or a DAG, which stands for its latest run. Without TASK the\n"
        "logs of all tasks follow each other.",
        "eider logs orders_daily\neider logs 7 build -f\n"
        "eider logs 7 stage --map-index 3 --try 1 --grep ERROR",
        OPTIONS(LOGS_OPTIONS), cmd_logs},
    {"explain", GROUP_DAILY, COMMAND_READS, "RUN [TASK]", 1, 2, COMPLETE_RUN, NULL,
        "say why something is or is not running",
        "RUN is a number, DAG/RUN_ID or a DAG, which stands for its latest run; when that is over,\n"
        "or there is none, also what the next run of the DAG waits for. See docs/explain.md.",
        "eider explain orders_daily\neider explain 7 publish\neider explain 7 -o json",
        {NULL, 0}, cmd_explain},
    {"retry", GROUP_DAILY, COMMAND_READS, "RUN [TASK..]", 1, ARGS_ANY, COMPLETE_RUN, NULL,
        "run again what did not succeed",
        "Finished tasks are kept. With tasks named, those and what comes after them run again.",
        "eider retry orders_daily\neider retry 7 build", OPTIONS(RETRY_OPTIONS), cmd_retry},
    {"stop", GROUP_DAILY, COMMAND_READS, "RUN [TASK]", 1, 2, COMPLETE_RUN, NULL, "stop a run or one of its tasks",
        "A task that runs gets TERM and after its grace KILL, and the rest of the run goes on: what\n"
        "comes after the task is decided as after any that did not succeed.",
        "eider stop orders_daily\neider stop 7 build\neider stop 7 stage --map-index 3",
        OPTIONS(STOP_OPTIONS), cmd_stop},
    {"mark", GROUP_DAILY, COMMAND_READS, "RUN TASK STATE", 3, 3, COMPLETE_CHOICE,
        "success failed skipped", "set the state of a task by hand",
        "STATE is success, failed or skipped.", "eider mark 7 verify success",
        OPTIONS(MARK_OPTIONS), cmd_mark},

    /* --- DAGs --- */
    {"dags list", GROUP_DAGS, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "list DAGs",
        "STATUS is broken when the file of a DAG has problems (`eider dags errors`), so that what it\n"
        "had before still counts; rolled_back after `eider dags rollback`; inactive when its file is\n"
        "gone; paused when it starts nothing by itself (`eider dags unpause`).",
        "eider dags list --tag tier1", OPTIONS(DAGS_LIST_OPTIONS),
        cmd_dags_list},
    {"dags trigger", GROUP_DAGS, COMMAND_READS, "FILE|DAG", 1, 1, COMPLETE_DAG, NULL,
        "make a run for daemons to work off",
        "The run waits until an `eider up` claims it; WAITS says so where none is there. Where there\n"
        "never was one, so that there is no store, nothing is made: exit code 8.",
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
    {"dags errors", GROUP_DAGS, COMMAND_READS | COMMAND_WATCH, "[DAG|FILE]", 0, 1, COMPLETE_DAG, NULL,
        "list the problems of DAG files that daemons watch", NULL,
        "eider dags errors\neider dags errors orders.yaml", {NULL, 0}, cmd_dags_errors},
    {"dags delete", GROUP_DAGS, COMMAND_READS, "DAG", 1, 1, COMPLETE_DAG, NULL,
        "delete a DAG with its versions, runs and logs",
        "Its file must be gone from the folders of all running daemons, and its runs over.",
        "eider dags delete orders_daily --yes", OPTIONS(DELETE_OPTIONS), cmd_dags_delete},
    {"assets list", GROUP_DAGS, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "list datasets that were updated or are waited for", NULL,
        "eider assets list --contains warehouse", OPTIONS(ASSETS_LIST_OPTIONS), cmd_assets_list},
    {"assets show", GROUP_DAGS, COMMAND_READS, "URI", 1, 1, COMPLETE_NONE, NULL,
        "show a dataset, its updates and what each DAG that waits for it still needs", NULL,
        "eider assets show warehouse://mart/orders", OPTIONS(ASSETS_SHOW_OPTIONS), cmd_assets_show},
    {"assets lineage", GROUP_DAGS, COMMAND_READS, "URI", 1, 1, COMPLETE_NONE, NULL,
        "show what a dataset is made of, by which tasks, and what is made of it", NULL,
        "eider assets lineage warehouse://mart/orders", {NULL, 0}, cmd_assets_lineage},
    {"assets emit", GROUP_DAGS, COMMAND_READS, "URI", 1, 1, COMPLETE_NONE, NULL,
        "say that a dataset was updated, as a task with it in 'outputs' does", NULL,
        "eider assets emit s3://landing/orders --extra '{\"rows\": 120}'", OPTIONS(ASSETS_EMIT_OPTIONS), cmd_assets_emit},
    {"webhooks list", GROUP_DAGS, COMMAND_READS, "[DAG]", 0, 1, COMPLETE_DAG, NULL,
        "list webhooks, without their tokens", NULL, "eider webhooks list orders_daily",
        {NULL, 0}, cmd_webhooks_list},
    {"webhooks create", GROUP_DAGS, COMMAND_READS, "DAG", 1, 1, COMPLETE_DAG, NULL,
        "make a token with which others start the DAG",
        "The schedule of the DAG needs 'webhook'. The token is shown once.",
        "eider webhooks create orders_daily", OPTIONS(WEBHOOKS_CREATE_OPTIONS),
        cmd_webhooks_create},
    {"webhooks delete", GROUP_DAGS, COMMAND_READS, "ID", 1, 1, COMPLETE_NONE, NULL,
        "make the token of a webhook useless", NULL, "eider webhooks delete 3 --yes",
        OPTIONS(DELETE_OPTIONS), cmd_webhooks_delete},
    {"webhooks fire", GROUP_DAGS, COMMAND_READS, "[TOKEN]", 0, 1, COMPLETE_NONE, NULL,
        "start a DAG by the token of a webhook", "Without TOKEN it is read from standard input.",
        "eider webhooks fire --body '{\"ref\": \"main\"}' --key 7f3a < token",
        OPTIONS(WEBHOOKS_FIRE_OPTIONS), cmd_webhooks_fire},
    {"dags next", GROUP_DAGS, COMMAND_READS, "FILE|DAG", 1, 1, COMPLETE_FILE, NULL,
        "show when a DAG runs next",
        "The next ticks of its schedule, each with the date and the interval its run is for and\n"
        "the time on the clocks of its zone. It works on a file as well, before anybody runs it.",
        "eider dags next orders_daily\n"
        "eider dags next orders.yaml -n 20 --from 2026-03-28\n"
        "eider dags next orders_daily --missed",
        OPTIONS(NEXT_OPTIONS), cmd_dags_next},
    {"dags pause", GROUP_DAGS, COMMAND_READS, "DAG..", 1, ARGS_ANY, COMPLETE_DAG, NULL,
        "let DAGs start nothing by themselves",
        "Runs that exist go on, and a DAG that is paused can be triggered. When it is let go on,\n"
        "`catchup` says what becomes of the ticks in between.",
        "eider dags pause orders_daily stock --reason 'warehouse is down'",
        OPTIONS(CHANGE_OPTIONS), cmd_dags_pause},
    {"dags unpause", GROUP_DAGS, COMMAND_READS, "DAG..", 1, ARGS_ANY, COMPLETE_DAG, NULL,
        "let DAGs start by themselves again", NULL, "eider dags unpause orders_daily",
        OPTIONS(CHANGE_OPTIONS), cmd_dags_unpause},

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
        "stop a run", NULL, "eider runs cancel 7", OPTIONS(RUN_CANCEL_OPTIONS), cmd_stop},
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
        OPTIONS(CHANGE_OPTIONS), cmd_runs_note},
    {"runs values", GROUP_RUNS, COMMAND_READS, "RUN [TASK]", 1, 2, COMPLETE_RUN, NULL,
        "show the values that tasks returned", NULL, "eider runs values 7 list_parts -o json",
        OPTIONS(VALUES_OPTIONS), cmd_runs_values},

    /* --- backfills --- */
    {"backfill create", GROUP_RUNS, COMMAND_READS, "FILE|DAG", 1, 1, COMPLETE_DAG, NULL,
        "run a DAG for dates of the past",
        "A scheduler makes the runs, a few at a time; see docs/backfill.md. Dates that have a run\n"
        "are left alone unless --redo says otherwise.",
        "eider backfill create orders_daily --from 2026-01-01 --to 2026-01-31\n"
        "eider backfill create orders_daily --from 2025-01-01 --to 2025-12-31 --order desc \\\n"
        "    --redo failed --max-active 4 --queue history --reason 'new tax rule'",
        OPTIONS(BACKFILL_CREATE_OPTIONS), cmd_backfill_create},
    {"backfill plan", GROUP_RUNS, COMMAND_READS, "FILE|DAG", 1, 1, COMPLETE_DAG, NULL,
        "show what a backfill would do, and how long it might take", NULL,
        "eider backfill plan orders_daily --from 2026-01-01 --to 2026-01-31 --redo failed",
        OPTIONS(BACKFILL_PLAN_OPTIONS), cmd_backfill_plan},
    {"backfill list", GROUP_RUNS, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "list backfills, newest first", NULL, "eider backfill list --state running",
        OPTIONS(BACKFILL_LIST_OPTIONS), cmd_backfill_list},
    {"backfill show", GROUP_RUNS, COMMAND_READS | COMMAND_WATCH, "NUMBER", 1, 1, COMPLETE_NONE,
        NULL, "show a backfill with its progress", NULL,
        "eider backfill show 3 --watch\neider backfill show 3 --dates",
        OPTIONS(BACKFILL_SHOW_OPTIONS), cmd_backfill_show},
    {"backfill pause", GROUP_RUNS, COMMAND_READS, "NUMBER", 1, 1, COMPLETE_NONE, NULL,
        "begin no further runs for a while; those that run go on", NULL, "eider backfill pause 3",
        OPTIONS(CHANGE_OPTIONS), cmd_backfill_pause},
    {"backfill resume", GROUP_RUNS, COMMAND_READS, "NUMBER", 1, 1, COMPLETE_NONE, NULL,
        "go on with a paused backfill", NULL, "eider backfill resume 3",
        OPTIONS(CHANGE_OPTIONS), cmd_backfill_resume},
    {"backfill cancel", GROUP_RUNS, COMMAND_READS, "NUMBER", 1, 1, COMPLETE_NONE, NULL,
        "begin nothing more of a backfill",
        "Runs that have started go on to their end, unless --running stops them, too.",
        "eider backfill cancel 3 --running --reason 'wrong year'",
        OPTIONS(BACKFILL_CANCEL_OPTIONS), cmd_backfill_cancel},
    {"backfill approve", GROUP_RUNS, COMMAND_READS, "NUMBER", 1, 1, COMPLETE_NONE, NULL,
        "let a backfill begin that is larger than `backfill_approval`", NULL,
        "eider backfill approve 3", OPTIONS(CHANGE_OPTIONS), cmd_backfill_approve},

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
        "forget the outcome of tasks, so that they run again",
        "What comes after them and started already runs again in any case. What runs of all those is\n"
        "stopped first. What did not succeed of a whole run is for `eider retry`.",
        "eider tasks clear 7 build --upstream --dry-run\n"
        "eider tasks clear 7 stage --map-index 3 --reason 'late file'", OPTIONS(CLEAR_OPTIONS),
        cmd_tasks_clear},
    {"tasks note", GROUP_TASKS, COMMAND_READS, "RUN TASK TEXT", 3, 3, COMPLETE_RUN, NULL,
        "set the note of a task in a run; an empty one removes it", NULL,
        "eider tasks note 7 build 'ran on the old cluster'", OPTIONS(MARK_OPTIONS),
        cmd_tasks_note},

    /* --- queues, jobs and hosts --- */
    {"enqueue", GROUP_JOBS, COMMAND_READS, ENQUEUE_ARGS, 1, ARGS_ANY, COMPLETE_NONE, NULL,
        "put a job in a queue", ENQUEUE_HELP, ENQUEUE_EXAMPLES, OPTIONS(ENQUEUE_OPTIONS), cmd_enqueue},
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
        "eider jobs cancel 380503554898525184", OPTIONS(CHANGE_OPTIONS), cmd_jobs_cancel},
    {"jobs retry", GROUP_JOBS, COMMAND_READS, "ID", 1, 1, COMPLETE_NONE, NULL,
        "run a job again that is over, or now one that waits for its time", NULL,
        "eider jobs retry 380503554898525184", OPTIONS(CHANGE_OPTIONS), cmd_jobs_retry},
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
        OPTIONS(CHANGE_OPTIONS), cmd_queues_pause},
    {"queues resume", GROUP_JOBS, COMMAND_READS, "QUEUE", 1, 1, COMPLETE_NONE, NULL,
        "let hosts claim from a queue again", NULL, "eider queues resume mail", OPTIONS(CHANGE_OPTIONS),
        cmd_queues_resume},
    {"queues delete", GROUP_JOBS, COMMAND_READS, "QUEUE", 1, 1, COMPLETE_NONE, NULL,
        "delete an empty queue", NULL, "eider queues delete mail --yes", OPTIONS(DELETE_OPTIONS),
        cmd_queues_delete},
    {"pools list", GROUP_JOBS, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "list pools with who holds and who waits for their slots", NULL, "eider pools list --watch",
        {NULL, 0}, cmd_pools_list},
    {"pools show", GROUP_JOBS, COMMAND_READS, "POOL", 1, 1, COMPLETE_NONE, NULL,
        "show a pool", NULL, "eider pools show warehouse", OPTIONS(POOL_OPTIONS), cmd_pools_show},
    {"pools set", GROUP_JOBS, COMMAND_READS, "POOL", 1, 1, COMPLETE_NONE, NULL,
        "make or change a pool",
        "Fewer slots than are held take effect as tasks end; more let waiting tasks in at once.",
        "eider pools set warehouse --slots 4 --description 'connections to the warehouse'",
        OPTIONS(POOL_SET_OPTIONS), cmd_pools_set},
    {"pools delete", GROUP_JOBS, COMMAND_READS, "POOL", 1, 1, COMPLETE_NONE, NULL,
        "delete a pool",
        "What holds its slots runs on. Tasks that name it wait until it is there again, unless the"
        " namespace default has one of that name.",
        "eider pools delete warehouse --yes", OPTIONS(POOL_DELETE_OPTIONS), cmd_pools_delete},
    {"limits list", GROUP_JOBS, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "list how many tasks of a namespace, DAG or tier may run at once", NULL, "eider limits list",
        {NULL, 0}, cmd_limits_list},
    {"limits set", GROUP_JOBS, COMMAND_READS, "namespace|dag|tier NAME", 2, 2, COMPLETE_NONE, NULL,
        "bound how many tasks of a namespace, DAG or tier run at once",
        "On all hosts and over all runs together. Jobs count in their namespace, and in no tier.",
        "eider limits set namespace reports --max-running 20", OPTIONS(LIMIT_SET_OPTIONS),
        cmd_limits_set},
    {"limits delete", GROUP_JOBS, COMMAND_READS, "namespace|dag|tier NAME", 2, 2, COMPLETE_NONE, NULL,
        "remove such a bound", NULL, "eider limits delete namespace reports --yes", OPTIONS(DELETE_OPTIONS),
        cmd_limits_delete},
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
        "eider hosts drain worker-3", OPTIONS(CHANGE_OPTIONS), cmd_hosts_drain},
    {"hosts resume", GROUP_JOBS, COMMAND_READS, "HOST", 1, 1, COMPLETE_NONE, NULL,
        "let a host claim again", NULL, "eider hosts resume worker-3", OPTIONS(CHANGE_OPTIONS),
        cmd_hosts_resume},
    {"hosts desired", GROUP_JOBS, COMMAND_READS, "", 0, 0, COMPLETE_NONE, NULL,
        "say how many hosts the work that is there asks for",
        "The number is demand / slots per host, rounded up. Demand is what is claimable or runs\n"
        "now, of each queue at most its max-running, of a paused one only what runs; jobs that wait\n"
        "for their time do not count. Slots per host is the average of the living hosts that claim,\n"
        "or the setting `slots` when there is none.",
        "eider hosts desired --min 1 --max 20 -o name", OPTIONS(DESIRED_OPTIONS),
        cmd_hosts_desired},

    /* --- deadlines and messages --- */
    {"sla list", GROUP_ALERTS, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "list runs and tasks that were late, or are", NULL,
        "eider sla list --open\neider sla list --dag sales", OPTIONS(SLA_LIST_OPTIONS),
        cmd_sla_list},
    {"sla report", GROUP_ALERTS, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "show how DAGs keep their deadlines",
        "ON TIME is the part of the last runs that missed no deadline, neither their own nor one of\n"
        "their tasks. Runs that were cancelled do not count.",
        "eider sla report --last 50", OPTIONS(SLA_REPORT_OPTIONS), cmd_sla_report},
    {"notify list", GROUP_ALERTS, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "list messages: sent, waiting and given up", NULL,
        "eider notify list --failed", OPTIONS(NOTIFY_LIST_OPTIONS), cmd_notify_list},
    {"notify retry", GROUP_ALERTS, COMMAND_READS, "ID", 1, 1, COMPLETE_NONE, NULL,
        "send a message that failed or waits, now", NULL, "eider notify retry 42", OPTIONS(CHANGE_OPTIONS),
        cmd_notify_retry},
    {"notify test", GROUP_ALERTS, COMMAND_READS, "TARGET", 1, 1, COMPLETE_DAG, NULL,
        "send a test message and show what the receiver answered",
        "TARGET is a DAG or its file, whose hooks of the kind are all tried, or a target: slack:NAME,\n"
        "webhook:URL, pagerduty:NAME, email:ADDRESS, command:TEXT, or an entry as JSON. The message\n"
        "goes out from here, at once, and is not tried again. Exit code 1 when one did not arrive.",
        "eider notify test sales --kind sla_miss\neider notify test slack:data-alerts",
        OPTIONS(NOTIFY_TEST_OPTIONS), cmd_notify_test},
    /* --- variables, connections, secrets --- */
    {"vars list", GROUP_VAULT, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "list variables and where each comes from",
        "Of several with one name the first counts: environment, variables.yaml, the store.",
        "eider vars list -o wide", OPTIONS(VAULT_LIST_OPTIONS), cmd_vars_list},
    {"vars show", GROUP_VAULT, COMMAND_READS, "NAME", 1, 1, COMPLETE_NONE, NULL,
        "show the variable that a name stands for", NULL, "eider vars show bucket",
        OPTIONS(VAULT_SHOW_OPTIONS), cmd_vars_show},
    {"vars set", GROUP_VAULT, COMMAND_READS, "NAME [VALUE]", 1, 2, COMPLETE_NONE, NULL,
        "keep a variable in the store", VAULT_VALUE_HELP,
        "eider vars set bucket s3://lake\neider vars set limits --file limits.json",
        OPTIONS(VAULT_SET_OPTIONS), cmd_vars_set},
    {"vars delete", GROUP_VAULT, COMMAND_READS, "NAME", 1, 1, COMPLETE_NONE, NULL,
        "delete a variable from the store", NULL, "eider vars delete bucket --yes",
        OPTIONS(VAULT_DELETE_OPTIONS), cmd_vars_delete},
    {"conns list", GROUP_VAULT, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "list connections and where each comes from",
        "Of several with one name the first counts: environment, connections.yaml, the store.",
        "eider conns list -o wide", OPTIONS(VAULT_LIST_OPTIONS), cmd_conns_list},
    {"conns show", GROUP_VAULT, COMMAND_READS, "NAME", 1, 1, COMPLETE_NONE, NULL,
        "show the connection that a name stands for, without its secrets", NULL,
        "eider conns show warehouse", OPTIONS(VAULT_SHOW_OPTIONS), cmd_conns_show},
    {"conns set", GROUP_VAULT, COMMAND_READS, "NAME [URI|JSON]", 1, 2, COMPLETE_NONE, NULL,
        "keep a connection in the store, sealed", VAULT_VALUE_HELP,
        "eider conns set warehouse --file warehouse.uri\n"
        "echo 'postgres://etl:pw@db:5432/wh' | eider conns set warehouse",
        OPTIONS(VAULT_SET_OPTIONS), cmd_conns_set},
    {"conns delete", GROUP_VAULT, COMMAND_READS, "NAME", 1, 1, COMPLETE_NONE, NULL,
        "delete a connection from the store", NULL, "eider conns delete warehouse --yes",
        OPTIONS(VAULT_DELETE_OPTIONS), cmd_conns_delete},
    {"conns test", GROUP_VAULT, COMMAND_READS, "NAME", 1, 1, COMPLETE_NONE, NULL,
        "see whether a connection can be reached from here",
        "An http or https server is asked for its headers; to others a TCP connection is made and\n"
        "closed. Login and password are not tried.",
        "eider conns test warehouse", OPTIONS(VAULT_SHOW_OPTIONS), cmd_conns_test},
    {"secrets list", GROUP_VAULT, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "list secrets: names, sources, keys, never values",
        "Of several with one name the first counts: environment, secrets_dir, the store.",
        "eider secrets list", OPTIONS(VAULT_LIST_OPTIONS), cmd_secrets_list},
    {"secrets show", GROUP_VAULT, COMMAND_READS, "NAME", 1, 1, COMPLETE_NONE, NULL,
        "show where a secret comes from, never its value", NULL, "eider secrets show api_token",
        OPTIONS(VAULT_SHOW_OPTIONS), cmd_secrets_show},
    {"secrets set", GROUP_VAULT, COMMAND_READS, "NAME [VALUE]", 1, 2, COMPLETE_NONE, NULL,
        "keep a secret in the store, sealed", VAULT_VALUE_HELP,
        "eider secrets set api_token\neider secrets set api_token --file token.txt\n"
        "pass show api/token | eider secrets set api_token",
        OPTIONS(VAULT_SET_OPTIONS), cmd_secrets_set},
    {"secrets delete", GROUP_VAULT, COMMAND_READS, "NAME", 1, 1, COMPLETE_NONE, NULL,
        "delete a secret from the store", NULL, "eider secrets delete api_token --yes",
        OPTIONS(VAULT_DELETE_OPTIONS), cmd_secrets_delete},
    {"secrets rotate", GROUP_VAULT, COMMAND_READS, "", 0, 0, COMPLETE_NONE, NULL,
        "seal everything in the store anew, with the first key",
        "Put the new key in front of the old one first, on every host. What cannot be opened stays as\n"
        "it is; it may be stopped and begun again.",
        "EIDER_SECRET_KEY=\"$NEW,$OLD\" eider secrets rotate", OPTIONS(CHANGE_OPTIONS), cmd_secrets_rotate},

    /* --- store and settings --- */
    {"store check", GROUP_STORE, COMMAND_READS, "", 0, 0, COMPLETE_NONE, NULL,
        "check the store for damage", NULL, NULL, {NULL, 0}, cmd_store_check},
    {"store backup", GROUP_STORE, COMMAND_READS | COMMAND_LOCAL, "PATH", 1, 1, COMPLETE_FILE, NULL,
        "copy the store, also while it is in use", NULL, "eider store backup /backup/eider.db",
        {NULL, 0}, cmd_store_backup},
    {"store restore", GROUP_STORE, COMMAND_READS | COMMAND_LOCAL, "PATH", 1, 1, COMPLETE_FILE, NULL,
        "replace the store by a backup", NULL, "eider store restore /backup/eider.db --yes",
        OPTIONS(RESTORE_OPTIONS), cmd_store_restore},
    {"store export", GROUP_STORE, COMMAND_READS | COMMAND_LOCAL, "FILE", 1, 1, COMPLETE_FILE, NULL,
        "write the store as a file, also while it is in use",
        "Another store, of whichever kind, reads it by 'store import'. With '-' it goes to standard\n"
        "output.",
        "eider store export everything.jsonl --logs", OPTIONS(EXPORT_OPTIONS), cmd_store_export},
    {"store import", GROUP_STORE, COMMAND_READS | COMMAND_LOCAL, "FILE", 1, 1, COMPLETE_FILE, NULL,
        "fill an empty store from an export",
        "All or nothing. What ran when it was written is taken back as lost, and runs again. With\n"
        "'-' it is read from standard input.",
        "eider store import everything.jsonl --store postgresql://eider@db/eider",
        {NULL, 0}, cmd_store_import},
    {"store migrate", GROUP_STORE, COMMAND_READS | COMMAND_LOCAL, "", 0, 0, COMPLETE_NONE, NULL,
        "bring the store to this version's schema", NULL, NULL, OPTIONS(MIGRATE_OPTIONS),
        cmd_store_migrate},
    {"store prune", GROUP_STORE, COMMAND_READS, "", 0, 0, COMPLETE_NONE, NULL,
        "remove what is older than the settings keep",
        "A daemon does so by itself, a little at a time. The settings are keep_runs,\n"
        "keep_runs_per_dag, keep_logs, keep_values, keep_jobs, keep_dead, keep_messages and\n"
        "keep_events. With --dry-run what would go is counted and nothing is removed.",
        "eider store prune --dry-run", OPTIONS(CANCEL_OPTIONS), cmd_store_prune},
    {"audit list", GROUP_STORE, COMMAND_READS | COMMAND_WATCH, "", 0, 0, COMPLETE_NONE, NULL,
        "list what people changed: when, who, what, and why", NULL,
        "eider audit list --dag orders_daily\neider audit list --actor ann --from 2026-01-15 -o json",
        OPTIONS(AUDIT_OPTIONS), cmd_audit_list},
    {"events", GROUP_STORE, COMMAND_READS, "", 0, 0, COMPLETE_NONE, NULL,
        "list what happened, newest last",
        "Of runs and tasks, of people and hosts, and what could not be started. With --follow what comes\n"
        "is printed as it comes, with -o json a line of JSON for each event. The answer of -o json has\n"
        "a cursor; --after it everything comes that happened since, once. Where that cannot be, since\n"
        "events were removed or the store was put back from a backup, `gap` says so.",
        "eider events\neider events -f --dag orders_daily\neider events -f -o json | jq .kind",
        OPTIONS(EVENTS_OPTIONS), cmd_events},
    {"config list", GROUP_STORE, COMMAND_READS | COMMAND_HERE, "", 0, 0, COMPLETE_NONE, NULL,
        "list settings and where each value came from", NULL, NULL, {NULL, 0}, cmd_config_list},
    {"config get", GROUP_STORE, COMMAND_READS | COMMAND_HERE, "KEY", 1, 1, COMPLETE_NONE, NULL,
        "print the value of a setting", NULL, "eider config get store", {NULL, 0}, cmd_config_get},

    /* --- the program itself --- */
    {"doctor", GROUP_PROGRAM, COMMAND_READS, "", 0, 0, COMPLETE_NONE, NULL,
        "check that this machine has what is needed", NULL, NULL, {NULL, 0}, cmd_doctor},
    {"simulate", GROUP_PROGRAM, COMMAND_READS, "", 0, 0, COMPLETE_NONE, NULL,
        "play the schedules of the coming hours",
        "Plays the schedules of all DAGs on a clock of its own, with the times their tasks took lately,\n"
        "and shows the load of every hour. Nothing of the store changes and nothing is run.",
        "eider simulate\neider simulate --from 2026-01-01 --to 2026-01-02 --slots 64\n"
        "eider simulate --by-dag\neider simulate --pools\neider simulate --misses -o json",
        OPTIONS(SIMULATE_OPTIONS), cmd_simulate},
    {"prove", GROUP_PROGRAM, COMMAND_READS | COMMAND_LOCAL, "[PROOF]", 0, 1, COMPLETE_CHOICE,
        "adoption backfill waiting",
        "prove a promise on your own store",
        "Without PROOF the proofs are listed. `adoption` makes a run of its own, starts hosts of its\n"
        "own that take nothing but its tasks, and kills their daemons with -9 in the middle, the last\n"
        "time with everything the daemon runs. In a fleet it freezes one for longer than its lease,\n"
        "too. What tasks wrote themselves is compared with what the store says; exit code 1 when that\n"
        "is not as promised. It takes some seconds. The run, its queue and the folder are removed, the\n"
        "DAG stays known, and so does that hosts were lost.\n"
        "\n"
        "`backfill` starts runs one after another on a host of its own, first alone and then beside a\n"
        "backfill with far more tasks than the host has slots, and compares how long they took to\n"
        "start. Its runs, the backfill and the queue are removed, its DAGs stay known.\n"
        "\n"
        "`waiting` has one host with two slots and thousands of tasks that wait for files and for an\n"
        "instant. It shows that they hold no slot, what the daemon uses meanwhile, and that each is\n"
        "met. It takes a minute or two, and cleans up in the same way.",
        "eider prove\neider prove adoption\neider prove backfill\n"
        "eider prove adoption --store postgresql://eider@db/eider --kills 5 --tasks 40\n"
        "eider prove waiting --count 1000",
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

const struct command_table COMMANDS = {ROWS, ARRAY_LEN(ROWS), &COMMANDS_SERVER};
