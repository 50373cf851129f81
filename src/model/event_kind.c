#include "model/event_kind.h"

#include "base/check.h"

static const char *const NAMES[] = {
#define X(name, text) [EVENT_##name] = text,
    EVENT_KIND_MAP(X)
#undef X
};
_Static_assert(ARRAY_LEN(NAMES) == EVENT_KIND_COUNT, "every kind has a name");

const char *event_kind_name(enum event_kind kind)
{
    CHECK(kind < EVENT_KIND_COUNT);
    return NAMES[kind];
}
