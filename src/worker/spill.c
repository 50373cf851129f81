#include "worker/spill.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "blob/value_key.h"
#include "model/limits.h"

static struct blob_key blob_key_of(const struct spill_key *key)
{
    return value_key(key->run, key->task, key->attempt, key->key);
}

enum status spill_put(struct blob *blob, const struct spill_key *key, const char *json,
                      size_t length, struct err *err)
{
    struct blob_key place = blob_key_of(key);
    if (blob_put(blob, &place, json, length, err) != STATUS_OK)
        return err_wrap(err, "keep value '%s'", key->key);
    return STATUS_OK;
}

static enum status read_spilled(struct blob *blob, const struct spill_key *key, int64_t bytes,
                                json_t **out, struct err *err)
{
    CHECK(bytes >= 0);
    CHECK(bytes <= LIMIT_VALUE_BYTES);
    struct blob_key place = blob_key_of(key);
    CLEANUP(blob_handle_closep) struct blob_handle *handle = NULL;
    CLEANUP(mem_freep) char *text = mem_alloc((size_t)bytes + 1);
    size_t got = 0;
    if (blob_open(blob, &place, BLOB_READ, &handle, err) != STATUS_OK ||
        blob_range(handle, 0, text, (size_t)bytes, &got, err) != STATUS_OK ||
        json_parse(text, got, out, err) != STATUS_OK)
        return err_wrap(err, "read value '%s'", key->key);
    return STATUS_OK;
}

enum status spill_get(struct blob *blob, const struct spill_key *key,
                      const struct value_info *value, json_t **out, struct err *err)
{
    if (value->json == NULL)
        return read_spilled(blob, key, value->bytes, out, err);
    return json_parse(value->json, strlen(value->json), out, err);
}
