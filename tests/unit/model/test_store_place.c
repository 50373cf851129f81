/*
 * Where the files of a store lie.
 */
#include <stdlib.h>

#include "expect.h"
#include "model/store_place.h"

Test(store_place, a_setting_becomes_a_url)
{
    static const struct {
        const char *setting, *wanted;
    } CASES[] = {
        {"", "sqlite:/home/eider.db"},
        {"sqlite:x.db", "sqlite:/home/x.db"},
        {"sqlite:sub/x.db", "sqlite:/home/sub/x.db"},
        {"sqlite:/var/x.db", "sqlite:/var/x.db"},
        {"postgresql://a@b/c", "postgresql://a@b/c"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        char *url = store_place_url(CASES[i].setting, "/home");
        EXPECT_STR(CASES[i].wanted, url);
        free(url);
    }
}

Test(store_place, only_some_stores_are_files)
{
    EXPECT_STR("/x/eider.db", store_place_path("sqlite:/x/eider.db"));
    cr_expect_null(store_place_path("postgresql://a@b/sqlite:"));
}

Test(store_place, every_file_has_a_folder_of_its_own)
{
    static const struct {
        const char *path, *wanted;
    } CASES[] = {
        {"/home/eider.db", "/home"},      {"/eider.db", "/"},
        {"/home/x.db", "/home/x.db.d"},   {"/home/my-eider.db", "/home/my-eider.db.d"},
        {"/home/eider", "/home/eider.d"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        char *folder = store_place_folder(CASES[i].path);
        EXPECT_STR(CASES[i].wanted, folder);
        free(folder);
    }
}

Test(store_place, a_uuid_is_safe_in_a_path)
{
    cr_expect(store_place_is_uuid("0a1b2c3d-0000-4000-8000-000000000001"));
    cr_expect_not(store_place_is_uuid(""));
    cr_expect_not(store_place_is_uuid("../../../../../../../../../../etc/x/"));
    cr_expect_not(store_place_is_uuid("0a1b2c3d-0000-4000-8000-0000000000011"));
}
