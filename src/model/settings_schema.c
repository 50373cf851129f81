#include "model/settings_schema.h"

#include <string.h>

#include "base/check.h"
#include "model/settings.h"

static const char *const TYPES[] = {
    [SETTING_TEXT] = "string",     [SETTING_PATH] = "string",     [SETTING_INTEGER] = "integer",
    [SETTING_BOOLEAN] = "boolean", [SETTING_DURATION] = "string", [SETTING_SIZE] = "string",
    [SETTING_CHOICE] = "string",   [SETTING_TREE] = "object",
};
_Static_assert(ARRAY_LEN(TYPES) == SETTING_TYPE_COUNT, "every type has its word");

static json_t *words_of(const char *text)
{
    json_t *words = json_array();
    CHECK(words != NULL);
    while (text[0] != '\0') {
        size_t length = strcspn(text, " ");
        CHECK(json_array_append_new(words, json_stringn(text, length)) == 0);
        text += length + (text[length] == ' ' ? 1 : 0);
    }
    return words;
}

static json_t *value_schema(const struct setting *setting)
{
    json_t *schema = json_object();
    CHECK(schema != NULL);
    json_put_string(schema, "type", TYPES[setting->type]);
    json_put_string(schema, "description", setting->help);
    if (setting->type == SETTING_CHOICE)
        json_put(schema, "enum", words_of(setting->choices));
    if (setting->type == SETTING_INTEGER && setting->least < setting->most) {
        json_put_int(schema, "minimum", setting->least);
        json_put_int(schema, "maximum", setting->most);
    }
    return schema;
}

json_t *settings_schema(void)
{
    json_t *schema = json_object();
    json_t *properties = json_object();
    CHECK(schema != NULL && properties != NULL);
    json_put_string(schema, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_put_string(schema, "title", "eider.yaml");
    json_put_string(schema, "type", "object");
    for (enum setting_key key = 0; key < SETTING_COUNT; key++)
        if (!setting_is_personal(key))
            json_put(properties, SETTINGS[key].key, value_schema(&SETTINGS[key]));
    for (size_t i = 0; i < SETTING_SECTIONS_COUNT; i++)
        json_put(properties, SETTING_SECTIONS[i], json_pack("{s:s}", "type", "object"));
    json_put(schema, "properties", properties);
    json_put_bool(schema, "additionalProperties", false);
    return schema;
}
