/*
 * What a job's handler comes to.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "expect.h"
#include "worker/job_run.h"

static const char *outside(const char *name)
{
    return strcmp(name, "PATH") == 0 ? "/bin" : NULL;
}

static const struct task_api *api; /* that jobs are told of */

struct prepared_job {
    struct arena *arena;
    struct prepared prepared;
    json_t *handlers;
};

static struct prepared_job prepare(const char *handler, const char *payload, const char *handlers)
{
    struct prepared_job made = {.arena = arena_new()};
    struct err err = {0};
    struct claimed_job job = {
        .queue = "mail", .handler = handler, .payload = payload, .timeout_ms = 0};
    struct claim claim = {.task = 42, .attempt = 3, .generation = 1, .job = &job};
    if (handlers != NULL)
        EXPECT_OK(json_parse(handlers, strlen(handlers), &made.handlers, &err), &err);
    struct job_options options = {
        .prepare = {.scratch_dir = "/scratch",
                    .blob_root = "/blob",
                    .get_env = outside,
                    .api = api},
        .handlers = made.handlers,
        .store_uuid = "uuid",
    };
    job_run_prepare(&claim, &options, made.arena, &made.prepared);
    return made;
}

static void done(struct prepared_job *made)
{
    json_decref(made->handlers);
    arena_free(made->arena);
}

static const char *env_of(const struct prepared_job *made, const char *name)
{
    size_t length = strlen(name);
    for (const char *const *entry = made->prepared.process.env; *entry != NULL; entry++)
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
            return *entry + length + 1;
    return NULL;
}

Test(job_run, noop_is_over_at_once)
{
    struct prepared_job made = prepare("noop", "null", "{\"noop\":{\"run\":\"exit 1\"}}");
    cr_expect(!made.prepared.is_process && !made.prepared.is_sleep);
    cr_expect_eq(made.prepared.outcome.end.reason, REASON_EXIT);
    cr_expect_eq(made.prepared.outcome.end.exit_code, 0);
    cr_expect_eq(made.prepared.outcome.task, 42);
    cr_expect_eq(made.prepared.outcome.run, 0);
    done(&made);
}

Test(job_run, sleep_takes_a_number_of_seconds)
{
    static const struct {
        const char *payload;
        int64_t ms; /* -1: refused */
    } CASES[] = {
        {"{\"seconds\":2}", 2000},
        {"{\"seconds\":0.25}", 250},
        {"{\"seconds\":0}", 0},
        {"{\"seconds\":-1}", -1},
        {"{\"seconds\":\"5\"}", -1},
        {"{}", -1},
        {"5", -1},
        {"null", -1},
        {"{\"seconds\":1e300}", -1},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct prepared_job made = prepare("sleep", CASES[i].payload, NULL);
        cr_expect_eq(made.prepared.is_sleep, CASES[i].ms >= 0, "case %zu", i);
        if (CASES[i].ms >= 0)
            cr_expect_eq(made.prepared.sleep_ms, CASES[i].ms, "case %zu", i);
        else
            EXPECT_CONTAINS(made.prepared.outcome.detail, "seconds");
        done(&made);
    }
}

Test(job_run, a_command_gets_its_payload_and_who_it_is)
{
    struct prepared_job made = prepare("$ echo hi", "{\"a\":1}", NULL);
    const struct keeper_task *process = &made.prepared.process;
    cr_assert(made.prepared.is_process);
    EXPECT_STR("/bin/sh", process->argv[0]);
    EXPECT_STR("echo hi", process->argv[2]);
    EXPECT_STR("{\"a\":1}", env_of(&made, "EIDER_PAYLOAD"));
    EXPECT_STR(process->script_path, env_of(&made, "EIDER_PAYLOAD_FILE"));
    EXPECT_STR("{\"a\":1}", process->script);
    EXPECT_STR("42", env_of(&made, "EIDER_JOB_ID"));
    EXPECT_STR("mail", env_of(&made, "EIDER_QUEUE"));
    EXPECT_STR("3", env_of(&made, "EIDER_TRY_NUMBER"));
    EXPECT_STR(process->outputs_dir, env_of(&made, "EIDER_OUTPUTS"));
    EXPECT_STR("/bin", env_of(&made, "PATH"));
    cr_expect_eq(strlen(env_of(&made, "EIDER_IDEMPOTENCY_KEY")), 64);
    done(&made);
}

Test(job_run, a_large_payload_is_only_in_the_file)
{
    char *payload = mem_alloc((64 << 10) + 3);
    memset(payload, 'x', (64 << 10) + 2);
    payload[0] = payload[(64 << 10) + 1] = '"';
    payload[(64 << 10) + 2] = '\0';
    struct prepared_job made = prepare("$ true", payload, NULL);
    cr_expect_null(env_of(&made, "EIDER_PAYLOAD"));
    cr_expect_not_null(env_of(&made, "EIDER_PAYLOAD_FILE"));
    done(&made);
    free(payload);
}

Test(job_run, a_configured_handler_brings_its_environment_and_timeout)
{
    struct prepared_job made =
        prepare("send", "null",
                "{\"send\":{\"run\":\"./send\",\"env\":{\"PATH\":\"/own\",\"A\":\"b\"},"
                "\"timeout_ms\":5000}}");
    EXPECT_STR("./send", made.prepared.process.argv[2]);
    EXPECT_STR("/own", env_of(&made, "PATH"));
    EXPECT_STR("b", env_of(&made, "A"));
    cr_expect_eq(made.prepared.process.timeout_ms, 5000);
    done(&made);
}

Test(job_run, an_unknown_handler_names_the_known_ones)
{
    struct prepared_job made = prepare("sned", "null", "{\"send\":{\"run\":\"./send\"}}");
    cr_expect(!made.prepared.is_process);
    cr_expect_eq(made.prepared.outcome.end.reason, REASON_EXEC_ERROR);
    EXPECT_CONTAINS(made.prepared.outcome.detail, "'sned'");
    EXPECT_CONTAINS(made.prepared.outcome.detail, "noop, sleep, send");
    done(&made);
}

Test(job_run, the_environment_of_a_handler_may_hold_secrets)
{
    char *environment[] = {(char[]){"EIDER_SECRET_TOK=tok-value"}, NULL};
    struct vault_sources sources = {.environment = environment};
    struct vault *vault = vault_new(&sources, NULL);
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp)
    json_t *handlers = json_pack("{s:{s:s, s:{s:s}}, s:{s:s, s:{s:s}}}", "send", "run", "x", "env",
                                 "T", "{{ secrets.tok }}", "bad", "run", "x", "env", "T",
                                 "{{ secrets.tok }} {{ secrets.nope }}");
    struct job_options options = {.prepare = {.scratch_dir = "/s", .get_env = outside},
                                  .handlers = handlers,
                                  .vault = vault,
                                  .store_uuid = "uuid"};
    struct claimed_job job = {.queue = "q", .handler = "send", .payload = "null"};
    struct claim claim = {.task = 1, .attempt = 1, .job = &job};
    struct prepared got;

    job_run_prepare(&claim, &options, arena, &got);
    cr_assert(got.is_process);
    EXPECT_STR("tok-value", got.process.secrets[0]);

    job.handler = "bad";
    job_run_prepare(&claim, &options, arena, &got);
    cr_expect(!got.is_process);
    cr_expect_eq(got.outcome.end.reason, REASON_TEMPLATE_ERROR);
    EXPECT_CONTAINS(got.outcome.detail, "env.T of handler 'bad': there is no secret 'nope'");
    vault_free(vault);
}

Test(job_run, a_handler_is_told_of_the_api)
{
    struct prepared_job made = prepare("$ true", "null", NULL);
    cr_expect_null(env_of(&made, "EIDER_API"));
    cr_expect_null(env_of(&made, "EIDER_TOKEN"));
    cr_expect_null(made.prepared.process.secrets);
    done(&made);

    api = &(const struct task_api){.url = (char[]){"http://127.0.0.1:1"}, .key = {{1, 2, 3}}};
    made = prepare("$ true", "null", NULL);
    struct task_token token = {0};
    EXPECT_STR("http://127.0.0.1:1", env_of(&made, "EIDER_API"));
    cr_assert(task_token_parse(env_of(&made, "EIDER_TOKEN"), &token));
    cr_expect_eq(token.task, 42);
    cr_expect_eq(token.attempt, 3);
    EXPECT_STR(token.proof, made.prepared.process.secrets[0]);
    done(&made);
}
