#include "worker/attempt_held.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "os/loop.h"
#include "worker/prepare.h"

bool nonce_equal(const struct nonce *a, const struct nonce *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

static const struct claimed_job *copy_job(struct arena *arena, const struct claimed_job *job)
{
    if (job == NULL)
        return NULL;
    struct claimed_job *copy = arena_alloc(arena, sizeof *copy);
    *copy = *job;
    copy->queue = arena_strdup(arena, job->queue);
    copy->handler = arena_strdup(arena, job->handler);
    copy->payload = job->payload != NULL ? arena_strdup(arena, job->payload) : "null";
    copy->namespace_ = job->namespace_ != NULL ? arena_strdup(arena, job->namespace_) : "default";
    return copy;
}

struct attempt *attempt_new(const struct claim *claim)
{
    struct attempt *attempt = mem_zalloc(1, sizeof *attempt);
    attempt->arena = arena_new();
    attempt->claim = *claim;
    attempt->claim.job = copy_job(attempt->arena, claim->job);
    attempt->nonce = prepare_nonce_text(attempt->arena, &claim->nonce);
    return attempt;
}

void attempt_free(struct attempt *attempt)
{
    if (attempt == NULL)
        return;
    if (attempt->sleep != NULL)
        loop_timer_free(attempt->sleep);
    attempt_reports_fini(&attempt->reports);
    arena_free(attempt->arena);
    free(attempt);
}

/* --- as a text ------------------------------------------------------------------------------- */

/* Members of a claim that are plain numbers. */
static const struct {
    const char *key;
    size_t offset;
} NUMBERS[] = {
    {"task", offsetof(struct claim, task)},
    {"run", offsetof(struct claim, run)},
    {"node", offsetof(struct claim, node)},
    {"map_index", offsetof(struct claim, map_index)},
    {"expander", offsetof(struct claim, expander)},
    {"generation", offsetof(struct claim, generation)},
    {"attempt", offsetof(struct claim, attempt)},
};

static json_t *list_datasets(const struct attempt *attempt)
{
    json_t *list = json_array();
    for (size_t i = 0; i < attempt->datasets_count; i++)
        (void)json_array_append_new(list, json_string(attempt->datasets[i]));
    return list;
}

static void read_datasets(struct attempt *attempt, const json_t *list)
{
    size_t count = json_array_size(list);
    const char **uris = arena_array(attempt->arena, count + 1, sizeof *uris);
    for (size_t i = 0; i < count; i++) {
        const char *uri = json_string_value(json_array_get(list, i));
        if (uri != NULL)
            uris[attempt->datasets_count++] = arena_strdup(attempt->arena, uri);
    }
    attempt->datasets = uris;
}

const char *attempt_note(const struct attempt *attempt)
{
    CLEANUP(json_decrefp) json_t *note = json_object();
    for (size_t i = 0; i < ARRAY_LEN(NUMBERS); i++) {
        int64_t number = 0;
        memcpy(&number, (const char *)&attempt->claim + NUMBERS[i].offset, sizeof number);
        json_put_int(note, NUMBERS[i].key, number);
    }
    json_put_string(note, "nonce", attempt->nonce);
    json_put_int(note, "slot", attempt->slot);
    json_put_bool(note, "finally", attempt->is_finally);
    json_put_string(note, "label", attempt->label);
    json_put_string(note, "outputs", attempt->outputs_dir);
    if (attempt->datasets_count > 0)
        json_put(note, "datasets", list_datasets(attempt));
    const struct claimed_job *job = attempt->claim.job;
    if (job != NULL) {
        json_put_string(note, "queue", job->queue);
        json_put_string(note, "handler", job->handler);
    }
    CLEANUP(mem_freep) char *text = json_format(note);
    return arena_strdup(attempt->arena, text);
}

static int hex_digit(char c)
{
    static const char DIGITS[] = "0123456789abcdef";
    const char *found = c != '\0' ? strchr(DIGITS, c) : NULL;
    return found != NULL ? (int)(found - DIGITS) : -1;
}

static bool parse_nonce(const char *text, struct nonce *out)
{
    if (strlen(text) != sizeof out->bytes * 2)
        return false;
    for (size_t i = 0; i < sizeof out->bytes; i++) {
        int high = hex_digit(text[i * 2]);
        int low = hex_digit(text[i * 2 + 1]);
        if (high < 0 || low < 0)
            return false;
        out->bytes[i] = (unsigned char)(high * 16 + low);
    }
    return true;
}

static const char *copy_member(struct arena *arena, const json_t *note, const char *key)
{
    const char *text = json_get_string(note, key, NULL);
    return text != NULL ? arena_strdup(arena, text) : NULL;
}

enum status attempt_from_note(const char *text, struct attempt **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *note = NULL;
    struct claim claim = {.task = 0};
    struct err ignored = {0};
    if (json_parse(text, strlen(text), &note, &ignored) != STATUS_OK || !json_is_object(note) ||
        !parse_nonce(json_get_string(note, "nonce", ""), &claim.nonce) ||
        json_get_int(note, "task", 0) == 0)
        return err_set(err, STATUS_INVALID, "not a note of a task: %.100s", text);
    for (size_t i = 0; i < ARRAY_LEN(NUMBERS); i++) {
        int64_t number = json_get_int(note, NUMBERS[i].key, 0);
        memcpy((char *)&claim + NUMBERS[i].offset, &number, sizeof number);
    }
    struct claimed_job job = {
        .queue = json_get_string(note, "queue", ""),
        .handler = json_get_string(note, "handler", ""),
    };
    if (claim.run == 0)
        claim.job = &job;
    struct attempt *attempt = attempt_new(&claim);
    attempt->slot = json_get_int(note, "slot", 0);
    attempt->is_finally = json_get_bool(note, "finally", false);
    attempt->label = copy_member(attempt->arena, note, "label");
    attempt->outputs_dir = copy_member(attempt->arena, note, "outputs");
    read_datasets(attempt, json_object_get(note, "datasets"));
    attempt->is_adopted = true;
    *out = attempt;
    return STATUS_OK;
}
