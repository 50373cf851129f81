/*
 * ticks: prints what the timetables say, for test_ticks.py to compare with others.
 *
 * Reads one question per line from standard input, its parts separated by tabs, and answers each
 * with one line:
 *
 *     ticks EXPRESSION ZONE GAP OVERLAP FROM COUNT     COUNT instants after FROM
 *     back  EXPRESSION ZONE GAP OVERLAP FROM COUNT     COUNT instants before FROM
 *     offset ZONE AT..                                 seconds, one for each instant
 *
 * Instants are seconds since 1970. A question that cannot be answered gives "error: WHY".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/cron.h"
#include "model/wall.h"
#include "model/zone.h"
#include "os/zone_file.h"

enum { PARTS_MAX = 4096 };

static const int64_t US_PER_SECOND = 1000000;

static size_t split(char *line, char **parts)
{
    size_t count = 0;
    char *rest = line;
    while (count < PARTS_MAX && rest != NULL)
        parts[count++] = strsep(&rest, "\t");
    return count;
}

static int64_t number(const char *text)
{
    int64_t value = 0;
    if (!str_parse_i64(text, INT64_MIN / US_PER_SECOND, INT64_MAX / US_PER_SECOND, &value))
        (void)printf("error: '%s' is no number", text);
    return value;
}

static int choice(const char *name, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    (void)printf("error: '%s'", name);
    return 0;
}

static void print_ticks(const struct wall *wall, bool back, int64_t from_us, int64_t count)
{
    int64_t at_us = from_us;
    for (int64_t i = 0; i < count; i++) {
        bool found = back ? wall_previous(wall, at_us, &at_us) : wall_next(wall, at_us, &at_us);
        if (!found)
            break;
        (void)printf("%s%" PRId64, i > 0 ? " " : "", at_us / US_PER_SECOND);
    }
}

static void answer_ticks(struct arena *arena, char **parts)
{
    static const char *const GAPS[] = {"auto", "next", "skip"};
    static const char *const OVERLAPS[] = {"auto", "first", "second", "both"};
    struct err err = {0};
    struct cron cron;
    size_t offset = 0;
    struct wall wall = {
        .cron = &cron,
        .rules.gap = (enum wall_gap)choice(parts[3], GAPS, ARRAY_LEN(GAPS)),
        .rules.overlap = (enum wall_overlap)choice(parts[4], OVERLAPS, ARRAY_LEN(OVERLAPS)),
    };
    if (cron_parse(parts[1], &cron, &offset, &err) != STATUS_OK ||
        zone_find(arena, parts[2], zone_file_read, &wall.zone, &err) != STATUS_OK)
        (void)printf("error: %s", err.text);
    else
        print_ticks(&wall, strcmp(parts[0], "back") == 0, number(parts[5]) * US_PER_SECOND,
                    number(parts[6]));
}

static void answer_offsets(struct arena *arena, char **parts, size_t count)
{
    struct err err = {0};
    const struct zone *zone = NULL;
    if (zone_find(arena, parts[1], zone_file_read, &zone, &err) != STATUS_OK) {
        (void)printf("error: %s", err.text);
        return;
    }
    for (size_t i = 2; i < count; i++)
        (void)printf("%s%" PRId32, i > 2 ? " " : "",
                     zone_offset_at(zone, number(parts[i]) * US_PER_SECOND));
}

int main(void)
{
    CLEANUP(mem_freep) char *line = NULL;
    CLEANUP(mem_freep) char **parts = mem_zalloc(PARTS_MAX, sizeof(char *));
    size_t capacity = 0;
    while (getline(&line, &capacity, stdin) > 0) {
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        line[strcspn(line, "\n")] = '\0';
        size_t count = split(line, parts);
        if (strcmp(parts[0], "offset") == 0 && count >= 2)
            answer_offsets(arena, parts, count);
        else if (count == 7)
            answer_ticks(arena, parts);
        else
            (void)printf("error: %zu parts", count);
        (void)printf("\n");
    }
    return EXIT_SUCCESS;
}
