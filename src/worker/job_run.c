#include "worker/job_run.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "model/template.h"
#include "store/job.h"
#include "store/vault_scope.h"

enum { PAYLOAD_ENV_BYTES = 64 << 10, SLEEP_SECONDS_MAX = 365 * 86400, NAMES_BYTES_MAX = 300 };

struct job {
    const struct claim *claim;
    const struct job_options *options;
    struct arena *arena;
    struct prepared *out;
    struct vault_seen seen;
};

static void fail(const struct job *job, enum reason reason, const char *detail)
{
    job->out->outcome.end = (struct attempt_end){.reason = reason, .result = TASK_FAILED};
    job->out->outcome.detail = arena_strdup(job->arena, detail);
}

/* --- built in -------------------------------------------------------------------------------- */

static void do_noop(const struct job *job)
{
    job->out->outcome.end = (struct attempt_end){.reason = REASON_EXIT};
}

static void do_sleep(const struct job *job)
{
    CLEANUP(json_decrefp) json_t *payload = NULL;
    struct err ignored = {0};
    const char *text = job->claim->job->payload;
    double seconds = -1;
    if (json_parse(text, strlen(text), &payload, &ignored) == STATUS_OK)
        seconds = json_number_value(json_object_get(payload, "seconds"));
    bool is_number = json_is_number(json_object_get(payload, "seconds"));
    if (!is_number || !(seconds >= 0 && seconds <= SLEEP_SECONDS_MAX)) {
        fail(job, REASON_EXEC_ERROR,
             "sleep needs a payload such as {\"seconds\": 5}, of at most a year");
        return;
    }
    job->out->is_sleep = true;
    job->out->sleep_ms = (int64_t)(seconds * 1000);
}

static const struct {
    const char *name;
    void (*prepare)(const struct job *job);
} BUILT_IN[] = {{"noop", do_noop}, {"sleep", do_sleep}};

/* --- processes ------------------------------------------------------------------------------- */

struct env {
    struct arena *arena;
    const char **items;
    size_t count;
};

static void add(struct env *env, const char *name, const char *value)
{
    if (value != NULL)
        env->items[env->count++] = arena_format(env->arena, "%s=%s", name, value);
}

static const char *idempotency_key(const struct job *job)
{
    char hex[SHA256_HEX_MAX];
    const char *text = arena_format(job->arena, "%s/job/%lld/%lld", job->options->store_uuid,
                                    (long long)job->claim->task, (long long)job->claim->generation);
    return arena_strdup(job->arena, sha256_hex(text, strlen(text), hex));
}

/* A variable of the handler, whose value may be a template. */
static enum status render(struct job *job, const char *text, const char **out, struct err *err)
{
    struct vault_scope scope = {
        .vault = job->options->vault,
        .space =
            job->claim->job->namespace_ != NULL ? job->claim->job->namespace_ : VAULT_DEFAULT_SPACE,
        .may_see = true,
        .seen = &job->seen,
    };
    struct template_scope names = vault_scope_names(&scope);
    const struct template *template = NULL;
    struct template_fault fault = {0};
    char *rendered = NULL;
    *out = text;
    if (text == NULL || template_is_plain(text))
        return STATUS_OK;
    if (template_parse(job->arena, text, &template, &fault, err) != STATUS_OK ||
        template_render_text(template, &names, &rendered, &fault, err) != STATUS_OK)
        return err->code;
    CHECK(rendered != NULL);
    *out = arena_strdup(job->arena, rendered);
    secret_wipe(rendered, strlen(rendered));
    mem_freep(&rendered);
    return STATUS_OK;
}

static void add_api(struct env *env, struct job *job)
{
    const struct task_api *api = job->options->prepare.api;
    char token[TASK_TOKEN_MAX];
    if (api == NULL)
        return;
    task_api_token(api, job->claim, &job->seen, token);
    add(env, "EIDER_API", api->url);
    add(env, "EIDER_TOKEN", token);
    secret_wipe(token, sizeof token);
}

static enum status make_env(struct job *job, const json_t *own, const char *const **out,
                            struct err *err)
{
    static const char *const OUTSIDE[] = {"PATH", "HOME", "USER", "LANG", "TZ"};
    enum { OURS = 10 };
    const struct claim *claim = job->claim;
    const struct keeper_task *process = &job->out->process;
    size_t most = ARRAY_LEN(OUTSIDE) + OURS + json_object_size(own) + 2;
    struct env env = {.arena = job->arena,
                      .items = arena_array(job->arena, most, sizeof(const char *))};
    const char *name = NULL;
    json_t *value = NULL;
    for (size_t i = 0; i < ARRAY_LEN(OUTSIDE); i++)
        if (json_object_get(own, OUTSIDE[i]) == NULL)
            add(&env, OUTSIDE[i], job->options->prepare.get_env(OUTSIDE[i]));
    json_object_foreach((json_t *)(uintptr_t)own, name, value)
    {
        const char *text = NULL;
        if (render(job, json_string_value(value), &text, err) != STATUS_OK)
            return err_wrap(err, "env.%s of handler '%s'", name, claim->job->handler);
        add(&env, name, text);
        if (text != json_string_value(value))
            secret_wipe((void *)(uintptr_t)text, strlen(text));
    }
    add(&env, "EIDER_JOB_ID", arena_format(job->arena, "%lld", (long long)claim->task));
    add(&env, "EIDER_QUEUE", claim->job->queue);
    add(&env, "EIDER_TRY_NUMBER", arena_format(job->arena, "%lld", (long long)claim->attempt));
    add(&env, "EIDER_IDEMPOTENCY_KEY", idempotency_key(job));
    add(&env, "EIDER_OUTPUTS", process->outputs_dir);
    add(&env, "EIDER_PAYLOAD_FILE", process->script_path);
    if (strlen(claim->job->payload) <= PAYLOAD_ENV_BYTES)
        add(&env, "EIDER_PAYLOAD", claim->job->payload);
    add_api(&env, job);
    *out = env.items;
    return STATUS_OK;
}

static const char *const *shell_argv(struct arena *arena, const char *command)
{
    const char **argv = arena_array(arena, 4, sizeof(const char *));
    argv[0] = "/bin/sh";
    argv[1] = "-c";
    argv[2] = arena_strdup(arena, command);
    return argv;
}

/* By a shell; `handler` is NULL for a command that the job itself brings. */
static void start(struct job *job, const char *command, const json_t *handler)
{
    const struct claim *claim = job->claim;
    const struct prepare_options *options = &job->options->prepare;
    const char *stem = arena_format(job->arena, "%s/%lld.%lld", options->scratch_dir,
                                    (long long)claim->task, (long long)claim->attempt);
    int64_t timeout_ms = claim->job->timeout_ms;
    job->out->is_process = true;
    job->out->process = (struct keeper_task){
        .id = claim->task,
        .nonce = prepare_nonce_text(job->arena, &claim->nonce),
        .argv = shell_argv(job->arena, command),
        .timeout_ms = timeout_ms > 0 ? timeout_ms : json_get_int(handler, "timeout_ms", 0),
        .grace_ms = options->grace_ms,
        .output_bytes = options->output_bytes,
        .blob_root = options->blob_root,
        .log_key = {.kind = BLOB_LOG, .ids = {0, claim->task, claim->attempt}, .id_count = 3},
        .outputs_dir = arena_format(job->arena, "%s.out", stem),
        /* Written before the start and removed at the end, which is what a payload needs. */
        .script = claim->job->payload,
        .script_path = arena_format(job->arena, "%s.payload", stem),
        .survives_deadline = claim->job->finish_on_lost_lease,
    };
    struct err err = {0};
    enum status status =
        make_env(job, json_object_get(handler, "env"), &job->out->process.env, &err);
    if (status == STATUS_OK) {
        job->out->process.secrets = vault_seen_list(&job->seen);
        return;
    }
    job->out->is_process = false;
    job->out->store_is_away = status_is_retryable(status) || status == STATUS_UNKNOWN;
    fail(job, REASON_TEMPLATE_ERROR, vault_seen_mask(&job->seen, err.text));
    vault_seen_wipe(&job->seen);
}

/* --- which ----------------------------------------------------------------------------------- */

static void refuse_unknown(const struct job *job)
{
    struct strbuf known;
    strbuf_init(&known, NAMES_BYTES_MAX);
    for (size_t i = 0; i < ARRAY_LEN(BUILT_IN); i++)
        strbuf_addf(&known, "%s%s", i > 0 ? ", " : "", BUILT_IN[i].name);
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(uintptr_t)job->options->handlers, name, value)
    {
        strbuf_addf(&known, ", %s", name);
    }
    fail(job, REASON_EXEC_ERROR,
         arena_format(job->arena, "no handler '%.100s' here; known are: %s, and \"$ COMMAND\"",
                      job->claim->job->handler, known.text));
    strbuf_fini(&known);
}

bool job_run_is_inline(const struct claim *claim)
{
    return str_equal(claim->job->handler, "noop");
}

void job_run_prepare(const struct claim *claim, const struct job_options *options,
                     struct arena *arena, struct prepared *out)
{
    const char *handler = claim->job->handler;
    struct job job = {claim, options, arena, out, {.arena = arena}};
    *out = (struct prepared){
        .outcome =
            {
                .task = claim->task,
                .attempt = claim->attempt,
                .nonce = claim->nonce,
                .kind = OUTCOME_END,
            },
    };
    const json_t *configured = json_object_get(options->handlers, handler);
    if (job_handler_is_command(handler)) {
        start(&job, handler + 2, NULL);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(BUILT_IN); i++) {
        if (str_equal(BUILT_IN[i].name, handler)) {
            BUILT_IN[i].prepare(&job);
            return;
        }
    }
    if (configured != NULL)
        start(&job, json_get_string(configured, "run", ""), configured);
    else
        refuse_unknown(&job);
}
