/*
 * Durations and sizes: what parses must format, and parse to the same again.
 */
#include "base/check.h"
#include "base/mem.h"
#include "fuzz.h"
#include "model/duration.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(mem_freep) char *text = mem_strndup((const char *)data, size);
    char formatted[DURATION_TEXT_MAX];
    int64_t value = -1;
    int64_t again = -1;
    if (duration_parse(text, &value)) {
        CHECK(value >= 0);
        CHECK(duration_parse(duration_format(value, formatted), &again));
        CHECK(again == value);
    }
    if (size_parse(text, &value)) {
        CHECK(value >= 0);
        CHECK(size_parse(size_format(value, formatted), &again));
        CHECK(again == value);
    }
    return 0;
}
