#pragma once
/*
 * together: operations of several callers in one transaction, so that one wait for the disk serves
 * them all.
 *
 * Each operation is still all or nothing by itself. Nobody may be told of what was done before
 * together_commit has succeeded. Not for operations that take long or that work outside the store.
 */
#include "service/service.h"

NODISCARD enum status together_begin(struct service *service, struct err *err);

/*
 * STATUS_UNKNOWN: the answer of the database was lost, all of it may have happened or nothing. Any
 * other failure: nothing happened.
 */
NODISCARD enum status together_commit(struct service *service, struct err *err);
/* From here on together_commit can only fail, with STATUS_IO. */
void together_spoil(struct service *service);
/* Instead of the commit: nothing of it happened. */
void together_undo(struct service *service);
