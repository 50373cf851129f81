#include "app/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/handler_config.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "client/contexts.h"
#include "model/limits.h"
#include "model/task_token.h"
#include "os/file.h"
#include "os/privacy.h"
#include "spec/yaml_tree.h"

static const char PROJECT_FILE[] = "eider.yaml";
static const char KEY_VARIABLE[] = "EIDER_SECRET_KEY";

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

static void anchor_below_home(struct settings *settings, enum setting_key key)
{
    char *path = file_path_join(settings_text(settings, SETTING_HOME), settings->values[key].text);
    free(settings->values[key].text);
    settings->values[key].text = path;
}

/* --- the server ------------------------------------------------------------------------------ */

/*
 * What the context says in the place of what is not said, or by less than `least`: a token goes
 * with the server that it was given for.
 */
static void take_context(struct settings *settings, const struct context *context,
                         enum setting_origin least)
{
    const struct {
        enum setting_key key;
        const char *text;
    } parts[] = {
        {SETTING_SERVER, context->server},
        {SETTING_TOKEN, context->token},
        {SETTING_CA_FILE, context->ca_file},
        {SETTING_CONTEXT, context->name},
    };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        bool is_said = settings_text(settings, parts[i].key)[0] != '\0' &&
                       settings->values[parts[i].key].origin >= least;
        if (!is_said && parts[i].text[0] != '\0')
            settings_put(settings, parts[i].key, parts[i].text, ORIGIN_CONTEXT);
    }
}

/* The server that is named, unless a context is named by more. */
static bool names_server(const struct settings *settings)
{
    bool has_name = settings_text(settings, SETTING_CONTEXT)[0] != '\0';
    return settings_text(settings, SETTING_SERVER)[0] != '\0' &&
           !(has_name &&
             settings->values[SETTING_CONTEXT].origin > settings->values[SETTING_SERVER].origin);
}

/*
 * Which server commands talk to: the one that is named, else that of the context that is named,
 * else that of the context in use. `off` ends the search.
 */
static enum status choose_server(struct settings *settings, struct err *err)
{
    CLEANUP(mem_freep) char *path = contexts_path(environment, NULL);
    CLEANUP(contexts_fini) struct contexts contexts = {0};
    const struct context *context = NULL;
    const char *server = settings_text(settings, SETTING_SERVER);
    const char *name = settings_text(settings, SETTING_CONTEXT);
    bool is_by_url = names_server(settings);
    if (str_equal(is_by_url ? server : name, "off")) {
        settings_put(settings, SETTING_SERVER, "off", settings->values[SETTING_SERVER].origin);
        return STATUS_OK;
    }
    if (contexts_load(path, &contexts, err) != STATUS_OK)
        return err->code;
    if (name[0] == '\0' && contexts.current != NULL)
        name = contexts.current;
    if (is_by_url)
        context = contexts_find_server(&contexts, server);
    else if (name[0] != '\0' && contexts_need(&contexts, name, &context, err) != STATUS_OK)
        return err->code;
    if (context != NULL)
        take_context(settings, context,
                     is_by_url ? settings->values[SETTING_SERVER].origin : ORIGIN_FLAG);
    return STATUS_OK;
}

/* What a task was given is for the server that it was told of, and for no other. */
static void keep_task_token(struct settings *settings)
{
    const char *api = getenv("EIDER_API");
    if (settings->values[SETTING_TOKEN].origin == ORIGIN_ENVIRONMENT &&
        str_starts_with(settings_text(settings, SETTING_TOKEN), TASK_TOKEN_PREFIX) &&
        !contexts_is_same_server(settings_text(settings, SETTING_SERVER), api != NULL ? api : ""))
        settings_put(settings, SETTING_TOKEN, "", ORIGIN_DEFAULT);
}

static enum status load_settings(const json_t *flags, const char *project_dir, struct settings *out,
                                 struct err *err)
{
    CLEANUP(mem_freep) char *project_path = in_project(project_dir, PROJECT_FILE);
    CLEANUP(mem_freep) char *user_path = user_file();
    CLEANUP(json_decrefp) json_t *project = NULL;
    CLEANUP(json_decrefp) json_t *user = NULL;
    char slots[32];
    char machine[256] = "";
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    long count = MAX(cores * 4, 8L);
    CHECK(snprintf(slots, sizeof slots, "%ld", count) > 0);
    if (gethostname(machine, sizeof machine - 1) != 0 || machine[0] == '\0')
        CHECK(snprintf(machine, sizeof machine, "localhost") > 0);
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
        .defaults = {[SETTING_SLOTS] = slots,
                     [SETTING_HOST_NAME] = machine,
                     /* Where systemd passes credentials (LoadCredential=). */
                     [SETTING_SECRETS_DIR] = getenv("CREDENTIALS_DIRECTORY")},
    };
    if (settings_resolve(&layers, out, err) != STATUS_OK)
        return err->code;
    anchor_path(out, SETTING_HOME, project_dir);
    anchor_path(out, SETTING_DAGS, project_dir);
    anchor_path(out, SETTING_SECRETS_DIR, project_dir);
    anchor_below_home(out, SETTING_SECRET_KEY_FILE);
    if (choose_server(out, err) == STATUS_OK) {
        keep_task_token(out);
        return STATUS_OK;
    }
    settings_fini(out);
    return err->code;
}

/* --- variables and connections --------------------------------------------------------------- */

/* Entries of a file, an object; without the file an empty one. */
static enum status load_named(const char *file, json_t **out, struct err *err)
{
    json_t *values = NULL;
    if (load_map(file, &values, err) != STATUS_OK)
        return err->code;
    *out = values != NULL ? values : json_object();
    return STATUS_OK;
}

/* From here on the key is in this process alone, not in what others can read of it. */
static void take_key(struct config *config)
{
    const char *key = getenv(KEY_VARIABLE);
    if (key == NULL || key[0] == '\0')
        return;
    config->secret_key = secret_value_new(key, strlen(key));
    privacy_begin();
    privacy_forget_variable(KEY_VARIABLE);
}

static void fill_vault(struct config *config)
{
    config->vault = (struct vault_sources){
        .environment = environ,
        .variables = config->variables,
        .connections = config->connections,
        .secrets_dir = settings_text(&config->settings, SETTING_SECRETS_DIR),
        .key_text = config->secret_key.bytes,
        .key_file = settings_text(&config->settings, SETTING_SECRET_KEY_FILE),
    };
}

static enum status load_hooks(const struct settings *settings, struct house_hooks **out,
                              struct err *err)
{
    const char *text = settings_text(settings, SETTING_HOOKS);
    CLEANUP(json_decrefp) json_t *map = NULL;
    *out = NULL;
    if (text[0] == '\0')
        return STATUS_OK;
    if (json_parse(text, strlen(text), &map, err) != STATUS_OK ||
        house_hooks_read(map, out, err) != STATUS_OK)
        return err_wrap(err, "setting 'hooks' (%s)",
                        setting_origin_name(settings->values[SETTING_HOOKS].origin));
    return STATUS_OK;
}

enum status config_load(const json_t *flags, struct config *out, struct err *err)
{
    struct config config = {0};
    CLEANUP(mem_freep) char *project_dir = find_project();
    CLEANUP(mem_freep) char *variables = in_project(project_dir, "variables.yaml");
    CLEANUP(mem_freep) char *connections = in_project(project_dir, "connections.yaml");
    CLEANUP(mem_freep) char *project = in_project(project_dir, PROJECT_FILE);
    if (load_settings(flags, project_dir, &config.settings, err) != STATUS_OK ||
        load_hooks(&config.settings, &config.hooks, err) != STATUS_OK ||
        handler_config_load(project, &config.handlers, err) != STATUS_OK ||
        load_named(variables, &config.variables, err) != STATUS_OK ||
        load_named(connections, &config.connections, err) != STATUS_OK) {
        config_fini(&config);
        return err->code;
    }
    take_key(&config);
    *out = config;
    fill_vault(out);
    return STATUS_OK;
}

void config_fini(struct config *config)
{
    settings_fini(&config->settings);
    json_decref(config->variables);
    json_decref(config->connections);
    json_decref(config->handlers);
    house_hooks_free(config->hooks);
    secret_value_fini(&config->secret_key);
    config->variables = config->connections = config->handlers = NULL;
    config->hooks = NULL;
}
