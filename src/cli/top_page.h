#pragma once
/*
 * top_page: what a monitor can show, as a table: the operation behind each page, what names a row,
 * and its columns.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/strbuf.h"

enum top_page {
    TOP_RUNS,
    TOP_TASKS,
    TOP_DAGS,
    TOP_QUEUES,
    TOP_POOLS,
    TOP_HOSTS,
    TOP_EVENTS,
    TOP_RUN, /* the tasks of a run; from here on pages are opened from others */
    TOP_LOG,
    TOP_EXPLAIN,
    TOP_PAGE_COUNT,
    TOP_TABS = TOP_RUN
};

enum top_column_kind {
    TOP_COLUMN_TEXT,
    TOP_COLUMN_NUMBER, /* right-aligned; 0 is shown as nothing */
    TOP_COLUMN_FIGURE, /* the same; 0 is shown */
    TOP_COLUMN_STATE,
    TOP_COLUMN_STATUS,   /* of a DAG: that it is paused belongs to it */
    TOP_COLUMN_DURATION, /* seconds */
    TOP_COLUMN_AGE,      /* since an instant */
    TOP_COLUMN_CLOCK,    /* of an instant */
    TOP_COLUMN_DONE,     /* of a run or a mapped task: "5/12" */
    TOP_COLUMN_SHARE,    /* of slots that are used: "3/8" */
    TOP_COLUMN_NAME,     /* of a task or an instance */
    TOP_COLUMN_TREE,     /* the same, below what it needs */
    TOP_COLUMN_TRY,      /* "2/4"; nothing before the first */
    TOP_COLUMN_OBJECT,   /* what an event is about, without the name of a run */
    TOP_COLUMN_REASON,   /* why a task ended as it did; nothing of one that succeeded */
    TOP_COLUMN_LIST      /* of texts */
};

struct top_column {
    const char *header;
    const char *member;
    enum top_column_kind kind;
    unsigned char width; /* columns it asks for */
    bool grows;          /* takes what is left */
    unsigned char from;  /* only on screens that have so many columns */
};

enum { TOP_KEYS_MAX = 3 };

struct top_page_row {
    const char *title;
    const char *operation;
    const char *list;               /* member with the rows; NULL: lines of text */
    const char *keys[TOP_KEYS_MAX]; /* members that name a row */
    const struct top_column *columns;
    size_t columns_count;
    int64_t every_ms;  /* not more often: its answer costs more than others */
    const char *empty; /* said when there is nothing */
};

extern const struct top_page_row TOP_PAGES[TOP_PAGE_COUNT];

/* What a column shows of a row, as it is; `now_us` by the clock of whoever answered. */
void top_column_text(const struct top_column *column, const json_t *row, int64_t now_us,
                     struct strbuf *out);
bool top_column_is_right(const struct top_column *column);
/* For sorting: less than, equal to or greater than 0. */
int top_column_compare(const struct top_column *column, const json_t *a, const json_t *b);

/* What names a row among those of its page; heap. */
NODISCARD char *top_page_key(enum top_page page, const json_t *row);
