#include "service/principal.h"

#include <string.h>

#include "base/str.h"
#include "base/strbuf.h"

enum { SPACES_BYTES_MAX = 64 * 1024 };

static const struct grant ALL = {"*", PERMISSION_ADMIN};
const struct principal PRINCIPAL_LOCAL = {
    .name = "local", .grants = &ALL, .count = 1, .is_local = true};

struct principal principal_copy(struct arena *arena, const struct principal *principal)
{
    struct grant *grants = arena_array(arena, principal->count, sizeof *grants);
    for (size_t i = 0; i < principal->count; i++)
        grants[i] = (struct grant){.space = arena_strdup(arena, principal->grants[i].space),
                                   .role = principal->grants[i].role};
    struct principal copy = *principal;
    copy.name = arena_strdup(arena, principal->name);
    copy.grants = grants;
    copy.user = arena_strdup_null(arena, principal->user);
    copy.queues = arena_strdup_null(arena, principal->queues);
    return copy;
}

enum permission principal_role(const struct principal *principal, const char *space)
{
    return principal != NULL ? grants_role(principal->grants, principal->count, space)
                             : PERMISSION_NONE;
}

enum permission principal_best_role(const struct principal *principal)
{
    enum permission role = PERMISSION_NONE;
    for (size_t i = 0; principal != NULL && i < principal->count; i++)
        role = principal->grants[i].role > role ? principal->grants[i].role : role;
    return role;
}

bool principal_covers(const struct principal *one, const struct principal *other)
{
    for (size_t i = 0; i < other->count; i++) {
        const char *space = other->grants[i].space;
        if (principal_role(one, str_equal(space, "*") ? NULL : space) < other->grants[i].role)
            return false;
    }
    return true;
}

bool principal_sees(const struct principal *principal, const char *space)
{
    return principal_role(principal, space != NULL ? space : "default") >= PERMISSION_VIEWER;
}

bool principal_sees_all(const struct principal *principal)
{
    return principal_role(principal, NULL) >= PERMISSION_VIEWER;
}

bool principal_is_worker(const struct principal *principal)
{
    return principal != NULL && principal->queues != NULL;
}

bool principal_serves(const struct principal *principal, const char *queue)
{
    if (!principal_is_worker(principal))
        return false;
    size_t length = strlen(queue);
    for (const char *at = principal->queues; *at != '\0'; at += strspn(at, " ")) {
        size_t word = strcspn(at, " ");
        if ((word == 1 && *at == '*') || (word == length && strncmp(at, queue, length) == 0))
            return true;
        at += word;
    }
    return false;
}

const char *principal_spaces(struct arena *arena, const struct principal *principal)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    if (principal_sees_all(principal))
        return "";
    strbuf_init(&text, SPACES_BYTES_MAX);
    strbuf_add(&text, " ");
    for (size_t i = 0; principal != NULL && i < principal->count; i++)
        if (principal->grants[i].role >= PERMISSION_VIEWER)
            strbuf_addf(&text, " %s ", principal->grants[i].space);
    strbuf_add(&text, " ");
    return arena_strdup(arena, text.text);
}
