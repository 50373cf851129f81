#pragma once
/*
 * recovery: taking back what dead processes of an embedded store left.
 *
 * A host is dead when nobody holds its lock. Whoever takes back its tasks holds that lock
 * meanwhile, so that a daemon that is started again under the same id cannot come in between, and
 * kills what still runs of them first.
 */
#include "base/attrs.h"
#include "base/err.h"
#include "store/store.h"

struct recovery_result {
    int64_t hosts; /* that had died */
    int64_t tasks; /* taken back */
};

/* `meeting_dir`: where hosts show that they live. `self` is left alone. */
NODISCARD enum status recovery_sweep(struct store *store, const char *meeting_dir, int64_t self,
                                     struct recovery_result *out, struct err *err);
