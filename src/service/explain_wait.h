#pragma once
/*
 * explain_wait: what a task waits for, who looks, and until when. In words.
 */
#include "service/explain.h"
#include "store/wait.h"

void explain_wait(const struct explain_world *world, const struct explain_subject *subject,
                  struct explanation *out);
