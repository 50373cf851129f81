#pragma once
/*
 * zone: what clocks show in a time zone, from the bytes of a TZif file (RFC 8536). Pure.
 *
 * A zone is a row of spans, each with one offset from UTC; after the last span of the file
 * the POSIX rule in its footer goes on for ever. Whoever needs a zone by name hands over a
 * reader of files (os/zone_file.h has the real one), so nothing here touches a disk.
 *
 * Ownership  A zone lives in the arena given and never changes, so threads may share it.
 * Tests      tests/unit/model/test_zone.c, tests/fuzz/fuzz_zone.c, tests/oracle
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"

struct arena;
struct zone;

/*
 * The bytes of the file of a zone, or for "local" those of the machine's zone, which may be a
 * POSIX rule instead of a file. Heap, the caller frees; a NUL after them is not counted.
 *
 *   STATUS_NOT_FOUND  there is no such zone; *err says what was perhaps meant.
 */
typedef enum status (*zone_reader)(const char *name, char **out_bytes, size_t *out_length,
                                   struct err *err);

/* "UTC" needs no reader; with `read` NULL every other name is STATUS_NOT_FOUND. */
NODISCARD enum status zone_find(struct arena *arena, const char *name, zone_reader read,
                                const struct zone **out, struct err *err);

/* STATUS_INVALID for bytes that are no TZif file of version 1 to 4, or one with leap seconds. */
NODISCARD enum status zone_parse(struct arena *arena, const void *bytes, size_t length,
                                 const struct zone **out, struct err *err);
/* A POSIX rule such as "CET-1CEST,M3.5.0,M10.5.0/3" as a zone of its own. */
NODISCARD enum status zone_parse_rule(struct arena *arena, const char *text,
                                      const struct zone **out, struct err *err);

/* Seconds to add to UTC to get what clocks show. */
int32_t zone_offset_at(const struct zone *zone, int64_t at_us);

#define ZONE_NEVER_US   INT64_MIN
#define ZONE_FOREVER_US INT64_MAX

/* A stretch of time with one offset. Neighbours may have the same. */
struct zone_span {
    int64_t from_us; /* ZONE_NEVER_US: it was always so */
    int64_t to_us;   /* the first instant after it; ZONE_FOREVER_US: none */
    int32_t offset_s;
};

struct zone_span zone_span_at(const struct zone *zone, int64_t at_us);

/* The instants at which clocks show a time, as microseconds since 1970-01-01 00:00 on them. */
struct zone_instants {
    unsigned count;   /* 0 in a skipped hour, 2 in a repeated one */
    int64_t at_us[2]; /* ascending */
    int64_t valid_us; /* at_us[0]; in a skipped hour the first instant after it */
};

struct zone_instants zone_local_to_utc(const struct zone *zone, int64_t shown_us);
