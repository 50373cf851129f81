#include "cli/summary.h"

#include <string.h>

#include "base/check.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "cli/humanize.h"
#include "cli/progress.h"
#include "model/dag.h"

enum { TEXT_MAX = 16 << 10, MESSAGE_COLUMNS = 200 };

static bool is_waiting(enum task_state state)
{
    return state == TASK_NONE || state == TASK_SCHEDULED || state == TASK_QUEUED ||
           state == TASK_REMOVED;
}

/* "exit 1", "signal 9", "timeout": the reason with the number that belongs to it. */
static void add_cause(struct strbuf *out, const char *reason, int exit_code, int signal)
{
    if (exit_code > 0)
        strbuf_addf(out, "exit code %d", exit_code);
    else if (signal > 0)
        strbuf_addf(out, "signal %d (%s)", signal, strsignal(signal));
    bool is_said = reason == NULL || str_equal(reason, "exit") || str_equal(reason, "signal");
    if (!is_said)
        strbuf_addf(out, "%s%s", exit_code > 0 || signal > 0 ? ", " : "", reason);
}

static void add_message(struct strbuf *out, const struct style *style, const char *message)
{
    if (message == NULL || message[0] == '\0')
        return;
    strbuf_add(out, ": ");
    humanize_add_text(out, message, MESSAGE_COLUMNS, style->utf8);
}

void summary_change(FILE *out, const struct style *style, const struct dag *dag,
                    const struct engine_task *task, bool verbose)
{
    CHECK(task->node < dag->tasks_count);
    if (task->replayed || (is_waiting(task->to) && !verbose))
        return;
    char at[HUMAN_MAX];
    char duration[HUMAN_MAX];
    struct strbuf name;
    struct strbuf rest;
    strbuf_init(&name, TEXT_MAX);
    strbuf_init(&rest, TEXT_MAX);
    progress_add_name(&name, dag->tasks[task->node].id, task->map_index, task->label);
    if (task->duration_ms >= 0 && task->to != TASK_RUNNING)
        strbuf_addf(&rest, " in %s", humanize_duration(task->duration_ms, duration));
    if (task->attempt > 1)
        strbuf_addf(&rest, " (try %lld)", (long long)task->attempt);
    if (task->to == TASK_FAILED || task->to == TASK_UP_FOR_RETRY || task->to == TASK_CANCELLED) {
        struct strbuf cause;
        strbuf_init(&cause, TEXT_MAX);
        add_cause(&cause, task->reason, task->exit_code, task->signal);
        if (cause.length > 0)
            strbuf_addf(&rest, ": %s", cause.text);
        strbuf_fini(&cause);
        add_message(&rest, style, task->message);
    } else if (task->reason != NULL && task->to != TASK_SUCCESS && task->to != TASK_RUNNING) {
        strbuf_addf(&rest, ": %s", task->reason);
    }
    struct strbuf safe;
    strbuf_init(&safe, TEXT_MAX);
    humanize_add_text(&safe, name.text, TEXT_MAX, style->utf8);
    (void)fprintf(out, "%s %s%-8s%s %s%s\n", humanize_clock(task->at_us, at),
                  style_color(style, task->to), task_state_name(task->to), style_reset(style),
                  safe.text, rest.text);
    strbuf_fini(&safe);
    strbuf_fini(&name);
    strbuf_fini(&rest);
}

/* A word for a shell: as it is when harmless, else in single quotes. */
static void add_shell_word(struct strbuf *out, const char *word)
{
    static const char PLAIN[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:+@%=,";
    if (word[0] != '\0' && strspn(word, PLAIN) == strlen(word)) {
        strbuf_add(out, word);
        return;
    }
    strbuf_add_char(out, '\'');
    for (const char *p = word; *p != '\0'; p++) {
        if (*p == '\'')
            strbuf_add(out, "'\\''");
        else
            strbuf_add_char(out, *p);
    }
    strbuf_add_char(out, '\'');
}

static void add_log_command(struct strbuf *out, const struct engine_result *result,
                            const struct engine_failure *failure)
{
    strbuf_addf(out, "eider logs %lld ", (long long)result->number);
    add_shell_word(out, failure->task_id);
    if (failure->map_index >= 0)
        strbuf_addf(out, " --map-index %lld", (long long)failure->map_index);
}

static void print_failure(FILE *out, const struct style *style, const struct engine_result *result,
                          const struct engine_failure *failure)
{
    struct strbuf text;
    struct strbuf name;
    strbuf_init(&text, TEXT_MAX);
    strbuf_init(&name, TEXT_MAX);
    progress_add_name(&name, failure->task_id, failure->map_index, failure->label);
    humanize_add_text(&text, name.text, TEXT_MAX, style->utf8);
    strbuf_fini(&name);
    size_t before = text.length;
    strbuf_add(&text, ": ");
    add_cause(&text, failure->reason, failure->exit_code, failure->signal);
    if (text.length == before + 2)
        strbuf_truncate(&text, before);
    add_message(&text, style, failure->message);
    if (failure->attempt > 1)
        strbuf_addf(&text, " (after %lld tries)", (long long)failure->attempt);
    (void)fprintf(out, "  %s%s%s %s\n", style_color(style, failure->state),
                  style_symbol(style, failure->state), style_reset(style), text.text);
    if (result->number > 0 && failure->attempt > 0) {
        strbuf_clear(&text);
        add_log_command(&text, result, failure);
        (void)fprintf(out, "    %s%s%s\n", style_dim(style), text.text, style_reset(style));
    }
    strbuf_fini(&text);
}

static enum task_state state_of(enum engine_verdict verdict)
{
    static const enum task_state STATES[] = {
        [ENGINE_SUCCESS] = TASK_SUCCESS,
        [ENGINE_FAILED] = TASK_FAILED,
        [ENGINE_CANCELLED] = TASK_CANCELLED,
    };
    return STATES[verdict];
}

void summary_end(FILE *out, const struct style *style, const struct engine_result *result)
{
    char duration[HUMAN_MAX];
    enum task_state state = state_of(result->verdict);
    (void)fprintf(out, "%s%s %s%s  %s", style_color(style, state), style_symbol(style, state),
                  engine_verdict_name(result->verdict), style_reset(style), result->dag_id);
    if (result->number > 0)
        (void)fprintf(out, "  run %lld", (long long)result->number);
    (void)fprintf(out, "  in %s:", humanize_duration(result->duration_ms, duration));
    const char *separator = " ";
    for (enum task_state s = 0; s < TASK_STATE_COUNT; s++) {
        if (result->counts[s] == 0)
            continue;
        (void)fprintf(out, "%s%s%lld %s%s", separator, style_color(style, s),
                      (long long)result->counts[s], s == TASK_NONE ? "not run" : task_state_name(s),
                      style_reset(style));
        separator = ", ";
    }
    (void)fputc('\n', out);
    for (size_t i = 0; i < result->failures_count; i++)
        print_failure(out, style, result, &result->failures[i]);
    if (result->failures_total > result->failures_count)
        (void)fprintf(out, "  and %zu more\n", result->failures_total - result->failures_count);
    if (result->verdict != ENGINE_SUCCESS && result->number > 0)
        (void)fprintf(out, "%sContinue with: eider retry %lld%s\n", style_dim(style),
                      (long long)result->number, style_reset(style));
}
