/*
 * Where the state lies, from what the settings say.
 */
#include <stdlib.h>
#include <unistd.h>

#include "app/home.h"
#include "base/mem.h"
#include "expect.h"

static struct settings settings_of(const char *home, const char *store)
{
    struct err err = {0};
    struct settings settings = {0};
    json_t *flags = json_object();
    if (home != NULL)
        json_put_string(flags, "home", home);
    if (store != NULL)
        json_put_string(flags, "store", store);
    struct settings_layers layers = {.flags = flags, .defaults = {[SETTING_SLOTS] = "4"}};
    EXPECT_OK(settings_resolve(&layers, &settings, &err), &err);
    json_decref(flags);
    return settings;
}

/* A leading "." stands for the current folder. */
static char *place(const char *text)
{
    char *here = get_current_dir_name();
    cr_assert_not_null(here);
    char *full = text[0] == '.' ? mem_format("%s%s", here, text + 1) : mem_strdup(text);
    free(here);
    return full;
}

Test(home, the_store_is_where_the_settings_say)
{
    static const struct {
        const char *home, *store, *path;
        const char *wanted_home, *wanted_store; /* the store without its "sqlite:" */
    } CASES[] = {
        {"/state", NULL, NULL, "/state", "/state/eider.db"},
        {"state", NULL, NULL, "./state", "./state/eider.db"},
        {"/state", "sqlite:/var/x.db", NULL, "/state", "/var/x.db"},
        {"/state", "sqlite:x.db", NULL, "/state", "/state/x.db"},
        {"/state", "sqlite:sub/x.db", NULL, "/state", "/state/sub/x.db"},
        {"state", "sqlite:x.db", NULL, "./state", "./state/x.db"},
        /* A given folder is a world of its own. */
        {"/state", "sqlite:/var/x.db", "/other", "/other", "/other/eider.db"},
        {"/state", NULL, "other", "./other", "./other/eider.db"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        struct home home = {0};
        struct settings settings = settings_of(CASES[i].home, CASES[i].store);
        char *wanted_home = place(CASES[i].wanted_home);
        char *wanted_file = place(CASES[i].wanted_store);
        char *wanted_store = mem_format("sqlite:%s", wanted_file);

        EXPECT_OK(home_init(&settings, CASES[i].path, &home, &err), &err);

        cr_expect_str_eq(home.path, wanted_home, "case %zu: %s", i, home.path);
        cr_expect_str_eq(home.store_url, wanted_store, "case %zu: %s", i, home.store_url);
        cr_expect_neq(access(home.path, F_OK), 0, "nothing is made");
        home_fini(&home);
        home_fini(&home);
        free(wanted_home);
        free(wanted_file);
        free(wanted_store);
        settings_fini(&settings);
    }
}

Test(home, another_scheme_is_left_as_it_is)
{
    struct err err = {0};
    struct home home = {0};
    struct settings settings = settings_of("/state", "postgres://host/db");

    EXPECT_OK(home_init(&settings, NULL, &home, &err), &err);

    EXPECT_STR("postgres://host/db", home.store_url);
    home_fini(&home);
    settings_fini(&settings);
}

#define UUID "0a1b2c3d-0000-4000-8000-000000000001"
#define KEPT "/state/stores/" UUID

Test(home, what_belongs_to_a_store_lies_apart)
{
    static const struct {
        const char *store, *meeting_dir, *wake_file;
    } CASES[] = {
        {NULL, "/state", "/state/wake"},
        {"sqlite:x.db", "/state/x.db.d", "/state/x.db.d/wake"},
        {"sqlite:/var/data/eider.db", "/var/data", "/var/data/wake"},
        {"sqlite:/var/data/x.db", "/var/data/x.db.d", "/var/data/x.db.d/wake"},
        {"postgresql://a@b/c", KEPT, "/state/wake"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        struct home home = {0};
        struct home_place place = {0};
        struct settings settings = settings_of("/state", CASES[i].store);
        char *blob_dir = mem_format("%s/blob", CASES[i].meeting_dir);
        EXPECT_OK(home_init(&settings, NULL, &home, &err), &err);

        home_place_init(&home, UUID, &place);

        EXPECT_STR(CASES[i].meeting_dir, place.meeting_dir);
        EXPECT_STR(CASES[i].wake_file, home.wake_file);
        EXPECT_STR(blob_dir, place.blob_dir);
        /* Two homes of one store have these for themselves. */
        EXPECT_STR(KEPT, place.dir);
        EXPECT_STR(KEPT "/scratch", place.scratch_dir);
        EXPECT_STR("/state/hosts", home.hosts_dir);
        free(blob_dir);
        home_place_fini(&place);
        home_place_fini(&place);
        home_fini(&home);
        settings_fini(&settings);
    }
}
