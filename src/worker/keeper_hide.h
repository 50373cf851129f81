#pragma once
/*
 * keeper_hide: secrets taken out of what leaves a task beside its log.
 *
 * The keeper is where this happens, since it outlives the daemon that knew the values.
 */
#include "base/strbuf.h"
#include "model/mask.h"

/* The text with every secret as "***"; it may be no JSON any more. */
void keeper_hide_text(struct mask *mask, struct strbuf *text);
/* The same in a text of the caller's that has room for `size` bytes. */
void keeper_hide_in_place(struct mask *mask, char *text, size_t size);

/*
 * The same in every file of an outputs folder, whose task has ended. A file that cannot be looked
 * at whole, or cannot be written, is removed.
 */
void keeper_hide_outputs(struct mask *mask, const char *dir);
