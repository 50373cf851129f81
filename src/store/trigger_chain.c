/*
 * trigger_chain: how many runs in a row events have started.
 *
 * DAGs that start each other in a circle go round as fast as they run. The causes that are kept
 * with each run are followed backwards; those of more than an hour ago do not count, so that a
 * circle that takes its time goes on for ever, as may be wanted.
 */
#include <string.h>

#include "base/mem.h"
#include "store/trigger_priv.h"

static const int64_t WINDOW_US = (int64_t)3600 * 1000000;
/* Of what is followed: many causes of many runs are no chain. */
enum { SEEDS_MAX = 1000 };

/* $1 what the run is made of, $2 its kind, $3 the oldest that counts, $4 the longest chain */
#define CHAIN(seeds)                                                                               \
    "WITH RECURSIVE chain (run, links) AS ("                                                       \
    " SELECT CASE WHEN $2 = 1 THEN s.id ELSE e.run END, CAST(1 AS BIGINT) FROM (" seeds ") AS s"   \
    " LEFT JOIN asset_event e ON $2 = 0 AND e.id = s.id WHERE $2 = 1 OR e.run > 0"                 \
    " UNION SELECT CASE WHEN c.kind = 1 THEN c.source ELSE e.run END, chain.links + 1"             \
    " FROM chain JOIN run_cause c ON c.run = chain.run"                                            \
    " LEFT JOIN asset_event e ON c.kind = 0 AND e.id = c.source"                                   \
    " WHERE chain.links < $4 AND c.at_us >= $3 AND (c.kind = 1 OR (c.kind = 0 AND e.run > 0)))"    \
    " SELECT coalesce(max(links), 0) FROM (SELECT links FROM chain LIMIT 20000) AS walked"
static const char *const LINKS[] = {
    [DB_SQLITE] = CHAIN("SELECT value AS id FROM json_each($1)"),
    [DB_POSTGRES] = CHAIN("SELECT v::bigint AS id FROM jsonb_array_elements_text($1::jsonb) AS v"),
};

enum status trigger_check_chain(struct store *store, const struct trigger_cause *causes,
                                size_t count, int64_t most, struct err *err)
{
    CLEANUP(json_decrefp) json_t *seeds = json_array();
    int64_t links = 0;
    for (size_t i = count; i > 0 && count - i < SEEDS_MAX; i--)
        (void)json_array_append_new(seeds, json_integer(causes[i - 1].source));
    CLEANUP(mem_freep) char *text = json_format(seeds);
    if (db_get_int(store->db, 0, &links, err, LINKS[db_dialect(store->db)], "tiii", text,
                   (int64_t)causes[0].kind, store_now_us(store) - WINDOW_US, most) != STATUS_OK)
        return err_wrap(err, "follow the causes of a run");
    if (links < most)
        return STATUS_OK;
    return err_set(err, STATUS_LIMIT,
                   "%lld runs have started each other within an hour (setting trigger_chain): "
                   "probably DAGs go in a circle; break it, or allow longer chains",
                   (long long)links);
}
