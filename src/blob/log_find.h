#pragma once
/*
 * log_find: which lines of a log hold a text, for as long as one has time.
 *
 * A plain text is looked for in whole blocks and costs little more than reading them; a regular
 * expression is tried line by line. Who runs out of time goes on where the search stopped.
 */
#include "blob/log_reader.h"

struct log_search {
    const char *text; /* not empty */
    bool is_regex;    /* POSIX extended; else the text as it is */
    bool ignore_case; /* of ASCII letters, unless it is a regular expression */
    uint64_t from;    /* where the search before stopped; 0: the start */
    int64_t until_us; /* of the monotonic clock */
};

struct log_search_end {
    uint64_t reached; /* what begins before this was looked at */
    bool is_at_end;   /* there is nothing more at the moment */
};

/*
 * `fn` is called once for each line that matches (pieces of very long ones count as lines), with
 * its number and the start of its first piece in `offset`; `bytes` are not set.
 *
 *   STATUS_INVALID, STATUS_LIMIT  it is no regular expression that can be used
 */
NODISCARD enum status log_find(struct log_reader *reader, const struct log_search *search,
                               log_line_fn fn, void *context, struct log_search_end *out,
                               struct err *err);
