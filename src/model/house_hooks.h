#pragma once
/*
 * house_hooks: hooks that whoever runs the place has set for every DAG, or for those of a
 * namespace; they are told in addition to the DAG's own.
 *
 *     hooks:
 *       on_failure: { slack: data-alerts }       about runs, as those of a DAG
 *       tasks:                                   about tasks
 *         on_retry: { webhook: ops }
 *       namespaces:
 *         finance: { on_failure: { pagerduty: finance } }
 *
 * Entries are those of DAG files (hook.h). One that a DAG has itself, to the letter, is told once.
 *
 * Ownership  DAGs that they were added to borrow from them.
 * Threads    Never changed once read.
 */
#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"
#include "model/dag.h"

struct house_hooks;

/* From the setting's map. STATUS_INVALID names the key and what is wrong; NULL when it is empty. */
NODISCARD enum status house_hooks_read(const json_t *map, struct house_hooks **out,
                                       struct err *err);
void house_hooks_free(struct house_hooks *hooks); /* NULL is allowed */

/* To a DAG that nobody else uses yet, once. `hooks` NULL: nothing happens. */
void house_hooks_add(const struct house_hooks *hooks, struct dag *dag);

/* Which events are told to what kind of target, for people: it hides addresses and keys. Heap. */
NODISCARD char *house_hooks_shown(const json_t *map);
