#pragma once
/*
 * operation_rows: what the files with rows of operations share. Private to this layer.
 */
#include "service/op_handlers.h"
#include "service/operation.h"

#define FIELDS(table)                                                                              \
    {                                                                                              \
        table, ARRAY_LEN(table)                                                                    \
    }
#define NO_FIELDS                                                                                  \
    {                                                                                              \
        NULL, 0                                                                                    \
    }

#define RUN                                                                                        \
    {                                                                                              \
        "run", FIELD_STRING, true, "number, DAG/RUN_ID, or DAG for its latest run"                 \
    }
/* Of requests that name a DAG or a file of DAGs. */
#define DAG_FILE                                                                                   \
    {"file", FIELD_PATH, false, "path of a DAG file; with `text` only its name"},                  \
    {                                                                                              \
        "text", FIELD_STRING, false, "the DAG file itself, from whoever is elsewhere"              \
    }
#define DAG_OF_VERSION                                                                             \
    {"dag", FIELD_STRING, false, "id of the DAG; with a file, which of its DAGs"}, DAG_FILE,       \
    {                                                                                              \
        "version", FIELD_INTEGER, false, "number of a version; the current one by default"         \
    }
#define TASK                                                                                       \
    {                                                                                              \
        "task", FIELD_STRING, true, "id of the task"                                               \
    }
#define DRY_RUN                                                                                    \
    {                                                                                              \
        "dry_run", FIELD_BOOLEAN, false, "only say what would happen"                              \
    }
#define INDEX                                                                                      \
    {                                                                                              \
        "map_index", FIELD_INTEGER, false, "one instance of a mapped task"                         \
    }
#define REASON                                                                                     \
    {                                                                                              \
        "reason", FIELD_STRING, false, "why; kept with the change"                                 \
    }
#define TOTAL                                                                                      \
    {                                                                                              \
        "total_entries", FIELD_INTEGER, true, "how many there are in the list"                     \
    }
/* Of lists in pages; see listing.h. */
#define WITH_TOTAL                                                                                 \
    {                                                                                              \
        "with_total", FIELD_BOOLEAN, false, "count what matches on all pages, up to 10000"         \
    }
#define PAGED_TOTAL                                                                                \
    {"total_entries", FIELD_INTEGER, true,                                                         \
     "how many match, with `with_total`; else how many there are in the list"},                    \
    {                                                                                              \
        "total_is_more", FIELD_BOOLEAN, false, "there are more than total_entries"                 \
    }
#define LIMIT                                                                                      \
    {                                                                                              \
        "limit", FIELD_INTEGER, false, "at most so many"                                           \
    }
/* The next page of a list, and where it begins. */
#define NEXT_BY_ID                                                                                 \
    {                                                                                              \
        "cursor", FIELD_STRING, false, "of an answer: what comes after it; only by id"             \
    }
#define CURSOR_BY_ID                                                                               \
    {                                                                                              \
        "cursor", FIELD_STRING, false,                                                             \
            "for the next page; null: that was all, or the order is another than by id"            \
    }
#define NEXT_PAGE                                                                                  \
    {                                                                                              \
        "cursor", FIELD_STRING, false, "of an answer: what comes after it"                         \
    }
#define CURSOR                                                                                     \
    {                                                                                              \
        "cursor", FIELD_STRING, false, "for the next page; null: that was all"                     \
    }
/* How a log is read in parts. */
#define LOG_PART                                                                                   \
    {"try_number", FIELD_INTEGER, false, "this attempt; the newest by default"},                   \
        {"tail", FIELD_INTEGER, false, "only the last lines; counts for the first part"},          \
        {"grep", FIELD_STRING, false, "only lines that match this extended regular expression"},   \
        {"cursor", FIELD_STRING, false, "where the part before ended"},                            \
    {                                                                                              \
        "bytes", FIELD_INTEGER, false, "about so many at most in a part; 1 MiB by default"         \
    }
/* Of lists of runs and of what belongs to runs; see run_filter.h. */
#define RUN_FILTER                                                                                 \
    {"dags", FIELD_STRINGS, false, "only of these DAGs"},                                          \
        {"states", FIELD_STRINGS, false, "only in these states"}, RUN_RANGES
#define RUN_RANGES                                                                                 \
    {"logical_from", FIELD_INSTANT, false, "for this date or a later one"},                        \
        {"logical_to", FIELD_INSTANT, false, "for this date or an earlier one"},                   \
        {"start_from", FIELD_INSTANT, false, "started then or later"},                             \
        {"start_to", FIELD_INSTANT, false, "started by then"},                                     \
        {"end_from", FIELD_INSTANT, false, "ended then or later"},                                 \
        {"end_to", FIELD_INSTANT, false, "ended by then"},                                         \
        {"updated_from", FIELD_INSTANT, false, "changed state then or later"},                     \
    {                                                                                              \
        "updated_to", FIELD_INSTANT, false, "changed state by then"                                \
    }
#define BRIEF                                                                                      \
    {                                                                                              \
        "brief", FIELD_BOOLEAN, false, "only what its own row says"                                \
    }
#define DATA_INTERVAL                                                                              \
    {"data_interval_start", FIELD_INSTANT, false, "of what it is about; as scheduled by default"}, \
    {                                                                                              \
        "data_interval_end", FIELD_INSTANT, false, "the end of that"                               \
    }
#define DAG_FILTER                                                                                 \
    {"tags", FIELD_STRINGS, false, "only those with one of these tags"},                           \
        {"pattern", FIELD_STRING, false, "only those with this in their id"},                      \
        {"paused", FIELD_BOOLEAN, false, "only those that are paused, or are not"},                \
        {"limit", FIELD_INTEGER, false, "at most so many; all by default"},                        \
    {                                                                                              \
        "offset", FIELD_INTEGER, false, "leave out the first"                                      \
    }
