#include <string.h>

#include "base/arena.h"
#include "model/dag_read_priv.h"

void reader_params(struct reader *r, struct spot spot, const json_t *value)
{
    (void)r;
    (void)spot;
    (void)value;
}
