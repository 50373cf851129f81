#include "cli/humanize.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/str.h"
#include "base/strbuf.h"

const char *humanize_duration(int64_t ms, char out[static HUMAN_MAX])
{
    int64_t s = ms / 1000;
    int length;
    if (ms < 0)
        length = snprintf(out, HUMAN_MAX, "-");
    else if (s < 60)
        length = snprintf(out, HUMAN_MAX, "%lld.%llds", (long long)s, (long long)(ms % 1000 / 100));
    else if (s < 3600)
        length =
            snprintf(out, HUMAN_MAX, "%lldm %02llds", (long long)(s / 60), (long long)(s % 60));
    else if (s < 86400)
        length = snprintf(out, HUMAN_MAX, "%lldh %02lldm", (long long)(s / 3600),
                          (long long)(s % 3600 / 60));
    else
        length = snprintf(out, HUMAN_MAX, "%lldd %02lldh", (long long)(s / 86400),
                          (long long)(s % 86400 / 3600));
    CHECK(length > 0 && length < HUMAN_MAX);
    return out;
}

const char *humanize_instant(int64_t at_us, char out[static HUMAN_MAX])
{
    struct civil c = civil_from_instant(at_us);
    int length = snprintf(out, HUMAN_MAX, "%04lld-%02u-%02u %02u:%02u:%02uZ", (long long)c.year,
                          c.month % 100, c.day % 100, c.hour % 100, c.minute % 100, c.second % 100);
    CHECK(length > 0 && length < HUMAN_MAX);
    return out;
}

const char *humanize_clock(int64_t at_us, char out[static HUMAN_MAX])
{
    struct civil c = civil_from_instant(at_us);
    int length =
        snprintf(out, HUMAN_MAX, "%02u:%02u:%02u", c.hour % 100, c.minute % 100, c.second % 100);
    CHECK(length > 0 && length < HUMAN_MAX);
    return out;
}

const char *humanize_bytes(int64_t bytes, char out[static HUMAN_MAX])
{
    static const char *const UNITS[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < ARRAY_LEN(UNITS); unit++)
        value /= 1024;
    int length = snprintf(out, HUMAN_MAX, unit == 0 ? "%.0f %s" : "%.1f %s", value, UNITS[unit]);
    CHECK(length > 0 && length < HUMAN_MAX);
    return out;
}

/* Bytes of the character at `text`; 1 for a broken one. */
static size_t character_bytes(const char *text)
{
    unsigned char lead = (unsigned char)text[0];
    size_t count = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    for (size_t i = 1; i < count; i++)
        if (((unsigned char)text[i] & 0xC0) != 0x80)
            return 1;
    return count;
}

/* C0 and C1 controls, and bytes that are no UTF-8. */
static bool is_dangerous(const char *text, size_t bytes)
{
    unsigned char lead = (unsigned char)text[0];
    if (bytes == 1)
        return lead < 0x20 || lead >= 0x7F;
    return lead == 0xC2 && (unsigned char)text[1] < 0xA0;
}

void humanize_add_text(struct strbuf *out, const char *text, size_t columns, int utf8)
{
    const char *ellipsis = utf8 ? "…" : "~";
    size_t used = 0;
    size_t room_for_ellipsis = out->length; /* where to cut when the rest does not fit */
    while (text[0] != '\0') {
        size_t bytes = character_bytes(text);
        char one[5] = {0};
        memcpy(one, text, bytes);
        if (text[0] == '\t' || text[0] == '\n' || text[0] == '\r')
            one[0] = ' ';
        else if (is_dangerous(text, bytes) || (!utf8 && bytes > 1))
            memcpy(one, "?", 2);
        size_t width = str_columns(one);
        if (used + width > columns) {
            strbuf_truncate(out, room_for_ellipsis);
            if (columns > 0)
                strbuf_add(out, ellipsis);
            return;
        }
        strbuf_add(out, one);
        used += width;
        if (used < columns)
            room_for_ellipsis = out->length;
        text += bytes;
    }
}
