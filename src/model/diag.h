#pragma once
/*
 * diag: the problems of a user's file, all of them in one go.
 *
 * Not errors: a file with problems is a normal answer. Each has a place, a
 * severity and a text that says what, where and what to do.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"

enum diag_severity { DIAG_ERROR, DIAG_WARNING };

struct diag {
    enum diag_severity severity;
    int line;   /* from 1; 0: the file as a whole */
    int column; /* from 1, in characters */
    int length; /* columns to underline, at least 1 */
    char *text;
};

struct diag_list {
    struct diag *items;
    size_t count;
    size_t capacity;
    size_t errors;  /* how many of them are errors, those dropped included */
    bool truncated; /* more than LIMIT_DIAGNOSTICS were found */
};

void diag_list_fini(struct diag_list *list); /* zero is a valid empty list */
void diag_add(struct diag_list *list, enum diag_severity severity, int line, int column, int length,
              const char *fmt, ...) PRINTF(6, 7);
/* By line, then column; stable. */
void diag_list_sort(struct diag_list *list);
