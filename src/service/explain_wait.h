#pragma once
/*
 * explain_wait: what a task waits for, who looks, and until when. In words.
 */
#include "service/explain.h"
#include "store/wait.h"

/* `looker` is the host that looks; of no meaning when nobody needs to. */
void explain_wait(const struct explain_world *world, const struct task_row *task,
                  const struct wait_info *wait, const struct explain_host *looker,
                  struct explanation *out);
