#include "store/own_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "base/mem.h"

/* More than a host has slots for: some were lost to others and will never be asked for. */
enum { KEPT_MAX = 8192 };

struct own_jobs {
    struct idmap *rows; /* to struct own_job */
    struct job_origin origin;
    char *queue; /* of the origin */
    struct job_trail trail;
    char *trail_queue;
};

struct own_job {
    struct task_row task;
    struct job_row job;
};

struct own_jobs *own_jobs_new(void)
{
    struct own_jobs *own = mem_zalloc(1, sizeof *own);
    own->rows = idmap_new();
    return own;
}

void own_jobs_forget(struct own_jobs *own)
{
    size_t cursor = 0;
    own->trail.until_us = 0;
    if (idmap_count(own->rows) == 0)
        return;
    for (struct own_job *kept; (kept = idmap_next(own->rows, &cursor)) != NULL;)
        free(kept);
    idmap_free(own->rows);
    own->rows = idmap_new();
}

void own_jobs_free(struct own_jobs *own)
{
    if (own == NULL)
        return;
    own_jobs_forget(own);
    idmap_free(own->rows);
    free(own->queue);
    free(own->trail_queue);
    free(own);
}

static void set_text(char **text, const char *value)
{
    if (*text != NULL && strcmp(*text, value) == 0)
        return;
    char *copy = mem_strdup(value);
    free(*text);
    *text = copy;
}

void own_jobs_set_trail(struct own_jobs *own, const struct job_trail *trail)
{
    own->trail.until_us = 0;
    if (trail == NULL)
        return;
    set_text(&own->trail_queue, trail->origin.queue);
    own->trail = *trail;
    own->trail.origin.queue = own->trail_queue;
}

const struct job_trail *own_jobs_trail(const struct own_jobs *own)
{
    return clock_mono_us() < own->trail.until_us ? &own->trail : NULL;
}

static void note_origin(struct own_jobs *own, const struct job_row *job)
{
    set_text(&own->queue, job->queue);
    own->origin = (struct job_origin){job->lane, job->class, own->queue};
}

const struct job_origin *own_jobs_origin(const struct own_jobs *own)
{
    return &own->origin;
}

void own_jobs_keep(struct own_jobs *own, const struct task_row *task)
{
    CHECK(task->job != NULL);
    note_origin(own, task->job);
    if (idmap_count(own->rows) >= KEPT_MAX)
        own_jobs_forget(own);
    struct own_job *kept = idmap_find(own->rows, task->id);
    if (kept == NULL) {
        kept = mem_alloc(sizeof *kept);
        idmap_set(own->rows, task->id, kept);
    }
    kept->task = *task;
    kept->task.detail = kept->task.label = NULL;
    kept->job = *task->job;
    kept->job.queue = kept->job.handler = kept->job.payload = kept->job.namespace_ = "";
    kept->job.def.id = kept->job.def.queue = "";
}

struct task_row *own_jobs_take(struct own_jobs *own, int64_t task, struct arena *arena)
{
    struct own_job *kept = idmap_find(own->rows, task);
    if (kept == NULL)
        return NULL;
    struct own_job *copy = arena_alloc(arena, sizeof *copy);
    *copy = *kept;
    copy->task.job = &copy->job;
    idmap_remove(own->rows, task);
    free(kept);
    return &copy->task;
}
