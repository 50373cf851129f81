#include <stdlib.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "expect.h"
#include "model/connection.h"
#include "model/env_name.h"
#include "model/limits.h"

/* A connection as sorted JSON; heap. */
static char *parsed(const char *text)
{
    struct err err = {0};
    CLEANUP(connection_fini) struct connection connection = {0};
    EXPECT_OK(connection_parse(text, &connection, &err), &err);
    CLEANUP(json_decrefp) json_t *object = connection_to_json(&connection);
    return json_format(object);
}

Test(connection, a_uri_is_taken_apart)
{
    static const struct {
        const char *text, *wanted;
    } CASES[] = {
        {"postgres://user:pass@host:5432/db?x=y",
         "{\"extra\":{\"x\":\"y\"},\"host\":\"host\",\"login\":\"user\",\"password\":\"pass\","
         "\"port\":5432,\"schema\":\"db\",\"type\":\"postgres\"}"},
        {"Postgres://", "{\"type\":\"postgres\"}"},
        {"http://host", "{\"host\":\"host\",\"type\":\"http\"}"},
        {"http://host:/", "{\"host\":\"host\",\"type\":\"http\"}"},
        {"google-cloud-platform://?a=b+c&d=%2B&e",
         "{\"extra\":{\"a\":\"b c\",\"d\":\"+\",\"e\":\"\"},\"type\":\"google-cloud-platform\"}"},
        {"x://u%40d:p%2Fw%3A%25@h%2Fsock/a%2Fb/c",
         "{\"host\":\"h/sock\",\"login\":\"u@d\",\"password\":\"p/w:%\",\"schema\":\"a/b/c\","
         "\"type\":\"x\"}"},
        {"x://u:p@w@host",
         "{\"host\":\"host\",\"login\":\"u\",\"password\":\"p@w\",\"type\":\"x\"}"},
        {"x://:pw@host", "{\"host\":\"host\",\"password\":\"pw\",\"type\":\"x\"}"},
        {"x://[::1]:99/", "{\"host\":\"::1\",\"port\":99,\"type\":\"x\"}"},
        {"x://[::1]", "{\"host\":\"::1\",\"type\":\"x\"}"},
        {"x://h?__extra__=%7B%22a%22%3A%5B1%5D%7D",
         "{\"extra\":{\"a\":[1]},\"host\":\"h\",\"type\":\"x\"}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(mem_freep) char *got = parsed(CASES[i].text);
        EXPECT_STR(CASES[i].wanted, got);
    }
}

Test(connection, json_is_taken_with_the_names_of_airflow)
{
    static const struct {
        const char *text, *wanted;
    } CASES[] = {
        {"{\"type\":\"x\",\"host\":\"h\",\"port\":1,\"login\":\"l\",\"password\":\"p\"}",
         "{\"host\":\"h\",\"login\":\"l\",\"password\":\"p\",\"port\":1,\"type\":\"x\"}"},
        {" {\"conn_type\":\"X\",\"port\":\"65535\",\"extra\":\"{\\\"a\\\":1}\"}",
         "{\"extra\":{\"a\":1},\"port\":65535,\"type\":\"x\"}"},
        {"{\"type\":\"x\",\"host\":null,\"port\":null,\"schema\":\"\",\"extra\":null}",
         "{\"type\":\"x\"}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(mem_freep) char *got = parsed(CASES[i].text);
        EXPECT_STR(CASES[i].wanted, got);
    }
}

Test(connection, what_is_wrong_is_said_without_showing_the_password)
{
    static const struct {
        const char *text, *part;
    } CASES[] = {
        {"", "neither a URI"},
        {"hunter2.example.com", "neither a URI"},
        {"://hunter2@host", "type: missing"},
        {"my type://hunter2@host", "type: must be a word"},
        {"x://u:hunter2@host:port", "port: must be a number"},
        {"x://u:hunter2@host:0", "port: must be a number"},
        {"x://u:hunter2@host:65536", "port: must be a number"},
        {"x://u:hunter2/8@host", "port: must be a number"},
        {"x://u:hunter2%@host", "password: '%' must be followed"},
        {"x://u:hunter2%0g@host", "password: '%' must be followed"},
        {"x://u:hunter2%00@host", "password: '%' must be followed"},
        {"x://[::1", "without its ']'"},
        {"x://h?a=1&a=2", "'a' is there twice"},
        {"x://h?=hunter2", "one has no name"},
        {"x://h?a=hunter2%FF", "not UTF-8"},
        {"x://h?__extra__=hunter2", "must be a JSON object"},
        {"{\"password\":\"hunter2\"", "not JSON"},
        {"{\"password\":\"hunter2\"}", "type: missing"},
        {"{\"type\":\"x\",\"port\":0}", "port: must be"},
        {"{\"type\":\"x\",\"port\":true}", "port: must be"},
        {"{\"type\":\"x\",\"password\":5}", "password: must be a text"},
        {"{\"type\":\"x\",\"conn_type\":\"y\"}", "there twice"},
        {"{\"type\":\"x\",\"pasword\":\"hunter2\"}", "'pasword' is none of"},
        {"{\"type\":\"x\",\"extra\":[\"hunter2\"]}", "extra: must be a map"},
        {"{\"type\":\"x\",\"host\":\"a b\"}", "host: must not hold blanks"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        struct connection connection = {0};
        EXPECT_STATUS(STATUS_INVALID, connection_parse(CASES[i].text, &connection, &err), &err);
        EXPECT_CONTAINS(err.text, CASES[i].part);
        cr_assert_null(strstr(err.text, "hunter2"), "%s", err.text);
        cr_assert_null(connection.extra);
    }
}

Test(connection, a_long_text_is_refused)
{
    struct err err = {0};
    struct connection connection = {0};
    char *text = mem_zalloc(LIMIT_SECRET_BYTES + 2, 1);
    memset(text, 'a', LIMIT_SECRET_BYTES + 1);
    EXPECT_STATUS(STATUS_LIMIT, connection_parse(text, &connection, &err), &err);
    free(text);
}

Test(connection, it_is_shown_without_its_secrets_and_stored_with_them)
{
    static const struct {
        const char *text, *shown, *stored;
    } CASES[] = {
        {"postgres://u:hunter2@h:1/db?sslmode=on", "postgres://u:***@h:1/db?sslmode=on", NULL},
        {"x://:hunter2@h", "x://:***@h", NULL},
        {"x://h?api_token=hunter2&b=c", "x://h?api_token=***&b=c", NULL},
        {"x://u:hunter2@[::1]:5", "x://u:***@[::1]:5", NULL},
        {"x://a%40b:hunter2%2F@h/c%2Fd", "x://a%40b:***@h/c%2Fd", NULL},
        {"x://u:hunter2@@h", "x://u:***@h", "x://u:hunter2%40@h"},
        {"{\"type\":\"x\",\"extra\":{\"auth\":{\"k\":[\"hunter2\"]},\"n\":1}}",
         "x://?__extra__=%7B%22auth%22%3A%7B%22k%22%3A%5B%22***%22%5D%7D%2C%22n%22%3A1%7D",
         "x://?__extra__=%7B%22auth%22%3A%7B%22k%22%3A%5B%22hunter2%22%5D%7D%2C%22n%22%3A1%7D"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        CLEANUP(connection_fini) struct connection connection = {0};
        EXPECT_OK(connection_parse(CASES[i].text, &connection, &err), &err);
        CLEANUP(mem_freep) char *shown = connection_shown(&connection);
        CLEANUP(mem_freep) char *stored = connection_format(&connection);
        EXPECT_STR(CASES[i].shown, shown);
        EXPECT_STR(CASES[i].stored != NULL ? CASES[i].stored : CASES[i].text, stored);
        CLEANUP(mem_freep) char *before = parsed(CASES[i].text);
        CLEANUP(mem_freep) char *after = parsed(stored);
        EXPECT_STR(before, after);
    }
}

static void collect(void *context, const char *secret)
{
    strbuf_addf(context, "%s;", secret);
}

Test(connection, its_secrets_are_listed_for_masking)
{
    struct err err = {0};
    struct strbuf out;
    strbuf_init(&out, 1000);
    CLEANUP(connection_fini) struct connection connection = {0};
    EXPECT_OK(
        connection_parse("{\"type\":\"x\",\"login\":\"u\",\"password\":\"p1\",\"extra\":"
                         "{\"region\":\"eu\",\"Secret_Key\":\"p2\",\"private\":{\"a\":[\"p3\"]}}}",
                         &connection, &err),
        &err);
    connection_secrets(&connection, collect, &out);
    EXPECT_STR("p1;p2;p3;", out.text);
    strbuf_fini(&out);
}

/* --- names in the environment ---------------------------------------------------------------- */

Test(connection, names_map_to_the_environment)
{
    static const struct {
        enum env_kind kind;
        const char *name, *ours, *theirs;
    } CASES[] = {
        {ENV_CONNECTION, "db.main-ro", "EIDER_CONN_DB_MAIN_RO", "AIRFLOW_CONN_DB_MAIN_RO"},
        {ENV_VARIABLE, "api_url2", "EIDER_VAR_API_URL2", "AIRFLOW_VAR_API_URL2"},
        {ENV_SECRET, "token", "EIDER_SECRET_TOKEN", NULL},
        {ENV_SECRET, "keys", "EIDER_SECRET_KEYS", NULL},
        {ENV_SECRET, "key", NULL, NULL},
        {ENV_SECRET, "Key-File", NULL, NULL},
        {ENV_VARIABLE, "key", "EIDER_VAR_KEY", "AIRFLOW_VAR_KEY"},
        {ENV_VARIABLE, "", NULL, NULL},
        {ENV_VARIABLE, "a b", NULL, NULL},
        {ENV_VARIABLE, "a=b", NULL, NULL},
        {ENV_VARIABLE, "\xc3\xa9", NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        char *names[ENV_NAMES] = {NULL};
        cr_assert_eq(env_names(CASES[i].kind, CASES[i].name, names), CASES[i].ours != NULL);
        if (CASES[i].ours != NULL)
            EXPECT_STR(CASES[i].ours, names[0]);
        cr_assert_eq(names[1] != NULL, CASES[i].theirs != NULL);
        if (CASES[i].theirs != NULL)
            EXPECT_STR(CASES[i].theirs, names[1]);
        free(names[0]);
        free(names[1]);
    }
}

Test(connection, the_environment_maps_to_names)
{
    static const struct {
        const char *variable, *name;
        enum env_kind kind;
    } CASES[] = {
        {"EIDER_VAR_API_URL", "api_url", ENV_VARIABLE},
        {"AIRFLOW_CONN_DB", "db", ENV_CONNECTION},
        {"EIDER_SECRET_A", "a", ENV_SECRET},
        {"EIDER_SECRET_KEY", NULL, 0},
        {"EIDER_SECRET_KEY_FILE", NULL, 0},
        {"EIDER_VAR_", NULL, 0},
        {"EIDER_HOME", NULL, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        enum env_kind kind = ENV_KIND_COUNT;
        CLEANUP(mem_freep) char *name = env_name_parse(CASES[i].variable, &kind);
        cr_assert_eq(name != NULL, CASES[i].name != NULL, "%s", CASES[i].variable);
        if (name != NULL) {
            EXPECT_STR(CASES[i].name, name);
            cr_assert_eq(kind, CASES[i].kind);
        }
    }
}

Test(connection, names_tell_what_is_secret)
{
    static const char *const SECRET[] = {"password",
                                         "PASSWD",
                                         "api-key",
                                         "api_key",
                                         "accountKey",
                                         "key",
                                         "routing_key",
                                         "pwd",
                                         "db_pass",
                                         "sas",
                                         "jwt",
                                         "dsn",
                                         "url",
                                         "webhookUrl",
                                         "bearer",
                                         "client_secret",
                                         "connection_string"};
    static const char *const OPEN[] = {"host",   "keyspace", "monkey", "passive",      "base_url",
                                       "region", "saslmech", "schema", "keys_per_page"};
    for (size_t i = 0; i < ARRAY_LEN(SECRET); i++)
        cr_assert(connection_name_is_secret(SECRET[i]), "%s", SECRET[i]);
    for (size_t i = 0; i < ARRAY_LEN(OPEN); i++)
        cr_assert(!connection_name_is_secret(OPEN[i]), "%s", OPEN[i]);
}

Test(connection, a_url_with_a_password_is_secret_whatever_it_is_called)
{
    struct err err = {0};
    struct connection connection = {0};
    CLEANUP(strbuf_fini) struct strbuf out;
    strbuf_init(&out, 1000);
    EXPECT_OK(connection_parse("{\"type\": \"http\", \"extra\": {\"proxy\": "
                               "\"http://me:word@proxy:80/x\", \"site\": \"http://a:80/@b:c\"}}",
                               &connection, &err),
              &err);
    connection_secrets(&connection, collect, &out);
    EXPECT_STR("http://me:word@proxy:80/x;", out.text);
    connection_fini(&connection);
}
