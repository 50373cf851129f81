#include "service/principal.h"

#include <string.h>

#include "base/str.h"

static const struct grant ALL = {"*", PERMISSION_ADMIN};
const struct principal PRINCIPAL_LOCAL = {.name = "local", .grants = &ALL, .count = 1};

struct principal principal_copy(struct arena *arena, const struct principal *principal)
{
    struct grant *grants = arena_array(arena, principal->count, sizeof *grants);
    for (size_t i = 0; i < principal->count; i++)
        grants[i] = (struct grant){.space = arena_strdup(arena, principal->grants[i].space),
                                   .role = principal->grants[i].role};
    return (struct principal){.name = arena_strdup(arena, principal->name),
                              .grants = grants,
                              .count = principal->count};
}

enum permission principal_role(const struct principal *principal, const char *space)
{
    enum permission role = PERMISSION_NONE;
    for (size_t i = 0; principal != NULL && i < principal->count; i++) {
        const struct grant *grant = &principal->grants[i];
        bool is_here =
            strcmp(grant->space, "*") == 0 || (space != NULL && str_equal(grant->space, space));
        if (is_here && grant->role > role)
            role = grant->role;
    }
    return role;
}

enum permission principal_best_role(const struct principal *principal)
{
    enum permission role = PERMISSION_NONE;
    for (size_t i = 0; principal != NULL && i < principal->count; i++)
        role = principal->grants[i].role > role ? principal->grants[i].role : role;
    return role;
}
