#include "model/permission.h"

#include <string.h>

#include "base/check.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "model/dag.h"

enum { GRANTS_BYTES_MAX = 64 * 1024, USER_NAME_MAX = 64 };

static const char *const NAMES[] = {
#define X(name, text) [PERMISSION_##name] = (text),
    PERMISSION_MAP(X)
#undef X
};

const char *permission_name(enum permission permission)
{
    CHECK(permission < PERMISSION_COUNT);
    return NAMES[permission];
}

bool permission_parse(const char *name, enum permission *out)
{
    for (int i = PERMISSION_NONE + 1; i < PERMISSION_COUNT; i++) {
        if (str_equal(NAMES[i], name)) {
            *out = (enum permission)i;
            return true;
        }
    }
    return false;
}

/* --- texts ----------------------------------------------------------------------------------- */

enum status grant_parse(struct arena *arena, const char *word, struct grant *out, struct err *err)
{
    const char *equals = strchr(word, '=');
    const char *role = equals != NULL ? equals + 1 : word;
    const char *space = equals != NULL ? arena_strndup(arena, word, (size_t)(equals - word)) : "*";
    struct grant grant = {.space = space};
    if (!permission_parse(role, &grant.role))
        return err_set(err, STATUS_INVALID,
                       "'%.60s' is no role: there are viewer, operator, editor and admin, as in "
                       "sales=editor, or *=viewer for all namespaces",
                       role);
    if (!str_equal(space, "*") && !dag_name_is_valid(space))
        return err_set(err, STATUS_INVALID, "'%.60s' cannot be the name of a namespace: %s", space,
                       DAG_NAME_RULE);
    *out = grant;
    return STATUS_OK;
}

static void put_grant(struct grants *grants, struct grant grant)
{
    for (size_t i = 0; i < grants->count; i++) {
        if (str_equal(grants->items[i].space, grant.space)) {
            grants->items[i].role = grant.role;
            return;
        }
    }
    grants->items[grants->count++] = grant;
}

static size_t count_words(const char *text)
{
    size_t count = 0;
    for (const char *at = text + strspn(text, " "); *at != '\0'; at += strspn(at, " ")) {
        at += strcspn(at, " ");
        count++;
    }
    return count;
}

enum status grants_parse(struct arena *arena, const char *text, struct grants *out, struct err *err)
{
    size_t room = count_words(text);
    if (room > GRANTS_MAX)
        return err_set(err, STATUS_LIMIT, "nobody has more than %d grants", GRANTS_MAX);
    struct grants grants = {.items = arena_array(arena, room + 1, sizeof *grants.items)};
    for (const char *at = text + strspn(text, " "); *at != '\0'; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        struct grant grant = {0};
        if (grant_parse(arena, arena_strndup(arena, at, length), &grant, err) != STATUS_OK)
            return err->code;
        put_grant(&grants, grant);
        at += length;
    }
    *out = grants;
    return STATUS_OK;
}

const char *grants_format(struct arena *arena, const struct grants *grants)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, GRANTS_BYTES_MAX);
    for (size_t i = 0; i < grants->count; i++)
        strbuf_addf(&text, "%s%s=%s", i > 0 ? " " : "", grants->items[i].space,
                    permission_name(grants->items[i].role));
    CHECK(!text.overflow);
    return arena_strdup(arena, text.text);
}

/* --- decisions ------------------------------------------------------------------------------- */

enum permission grants_role(const struct grant *grants, size_t count, const char *space)
{
    enum permission role = PERMISSION_NONE;
    for (size_t i = 0; i < count; i++) {
        bool is_here = strcmp(grants[i].space, "*") == 0 ||
                       (space != NULL && str_equal(grants[i].space, space));
        if (is_here && grants[i].role > role)
            role = grants[i].role;
    }
    return role;
}

/* In each namespace that one of the two names, the lesser of the two roles. */
static void cut_by(struct grants *out, const struct grants *named, const struct grants *by)
{
    for (size_t i = 0; i < named->count; i++) {
        const char *space = named->items[i].space;
        const char *where = str_equal(space, "*") ? NULL : space;
        enum permission one = grants_role(named->items, named->count, where);
        enum permission other = grants_role(by->items, by->count, where);
        enum permission role = one < other ? one : other;
        if (role != PERMISSION_NONE)
            put_grant(out, (struct grant){space, role});
    }
}

struct grants grants_cut(struct arena *arena, const struct grants *one, const struct grants *other)
{
    struct grants out = {.items =
                             arena_array(arena, one->count + other->count + 1, sizeof *out.items)};
    cut_by(&out, one, other);
    cut_by(&out, other, one);
    return out;
}

enum status user_check_name(const char *name, struct err *err)
{
    /* As they sign what they do by themselves, and as strangers are signed. */
    static const char *const TAKEN[] = {
        "schedule", "scheduler", "backfill", "timeout", "retention", "webhook", "sla",
        "local",    "somebody",  "host",     "token",   "worker",    "task",    "job"};
    if (!dag_name_is_valid(name) || strlen(name) > USER_NAME_MAX)
        return err_set(err, STATUS_INVALID,
                       "nobody can be called '%.100s': a name has letters, digits, '_', '-' and "
                       "'.', starts with a letter or digit, and is at most %d long",
                       name, USER_NAME_MAX);
    for (size_t i = 0; i < ARRAY_LEN(TAKEN); i++)
        if (str_equal(TAKEN[i], name))
            return err_set(err, STATUS_INVALID,
                           "nobody can be called '%s': a part of the program signs with it", name);
    return STATUS_OK;
}
