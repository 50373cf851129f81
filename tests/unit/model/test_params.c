#include "base/mem.h"
#include "expect.h"
#include "model/limits.h"
#include "model/params.h"

static json_t *parsed(const char *text)
{
    json_t *value = NULL;
    struct err err = {0};
    EXPECT_OK(json_parse(text, strlen(text), &value, &err), &err);
    return value;
}

enum { PARAMS_MAX = 8 };

/* A DAG that declares the parameters of a JSON object. */
struct declared {
    struct dag dag;
    struct param params[PARAMS_MAX];
    json_t *schemas;
};

static void declare(struct declared *out, const char *text)
{
    *out = (struct declared){.schemas = parsed(text)};
    const char *name = NULL;
    json_t *schema = NULL;
    json_object_foreach(out->schemas, name, schema)
    {
        cr_assert_lt(out->dag.params_count, (size_t)PARAMS_MAX);
        out->params[out->dag.params_count++] =
            (struct param){.name = name, .type = params_declared_type(schema), .schema = schema};
    }
    out->dag.params = out->params;
}

static const char DECLARED[] =
    "{\"region\": {\"type\": \"string\", \"enum\": [\"eu\", \"us\"], \"default\": \"eu\"},"
    " \"rows\": {\"type\": \"integer\", \"minimum\": 0, \"maximum\": 10, \"default\": 5},"
    " \"ratio\": {\"type\": \"number\", \"minimum\": 0.5, \"default\": 1},"
    " \"full\": {\"type\": \"boolean\", \"default\": false},"
    " \"code\": {\"type\": [\"null\", \"string\"], \"minLength\": 2, \"maxLength\": 3,"
    "            \"pattern\": \"^[a-z]+$\"},"
    " \"names\": {\"type\": \"array\", \"minItems\": 1, \"maxItems\": 2, \"default\": [\"a\"]},"
    " \"map\": {\"type\": \"object\", \"default\": null},"
    " \"free\": {\"default\": 1}}";

Test(params, given_values_go_over_the_defaults)
{
    static const struct {
        const char *given;
        const char *resolved;
    } CASES[] = {
        {"{}",
         "{\"code\":null,\"free\":1,\"full\":false,\"map\":null,\"names\":[\"a\"],\"ratio\":1,"
         "\"region\":\"eu\",\"rows\":5}"},
        {"{\"region\":\"us\",\"rows\":10,\"ratio\":0.5,\"full\":true,\"code\":\"\xc3\xa4z\"}",
         NULL},
        {"{\"region\":\"us\",\"rows\":0,\"ratio\":0.5,\"full\":true,\"code\":\"abc\","
         "\"names\":[1,2],\"map\":{},\"free\":[]}",
         "{\"code\":\"abc\",\"free\":[],\"full\":true,\"map\":{},\"names\":[1,2],\"ratio\":0.5,"
         "\"region\":\"us\",\"rows\":0}"},
    };
    struct declared declared;
    declare(&declared, DECLARED);
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(json_decrefp) json_t *given = parsed(CASES[i].given);
        CLEANUP(json_decrefp) json_t *out = NULL;
        struct err err = {0};
        enum status status = params_resolve(&declared.dag, given, &out, &err);
        cr_expect_eq(status, CASES[i].resolved != NULL ? STATUS_OK : STATUS_INVALID, "%zu: %s", i,
                     err.text);
        if (out == NULL)
            continue;
        CLEANUP(mem_freep) char *text = json_format(out);
        EXPECT_STR(CASES[i].resolved, text);
    }
    json_decref(declared.schemas);
}

Test(params, each_rule_refuses_what_it_must_and_says_why)
{
    static const struct {
        const char *given;
        const char *problem;
    } CASES[] = {
        {"{\"regoin\":\"eu\"}", "unknown parameter 'regoin' (did you mean 'region'?)"},
        {"{\"quite_different\":1}", "unknown parameter 'quite_different'"},
        {"{\"region\":\"asia\"}", "region: \"asia\" is not one of [\"eu\",\"us\"]"},
        {"{\"region\":null}", "region: expected a string, got null"},
        {"{\"rows\":11}", "rows: 11 is more than the maximum 10"},
        {"{\"rows\":-1}", "rows: -1 is less than the minimum 0"},
        {"{\"rows\":\"5\"}", "rows: expected an integer, got \"5\""},
        {"{\"rows\":5.0}", "rows: expected an integer, got 5.0"},
        {"{\"ratio\":0.25}", "ratio: 0.25 is less than the minimum 0.5"},
        {"{\"full\":1}", "full: expected a boolean, got 1"},
        {"{\"code\":\"a\"}", "code: has 1 characters, at least 2 are needed"},
        {"{\"code\":\"abcd\"}", "code: has 4 characters, at most 3 are allowed"},
        {"{\"code\":\"A1\"}", "code: \"A1\" does not match the pattern '^[a-z]+$'"},
        {"{\"names\":[]}", "names: has 0 items, at least 1 are needed"},
        {"{\"names\":[1,2,3]}", "names: has 3 items, at most 2 are allowed"},
        {"{\"map\":[]}", "map: expected an object, got []"},
        {"{\"rows\":11,\"full\":1}",
         "rows: 11 is more than the maximum 10; full: expected a boolean, got 1"},
        {"[]", "parameters are a map of names to values"},
    };
    struct declared declared;
    declare(&declared, DECLARED);
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(json_decrefp) json_t *given = parsed(CASES[i].given);
        json_t *out = NULL;
        struct err err = {0};
        enum status status = params_resolve(&declared.dag, given, &out, &err);
        cr_expect_eq(status, STATUS_INVALID, "%s", CASES[i].given);
        cr_expect_str_eq(err.text, CASES[i].problem, "%s: %s", CASES[i].given, err.text);
        cr_expect_null(out);
    }
    json_decref(declared.schemas);
}

Test(params, what_has_no_default_is_required_unless_nullable)
{
    struct declared declared;
    struct err err = {0};
    json_t *out = NULL;
    declare(&declared, "{\"a\": {\"type\": \"string\"}, \"b\": {\"nullable\": true}, \"c\": {}}");

    EXPECT_STATUS(STATUS_INVALID, params_resolve(&declared.dag, NULL, &out, &err), &err);

    EXPECT_STR("a: is required; c: is required", err.text);
    json_decref(declared.schemas);
}

Test(params, a_run_has_at_most_a_mebibyte_of_parameters)
{
    struct declared declared;
    declare(&declared, "{\"a\": {\"type\": \"string\"}}");
    size_t frame = strlen("{\"a\":\"\"}");
    for (size_t extra = 0; extra <= 1; extra++) {
        size_t length = LIMIT_PARAMS_BYTES - frame + extra;
        CLEANUP(mem_freep) char *text = mem_alloc(length);
        memset(text, 'x', length);
        CLEANUP(json_decrefp) json_t *given = json_object();
        json_put(given, "a", json_stringn(text, length));
        CLEANUP(json_decrefp) json_t *out = NULL;
        struct err err = {0};
        EXPECT_STATUS(extra == 0 ? STATUS_OK : STATUS_LIMIT,
                      params_resolve(&declared.dag, given, &out, &err), &err);
    }
    json_decref(declared.schemas);
}

Test(params, more_problems_than_fit_end_within_the_text)
{
    struct declared declared;
    declare(&declared, "{}");
    CLEANUP(json_decrefp) json_t *given = json_object();
    for (int i = 0; i < 100; i++) {
        CLEANUP(mem_freep) char *name = mem_format("unknown_%d", i);
        json_put_int(given, name, i);
    }
    json_t *out = NULL;
    struct err err = {0};

    EXPECT_STATUS(STATUS_INVALID, params_resolve(&declared.dag, given, &out, &err), &err);

    EXPECT_CONTAINS(err.text, "unknown parameter 'unknown_0': the DAG declares none; ");
    cr_expect_eq(strlen(err.text), (size_t)ERR_TEXT_MAX - 1);
    json_decref(declared.schemas);
}

Test(params, assignments_are_read_by_the_declared_type)
{
    static const struct {
        const char *text;
        const char *result; /* the object, or the error */
    } CASES[] = {
        {"region=us", "{\"region\":\"us\"}"},
        {"rows=7", "{\"rows\":7}"},
        {"ratio=1e2", "{\"ratio\":100.0}"},
        {"full=true", "{\"full\":true}"},
        {"code=null", "code: has 4 characters, at most 3 are allowed"},
        {"names=[\"x\"]", "{\"names\":[\"x\"]}"},
        {"map={\"a\":1}", "{\"map\":{\"a\":1}}"},
        {"map=null", "{\"map\":null}"},
        {"free=plain text", "{\"free\":\"plain text\"}"},
        {"free=[1]", "{\"free\":[1]}"},
        {"free=a=b", "{\"free\":\"a=b\"}"},
        {"rows=", "rows: expected an integer, got ''"},
        {"rows=many", "rows: expected an integer, got 'many'"},
        {"rows=7.5", "rows: expected an integer, got 7.5"},
        {"rows=11", "rows: 11 is more than the maximum 10"},
        {"full=yes", "full: expected a boolean, got 'yes'"},
        {"rosw=1", "unknown parameter 'rosw' (did you mean 'rows'?)"},
        {"rows", "expected NAME=VALUE, got 'rows'"},
        {"=1", "expected NAME=VALUE, got '=1'"},
    };
    struct declared declared;
    declare(&declared, DECLARED);
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(json_decrefp) json_t *into = json_object();
        struct err err = {0};
        bool ok = params_parse_assignment(&declared.dag, CASES[i].text, into, &err) == STATUS_OK;
        CLEANUP(mem_freep) char *text = json_format(into);
        cr_expect_str_eq(ok ? text : err.text, CASES[i].result, "%s: %s", CASES[i].text,
                         ok ? text : err.text);
        cr_expect(ok || json_object_size(into) == 0, "%s", CASES[i].text);
    }
    json_decref(declared.schemas);
}

Test(params, declarations_are_checked)
{
    static const struct {
        const char *schema;
        const char *problem; /* "": fine */
    } CASES[] = {
        {"{}", ""},
        {"{\"type\":\"string\",\"default\":\"a\",\"pattern\":\"^a\",\"title\":\"t\"}", ""},
        {"{\"type\":[\"string\",\"null\"],\"default\":null}", ""},
        {"{\"type\":\"string\",\"default\":null}", ""},
        {"{\"type\":\"integer\",\"minimum\":1,\"maximum\":1,\"default\":1}", ""},
        {"{\"enum\":[1,2],\"default\":2.0}", ""},
        {"[]", "a parameter is declared by a map"},
        {"{\"typ\":\"string\"}", "unknown key 'typ' (did you mean 'type'?)"},
        {"{\"type\":\"strng\"}", "unknown type 'strng' (did you mean 'string'?)"},
        {"{\"type\":5}", "'type' must be the name of a type"},
        {"{\"type\":[\"string\",\"integer\"]}",
         "'type' must be one type, or one type and \"null\""},
        {"{\"type\":[]}", "'type' must be one type, or one type and \"null\""},
        {"{\"minimum\":\"1\"}", "'minimum' must be a number"},
        {"{\"minLength\":-1}", "'minLength' must be a whole number that is not negative"},
        {"{\"enum\":[]}", "'enum' must be a list that is not empty"},
        {"{\"secret\":1}", "'secret' must be true or false"},
        {"{\"title\":1}", "'title' must be a text"},
        {"{\"minimum\":2,\"maximum\":1}", "'minimum' is more than 'maximum'"},
        {"{\"minLength\":2,\"maxLength\":1}", "'minLength' is more than 'maxLength'"},
        {"{\"minItems\":2,\"maxItems\":1}", "'minItems' is more than 'maxItems'"},
        {"{\"type\":\"string\",\"minimum\":1}", "'minimum' means nothing for type string"},
        {"{\"type\":\"integer\",\"default\":\"x\"}", "default: expected an integer, got \"x\""},
        {"{\"type\":\"integer\",\"maximum\":1,\"default\":2}",
         "default: 2 is more than the maximum 1"},
        {"{\"enum\":[1],\"default\":2}", "default: 2 is not one of [1]"},
        {"{\"pattern\":\"(\"}", "pattern '(': Unmatched ( or \\("},
        {"{\"pattern\":\"(a)\\\\1\"}", "pattern: back-references are not supported"},
        {"{\"pattern\":\"((a{99}){99}){99}\"}", "pattern: its repeats multiply to more than 2000"},
        {"{\"pattern\":\"a**\"}", "pattern: a repeat directly after a repeat"},
        {"{\"typ\":1,\"minimum\":\"x\"}",
         "unknown key 'typ' (did you mean 'type'?); 'minimum' must be a number"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(json_decrefp) json_t *schema = parsed(CASES[i].schema);
        struct err err = {0};
        enum status status = params_check_declaration(schema, &err);
        cr_expect_eq(status, CASES[i].problem[0] != '\0' ? STATUS_INVALID : STATUS_OK, "%s",
                     CASES[i].schema);
        cr_expect_str_eq(err.text, CASES[i].problem, "%s: %s", CASES[i].schema, err.text);
    }
}

Test(params, type_names_go_both_ways)
{
    for (enum param_type type = 0; type < PARAM_TYPE_COUNT; type++) {
        enum param_type again = PARAM_TYPE_COUNT;
        cr_expect(param_type_parse(param_type_name(type), &again));
        cr_expect_eq(again, type);
    }
    enum param_type none = PARAM_TYPE_COUNT;
    cr_expect(!param_type_parse("String", &none));
    cr_expect_eq(none, PARAM_TYPE_COUNT);
}
