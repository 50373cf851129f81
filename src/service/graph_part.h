#pragma once
/*
 * graph_part: which part of a DAG a request wants to see drawn: members `task`, `up` and `down` for
 * what is around a task, `collapsed` for groups that are one node each.
 */
#include "base/json.h"
#include "model/dag_part.h"
#include "model/task_state.h"
#include "service/operation.h"

/* Rows of a table of fields. */
#define GRAPH_PART                                                                                 \
    {"task", FIELD_STRING, false, "only what is around this task"},                                \
        {"up", FIELD_INTEGER, false, "so many levels of what it needs; 1 by default"},             \
        {"down", FIELD_INTEGER, false, "so many levels of what needs it; 1 by default"},           \
    {                                                                                              \
        "collapsed", FIELD_STRINGS, false, "groups that are one node each; * for all"              \
    }

/* In the arena; the DAG is borrowed. STATUS_NOT_FOUND: it has no such task or group. */
NODISCARD enum status graph_part_read(struct arena *arena, const struct dag *whole,
                                      const json_t *request, struct dag_part *out, struct err *err);
/* What a group shows of its tasks: the one that is most worth a look; `states` are the whole's. */
enum task_state graph_part_state(const struct dag_part_node *node, const enum task_state *states);
/* What can be done about a part that is too large; `err` is of STATUS_LIMIT, or it stays. */
enum status graph_part_advise(const struct dag *whole, struct err *err);
