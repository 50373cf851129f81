#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/process.h"

enum { ENTRY_BYTES_MAX = 1 << 20, GROUPS_MAX = 65536 };

enum status process_user_find(const char *name, struct process_user *out, struct err *err)
{
    struct passwd entry;
    struct passwd *found = NULL;
    CLEANUP(mem_freep) char *buffer = NULL;
    int failure = ERANGE;
    for (size_t size = 1024; failure == ERANGE && size <= ENTRY_BYTES_MAX; size *= 4) {
        buffer = mem_resize(buffer, size, 1);
        failure = getpwnam_r(name, &entry, buffer, size, &found);
    }
    if (found == NULL && (failure == 0 || failure == ENOENT))
        return err_set(err, STATUS_NOT_FOUND, "user '%s' does not exist", name);
    if (found == NULL)
        return err_errno(err, failure, "look up user '%s'", name);

    int count = 32;
    gid_t *groups = mem_zalloc((size_t)count, sizeof *groups);
    while (getgrouplist(name, entry.pw_gid, groups, &count) < 0) {
        if (count > GROUPS_MAX) {
            free(groups);
            return err_set(err, STATUS_LIMIT, "user '%s' has too many groups", name);
        }
        groups = mem_resize(groups, (size_t)count, sizeof *groups);
    }
    *out = (struct process_user){
        .uid = entry.pw_uid,
        .gid = entry.pw_gid,
        .groups = groups,
        .group_count = (size_t)count,
    };
    return STATUS_OK;
}

void process_user_fini(struct process_user *user)
{
    free(user->groups);
    *user = (struct process_user){0};
}
