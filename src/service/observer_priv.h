#pragma once
/*
 * observer_priv: what the parts of the observer share: observer (when to ask), observer_metrics,
 * observer_health.
 */
#include "service/observer.h"

const struct observer_options *observer_options_of(const struct observer *observer);
/* How many hosts what waits and runs could use, with as many slots as they have now. */
int64_t observer_target(const struct service *service, const struct census *census);
/* A living daemon with this role. */
bool observer_host_does(const struct service *service, const struct host_info *host,
                        const char *role);
