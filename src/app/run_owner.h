#pragma once
/*
 * run_owner: whether a run that is to be continued has an owner who lives, and what dead ones left.
 *
 * On an embedded store locks tell who lives. On a shared one leases do; a lock of this state folder
 * that is free tells sooner.
 */
#include "app/session.h"

/*
 * Take back what dead hosts hold of the run and kill what is left of it here.
 *
 *   STATUS_CONFLICT  the run was begun in the foreground, and its owner lives
 */
NODISCARD enum status run_owner_take_back(struct session *session, int64_t run, struct err *err);
