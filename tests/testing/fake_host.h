#pragma once
/*
 * fake_host: a world for the command line in memory: streams, environment, operations that
 * answer what the test says.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/cli.h"

enum { FAKE_NOW_US = 0, FAKE_CALLS_MAX = 16 };

struct fake_answer {
    const char *operation; /* NULL: any */
    const char *response;  /* JSON; NULL: fails */
    enum status status;
    const char *problem;
};

struct fake_host {
    struct cli_host host;
    char *out;
    size_t out_length;
    char *err;
    size_t err_length;
    const json_t *environment;
    size_t columns, rows;
    const struct fake_answer *answers; /* one per call, in order; the last one repeats */
    size_t answers_count;
    size_t calls;
    char *last_operation;
    char *last_request; /* JSON, keys sorted */
    int pauses_left;
    json_t *flags;
};

static inline void fake_size(void *context, size_t *out_columns, size_t *out_rows)
{
    struct fake_host *fake = context;
    *out_columns = fake->columns;
    *out_rows = fake->rows;
}

static inline const char *fake_environment(void *context, const char *name)
{
    struct fake_host *fake = context;
    return json_string_value(json_object_get(fake->environment, name));
}

static inline int64_t fake_now(void *context)
{
    (void)context;
    return FAKE_NOW_US;
}

static inline bool fake_pause(void *context, int64_t ms)
{
    (void)ms;
    return ((struct fake_host *)context)->pauses_left-- > 0;
}

static inline enum status fake_configure(void *context, const json_t *flags, struct err *err)
{
    (void)err;
    struct fake_host *fake = context;
    json_decref(fake->flags);
    fake->flags = json_deep_copy(flags);
    return STATUS_OK;
}

static inline enum status fake_call(void *context, const char *name, const json_t *request,
                                    json_t **out_response, struct err *err)
{
    struct fake_host *fake = context;
    free(fake->last_operation);
    free(fake->last_request);
    fake->last_operation = mem_strdup(name);
    fake->last_request = json_format(request);
    if (fake->answers_count == 0)
        return err_set(err, STATUS_NOT_FOUND, "nothing is known of '%s'", name);
    const struct fake_answer *answer =
        &fake->answers[fake->calls < fake->answers_count ? fake->calls : fake->answers_count - 1];
    fake->calls++;
    if (answer->response == NULL)
        return err_set(err, answer->status, "%s", answer->problem);
    return json_parse(answer->response, strlen(answer->response), out_response, err);
}

static inline void fake_host_init(struct fake_host *fake)
{
    *fake = (struct fake_host){.columns = 80, .rows = 24};
    fake->host = (struct cli_host){
        .context = fake,
        .out = open_memstream(&fake->out, &fake->out_length),
        .err = open_memstream(&fake->err, &fake->err_length),
        .terminal_size = fake_size,
        .environment = fake_environment,
        .now_us = fake_now,
        .pause = fake_pause,
        .configure = fake_configure,
        .operations = {.context = fake, .call = fake_call},
    };
}

/* Run a command; words are separated by single spaces. Output is in fake->out and fake->err. */
static inline int fake_host_run_words(struct fake_host *fake, const char *const *words, int count)
{
    rewind(fake->host.out);
    rewind(fake->host.err);
    int code = cli_main(&fake->host, count, words);
    (void)fputc('\0', fake->host.out);
    (void)fputc('\0', fake->host.err);
    (void)fflush(fake->host.out);
    (void)fflush(fake->host.err);
    return code;
}

static inline int fake_host_run(struct fake_host *fake, const char *line)
{
    const char *words[32] = {"eider"};
    int count = 1;
    char *copy = mem_strdup(line);
    for (char *word = copy; word[0] != '\0' && count < 32;) {
        size_t length = strcspn(word, " ");
        bool more = word[length] == ' ';
        word[length] = '\0';
        words[count++] = word;
        word += length + more;
    }
    int code = fake_host_run_words(fake, words, count);
    free(copy);
    return code;
}

static inline void fake_host_fini(struct fake_host *fake)
{
    (void)fclose(fake->host.out);
    (void)fclose(fake->host.err);
    free(fake->out);
    free(fake->err);
    free(fake->last_operation);
    free(fake->last_request);
    json_decref(fake->flags);
}
