#pragma once
/*
 * prove_waiting: thousands of tasks wait at once, and it costs next to nothing.
 *
 * One host with two slots. Half of the waits are for files that the proof makes later, half for
 * an instant. While all of them wait, no slot is held, a plain task runs at once, and the
 * daemon's memory and time are measured. Then they are met, and the run must end well.
 */
#include "app/prove.h"
#include "app/prove_report.h"

/* As prove_adoption. */
NODISCARD enum status prove_waiting(const struct prove_world *world,
                                    const struct prove_request *request,
                                    struct prove_report *report, bool *out_interrupted,
                                    struct err *err);
