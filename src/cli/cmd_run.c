/*
 * Commands that run tasks in the foreground: run, test, retry. The engine reports, and what
 * it reports becomes a live view on a terminal and lines elsewhere, both on standard error.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/humanize.h"
#include "cli/progress.h"
#include "cli/progress_live.h"
#include "cli/request.h"
#include "cli/summary.h"
#include "cli/trigger.h"
#include "cli/views.h"
#include "model/dag.h"

enum { FRAME_MS = 50, FRAME_BYTES_MAX = 1 << 20, LINE_BYTES_MAX = 64 << 10 };

struct follow {
    struct cli *cli;
    struct style style; /* of standard error */
    bool is_live;
    struct progress *progress;
    struct progress_live live;
    const struct dag *dag;
    struct strbuf frame;
};

static void draw(struct follow *follow, int64_t now_us)
{
    const struct cli_host *host = &follow->cli->host;
    struct progress_view view = {.style = follow->style, .now_us = now_us};
    size_t columns = 0;
    size_t rows = 0;
    host->terminal_size(host->context, &columns, &rows);
    view.columns = columns > 0 ? columns : 80;
    rows = rows > 0 ? rows : 24;
    view.rows = MAX(rows, (size_t)2) - 1; /* the cursor stands below the block */
    strbuf_clear(&follow->frame);
    progress_frame(follow->progress, &view, &follow->frame);
    progress_live_draw(&follow->live, follow->frame.text, view.columns, rows);
}

static void on_started(void *context, const struct engine_run *run)
{
    struct follow *follow = context;
    follow->dag = run->dag;
    if (follow->is_live) {
        progress_start(follow->progress, run);
        return;
    }
    cli_say(follow->cli, "run %s of %s, %zu task%s", run->run_id, run->dag->id,
            run->dag->tasks_count, run->dag->tasks_count == 1 ? "" : "s");
}

static void on_expanded(void *context, uint32_t node, int64_t count)
{
    struct follow *follow = context;
    if (follow->is_live)
        progress_expand(follow->progress, node, count);
}

static void on_changed(void *context, const struct engine_task *task)
{
    struct follow *follow = context;
    if (follow->is_live)
        progress_change(follow->progress, task);
    else if (!follow->cli->quiet)
        summary_change(follow->cli->host.err, &follow->style, follow->dag, task,
                       follow->cli->verbose);
}

static void on_progress(void *context, const struct engine_progress *report)
{
    struct follow *follow = context;
    if (follow->is_live)
        progress_report(follow->progress, report);
}

static void on_log(void *context, const struct engine_log *log)
{
    struct follow *follow = context;
    const struct cli_host *host = &follow->cli->host;
    struct strbuf line;
    strbuf_init(&line, LINE_BYTES_MAX);
    progress_add_name(&line, follow->dag->tasks[log->node].id, log->map_index, log->label);
    strbuf_add(&line, " | ");
    CLEANUP(mem_freep) char *text = mem_strndup(log->bytes, log->length);
    humanize_add_text(&line, text, LINE_BYTES_MAX, follow->style.utf8);
    size_t columns = 0;
    size_t rows = 0;
    if (follow->is_live) {
        host->terminal_size(host->context, &columns, &rows);
        progress_live_erase(&follow->live, columns, rows);
    }
    (void)fprintf(host->err, "%s\n", line.text);
    strbuf_fini(&line);
}

static void on_tick(void *context, int64_t now_us)
{
    struct follow *follow = context;
    if (follow->is_live && follow->dag != NULL)
        draw(follow, now_us);
}

static void on_interrupted(void *context, int times)
{
    struct follow *follow = context;
    if (follow->is_live)
        progress_interrupt(follow->progress, times);
    else
        cli_say(follow->cli, "%s", times == 1 ? "stopping; interrupt again to kill" : "killing");
}

static bool can_live(struct cli *cli)
{
    const char *terminal = cli->host.environment(cli->host.context, "TERM");
    bool is_dumb = terminal == NULL || terminal[0] == '\0' || strcmp(terminal, "dumb") == 0;
    return cli->host.err_is_terminal && !is_dumb && !cli->quiet && !cli->verbose;
}

static void print_result(struct cli *cli, const struct engine_result *result)
{
    bool for_people = cli->output.format == OUTPUT_TABLE || cli->output.format == OUTPUT_WIDE;
    if (for_people) {
        summary_end(cli->host.out, &cli->output.style, result);
        return;
    }
    json_t *response = engine_result_describe(result);
    (void)output_print(&cli->output, &VIEW_RUN, response);
    json_decref(response);
}

static void tell_messages(struct cli *cli, const struct engine_result *result)
{
    if (result->messages_waiting > 0)
        cli_say(cli,
                "%lld %s not arrived yet; a daemon sends what waits (eider up), see "
                "`eider notify list --dag %s`",
                (long long)result->messages_waiting,
                result->messages_waiting == 1 ? "message has" : "messages have", result->dag_id);
    if (result->messages_failed > 0)
        cli_say(cli, "%lld %s not be delivered, see `eider notify list --failed`",
                (long long)result->messages_failed,
                result->messages_failed == 1 ? "message could" : "messages could");
}

static int follow_run(struct cli *cli, const struct parsed *parsed,
                      const struct engine_request *request)
{
    CLEANUP(progress_freep) struct progress *progress = progress_new();
    struct follow follow = {
        .cli = cli,
        .style = style_detect(cli->host.err_is_terminal, parsed_has(parsed, "no-color"),
                              cli->host.environment, cli->host.context),
        .is_live = can_live(cli),
        .progress = progress,
    };
    progress_live_init(&follow.live, cli->host.err);
    strbuf_init(&follow.frame, FRAME_BYTES_MAX);
    struct engine_observer observer = {
        .context = &follow,
        .tick_ms = follow.is_live ? FRAME_MS : 0,
        .run_started = on_started,
        .task_expanded = on_expanded,
        .task_changed = on_changed,
        .task_progress = on_progress,
        .log_line = request->wants_output ? on_log : NULL,
        .tick = on_tick,
        .interrupted = on_interrupted,
    };
    struct engine_result result = {0};
    struct err err = {0};
    enum status status = cli_run_engine(cli, request, &observer, &result, &err);
    progress_live_fini(&follow.live);
    strbuf_fini(&follow.frame);
    if (status != STATUS_OK)
        return cli_fail(cli, &err);
    print_result(cli, &result);
    tell_messages(cli, &result);
    int code = exit_code_of_verdict(result.verdict, result.interrupted);
    engine_result_fini(&result);
    return code;
}

/* Values of -p, --conf, --date and --task, and what must be freed of them. */
struct inputs {
    json_t *params;
    json_t *conf;
    const char **tasks;
};

static void inputs_fini(struct inputs *inputs)
{
    json_decref(inputs->params);
    json_decref(inputs->conf);
    free(inputs->tasks);
}

static enum status read_inputs(const struct parsed *parsed, struct inputs *inputs,
                               struct engine_request *request, struct err *err)
{
    if (request_params(parsed, &inputs->params, err) != STATUS_OK ||
        request_conf(parsed, &inputs->conf, err) != STATUS_OK ||
        request_date(parsed, &request->has_logical_date, &request->logical_date_us, err) !=
            STATUS_OK)
        return err->code;
    request->params = inputs->params;
    request->conf = inputs->conf;
    inputs->tasks = mem_zalloc(parsed->options_count + 2, sizeof *inputs->tasks);
    const char *task;
    while ((task = parsed_get_nth(parsed, "task", request->tasks_count)) != NULL)
        inputs->tasks[request->tasks_count++] = task;
    request->tasks = inputs->tasks;
    return STATUS_OK;
}

int cmd_run(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    if (parsed_has(parsed, "detach"))
        return trigger_run(cli, parsed, true);
    CLEANUP(inputs_fini) struct inputs inputs = {0};
    struct engine_request request = {
        .source = request_is_file(parsed->args[0]) ? ENGINE_FILE : ENGINE_DAG,
        .name = parsed->args[0],
        .dag_id = parsed_get(parsed, "dag", NULL),
        .run_id = parsed_get(parsed, "run-id", NULL),
        .note = parsed_get(parsed, "note", NULL),
        .record = true,
        .wants_output = parsed_has(parsed, "logs"),
    };
    if (request.run_id != NULL && request.run_id[0] == '\0') {
        (void)err_set(&err, STATUS_INVALID, "--run-id: the name is empty");
        return cli_fail(cli, &err);
    }
    if (read_inputs(parsed, &inputs, &request, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    return follow_run(cli, parsed, &request);
}

int cmd_test(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    CLEANUP(inputs_fini) struct inputs inputs = {0};
    struct engine_request request = {
        .source = ENGINE_FILE,
        .name = parsed->args[0],
        .dag_id = parsed_get(parsed, "dag", NULL),
        .wants_output = true,
    };
    if (read_inputs(parsed, &inputs, &request, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    if (parsed->args_count > 1)
        inputs.tasks[request.tasks_count++] = parsed->args[1];
    return follow_run(cli, parsed, &request);
}

static int show_retry_plan(struct cli *cli, const struct parsed *parsed)
{
    json_t *request = request_of_run(parsed);
    json_t *tasks = json_array();
    for (size_t i = 1; i < parsed->args_count; i++)
        (void)json_array_append_new(tasks, json_string(parsed->args[i]));
    json_put(request, "tasks", tasks);
    json_put_bool(request, "dry_run", true);
    return cli_show(cli, "run.retry", request, &VIEW_TASK_INSTANCES);
}

int cmd_retry(struct cli *cli, const struct parsed *parsed)
{
    if (parsed_has(parsed, "dry-run"))
        return show_retry_plan(cli, parsed);
    struct engine_request request = {
        .source = ENGINE_RETRY,
        .name = parsed->args[0],
        .tasks = parsed->args + 1,
        .tasks_count = parsed->args_count - 1,
        .reason = cli->reason,
        .record = true,
        .wants_output = parsed_has(parsed, "logs"),
    };
    return follow_run(cli, parsed, &request);
}
