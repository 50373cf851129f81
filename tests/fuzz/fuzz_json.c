/*
 * JSON: what parses must format, and parse to an equal value again.
 */
#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *value = NULL;
    json_t *again = NULL;
    struct err err = {0};
    if (json_parse((const char *)data, size, &value, &err) != STATUS_OK) {
        CHECK(err.text[0] != '\0');
        return 0;
    }
    CLEANUP(mem_freep) char *text = json_format(value);
    CHECK(json_parse(text, strlen(text), &again, &err) == STATUS_OK);
    CHECK(json_equal(value, again));
    CLEANUP(mem_freep) char *pretty = json_format_pretty(value);
    CHECK(pretty[0] != '\0');
    json_decref(value);
    json_decref(again);
    return 0;
}
