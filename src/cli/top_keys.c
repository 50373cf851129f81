#include "cli/top_keys.h"

#include "base/attrs.h"
#include "cli/top.h"

/* Rows without a text belong to the one before them. Fenced off, as a table is read by column. */
/* clang-format off */
const struct top_keys_row TOP_KEYS[] = {
    {"up down, j k",  "move",                           TOP_UP,         {TOP_KEY_UP, 'k'}},
    {NULL,            NULL,                             TOP_DOWN,       {TOP_KEY_DOWN, 'j'}},
    {"PgUp PgDn",     "move by a screen",               TOP_FAR_UP,     {TOP_KEY_PAGE_UP, 'b'}},
    {NULL,            NULL,                             TOP_FAR_DOWN,   {TOP_KEY_PAGE_DOWN, 'f'}},
    {"Home End, g G", "to the first, to the last",      TOP_FIRST,      {TOP_KEY_HOME, 'g'}},
    {NULL,            NULL,                             TOP_LAST,       {TOP_KEY_END, 'G'}},
    {"1..7, Tab",     "runs, tasks, DAGs, queues, pools, hosts, events", TOP_TAB,
        {'1', '2', '3', '4'}},
    {NULL,            NULL,                             TOP_TAB,        {'5', '6', '7'}},
    {NULL,            NULL,                             TOP_NEXT_TAB,   {TOP_KEY_TAB}},
    {NULL,            NULL,                             TOP_TAB_BEFORE, {TOP_KEY_BACK_TAB}},
    {"Enter, right",  "open: run, task, log; unfold a mapped task", TOP_OPEN, {TOP_KEY_ENTER}},
    {NULL,            NULL,                             TOP_RIGHT,      {TOP_KEY_RIGHT, 'l'}},
    {"Esc, left",     "back; Esc first drops the filter", TOP_BACK,
        {TOP_KEY_ESCAPE, TOP_KEY_BACKSPACE}},
    {NULL,            NULL,                             TOP_LEFT,       {TOP_KEY_LEFT, 'h'}},
    {"e",             "explain why a run or task does or does not run", TOP_WHY, {'e'}},
    {"/",             "filter what is shown",           TOP_FILTER,     {'/'}},
    {"s S",           "sort by the next column, reverse", TOP_SORT,     {'s'}},
    {NULL,            NULL,                             TOP_REVERSE,    {'S'}},
    {"p u",           "pause, unpause: a DAG, a queue; drain, resume a host", TOP_CHANGE,
        {'p', 'u'}},
    {"r",             "retry a run or a task",          TOP_CHANGE,     {'r'}},
    {"x",             "stop a run, a task or a job, with a reason", TOP_CHANGE, {'x'}},
    {"+ -",           "ask more often, less often",     TOP_FASTER,     {'+', '='}},
    {NULL,            NULL,                             TOP_SLOWER,     {'-'}},
    {"Space",         "ask now",                        TOP_NOW,        {' '}},
    /* The screen does that by itself, whatever is asked for at the moment. */
    {"Ctrl-L",        "draw everything anew",           TOP_ACTION_COUNT, {0}},
    {"?",             "this help",                      TOP_HELP,       {'?'}},
    {"q",             "quit",                           TOP_QUIT,       {'q', 'Q', 3}},
};
/* clang-format on */
const size_t TOP_KEYS_COUNT = ARRAY_LEN(TOP_KEYS);

enum top_action top_keys_find(uint32_t key)
{
    for (size_t i = 0; i < TOP_KEYS_COUNT; i++)
        for (size_t k = 0; k < ARRAY_LEN(TOP_KEYS[i].keys) && TOP_KEYS[i].keys[k] != 0; k++)
            if (TOP_KEYS[i].keys[k] == key)
                return TOP_KEYS[i].action;
    return TOP_ACTION_COUNT;
}
