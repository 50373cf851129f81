#pragma once
/*
 * style: symbols and colours of states, with and without UTF-8 and colour.
 */
#include <stdbool.h>

#include "model/task_state.h"

struct style {
    bool color;
    bool utf8;
};

/* What a terminal allows: NO_COLOR, TERM=dumb and the locale's character set. */
struct style style_detect(bool is_terminal, bool no_color,
                          const char *(*environment)(void *context, const char *name),
                          void *context);

/* One column wide. */
const char *style_symbol(const struct style *style, enum task_state state);
/* Escape sequence that starts a state's colour; "" without colour. */
const char *style_color(const struct style *style, enum task_state state);
/* The same by name, for states of tasks and runs alike; "" for unknown names. */
const char *style_color_named(const struct style *style, const char *state);
const char *style_bold(const struct style *style);
const char *style_dim(const struct style *style);
/* Ends any of them. */
const char *style_reset(const struct style *style);
