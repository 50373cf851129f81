#include "worker/keeper_env.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "model/env_name.h"

static bool is_private(const char *entry)
{
    static const char *const PREFIXES[] = {"EIDER_STORE=", "EIDER_SECRET_KEY="};
    for (size_t i = 0; i < ARRAY_LEN(PREFIXES); i++)
        if (str_starts_with(entry, PREFIXES[i]))
            return true;
    CLEANUP(mem_freep) char *variable = mem_strndup(entry, strcspn(entry, "="));
    enum env_kind kind = ENV_KIND_COUNT;
    CLEANUP(mem_freep) char *name = env_name_parse(variable, &kind);
    return name != NULL && kind != ENV_VARIABLE;
}

const char **keeper_env_new(void)
{
    size_t count = 0;
    while (environ[count] != NULL)
        count++;
    const char **env = mem_zalloc(count + 1, sizeof *env);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_private(environ[i]))
            env[kept++] = environ[i];
    return env;
}
