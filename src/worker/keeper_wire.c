#include "worker/keeper_wire.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"

static const uint32_t NO_TEXT = UINT32_MAX;

struct frame_head {
    uint32_t length; /* of the fields */
    uint32_t type;
};

static void put_int(struct strbuf *out, int64_t value)
{
    strbuf_add_bytes(out, &value, sizeof value);
}

static void put_text(struct strbuf *out, const char *text, size_t length)
{
    uint32_t count = text == NULL ? NO_TEXT : (uint32_t)length;
    strbuf_add_bytes(out, &count, sizeof count);
    if (text != NULL) {
        strbuf_add_bytes(out, text, length);
        strbuf_add_char(out, '\0');
    }
}

static void put_string(struct strbuf *out, const char *text)
{
    put_text(out, text, text == NULL ? 0 : strlen(text));
}

static void put_strings(struct strbuf *out, const char *const *texts, const char *extra)
{
    int64_t count = 0;
    while (texts[count] != NULL)
        count++;
    put_int(out, count + (extra != NULL ? 1 : 0));
    for (int64_t i = 0; i < count; i++)
        put_string(out, texts[i]);
    if (extra != NULL)
        put_string(out, extra);
}

static size_t begin(struct strbuf *out, enum keeper_frame_type type)
{
    size_t start = out->length;
    struct frame_head head = {.type = type};
    strbuf_add_bytes(out, &head, sizeof head);
    return start;
}

static void end(struct strbuf *out, size_t start)
{
    CHECK(!out->overflow);
    uint32_t length = (uint32_t)(out->length - start - sizeof(struct frame_head));
    memcpy(out->text + start, &length, sizeof length);
}

void keeper_wire_put(struct strbuf *out, const struct keeper_frame *frame)
{
    CHECK(frame->text_length < KEEPER_WIRE_FRAME_MAX / 2);
    size_t start = begin(out, frame->type);
    for (size_t i = 0; i < ARRAY_LEN(frame->numbers); i++)
        put_int(out, frame->numbers[i]);
    put_text(out, frame->text, frame->text_length);
    end(out, start);
}

static const char *const NO_TEXTS[] = {NULL};

static const char *const *texts_or_none(const char *const *texts)
{
    return texts == NULL ? NO_TEXTS : texts;
}

static size_t length_of(const char *const *texts)
{
    size_t length = 0;
    for (size_t i = 0; texts[i] != NULL; i++)
        length += strlen(texts[i]) + 16;
    return length;
}

static size_t length_or_zero(const char *text)
{
    return text == NULL ? 0 : strlen(text);
}

enum status keeper_wire_put_task(struct strbuf *out, const struct keeper_task *task,
                                 struct err *err)
{
    size_t size = length_of(task->argv) + length_of(task->env) + length_or_zero(task->script) +
                  length_or_zero(task->request) + 4096 + length_or_zero(task->workdir) +
                  length_or_zero(task->context) + length_of(texts_or_none(task->secrets));
    if (size > KEEPER_WIRE_FRAME_MAX)
        return err_set(err, STATUS_LIMIT, "command, environment, script and secrets exceed %d MB",
                       KEEPER_WIRE_FRAME_MAX >> 20);
    if (length_or_zero(task->context) > KEEPER_CONTEXT_MAX)
        return err_set(err, STATUS_LIMIT, "context of the task exceeds %d KB",
                       KEEPER_CONTEXT_MAX >> 10);
    CHECK(task->nonce != NULL);
    CHECK(strlen(task->nonce) < KEEPER_NONCE_MAX);

    size_t start = begin(out, KEEPER_FRAME_SPAWN);
    const int64_t numbers[] = {
        task->id,
        task->limits.cpu_s,
        task->limits.memory_bytes,
        task->limits.processes,
        task->timeout_ms,
        task->grace_ms,
        task->output_bytes,
        task->protocol,
        task->log_key.kind,
        (int64_t)task->log_key.id_count,
        task->keep_outputs_dir,
        task->survives_deadline,
    };
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        put_int(out, numbers[i]);
    for (size_t i = 0; i < BLOB_KEY_IDS_MAX; i++)
        put_int(out, task->log_key.ids[i]);
    const char *const texts[] = {task->nonce,     task->workdir,     task->user,
                                 task->blob_root, task->script,      task->script_path,
                                 task->request,   task->outputs_dir, task->context};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        put_string(out, texts[i]);
    char claim[sizeof KEEPER_CLAIM_VARIABLE + KEEPER_NONCE_MAX];
    (void)snprintf(claim, sizeof claim, "%s=%s", KEEPER_CLAIM_VARIABLE, task->nonce);
    put_strings(out, task->argv, NULL);
    put_strings(out, task->env, claim);
    put_strings(out, texts_or_none(task->secrets), NULL);
    end(out, start);
    return STATUS_OK;
}

void keeper_wire_put_exit(struct strbuf *out, int64_t id, const struct keeper_exit *exit)
{
    size_t start = begin(out, KEEPER_FRAME_EXITED);
    const int64_t numbers[] = {
        id,
        exit->kind,
        exit->code,
        exit->signal,
        exit->wall_us,
        exit->user_us,
        exit->system_us,
        exit->rss_kb,
        (int64_t)exit->log.bytes,
        (int64_t)exit->log.lines,
        (int64_t)exit->log.dropped_bytes,
        exit->outputs_left,
    };
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        put_int(out, numbers[i]);
    put_string(out, exit->text);
    put_string(out, exit->log.error);
    end(out, start);
}

size_t keeper_wire_frame_length(const char *bytes, size_t length)
{
    struct frame_head head;
    if (length < sizeof head)
        return 0;
    memcpy(&head, bytes, sizeof head);
    return head.length <= length - sizeof head ? sizeof head + head.length : 0;
}

bool keeper_wire_next(struct keeper_wire_reader *packet, enum keeper_frame_type *out_type,
                      struct keeper_wire_reader *out_fields)
{
    struct frame_head head;
    size_t length = keeper_wire_frame_length(packet->at, packet->left);
    if (length == 0)
        return false;
    memcpy(&head, packet->at, sizeof head);
    *out_type = (enum keeper_frame_type)head.type;
    *out_fields =
        (struct keeper_wire_reader){.at = packet->at + sizeof head, .left = length - sizeof head};
    packet->at += length;
    packet->left -= length;
    return true;
}

static bool get_int(struct keeper_wire_reader *fields, int64_t *out)
{
    if (fields->left < sizeof *out)
        return false;
    memcpy(out, fields->at, sizeof *out);
    fields->at += sizeof *out;
    fields->left -= sizeof *out;
    return true;
}

static bool get_text(struct keeper_wire_reader *fields, const char **out, size_t *out_length)
{
    uint32_t length = 0;
    if (fields->left < sizeof length)
        return false;
    memcpy(&length, fields->at, sizeof length);
    fields->at += sizeof length;
    fields->left -= sizeof length;
    *out = NULL;
    *out_length = 0;
    if (length == NO_TEXT)
        return true;
    if (fields->left <= length || fields->at[length] != '\0')
        return false;
    *out = fields->at;
    *out_length = length;
    fields->at += (size_t)length + 1;
    fields->left -= (size_t)length + 1;
    return true;
}

static bool get_ints(struct keeper_wire_reader *fields, int64_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!get_int(fields, &out[i]))
            return false;
    return true;
}

static const char *const *get_strings(struct keeper_wire_reader *fields, struct arena *arena)
{
    int64_t count = 0;
    /* Each takes five bytes at least, so the count cannot make us allocate beyond the packet. */
    if (!get_int(fields, &count) || count < 0 || (uint64_t)count > fields->left / 5)
        return NULL;
    const char **texts = arena_array(arena, (size_t)count + 1, sizeof *texts);
    size_t length = 0;
    for (int64_t i = 0; i < count; i++)
        if (!get_text(fields, &texts[i], &length) || texts[i] == NULL)
            return NULL;
    return texts;
}

bool keeper_wire_get(struct keeper_wire_reader *fields, struct keeper_frame *out)
{
    return get_ints(fields, out->numbers, ARRAY_LEN(out->numbers)) &&
           get_text(fields, &out->text, &out->text_length);
}

bool keeper_wire_get_task(struct keeper_wire_reader *fields, struct arena *arena,
                          struct keeper_task *out)
{
    int64_t n[12];
    int64_t ids[BLOB_KEY_IDS_MAX];
    const char *texts[9];
    size_t length = 0;
    if (!get_ints(fields, n, ARRAY_LEN(n)) || !get_ints(fields, ids, ARRAY_LEN(ids)))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (!get_text(fields, &texts[i], &length))
            return false;
    const char *const *argv = get_strings(fields, arena);
    const char *const *env = argv == NULL ? NULL : get_strings(fields, arena);
    const char *const *secrets = env == NULL ? NULL : get_strings(fields, arena);
    if (secrets == NULL || texts[0] == NULL || strlen(texts[0]) >= KEEPER_NONCE_MAX || n[8] < 0 ||
        n[8] >= BLOB_KIND_COUNT || n[9] < 1 || n[9] > BLOB_KEY_IDS_MAX)
        return false;
    *out = (struct keeper_task){
        .id = n[0],
        .limits = {.cpu_s = n[1], .memory_bytes = n[2], .processes = n[3]},
        .timeout_ms = n[4],
        .grace_ms = n[5],
        .output_bytes = n[6],
        .protocol = n[7] != 0,
        .log_key = {.kind = (enum blob_kind)n[8], .id_count = (size_t)n[9]},
        .nonce = texts[0],
        .workdir = texts[1],
        .user = texts[2],
        .blob_root = texts[3],
        .script = texts[4],
        .script_path = texts[5],
        .request = texts[6],
        .outputs_dir = texts[7],
        .context = texts[8],
        .keep_outputs_dir = n[10] != 0,
        .survives_deadline = n[11] != 0,
        .argv = argv,
        .env = env,
        .secrets = secrets,
    };
    memcpy(out->log_key.ids, ids, sizeof ids);
    return true;
}

bool keeper_wire_get_exit(struct keeper_wire_reader *fields, int64_t *out_id,
                          struct keeper_exit *out)
{
    int64_t n[12];
    const char *text = NULL;
    const char *log_error = NULL;
    size_t length = 0;
    if (!get_ints(fields, n, ARRAY_LEN(n)) || !get_text(fields, &text, &length) ||
        !get_text(fields, &log_error, &length) || text == NULL || log_error == NULL || n[1] < 0 ||
        n[1] >= KEEPER_EXIT_KIND_COUNT)
        return false;
    *out_id = n[0];
    *out = (struct keeper_exit){
        .kind = (enum keeper_exit_kind)n[1],
        .code = (int)n[2],
        .signal = (int)n[3],
        .wall_us = n[4],
        .user_us = n[5],
        .system_us = n[6],
        .rss_kb = n[7],
        .log = {.bytes = (uint64_t)n[8], .lines = (uint64_t)n[9], .dropped_bytes = (uint64_t)n[10]},
        .outputs_left = n[11] != 0,
    };
    (void)snprintf(out->text, sizeof out->text, "%.*s", KEEPER_TEXT_MAX - 1, text);
    (void)snprintf(out->log.error, sizeof out->log.error, "%.*s", LOG_WRITER_ERROR_MAX - 1,
                   log_error);
    return true;
}

const char *keeper_exit_kind_name(enum keeper_exit_kind kind)
{
    static const char *const NAMES[] = {
        [KEEPER_EXITED] = "exited",
        [KEEPER_SIGNALLED] = "signalled",
        [KEEPER_EXEC_ERROR] = "exec_error",
        [KEEPER_NO_RESOURCES] = "no_resources",
        [KEEPER_TIMEOUT] = "timeout",
        [KEEPER_STOPPED] = "stopped",
        [KEEPER_LOST] = "lost",
    };
    _Static_assert(ARRAY_LEN(NAMES) == KEEPER_EXIT_KIND_COUNT, "every kind has a name");
    CHECK(kind < KEEPER_EXIT_KIND_COUNT);
    return NAMES[kind];
}
