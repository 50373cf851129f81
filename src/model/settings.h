#pragma once
/*
 * settings: every setting as a row, and which of several places a value came from.
 *
 * Order: flag, environment, project file, user file, default. Pure: the layers are
 * handed in as JSON objects and a look-up, nothing is read here.
 *
 * Ownership  struct settings owns its values; settings_fini frees them.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"

enum setting_type {
    SETTING_TEXT,
    SETTING_PATH,
    SETTING_INTEGER,
    SETTING_BOOLEAN,
    SETTING_DURATION, /* text such as 10s; the value is milliseconds */
    SETTING_SIZE,     /* text such as 256MiB; the value is bytes */
    SETTING_CHOICE,
    SETTING_TREE, /* a map in files, its JSON elsewhere */
    SETTING_TYPE_COUNT
};

/*    name            key            environment */
#define SETTING_MAP(X)                                                                             \
    X(HOME, "home", "EIDER_HOME")                                                                  \
    X(STORE, "store", "EIDER_STORE")                                                               \
    X(DAGS, "dags", "EIDER_DAGS")                                                                  \
    X(DAGS_RESCAN, "dags_rescan", "EIDER_DAGS_RESCAN")                                             \
    X(SLOTS, "slots", "EIDER_SLOTS")                                                               \
    X(OUTPUT_BYTES, "output_bytes", "EIDER_OUTPUT_BYTES")                                          \
    X(GRACE, "grace", "EIDER_GRACE")                                                               \
    X(BUSY_TIMEOUT, "busy_timeout", "EIDER_BUSY_TIMEOUT")                                          \
    X(HOST_NAME, "host_name", "EIDER_HOST_NAME")                                                   \
    X(LABELS, "labels", "EIDER_LABELS")                                                            \
    X(QUEUES, "queues", "EIDER_QUEUES")                                                            \
    X(ROLES, "roles", "EIDER_ROLES")                                                               \
    X(FLEET, "fleet", "EIDER_FLEET")                                                               \
    X(CLAIM_RATIO, "claim_ratio", "EIDER_CLAIM_RATIO")                                             \
    X(CPU_MOST, "cpu_most", "EIDER_CPU_MOST")                                                      \
    X(MEMORY_MOST, "memory_most", "EIDER_MEMORY_MOST")                                             \
    X(LEASE, "lease", "EIDER_LEASE")                                                               \
    X(RENEW, "renew", "EIDER_RENEW")                                                               \
    X(MARGIN, "margin", "EIDER_MARGIN")                                                            \
    X(SWEEP, "sweep", "EIDER_SWEEP")                                                               \
    X(SWEEP_BY, "sweep_by", "EIDER_SWEEP_BY")                                                      \
    X(POLL, "poll", "EIDER_POLL")                                                                  \
    X(STORE_IDLE, "store_idle", "EIDER_STORE_IDLE")                                                \
    X(DAGS_PAUSED_AT_CREATION, "dags_paused_at_creation", "EIDER_DAGS_PAUSED_AT_CREATION")         \
    X(BACKFILL_APPROVAL, "backfill_approval", "EIDER_BACKFILL_APPROVAL")                           \
    X(BACKFILL_MAX, "backfill_max", "EIDER_BACKFILL_MAX")                                          \
    X(BACKFILL_QUEUE, "backfill_queue", "EIDER_BACKFILL_QUEUE")                                    \
    X(DRAIN_GRACE, "drain_grace", "EIDER_DRAIN_GRACE")                                             \
    X(POKE_MAX, "poke_max", "EIDER_POKE_MAX")                                                      \
    X(TRIGGER_CHAIN, "trigger_chain", "EIDER_TRIGGER_CHAIN")                                       \
    X(SECRET_KEY_FILE, "secret_key_file", "EIDER_SECRET_KEY_FILE")                                 \
    X(SECRETS_DIR, "secrets_dir", "EIDER_SECRETS_DIR")                                             \
    X(KEEP_RUNS, "keep_runs", "EIDER_KEEP_RUNS")                                                   \
    X(KEEP_RUNS_PER_DAG, "keep_runs_per_dag", "EIDER_KEEP_RUNS_PER_DAG")                           \
    X(KEEP_LOGS, "keep_logs", "EIDER_KEEP_LOGS")                                                   \
    X(KEEP_VALUES, "keep_values", "EIDER_KEEP_VALUES")                                             \
    X(KEEP_JOBS, "keep_jobs", "EIDER_KEEP_JOBS")                                                   \
    X(KEEP_DEAD, "keep_dead", "EIDER_KEEP_DEAD")                                                   \
    X(KEEP_MESSAGES, "keep_messages", "EIDER_KEEP_MESSAGES")                                       \
    X(KEEP_EVENTS, "keep_events", "EIDER_KEEP_EVENTS")                                             \
    X(HOOKS, "hooks", "EIDER_HOOKS")                                                               \
    X(HOOKS_PUBLIC_ONLY, "hooks_public_only", "EIDER_HOOKS_PUBLIC_ONLY")                           \
    X(LISTEN, "listen", "EIDER_LISTEN")                                                            \
    X(LISTEN_ANYWAY, "listen_anyway", "EIDER_LISTEN_ANYWAY")                                       \
    X(SESSION_TIME, "session_time", "EIDER_SESSION_TIME")                                          \
    X(WEBHOOK_RATE, "webhook_rate", "EIDER_WEBHOOK_RATE")                                          \
    X(API_WORKERS, "api_workers", "EIDER_API_WORKERS")                                             \
    X(API_CONNECTIONS, "api_connections", "EIDER_API_CONNECTIONS")                                 \
    X(API_CONNECTIONS_PEER, "api_connections_peer", "EIDER_API_CONNECTIONS_PEER")                  \
    X(API_REQUEST_TIME, "api_request_time", "EIDER_API_REQUEST_TIME")                              \
    X(API_BODY, "api_body", "EIDER_API_BODY")                                                      \
    X(API_URL, "api_url", "EIDER_API_URL")                                                         \
    X(TASK_ROLE, "task_role", "EIDER_TASK_ROLE")                                                   \
    X(TLS_CERTIFICATE, "tls_certificate", "EIDER_TLS_CERTIFICATE")                                 \
    X(TLS_KEY, "tls_key", "EIDER_TLS_KEY")                                                         \
    X(METRICS_SERIES, "metrics_series", "EIDER_METRICS_SERIES")                                    \
    X(STATSD, "statsd", "EIDER_STATSD")                                                            \
    X(STATSD_PREFIX, "statsd_prefix", "EIDER_STATSD_PREFIX")                                       \
    X(STATSD_PERIOD, "statsd_period", "EIDER_STATSD_PERIOD")                                       \
    X(OTLP_ENDPOINT, "otlp_endpoint", "EIDER_OTLP_ENDPOINT")                                       \
    X(OTLP_HEADERS, "otlp_headers", "EIDER_OTLP_HEADERS")                                          \
    X(SERVER, "server", "EIDER_SERVER")                                                            \
    X(TOKEN, "token", "EIDER_TOKEN")                                                               \
    X(CA_FILE, "ca_file", "EIDER_CA_FILE")                                                         \
    X(CONTEXT, "context", "EIDER_CONTEXT")                                                         \
    X(LOG_LEVEL, "log_level", "EIDER_LOG_LEVEL")                                                   \
    X(LOG_FORMAT, "log_format", "EIDER_LOG_FORMAT")

enum setting_key {
#define X(name, key, environment) SETTING_##name,
    SETTING_MAP(X)
#undef X
        SETTING_COUNT
};

struct setting {
    const char *key;
    const char *environment;
    const char *flag; /* "--store", or NULL */
    enum setting_type type;
    const char *otherwise; /* the default, as text; NULL: given by the program */
    int64_t least, most;   /* bounds of numbers, in the unit of the value */
    const char *choices;   /* "a b c" for SETTING_CHOICE */
    const char *help;
};

extern const struct setting SETTINGS[SETTING_COUNT];

/* Parts of a project file that other readers look at. */
enum { SETTING_SECTIONS_COUNT = 3 };
extern const char *const SETTING_SECTIONS[SETTING_SECTIONS_COUNT];

enum setting_origin {
    ORIGIN_DEFAULT,
    ORIGIN_USER,
    ORIGIN_PROJECT,
    ORIGIN_ENVIRONMENT,
    ORIGIN_FLAG,
    ORIGIN_CONTEXT, /* of a server that the user works with */
    ORIGIN_COUNT
};

struct settings {
    struct {
        char *text;     /* as written; "" when there is neither value nor default */
        int64_t number; /* of integers, booleans, durations (ms), sizes (bytes) */
        enum setting_origin origin;
    } values[SETTING_COUNT];
};

struct settings_layers {
    const json_t *flags;      /* key to text; NULL: none */
    const json_t *project;    /* content of eider.yaml; NULL: no such file */
    const char *project_path; /* for error texts */
    const json_t *user;       /* the same for the user's file */
    const char *user_path;
    const char *(*environment)(void *context, const char *name); /* NULL: nothing is set */
    void *environment_context;
    const char *defaults[SETTING_COUNT]; /* those that depend on the machine; NULL: the row's */
};

/*
 * Fills *out. STATUS_INVALID says which place has which problem: an unknown key, a text that is
 * no value of its type, a number out of bounds.
 */
NODISCARD enum status settings_resolve(const struct settings_layers *layers, struct settings *out,
                                       struct err *err);
void settings_fini(struct settings *settings); /* twice is fine */

const char *settings_text(const struct settings *settings, enum setting_key key);
int64_t settings_number(const struct settings *settings, enum setting_key key);

/* {"key", "value", "origin", "environment", "flag", "help"} of one setting; a new reference. */
NODISCARD json_t *settings_describe(const struct settings *settings, enum setting_key key);
/* Another value for a text or a path, from where the layers do not reach. */
void settings_put(struct settings *settings, enum setting_key key, const char *text,
                  enum setting_origin origin);
/* Whether it is the user's own affair: a project may not say to whom a user's token goes. */
bool setting_is_personal(enum setting_key key);
/* True and *out if there is such a key. */
NODISCARD bool setting_parse_key(const char *key, enum setting_key *out);
const char *setting_origin_name(enum setting_origin origin);
