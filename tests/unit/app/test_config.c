/*
 * What the outside says, in the forms it may say it.
 */
#include "app/config.h"
#include "expect.h"

Test(config, a_url_is_taken_apart_into_a_connection)
{
    static const struct {
        const char *url;
        const char *parts; /* without "uri", keys sorted */
    } CASES[] = {
        {"postgres://me:pw@db.local:5432/sales?sslmode=require&x=y",
         "{\"conn_type\":\"postgres\",\"extra\":\"sslmode=require&x=y\",\"host\":\"db.local\","
         "\"login\":\"me\",\"password\":\"pw\",\"port\":5432,\"schema\":\"sales\"}"},
        {"http://host", "{\"conn_type\":\"http\",\"host\":\"host\"}"},
        {"http://host/", "{\"conn_type\":\"http\",\"host\":\"host\"}"},
        {"http://host?a=b", "{\"conn_type\":\"http\",\"extra\":\"a=b\",\"host\":\"host\"}"},
        {"http://host?", "{\"conn_type\":\"http\",\"extra\":\"\",\"host\":\"host\"}"},
        {"http://me@host", "{\"conn_type\":\"http\",\"host\":\"host\",\"login\":\"me\"}"},
        {"http://:pw@host", "{\"conn_type\":\"http\",\"host\":\"host\",\"password\":\"pw\"}"},
        {"http://me:p@w@host",
         "{\"conn_type\":\"http\",\"host\":\"host\",\"login\":\"me\",\"password\":\"p@w\"}"},
        {"http://me:p:w@host",
         "{\"conn_type\":\"http\",\"host\":\"host\",\"login\":\"me\",\"password\":\"p:w\"}"},
        {"http://host:1", "{\"conn_type\":\"http\",\"host\":\"host\",\"port\":1}"},
        {"http://host:65535", "{\"conn_type\":\"http\",\"host\":\"host\",\"port\":65535}"},
        {"http://host:0", "{\"conn_type\":\"http\",\"host\":\"host\"}"},
        {"http://host:65536", "{\"conn_type\":\"http\",\"host\":\"host\"}"},
        {"http://host:", "{\"conn_type\":\"http\",\"host\":\"host\"}"},
        {"pg://[::1]:5432/db",
         "{\"conn_type\":\"pg\",\"host\":\"::1\",\"port\":5432,\"schema\":\"db\"}"},
        {"pg://[fe80::2]", "{\"conn_type\":\"pg\",\"host\":\"fe80::2\"}"},
        {"pg://me:p[w]@[::1]:7", "{\"conn_type\":\"pg\",\"host\":\"::1\",\"login\":\"me\","
                                 "\"password\":\"p[w]\",\"port\":7}"},
        {"pg://[::1", "{\"conn_type\":\"pg\",\"host\":\"::1\"}"},
        {"pg://[]:7", "{\"conn_type\":\"pg\",\"port\":7}"},
        {"sqlite:///var/x.db", "{\"conn_type\":\"sqlite\",\"schema\":\"var/x.db\"}"},
        {"://host", "{\"host\":\"host\"}"},
        {"pg://", "{\"conn_type\":\"pg\"}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        json_t *got = config_connection_from_url(CASES[i].url);
        EXPECT_STR(CASES[i].url, json_get_string(got, "uri", "none"));
        cr_assert_eq(json_object_del(got, "uri"), 0);
        char *text = json_format(got);
        cr_expect_str_eq(text, CASES[i].parts, "%s: %s", CASES[i].url, text);
        free(text);
        json_decref(got);
    }
}

Test(config, a_text_without_a_scheme_is_a_host)
{
    static const char *const TEXTS[] = {"db.local", "me:pw@db:5432/x", ""};
    for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++) {
        json_t *got = config_connection_from_url(TEXTS[i]);
        cr_assert_eq(json_object_size(got), 1, "%s", TEXTS[i]);
        EXPECT_STR(TEXTS[i], json_get_string(got, "host", "none"));
        json_decref(got);
    }
}
