#pragma once
/*
 * host_id: what a daemon remembers of itself, so that it goes on as the same host after it was
 * killed: daemon.json in what its home keeps for the store. hosts/daemon.lock of its home is held
 * while it lives.
 */
#include "app/home.h"
#include "os/file_lock.h"

enum { BOOT_TEXT_MAX = 64 };

/* Read once; a machine that cannot tell is as good as one that never restarted. */
void host_id_boot(char out[static BOOT_TEXT_MAX]);

/* STATUS_CONFLICT: another daemon works in this home. */
NODISCARD enum status host_id_lock(const struct home *home, struct file_lock *out, struct err *err);

/* The host that it was in this store; 0: none. After a restart of the machine it is the same. */
int64_t host_id_load(const struct home_place *place, const char *store_uuid);
NODISCARD enum status host_id_save(const struct home_place *place, const char *store_uuid,
                                   int64_t host, struct err *err);
void host_id_forget(const struct home_place *place);
