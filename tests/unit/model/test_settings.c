#include "expect.h"
#include "model/settings.h"

static const char *environment(void *context, const char *name)
{
    const json_t *variables = context;
    return json_string_value(json_object_get(variables, name));
}

static json_t *object(const char *text)
{
    return text == NULL ? NULL : json_loads(text, 0, NULL);
}

Test(settings, the_table_is_complete_and_its_defaults_are_valid)
{
    static const char *const NAMES[][2] = {
#define X(name, key, environment) [SETTING_##name] = {key, environment},
        SETTING_MAP(X)
#undef X
    };
    struct settings settings = {0};
    struct err err = {0};
    struct settings_layers layers = {
        .defaults = {[SETTING_SLOTS] = "4", [SETTING_HOST_NAME] = "here"}};

    EXPECT_OK(settings_resolve(&layers, &settings, &err), &err);
    for (enum setting_key key = 0; key < SETTING_COUNT; key++) {
        EXPECT_STR(NAMES[key][0], SETTINGS[key].key);
        EXPECT_STR(NAMES[key][1], SETTINGS[key].environment);
        cr_expect_eq(settings.values[key].origin, ORIGIN_DEFAULT);
        bool is_empty = key == SETTING_LABELS || key == SETTING_QUEUES ||
                        key == SETTING_SECRETS_DIR || key == SETTING_HOOKS ||
                        key == SETTING_BACKFILL_QUEUE || key == SETTING_TLS_CERTIFICATE ||
                        key == SETTING_TLS_KEY || key == SETTING_STATSD ||
                        key == SETTING_OTLP_ENDPOINT || key == SETTING_OTLP_HEADERS ||
                        key == SETTING_API_URL || setting_is_personal(key);
        cr_expect_eq(settings_text(&settings, key)[0] == '\0', is_empty, "%s", SETTINGS[key].key);
    }
    cr_expect_eq(settings_number(&settings, SETTING_OUTPUT_BYTES), 256 << 20);
    cr_expect_eq(settings_number(&settings, SETTING_GRACE), 10000);
    settings_fini(&settings);
    settings_fini(&settings);
}

Test(settings, the_nearest_layer_wins_and_is_named)
{
    static const struct {
        const char *flags, *environment, *project, *user;
        int64_t slots;
        enum setting_origin origin;
    } CASES[] = {
        {"{\"slots\":\"1\"}", "{\"EIDER_SLOTS\":\"2\"}", "{\"slots\":3}", "{\"slots\":5}", 1,
         ORIGIN_FLAG},
        {NULL, "{\"EIDER_SLOTS\":\"2\"}", "{\"slots\":3}", "{\"slots\":5}", 2, ORIGIN_ENVIRONMENT},
        {NULL, "{\"EIDER_SLOTS\":\"\"}", "{\"slots\":3}", "{\"slots\":5}", 3, ORIGIN_PROJECT},
        {NULL, NULL, "{\"variables\":{}}", "{\"slots\":5}", 5, ORIGIN_USER},
        {NULL, NULL, "null", NULL, 9, ORIGIN_DEFAULT},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        json_t *flags = object(CASES[i].flags);
        json_t *variables = object(CASES[i].environment);
        json_t *project =
            CASES[i].project == NULL ? NULL : json_loads(CASES[i].project, JSON_DECODE_ANY, NULL);
        json_t *user = object(CASES[i].user);
        struct settings_layers layers = {.flags = flags,
                                         .project = project,
                                         .user = user,
                                         .environment = environment,
                                         .environment_context = variables,
                                         .defaults = {[SETTING_SLOTS] = "9"}};
        struct settings settings = {0};
        struct err err = {0};

        EXPECT_OK(settings_resolve(&layers, &settings, &err), &err);
        cr_expect_eq(settings_number(&settings, SETTING_SLOTS), CASES[i].slots, "%zu", i);
        cr_expect_eq(settings.values[SETTING_SLOTS].origin, CASES[i].origin, "%zu", i);
        json_t *row = settings_describe(&settings, SETTING_SLOTS);
        EXPECT_STR(setting_origin_name(CASES[i].origin), json_get_string(row, "origin", ""));
        json_decref(row);
        settings_fini(&settings);
        json_decref(flags);
        json_decref(variables);
        json_decref(project);
        json_decref(user);
    }
}

Test(settings, wrong_values_are_refused_with_their_place)
{
    static const struct {
        const char *project;
        const char *problem; /* NULL: fine */
    } CASES[] = {
        {"{\"slots\":1}", NULL},
        {"{\"slots\":100000}", NULL},
        {"{\"slots\":0}", "p.yaml: slots: 0 is out of bounds"},
        {"{\"slots\":100001}", "out of bounds"},
        {"{\"slots\":\"x\"}", "is not a whole number"},
        {"{\"slots\":[1]}", "must be a single value"},
        {"{\"grace\":\"10\"}", "is not a duration"},
        {"{\"grace\":\"99999999999999999999s\"}", "is not a duration"},
        {"{\"grace\":\"999999999999999999d\"}", "is not a duration"},
        {"{\"grace\":\"0s\"}", NULL},
        {"{\"grace\":\"24h\"}", NULL},
        {"{\"grace\":\"25h\"}", "out of bounds"},
        {"{\"output_bytes\":\"1TiB\"}", NULL},
        {"{\"output_bytes\":\"4095\"}", "out of bounds"},
        {"{\"output_bytes\":4096}", NULL},
        {"{\"output_bytes\":\"-1\"}", "is not a size"},
        {"{\"log_level\":\"debug\"}", NULL},
        {"{\"log_level\":\"war\"}", "is none of: error warn info debug"},
        {"{\"log_level\":\"error warn\"}", "is none of"},
        {"{\"log_level\":\"\"}", "is none of"},
        {"{\"store\":\"\"}", "empty text"},
        {"{\"slot\":1}", "p.yaml: unknown setting 'slot', did you mean 'slots'?"},
        {"[]", "must be a map"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        json_t *project = object(CASES[i].project);
        struct settings_layers layers = {.project = project, .project_path = "p.yaml"};
        struct settings settings = {0};
        struct err err = {0};
        enum status status = settings_resolve(&layers, &settings, &err);
        if (CASES[i].problem == NULL)
            cr_expect_eq(status, STATUS_OK, "%s: %s", CASES[i].project, err.text);
        else
            cr_expect(status == STATUS_INVALID && strstr(err.text, CASES[i].problem) != NULL,
                      "%s: %s", CASES[i].project, err.text);
        settings_fini(&settings);
        json_decref(project);
    }
}

Test(settings, what_is_secret_is_not_shown)
{
    static const enum setting_key KEYS[] = {SETTING_STORE, SETTING_TOKEN, SETTING_OTLP_HEADERS};
    json_t *flags = object("{\"store\":\"postgresql://u:hidden@h/d\",\"token\":\"hidden\","
                           "\"otlp_headers\":\"authorization=hidden\"}");
    struct settings_layers layers = {.flags = flags};
    struct settings settings = {0};
    struct err err = {0};
    EXPECT_OK(settings_resolve(&layers, &settings, &err), &err);
    for (size_t i = 0; i < ARRAY_LEN(KEYS); i++) {
        json_t *row = settings_describe(&settings, KEYS[i]);
        const char *shown = json_get_string(row, "value", "");
        cr_expect_null(strstr(shown, "hidden"), "%s", shown);
        cr_expect_neq(shown[0], '\0');
        json_decref(row);
    }
    settings_fini(&settings);
    json_decref(flags);
}
