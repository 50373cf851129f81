#pragma once
/*
 * local_service: a service on the home of this process, with all that only the application knows:
 * who lives here, how the dead are recovered, how templates are filled in.
 *
 * Threads    One thread at a time; make another one for another thread.
 */
#include "app/config.h"
#include "app/home.h"
#include "service/service.h"

struct local_service {
    const struct home *home;
    struct service service;
};

/* Config and home are borrowed; it must not be moved afterwards. service_fini ends it. */
void local_service_init(struct local_service *local, const struct config *config,
                        const struct home *home);
