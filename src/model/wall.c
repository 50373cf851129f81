/*
 * wall: walking the spans of a zone, in each of which clocks run evenly.
 *
 *     clock   01:00        02:00 | 03:00        04:00           gap: 02:00 to 03:00 is not shown
 *     span    ....... before ....| .... after ......
 *
 *     clock   01:00  02:00  03:00 | 02:00  03:00  04:00         overlap: 02:00 to 03:00 twice
 *     span    ....... before .....| ....... after ......
 *
 * A span has at most one tick for the gap before it, at its first instant, and then one for each
 * time of the expression that its clocks show, except those that belong to a neighbour.
 */
#include "model/wall.h"

#include "base/clock.h"
#include "model/cron.h"
#include "model/zone.h"

static const int64_t US_PER_SECOND = 1000000;

struct stretch {
    int64_t from_s; /* instants, UTC; the span, cut to the search */
    int64_t to_s;
    int32_t offset_s;
    int32_t before_s; /* offsets of the neighbours */
    int32_t after_s;
    bool has_before; /* the span begins at from_s */
};

static int64_t floor_s(int64_t at_us)
{
    return at_us / US_PER_SECOND - (at_us % US_PER_SECOND < 0);
}

static struct wall_rules resolve(const struct wall *wall)
{
    bool is_elapsed = cron_is_every_hour(wall->cron);
    struct wall_rules rules = wall->rules;
    if (rules.gap == WALL_GAP_AUTO)
        rules.gap = is_elapsed ? WALL_GAP_SKIP : WALL_GAP_NEXT;
    if (rules.overlap == WALL_OVERLAP_AUTO)
        rules.overlap = is_elapsed ? WALL_OVERLAP_BOTH : WALL_OVERLAP_FIRST;
    return rules;
}

static int64_t least_us(void)
{
    return INSTANT_US_MIN + (int64_t)2 * 86400 * US_PER_SECOND;
}

static int64_t most_us(void)
{
    return INSTANT_US_MAX - (int64_t)2 * 86400 * US_PER_SECOND;
}

static struct stretch stretch_at(const struct zone *zone, int64_t at_us)
{
    struct zone_span span = zone_span_at(zone, at_us);
    struct stretch stretch = {
        .offset_s = span.offset_s,
        .has_before = span.from_us > least_us(),
    };
    stretch.before_s = stretch.has_before ? zone_offset_at(zone, span.from_us - 1) : span.offset_s;
    stretch.after_s = span.to_us <= most_us() ? zone_offset_at(zone, span.to_us) : span.offset_s;
    stretch.from_s = floor_s(MAX(span.from_us, least_us()));
    stretch.to_s = floor_s(MIN(span.to_us, most_us()));
    return stretch;
}

/* Whether the expression names a time that the clocks skipped just before the stretch. */
static bool has_gap_tick(const struct wall *wall, struct wall_rules rules,
                         const struct stretch *stretch)
{
    int64_t ignored = 0;
    return rules.gap == WALL_GAP_NEXT && stretch->has_before &&
           stretch->before_s < stretch->offset_s &&
           cron_first(wall->cron, stretch->from_s + stretch->before_s,
                      stretch->from_s + stretch->offset_s, &ignored);
}

/* What the clocks of a stretch show, without what belongs to a neighbour. */
static void shown_range(struct wall_rules rules, const struct stretch *stretch, int64_t *out_from_s,
                        int64_t *out_to_s)
{
    *out_from_s = stretch->from_s + stretch->offset_s;
    *out_to_s = stretch->to_s + stretch->offset_s;
    if (rules.overlap == WALL_OVERLAP_FIRST && stretch->before_s > stretch->offset_s)
        *out_from_s = stretch->from_s + stretch->before_s;
    if (rules.overlap == WALL_OVERLAP_SECOND && stretch->after_s < stretch->offset_s)
        *out_to_s = stretch->to_s + stretch->after_s;
}

bool wall_next(const struct wall *wall, int64_t after_us, int64_t *out_us)
{
    struct wall_rules rules = resolve(wall);
    if (after_us >= most_us())
        return false;
    int64_t after_s = floor_s(MAX(after_us, least_us()));
    int64_t limit_s = after_s + (int64_t)WALL_YEARS * 366 * 86400;
    struct stretch stretch = stretch_at(wall->zone, (after_s + 1) * US_PER_SECOND);
    for (;;) {
        int64_t from_s = 0;
        int64_t to_s = 0;
        int64_t found_s = 0;
        shown_range(rules, &stretch, &from_s, &to_s);
        from_s = MAX(from_s, after_s + 1 + stretch.offset_s);
        if (after_s < stretch.from_s && has_gap_tick(wall, rules, &stretch)) {
            *out_us = stretch.from_s * US_PER_SECOND;
            return true;
        }
        to_s = MIN(to_s, limit_s + stretch.offset_s);
        if (from_s < to_s && cron_first(wall->cron, from_s, to_s, &found_s)) {
            *out_us = (found_s - stretch.offset_s) * US_PER_SECOND;
            return true;
        }
        if (stretch.to_s >= MIN(limit_s, floor_s(most_us())))
            return false;
        stretch = stretch_at(wall->zone, stretch.to_s * US_PER_SECOND);
    }
}

bool wall_previous(const struct wall *wall, int64_t before_us, int64_t *out_us)
{
    struct wall_rules rules = resolve(wall);
    if (before_us <= least_us())
        return false;
    int64_t before_s = floor_s(MIN(before_us, most_us()) - 1) + 1; /* ticks are below it */
    int64_t limit_s = before_s - (int64_t)WALL_YEARS * 366 * 86400;
    struct stretch stretch = stretch_at(wall->zone, (before_s - 1) * US_PER_SECOND);
    for (;;) {
        int64_t from_s = 0;
        int64_t to_s = 0;
        int64_t found_s = 0;
        shown_range(rules, &stretch, &from_s, &to_s);
        to_s = MIN(to_s, before_s + stretch.offset_s);
        from_s = MAX(from_s, limit_s + stretch.offset_s);
        if (from_s < to_s && cron_last(wall->cron, from_s, to_s, &found_s)) {
            *out_us = (found_s - stretch.offset_s) * US_PER_SECOND;
            return true;
        }
        if (stretch.from_s < before_s && has_gap_tick(wall, rules, &stretch)) {
            *out_us = stretch.from_s * US_PER_SECOND;
            return true;
        }
        if (!stretch.has_before || stretch.from_s <= limit_s)
            return false;
        stretch = stretch_at(wall->zone, (stretch.from_s - 1) * US_PER_SECOND);
    }
}
