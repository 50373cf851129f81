#include "app/prove_evidence.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "os/file.h"
#include "os/proc_tree.h"
#include "worker/keeper_task.h"

enum { EVIDENCE_BYTES_MAX = 1 << 20, FIELDS = 5 };

const char PROVE_SCRIPT[] =
    "mark() { echo \"$1 $EIDER_TRY_NUMBER $$ $" KEEPER_CLAIM_VARIABLE " $EIDER_OUTPUTS\""
    " >> \"$EVIDENCE/$EIDER_TASK_ID\"; }\n"
    "mark start\n"
    "while [ -d \"$EVIDENCE\" ] && [ ! -e \"$EVIDENCE/go\" ]; do sleep 0.05; done\n"
    "mark end\n";

/* Cuts the line up in place; the last field is the rest. */
static bool parse_line(char *line, struct prove_mark *out)
{
    char *fields[FIELDS];
    size_t count = 0;
    for (char *at = line; at != NULL && count < FIELDS; count++) {
        fields[count] = at;
        at = count + 1 < FIELDS ? strchr(at, ' ') : NULL;
        if (at != NULL)
            *at++ = '\0';
    }
    *out = (struct prove_mark){0};
    if (count < FIELDS || !str_parse_i64(fields[1], 1, INT64_MAX, &out->attempt) ||
        !str_parse_i64(fields[2], 1, INT32_MAX, &out->pid))
        return false;
    out->is_end = str_equal(fields[0], "end");
    out->nonce = fields[3];
    out->outputs = fields[4];
    return true;
}

enum status prove_marks_read(struct arena *arena, const char *folder, const char *task,
                             struct prove_marks *out, struct err *err)
{
    CLEANUP(mem_freep) char *path = file_path_join(folder, task);
    CLEANUP(mem_freep) char *text = NULL;
    size_t length = 0;
    struct prove_marks marks = {0};
    enum status status = file_read(path, EVIDENCE_BYTES_MAX, &text, &length, err);
    if (status == STATUS_NOT_FOUND) {
        *out = marks;
        return STATUS_OK;
    }
    if (status != STATUS_OK)
        return status;
    char *copy = arena_strdup(arena, text);
    size_t most = 0;
    for (const char *at = copy; *at != '\0'; at++)
        most += *at == '\n';
    marks.items = arena_array(arena, most + 1, sizeof *marks.items);
    /* A line without an end is still being written. */
    for (char *end = NULL; (end = strchr(copy, '\n')) != NULL; copy = end + 1) {
        struct prove_mark *mark = &marks.items[marks.count];
        *end = '\0';
        if (!parse_line(copy, mark))
            return err_set(err, STATUS_CORRUPT, "'%s' has a line that is no evidence", path);
        marks.count++;
        *(mark->is_end ? &marks.ends : &marks.starts) += 1;
    }
    *out = marks;
    return STATUS_OK;
}

const struct prove_mark *prove_marks_first(const struct prove_marks *marks)
{
    CHECK(marks->count > 0);
    return &marks->items[0];
}

const struct prove_mark *prove_marks_start(const struct prove_marks *marks, size_t n)
{
    for (size_t i = 0; i < marks->count; i++)
        if (!marks->items[i].is_end && n-- == 0)
            return &marks->items[i];
    UNREACHABLE("the caller knows that it started");
}

/* A number alone does not name a process; its nonce does. */
static bool find_process(const struct prove_mark *mark, struct proc_info *out)
{
    char nonce[KEEPER_NONCE_MAX];
    return proc_tree_read((pid_t)mark->pid, out) && out->state != 'Z' &&
           proc_tree_env(out->pid, KEEPER_CLAIM_VARIABLE, nonce, sizeof nonce) &&
           str_equal(nonce, mark->nonce);
}

bool prove_mark_is_alive(const struct prove_mark *mark)
{
    struct proc_info info;
    return find_process(mark, &info);
}

void prove_mark_signal(const struct prove_mark *mark, int signo)
{
    struct proc_info info;
    if (find_process(mark, &info))
        (void)proc_tree_signal(info.pid, info.start_ticks, signo);
}

bool prove_marks_has_end(const struct prove_marks *marks, int64_t attempt, const char *nonce)
{
    for (size_t i = 0; i < marks->count; i++) {
        const struct prove_mark *mark = &marks->items[i];
        if (mark->is_end && mark->attempt == attempt && str_equal(mark->nonce, nonce))
            return true;
    }
    return false;
}
