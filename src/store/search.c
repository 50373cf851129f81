#include "store/search.h"

#include <string.h>

#include "base/mem.h"
#include "store/store_priv.h"

/*
 * ASCII letters are the only ones whose case does not count, as in SQLite: PostgreSQL would ask the
 * locale about every letter of every text, which takes most of the time, and the letters of the
 * part are made small here.
 */
#define HAS_SQLITE(text)   "lower(" text ") LIKE $1 ESCAPE '!'"
#define HAS_POSTGRES(text) "lower(" text " COLLATE \"C\") LIKE $1 ESCAPE '!'"
#define BOTH(sql)                                                                                  \
    {                                                                                              \
        [DB_SQLITE] = sql(HAS_SQLITE), [DB_POSTGRES] = sql(HAS_POSTGRES)                           \
    }

/* clang-format off */
#define FIND_DAGS(has)                                                                             \
    "SELECT version, dag_id, title, namespace, active FROM dag"                                    \
    " WHERE " has("dag_id") " OR " has("title") " ORDER BY dag_id LIMIT $2"
#define FIND_TEXTS(has)                                                                            \
    "SELECT v.id, d.dag_id, d.title, d.namespace, d.active FROM dag d"                             \
    " JOIN version v ON v.id = d.version WHERE " has("v.canonical") " ORDER BY d.dag_id LIMIT $2"
#define FIND_RUNS(has)                                                                             \
    "SELECT r.id, r.run_id, d.dag_id, d.namespace, r.state FROM (SELECT id, run_id, dag, state"    \
    " FROM run ORDER BY id DESC LIMIT $3) r JOIN dag d ON d.id = r.dag"                            \
    " WHERE " has("r.run_id") " ORDER BY r.id DESC LIMIT $2"
#define FIND_JOBS(has)                                                                             \
    "SELECT j.id, j.handler, q.name, j.namespace, 0 FROM (SELECT id, handler, queue, namespace"    \
    " FROM job ORDER BY id DESC LIMIT $3) j JOIN queue q ON q.id = j.queue"                        \
    " WHERE " has("j.handler") " ORDER BY j.id DESC LIMIT $2"
/* clang-format on */

static const char *const DAGS[] = BOTH(FIND_DAGS);
static const char *const TEXTS[] = BOTH(FIND_TEXTS);
static const char *const RUNS[] = BOTH(FIND_RUNS);
static const char *const JOBS[] = BOTH(FIND_JOBS);

static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* "%part%" in small letters, with what LIKE gives a meaning of its own made plain. */
static char *pattern_of(const char *part)
{
    size_t length = strlen(part);
    char *text = mem_alloc(2 * length + 3);
    size_t at = 0;
    text[at++] = '%';
    for (size_t i = 0; i < length; i++) {
        if (strchr("%_!", part[i]) != NULL)
            text[at++] = '!';
        text[at++] = small(part[i]);
    }
    text[at++] = '%';
    text[at] = '\0';
    return text;
}

struct finding {
    struct db_stmt *stmt;
    search_fn each;
    void *context;
};

static enum status tell(const struct finding *finding, struct err *err)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && db_next(finding->stmt, &status, err)) {
        const struct search_hit hit = {
            .id = db_int(finding->stmt, 0),
            .name = db_text(finding->stmt, 1),
            .about = db_text(finding->stmt, 2),
            .namespace_ = db_text(finding->stmt, 3),
            .state = db_int(finding->stmt, 4),
        };
        status = finding->each(finding->context, &hit, err);
        if (status != STATUS_OK)
            db_reset(finding->stmt);
    }
    return status;
}

static enum status find_dags(struct store *store, const char *const *sql, const char *part,
                             int64_t limit, struct finding *finding, struct err *err)
{
    CLEANUP(mem_freep) char *pattern = pattern_of(part);
    if (db_query(store->db, &finding->stmt, err, sql[db_dialect(store->db)], "ti", pattern,
                 limit) != STATUS_OK ||
        tell(finding, err) != STATUS_OK)
        return err_wrap(err, "search");
    return STATUS_OK;
}

static enum status find_newest(struct store *store, const char *const *sql, const char *part,
                               int64_t limit, struct finding *finding, struct err *err)
{
    CLEANUP(mem_freep) char *pattern = pattern_of(part);
    if (db_query(store->db, &finding->stmt, err, sql[db_dialect(store->db)], "tii", pattern, limit,
                 (int64_t)SEARCH_ROWS_MAX) != STATUS_OK ||
        tell(finding, err) != STATUS_OK)
        return err_wrap(err, "search");
    return STATUS_OK;
}

enum status store_search_dags(struct store *store, const char *part, int64_t limit, search_fn each,
                              void *context, struct err *err)
{
    struct finding finding = {.each = each, .context = context};
    return find_dags(store, DAGS, part, limit, &finding, err);
}

enum status store_search_texts(struct store *store, const char *part, int64_t limit, search_fn each,
                               void *context, struct err *err)
{
    struct finding finding = {.each = each, .context = context};
    return find_dags(store, TEXTS, part, limit, &finding, err);
}

enum status store_search_runs(struct store *store, const char *part, int64_t limit, search_fn each,
                              void *context, struct err *err)
{
    struct finding finding = {.each = each, .context = context};
    return find_newest(store, RUNS, part, limit, &finding, err);
}

enum status store_search_jobs(struct store *store, const char *part, int64_t limit, search_fn each,
                              void *context, struct err *err)
{
    struct finding finding = {.each = each, .context = context};
    return find_newest(store, JOBS, part, limit, &finding, err);
}
