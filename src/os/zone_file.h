#pragma once
/*
 * zone_file: the time zone files of this machine.
 *
 * They lie in the folder $TZDIR, or /usr/share/zoneinfo. A file is read anew each time: it is
 * a few kilobytes that the kernel keeps in memory, and an update of the zones then counts at
 * once. What the bytes mean is said by model/zone.h.
 *
 * Threads  From any.
 */
#include <stddef.h>

#include "base/attrs.h"
#include "base/err.h"

enum { ZONE_FILE_BYTES_MAX = 256 << 10, ZONE_NAME_MAX = 64 };

/*
 * The bytes of a zone by its name such as Europe/Berlin; heap, the caller frees. "local" is the
 * zone of this machine: what $TZ says (the name of a zone, or a POSIX rule, which is then the
 * answer itself), else /etc/localtime, else "UTC0".
 *
 *   STATUS_INVALID    it is no name of a zone.
 *   STATUS_NOT_FOUND  there is no such zone; the text says what was perhaps meant.
 */
NODISCARD enum status zone_file_read(const char *name, char **out_bytes, size_t *out_length,
                                     struct err *err);
