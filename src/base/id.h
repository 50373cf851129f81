#pragma once
/*
 * id: time-ordered 64-bit numbers, unique without asking anyone.
 *
 * 41 bits of milliseconds since 2024, 12 bits of maker, 10 bits of sequence, always
 * positive. A maker is a number that a host holds while it lives; those from ID_MAKERS on are left
 * to jobs made by plain SQL (the view `enqueue` in sql/).
 *
 * Threads  An id_source belongs to one thread.
 */
#include <stdint.h>

enum { ID_MAKERS = 4064 };

struct id_source {
    uint32_t maker; /* below ID_MAKERS */
    int64_t last;   /* zero before the first id */
};

/* An id greater than every earlier one of this source, whatever the clock did. */
int64_t id_next(struct id_source *source, int64_t now_us);
/* When the id was made, to the millisecond. */
int64_t id_time_us(int64_t id);
