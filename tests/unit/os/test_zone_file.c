/*
 * Zones of a folder made for the test.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "expect.h"
#include "os/zone_file.h"

static char folder[] = "/tmp/eider-zones-XXXXXX";

static const char *const FILES[] = {"Asia/Kolkata", "Europe/Berlin", "UTC", "posix"};

static void make_zones(void)
{
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
    cr_assert_eq(mkdir("Europe", 0700) | mkdir("Asia", 0700), 0);
    for (size_t i = 0; i < ARRAY_LEN(FILES); i++) {
        FILE *file = fopen(FILES[i], "w");
        cr_assert_not_null(file);
        cr_assert_gt(fprintf(file, "bytes of %s", FILES[i]), 0);
        cr_assert_eq(fclose(file), 0);
    }
    cr_assert_eq(setenv("TZDIR", folder, 1), 0);
}

static void remove_zones(void)
{
    for (size_t i = 0; i < ARRAY_LEN(FILES); i++)
        cr_assert_eq(unlink(FILES[i]), 0);
    cr_assert_eq(rmdir("Europe") | rmdir("Asia") | rmdir(folder), 0);
}

TestSuite(zone_file, .init = make_zones, .fini = remove_zones);

static void expect_bytes(const char *name, const char *wanted)
{
    CLEANUP(mem_freep) char *bytes = NULL;
    size_t length = 0;
    struct err err = {0};
    EXPECT_OK(zone_file_read(name, &bytes, &length, &err), &err);
    EXPECT_STR(wanted, bytes);
    cr_expect_eq(length, strlen(wanted));
}

static void expect_refused(const char *name, enum status status, const char *says)
{
    char *bytes = NULL;
    size_t length = 0;
    struct err err = {0};
    EXPECT_STATUS(status, zone_file_read(name, &bytes, &length, &err), &err);
    cr_expect_not_null(strstr(err.text, says), "%s: %s", name, err.text);
    cr_expect_null(bytes);
}

Test(zone_file, a_zone_is_read_by_its_name)
{
    expect_bytes("Europe/Berlin", "bytes of Europe/Berlin");
    expect_bytes("UTC", "bytes of UTC");
}

Test(zone_file, an_unknown_zone_is_refused_with_what_was_perhaps_meant)
{
    expect_refused("Europe/Berln", STATUS_NOT_FOUND, "did you mean 'Europe/Berlin'?");
    expect_refused("europe/berlin", STATUS_NOT_FOUND, "did you mean 'Europe/Berlin'?");
    expect_refused("Berlin", STATUS_NOT_FOUND, "did you mean 'Europe/Berlin'?");
    expect_refused("Kolkata", STATUS_NOT_FOUND, "did you mean 'Asia/Kolkata'?");
    expect_refused("Nowhere/AtAllOnEarth", STATUS_NOT_FOUND, "such as Europe/Berlin");
    expect_refused("Europe", STATUS_NOT_FOUND, "there is no time zone 'Europe'");
}

Test(zone_file, no_name_leads_out_of_the_folder)
{
    static const char *const BAD[] = {
        "",
        "/etc/passwd",
        "../etc/passwd",
        "Europe/../../x",
        ".",
        "Europe/",
        "//",
        "Europe//Berlin",
        "Europe/Berlin\n",
        "zone.tab",
        "a b",
        "Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    };
    for (size_t i = 0; i < ARRAY_LEN(BAD); i++)
        expect_refused(BAD[i], STATUS_INVALID, "is no name of a time zone");
}

Test(zone_file, a_machine_without_zones_says_so)
{
    cr_assert_eq(setenv("TZDIR", "/nowhere", 1), 0);
    expect_refused("Europe/Berlin", STATUS_NOT_FOUND, "install the package tzdata");
}

Test(zone_file, the_local_zone_is_what_the_environment_says)
{
    cr_assert_eq(setenv("TZ", "Asia/Kolkata", 1), 0);
    expect_bytes("local", "bytes of Asia/Kolkata");
    cr_assert_eq(setenv("TZ", ":Europe/Berlin", 1), 0);
    expect_bytes("local", "bytes of Europe/Berlin");
    cr_assert_eq(setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1), 0);
    expect_bytes("local", "CET-1CEST,M3.5.0,M10.5.0/3");
    cr_assert_eq(setenv("TZ", "", 1), 0);
    expect_bytes("local", "UTC0");
    CLEANUP(mem_freep) char *path = mem_format("%s/UTC", folder);
    cr_assert_eq(setenv("TZ", path, 1), 0);
    expect_bytes("local", "bytes of UTC");
    cr_assert_eq(setenv("TZ", "/nowhere/at/all", 1), 0);
    char *bytes = NULL;
    size_t length = 0;
    struct err err = {0};
    cr_expect_neq(zone_file_read("local", &bytes, &length, &err), STATUS_OK);
}

Test(zone_file, without_an_environment_the_machine_has_a_zone)
{
    CLEANUP(mem_freep) char *bytes = NULL;
    size_t length = 0;
    struct err err = {0};
    cr_assert_eq(unsetenv("TZ"), 0);
    EXPECT_OK(zone_file_read("local", &bytes, &length, &err), &err);
    cr_expect(strncmp(bytes, "TZif", 4) == 0 || strcmp(bytes, "UTC0") == 0);
}
