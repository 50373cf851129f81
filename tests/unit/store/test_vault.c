/*
 * Variables, connections and secrets: which place counts, what is sealed, what a wrong key does.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "os/file.h"
#include "os/file_tree.h"
#include "store/event_store.h"
#include "store/vault_scope.h"
#include "store_bench.h"

static const char KEY_A[] = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
static const char KEY_B[] = "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";
static const char KEY_BA[] = "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=,"
                             "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
static const char CANARY[] = "canary-7f3a";

static struct bench_store bench;
static struct vault_sources sources;
static struct vault *vault;
static char folder[64];
static char secrets_dir[96];
static char *environment[8];

static void use_key(const char *key)
{
    vault_free(vault);
    sources.key_text = key;
    vault = vault_new(&sources, bench.store);
}

static void setup(void)
{
    bench = (struct bench_store){0};
    bench_open(&bench);
    (void)snprintf(folder, sizeof folder, "/tmp/eider-vault-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(secrets_dir, sizeof secrets_dir, "%s/secrets", folder);
    cr_assert_eq(mkdir(secrets_dir, 0700), 0);
    sources = (struct vault_sources){
        .environment = environment, .secrets_dir = secrets_dir, .key_file = "/no/such/key"};
    use_key(KEY_A);
}

static void teardown(void)
{
    vault_free(vault);
    vault = NULL;
    bench_close(&bench);
    struct err err = {0};
    CLEANUP(file_closep) int parent = -1;
    EXPECT_OK(file_open_directory("/tmp", &parent, &err), &err);
    EXPECT_OK(file_tree_remove(parent, strrchr(folder, '/') + 1, &err), &err);
}

TestSuite(vault, .init = setup, .fini = teardown);

/* --- what tests do --------------------------------------------------------------------------- */

static void set_variable(const char *space, const char *name, const char *value)
{
    struct err err = {0};
    struct vault_change change = {VAULT_VARIABLE, space, name, value, NULL, NULL, "ann"};
    EXPECT_OK(store_vault_set(bench.store, &change, &err), &err);
}

static enum status try_secret(const char *space, const char *name, const char *value,
                              struct err *err)
{
    CLEANUP(strbuf_fini) struct strbuf sealed;
    struct secret_context context = {"secret", space, name};
    struct secret_value plain = secret_value_new(value, strlen(value));
    strbuf_init(&sealed, 1 << 20);
    enum status status = vault_seal(vault, &context, &plain, &sealed, err);
    secret_value_fini(&plain);
    struct vault_change change = {VAULT_SECRET, space, name, NULL, sealed.text, NULL, "ann"};
    return status == STATUS_OK ? store_vault_set(bench.store, &change, err) : status;
}

static void set_secret(const char *space, const char *name, const char *value)
{
    struct err err = {0};
    EXPECT_OK(try_secret(space, name, value, &err), &err);
}

static void set_connection(const char *name, const char *uri)
{
    struct err err = {0};
    struct connection connection;
    CLEANUP(strbuf_fini) struct strbuf sealed;
    strbuf_init(&sealed, 1 << 20);
    EXPECT_OK(connection_parse(uri, &connection, &err), &err);
    CLEANUP(json_decrefp) json_t *whole = connection_to_json(&connection);
    CLEANUP(json_decrefp) json_t *shown = connection_shown_json(&connection);
    CLEANUP(mem_freep) char *whole_text = json_format(whole);
    CLEANUP(mem_freep) char *shown_text = json_format(shown);
    struct secret_context context = {"connection", "default", name};
    struct secret_value plain = secret_value_new(whole_text, strlen(whole_text));
    EXPECT_OK(vault_seal(vault, &context, &plain, &sealed, &err), &err);
    secret_value_fini(&plain);
    struct vault_change change = {VAULT_CONNECTION, "default", name, shown_text,
                                  sealed.text,      NULL,      "ann"};
    EXPECT_OK(store_vault_set(bench.store, &change, &err), &err);
    connection_fini(&connection);
}

static void write_file(const char *name, const char *text)
{
    struct err err = {0};
    CLEANUP(mem_freep) char *path = file_path_join(secrets_dir, name);
    EXPECT_OK(file_write_atomic(path, text, strlen(text), 0600, &err), &err);
}

static char *secret_of(const char *space, const char *name)
{
    struct err err = {0};
    struct secret_value value = {0};
    EXPECT_OK(vault_secret(vault, space, name, &value, &err), &err);
    char *text = mem_strdup(value.bytes);
    secret_value_fini(&value);
    return text;
}

#define EXPECT_SECRET(wanted, space, name)                                                         \
    do {                                                                                           \
        CLEANUP(mem_freep) char *got_ = secret_of(space, name);                                    \
        EXPECT_STR(wanted, got_);                                                                  \
    } while (0)

static enum status refused(const char *name, struct err *err)
{
    struct secret_value value = {0};
    enum status status = vault_secret(vault, "default", name, &value, err);
    cr_assert_null(value.bytes);
    return status;
}

/* --- a store of its own ---------------------------------------------------------------------- */

Test(vault, a_store_that_is_away_is_missed_only_by_who_asks_for_it)
{
    struct err err = {0};
    json_t *value = NULL;
    static char near[] = "EIDER_VAR_NEAR=env";
    environment[0] = near;
    CLEANUP(vault_freep)
    struct vault *away = vault_new_at(&sources, "postgresql://nobody@127.0.0.1:1/none");
    EXPECT_OK(vault_variable(away, "default", "near", &value, &err), &err);
    json_decref(value);
    for (int i = 0; i < 2; i++) {
        err = (struct err){0};
        cr_assert_neq(vault_variable(away, "default", "far", &value, &err), STATUS_OK);
        cr_assert_neq(err.code, STATUS_NOT_FOUND);
        EXPECT_CONTAINS(err.text, "look for the variable 'far': open the store: postgresql: ");
    }
    CLEANUP(mem_freep) char *url = mem_format("sqlite:%s/none.db", folder);
    CLEANUP(vault_freep) struct vault *unmade = vault_new_at(&sources, url);
    err = (struct err){0};
    cr_assert_eq(vault_variable(unmade, "default", "far", &value, &err), STATUS_NOT_FOUND);
    environment[0] = NULL;
}

/* --- which place counts ---------------------------------------------------------------------- */

Test(vault, a_variable_comes_from_the_nearest_place)
{
    static const struct {
        bool has_env, has_file, has_space, has_default;
        const char *wanted;
    } CASES[] = {
        {true, true, true, true, "\"env\""},     {false, true, true, true, "5"},
        {false, false, true, true, "\"prod\""},  {false, false, false, true, "\"default\""},
        {true, false, false, false, "\"env\""},  {false, true, false, false, "5"},
        {false, false, true, false, "\"prod\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        CLEANUP(mem_freep) char *name = mem_format("v%zu", i);
        CLEANUP(mem_freep) char *variable = mem_format("EIDER_VAR_V%zu=env", i);
        CLEANUP(json_decrefp) json_t *file = json_object();
        environment[0] = CASES[i].has_env ? variable : NULL;
        if (CASES[i].has_file)
            json_put_int(file, name, 5);
        sources.variables = file;
        if (CASES[i].has_space)
            set_variable("prod", name, "prod");
        if (CASES[i].has_default)
            set_variable("default", name, "default");
        set_variable("other", name, "other");

        CLEANUP(json_decrefp) json_t *value = NULL;
        EXPECT_OK(vault_variable(vault, "prod", name, &value, &err), &err);

        CLEANUP(mem_freep) char *text = json_format(value);
        cr_expect_str_eq(text, CASES[i].wanted, "case %zu: %s", i, text);
    }
    environment[0] = NULL;
    sources.variables = NULL;
}

Test(vault, a_secret_comes_from_the_nearest_place)
{
    set_secret("default", "tok", "of default");
    EXPECT_SECRET("of default", "prod", "tok");
    set_secret("prod", "tok", "of prod");
    EXPECT_SECRET("of prod", "prod", "tok");
    EXPECT_SECRET("of default", "dev", "tok");
    write_file("tok", "of a file\n");
    EXPECT_SECRET("of a file", "prod", "tok");
    environment[0] = (char[]){"EIDER_SECRET_TOK=of the environment"};
    EXPECT_SECRET("of the environment", "prod", "tok");
    environment[0] = NULL;
}

Test(vault, one_line_end_of_a_file_does_not_count)
{
    write_file("a", "x\n");
    write_file("b", "x\r\n");
    write_file("c", "x\n\n");
    write_file("d", "-- BEGIN\nabc\n");
    EXPECT_SECRET("x", "default", "a");
    EXPECT_SECRET("x", "default", "b");
    EXPECT_SECRET("x\n", "default", "c");
    EXPECT_SECRET("-- BEGIN\nabc", "default", "d");
}

Test(vault, what_is_missing_names_where_it_was_looked_for)
{
    struct err err = {0};
    json_t *value = NULL;
    struct connection connection = {0};

    cr_expect_eq(vault_variable(vault, "prod", "nope", &value, &err), STATUS_NOT_FOUND);
    EXPECT_CONTAINS(err.text, "there is no variable 'nope': looked at EIDER_VAR_NOPE, "
                              "variables.yaml and the store, namespace 'prod' and 'default'");
    cr_expect_eq(vault_connection(vault, "default", "nope", &connection, &err), STATUS_NOT_FOUND);
    EXPECT_CONTAINS(err.text, "EIDER_CONN_NOPE, connections.yaml and the store, namespace "
                              "'default'");
    cr_expect_eq(refused("nope", &err), STATUS_NOT_FOUND);
    EXPECT_CONTAINS(err.text, "EIDER_SECRET_NOPE, ");
    EXPECT_CONTAINS(err.text, "/secrets/nope and the store");
}

Test(vault, names_that_lead_elsewhere_are_none)
{
    struct err err = {0};
    write_file("real", "x");
    static const char *const NAMES[] = {"../secrets/real", "", ".", "..", "a/b", "key", "key_file"};
    for (size_t i = 0; i < ARRAY_LEN(NAMES); i++)
        cr_expect_eq(refused(NAMES[i], &err), STATUS_NOT_FOUND, "%s", NAMES[i]);
    cr_expect_eq(vault_check_name(VAULT_SECRET, "default", "key-file", &err), STATUS_INVALID);
    cr_expect_eq(vault_check_name(VAULT_SECRET, "a b", "x", &err), STATUS_INVALID);
    EXPECT_OK(vault_check_name(VAULT_VARIABLE, "default", "key", &err), &err);
}

Test(vault, a_place_that_cannot_give_it_is_not_passed_over)
{
    struct err err = {0};
    set_secret("default", "tok", CANARY);
    CLEANUP(mem_freep) char *path = file_path_join(secrets_dir, "tok");
    cr_assert_eq(mkdir(path, 0700), 0);
    cr_expect_neq(refused("tok", &err), STATUS_OK);
    cr_expect_neq(err.code, STATUS_NOT_FOUND);
    cr_assert_eq(rmdir(path), 0);
    write_file("tok", "\xff\xfe");
    cr_expect_eq(refused("tok", &err), STATUS_INVALID);
    EXPECT_CONTAINS(err.text, "base64");
}

/* --- sealing --------------------------------------------------------------------------------- */

Test(vault, a_wrong_key_is_named_and_nothing_is_lost)
{
    struct err err = {0};
    set_secret("default", "tok", CANARY);
    set_secret("prod", "tok", CANARY);
    set_connection("db", "pg://u:pw1234@h/x");

    use_key(KEY_B);
    cr_expect_eq(refused("tok", &err), STATUS_DENIED);
    EXPECT_CONTAINS(err.text, "sealed with another key");
    cr_expect_eq(try_secret("default", "new", "x", &err), STATUS_DENIED);
    EXPECT_CONTAINS(err.text, "or delete them if it is lost");
    struct vault_rotation rotation;
    EXPECT_OK(vault_rotate(vault, "ann", &rotation, &err), &err);
    cr_expect_eq(rotation.failed, 3);
    cr_expect_eq(rotation.resealed, 0);
    EXPECT_CONTAINS(rotation.first_failure, "another key");

    use_key(NULL);
    cr_expect_eq(refused("tok", &err), STATUS_DENIED, "a missing key is not a missing secret");
    EXPECT_CONTAINS(err.text, "no key for secrets");
    cr_expect_eq(try_secret("default", "new", "x", &err), STATUS_DENIED);

    use_key(KEY_A);
    EXPECT_SECRET(CANARY, "default", "tok");
    EXPECT_SECRET(CANARY, "prod", "tok");
}

Test(vault, a_connection_is_shown_without_a_key)
{
    struct err err = {0};
    json_t *shown = NULL;
    set_connection("db", "pg://u:pw1234@h:5432/x");
    use_key(NULL);

    EXPECT_OK(vault_connection_shown(vault, "default", "db", &shown, &err), &err);

    EXPECT_STR("h", json_get_string(shown, "host", ""));
    EXPECT_STR("***", json_get_string(shown, "password", ""));
    json_decref(shown);
}

Test(vault, a_sealed_value_opens_only_in_its_place)
{
    struct err err = {0};
    struct vault_row row;
    struct vault_name name = {VAULT_SECRET, "dev", "tok", true};
    set_secret("dev", "tok", CANARY);
    EXPECT_OK(store_vault_load(bench.store, bench.arena, &name, &row, &err), &err);
    struct vault_change change = {VAULT_SECRET, "prod", "tok", NULL, row.sealed, NULL, "eve"};
    EXPECT_OK(store_vault_set(bench.store, &change, &err), &err);
    struct secret_value value = {0};

    cr_expect_eq(vault_secret(vault, "prod", "tok", &value, &err), STATUS_CORRUPT);
    EXPECT_SECRET(CANARY, "dev", "tok");
}

Test(vault, rotation_seals_with_the_first_key_and_keeps_who_and_when)
{
    struct err err = {0};
    struct vault_rotation rotation;
    struct vault_row before;
    struct vault_row after;
    struct vault_name name = {VAULT_SECRET, "default", "tok", true};
    set_secret("default", "tok", CANARY);
    set_connection("db", "pg://u:pw1234@h/x");
    EXPECT_OK(store_vault_load(bench.store, bench.arena, &name, &before, &err), &err);
    bench_now_us += 1000000;

    use_key(KEY_BA);
    set_secret("default", "late", "x");
    EXPECT_OK(vault_rotate(vault, "bob", &rotation, &err), &err);

    cr_expect_eq(rotation.resealed, 2);
    cr_expect_eq(rotation.current, 1);
    cr_expect_eq(rotation.failed, 0);
    EXPECT_OK(store_vault_load(bench.store, bench.arena, &name, &after, &err), &err);
    EXPECT_STR("ann", after.actor);
    cr_expect_eq(after.updated_at_us, before.updated_at_us);
    use_key(KEY_B);
    EXPECT_SECRET(CANARY, "default", "tok");
    struct connection connection;
    EXPECT_OK(vault_connection(vault, "default", "db", &connection, &err), &err);
    EXPECT_STR("pw1234", connection.password);
    connection_fini(&connection);
}

Test(vault, what_was_set_meanwhile_is_not_sealed_over)
{
    struct err err = {0};
    struct vault_row row;
    struct vault_name name = {VAULT_SECRET, "default", "tok", true};
    bool done = true;
    set_secret("default", "tok", "old");
    EXPECT_OK(store_vault_load(bench.store, bench.arena, &name, &row, &err), &err);
    set_secret("default", "tok", "new");

    EXPECT_OK(store_vault_reseal(bench.store, VAULT_SECRET, &row, "x", &done, &err), &err);

    cr_expect(!done);
    EXPECT_SECRET("new", "default", "tok");
}

Test(vault, a_key_that_comes_later_is_found)
{
    struct err err = {0};
    char path[128];
    (void)snprintf(path, sizeof path, "%s/key", folder);
    set_secret("default", "tok", CANARY);
    EXPECT_OK(file_write_atomic(path, KEY_B, strlen(KEY_B), 0600, &err), &err);
    sources.key_file = path;
    use_key(NULL);
    cr_expect_eq(refused("tok", &err), STATUS_DENIED);

    EXPECT_OK(file_write_atomic(path, KEY_BA, strlen(KEY_BA), 0600, &err), &err);

    EXPECT_SECRET(CANARY, "default", "tok");
}

/* --- rows ------------------------------------------------------------------------------------ */

static enum status gather(void *context, const struct event_info *event, struct err *err)
{
    (void)err;
    strbuf_addf(context, "%s %s %s\n", event_kind_name(event->kind), event->actor,
                event->data != NULL ? event->data : "");
    return STATUS_OK;
}

Test(vault, every_change_is_told_without_values)
{
    struct err err = {0};
    CLEANUP(strbuf_fini) struct strbuf told;
    strbuf_init(&told, 1 << 16);
    struct vault_change gone = {VAULT_SECRET, "default", "tok", NULL, NULL, NULL, "bob"};
    set_variable("prod", "v", CANARY);
    set_secret("default", "tok", CANARY);
    EXPECT_OK(store_vault_delete(bench.store, &gone, &err), &err);
    cr_expect_eq(store_vault_delete(bench.store, &gone, &err), STATUS_NOT_FOUND);

    struct event_range all = {.limit = 100};
    EXPECT_OK(store_event_each(bench.store, &all, gather, &told, &err), &err);

    EXPECT_STR("variable_set ann {\"name\":\"v\",\"namespace\":\"prod\"}\n"
               "secret_set ann {\"name\":\"tok\",\"namespace\":\"default\"}\n"
               "secret_deleted bob {\"name\":\"tok\",\"namespace\":\"default\"}\n",
               told.text);
}

Test(vault, the_list_tells_sources_and_what_counts)
{
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *list = NULL;
    CLEANUP(json_decrefp) json_t *file = json_pack("{s:s, s:i}", "a", "file", "b", 2);
    environment[0] = (char[]){"EIDER_VAR_A=env"};
    sources.variables = file;
    set_variable("default", "a", "store");
    set_variable("prod", "c", "c");

    EXPECT_OK(vault_list(vault, VAULT_VARIABLE, &list, &err), &err);

    CLEANUP(strbuf_fini) struct strbuf told;
    strbuf_init(&told, 1 << 16);
    size_t i;
    json_t *row;
    json_array_foreach(list, i, row)
    {
        strbuf_addf(&told, "%s %s %s %s %d\n", json_get_string(row, "name", ""),
                    json_get_string(row, "source", ""), json_get_string(row, "place", "-"),
                    json_get_string(row, "namespace", "-"), json_get_bool(row, "hidden", false));
    }
    EXPECT_STR("a environment EIDER_VAR_A - 0\n"
               "a file variables.yaml - 1\n"
               "a store - default 1\n"
               "b file variables.yaml - 0\n"
               "c store - prod 0\n",
               told.text);
    environment[0] = NULL;
    sources.variables = NULL;
}

Test(vault, the_list_of_secrets_has_no_values)
{
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *list = NULL;
    environment[0] = (char[]){"EIDER_SECRET_A=canary-7f3a"};
    environment[1] = (char[]){"EIDER_SECRET_KEY=canary-7f3a"};
    write_file("b", CANARY);
    write_file("..data", CANARY);
    set_secret("default", "c", CANARY);

    EXPECT_OK(vault_list(vault, VAULT_SECRET, &list, &err), &err);

    CLEANUP(mem_freep) char *text = json_format(list);
    cr_expect_eq(json_array_size(list), 3, "%s", text);
    cr_expect_null(strstr(text, "canary"));
    environment[0] = environment[1] = NULL;
}

/* --- connections ----------------------------------------------------------------------------- */

Test(vault, fields_of_a_connection_in_a_file_may_be_secrets)
{
    struct err err = {0};
    struct connection connection = {0};
    CLEANUP(json_decrefp)
    json_t *file = json_pack("{s:{s:s, s:s, s:s, s:{s:s}}, s:{s:s, s:s}, s:{s:s, s:s}}", "db",
                             "type", "pg", "host", "h", "password", "{{ secrets.pw }}", "extra",
                             "token", "t-{{ secrets.pw }}", "bad", "type", "pg", "password",
                             "{{ secrets.nope }}", "odd", "type", "pg", "host", "{{ params.x }}");
    sources.connections = file;
    set_secret("default", "pw", CANARY);

    EXPECT_OK(vault_connection(vault, "default", "db", &connection, &err), &err);
    EXPECT_STR(CANARY, connection.password);
    EXPECT_STR("t-canary-7f3a", json_get_string(connection.extra, "token", ""));
    connection_fini(&connection);
    cr_expect_eq(vault_connection(vault, "default", "bad", &connection, &err), STATUS_INVALID);
    EXPECT_CONTAINS(err.text, "connection 'bad' of connections.yaml: 'password': ");
    cr_expect_eq(vault_connection(vault, "default", "odd", &connection, &err), STATUS_INVALID);
    EXPECT_CONTAINS(err.text, "'host': undefined name 'params'");
    sources.connections = NULL;
}

/* --- templates ------------------------------------------------------------------------------- */

struct rendering {
    bool may_see;
    bool shows_only;
    struct vault_seen seen;
};

static enum status render(struct rendering *how, const char *text, char **out, struct err *err)
{
    const struct template *template = NULL;
    struct template_fault fault;
    how->seen = (struct vault_seen){.arena = bench.arena};
    struct vault_scope scope = {.vault = vault,
                                .space = "default",
                                .may_see = how->may_see,
                                .shows_only = how->shows_only,
                                .seen = &how->seen};
    struct template_scope names = vault_scope_names(&scope);
    EXPECT_OK(template_parse(bench.arena, text, &template, &fault, err), err);
    return template_render_text(template, &names, out, &fault, err);
}

Test(vault, templates_see_secrets_only_where_they_may)
{
    set_secret("default", "tok", CANARY);
    set_variable("default", "v", "[1, 2]");
    set_connection("db", "pg://u:pw1234@h:5432/x?token=tok99&mode=a");
    static const struct {
        const char *text;
        const char *seen;   /* where secrets may be; NULL: an error */
        const char *hidden; /* where they may not */
        const char *shown;  /* to people */
    } CASES[] = {
        {"{{ var.value.v }} {{ var.json.v[1] }}", "[1, 2] 2", "[1, 2] 2", "[1, 2] 2"},
        {"{{ var.value.get('nope', 'x') }}", "x", "x", "x"},
        {"{{ secrets.tok }}", "canary-7f3a", NULL, "***"},
        {"{{ secrets.tok | default('x') }}", "canary-7f3a", NULL, "***"},
        {"{{ secrets.nope | default('x') }}", "x", NULL, "x"},
        {"{{ conn.db.host }}:{{ conn.db.port }}", "h:5432", "h:5432", "h:5432"},
        {"{{ conn.db.type }}={{ conn.db.conn_type }}", "pg=pg", "pg=pg", "pg=pg"},
        {"{{ conn.db.password }}", "pw1234", NULL, "***"},
        {"{{ conn.db['pass' ~ 'word'] }}", "pw1234", NULL, "***"},
        {"{{ conn.db.extra.token }}", "tok99", NULL, "***"},
        {"{{ conn.db.extra.mode }}", "a", "a", "a"},
        {"{% set c = conn.db %}{{ c.password }}", "pw1234", NULL, "***"},
        {"{% set c = conn.db %}{{ c.extra.token }}", "tok99", NULL, "***"},
        {"{% set c = conn.db %}{{ c.uri is defined }}", "true", "false", "true"},
        {"{{ conn.nope.host }}", NULL, NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        const char *const wanted[] = {CASES[i].seen, CASES[i].hidden, CASES[i].shown};
        for (size_t j = 0; j < ARRAY_LEN(wanted); j++) {
            struct rendering how = {.may_see = j != 1, .shows_only = j == 2};
            struct err err = {0};
            CLEANUP(mem_freep) char *got = NULL;
            enum status status = render(&how, CASES[i].text, &got, &err);
            cr_expect_eq(status == STATUS_OK, wanted[j] != NULL, "%s (%zu): %s", CASES[i].text, j,
                         err.text);
            if (status == STATUS_OK && wanted[j] != NULL)
                cr_expect_str_eq(got, wanted[j], "%s (%zu): %s", CASES[i].text, j, got);
        }
    }
}

Test(vault, what_templates_were_given_is_known_and_can_be_hidden)
{
    struct err err = {0};
    struct rendering how = {.may_see = true};
    CLEANUP(mem_freep) char *got = NULL;
    set_secret("default", "tok", CANARY);
    set_connection("db", "pg://u:pw1234@h/x?token=tok99");

    EXPECT_OK(render(&how, "{{ secrets.tok }} {{ secrets.tok }} {{ conn.db.host }}", &got, &err),
              &err);

    const char *const *seen = vault_seen_list(&how.seen);
    EXPECT_STR(CANARY, seen[0]);
    EXPECT_STR("pw1234", seen[1]);
    EXPECT_STR("tok99", seen[2]);
    cr_expect_null(seen[3]);
    EXPECT_STR("a *** b *** c", vault_seen_mask(&how.seen, "a pw1234 b canary-7f3a c"));
    vault_seen_wipe(&how.seen);
    cr_expect_eq(seen[0][0], '\0');
    cr_expect_null(vault_seen_list(&how.seen));
}
