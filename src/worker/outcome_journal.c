#include "worker/outcome_journal.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/journal.h"

enum { LOADED_MAX = 100000 }; /* outcomes that wait; the rest is for the next start */

struct outcome_journal {
    char *path;
    struct journal *journal;
};

struct outcome_journal *outcome_journal_new(const char *path)
{
    struct outcome_journal *self = mem_zalloc(1, sizeof *self);
    self->path = mem_strdup(path);
    return self;
}

void outcome_journal_free(struct outcome_journal *self)
{
    if (self == NULL)
        return;
    journal_close(self->journal);
    free(self->path);
    free(self);
}

static bool is_open(struct outcome_journal *self)
{
    CLEANUP(mem_freep) char *kept_as = NULL;
    struct err err = {0};
    if (self->journal != NULL)
        return true;
    if (journal_open(self->path, &self->journal, &kept_as, &err) != STATUS_OK) {
        log_error("the journal of outcomes cannot be opened", LOG_STR("error", err.text));
        return false;
    }
    if (kept_as != NULL)
        log_error("the journal of outcomes was damaged; a new one is begun",
                  LOG_STR("kept_as", kept_as));
    return true;
}

static void note_failure(struct outcome_journal *self, const char *what, const struct err *err)
{
    log_error(what, LOG_STR("error", err->text));
    if (err->code != STATUS_CORRUPT)
        return;
    journal_close(self->journal);
    self->journal = NULL;
}

bool outcome_journal_keep(struct outcome_journal *self, const struct outcome *outcomes,
                          size_t count)
{
    struct err err = {0};
    if (count == 0)
        return true;
    if (!is_open(self))
        return false;
    if (journal_add(self->journal, outcomes, count, &err) == STATUS_OK)
        return true;
    note_failure(self, "outcomes cannot be kept on the disk", &err);
    return false;
}

void outcome_journal_forget(struct outcome_journal *self, const struct outcome *outcomes,
                            size_t count)
{
    struct err err = {0};
    if (count > 0 && is_open(self) &&
        journal_remove(self->journal, outcomes, count, &err) != STATUS_OK)
        note_failure(self, "delivered outcomes stay in the journal", &err);
}

void outcome_journal_load(struct outcome_journal *self, struct arena *arena, struct outcome **out,
                          size_t *out_count)
{
    struct journal_batch batch = {0};
    struct err err = {0};
    if (is_open(self) && journal_load(self->journal, arena, LOADED_MAX, &batch, &err) != STATUS_OK)
        note_failure(self, "the journal of outcomes cannot be read", &err);
    if (batch.set_aside > 0)
        log_error("outcomes in the journal cannot be read",
                  LOG_INT("count", (int64_t)batch.set_aside), LOG_STR("why", batch.why));
    *out = batch.outcomes;
    *out_count = batch.count;
}
