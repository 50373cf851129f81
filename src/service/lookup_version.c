#include "service/lookup_version.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/dag_files.h"
#include "model/settings.h"
#include "service/lookup.h"
#include "service/principal.h"
#include "store/sight.h"
#include "store/version.h"

/* With the files that its tasks name. */
static enum status complete_file(struct found_dag *found, char **out_place, struct err *err)
{
    spec_add_files(found->file);
    if (lookup_check_file(found->file, err) != STATUS_OK)
        return err->code;
    *out_place = realpath(found->path, NULL);
    return *out_place != NULL ? STATUS_OK : err_errno(err, errno, "find '%s'", found->path);
}

/* A DAG that is there may not be taken over from another namespace. */
static enum status check_place(const struct service *service, struct store *store,
                               struct arena *arena, const char *dag_id, struct err *err)
{
    const char *space = NULL;
    struct err missing = {0};
    enum status status = store_space_of_dag(store, arena, dag_id, &space, &missing);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (status != STATUS_OK) {
        *err = missing;
        return status;
    }
    if (principal_role(service->principal, space) >= PERMISSION_EDITOR)
        return STATUS_OK;
    return err_set(err, STATUS_DENIED,
                   "there is a DAG '%.100s' that you may not change: give yours another id",
                   dag_id);
}

/* A file that was sent along has no place here, so nothing lies beside it. */
static enum status complete_sent(const struct service *service, const struct found_dag *found,
                                 char **out_place, struct err *err)
{
    const struct file_name *names = NULL;
    if (lookup_check_author(service, found, err) != STATUS_OK)
        return err->code;
    if (dag_file_names(found->dag, &names) > 0)
        return err_set(err, STATUS_INVALID,
                       "'%.100s' names the file '%.100s', which is not sent with it: put the text "
                       "into the DAG, or both files into the folder of a daemon",
                       found->path, names[0].name);
    *out_place = mem_strdup("");
    return STATUS_OK;
}

enum status lookup_version(struct service *service, struct store *store, struct arena *arena,
                           const json_t *request, int64_t *out_version, struct err *err)
{
    CLEANUP(lookup_dag_fini) struct found_dag found = {0};
    struct version_ref ref;
    if (lookup_dag(service, arena, request, &found, err) != STATUS_OK)
        return err->code;
    if (found.file == NULL) {
        if (!found.is_active)
            return err_set(err, STATUS_CONFLICT, "DAG '%s' is inactive: its file %s is gone",
                           found.dag->id, found.path);
        *out_version = found.key;
        return STATUS_OK;
    }
    CLEANUP(mem_freep) char *place = NULL;
    if (found.is_sent && check_place(service, store, arena, found.dag->id, err) != STATUS_OK)
        return err->code;
    if (found.is_sent ? complete_sent(service, &found, &place, err) != STATUS_OK
                      : complete_file(&found, &place, err) != STATUS_OK)
        return err->code;
    struct version_source source = {
        .path = place,
        .text = found.text,
        .actor = service->actor,
        .starts_paused = settings_number(service->settings, SETTING_DAGS_PAUSED_AT_CREATION) != 0,
    };
    if (store_version_save(store, found.dag, &source, &ref, err) != STATUS_OK)
        return err->code;
    *out_version = ref.version;
    return STATUS_OK;
}
