#include "model/zone.h"

#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "model/zone_priv.h"

static const int64_t US_PER_SECOND = 1000000;

static const struct zone UTC = {.has_rule = true};

enum status zone_parse_rule(struct arena *arena, const char *text, const struct zone **out,
                            struct err *err)
{
    struct zone_rule rule;
    if (!zone_rule_parse(text, &rule))
        return err_set(err, STATUS_INVALID, "'%.60s' is no rule such as CET-1CEST,M3.5.0,M10.5.0/3",
                       text);
    struct zone *zone = arena_alloc(arena, sizeof *zone);
    *zone = (struct zone){.first_s = rule.offset_s, .has_rule = true, .rule = rule};
    *out = zone;
    return STATUS_OK;
}

enum status zone_find(struct arena *arena, const char *name, zone_reader read,
                      const struct zone **out, struct err *err)
{
    if (strcmp(name, "UTC") == 0) {
        *out = &UTC;
        return STATUS_OK;
    }
    if (read == NULL)
        return err_set(err, STATUS_NOT_FOUND, "there is no time zone '%.60s' here: only UTC", name);
    CLEANUP(mem_freep) char *bytes = NULL;
    size_t length = 0;
    if (read(name, &bytes, &length, err) != STATUS_OK)
        return err->code;
    bool is_file = length >= 4 && memcmp(bytes, "TZif", 4) == 0;
    enum status status = is_file || strcmp(name, "local") != 0
                             ? zone_parse(arena, bytes, length, out, err)
                             : zone_parse_rule(arena, bytes, out, err);
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "time zone '%.60s'", name);
}

/* Transitions at or before the instant. */
static size_t count_until(const struct zone *zone, int64_t at_us)
{
    size_t low = 0;
    size_t high = zone->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (zone->at_s[middle] * US_PER_SECOND <= at_us)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct zone_span zone_span_at(const struct zone *zone, int64_t at_us)
{
    size_t passed = count_until(zone, at_us);
    struct zone_span span = {
        .from_us = passed > 0 ? zone->at_s[passed - 1] * US_PER_SECOND : ZONE_NEVER_US,
        .to_us = passed < zone->count ? zone->at_s[passed] * US_PER_SECOND : ZONE_FOREVER_US,
        .offset_s = passed > 0 ? zone->offset_s[passed - 1] : zone->first_s,
    };
    if (passed < zone->count || !zone->has_rule)
        return span;
    struct zone_span ruled = zone_rule_span(&zone->rule, at_us);
    ruled.from_us = MAX(ruled.from_us, span.from_us);
    return ruled;
}

int32_t zone_offset_at(const struct zone *zone, int64_t at_us)
{
    return zone_span_at(zone, at_us).offset_s;
}

struct zone_instants zone_local_to_utc(const struct zone *zone, int64_t shown_us)
{
    const int64_t reach_us = ZONE_OFFSET_S_MAX * US_PER_SECOND;
    struct zone_instants found = {0};
    int64_t gap_end_us = shown_us + reach_us;
    struct zone_span span = zone_span_at(zone, shown_us - reach_us);
    for (;;) {
        int64_t at_us = shown_us - span.offset_s * US_PER_SECOND;
        if (at_us < span.from_us)
            gap_end_us = MIN(gap_end_us, span.from_us);
        else if (at_us < span.to_us && found.count < 2)
            found.at_us[found.count++] = at_us;
        if (span.to_us > shown_us + reach_us)
            break;
        span = zone_span_at(zone, span.to_us);
    }
    found.valid_us = found.count > 0 ? found.at_us[0] : gap_end_us;
    return found;
}
