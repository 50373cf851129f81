/*
 * alert_email: subject, plain text and simple HTML; alert_mail.h makes a mail of them.
 */
#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "model/alert_priv.h"
#include "model/limits.h"

enum { SUBJECT_MAX = 400 };

/* ---- HTML ---- */

static void add_escaped(struct strbuf *out, const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '&')
            strbuf_add(out, "&amp;");
        else if (*p == '<')
            strbuf_add(out, "&lt;");
        else if (*p == '>')
            strbuf_add(out, "&gt;");
        else if (*p == '"')
            strbuf_add(out, "&quot;");
        else
            strbuf_add_char(out, *p);
    }
}

static void add_element(struct strbuf *out, const char *name, const char *text)
{
    strbuf_addf(out, "<%s>", name);
    add_escaped(out, text);
    strbuf_addf(out, "</%s>\n", name);
}

static void add_html_facts(struct strbuf *out, const struct alert_fact *facts, size_t count)
{
    strbuf_add(out, "<table>\n");
    for (size_t i = 0; i < count; i++) {
        strbuf_addf(out, "<tr><th align=\"left\">%s</th><td>", facts[i].name);
        add_escaped(out, facts[i].text);
        strbuf_add(out, "</td></tr>\n");
    }
    strbuf_add(out, "</table>\n");
}

static void add_html_link(struct strbuf *out, const char *url)
{
    strbuf_add(out, "<p><a href=\"");
    add_escaped(out, url);
    strbuf_add(out, "\">Open in Eider</a></p>\n");
}

/* ---- both forms ---- */

struct mail_texts {
    struct strbuf text;
    struct strbuf html;
};

static void add_what_happened(struct alert_work *work, struct mail_texts *texts)
{
    struct arena *arena = work->arena;
    const struct alert_notice *notice = work->notice;
    if (notice->total > 1) {
        struct strbuf list;
        strbuf_init(&list, LIMIT_ALERT_BODY_BYTES);
        alert_list(arena, notice, "- ", &list);
        strbuf_add(&texts->text, list.text);
        add_element(&texts->html, "pre", list.text);
        strbuf_fini(&list);
        return;
    }
    struct alert_fact facts[ALERT_FACTS_MAX];
    size_t count = alert_facts(arena, &notice->events[0], facts);
    for (size_t i = 0; i < count; i++)
        strbuf_addf(&texts->text, "%-9s %s\n", facts[i].name, facts[i].text);
    add_html_facts(&texts->html, facts, count);
}

static void write_ours(struct alert_work *work, const char *headline, struct mail_texts *texts)
{
    const struct alert_event *event = &work->notice->events[0];
    strbuf_addf(&texts->text, "%s\n\n", headline);
    add_element(&texts->html, "h3", headline);
    add_what_happened(work, texts);
    if (event->error != NULL && event->error[0] != '\0') {
        strbuf_addf(&texts->text, "\n%s\n", event->error);
        add_element(&texts->html, "pre", event->error);
    }
    if (event->url != NULL) {
        strbuf_addf(&texts->text, "\n%s\n", event->url);
        add_html_link(&texts->html, event->url);
    }
}

static const char *keep(struct arena *arena, struct strbuf *text)
{
    const char *kept = arena_strndup(arena, text->text, text->length);
    strbuf_fini(text);
    return kept;
}

static void write_texts(struct alert_work *work, const char *headline, struct alert_message *out)
{
    struct mail_texts texts;
    strbuf_init(&texts.text, LIMIT_ALERT_BODY_BYTES);
    strbuf_init(&texts.html, LIMIT_ALERT_BODY_BYTES);
    strbuf_add(&texts.html, "<!DOCTYPE html>\n<html><body>\n");
    const char *own = alert_fill_for_people(work, "body", work->hook->body);
    if (own != NULL) {
        strbuf_addf(&texts.text, "%s\n", own);
        add_element(&texts.html, "pre", own);
    } else {
        write_ours(work, headline, &texts);
    }
    strbuf_addf(&texts.text, "\n-- \nEider, delivery %s\n", work->notice->id);
    strbuf_addf(&texts.html, "<p><small>Eider, delivery %s</small></p>\n</body></html>\n",
                work->notice->id);
    out->text = keep(work->arena, &texts.text);
    out->html = keep(work->arena, &texts.html);
}

/* ---- headers ---- */

/* One line, whatever the text was: a subject that was rendered may quote anything. */
static const char *one_line(struct arena *arena, const char *text)
{
    size_t length = MIN(strlen(text), (size_t)SUBJECT_MAX);
    while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80)
        length--;
    char *line = arena_strndup(arena, text, length);
    for (char *p = line; *p != '\0'; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = ' ';
    return line;
}

static enum status fill_addresses(struct alert_work *work, const char *what,
                                  const struct string_list *list, struct string_list *out,
                                  struct err *err)
{
    out->items = arena_array(work->arena, list->count + 1, sizeof *out->items);
    for (size_t i = 0; i < list->count; i++) {
        const char *address = NULL;
        if (alert_fill(work, what, list->items[i], &address, err) != STATUS_OK)
            return err->code;
        if (!hook_address_is_valid(address)) {
            (void)err_set(err, STATUS_INVALID, "'%.60s' is not an address", address);
            return alert_refuse(work, what, err);
        }
        out->items[out->count++] = address;
    }
    return STATUS_OK;
}

enum status alert_email(struct alert_work *work, struct alert_message *out, struct err *err)
{
    const struct hook *hook = work->hook;
    if (fill_addresses(work, "to", &hook->to, &out->to, err) != STATUS_OK ||
        fill_addresses(work, "cc", &hook->cc, &out->cc, err) != STATUS_OK)
        return err->code;
    const char *headline = alert_notice_headline(work->arena, work->notice);
    const char *subject = alert_fill_for_people(work, "subject", hook->subject);
    if (subject == NULL || subject[0] == '\0')
        subject = arena_format(work->arena, "[Eider] %s", headline);
    out->subject = one_line(work->arena, subject);
    write_texts(work, headline, out);
    return STATUS_OK;
}
