/*
 * Jobs from the command line, one or many.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/request.h"
#include "cli/views.h"
#include "model/limits.h"

enum { PORTION = 1000, LINE_MAX_BYTES = 2 * LIMIT_PAYLOAD_BYTES + (64 << 10) };

static void warn_if_crowded(struct cli *cli, const json_t *response, const char *queue)
{
    if (json_get_bool(response, "crowded", false))
        (void)fprintf(cli->host.err,
                      "eider: warning: the queue '%s' is beyond its soft bound; see "
                      "`eider queues show %s`\n",
                      queue, queue);
}

/* --- one job --------------------------------------------------------------------------------- */

/* All of a stream; STATUS_LIMIT when it is longer than a payload may be. */
static enum status read_stream(FILE *stream, const char *name, struct strbuf *out, struct err *err)
{
    char bytes[8192];
    size_t got;
    while ((got = fread(bytes, 1, sizeof bytes, stream)) > 0) {
        if (out->length + got > LINE_MAX_BYTES)
            return err_set(err, STATUS_LIMIT, "%s: a payload has at most %d bytes", name,
                           LIMIT_PAYLOAD_BYTES);
        strbuf_add_bytes(out, bytes, got);
    }
    if (ferror(stream))
        return err_errno(err, errno, "read %s", name);
    return STATUS_OK;
}

static enum status read_file(const char *path, struct strbuf *out, struct err *err)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return err_errno(err, errno, "read '%s'", path);
    enum status status = read_stream(file, path, out, err);
    (void)fclose(file);
    return status;
}

/* The payload as typed, of standard input (-) or of a file (@FILE). */
static enum status put_payload(struct cli *cli, json_t *job, const char *text, struct err *err)
{
    CLEANUP(strbuf_fini) struct strbuf bytes;
    strbuf_init(&bytes, LINE_MAX_BYTES + 1);
    json_t *payload = NULL;
    enum status status = STATUS_OK;
    if (str_equal(text, "-"))
        status = read_stream(cli->host.in, "standard input", &bytes, err);
    else if (text[0] == '@')
        status = read_file(text + 1, &bytes, err);
    else
        strbuf_add(&bytes, text);
    if (status != STATUS_OK)
        return status;
    if (json_parse(bytes.text, bytes.length, &payload, err) != STATUS_OK)
        return err_wrap(err, "the payload must be JSON (a text is written '\"like this\"')");
    json_put(job, "payload", payload);
    return STATUS_OK;
}

static bool is_plain_word(const char *text)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=:,./@%";
    return text[0] != '\0' && strspn(text, PLAIN) == strlen(text);
}

static void add_quoted(struct strbuf *out, const char *text)
{
    if (is_plain_word(text)) {
        strbuf_add(out, text);
        return;
    }
    strbuf_add_char(out, '\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            strbuf_add(out, "'\\''");
        else
            strbuf_add_char(out, *text);
    }
    strbuf_add_char(out, '\'');
}

/* "$ COMMAND": one word is for the shell as it is, several are quoted each. */
static void put_command(json_t *job, const struct parsed *parsed, size_t from)
{
    CLEANUP(strbuf_fini) struct strbuf command;
    strbuf_init(&command, (size_t)LINE_MAX_BYTES);
    strbuf_add_char(&command, '$');
    for (size_t i = from; i < parsed->args_count; i++) {
        strbuf_add_char(&command, ' ');
        if (parsed->args_count == from + 1)
            strbuf_add(&command, parsed->args[i]);
        else
            add_quoted(&command, parsed->args[i]);
    }
    json_put(job, "handler", json_text(command.text, command.length));
}

static enum status put_options(json_t *job, const struct parsed *parsed, struct err *err)
{
    const struct int_bounds bounds = {-LIMIT_PRIORITY, LIMIT_PRIORITY, 0};
    int64_t priority = 0;
    request_put_option(job, parsed, "namespace", "namespace");
    request_put_option(job, parsed, "delay", "delay");
    request_put_option(job, parsed, "at", "run_after");
    request_put_option(job, parsed, "dedupe", "dedupe");
    request_put_option(job, parsed, "retry-delay", "retry_delay");
    request_put_option(job, parsed, "timeout", "timeout");
    request_put_option(job, parsed, "on-lost-lease", "on_lost_lease");
    if (parsed_get_int(parsed, "priority", &bounds, &priority, err) != STATUS_OK ||
        request_put_int(job, parsed, "retries", "retries", LIMIT_RETRIES, err) != STATUS_OK)
        return err->code;
    json_put_int(job, "priority", priority);
    return STATUS_OK;
}

static enum status make_job(struct cli *cli, const struct parsed *parsed, json_t *job,
                            struct err *err)
{
    size_t plain = parsed->plain_count;
    bool is_command = plain < parsed->args_count;
    if (plain > (is_command ? 1u : 3u))
        return err_set(err, STATUS_INVALID, "'%.60s' is one argument too many; usage: eider %s %s",
                       parsed->args[is_command ? 1 : 3], parsed->command->path,
                       parsed->command->args);
    if (!is_command && plain < 2)
        return err_set(err, STATUS_INVALID,
                       "what should run? name a handler, or write a command after --");
    if (is_command)
        put_command(job, parsed, plain);
    else
        json_put_string(job, "handler", parsed->args[1]);
    if (plain == 3 && put_payload(cli, job, parsed->args[2], err) != STATUS_OK)
        return err->code;
    return put_options(job, parsed, err);
}

static json_t *request_of_jobs(const char *queue, json_t *taken_jobs)
{
    json_t *request = request_new();
    json_put_string(request, "queue", queue);
    json_put(request, "jobs", taken_jobs);
    return request;
}

static int enqueue_one(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *job = request_new();
    json_t *response = NULL;
    if (make_job(cli, parsed, job, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    json_t *jobs = json_array();
    CHECK(json_array_append(jobs, job) == 0);
    if (cli_call(cli, "job.enqueue", request_of_jobs(parsed->args[0], jobs), &response, &err) !=
        STATUS_OK)
        return cli_fail(cli, &err);
    (void)output_print(&cli->output, &VIEW_ENQUEUED, response);
    warn_if_crowded(cli, response, parsed->args[0]);
    json_decref(response);
    return EXIT_CODE_DONE;
}

/* --- many ------------------------------------------------------------------------------------ */

struct batch {
    struct cli *cli;
    const char *queue;
    const char *namespace_; /* of lines that name none; NULL: the service decides */
    const char *name;       /* of the file */
    FILE *stream;
    char *line;
    size_t line_capacity;
    int64_t number; /* of the line read last */
    int64_t first;  /* line that the portion begins with */
    json_t *jobs;   /* of the portion */
    json_t *made;   /* {"id", "existed"} of all portions */
    int64_t existed;
    bool is_crowded;
};

static void batch_fini(struct batch *batch)
{
    free(batch->line);
    json_decref(batch->jobs);
    json_decref(batch->made);
}

/* The next line that is not blank, without its end; *out is NULL at the end of the file. */
static enum status next_line(struct batch *batch, json_t **out, struct err *err)
{
    ssize_t length;
    *out = NULL;
    while ((length = getline(&batch->line, &batch->line_capacity, batch->stream)) >= 0) {
        batch->number++;
        if (length > LINE_MAX_BYTES)
            return err_set(err, STATUS_LIMIT, "%s: line %lld has more than %d bytes", batch->name,
                           (long long)batch->number, LINE_MAX_BYTES);
        if (strspn(batch->line, " \t\r\n") == (size_t)length)
            continue;
        if (json_parse(batch->line, (size_t)length, out, err) != STATUS_OK)
            return err_wrap(err, "%s: line %lld", batch->name, (long long)batch->number);
        if (!json_is_object(*out)) {
            json_decref(*out);
            return err_set(err, STATUS_INVALID,
                           "%s: line %lld: a job is an object such as {\"handler\": \"x\"}",
                           batch->name, (long long)batch->number);
        }
        json_put_int(*out, "line", batch->number);
        if (batch->namespace_ != NULL && json_object_get(*out, "namespace") == NULL)
            json_put_string(*out, "namespace", batch->namespace_);
        return STATUS_OK;
    }
    if (ferror(batch->stream))
        return err_errno(err, errno, "read %s", batch->name);
    return STATUS_OK;
}

static enum status read_portion(struct batch *batch, struct err *err)
{
    json_decref(batch->jobs);
    batch->jobs = json_array();
    batch->first = batch->number + 1;
    while (json_array_size(batch->jobs) < PORTION) {
        json_t *job = NULL;
        if (next_line(batch, &job, err) != STATUS_OK)
            return err->code;
        if (job == NULL)
            return STATUS_OK;
        CHECK(json_array_append_new(batch->jobs, job) == 0);
    }
    return STATUS_OK;
}

static enum status send_portion(struct batch *batch, struct err *err)
{
    json_t *response = NULL;
    json_t *request = request_of_jobs(batch->queue, json_incref(batch->jobs));
    if (cli_call(batch->cli, "job.enqueue", request, &response, err) != STATUS_OK)
        return err_wrap(err, "%s", batch->name);
    size_t i;
    json_t *job;
    json_array_foreach(json_object_get(response, "jobs"), i, job)
    {
        batch->existed += json_get_bool(job, "existed", false);
    }
    CHECK(json_array_extend(batch->made, json_object_get(response, "jobs")) == 0);
    if (!batch->is_crowded)
        warn_if_crowded(batch->cli, response, batch->queue);
    batch->is_crowded = batch->is_crowded || json_get_bool(response, "crowded", false);
    json_decref(response);
    return STATUS_OK;
}

static enum status send_all(struct batch *batch, struct err *err)
{
    for (;;) {
        if (read_portion(batch, err) != STATUS_OK)
            return err->code;
        bool is_last = json_array_size(batch->jobs) < PORTION;
        if (json_array_size(batch->jobs) > 0 && send_portion(batch, err) != STATUS_OK)
            return err->code;
        if (is_last)
            return STATUS_OK;
        cli_say(batch->cli, "%zu jobs", json_array_size(batch->made));
    }
}

static void print_batch(struct batch *batch)
{
    struct cli *cli = batch->cli;
    json_t *response = request_new();
    int64_t count = (int64_t)json_array_size(batch->made);
    json_put_int(response, "count", count - batch->existed);
    json_put_int(response, "existed", batch->existed);
    json_put(response, "jobs", json_incref(batch->made));
    bool ids = cli->output.format == OUTPUT_NAME || cli->output.format == OUTPUT_CSV;
    (void)output_print(&cli->output, ids ? &VIEW_ENQUEUED : &VIEW_BATCH, response);
    json_decref(response);
}

static int enqueue_batch(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    const char *path = parsed->args_count > 1 ? parsed->args[1] : "-";
    bool is_in = str_equal(path, "-");
    CLEANUP(batch_fini)
    struct batch batch = {.cli = cli,
                          .queue = parsed->args[0],
                          .namespace_ = parsed_get(parsed, "namespace", NULL),
                          .name = is_in ? "standard input" : path,
                          .stream = is_in ? cli->host.in : fopen(path, "re"),
                          .made = json_array()};
    if (batch.stream == NULL) {
        (void)err_errno(&err, errno, "read '%s'", path);
        return cli_fail(cli, &err);
    }
    enum status status = send_all(&batch, &err);
    if (!is_in)
        (void)fclose(batch.stream);
    if (status == STATUS_OK) {
        print_batch(&batch);
        return EXIT_CODE_DONE;
    }
    int code = cli_fail(cli, &err);
    (void)fprintf(cli->host.err,
                  "eider: %zu jobs of the lines before %lld are enqueued, nothing from there on\n",
                  json_array_size(batch.made), (long long)batch.first);
    return code;
}

int cmd_enqueue(struct cli *cli, const struct parsed *parsed)
{
    static const char *const SINGLE[] = {"delay",   "at",      "priority",      "dedupe",
                                         "retries", "timeout", "on-lost-lease", "retry-delay"};
    struct err err = {0};
    if (!parsed_has(parsed, "batch"))
        return enqueue_one(cli, parsed);
    for (size_t i = 0; i < ARRAY_LEN(SINGLE) && err.code == STATUS_OK; i++)
        if (parsed_has(parsed, SINGLE[i]))
            (void)err_set(&err, STATUS_INVALID,
                          "--%s is for one job; with --batch each line has its own", SINGLE[i]);
    if (err.code == STATUS_OK && parsed->args_count > 2)
        (void)err_set(&err, STATUS_INVALID,
                      "'%.60s' is one argument too many; usage: eider %s "
                      "QUEUE --batch [FILE]",
                      parsed->args[2], parsed->command->path);
    return err.code == STATUS_OK ? enqueue_batch(cli, parsed) : cli_fail(cli, &err);
}
