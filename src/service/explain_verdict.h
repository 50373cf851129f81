#pragma once
/*
 * explain_verdict: why a task that is over ended as it did. In words.
 */
#include "service/explain.h"

enum { EXPLAIN_NAME_MAX = 512 };

/* A task as commands take it: "load", or "load --map-index 3". Returns `out`. */
const char *explain_name(const struct explain_world *world, const struct task_row *task,
                         char out[EXPLAIN_NAME_MAX]);

/* "exit code 7: no such file". */
void explain_add_cause(struct strbuf *out, const struct task_row *task);

/* ", by ann at 2026-01-01T10:00:00Z: wrong date"; nothing when nobody is known. */
void explain_add_stop(struct strbuf *out, const struct stop_info *stop);

/* The task's state is final. */
void explain_verdict(const struct explain_world *world, const struct explain_subject *subject,
                     struct explanation *out);
