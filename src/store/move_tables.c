#include "store/move_tables.h"

#include <string.h>

#include "base/check.h"
#include "base/str.h"

/* clang-format off */
const struct move_table MOVE_TABLES[] = {
    {"store", "-id -uuid/t -epoch -schema -oldest_schema -next_run -next_task -created_at_us"
        " -fleet/t -backfill_approval -backfill_queue/t -task_key/t", false, true},
    {"host", "id maker name/t pid boot/t kind/t slots started_at_us ended_at_us version/t machine/t"
        " roles/t labels/t queues/t draining lease_ms renewed_at_us lease_until_us fate/t"
        " schema", false, false},
    {"dag", "id dag_id/t namespace/t title/t version created_at_us updated_at_us filed watched"
        " active", false, false},
    {"version", "id dag number hash/t canonical/t source/t places/t path/t created_at_us timeout_ms"
        " actor/t", false, false},
    {"dag_file", "id host/t path/t size mtime_ns ctime_ns inode hash/t parts/t problems/t"
        " broken_at_us", false, false},
    {"dag_offer", "dag file", false, false},
    {"named_file", "hash/t bytes/b", false, false},
    {"version_file", "version name/t hash/t", false, false},
    {"queue", "id name/t priority max_running soft_pending hard_pending paused created_at_us"
        " max_share", true, false},
    {"lane", "id queue labels/t", true, false},
    {"run", "id dag version run_id/t namespace/t kind/t state scope logical_at_us interval_start_us"
        " interval_end_us params/t conf/t note/t actor/t first_task cancel_asked open_main"
        " open_finally active failures created_at_us started_at_us ended_at_us row_version token/t"
        " admission backfill awaited queue behind", false, false},
    {"schedule", "dag offered paused cursor_us next_us timing/t most_runs overlap needs_past"
        " changed_at_us", false, false},
    {"task", "id run node map_index generation state attempt nonce/b host failures losses parents"
        " p_success p_failed p_upstream p_skipped p_removed instance_base inserted due_at_us"
        " queued_at_us started_at_us ended_at_us reason exit_code detail/t label/t log_bytes cpu_ms"
        " rss_kb row_version", false, false},
    {"task_note", "run task note/t", false, false},
    {"run_trace", "run traceparent/t", false, false},
    {"task_wish", "task attempt actor/t data/t asked_at_us", false, false},
    {"block", "run first count", false, false},
    {"attempt", "task attempt generation state nonce/b host queued_at_us started_at_us ended_at_us"
        " reason exit_code detail/t log_bytes cpu_ms rss_kb", false, false},
    {"ready", "scope class lane rank age_us task run", false, false},
    {"gate", "run rank task", false, false},
    {"timer", "scope due_at_us task", false, false},
    {"expansion", "scope task", false, false},
    {"waiting", "dag backfill logical_at_us run", false, false},
    {"past", "task run before", false, false},
    {"missed", "dag first_us last_us count is_more why at_us", false, false},
    {"running", "host task lane", false, false},
    {"wait", "task run lane host kind looks since_us target_us deadline_us every_ms every_max_ms"
        " backoff subject/t dag/t dag_task/t date_us states", false, false},
    {"pool", "id kind namespace/t name/t slots retiring removed description/t created_at_us", true,
        false},
    {"pool_slot", "pool slot task attempt", false, false},
    {"pool_wait", "pool lane rank age_us task need namespace/t", false, false},
    {"value", "task key/t json/t bytes", false, false},
    {"event", "id at_us kind run task row_version old_state new_state generation attempt nonce/b"
        " actor/t reason data/t -xid@p", true, false},
    {"job", "id namespace/t queue lane handler/t payload/t dedupe/t rank retries retry_delay_ms"
        " timeout_ms finish_on_lost_lease cancel_asked actor/t created_at_us result/t error/t"
        " -ended_as",
        false, false},
    {"dead", "task run lane at_us reason attempt detail/t", false, false},
    {"backfill", "id dag version state from_us to_us until_us newest_first redo max_active queue"
        " params/t conf/t tasks/t note/t reason/t actor/t token/t size cursor_us is_spent"
        " stops_running created redone kept succeeded failed cancelled created_at_us started_at_us"
        " ended_at_us", true, false},
    {"backfill_run", "backfill logical_at_us run action outcome", false, false},
    {"variable", "namespace/t name/t value/t doc/t actor/t updated_at_us", false, false},
    {"connection", "namespace/t name/t shown/t sealed/t doc/t actor/t updated_at_us", false, false},
    /* What is sealed moves as it is: with the same key it opens there, too. */
    {"secret", "namespace/t name/t sealed/t doc/t actor/t updated_at_us", false, false},
    {"asset", "id uri/t created_at_us", true, false},
    {"asset_event", "id asset at_us run task_id/t map_index actor/t extra/t", true, false},
    {"trigger_dag", "dag keeps paused row_version refused", false, false},
    {"trigger_watch", "dag kind name/t states settle_ms since_us", false, false},
    {"trigger_pending", "id dag kind source name/t state at_us seen", true, false},
    {"run_cause", "run kind source name/t state at_us", false, false},
    {"file_arrival", "id dag path/t mtime_us bytes inode at_us run", true, false},
    {"webhook", "id dag name/t token_hash/t actor/t created_at_us used_at_us calls sealed/t paced_us",
        true, false},
    {"webhook_call", "webhook key/t run at_us", false, false},
    {"deadline", "run task kind generation due_at_us", false, false},
    {"sla_miss", "run task kind generation due_at_us dag node map_index noticed_at_us ended_at_us"
        " notified", false, false},
    {"notice", "id delivery/t state at_us due_at_us dag_id/t run task kind event target hook/t"
        " hook_key/t group_key/t head follows incident document/t attempts first_at_us ended_at_us"
        " answer/t sla_kind sla_generation", true, false},
    {"alert_rate", "hook_key/t empty_at_us", false, false},
    {"retention", "what/t run", false, false},
    {"namespace", "name/t doc/t actor/t created_at_us", false, false},
    /* Hashes move as they are: passwords and tokens stay good. Who was signed in signs in again. */
    {"account", "id name/t password/t grants/t disabled stamp actor/t created_at_us", true, false},
    {"token", "id hash/t name/t account grants/t queues/t actor/t created_at_us expires_at_us"
        " used_at_us", true, false},
    {"worker_claim", "-host -name/t -task -attempt", false, true},
    {"session", "-hash/t -account -created_at_us -expires_at_us", false, true},
    {"login_link", "-hash/t -created_at_us -expires_at_us", false, true},
    /* A key counts for a day, where it was used; a store that is moved has nobody who tries again. */
    {"answered", "-owner/t -key/t -request/t -status -body/t -created_at_us", false, true},
    /* Logs and large values move as files, since not every store has them in a table. */
    {"chunk", "-kind -k1 -k2 -k3 -k4 -start_at -length -form -bytes/b", false, true},
    {NULL, NULL, false, false},
};
/* clang-format on */

const struct move_table *move_table_find(const char *name)
{
    for (const struct move_table *table = MOVE_TABLES; table->name != NULL; table++)
        if (str_equal(table->name, name))
            return table;
    return NULL;
}

/* "-name/t@p" */
static bool read_column(const char *text, size_t length, enum db_dialect dialect,
                        struct arena *arena, struct move_column *out)
{
    struct move_column column = {.letter = 'i', .stays = text[0] == '-'};
    const char *start = text + column.stays;
    const char *end = text + length;
    if (end - start > 2 && end[-2] == '@') {
        if ((end[-1] == 'p') != (dialect == DB_POSTGRES))
            return false;
        end -= 2;
    }
    if (end - start > 2 && end[-2] == '/') {
        column.letter = end[-1];
        end -= 2;
    }
    column.name = arena_strndup(arena, start, (size_t)(end - start));
    *out = column;
    return true;
}

void move_table_columns(const struct move_table *table, enum db_dialect dialect,
                        struct arena *arena, struct move_columns *out)
{
    out->count = 0;
    for (const char *at = table->columns; *at != '\0';) {
        size_t length = strcspn(at, " ");
        CHECK(out->count < MOVE_COLUMNS_MAX);
        if (read_column(at, length, dialect, arena, &out->items[out->count]))
            out->count++;
        at += length + (at[length] == ' ');
    }
}
