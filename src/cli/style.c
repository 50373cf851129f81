#include "cli/style.h"

#include <string.h>
#include <strings.h>

#include "base/attrs.h"
#include "base/check.h"
#include "base/str.h"

static const struct {
    const char *symbol;
    const char *plain;
    const char *color;
} STATES[] = {
    [TASK_NONE] = {"○", ".", "\033[2m"},          [TASK_SCHEDULED] = {"○", ".", "\033[2m"},
    [TASK_QUEUED] = {"◌", "o", "\033[36m"},       [TASK_RUNNING] = {"●", "*", "\033[34m"},
    [TASK_SUCCESS] = {"✓", "+", "\033[32m"},      [TASK_FAILED] = {"✗", "x", "\033[31m"},
    [TASK_SKIPPED] = {"→", "-", "\033[35m"},      [TASK_UPSTREAM_FAILED] = {"↯", "!", "\033[33m"},
    [TASK_UP_FOR_RETRY] = {"↻", "r", "\033[33m"}, [TASK_UP_FOR_RESCHEDULE] = {"↻", "r", "\033[36m"},
    [TASK_DEFERRED] = {"◔", "d", "\033[36m"},     [TASK_AWAITING_INPUT] = {"?", "?", "\033[36m"},
    [TASK_CANCELLED] = {"■", "#", "\033[33m"},    [TASK_REMOVED] = {"·", "~", "\033[2m"},
};
_Static_assert(ARRAY_LEN(STATES) == TASK_STATE_COUNT, "every state has a symbol");

static bool locale_is_utf8(const char *(*environment)(void *context, const char *name),
                           void *context)
{
    static const char *const NAMES[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
        const char *value = environment(context, NAMES[i]);
        if (value == NULL || value[0] == '\0')
            continue;
        return strcasestr(value, "utf-8") != NULL || strcasestr(value, "utf8") != NULL;
    }
    return false;
}

struct style style_detect(bool is_terminal, bool no_color,
                          const char *(*environment)(void *context, const char *name),
                          void *context)
{
    const char *asked = environment(context, "NO_COLOR");
    const char *terminal = environment(context, "TERM");
    bool dumb = terminal == NULL || strcmp(terminal, "dumb") == 0;
    bool refused = no_color || (asked != NULL && asked[0] != '\0');
    return (struct style){
        .color = is_terminal && !dumb && !refused,
        .utf8 = locale_is_utf8(environment, context),
    };
}

const char *style_symbol(const struct style *style, enum task_state state)
{
    CHECK(state < TASK_STATE_COUNT);
    return style->utf8 ? STATES[state].symbol : STATES[state].plain;
}

const char *style_color(const struct style *style, enum task_state state)
{
    CHECK(state < TASK_STATE_COUNT);
    return style->color ? STATES[state].color : "";
}

/* What is no state of a task looks like one. */
static const struct {
    const char *name;
    enum task_state like;
} WORDS[] = {
    {"completed", TASK_SUCCESS},     {"claimed", TASK_RUNNING}, {"pending", TASK_QUEUED},
    {"delayed", TASK_UP_FOR_RETRY},  {"READY", TASK_SUCCESS},   {"NOT_READY", TASK_FAILED},
    {"PAUSED", TASK_SKIPPED},        {"active", TASK_SUCCESS},  {"draining", TASK_UP_FOR_RETRY},
    {"stopping", TASK_UP_FOR_RETRY}, {"expired", TASK_FAILED},  {"lost", TASK_FAILED},
    {"left", TASK_SKIPPED},
};

const char *style_color_named(const struct style *style, const char *state)
{
    enum task_state found;
    for (size_t i = 0; i < ARRAY_LEN(WORDS); i++)
        if (strcmp(WORDS[i].name, state) == 0)
            return style_color(style, WORDS[i].like);
    return task_state_parse(state, &found) ? style_color(style, found) : "";
}

const char *style_bold(const struct style *style)
{
    return style->color ? "\033[1m" : "";
}

const char *style_dim(const struct style *style)
{
    return style->color ? "\033[2m" : "";
}

const char *style_reset(const struct style *style)
{
    return style->color ? "\033[0m" : "";
}
