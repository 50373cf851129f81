#include "model/env_name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"

/* Ours first. */
static const char *const PREFIXES[ENV_KIND_COUNT][ENV_NAMES] = {
    [ENV_VARIABLE] = {"EIDER_VAR_", "AIRFLOW_VAR_"},
    [ENV_CONNECTION] = {"EIDER_CONN_", "AIRFLOW_CONN_"},
    [ENV_SECRET] = {"EIDER_SECRET_", NULL},
};

/* Settings that look like secrets. */
static bool is_setting(const char *variable)
{
    return strcmp(variable, "EIDER_SECRET_KEY") == 0 ||
           strcmp(variable, "EIDER_SECRET_KEY_FILE") == 0;
}

static char to_variable(char c)
{
    return c == '-' || c == '.' ? '_' : (char)toupper((unsigned char)c);
}

static bool is_allowed(char c)
{
    return c == '_' || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* NULL: it has characters that a variable cannot have. */
static char *to_upper(const char *prefix, const char *name)
{
    CLEANUP(mem_freep) char *variable = mem_format("%s%s", prefix, name);
    for (char *c = variable + strlen(prefix); *c != '\0'; c++) {
        *c = to_variable(*c);
        if (!is_allowed(*c))
            return NULL;
    }
    return TAKE(variable);
}

bool env_names(enum env_kind kind, const char *name, char *out_names[ENV_NAMES])
{
    CHECK(kind < ENV_KIND_COUNT);
    char *ours = name[0] == '\0' ? NULL : to_upper(PREFIXES[kind][0], name);
    if (ours == NULL || is_setting(ours)) {
        free(ours);
        return false;
    }
    out_names[0] = ours;
    out_names[1] = PREFIXES[kind][1] == NULL ? NULL : to_upper(PREFIXES[kind][1], name);
    return true;
}

/* What follows the prefix, in lower case; NULL: it is another variable. */
static char *after_prefix(const char *variable, const char *prefix)
{
    if (prefix == NULL || !str_starts_with(variable, prefix) || variable[strlen(prefix)] == '\0')
        return NULL;
    char *name = mem_strdup(variable + strlen(prefix));
    for (char *c = name; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    return name;
}

char *env_name_parse(const char *variable, enum env_kind *out_kind)
{
    if (is_setting(variable))
        return NULL;
    for (enum env_kind kind = 0; kind < ENV_KIND_COUNT; kind++) {
        for (size_t i = 0; i < ENV_NAMES; i++) {
            char *name = after_prefix(variable, PREFIXES[kind][i]);
            if (name == NULL)
                continue;
            *out_kind = kind;
            return name;
        }
    }
    return NULL;
}
