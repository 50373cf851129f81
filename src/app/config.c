#include "app/config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/handler_config.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/limits.h"
#include "os/file.h"
#include "spec/yaml_tree.h"

static const char PROJECT_FILE[] = "eider.yaml";

/* --- files ----------------------------------------------------------------------------------- */

/* A YAML file that holds one map; a missing file gives NULL. */
static enum status load_map(const char *path, json_t **out, struct err *err)
{
    CLEANUP(mem_freep) char *text = NULL;
    size_t length = 0;
    *out = NULL;
    enum status status = file_read(path, LIMIT_FILE_BYTES, &text, &length, err);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (status != STATUS_OK)
        return status;
    CLEANUP(yaml_tree_freep) struct yaml_tree *tree = NULL;
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    tree = yaml_tree_parse(text, length, &diags);
    if (diags.errors > 0)
        return err_set(err, STATUS_INVALID, "%s:%d:%d: %s", path, diags.items[0].line,
                       diags.items[0].column, diags.items[0].text);
    const json_t *root = json_array_get(yaml_tree_documents(tree), 0);
    if (root == NULL || json_is_null(root))
        return STATUS_OK;
    if (!json_is_object(root))
        return err_set(err, STATUS_INVALID, "%s: a map of names to values is expected", path);
    *out = json_deep_copy(root);
    return STATUS_OK;
}

static char *user_file(void)
{
    const char *config = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    if (config != NULL && config[0] == '/')
        return mem_format("%s/eider/eider.yaml", config);
    return mem_format("%s/.config/eider/eider.yaml", home != NULL ? home : "");
}

static const char *environment(void *context, const char *name)
{
    (void)context;
    return getenv(name);
}

/*
 * The project's folder: the nearest one with an eider.yaml, from here upwards. NULL when it is the
 * current folder or there is none; relative names then mean the current folder.
 */
static char *find_project(void)
{
    CLEANUP(mem_freep) char *dir = get_current_dir_name();
    bool is_here = true;
    while (dir != NULL && dir[0] == '/' && dir[1] != '\0') {
        CLEANUP(mem_freep) char *file = file_path_join(dir, PROJECT_FILE);
        if (access(file, F_OK) == 0)
            return is_here ? NULL : TAKE(dir);
        is_here = false;
        char *slash = strrchr(dir, '/');
        slash[slash == dir] = '\0';
    }
    return NULL;
}

static char *in_project(const char *project_dir, const char *name)
{
    return project_dir != NULL ? file_path_join(project_dir, name) : mem_strdup(name);
}

/* Paths that the project file or a default gives belong to the project, wherever one stands. */
static void anchor_path(struct settings *settings, enum setting_key key, const char *project_dir)
{
    enum setting_origin origin = settings->values[key].origin;
    bool is_ours = origin == ORIGIN_PROJECT || origin == ORIGIN_DEFAULT;
    if (project_dir == NULL || !is_ours || settings->values[key].text[0] == '\0')
        return;
    char *path = file_path_join(project_dir, settings->values[key].text);
    free(settings->values[key].text);
    settings->values[key].text = path;
}

static enum status load_settings(const json_t *flags, const char *project_dir, struct settings *out,
                                 struct err *err)
{
    CLEANUP(mem_freep) char *project_path = in_project(project_dir, PROJECT_FILE);
    CLEANUP(mem_freep) char *user_path = user_file();
    CLEANUP(json_decrefp) json_t *project = NULL;
    CLEANUP(json_decrefp) json_t *user = NULL;
    char slots[32];
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    long count = MAX(cores * 4, 8L);
    CHECK(snprintf(slots, sizeof slots, "%ld", count) > 0);
    if (load_map(project_path, &project, err) != STATUS_OK ||
        load_map(user_path, &user, err) != STATUS_OK)
        return err->code;
    struct settings_layers layers = {
        .flags = flags,
        .project = project,
        .project_path = project_path,
        .user = user,
        .user_path = user_path,
        .environment = environment,
        .defaults = {[SETTING_SLOTS] = slots},
    };
    if (settings_resolve(&layers, out, err) != STATUS_OK)
        return err->code;
    anchor_path(out, SETTING_HOME, project_dir);
    anchor_path(out, SETTING_DAGS, project_dir);
    return STATUS_OK;
}

/* --- variables and connections --------------------------------------------------------------- */

/* "API_URL" as "api_url". */
static char *lower_name(const char *from, size_t length)
{
    char *name = mem_strndup(from, length);
    for (char *c = name; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    return name;
}

/* EIDER_VAR_API_URL=x sets "api_url". */
static void add_from_environment(json_t *into, const char *prefix,
                                 json_t *(*convert)(const char *text))
{
    size_t skip = strlen(prefix);
    for (char **entry = environ; *entry != NULL; entry++) {
        const char *equals = strchr(*entry, '=');
        if (!str_starts_with(*entry, prefix) || equals == NULL || equals == *entry + skip)
            continue;
        CLEANUP(mem_freep)
        char *name = lower_name(*entry + skip, (size_t)(equals - *entry) - skip);
        json_put(into, name, convert(equals + 1));
    }
}

static json_t *as_text(const char *text)
{
    return json_text(text, strlen(text));
}

static void put_part(json_t *into, const char *key, const char *from, const char *to)
{
    if (to > from)
        json_put(into, key, json_text(from, (size_t)(to - from)));
}

/* "host:5432"; brackets keep the colons of an address apart from that of the port: "[::1]:5432" */
static void put_host(json_t *into, const char *from, const char *to)
{
    const char *host_end = to;
    if (to > from && *from == '[') {
        host_end = memchr(from, ']', (size_t)(to - from));
        put_part(into, "host", from + 1, host_end != NULL ? host_end : to);
        host_end = host_end != NULL ? host_end + 1 : to;
    } else {
        const char *last = memrchr(from, ':', (size_t)(to - from));
        host_end = last != NULL ? last : to;
        put_part(into, "host", from, host_end);
    }
    const char *colon = host_end < to && *host_end == ':' ? host_end : NULL;
    int64_t port = 0;
    CLEANUP(mem_freep)
    char *digits = colon != NULL ? mem_strndup(colon + 1, (size_t)(to - colon - 1)) : NULL;
    if (digits != NULL && str_parse_i64(digits, 1, 65535, &port))
        json_put_int(into, "port", port);
}

/* host, port and what stands before them: "user:pass@host:5432" */
static void put_authority(json_t *into, const char *from, const char *to)
{
    const char *at = memrchr(from, '@', (size_t)(to - from));
    if (at != NULL) {
        const char *colon = memchr(from, ':', (size_t)(at - from));
        put_part(into, "login", from, colon != NULL ? colon : at);
        if (colon != NULL)
            put_part(into, "password", colon + 1, at);
        from = at + 1;
    }
    put_host(into, from, to);
}

json_t *config_connection_from_url(const char *url)
{
    json_t *connection = json_object();
    const char *scheme_end = strstr(url, "://");
    if (scheme_end == NULL) {
        json_put_string(connection, "host", url);
        return connection;
    }
    put_part(connection, "conn_type", url, scheme_end);
    const char *authority = scheme_end + 3;
    const char *authority_end = authority + strcspn(authority, "/?");
    put_authority(connection, authority, authority_end);
    const char *query = authority_end + strcspn(authority_end, "?");
    if (*authority_end == '/')
        put_part(connection, "schema", authority_end + 1, query);
    if (*query == '?')
        json_put_string(connection, "extra", query + 1);
    json_put_string(connection, "uri", url);
    return connection;
}

static json_t *as_connection(const char *text)
{
    json_t *value = NULL;
    struct err ignored = {0};
    if (text[0] == '{' && json_parse(text, strlen(text), &value, &ignored) == STATUS_OK)
        return value;
    return config_connection_from_url(text);
}

static enum status load_named(const char *file, const char *prefix,
                              json_t *(*convert)(const char *text), json_t **out, struct err *err)
{
    json_t *values = NULL;
    if (load_map(file, &values, err) != STATUS_OK)
        return err->code;
    if (values == NULL)
        values = json_object();
    add_from_environment(values, prefix, convert);
    *out = values;
    return STATUS_OK;
}

/* In a file, too, a connection may be written as a URL. */
static void expand_urls(json_t *connections)
{
    const char *name = NULL;
    json_t *value = NULL;
    void *next = NULL;
    json_object_foreach_safe(connections, next, name, value)
    {
        if (json_is_string(value))
            json_put(connections, name, config_connection_from_url(json_string_value(value)));
    }
}

enum status config_load(const json_t *flags, struct config *out, struct err *err)
{
    struct config config = {0};
    CLEANUP(mem_freep) char *project_dir = find_project();
    CLEANUP(mem_freep) char *variables = in_project(project_dir, "variables.yaml");
    CLEANUP(mem_freep) char *connections = in_project(project_dir, "connections.yaml");
    CLEANUP(mem_freep) char *project = in_project(project_dir, PROJECT_FILE);
    if (load_settings(flags, project_dir, &config.settings, err) != STATUS_OK ||
        handler_config_load(project, &config.handlers, err) != STATUS_OK ||
        load_named(variables, "EIDER_VAR_", as_text, &config.variables, err) != STATUS_OK ||
        load_named(connections, "EIDER_CONN_", as_connection, &config.connections, err) !=
            STATUS_OK) {
        config_fini(&config);
        return err->code;
    }
    expand_urls(config.connections);
    *out = config;
    return STATUS_OK;
}

void config_fini(struct config *config)
{
    settings_fini(&config->settings);
    json_decref(config->variables);
    json_decref(config->connections);
    json_decref(config->handlers);
    config->variables = config->connections = config->handlers = NULL;
}
