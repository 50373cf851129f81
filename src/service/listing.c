#include "service/listing.h"

#include "base/str.h"
#include "service/json_build.h"

enum status listing_read_cursor(const json_t *request, int64_t *out, struct err *err)
{
    const char *text = json_get_string(request, "cursor", NULL);
    int64_t last = 0;
    if (text != NULL && !str_parse_i64(text, 1, INT64_MAX, &last))
        return err_set(err, STATUS_INVALID, "'%.60s' is no cursor that an answer gave", text);
    *out = last;
    return STATUS_OK;
}

int64_t listing_ask(int64_t limit)
{
    return limit > 0 && limit < INT64_MAX ? limit + 1 : limit;
}

void listing_put_cursor(json_t *answer, bool has_more, int64_t last)
{
    if (has_more)
        json_put_id(answer, "cursor", last);
    else
        json_put(answer, "cursor", json_null());
}

enum status listing_answer(const struct listing_page *page, json_t *taken_rows, json_t **out,
                           struct err *err)
{
    CLEANUP(json_decrefp) json_t *rows = taken_rows;
    int64_t total = (int64_t)json_array_size(rows);
    bool is_known = page->store == NULL || (!page->is_later && total < page->limit);
    if (json_get_bool(page->request, "with_total", false) && !is_known &&
        page->count(page->store, page->filter, LISTING_TOTAL_MAX + 1, &total, err) != STATUS_OK)
        return err_wrap(err, "count what is listed");
    *out = json_build_list(page->name, TAKE(rows));
    json_put_int(*out, "total_entries", MIN(total, (int64_t)LISTING_TOTAL_MAX));
    if (total > LISTING_TOTAL_MAX)
        json_put_bool(*out, "total_is_more", true);
    return STATUS_OK;
}
