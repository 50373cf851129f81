#pragma once
/*
 * prove_backfill: a large backfill runs on all slots of a host, and production must not notice.
 *
 * Runs of a production DAG are triggered one after another, first alone and then beside a backfill
 * that has far more tasks waiting than the host has slots, in the same queue. A production task may
 * have to wait for a slot, but never for more than the task that holds it.
 */
#include "app/prove.h"
#include "app/prove_report.h"

/* STATUS_OK whatever the report says; *out_interrupted when people had enough of it. */
NODISCARD enum status prove_backfill(const struct prove_world *world,
                                     const struct prove_request *request,
                                     struct prove_report *report, bool *out_interrupted,
                                     struct err *err);
