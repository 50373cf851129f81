#include "model/alert_mail.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/sha256.h"
#include "base/strbuf.h"
#include "model/limits.h"

enum {
    MAIL_BYTES_MAX = 4 * LIMIT_ALERT_BODY_BYTES,
    WORD_BYTES_MAX = 45, /* of one encoded word: 60 characters, 72 with what is around it */
    LINE_COLUMNS = 76,
    DATE_MAX = 40,
};

/* ---- values of headers ---- */

static bool is_printable_ascii(const char *text)
{
    for (const char *p = text; *p != '\0'; p++)
        if (*p < ' ' || *p > '~')
            return false;
    return true;
}

/* The bytes of `text` that make one encoded word: whole characters, at least one. */
static size_t word_length(const char *text)
{
    size_t length = strlen(text);
    if (length <= WORD_BYTES_MAX)
        return length;
    length = WORD_BYTES_MAX;
    while (length > 1 && ((unsigned char)text[length] & 0xC0) == 0x80)
        length--;
    return length;
}

/* RFC 2047; each word on a line of its own. */
static void add_encoded(struct strbuf *out, const char *text)
{
    for (const char *p = text; *p != '\0';) {
        size_t length = word_length(p);
        strbuf_add(out, p == text ? "=?UTF-8?B?" : "\r\n =?UTF-8?B?");
        base64_encode(out, p, length);
        strbuf_add(out, "?=");
        p += length;
    }
}

static void add_text(struct strbuf *out, const char *text)
{
    if (is_printable_ascii(text) && strstr(text, "=?") == NULL)
        strbuf_add(out, text);
    else
        add_encoded(out, text);
}

const char *alert_mail_bare(struct arena *arena, const char *address)
{
    const char *open = strchr(address, '<');
    if (open == NULL)
        return address;
    return arena_strndup(arena, open + 1, strlen(open) - 2);
}

static void add_address(struct arena *arena, struct strbuf *out, const char *address)
{
    const char *open = strchr(address, '<');
    size_t length = open != NULL ? (size_t)(open - address) : 0;
    while (length > 0 && address[length - 1] == ' ')
        length--;
    const char *name = arena_strndup(arena, address, length);
    if (length > 0 && is_printable_ascii(name) && strchr(name, '\\') == NULL)
        strbuf_addf(out, "\"%s\" ", name);
    else if (length > 0) {
        add_encoded(out, name);
        strbuf_add_char(out, ' ');
    }
    strbuf_addf(out, "<%s>", alert_mail_bare(arena, address));
}

static void add_addresses(struct arena *arena, struct strbuf *out, const char *header,
                          const struct string_list *list)
{
    if (list->count == 0)
        return;
    strbuf_addf(out, "%s: ", header);
    for (size_t i = 0; i < list->count; i++) {
        strbuf_add(out, i > 0 ? ",\r\n " : "");
        add_address(arena, out, list->items[i]);
    }
    strbuf_add(out, "\r\n");
}

/* "Mon, 16 Nov 2026 02:46:42 +0000" */
static const char *format_date(int64_t at_us, char out[static DATE_MAX])
{
    static const char *const DAYS[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char *const MONTHS[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct civil c = civil_from_instant(at_us);
    (void)snprintf(out, DATE_MAX, "%s, %02u %s %04d %02u:%02u:%02u +0000", DAYS[c.weekday % 7],
                   c.day % 100, MONTHS[(c.month - 1) % 12], (int)(c.year % 10000), c.hour % 100,
                   c.minute % 100, c.second % 100);
    return out;
}

/* ---- the mail ---- */

static void add_part(struct strbuf *out, const char *boundary, const char *type, const char *text)
{
    struct strbuf encoded;
    strbuf_init(&encoded, MAIL_BYTES_MAX);
    base64_encode(&encoded, text, strlen(text));
    strbuf_addf(out,
                "--%s\r\nContent-Type: %s; charset=utf-8\r\n"
                "Content-Transfer-Encoding: base64\r\n\r\n",
                boundary, type);
    for (size_t at = 0; at < encoded.length; at += LINE_COLUMNS) {
        strbuf_add_bytes(out, encoded.text + at, MIN(encoded.length - at, (size_t)LINE_COLUMNS));
        strbuf_add(out, "\r\n");
    }
    strbuf_fini(&encoded);
}

static void add_headers(struct arena *arena, struct strbuf *out,
                        const struct alert_message *message, const char *from)
{
    char date[DATE_MAX];
    strbuf_add(out, "From: ");
    add_address(arena, out, from);
    strbuf_add(out, "\r\n");
    add_addresses(arena, out, "To", &message->to);
    add_addresses(arena, out, "Cc", &message->cc);
    strbuf_add(out, "Subject: ");
    add_text(out, message->subject);
    strbuf_addf(out, "\r\nDate: %s\r\n", format_date(message->at_us, date));
    const char *domain = strchr(alert_mail_bare(arena, from), '@') + 1;
    strbuf_addf(out, "Message-ID: <%s@%s>\r\n", message->id, domain);
    strbuf_addf(out, "X-Eider-Delivery: %s\r\n", message->id);
    strbuf_add(out, "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n");
}

static bool is_id(const char *id)
{
    return id[0] != '\0' &&
           id[strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")] ==
               '\0';
}

static enum status check(const struct alert_message *message, const char *from, struct err *err)
{
    if (!hook_address_is_valid(from))
        return err_set(err, STATUS_INVALID, "the sender '%.60s' is not an address", from);
    for (size_t i = 0; i < message->to.count + message->cc.count; i++) {
        const char *address =
            i < message->to.count ? message->to.items[i] : message->cc.items[i - message->to.count];
        if (!hook_address_is_valid(address))
            return err_set(err, STATUS_INVALID, "'%.60s' is not an address", address);
    }
    if (strpbrk(message->subject, "\r\n") != NULL)
        return err_set(err, STATUS_INVALID, "the subject has a line break");
    if (!is_id(message->id))
        return err_set(err, STATUS_INVALID, "'%.60s' is not the id of a delivery", message->id);
    return STATUS_OK;
}

enum status alert_mail_write(struct arena *arena, const struct alert_message *message,
                             const char *from, const char **out, struct err *err)
{
    if (check(message, from, err) != STATUS_OK)
        return err->code;
    char hex[SHA256_HEX_MAX];
    char boundary[40];
    (void)snprintf(boundary, sizeof boundary, "eider-%.32s",
                   sha256_hex(message->id, strlen(message->id), hex));
    struct strbuf mail;
    strbuf_init(&mail, MAIL_BYTES_MAX);
    add_headers(arena, &mail, message, from);
    strbuf_addf(&mail, "Content-Type: multipart/alternative; boundary=\"%s\"\r\n\r\n", boundary);
    add_part(&mail, boundary, "text/plain", message->text);
    add_part(&mail, boundary, "text/html", message->html);
    strbuf_addf(&mail, "--%s--\r\n", boundary);
    bool is_whole = !mail.overflow;
    if (is_whole)
        *out = arena_strdup(arena, mail.text);
    strbuf_fini(&mail);
    return is_whole ? STATUS_OK : err_set(err, STATUS_LIMIT, "the mail is too long");
}
