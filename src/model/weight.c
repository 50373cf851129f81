#include "model/weight.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "model/dag.h"
#include "model/limits.h"

/* A DAG of 100,000 tasks in a row would need five thousand million. */
enum { WEIGHT_STEPS_MAX = 50 * 1000 * 1000 };

struct walk {
    const struct dag *dag;
    uint32_t *seen; /* by which task's walk a node was visited last, counted from 1 */
    uint32_t *stack;
    int64_t steps;
};

static const struct node_list *next_of(const struct dag *dag, uint32_t node, enum weight_rule rule)
{
    const struct task_def *def = &dag->tasks[node];
    return rule == WEIGHT_DOWNSTREAM ? &def->dependants : &def->needs;
}

/* The priorities of everything that can be reached from `start`, itself included. */
static int64_t sum_reached(struct walk *walk, uint32_t start, enum weight_rule rule)
{
    int64_t sum = 0;
    size_t count = 0;
    walk->stack[count++] = start;
    walk->seen[start] = start + 1;
    while (count > 0) {
        uint32_t node = walk->stack[--count];
        const struct node_list *next = next_of(walk->dag, node, rule);
        sum += walk->dag->tasks[node].priority;
        walk->steps += 1 + (int64_t)next->count;
        for (size_t i = 0; i < next->count && walk->steps <= WEIGHT_STEPS_MAX; i++) {
            uint32_t other = next->items[i];
            if (walk->seen[other] == start + 1)
                continue;
            walk->seen[other] = start + 1;
            walk->stack[count++] = other;
        }
    }
    return sum;
}

static int64_t clamp(int64_t weight)
{
    return MAX(MIN(weight, (int64_t)LIMIT_PRIORITY), -(int64_t)LIMIT_PRIORITY);
}

void dag_weigh(struct dag *dag)
{
    struct walk walk = {.dag = dag};
    for (size_t i = 0; i < dag->tasks_count; i++) {
        struct task_def *def = &dag->tasks[i];
        def->weight = def->priority;
        if (def->weight_rule == WEIGHT_ABSOLUTE)
            continue;
        if (walk.seen == NULL) {
            walk.seen = mem_zalloc(dag->tasks_count, sizeof *walk.seen);
            walk.stack = mem_zalloc(dag->tasks_count, sizeof *walk.stack);
        }
        def->weight = clamp(sum_reached(&walk, (uint32_t)i, def->weight_rule));
    }
    free(walk.seen);
    free(walk.stack);
}
