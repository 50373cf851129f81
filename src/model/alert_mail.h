#pragma once
/*
 * alert_mail: an email message of alert.h as the lines that go over the wire (RFC 5322). Pure.
 *
 * Plain text and HTML side by side, both in base64, so that no server has to change them. The
 * Message-ID follows from the id of the notice: a mail that was sent twice is recognizable.
 */
#include <stddef.h>

#include "base/attrs.h"
#include "base/err.h"
#include "model/alert.h"

/*
 * The mail, in the arena. STATUS_INVALID: an address is not one, or a text would end a header.
 */
NODISCARD enum status alert_mail_write(struct arena *arena, const struct alert_message *message,
                                       const char *from, const char **out, struct err *err);

/* What the server is told: "a@b" of "Name <a@b>". The address must be valid. */
const char *alert_mail_bare(struct arena *arena, const char *address);
