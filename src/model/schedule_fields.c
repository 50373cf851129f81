#include "model/schedule_fields.h"

static const char *const OVERLAP_NAMES[] = {"queue", "skip", "replace", "allow"};
static const char *const DATE_NAMES[] = {"interval_end", "interval_start"};
static const char *const GAP_NAMES[] = {"auto", "next", "skip"};
static const char *const REPEAT_NAMES[] = {"auto", "first", "second", "both"};
static const struct field_choices OVERLAP_CHOICES = {ARRAY_LEN(OVERLAP_NAMES), OVERLAP_NAMES};
static const struct field_choices DATE_CHOICES = {ARRAY_LEN(DATE_NAMES), DATE_NAMES};
static const struct field_choices GAP_CHOICES = {ARRAY_LEN(GAP_NAMES), GAP_NAMES};
static const struct field_choices REPEAT_CHOICES = {ARRAY_LEN(REPEAT_NAMES), REPEAT_NAMES};

_Static_assert(OVERLAP_ALLOW + 1 == ARRAY_LEN(OVERLAP_NAMES), "a name for each");
_Static_assert(DATE_INTERVAL_START + 1 == ARRAY_LEN(DATE_NAMES), "a name for each");
_Static_assert(WALL_GAP_SKIP + 1 == ARRAY_LEN(GAP_NAMES), "a name for each");
_Static_assert(WALL_OVERLAP_BOTH + 1 == ARRAY_LEN(REPEAT_NAMES), "a name for each");

#define OF_POLICY(member) .offset = offsetof(struct timetable_policy, member)
#define OF_RULES(member)  .offset = offsetof(struct wall_rules, member)

/* clang-format off */
static const struct dag_field SCHEDULE_ROWS[SCHEDULE_KEY_COUNT] = {
    [SCHEDULE_KEY_CRON] = {"cron", NULL, FIELD_OWN,
        .doc = "cron expression or preset, or a list of them"},
    [SCHEDULE_KEY_EVERY] = {"every", NULL, FIELD_OWN, .doc = "fixed interval such as 15m"},
    [SCHEDULE_KEY_AT] = {"at", NULL, FIELD_OWN, .doc = "list of instants"},
    [SCHEDULE_KEY_TZ] = {"tz", "timezone", FIELD_OWN, .doc = "time zone; default UTC"},
    [SCHEDULE_KEY_START] = {"start", "start_date", FIELD_OWN, .doc = "first logical date"},
    [SCHEDULE_KEY_END] = {"end", "end_date", FIELD_OWN, .doc = "last logical date"},
    [SCHEDULE_KEY_CATCHUP] = {"catchup", NULL, FIELD_OWN,
        .doc = "missed ticks: none, latest, all or a window such as 3d; default none"},
    [SCHEDULE_KEY_DST] = {"dst", NULL, FIELD_OWN, .doc = "skipped and repeated hours: {gap, overlap}"},
    [SCHEDULE_KEY_GRACE] = {"grace", NULL, FIELD_DURATION, OF_POLICY(grace_ms),
        .most = DURATION_MS_MAX, .doc = "how late a tick may be and still run; default 5m"},
    [SCHEDULE_KEY_OVERLAP] = {"overlap", NULL, FIELD_CHOICE, OF_POLICY(overlap),
        .choices = &OVERLAP_CHOICES, .doc = "a tick at the limit of active runs; default queue"},
    [SCHEDULE_KEY_DATE] = {"date", NULL, FIELD_CHOICE, OF_POLICY(date),
        .choices = &DATE_CHOICES, .doc = "what the logical date is; default interval_end"},
    [SCHEDULE_KEY_DATASETS] = {"datasets", "assets", FIELD_OWN, .doc = "datasets that start it"},
    [SCHEDULE_KEY_AFTER] = {"after", NULL, FIELD_OWN, .doc = "DAGs that start it"},
    [SCHEDULE_KEY_FILE] = {"file", NULL, FIELD_OWN, .doc = "files that start it"},
    [SCHEDULE_KEY_WEBHOOK] = {"webhook", NULL, FIELD_OWN, .doc = "calls that start it"},
};

static const struct dag_field DST_ROWS[] = {
    {"gap", NULL, FIELD_CHOICE, OF_RULES(gap), .choices = &GAP_CHOICES,
        .doc = "a time that clocks skip"},
    {"overlap", NULL, FIELD_CHOICE, OF_RULES(overlap), .choices = &REPEAT_CHOICES,
        .doc = "a time that clocks show twice"},
};
/* clang-format on */

const struct field_table SCHEDULE_FIELDS = {"schedule", ARRAY_LEN(SCHEDULE_ROWS), SCHEDULE_ROWS};
const struct field_table DST_FIELDS = {"dst rule", ARRAY_LEN(DST_ROWS), DST_ROWS};
