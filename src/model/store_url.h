#pragma once
/*
 * store_url: where the store is, as it may be shown. Pure.
 */
#include "base/attrs.h"

/* The URL without a password; heap. */
NODISCARD char *store_url_shown(const char *url);
