#pragma once
/*
 * pg_errors: what the failures of PostgreSQL mean for us. Pure.
 */
#include "base/err.h"

struct pg_error {
    const char *match; /* five characters of a SQLSTATE, or the two of its class */
    enum status status;
    const char *advice; /* what to do about it; NULL: the server's own words say enough */
};

/* The meaning of a SQLSTATE; NULL or an unknown one is STATUS_IO. */
const struct pg_error *pg_error_of_state(const char *sqlstate);
/* The same by the words of a connection that was not made, which come without a SQLSTATE. */
const struct pg_error *pg_error_of_connect(const char *words);

/* STATUS_INVALID for servers that are too old, by libpq's number (150004). */
NODISCARD enum status pg_version_check(int version, struct err *err);
