#include "service/lookup_version.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/settings.h"
#include "service/lookup.h"
#include "store/version.h"

enum status lookup_version(struct service *service, struct store *store, struct arena *arena,
                           const json_t *request, int64_t *out_version, struct err *err)
{
    CLEANUP(lookup_dag_fini) struct found_dag found = {0};
    struct version_info info;
    struct version_ref ref;
    if (lookup_dag(service, arena, request, &found, err) != STATUS_OK)
        return err->code;
    if (found.file == NULL) {
        if (store_version_newest(store, arena, found.dag->id, &info, err) != STATUS_OK)
            return err->code;
        if (!info.is_active)
            return err_set(err, STATUS_CONFLICT, "DAG '%s' is inactive: its file %s is gone",
                           info.dag_id, info.path);
        *out_version = info.version;
        return STATUS_OK;
    }
    spec_add_files(found.file);
    if (lookup_check_file(found.file, err) != STATUS_OK)
        return err->code;
    CLEANUP(mem_freep) char *absolute = realpath(found.path, NULL);
    if (absolute == NULL)
        return err_errno(err, errno, "find '%s'", found.path);
    struct version_source source = {
        .path = absolute,
        .text = found.text,
        .actor = service->actor,
        .starts_paused = settings_number(service->settings, SETTING_DAGS_PAUSED_AT_CREATION) != 0,
    };
    if (store_version_save(store, found.dag, &source, &ref, err) != STATUS_OK)
        return err->code;
    *out_version = ref.version;
    return STATUS_OK;
}
