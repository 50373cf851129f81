#pragma once
/*
 * prove_adoption: hosts are killed in the middle of a run, and the run must not notice.
 *
 * Half of the tasks run on a host whose daemon is killed and started again: they go on, as the same
 * processes and in the same attempt. The others run on a host that is killed with everything it
 * has: they are taken back, recorded as such, and run elsewhere. In a fleet that other host is
 * frozen next, for longer than its lease, as a machine can be: when it goes on, its tasks run
 * somewhere else again, and what it has to say about them is refused. What tasks wrote themselves
 * is compared with what the store says.
 */
#include "app/prove.h"
#include "app/prove_report.h"

/* STATUS_OK whatever the report says; *out_interrupted when people had enough of it. */
NODISCARD enum status prove_adoption(const struct prove_world *world,
                                     const struct prove_request *request,
                                     struct prove_report *report, bool *out_interrupted,
                                     struct err *err);
