#include "model/settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/house_hooks.h"
#include "model/store_url.h"

#define ROW(name) [SETTING_##name]
#define MIB       ((int64_t)1 << 20)
#define GIB       ((int64_t)1 << 30)
/* A hundred years: more than anybody keeps anything. */
#define FOR_EVER_MS ((int64_t)100 * 366 * 86400000)

/* Fenced off because a table is read by column. */
/* clang-format off */
const struct setting SETTINGS[SETTING_COUNT] = {
    ROW(HOME) = {"home", "EIDER_HOME", "--home", SETTING_PATH, ".eider", 0, 0, NULL,
        "state directory: store, logs, values"},
    ROW(STORE) = {"store", "EIDER_STORE", "--store", SETTING_TEXT, "sqlite:eider.db", 0, 0, NULL,
        "where state is kept; a relative path is below `home`"},
    ROW(DAGS) = {"dags", "EIDER_DAGS", "--dags", SETTING_PATH, "dags", 0, 0, NULL,
        "folder of DAG files, relative to the project file"},
    ROW(DAGS_RESCAN) = {"dags_rescan", "EIDER_DAGS_RESCAN", NULL, SETTING_DURATION, "60s", 100,
        86400000, NULL, "how often a daemon looks at all DAG files, heard of changes or not"},
    ROW(SLOTS) = {"slots", "EIDER_SLOTS", "--slots", SETTING_INTEGER, NULL, 1, 100000, NULL,
        "tasks that run at once on this machine; by default from the number of cores"},
    ROW(OUTPUT_BYTES) = {"output_bytes", "EIDER_OUTPUT_BYTES", NULL, SETTING_SIZE, "256MiB",
        4096, 1024 * GIB, NULL, "log kept per attempt, unless the task says otherwise"},
    ROW(GRACE) = {"grace", "EIDER_GRACE", NULL, SETTING_DURATION, "10s", 0, 86400000, NULL,
        "between TERM and KILL, unless the task says otherwise"},
    ROW(BUSY_TIMEOUT) = {"busy_timeout", "EIDER_BUSY_TIMEOUT", NULL, SETTING_DURATION, "10s",
        0, 3600000, NULL, "how long to wait for a store that others hold"},
    ROW(HOST_NAME) = {"host_name", "EIDER_HOST_NAME", "--host-name", SETTING_TEXT, NULL, 0, 0, NULL,
        "name of this host among those of its store; by default the machine's"},
    ROW(LABELS) = {"labels", "EIDER_LABELS", "--labels", SETTING_TEXT, NULL, 0, 0, NULL,
        "words that tasks may ask for in a host, separated by commas"},
    ROW(QUEUES) = {"queues", "EIDER_QUEUES", "--queues", SETTING_TEXT, NULL, 0, 0, NULL,
        "queues that this host serves, separated by commas; all by default"},
    ROW(ROLES) = {"roles", "EIDER_ROLES", "--roles", SETTING_TEXT, "scheduler,worker,api", 0, 0,
        NULL, "what `eider up` does: scheduler, worker, api"},
    ROW(FLEET) = {"fleet", "EIDER_FLEET", NULL, SETTING_TEXT, "default", 0, 0, NULL,
        "name of the fleet; a store belongs to one"},
    ROW(CLAIM_RATIO) = {"claim_ratio", "EIDER_CLAIM_RATIO", NULL, SETTING_INTEGER, "80", 1, 100,
        NULL, "percent of the slots that `eider up` fills"},
    ROW(CPU_MOST) = {"cpu_most", "EIDER_CPU_MOST", NULL, SETTING_INTEGER, "1000", 1, 1000000,
        NULL, "percent of load (100: all cores) from which `eider up` claims nothing more"},
    ROW(MEMORY_MOST) = {"memory_most", "EIDER_MEMORY_MOST", NULL, SETTING_INTEGER, "95", 1, 100,
        NULL, "percent of memory in use from which `eider up` claims nothing more"},
    ROW(LEASE) = {"lease", "EIDER_LEASE", NULL, SETTING_DURATION, "30s", 500, 86400000, NULL,
        "how long a host of a fleet may be silent before its tasks are taken back"},
    ROW(RENEW) = {"renew", "EIDER_RENEW", NULL, SETTING_DURATION, "10s", 100, 86400000, NULL,
        "how often the lease is renewed; at most a third of it"},
    ROW(MARGIN) = {"margin", "EIDER_MARGIN", NULL, SETTING_DURATION, "5s", 0, 86400000, NULL,
        "so long before its lease ends a host has ended its tasks"},
    ROW(SWEEP) = {"sweep", "EIDER_SWEEP", NULL, SETTING_DURATION, "5s", 100, 86400000, NULL,
        "how often to look for hosts that are gone"},
    ROW(SWEEP_BY) = {"sweep_by", "EIDER_SWEEP_BY", NULL, SETTING_CHOICE, "leader", 0, 0,
        "leader every", "who takes back what lost hosts held: the oldest host, or every one"},
    ROW(POLL) = {"poll", "EIDER_POLL", NULL, SETTING_DURATION, "5s", 50, 86400000, NULL,
        "how often to look for work that nobody told of"},
    ROW(STORE_IDLE) = {"store_idle", "EIDER_STORE_IDLE", NULL, SETTING_DURATION, "30s", 100,
        86400000, NULL, "how long `eider up` keeps a connection to PostgreSQL that it does not use"},
    ROW(DAGS_PAUSED_AT_CREATION) = {"dags_paused_at_creation", "EIDER_DAGS_PAUSED_AT_CREATION",
        NULL, SETTING_BOOLEAN, "false", 0, 1, NULL,
        "DAGs that are seen for the first time wait for `eider dags unpause`"},
    ROW(BACKFILL_APPROVAL) = {"backfill_approval", "EIDER_BACKFILL_APPROVAL", NULL,
        SETTING_INTEGER, "1000", 0, 1000000, NULL,
        "a backfill with more dates waits for `eider backfill approve`; 0: none does"},
    ROW(BACKFILL_MAX) = {"backfill_max", "EIDER_BACKFILL_MAX", NULL, SETTING_INTEGER, "100000", 1,
        1000000, NULL, "a backfill with more dates is refused"},
    ROW(BACKFILL_QUEUE) = {"backfill_queue", "EIDER_BACKFILL_QUEUE", NULL, SETTING_TEXT, NULL, 0, 0,
        NULL, "queue of backfills that name none; none by default: the tasks' own"},
    ROW(DRAIN_GRACE) = {"drain_grace", "EIDER_DRAIN_GRACE", NULL, SETTING_DURATION, "30s", 0,
        86400000, NULL, "how long a stop waits for running tasks before it gives them back"},
    ROW(POKE_MAX) = {"poke_max", "EIDER_POKE_MAX", NULL, SETTING_DURATION, "0s", 0, 86400000, NULL,
        "how long a sensor with `mode: poke` may keep its slot; 0s: no bound"},
    ROW(TRIGGER_CHAIN) = {"trigger_chain", "EIDER_TRIGGER_CHAIN", NULL, SETTING_INTEGER, "100", 1,
        1000000, NULL, "how many runs in a row may start each other by events within an hour"},
    ROW(SECRET_KEY_FILE) = {"secret_key_file", "EIDER_SECRET_KEY_FILE", NULL, SETTING_PATH,
        "secret.key", 0, 0, NULL,
        "the key that secrets are sealed with, unless EIDER_SECRET_KEY holds it; a relative path is "
        "below `home`"},
    ROW(SECRETS_DIR) = {"secrets_dir", "EIDER_SECRETS_DIR", NULL, SETTING_PATH, NULL, 0, 0, NULL,
        "folder with a file for each secret; by default the one that systemd passes credentials in"},
    ROW(KEEP_RUNS) = {"keep_runs", "EIDER_KEEP_RUNS", NULL, SETTING_DURATION, "365d", 0,
        FOR_EVER_MS, NULL, "how long runs are kept after their end; 0: for ever"},
    ROW(KEEP_RUNS_PER_DAG) = {"keep_runs_per_dag", "EIDER_KEEP_RUNS_PER_DAG", NULL,
        SETTING_INTEGER, "0", 0, 1000000000, NULL, "how many runs of a DAG are kept; 0: all"},
    ROW(KEEP_LOGS) = {"keep_logs", "EIDER_KEEP_LOGS", NULL, SETTING_DURATION, "90d", 0,
        FOR_EVER_MS, NULL, "how long logs are kept after their run's end; 0: as long as the run"},
    ROW(KEEP_VALUES) = {"keep_values", "EIDER_KEEP_VALUES", NULL, SETTING_DURATION, "7d", 0,
        FOR_EVER_MS, NULL, "how long values are kept after their run's end; 0: as long as the run"},
    ROW(KEEP_JOBS) = {"keep_jobs", "EIDER_KEEP_JOBS", NULL, SETTING_DURATION, "30d", 0,
        FOR_EVER_MS, NULL, "how long plain jobs are kept after their end; 0: for ever"},
    ROW(KEEP_DEAD) = {"keep_dead", "EIDER_KEEP_DEAD", NULL, SETTING_DURATION, "90d", 0, FOR_EVER_MS,
        NULL, "how long dead letters are kept; 0: until somebody sees to them"},
    ROW(KEEP_MESSAGES) = {"keep_messages", "EIDER_KEEP_MESSAGES", NULL, SETTING_DURATION, "30d", 0,
        FOR_EVER_MS, NULL, "how long messages of hooks are kept once they are settled; 0: for ever"},
    ROW(KEEP_EVENTS) = {"keep_events", "EIDER_KEEP_EVENTS", NULL, SETTING_DURATION, "365d", 0,
        FOR_EVER_MS, NULL, "how long it is known who changed settings in the store; 0: for ever"},
    ROW(HOOKS) = {"hooks", "EIDER_HOOKS", NULL, SETTING_TREE, NULL, 0, 0, NULL,
        "who is told of what happens in any DAG, or in those of a namespace; see alerts.md"},
    ROW(HOOKS_PUBLIC_ONLY) = {"hooks_public_only", "EIDER_HOOKS_PUBLIC_ONLY", NULL,
        SETTING_BOOLEAN, "false", 0, 1, NULL,
        "hooks reach no address inside: loopback, private and link-local networks"},
    ROW(LISTEN) = {"listen", "EIDER_LISTEN", "--listen", SETTING_TEXT, "127.0.0.1:4337", 0, 0, NULL,
        "address of the API, HOST:PORT; `off`: none; port 0: any free one"},
    ROW(LISTEN_ANYWAY) = {"listen_anyway", "EIDER_LISTEN_ANYWAY", NULL, SETTING_BOOLEAN, "false", 0,
        1, NULL, "listen beyond this machine even without users or without TLS"},
    ROW(SESSION_TIME) = {"session_time", "EIDER_SESSION_TIME", NULL, SETTING_DURATION, "12h", 60000,
        FOR_EVER_MS, NULL, "how long somebody who signed in stays so"},
    ROW(WEBHOOK_RATE) = {"webhook_rate", "EIDER_WEBHOOK_RATE", NULL, SETTING_INTEGER, "600", 1, 60000,
        NULL, "calls a minute that each webhook takes over HTTP, all of them at once if they come so"},
    ROW(API_WORKERS) = {"api_workers", "EIDER_API_WORKERS", NULL, SETTING_INTEGER, "4", 1, 64, NULL,
        "requests that are worked on at once; each worker has a connection to the store"},
    ROW(API_CONNECTIONS) = {"api_connections", "EIDER_API_CONNECTIONS", NULL, SETTING_INTEGER,
        "1000", 1, 100000, NULL, "connections to the API at once"},
    ROW(API_CONNECTIONS_PEER) = {"api_connections_peer", "EIDER_API_CONNECTIONS_PEER", NULL,
        SETTING_INTEGER, "600", 1, 100000, NULL, "the same from one address"},
    ROW(API_REQUEST_TIME) = {"api_request_time", "EIDER_API_REQUEST_TIME", NULL, SETTING_DURATION,
        "60s", 1000, 3600000, NULL, "a request that has not arrived whole by then is cut off"},
    ROW(API_BODY) = {"api_body", "EIDER_API_BODY", NULL, SETTING_SIZE, "16MiB", 1024, GIB, NULL,
        "the largest body of a request"},
    ROW(API_URL) = {"api_url", "EIDER_API_URL", NULL, SETTING_TEXT, NULL, 0, 0, NULL,
        "URL of the API that tasks are told (EIDER_API); where this daemon listens by default"},
    ROW(TASK_ROLE) = {"task_role", "EIDER_TASK_ROLE", NULL, SETTING_CHOICE, "operator", 0, 0,
        "none viewer operator editor",
        "what a task may do by the API in the namespace of its DAG; `none`: it gets no token"},
    ROW(TLS_CERTIFICATE) = {"tls_certificate", "EIDER_TLS_CERTIFICATE", NULL, SETTING_PATH, NULL, 0,
        0, NULL, "file with the API's certificate and those that vouch for it (PEM)"},
    ROW(TLS_KEY) = {"tls_key", "EIDER_TLS_KEY", NULL, SETTING_PATH, NULL, 0, 0, NULL,
        "file with the key of the certificate (PEM)"},
    ROW(METRICS_SERIES) = {"metrics_series", "EIDER_METRICS_SERIES", NULL, SETTING_INTEGER, "500", 0,
        100000, NULL, "tasks, DAGs and queues that metrics tell apart, so many of each; others are `other`"},
    ROW(STATSD) = {"statsd", "EIDER_STATSD", NULL, SETTING_TEXT, NULL, 0, 0, NULL,
        "HOST:PORT of a StatsD server that metrics are sent to (UDP); none by default"},
    ROW(STATSD_PREFIX) = {"statsd_prefix", "EIDER_STATSD_PREFIX", NULL, SETTING_TEXT, "eider", 0, 0,
        NULL, "what names begin with there"},
    ROW(STATSD_PERIOD) = {"statsd_period", "EIDER_STATSD_PERIOD", NULL, SETTING_DURATION, "10s", 100,
        3600000, NULL, "how often they are sent"},
    ROW(OTLP_ENDPOINT) = {"otlp_endpoint", "EIDER_OTLP_ENDPOINT", NULL, SETTING_TEXT, NULL, 0, 0, NULL,
        "URL that traces of runs and tasks are sent to (OTLP over HTTP, JSON); none by default"},
    ROW(OTLP_HEADERS) = {"otlp_headers", "EIDER_OTLP_HEADERS", NULL, SETTING_TEXT, NULL, 0, 0, NULL,
        "headers for it: name=value, separated by commas"},
    ROW(SERVER) = {"server", "EIDER_SERVER", "--server", SETTING_TEXT, NULL, 0, 0, NULL,
        "URL of the server that commands talk to; `off`, or none: the store itself"},
    ROW(TOKEN) = {"token", "EIDER_TOKEN", "--token", SETTING_TEXT, NULL, 0, 0, NULL,
        "what shows the server who asks; that of its context by default"},
    ROW(CA_FILE) = {"ca_file", "EIDER_CA_FILE", "--ca-file", SETTING_PATH, NULL, 0, 0, NULL,
        "certificates that vouch for the server (PEM); those of the system by default"},
    ROW(CONTEXT) = {"context", "EIDER_CONTEXT", "--context", SETTING_TEXT, NULL, 0, 0, NULL,
        "name of a server in `eider context list`; the one in use by default, `off`: none"},
    ROW(LOG_LEVEL) = {"log_level", "EIDER_LOG_LEVEL", "--log-level", SETTING_CHOICE, "warn", 0, 0,
        "error warn info debug", "the program's own messages"},
    ROW(LOG_FORMAT) = {"log_format", "EIDER_LOG_FORMAT", "--log-format", SETTING_CHOICE, "text",
        0, 0, "text json", "form of those messages"},
};
/* clang-format on */

const char *const SETTING_SECTIONS[] = {"variables", "connections", "handlers"};

static const char *const ORIGINS[] = {
    [ORIGIN_DEFAULT] = "default",
    [ORIGIN_USER] = "user file",
    [ORIGIN_PROJECT] = "project file",
    [ORIGIN_ENVIRONMENT] = "environment",
    [ORIGIN_FLAG] = "flag",
    [ORIGIN_CONTEXT] = "context",
};
_Static_assert(ARRAY_LEN(ORIGINS) == ORIGIN_COUNT, "every origin has a name");

const char *setting_origin_name(enum setting_origin origin)
{
    CHECK(origin < ORIGIN_COUNT);
    return ORIGINS[origin];
}

bool setting_is_personal(enum setting_key key)
{
    return key == SETTING_SERVER || key == SETTING_TOKEN || key == SETTING_CA_FILE ||
           key == SETTING_CONTEXT;
}

bool setting_parse_key(const char *key, enum setting_key *out)
{
    for (enum setting_key i = 0; i < SETTING_COUNT; i++) {
        if (strcmp(SETTINGS[i].key, key) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

struct unit {
    const char *name;
    int64_t factor;
};

/* A number and one unit of `units`, ended by a row without name. */
static bool parse_with_unit(const char *text, const struct unit *units, int64_t *out)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 18)
        return false;
    CLEANUP(mem_freep) char *number = mem_strndup(text, digits);
    int64_t value = 0;
    if (!str_parse_i64(number, 0, INT64_MAX, &value))
        return false;
    for (const struct unit *unit = units; unit->name != NULL; unit++)
        if (strcmp(text + digits, unit->name) == 0)
            return !__builtin_mul_overflow(value, unit->factor, out);
    return false;
}

static const struct unit DURATION_UNITS[] = {
    {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}, {NULL, 0},
};
static const struct unit SIZE_UNITS[] = {
    {"", 1},
    {"B", 1},
    {"kB", 1000},
    {"KB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"K", 1024},
    {"M", MIB},
    {"G", GIB},
    {"KiB", 1024},
    {"MiB", MIB},
    {"GiB", GIB},
    {"TiB", 1024 * GIB},
    {NULL, 0},
};

static bool parse_boolean(const char *text, int64_t *out)
{
    static const struct {
        const char *text;
        bool value;
    } WORDS[] = {{"true", true}, {"false", false}, {"yes", true}, {"no", false},
                 {"on", true},   {"off", false},   {"1", true},   {"0", false}};
    for (size_t i = 0; i < ARRAY_LEN(WORDS); i++) {
        if (strcmp(WORDS[i].text, text) == 0) {
            *out = WORDS[i].value;
            return true;
        }
    }
    return false;
}

static bool is_choice(const char *choices, const char *text)
{
    size_t length = strlen(text);
    for (const char *at = choices; length > 0 && (at = strstr(at, text)) != NULL; at += length) {
        bool starts = at == choices || at[-1] == ' ';
        bool ends = at[length] == '\0' || at[length] == ' ';
        if (starts && ends)
            return strchr(text, ' ') == NULL;
    }
    return false;
}

static bool is_map(const char *text)
{
    CLEANUP(json_decrefp) json_t *tree = NULL;
    struct err ignored = {0};
    return json_parse(text, strlen(text), &tree, &ignored) == STATUS_OK && json_is_object(tree);
}

static bool parse_number(enum setting_type type, const char *text, int64_t *out)
{
    switch (type) {
    case SETTING_INTEGER:
        return str_parse_i64(text, INT64_MIN, INT64_MAX, out);
    case SETTING_BOOLEAN:
        return parse_boolean(text, out);
    case SETTING_DURATION:
        return parse_with_unit(text, DURATION_UNITS, out);
    case SETTING_SIZE:
        return parse_with_unit(text, SIZE_UNITS, out);
    case SETTING_TEXT:
    case SETTING_PATH:
    case SETTING_CHOICE:
        *out = 0;
        return true;
    case SETTING_TREE:
        *out = 0;
        return is_map(text);
    case SETTING_TYPE_COUNT:
        break;
    }
    check_failed(__FILE__, __LINE__, "a known type of setting");
}

static enum status check_value(const struct setting *setting, const char *text, int64_t *out_number,
                               struct err *err)
{
    static const char *const WANTED[] = {
        [SETTING_TEXT] = "a text",
        [SETTING_PATH] = "a path",
        [SETTING_INTEGER] = "a whole number",
        [SETTING_BOOLEAN] = "true or false",
        [SETTING_DURATION] = "a duration such as 500ms, 30s, 5m, 2h",
        [SETTING_SIZE] = "a size such as 64MiB",
        [SETTING_CHOICE] = "one of the choices",
        [SETTING_TREE] = "a map in JSON",
    };
    int64_t number = 0;
    /* It may hold what nobody should read in a log. */
    if (setting->type == SETTING_TREE && !parse_number(setting->type, text, &number))
        return err_set(err, STATUS_INVALID, "%s: the value is not %s", setting->key,
                       WANTED[setting->type]);
    if (!parse_number(setting->type, text, &number))
        return err_set(err, STATUS_INVALID, "%s: '%s' is not %s", setting->key, text,
                       WANTED[setting->type]);
    if (setting->type == SETTING_CHOICE && !is_choice(setting->choices, text))
        return err_set(err, STATUS_INVALID, "%s: '%s' is none of: %s", setting->key, text,
                       setting->choices);
    bool bounded = setting->least < setting->most;
    if (bounded && (number < setting->least || number > setting->most))
        return err_set(err, STATUS_INVALID, "%s: %s is out of bounds (%lld to %lld)", setting->key,
                       text, (long long)setting->least, (long long)setting->most);
    if ((setting->type == SETTING_PATH || setting->type == SETTING_TEXT) && text[0] == '\0')
        return err_set(err, STATUS_INVALID, "%s: an empty text is no value", setting->key);
    *out_number = number;
    return STATUS_OK;
}

/* A scalar of a settings file as the text that a person would have typed. */
static char *scalar_text(const json_t *value)
{
    if (json_is_string(value))
        return mem_strdup(json_string_value(value));
    if (json_is_object(value) || json_is_array(value) || json_is_null(value))
        return NULL;
    return json_format(value);
}

static const char *key_at(const void *context, size_t i)
{
    (void)context;
    return SETTINGS[i].key;
}

static bool is_section(const char *key)
{
    for (size_t i = 0; i < SETTING_SECTIONS_COUNT; i++)
        if (strcmp(SETTING_SECTIONS[i], key) == 0)
            return true;
    return false;
}

static enum status check_keys(const json_t *file, struct err *err)
{
    if (file == NULL || json_is_null(file))
        return STATUS_OK;
    if (!json_is_object(file))
        return err_set(err, STATUS_INVALID, "settings must be a map of keys and values");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)file, key, value)
    {
        enum setting_key found;
        if (setting_parse_key(key, &found) || is_section(key))
            continue;
        const char *near = str_nearest(key, SETTING_COUNT, key_at, NULL);
        if (near != NULL)
            return err_set(err, STATUS_INVALID, "unknown setting '%s', did you mean '%s'?", key,
                           near);
        return err_set(err, STATUS_INVALID, "unknown setting '%s'", key);
    }
    return STATUS_OK;
}

/* Where a value was found; text is heap. */
struct found {
    char *text;
    enum setting_origin origin;
    const char *place;
};

static void found_fini(struct found *found)
{
    free(found->text);
}

static enum status look_in_file(const json_t *file, enum setting_key key, const char *place,
                                enum setting_origin origin, struct found *found, struct err *err)
{
    const json_t *value = file == NULL ? NULL : json_object_get(file, SETTINGS[key].key);
    if (value == NULL || found->text != NULL)
        return STATUS_OK;
    if (origin == ORIGIN_PROJECT && setting_is_personal(key))
        return err_set(err, STATUS_INVALID,
                       "%s: %s: a project may not say to which server its users' tokens go; it "
                       "belongs into the environment, a context or the user's own file",
                       place, SETTINGS[key].key);
    bool is_tree = SETTINGS[key].type == SETTING_TREE;
    char *text = is_tree && json_is_object(value) ? json_format(value) : scalar_text(value);
    if (text == NULL && is_tree)
        return err_set(err, STATUS_INVALID, "%s: %s: must be a map", place, SETTINGS[key].key);
    if (text == NULL)
        return err_set(err, STATUS_INVALID, "%s: %s: must be a single value", place,
                       SETTINGS[key].key);
    *found = (struct found){.text = text, .origin = origin, .place = place};
    return STATUS_OK;
}

static void look_in_environment(const struct settings_layers *layers, enum setting_key key,
                                struct found *found)
{
    if (found->text != NULL || layers->environment == NULL)
        return;
    const char *name = SETTINGS[key].environment;
    const char *text = layers->environment(layers->environment_context, name);
    if (text != NULL && text[0] != '\0')
        *found = (struct found){mem_strdup(text), ORIGIN_ENVIRONMENT, name};
}

static enum status resolve_one(const struct settings_layers *layers, enum setting_key key,
                               struct settings *out, struct err *err)
{
    const struct setting *setting = &SETTINGS[key];
    const char *flag = setting->flag != NULL ? setting->flag : setting->key;
    const char *project = layers->project_path != NULL ? layers->project_path : "project file";
    const char *user = layers->user_path != NULL ? layers->user_path : "user file";
    CLEANUP(found_fini) struct found found = {0};

    if (look_in_file(layers->flags, key, flag, ORIGIN_FLAG, &found, err) != STATUS_OK)
        return err->code;
    look_in_environment(layers, key, &found);
    if (look_in_file(layers->project, key, project, ORIGIN_PROJECT, &found, err) != STATUS_OK ||
        look_in_file(layers->user, key, user, ORIGIN_USER, &found, err) != STATUS_OK)
        return err->code;
    const char *otherwise = layers->defaults[key];
    if (otherwise == NULL)
        otherwise = setting->otherwise;
    if (found.text == NULL && otherwise == NULL) {
        out->values[key].text = mem_strdup("");
        return STATUS_OK;
    }
    if (found.text == NULL)
        found = (struct found){mem_strdup(otherwise), ORIGIN_DEFAULT, "default"};
    if (check_value(setting, found.text, &out->values[key].number, err) != STATUS_OK)
        return err_wrap(err, "%s", found.place);
    out->values[key].text = TAKE(found.text);
    out->values[key].origin = found.origin;
    return STATUS_OK;
}

enum status settings_resolve(const struct settings_layers *layers, struct settings *out,
                             struct err *err)
{
    if (check_keys(layers->flags, err) != STATUS_OK)
        return err_wrap(err, "flags");
    if (check_keys(layers->project, err) != STATUS_OK)
        return err_wrap(err, "%s", layers->project_path ? layers->project_path : "project file");
    if (check_keys(layers->user, err) != STATUS_OK)
        return err_wrap(err, "%s", layers->user_path ? layers->user_path : "user file");

    struct settings settings = {0};
    for (enum setting_key key = 0; key < SETTING_COUNT; key++) {
        if (resolve_one(layers, key, &settings, err) != STATUS_OK) {
            settings_fini(&settings);
            return err->code;
        }
    }
    *out = settings;
    return STATUS_OK;
}

void settings_fini(struct settings *settings)
{
    for (size_t i = 0; i < SETTING_COUNT; i++)
        free(settings->values[i].text);
    *settings = (struct settings){0};
}

const char *settings_text(const struct settings *settings, enum setting_key key)
{
    CHECK(key < SETTING_COUNT);
    return settings->values[key].text;
}

int64_t settings_number(const struct settings *settings, enum setting_key key)
{
    CHECK(key < SETTING_COUNT);
    return settings->values[key].number;
}

void settings_put(struct settings *settings, enum setting_key key, const char *text,
                  enum setting_origin origin)
{
    CHECK(SETTINGS[key].type == SETTING_TEXT || SETTINGS[key].type == SETTING_PATH);
    char *copy = mem_strdup(text);
    free(settings->values[key].text);
    settings->values[key].text = copy;
    settings->values[key].origin = origin;
}

/* What may hold passwords, without them; heap, NULL: as it is. */
static char *shown_of(enum setting_key key, const char *text)
{
    CLEANUP(json_decrefp) json_t *hooks = NULL;
    struct err ignored = {0};
    bool is_secret = key == SETTING_TOKEN || key == SETTING_OTLP_HEADERS;
    if (is_secret && text != NULL && text[0] != '\0')
        return mem_strdup("***");
    if (key == SETTING_STORE && text != NULL)
        return store_url_shown(text);
    if (key == SETTING_HOOKS && text != NULL &&
        json_parse(text, strlen(text), &hooks, &ignored) == STATUS_OK)
        return house_hooks_shown(hooks);
    return NULL;
}

json_t *settings_describe(const struct settings *settings, enum setting_key key)
{
    const struct setting *setting = &SETTINGS[key];
    json_t *row = json_object();
    CHECK(row != NULL);
    json_put_string(row, "key", setting->key);
    const char *text = settings->values[key].text;
    CLEANUP(mem_freep) char *shown = shown_of(key, text);
    json_put_string(row, "value", shown != NULL ? shown : text);
    json_put_string(row, "origin", setting_origin_name(settings->values[key].origin));
    json_put_string(row, "environment", setting->environment);
    json_put_string(row, "flag", setting->flag);
    json_put_string(row, "help", setting->help);
    return row;
}
