#include "model/kind.h"

#include <string.h>

#include "base/check.h"

static const struct {
    const char *key;
    bool available;
} KINDS[] = {
#define X(name, key, available) [KIND_##name] = {key, available},
    TASK_KIND_MAP(X)
#undef X
};
_Static_assert(ARRAY_LEN(KINDS) == KIND_COUNT, "every kind has a row");

const char *task_kind_key(enum task_kind kind)
{
    CHECK(kind < KIND_COUNT);
    return KINDS[kind].key;
}

bool task_kind_is_available(enum task_kind kind)
{
    CHECK(kind < KIND_COUNT);
    return KINDS[kind].available;
}

bool task_kind_is_inline(enum task_kind kind)
{
    return kind == KIND_NOOP || kind == KIND_BRANCH || kind == KIND_SHORT_CIRCUIT;
}

bool task_kind_parse(const char *key, enum task_kind *out)
{
    for (enum task_kind kind = 0; kind < KIND_COUNT; kind++) {
        if (strcmp(KINDS[kind].key, key) == 0) {
            *out = kind;
            return true;
        }
    }
    return false;
}
