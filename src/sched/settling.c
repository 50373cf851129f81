#include "sched/settling.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strmap.h"

/* The clock of files goes in ticks of the kernel, and so lags behind: a new file may look old. */
enum { FILE_CLOCK_LAG_US = 20000 };

struct entry {
    char *name;
    struct file_stamp look;
    int64_t due_us; /* by the steady clock */
    bool is_told;
    bool is_seen; /* in the scan that goes on */
};

struct settling {
    struct settling_rules rules;
    struct entry *entries;
    size_t count;
    size_t capacity;
    size_t waiting;        /* entries that are not told */
    struct strmap *places; /* name to its entry */
};

struct settling *settling_new(const struct settling_rules *rules)
{
    struct settling *self = mem_zalloc(1, sizeof *self);
    self->rules = *rules;
    self->places = strmap_new();
    return self;
}

void settling_free(struct settling *settling)
{
    if (settling == NULL)
        return;
    for (size_t i = 0; i < settling->count; i++)
        free(settling->entries[i].name);
    free(settling->entries);
    strmap_free(settling->places);
    free(settling);
}

static struct entry *find(const struct settling *self, const char *name)
{
    int64_t place = 0;
    return strmap_find(self->places, name, &place) ? &self->entries[place] : NULL;
}

static bool is_same(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->mtime_ns == b->mtime_ns && a->size == b->size && a->inode == b->inode;
}

/* What it did not change for already counts. */
static int64_t due_of(const struct settling *self, const struct file_stamp *look,
                      struct settling_now now)
{
    int64_t settle_us = self->rules.settle_ms * 1000;
    int64_t age_us = now.wall_us - MAX(look->mtime_ns, look->ctime_ns) / 1000;
    return now.mono_us + settle_us - MIN(MAX(age_us, (int64_t)0), settle_us);
}

static void forget(struct settling *self, struct entry *entry)
{
    self->waiting -= !entry->is_told;
    entry->is_told = true;
    /* Its place stays, so that numbers hold; a scan clears it away. */
    entry->look = (struct file_stamp){.inode = -1};
}

void settling_note(struct settling *settling, const char *name, const struct file_stamp *look,
                   struct settling_now now)
{
    struct entry *entry = find(settling, name);
    if (look == NULL) {
        if (entry != NULL)
            forget(settling, entry);
        return;
    }
    if (entry == NULL) {
        if (settling->count == SETTLING_FILES_MAX)
            return;
        settling->entries = mem_grow(settling->entries, &settling->capacity, settling->count,
                                     sizeof *settling->entries);
        entry = &settling->entries[settling->count];
        *entry = (struct entry){.name = mem_strdup(name), .is_told = true, .look.inode = -1};
        (void)strmap_add(settling->places, entry->name, (int64_t)settling->count++);
    }
    entry->is_seen = true;
    if (is_same(&entry->look, look))
        return;
    settling->waiting += entry->is_told;
    entry->look = *look;
    entry->is_told = false;
    entry->due_us = due_of(settling, look, now);
    if (look->ctime_ns / 1000 + FILE_CLOCK_LAG_US < settling->rules.since_us) {
        entry->is_told = true;
        settling->waiting--;
    }
}

void settling_begin_scan(struct settling *settling)
{
    for (size_t i = 0; i < settling->count; i++)
        settling->entries[i].is_seen = false;
}

void settling_end_scan(struct settling *settling)
{
    size_t kept = 0;
    strmap_free(settling->places);
    settling->places = strmap_new();
    for (size_t i = 0; i < settling->count; i++) {
        struct entry entry = settling->entries[i];
        if (!entry.is_seen) {
            settling->waiting -= !entry.is_told;
            free(entry.name);
            continue;
        }
        (void)strmap_add(settling->places, entry.name, (int64_t)kept);
        settling->entries[kept++] = entry;
    }
    settling->count = kept;
}

int64_t settling_next_us(const struct settling *settling)
{
    int64_t next_us = INT64_MAX;
    for (size_t i = 0; i < settling->count && settling->waiting > 0; i++)
        if (!settling->entries[i].is_told)
            next_us = MIN(next_us, settling->entries[i].due_us);
    return next_us;
}

const char *settling_due(const struct settling *settling, int64_t mono_us)
{
    for (size_t i = 0; i < settling->count && settling->waiting > 0; i++)
        if (!settling->entries[i].is_told && settling->entries[i].due_us <= mono_us)
            return settling->entries[i].name;
    return NULL;
}

bool settling_arrives(struct settling *settling, const char *name, const struct file_stamp *look,
                      struct settling_now now)
{
    struct entry *entry = find(settling, name);
    if (entry == NULL || entry->is_told)
        return false;
    if (look == NULL || !is_same(&entry->look, look)) {
        settling_note(settling, name, look, now);
        return false;
    }
    if (now.mono_us < entry->due_us)
        return false;
    entry->is_told = true;
    settling->waiting--;
    return true;
}
