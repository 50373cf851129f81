#pragma once
/*
 * prove_report: what was expected and what was seen.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/json.h"

struct prove_report {
    json_t *checks;
    json_t *notes;
    bool ok; /* every check so far */
};

void prove_report_init(struct prove_report *report);
void prove_report_fini(struct prove_report *report); /* twice is fine */
void prove_report_check(struct prove_report *report, const char *what, int64_t expected,
                        int64_t seen);
void prove_report_note(struct prove_report *report, const char *fmt, ...) PRINTF(2, 3);
/* As the command line wants it; a new reference. */
NODISCARD json_t *prove_report_json(const struct prove_report *report, const char *proof,
                                    int64_t duration_ms);
