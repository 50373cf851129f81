#pragma once
/*
 * lease_settings: how long the lease of a host is, and its parts.
 */
#include "model/settings.h"
#include "worker/lease.h"

/* STATUS_INVALID: they do not fit together. */
NODISCARD enum status lease_settings_read(const struct settings *settings, struct lease_times *out,
                                          struct err *err);
