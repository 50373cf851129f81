/*
 * zone_parse: TZif files.
 *
 *     header of 44 bytes: "TZif", version, 15 unused, six counts of 4 bytes
 *     times of transitions, their types, types of 6 bytes, names, leap seconds, two lists of flags
 *
 * From version 2 on this comes twice, first with times of 4 bytes and then with times of 8, and
 * a line with a POSIX rule follows. Everything is big-endian, and nothing is trusted.
 */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "model/limits.h"
#include "model/zone_priv.h"

enum { HEADER_BYTES = 44, TYPE_BYTES = 6 };

/* Times beyond are as good as never: the first transition of some files is the Big Bang. */
#define TIME_S_MAX (INT64_C(1) << 39)

struct counts {
    uint32_t utc_flags, std_flags, leaps, times, types, chars;
};

struct bytes {
    const uint8_t *at;
    size_t left;
};

static uint32_t big32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t big_time(const uint8_t *p, size_t width)
{
    if (width == 4)
        return (int32_t)big32(p);
    return (int64_t)((uint64_t)big32(p) << 32 | big32(p + 4));
}

static bool take_header(struct bytes *bytes, uint8_t *out_version, struct counts *out)
{
    const uint8_t *p = bytes->at;
    if (bytes->left < HEADER_BYTES || memcmp(p, "TZif", 4) != 0)
        return false;
    *out_version = p[4];
    *out = (struct counts){big32(p + 20), big32(p + 24), big32(p + 28),
                           big32(p + 32), big32(p + 36), big32(p + 40)};
    bytes->at += HEADER_BYTES;
    bytes->left -= HEADER_BYTES;
    return *out_version == 0 || (*out_version >= '2' && *out_version <= '4');
}

/* Of the block after a header; every count is below 2^32, so nothing overflows. */
static uint64_t block_bytes(const struct counts *counts, size_t width)
{
    return (uint64_t)counts->times * (width + 1) + (uint64_t)counts->types * TYPE_BYTES +
           counts->chars + (uint64_t)counts->leaps * (width + 4) + counts->std_flags +
           counts->utc_flags;
}

static bool skip_block(struct bytes *bytes, const struct counts *counts, size_t width)
{
    uint64_t size = block_bytes(counts, width);
    if (size > bytes->left)
        return false;
    bytes->at += size;
    bytes->left -= size;
    return true;
}

static enum status read_offset(const uint8_t *type, int32_t *out, struct err *err)
{
    int32_t offset = (int32_t)big32(type);
    if (offset < -ZONE_OFFSET_S_MAX || offset > ZONE_OFFSET_S_MAX)
        return err_set(err, STATUS_INVALID, "an offset of %" PRId32 " seconds", offset);
    *out = offset;
    return STATUS_OK;
}

static enum status read_transitions(const uint8_t *block, const struct counts *counts, size_t width,
                                    struct zone *zone, struct err *err)
{
    const uint8_t *indexes = block + (size_t)counts->times * width;
    const uint8_t *types = indexes + counts->times;
    int64_t before = INT64_MIN;
    for (size_t i = 0; i < counts->times; i++) {
        int64_t at_s = big_time(block + i * width, width);
        if (i > 0 && at_s <= before)
            return err_set(err, STATUS_INVALID, "its transitions are not in order");
        if (indexes[i] >= counts->types)
            return err_set(err, STATUS_INVALID, "a transition to a type that is not there");
        before = at_s;
        int32_t offset = 0;
        if (read_offset(types + (size_t)indexes[i] * TYPE_BYTES, &offset, err) != STATUS_OK)
            return err->code;
        if (at_s > TIME_S_MAX)
            break;
        /* Several before the bound: the last of them counts. */
        size_t slot = zone->count;
        if (at_s < -TIME_S_MAX) {
            zone->first_s = offset;
            continue;
        }
        zone->at_s[slot] = at_s;
        zone->offset_s[slot] = offset;
        zone->count++;
    }
    return STATUS_OK;
}

static enum status read_block(struct arena *arena, struct bytes *bytes, const struct counts *counts,
                              size_t width, struct zone *zone, struct err *err)
{
    const uint8_t *block = bytes->at;
    if (counts->types == 0 || counts->types > 256 || counts->times > LIMIT_ZONE_TRANSITIONS)
        return err_set(err, STATUS_INVALID, "its header cannot be right");
    if (counts->leaps > 0)
        return err_set(err, STATUS_INVALID,
                       "it counts leap seconds, unlike the rest of the world: use the zone without "
                       "'right/'");
    if (!skip_block(bytes, counts, width))
        return err_set(err, STATUS_INVALID, "it is cut off");
    zone->at_s = arena_array(arena, counts->times + 1, sizeof *zone->at_s);
    zone->offset_s = arena_array(arena, counts->times + 1, sizeof *zone->offset_s);
    const uint8_t *types = block + (size_t)counts->times * (width + 1);
    if (read_offset(types, &zone->first_s, err) != STATUS_OK)
        return err->code;
    return read_transitions(block, counts, width, zone, err);
}

/* "\nRULE\n"; an empty rule means that nothing is known about later times. */
static enum status read_footer(const struct bytes *bytes, struct zone *zone, struct err *err)
{
    char text[LIMIT_ZONE_RULE_BYTES + 1];
    if (bytes->left < 2 || bytes->at[0] != '\n')
        return err_set(err, STATUS_INVALID, "its last line is missing");
    const uint8_t *rule = bytes->at + 1;
    const uint8_t *end = memchr(rule, '\n', bytes->left - 1);
    if (end == NULL || end - rule > LIMIT_ZONE_RULE_BYTES)
        return err_set(err, STATUS_INVALID, "its last line is cut off");
    size_t length = (size_t)(end - rule);
    memcpy(text, rule, length);
    text[length] = '\0';
    zone->has_rule = length > 0;
    if (zone->has_rule && (strlen(text) != length || !zone_rule_parse(text, &zone->rule)))
        return err_set(err, STATUS_INVALID, "its last line is no rule");
    return STATUS_OK;
}

enum status zone_parse(struct arena *arena, const void *data, size_t length,
                       const struct zone **out, struct err *err)
{
    struct bytes bytes = {data, length};
    struct counts counts;
    uint8_t version = 0;
    size_t width = 4;
    if (!take_header(&bytes, &version, &counts))
        return err_set(err, STATUS_INVALID, "no TZif file");
    if (version != 0) {
        width = 8;
        if (!skip_block(&bytes, &counts, 4) || !take_header(&bytes, &version, &counts) ||
            version == 0)
            return err_set(err, STATUS_INVALID, "its second part is missing");
    }
    struct zone *zone = arena_alloc(arena, sizeof *zone);
    if (read_block(arena, &bytes, &counts, width, zone, err) != STATUS_OK)
        return err->code;
    if (version != 0 && read_footer(&bytes, zone, err) != STATUS_OK)
        return err->code;
    *out = zone;
    return STATUS_OK;
}
