#include <errno.h>
#include <stdio.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/request.h"
#include "cli/views.h"

enum { LIST_DEFAULT = 20, LIST_MAX = 100000, WAIT_MS = 200, TIMEOUT_MAX_S = 1000000000 };

static int show_job(struct cli *cli, const struct parsed *parsed, const char *operation)
{
    struct err err = {0};
    json_t *request = request_of_job(parsed, &err);
    return request == NULL ? cli_fail(cli, &err) : cli_show(cli, operation, request, &VIEW_JOB);
}

int cmd_jobs_list(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_new();
    request_put_option(request, parsed, "queue", "queue");
    request_put_option(request, parsed, "status", "status");
    request_put_option(request, parsed, "before", "before");
    json_put_int(request, "limit", LIST_DEFAULT);
    if (request_put_int(request, parsed, "limit", "limit", LIST_MAX, &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_list(cli, parsed, "job.list", request, &VIEW_JOBS);
}

int cmd_jobs_show(struct cli *cli, const struct parsed *parsed)
{
    return show_job(cli, parsed, "job.show");
}

int cmd_jobs_cancel(struct cli *cli, const struct parsed *parsed)
{
    return show_job(cli, parsed, "job.cancel");
}

int cmd_jobs_retry(struct cli *cli, const struct parsed *parsed)
{
    return show_job(cli, parsed, "job.retry");
}

int cmd_jobs_reschedule(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    if (parsed_has(parsed, "at") == parsed_has(parsed, "delay")) {
        (void)err_set(&err, STATUS_INVALID, "say --at TIME or --delay DURATION");
        return cli_fail(cli, &err);
    }
    json_t *request = request_of_job(parsed, &err);
    if (request == NULL)
        return cli_fail(cli, &err);
    request_put_option(request, parsed, "at", "run_after");
    request_put_option(request, parsed, "delay", "delay");
    return cli_show(cli, "job.reschedule", request, &VIEW_JOB);
}

static bool job_is_over(const char *status)
{
    static const char *const OVER[] = {"completed", "failed", "skipped", "cancelled"};
    for (size_t i = 0; i < ARRAY_LEN(OVER); i++)
        if (str_equal(OVER[i], status))
            return true;
    return false;
}

int cmd_jobs_wait(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    const struct int_bounds bounds = {0, TIMEOUT_MAX_S, TIMEOUT_MAX_S};
    int64_t timeout_s = 0;
    if (parsed_get_int(parsed, "timeout", &bounds, &timeout_s, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    for (int64_t waited_ms = 0;; waited_ms += WAIT_MS) {
        json_t *job = NULL;
        json_t *request = request_of_job(parsed, &err);
        if (request == NULL || cli_call(cli, "job.show", request, &job, &err) != STATUS_OK)
            return cli_fail(cli, &err);
        const char *status = json_get_string(job, "status", "");
        bool is_over = job_is_over(status);
        int code = exit_code_of_run_state(status);
        if (is_over)
            (void)output_print(&cli->output, &VIEW_JOB, job);
        json_decref(job);
        if (is_over)
            return code;
        if (waited_ms >= timeout_s * 1000) {
            (void)err_set(&err, STATUS_TIMEOUT, "job %s is not over after %lld s", parsed->args[0],
                          (long long)timeout_s);
            return cli_fail(cli, &err);
        }
        if (!cli->host.pause(cli->host.context, WAIT_MS))
            return EXIT_CODE_INTERRUPTED;
    }
}

/* Say what was done, or would be, after a purge. */
static int purge(struct cli *cli, const struct parsed *parsed, const char *operation)
{
    json_t *request = request_new();
    bool is_dry = parsed_has(parsed, "dry-run");
    request_put_option(request, parsed, "queue", "queue");
    request_put_option(request, parsed, "status", "status");
    request_put_option(request, parsed, "older", "older");
    json_put_bool(request, "dry_run", is_dry);
    int code = cli_show(cli, operation, request, &VIEW_PURGED);
    if (code == EXIT_CODE_DONE && is_dry)
        cli_say(cli, "so many would go; nothing was changed");
    return code;
}

int cmd_jobs_purge(struct cli *cli, const struct parsed *parsed)
{
    return cli_is_confirmed(cli, parsed, "remove jobs that are over, with their logs")
               ? purge(cli, parsed, "job.purge")
               : EXIT_CODE_USAGE;
}

int cmd_dlq_purge(struct cli *cli, const struct parsed *parsed)
{
    return cli_is_confirmed(cli, parsed, "forget dead letters") ? purge(cli, parsed, "dead.purge")
                                                                : EXIT_CODE_USAGE;
}

/* --- dead letters ---------------------------------------------------------------------------- */

static enum status put_letter(json_t *request, const struct parsed *parsed, struct err *err)
{
    int64_t id = 0;
    if (!str_parse_i64(parsed->args[0], 1, INT64_MAX, &id))
        return err_set(err, STATUS_INVALID,
                       "'%.60s' is no id of a dead letter; `eider dlq list` shows them",
                       parsed->args[0]);
    json_put_id(request, "id", id);
    return STATUS_OK;
}

int cmd_dlq_list(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_new();
    request_put_option(request, parsed, "queue", "queue");
    json_put_int(request, "limit", LIST_DEFAULT);
    if (request_put_int(request, parsed, "limit", "limit", LIST_MAX, &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_list(cli, parsed, "dead.list", request, &VIEW_LETTERS);
}

int cmd_dlq_show(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_new();
    if (put_letter(request, parsed, &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_show(cli, "dead.show", request, &VIEW_LETTER);
}

int cmd_dlq_requeue(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_new();
    bool has_id = parsed->args_count > 0;
    bool is_dry = parsed_has(parsed, "dry-run");
    if (has_id == parsed_has(parsed, "all"))
        (void)err_set(&err, STATUS_INVALID, "say which one, or --all; `eider dlq list` shows them");
    else if (has_id)
        (void)!put_letter(request, parsed, &err);
    if (err.code != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    request_put_option(request, parsed, "queue", "queue");
    json_put_bool(request, "all", !has_id);
    json_put_bool(request, "dry_run", is_dry);
    int code = cli_show(cli, "dead.requeue", request, &VIEW_LETTERS);
    if (code == EXIT_CODE_DONE)
        cli_say(cli, "%s", is_dry ? "would run again; nothing was changed" : "will run again");
    return code;
}

/* --- dlq export ------------------------------------------------------------------------------ */

static int write_letters(struct cli *cli, const json_t *letters, FILE *stream, const char *name)
{
    size_t i;
    json_t *letter;
    json_array_foreach(letters, i, letter)
    {
        (void)json_dumpf(letter, stream, JSON_COMPACT);
        (void)fputc('\n', stream);
    }
    if (fflush(stream) == 0 && ferror(stream) == 0)
        return EXIT_CODE_DONE;
    struct err err = {0};
    (void)err_set(&err, STATUS_IO, "write '%s' failed", name);
    return cli_fail(cli, &err);
}

int cmd_dlq_export(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    const char *path = parsed->args_count > 0 ? parsed->args[0] : "-";
    json_t *request = request_new();
    json_t *response = NULL;
    request_put_option(request, parsed, "queue", "queue");
    json_put_int(request, "limit", INT64_MAX);
    if (cli_call(cli, "dead.list", request, &response, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    bool is_out = str_equal(path, "-");
    FILE *stream = is_out ? cli->host.out : fopen(path, "we");
    int code;
    if (stream == NULL) {
        (void)err_errno(&err, errno, "write '%s'", path);
        code = cli_fail(cli, &err);
    } else {
        code = write_letters(cli, json_object_get(response, "letters"), stream, path);
        if (!is_out && fclose(stream) != 0)
            code = EXIT_CODE_UNREACHABLE;
        else if (!is_out && code == EXIT_CODE_DONE)
            cli_say(cli, "%lld dead letters are in %s",
                    (long long)json_get_int(response, "total_entries", 0), path);
    }
    json_decref(response);
    return code;
}
