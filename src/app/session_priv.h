#pragma once
/*
 * session_priv: the part of a session that concerns other hosts (session_fleet.c).
 */
#include "app/session.h"

/*
 * This process becomes a host. On a shared store it has a lease, which is renewed from here on,
 * hears of others and brings its logs there.
 */
NODISCARD enum status session_join(struct session *session, struct err *err);
/* After loop_run has returned; never joined is fine. */
void session_part(struct session *session);
