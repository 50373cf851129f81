#pragma once
/*
 * keeper_report: one line of descriptor 4 of a task, understood.
 *
 * What a task may say, and how, is in docs/process-protocol.md.
 */
#include <stddef.h>

#include "base/json.h"

enum keeper_report_type {
    KEEPER_REPORT_PROGRESS,
    KEEPER_REPORT_VALUE,
    KEEPER_REPORT_RESULT,
    KEEPER_REPORT_HANDLE, /* of an external job: `body` as said */
    KEEPER_REPORT_DEFER,  /* go on later, in another process */
    KEEPER_REPORT_BAD,    /* not understood: `text` says why */
    KEEPER_REPORT_TYPE_COUNT
};

enum keeper_outcome {
    KEEPER_OUTCOME_SUCCESS,
    KEEPER_OUTCOME_FAILED,
    KEEPER_OUTCOME_SKIPPED,
    KEEPER_OUTCOME_RETRY,
    KEEPER_OUTCOME_COUNT
};

enum { KEEPER_REPORT_PROBLEM_MAX = 200 };

struct keeper_report {
    enum keeper_report_type type;
    double done;      /* progress */
    double total;     /* progress; negative: unknown */
    const char *text; /* progress, or the problem; NULL: none */
    const char *key;  /* value */
    json_t *value;    /* value, borrowed */
    enum keeper_outcome outcome;
    const char *reason; /* result, defer; NULL: none */
    int64_t until_us;   /* defer: when to go on; 0: `after_ms` from now */
    int64_t after_ms;
    json_t *body; /* the whole line; NULL for a bad one */
    char problem[KEEPER_REPORT_PROBLEM_MAX];
};

/* Never fails: what is not understood becomes KEEPER_REPORT_BAD. Texts live as long as *out. */
void keeper_report_parse(const char *line, size_t length, struct keeper_report *out);
void keeper_report_fini(struct keeper_report *report);
