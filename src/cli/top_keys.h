#pragma once
/*
 * top_keys: what the keys of the monitor do, as a table. Its help is made from it.
 */
#include <stddef.h>
#include <stdint.h>

enum top_action {
    TOP_UP,
    TOP_DOWN,
    TOP_FAR_UP,
    TOP_FAR_DOWN,
    TOP_FIRST,
    TOP_LAST,
    TOP_OPEN,
    TOP_BACK,
    TOP_LEFT,
    TOP_RIGHT,
    TOP_NEXT_TAB,
    TOP_TAB_BEFORE,
    TOP_TAB, /* by its number */
    TOP_WHY,
    TOP_FILTER,
    TOP_SORT,
    TOP_REVERSE,
    TOP_CHANGE, /* see top_change.c */
    TOP_FASTER,
    TOP_SLOWER,
    TOP_NOW,
    TOP_HELP,
    TOP_QUIT,
    TOP_ACTION_COUNT /* nothing */
};

/* A line of the help. */
struct top_keys_row {
    const char *shown; /* "up k"; NULL: belongs to the row before */
    const char *does;
    enum top_action action;
    uint32_t keys[4]; /* 0: no more */
};

extern const struct top_keys_row TOP_KEYS[];
extern const size_t TOP_KEYS_COUNT;

/* TOP_ACTION_COUNT: the key means nothing. */
enum top_action top_keys_find(uint32_t key);
