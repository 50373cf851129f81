#pragma once
/*
 * run_filter: which runs, in which order, a request asks for.
 */
#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "store/run_page.h"

/*
 * The members dag, dags, state, states, {logical,start,end,updated}_{from,to} and order_by; newest
 * first without an order. Texts are borrowed from the request and the arena. The schema has looked
 * at the types.
 */
NODISCARD enum status run_filter_read(const json_t *request, struct arena *arena,
                                      struct run_page *out, struct err *err);

/* limit and offset within their bounds. */
NODISCARD enum status run_filter_read_page(const json_t *request, int64_t *out_limit,
                                           int64_t *out_offset, struct err *err);

/* {key}_from and {key}_to. */
void run_filter_read_range(const json_t *request, const char *key, struct run_range *out);

/* Names as ",a,b,"; NULL: the request has none. */
const char *run_filter_names(const json_t *request, const char *key, struct arena *arena);
