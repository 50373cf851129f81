#pragma once
/*
 * top: the monitor as a state that keys and answers change. Pure: no terminal, no clock, no calls.
 *
 *   key ----> top_press ---+                            +--> top_view.h: a picture
 *                          +--> struct top (the state) -+
 *   answer -> top_answer --+                            +--> top_ask: the next question
 *
 * Whoever drives it (cmd_top.c) hands in keys and answers and asks what to ask next. Only what can
 * be seen is asked for, at most once a second, and less often when answers take long.
 *
 * Ownership  top_fini frees everything. A question's request belongs to whoever asked for it.
 * Time       `mono_us` never jumps and decides when to ask; the wall clock is the answers' `now`.
 * Tests      tests/unit/cli/test_top.c
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"
#include "cli/top_page.h"

enum {
    TOP_TEXT_MAX = 200, /* bytes of a filter or a reason */
    TOP_PACE_SECONDS = 60,
    TOP_LINES_MAX = 2000, /* of a log that are kept */
    TOP_EVENTS_MAX = 500
};

/* Characters stand for themselves, as code points; the rest lies beyond them. */
enum top_key {
    TOP_KEY_NONE = 0x110000,
    TOP_KEY_UP,
    TOP_KEY_DOWN,
    TOP_KEY_LEFT,
    TOP_KEY_RIGHT,
    TOP_KEY_PAGE_UP,
    TOP_KEY_PAGE_DOWN,
    TOP_KEY_HOME,
    TOP_KEY_END,
    TOP_KEY_ENTER,
    TOP_KEY_ESCAPE,
    TOP_KEY_BACKSPACE,
    TOP_KEY_TAB,
    TOP_KEY_BACK_TAB
};

/* What a page has to show, and where somebody is in it. */
struct top_table {
    json_t *rows;  /* as they were answered; objects, or texts on pages of lines */
    json_t *shown; /* of these what the filter lets through, in the order chosen */
    char *chosen;  /* key of the row under the cursor; NULL: none */
    size_t cursor; /* place in `shown`; of lines the first that is visible */
    size_t first;  /* first row that is visible */
    bool is_moved; /* somebody did: the cursor stays with its row, else with the top or end */
    char filter[TOP_TEXT_MAX];
    size_t sort; /* column + 1; 0: as they were answered */
    bool is_reversed;
    bool is_due;    /* to be asked for at once */
    bool is_loaded; /* an answer was there */
    int64_t asked_at_us;
    int64_t took_us; /* how long the answer was on its way */
};

/* What the last line asks for. */
enum top_prompt { TOP_PROMPT_NONE, TOP_PROMPT_FILTER, TOP_PROMPT_CONFIRM, TOP_PROMPT_REASON };

/* A change that waits for a yes, a reason, or to be sent. */
struct top_change {
    const char *operation; /* NULL: none */
    json_t *request;
    char what[TOP_TEXT_MAX]; /* "stop run 7 (orders)" */
    bool asks_reason;
    bool is_agreed;
    bool is_sent; /* its answer is on its way: no other may begin */
};

/* Tasks that ended in each of the last seconds. */
struct top_pace {
    int64_t last; /* second since 1970 of the last number, which is not over yet; 0: none */
    int64_t counts[TOP_PACE_SECONDS];
};

struct top {
    size_t columns, rows;
    enum top_page page;
    enum top_page back[TOP_PAGE_COUNT]; /* where the open pages were opened from */
    size_t back_count;
    uint64_t turn; /* how often a page was opened: what was asked before is of another one */
    struct top_table tables[TOP_PAGE_COUNT];
    bool shows_help;
    bool is_over;

    json_t *overview;        /* the last one, or NULL */
    struct top_table glance; /* when it was asked for; has no rows */
    struct top_pace pace;
    int64_t now_us; /* of the last answer that told */
    size_t rate;    /* place among the refresh rates */

    json_t *run;         /* of the page of tasks, as it was answered; or NULL */
    char *run_number;    /* the run that is open */
    char *task_id;       /* the task whose log is open */
    int64_t map_index;   /* of it */
    json_t *open_tasks;  /* mapped tasks that are unfolded */
    char *cursor_of_log; /* NULL: from the beginning */
    char *cursor_of_events;
    bool log_is_live;
    bool ends_mid_line; /* what is printed next goes on in the last line */
    size_t shift;       /* columns of lines that are left of the screen */

    enum top_prompt prompt;
    char typed[TOP_TEXT_MAX];
    char before[TOP_TEXT_MAX]; /* filter that comes back when the new one is given up */
    struct top_change change;
    char message[TOP_TEXT_MAX]; /* said until the next key; "" */
    bool message_is_bad;
    char problem[TOP_TEXT_MAX]; /* why there are no answers; "" */
};

void top_init(struct top *top);
void top_fini(struct top *top); /* twice is fine */

void top_resize(struct top *top, size_t columns, size_t rows);
/* A key, one of enum top_key or a code point. */
void top_press(struct top *top, uint32_t key);
/* The refresh rate nearest to so many seconds. */
void top_set_rate(struct top *top, int64_t seconds);
int64_t top_rate_s(const struct top *top);

enum top_question_kind { TOP_ASKS_GLANCE, TOP_ASKS_PAGE, TOP_ASKS_CHANGE };

struct top_question {
    enum top_question_kind kind;
    enum top_page page; /* that was open */
    uint64_t turn;
    const char *operation;
    json_t *request;
};

/*
 * What to ask now; false: nothing. The request is the caller's. Keys may be pressed before the
 * answer is there, but nothing else is asked.
 */
NODISCARD bool top_ask(struct top *top, int64_t mono_us, struct top_question *out);
/* How long until there is something to ask. */
int64_t top_wait_ms(const struct top *top, int64_t mono_us);
/* The answer, borrowed, or (NULL) why there is none. */
void top_answer(struct top *top, const struct top_question *question, const json_t *response,
                const struct err *err);
/* When it came. */
void top_note_time(struct top *top, const struct top_question *question, int64_t mono_us);

/* Where things are on the screen. */
struct top_layout {
    bool has_head; /* numbers, throughput */
    bool has_tabs;
    size_t tabs_row;
    size_t heading_row; /* of a table; of a page of lines SIZE_MAX */
    size_t body_row;
    size_t body_rows;
};
struct top_layout top_layout(const struct top *top);

/* Of the page that is open. */
struct top_table *top_table(struct top *top);
const struct top_table *top_table_of(const struct top *top);
/* The row under the cursor, or NULL. */
const json_t *top_chosen(const struct top *top);
bool top_is_text(enum top_page page);
/* Whether a row of the running tasks is a job of a queue. */
bool top_is_job(const json_t *row);

/* --- parts of the model, for each other ------------------------------------------------------ */

/* Filter and sort anew, and find the row again that was under the cursor. */
void top_rows_refresh(struct top *top, enum top_page page);
/* Move the cursor by so many rows, as far as there are some. */
void top_rows_move(struct top *top, int64_t by);
void top_rows_clear(struct top_table *table);
/* Add what a log says to the lines: escape sequences go, the last line may go on. */
void top_lines_add(struct top *top, json_t *lines, const char *text);

/* What p, u, r and x mean on the page that is open; says so when they mean nothing. */
void top_change_begin(struct top *top, uint32_t key);
void top_change_drop(struct top *top);

void top_pace_add(struct top_pace *pace, int64_t first, const json_t *counts);
/* Tasks per second over the last `seconds` that are over. */
double top_pace_mean(const struct top_pace *pace, int64_t seconds);

/* Keep a copy of a text, or (NULL) none, in place of the one before. */
void top_keep(char **place, const char *text);
void top_say(struct top *top, bool is_bad, const char *fmt, ...) PRINTF(3, 4);
