#include "service/dag_sync.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strmap.h"
#include "service/dag_circle.h"
#include "service/dag_sync_priv.h"

/* Of one turn: others write to the store, too. */
enum { TURN_FILES = 200, TURN_BYTES = 4 << 20, TURN_US = 500000, TURN_REMOVED = 500 };

struct dag_sync {
    struct dag_sync_options options;
    char *actor;
    struct sync_file *files; /* sorted by path */
    size_t count;
    char **removed; /* paths that are gone and still in the store */
    size_t removed_count;
    size_t removed_capacity;
    struct spec_paths folders;
    struct spec_paths part_folders;
    struct spec_paths part_list;
    struct strmap *part_names; /* last names of the list */
    size_t next_due;           /* none before it */
    bool is_freed;             /* a DAG may have lost its file: those that were refused try again */
    bool is_doubtful;          /* the same, as for the store */
    bool is_unsettled;
    bool has_forgotten; /* hosts that left */
    bool is_uncompared; /* DAGs were changed since it was looked whether they start each other */
    struct dag_circle_reader *reader; /* what is known of that so far */
    bool is_unsearched;               /* all of it is */
    struct arena *told;               /* names of circles */
    struct strmap *circles;
    struct dag_sync_counts done;
};

/* --- from the store -------------------------------------------------------------------------- */

struct loading {
    struct sync_file *files;
    size_t count;
    size_t capacity;
};

static enum status load_file(void *context, const struct dag_file *kept, struct err *err)
{
    (void)err;
    struct loading *loading = context;
    loading->files =
        mem_grow(loading->files, &loading->capacity, loading->count, sizeof *loading->files);
    sync_file_init(&loading->files[loading->count++], kept);
    return STATUS_OK;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct sync_file *)a)->path, ((const struct sync_file *)b)->path);
}

enum status dag_sync_new(const struct dag_sync_options *options, struct dag_sync **out,
                         struct err *err)
{
    struct loading loading = {0};
    struct dag_file_filter filter = {.host = options->host};
    enum status status = store_dag_file_each(options->store, &filter, load_file, &loading, err);
    struct dag_sync *sync = mem_zalloc(1, sizeof *sync);
    *sync = (struct dag_sync){
        .options = *options,
        .actor = mem_format("host %s", options->host),
        .files = loading.files,
        .count = loading.count,
        .part_names = strmap_new(),
        /* Whoever was stopped in between left it to the next. */
        .is_doubtful = true,
        .is_uncompared = true,
        .told = arena_new(),
        .circles = strmap_new(),
    };
    if (status != STATUS_OK) {
        dag_sync_free(sync);
        return err_wrap(err, "read what is known of DAG files");
    }
    /* The database may sort by other rules than we do. */
    if (sync->count > 0)
        qsort(sync->files, sync->count, sizeof *sync->files, by_path);
    *out = sync;
    return STATUS_OK;
}

static void free_removed(struct dag_sync *sync)
{
    for (size_t i = 0; i < sync->removed_count; i++)
        free(sync->removed[i]);
    sync->removed_count = 0;
}

void dag_sync_free(struct dag_sync *sync)
{
    if (sync == NULL)
        return;
    for (size_t i = 0; i < sync->count; i++)
        sync_file_fini(&sync->files[i]);
    free_removed(sync);
    spec_paths_fini(&sync->folders);
    spec_paths_fini(&sync->part_folders);
    spec_paths_fini(&sync->part_list);
    strmap_free(sync->part_names);
    strmap_free(sync->circles);
    dag_circle_reader_free(sync->reader);
    arena_free(sync->told);
    free(sync->removed);
    free(sync->files);
    free(sync->actor);
    free(sync);
}

/* --- looking --------------------------------------------------------------------------------- */

static void note_removed(struct dag_sync *sync, struct sync_file *file)
{
    if (file->is_kept) {
        sync->removed = mem_grow(sync->removed, &sync->removed_capacity, sync->removed_count,
                                 sizeof *sync->removed);
        sync->removed[sync->removed_count++] = mem_strdup(file->path);
    }
    sync_file_fini(file);
}

/* A path that is there: what is remembered of it, or a new one. */
static struct sync_file take_file(struct sync_file *known, char *path)
{
    struct file_stamp stamp = {0};
    struct sync_file file = {0};
    if (known != NULL)
        file = *known;
    else
        file.path = mem_strdup(path);
    /* One that went since is missed by the next look. */
    file.is_due |= file_stamp_read(path, &stamp) && sync_file_is_touched(&file, &stamp);
    return file;
}

/* Both are sorted: they are gone through side by side. */
static void compare(struct dag_sync *sync, const struct spec_paths *found)
{
    struct sync_file *files = mem_zalloc(found->count + 1, sizeof *files);
    size_t known = 0;
    for (size_t i = 0; i < found->count; i++) {
        while (known < sync->count && strcmp(sync->files[known].path, found->items[i]) < 0)
            note_removed(sync, &sync->files[known++]);
        bool is_known = known < sync->count && str_equal(sync->files[known].path, found->items[i]);
        files[i] = take_file(is_known ? &sync->files[known] : NULL, found->items[i]);
        known += is_known;
    }
    while (known < sync->count)
        note_removed(sync, &sync->files[known++]);
    free(sync->files);
    sync->files = files;
    sync->count = found->count;
    sync->next_due = 0;
}

enum status dag_sync_look(struct dag_sync *sync, struct err *err)
{
    struct spec_paths found = {0};
    struct spec_paths folders = {0};
    enum status status = spec_find_tree(sync->options.folder, &found, &folders, err);
    if (status == STATUS_OK) {
        compare(sync, &found);
        spec_paths_fini(&sync->folders);
        sync->folders = folders;
        sync->done = (struct dag_sync_counts){0};
    } else {
        spec_paths_fini(&folders);
    }
    sync->is_unsettled = false;
    spec_paths_fini(&found);
    return status;
}

/* --- doing ----------------------------------------------------------------------------------- */

struct readings {
    struct sync_reading items[TURN_FILES];
    struct dag_file_change changes[TURN_FILES];
    struct dag_file_result results[TURN_FILES];
    size_t count;
};

static void readings_free(struct readings **readings)
{
    for (size_t i = 0; i < (*readings)->count; i++)
        sync_reading_fini(&(*readings)->items[i]);
    free(*readings);
}

static void read_some(struct dag_sync *sync, struct readings *readings)
{
    int64_t until_us = clock_mono_us() + TURN_US;
    size_t bytes = 0;
    for (; sync->next_due < sync->count; sync->next_due++) {
        struct sync_file *file = &sync->files[sync->next_due];
        if (!file->is_due)
            continue;
        if (readings->count == TURN_FILES || bytes > TURN_BYTES || clock_mono_us() > until_us)
            return;
        struct sync_reading *reading = &readings->items[readings->count];
        if (!sync_read(file, sync->options.settle_ms, reading)) {
            sync->is_unsettled = true;
            continue;
        }
        readings->changes[readings->count++] = sync_reading_change(reading);
        bytes += reading->bytes;
    }
}

static void tell_problem(const struct dag_sync *sync, const struct sync_reading *reading,
                         const struct dag_file_result *result)
{
    CLEANUP(json_decrefp) json_t *problems = NULL;
    struct err ignored = {0};
    const char *text = result->refusal;
    int line = result->line;
    /* One that was refused is tried again whenever another file lets go of DAGs. */
    bool is_told = result->is_refused && reading->file->is_refused;
    if (sync->options.broken == NULL || is_told ||
        (reading->problems == NULL && !result->is_refused))
        return;
    if (reading->problems != NULL && json_parse(reading->problems, strlen(reading->problems),
                                                &problems, &ignored) == STATUS_OK) {
        const json_t *first = json_array_get(problems, 0);
        line = (int)json_integer_value(json_array_get(first, 0));
        text = json_string_value(json_array_get(first, 2));
    }
    sync->options.broken(sync->options.context, reading->file->path, line, text);
}

static void forget_starts(struct dag_sync *sync)
{
    dag_circle_reader_free(sync->reader);
    sync->reader = NULL;
    sync->is_unsearched = false;
}

static enum status save_some(struct dag_sync *sync, struct err *err)
{
    CLEANUP(readings_free) struct readings *readings = mem_zalloc(1, sizeof *readings);
    size_t before = sync->next_due;
    read_some(sync, readings);
    if (readings->count == 0)
        return STATUS_OK;
    struct dag_file_batch batch = {
        .host = sync->options.host,
        .actor = sync->actor,
        .starts_paused = sync->options.starts_paused,
        .changes = readings->changes,
        .count = readings->count,
    };
    if (store_dag_files_save(sync->options.store, &batch, readings->results, err) != STATUS_OK) {
        sync->next_due = before;
        return err->code;
    }
    for (size_t i = 0; i < readings->count; i++) {
        bool may_free = readings->items[i].file->is_kept && !readings->items[i].is_same &&
                        readings->items[i].problems == NULL && !readings->results[i].is_refused;
        sync->is_freed |= may_free;
        sync->is_doubtful |= may_free;
        sync->done.read += !readings->items[i].is_same;
        sync->done.changed += readings->results[i].changed;
        if (readings->results[i].changed > 0) {
            forget_starts(sync);
            sync->is_uncompared = true;
        }
        tell_problem(sync, &readings->items[i], &readings->results[i]);
        sync_reading_accept(&readings->items[i], &readings->results[i]);
    }
    return STATUS_OK;
}

static enum status remove_some(struct dag_sync *sync, struct err *err)
{
    size_t count = MIN(sync->removed_count, (size_t)TURN_REMOVED);
    char **paths = sync->removed + (sync->removed_count - count);
    if (store_dag_files_remove(sync->options.store, sync->options.host, (const char *const *)paths,
                               count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++)
        free(paths[i]);
    sync->removed_count -= count;
    sync->is_freed = true;
    sync->is_doubtful = true;
    return STATUS_OK;
}

static bool has_due(const struct dag_sync *sync)
{
    for (size_t i = sync->next_due; i < sync->count; i++)
        if (sync->files[i].is_due)
            return true;
    return false;
}

/* Those that another file kept from being good may be good now. */
static void try_refused(struct dag_sync *sync)
{
    sync->is_freed = false;
    for (size_t i = 0; i < sync->count; i++)
        sync->files[i].is_due |= sync->files[i].is_refused;
    sync->next_due = 0;
}

static enum status settle(struct dag_sync *sync, struct err *err)
{
    int64_t gone = 0;
    if (store_dag_files_settle(sync->options.store, sync->options.host, sync->actor, &gone, err) !=
        STATUS_OK)
        return err->code;
    sync->is_doubtful = false;
    sync->done.gone += (size_t)gone;
    return STATUS_OK;
}

/* What no single file shows; one that is changed meanwhile begins it anew. */
static enum status read_starts(struct dag_sync *sync, struct err *err)
{
    bool is_more = false;
    if (sync->options.circle != NULL) {
        if (sync->reader == NULL)
            sync->reader = dag_circle_reader_new();
        if (dag_circle_read(sync->reader, sync->options.store, &is_more, err) != STATUS_OK)
            return err->code;
        sync->is_unsearched = !is_more;
    }
    sync->is_uncompared = is_more;
    return STATUS_OK;
}

/* A warning, since it may be meant. */
void dag_sync_think(struct dag_sync *sync)
{
    if (!sync->is_unsearched)
        return;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct dag_circles found = {0};
    dag_circle_search(sync->reader, arena, &found);
    for (size_t i = 0; i < found.count; i++) {
        const struct dag_circle *circle = &found.items[i];
        if (strmap_find(sync->circles, circle->text, &(int64_t){0}))
            continue;
        (void)strmap_add(sync->circles, arena_strdup(sync->told, circle->text), 0);
        sync->options.circle(sync->options.context, circle->path, circle->text);
    }
    forget_starts(sync);
}

enum status dag_sync_turn(struct dag_sync *sync, struct err *err)
{
    if (sync->removed_count > 0)
        return remove_some(sync, err);
    if (has_due(sync))
        return save_some(sync, err);
    if (sync->is_freed) {
        try_refused(sync);
        return STATUS_OK;
    }
    /* A file that moves is not gone while its new place is being written. */
    if (sync->is_doubtful && !sync->is_unsettled)
        return settle(sync, err);
    if (sync->is_uncompared)
        return read_starts(sync, err);
    if (!sync->has_forgotten &&
        store_dag_files_forget(sync->options.store, sync->options.host, err) != STATUS_OK)
        return err->code;
    sync->has_forgotten = true;
    return STATUS_OK;
}

struct dag_sync_state dag_sync_get(const struct dag_sync *sync)
{
    struct dag_sync_state state = {
        .has_more = sync->removed_count > 0 || sync->is_freed || has_due(sync) ||
                    (sync->is_doubtful && !sync->is_unsettled) || sync->is_uncompared ||
                    !sync->has_forgotten,
        .is_unsettled = sync->is_unsettled,
        .files = sync->count,
        .done = sync->done,
    };
    for (size_t i = 0; i < sync->count; i++)
        state.broken += sync->files[i].is_broken;
    return state;
}

/* --- what to watch --------------------------------------------------------------------------- */

const struct spec_paths *dag_sync_folders(const struct dag_sync *sync)
{
    return &sync->folders;
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void add_path(struct spec_paths *paths, char *taken)
{
    paths->items = mem_grow(paths->items, &paths->capacity, paths->count, sizeof *paths->items);
    paths->items[paths->count++] = taken;
}

static void note_part(struct dag_sync *sync, const char *path)
{
    const char *name = last_name(path);
    struct spec_paths *folders = &sync->part_folders;
    if (!strmap_find(sync->part_names, name, &(int64_t){0})) {
        add_path(&sync->part_list, mem_strdup(name));
        (void)strmap_add(sync->part_names, sync->part_list.items[sync->part_list.count - 1], 0);
    }
    size_t length = name > path + 1 ? (size_t)(name - path) - 1 : 1;
    const char *last = folders->count > 0 ? folders->items[folders->count - 1] : "";
    if (strlen(last) != length || strncmp(last, path, length) != 0)
        add_path(folders, mem_strndup(path, length));
}

const struct spec_paths *dag_sync_part_folders(struct dag_sync *sync)
{
    strmap_free(sync->part_names);
    spec_paths_fini(&sync->part_list);
    spec_paths_fini(&sync->part_folders);
    sync->part_names = strmap_new();
    for (size_t i = 0; i < sync->count; i++)
        for (size_t k = 0; k < sync->files[i].parts_count; k++)
            note_part(sync, sync->files[i].parts[k].path);
    return &sync->part_folders;
}

bool dag_sync_cares(const struct dag_sync *sync, const char *name)
{
    /* A folder of links that are swapped together turns about a name such as `..data`. */
    return str_ends_with(name, ".yaml") || str_ends_with(name, ".yml") ||
           str_equal(name, ".eiderignore") || str_starts_with(name, "..") ||
           strmap_find(sync->part_names, name, &(int64_t){0});
}
