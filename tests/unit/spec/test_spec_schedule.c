/*
 * The schedules of DAG files: every mistake is found when the file is read, at its place.
 * The zones are those of the test, so that nothing depends on the machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "expect.h"
#include "spec/spec.h"
#include "zone_bytes.h"

static void write_zone(const char *folder, const char *name, const char *rule)
{
    CLEANUP(mem_freep) char *path = mem_format("%s/%s", folder, name);
    struct zone_bytes bytes = zone_bytes_of_rule(rule);
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file, "%s", path);
    cr_assert_eq(fwrite(bytes.bytes, 1, bytes.length, file), bytes.length);
    cr_assert_eq(fclose(file), 0);
}

static char folder[] = "/tmp/eider-zones-XXXXXX";

static void make_zones(void)
{
    cr_assert_not_null(mkdtemp(folder));
    CLEANUP(mem_freep) char *europe = mem_format("%s/Europe", folder);
    cr_assert_eq(mkdir(europe, 0700), 0);
    write_zone(europe, "Berlin", "CET-1CEST,M3.5.0,M10.5.0/3");
    cr_assert_eq(setenv("TZDIR", folder, 1), 0);
}

static void remove_zones(void)
{
    CLEANUP(mem_freep) char *zone = mem_format("%s/Europe/Berlin", folder);
    CLEANUP(mem_freep) char *europe = mem_format("%s/Europe", folder);
    cr_assert_eq(unlink(zone) | rmdir(europe) | rmdir(folder), 0);
}

/* Problems only: that a key has no effect yet is said elsewhere. */
static void list_errors(const struct spec_file *file, struct strbuf *out)
{
    for (size_t i = 0; i < file->diags.count; i++)
        if (file->diags.items[i].severity == DIAG_ERROR)
            strbuf_addf(out, "%d:%d: %s\n", file->diags.items[i].line, file->diags.items[i].column,
                        file->diags.items[i].text);
}

static void expect_errors(const char *text, const char *wanted)
{
    CLEANUP(mem_freep) char *whole = mem_format("%s\ntasks: {a: {noop: }}\n", text);
    CLEANUP(spec_file_freep)
    struct spec_file *file = spec_load_text("some.yaml", whole, strlen(whole));
    CLEANUP(strbuf_fini) struct strbuf errors;
    strbuf_init(&errors, 1 << 16);
    list_errors(file, &errors);
    cr_expect_str_eq(errors.text, wanted, "%s\ngives\n%swanted\n%s", text, errors.text, wanted);
    cr_expect_eq(file->dags[0] == NULL, wanted[0] != '\0', "%s", text);
}

TestSuite(spec_schedule, .init = make_zones, .fini = remove_zones);

Test(spec_schedule, every_form_is_read)
{
    static const char *const GOOD[] = {
        "schedule: '@daily'",
        "schedule: null",
        "schedule_interval: 15 2 * * *",
        "schedule: every 15m",
        "schedule: 15m",
        "schedule: ['@daily', {every: 3h}, 0 6 * * MON-FRI]",
        "schedule: {cron: 15 2 * * *, tz: Europe/Berlin, start: 2026-01-01, end: 2026-12-31,\n"
        "  catchup: 3d, grace: 1m, overlap: skip, dst: {gap: skip, overlap: both},\n"
        "  date: interval_start}",
        "schedule: {cron: [0 6 * * *, '@hourly'], timezone: UTC, start_date: 2026-01-01}",
        "schedule: {at: [2026-01-31T06:00:00Z, 2026-02-28]}",
        "schedule: {every: 900, tz: local}",
        "schedule: {datasets: [a, b]}",
        "schedule: {cron: '@daily', after: other, file: x, webhook: true}",
        "schedule: '@daily'\nstart_date: 2026-01-01\nend_date: 2026-01-01\ncatchup: true",
        "schedule: [{cron: '@daily', catchup: all}, {cron: '@weekly', catchup: all}]",
        "start_date: 2026-01-01",
        "schedule: {cron: '@daily', start: 9999-12-31T23:59:00-23:59}",
        "schedule: {every: 1s, end: 0001-01-01T00:00:00+23:59, date: interval_start}",
        "schedule: {at: [0000-01-01, 9999-12-31], tz: Europe/Berlin, date: interval_start}",
    };
    for (size_t i = 0; i < ARRAY_LEN(GOOD); i++)
        expect_errors(GOOD[i], "");
}

Test(spec_schedule, every_mistake_is_named_at_its_place)
{
    static const struct {
        const char *text;
        const char *errors;
    } CASES[] = {
        {"schedule: 0 24 * * *", "1:13: cron: '24' is not an hour: expected 0 to 23\n"},
        {"schedule: '0 0 30 2 *'",
         "1:11: cron: it never comes: no year has such a day; look at the day of the month\n"},
        {"schedule: '@dayly'", "1:11: cron: there is no preset '@dayly'; did you mean '@daily'?\n"},
        {"schedule: '@once'",
         "1:11: cron: '@once' is no timetable: write {at: [2026-01-31T06:00:00Z]}, or start the "
         "one run by hand\n"},
        {"schedule: every day",
         "1:11: 'every': expected a duration of at least one second such as 30s, 15m or 2h, found "
         "the string 'every day'\n"},
        {"schedule: {every: 500ms}",
         "1:19: 'every': expected a duration of at least one second such as 30s, 15m or 2h, found "
         "the string '500ms'\n"},
        {"schedule:\n  cron: '@daily'\n  tz: Europe/Berln",
         "3:7: 'tz': there is no time zone 'Europe/Berln'; did you mean 'Europe/Berlin'?\n"},
        {"schedule: {cron: '@daily', tz: ../../etc/passwd}",
         "1:32: 'tz': '../../etc/passwd' is no name of a time zone: expected one such as "
         "Europe/Berlin\n"},
        {"schedule: {corn: '@daily'}",
         "1:11: the schedule does not say when: add 'cron', 'every' or 'at', or what it waits "
         "for: 'datasets', 'after', 'file' or 'webhook'\n"
         "1:12: unknown key 'corn' of a schedule; did you mean 'cron'?\n"},
        {"schedule: {cron: '@daily', every: 5m}",
         "1:28: 'cron', 'every' and 'at' are different schedules: make a list of maps\n"},
        {"schedule: {cron: '@daily', start: 2026-02-01, end: 2026-01-01}",
         "1:52: the schedule ends (2026-01-01) before it starts (2026-02-01)\n"},
        {"schedule: '@daily'\nstart_date: 2026-02-01\nend_date: 2026-01-31T23:59",
         "3:11: the schedule ends (2026-01-31T23:59) before it starts (2026-02-01)\n"},
        {"start_date: 2026-02-01\nend_date: 2026-01-31",
         "2:11: the schedule ends (2026-01-31) before it starts (2026-02-01)\n"},
        {"schedule: '@daily'\ntimezone: Europe/Berlin",
         "2:1: 'timezone' is no key of a DAG but of its schedule: write it into the map, as in "
         "schedule: {cron: \"15 2 * * *\", tz: Europe/Berlin}\n"},
        {"schedule: {cron: '@daily', start: soon}",
         "1:35: 'start': expected a date or an instant such as 2026-01-31 or 2026-01-31T06:00:00, "
         "found the string 'soon'\n"},
        {"start_date: never",
         "1:13: 'start_date': expected a date or an instant such as 2026-01-31 or "
         "2026-01-31T06:00:00, found the string 'never'\n"},
        {"schedule: {cron: '@daily', start: 2026-02-01}\nstart_date: 2026-02-01",
         "1:28: 'start' and the DAG's 'start_date' mean the same: keep one\n"},
        {"schedule: {cron: '@daily', catchup: some}",
         "1:37: 'catchup': expected none, latest, all or a window such as 3d, found the string "
         "'some'\n"},
        {"schedule: {cron: '@daily', overlap: quue}",
         "1:37: 'overlap': there is no 'quue'; did you mean 'queue'?\n"},
        {"schedule: {cron: '@daily', dst: {gap: nxt, fold: 1}}",
         "1:39: 'gap': there is no 'nxt'; did you mean 'next'?\n"
         "1:44: unknown key 'fold' of a dst rule\n"},
        {"schedule: {cron: '@daily', dst: skip}",
         "1:33: 'dst': expected a map such as {gap: next, overlap: first}, found the string "
         "'skip'\n"},
        {"schedule: {at: [2026-01-01, x]}",
         "1:29: 'at': expected a date or an instant such as 2026-01-31 or 2026-01-31T06:00:00, "
         "found the string 'x'\n"},
        {"schedule: {at: []}", "1:16: 'at': 0 instants, expected 1 to 10000\n"},
        {"schedule: {cron: 5}",
         "1:18: 'cron': expected a cron expression such as \"15 2 * * *\", found an integer\n"},
        {"schedule: ['@daily', 5]",
         "1:22: 'schedule': expected a cron expression, a preset, an interval or a map, found an "
         "integer\n"},
        {"schedule: [{cron: '@daily', grace: 1m}, {cron: '@weekly', grace: 2m}]",
         "1:59: 'grace' differs from what was said before, but it holds for all schedules of the "
         "DAG: say it once\n"},
        {"schedule: {cron: '@daily', catchup: all}\ncatchup: false",
         "1:28: 'catchup' differs from what was said before, but it holds for all schedules of "
         "the DAG: say it once\n"},
        {"schedule: {cron: '@daily', tz: UTC, timezone: UTC}",
         "1:37: 'tz' is there twice, also by its other name: keep one\n"},
        {"schedule: {}",
         "1:11: the schedule does not say when: add 'cron', 'every' or 'at', or what it waits "
         "for: 'datasets', 'after', 'file' or 'webhook'\n"},
        {"schedule: 5", "1:11: 'schedule': expected a string or a list or a map or null, found an "
                        "integer\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        expect_errors(CASES[i].text, CASES[i].errors);
}

Test(spec_schedule, the_number_of_schedules_is_bounded)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, 1 << 16);
    strbuf_add(&text, "schedule: {cron: [");
    for (int i = 0; i < 101; i++)
        strbuf_add(&text, "'@daily',");
    strbuf_add(&text, "]}");

    expect_errors(text.text, "1:11: 101 schedules, at most 100\n");
}
