/*
 * alert_slack: the message as blocks, with a plain text beside them for notifications.
 *
 * The same document suits an incoming webhook and chat.postMessage. Slack refuses messages whose
 * parts are too long, so each is cut to what it takes.
 */
#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "model/alert_priv.h"
#include "model/limits.h"

enum { HEADER_MAX = 150, FIELD_MAX = 2000, SECTION_MAX = 3000, TEXT_MAX = 3000, FENCES = 16 };

/* At most `most` bytes, ending with a whole character. */
static size_t cut_length(const char *text, size_t most)
{
    size_t length = strlen(text);
    if (length <= most)
        return length;
    while (most > 0 && ((unsigned char)text[most] & 0xC0) == 0x80)
        most--;
    return most;
}

static const char *cut(struct arena *arena, const char *text, size_t most)
{
    return arena_strndup(arena, text, cut_length(text, most));
}

/* Slack's own signs as entities, so that a text from outside mentions and links nobody. */
static const char *escape(struct arena *arena, const char *text, size_t most)
{
    struct strbuf out;
    strbuf_init(&out, most);
    for (const char *p = text; *p != '\0' && out.length + strlen("&amp;") <= most; p++) {
        if (*p == '&')
            strbuf_add(&out, "&amp;");
        else if (*p == '<')
            strbuf_add(&out, "&lt;");
        else if (*p == '>')
            strbuf_add(&out, "&gt;");
        else
            strbuf_add_char(&out, *p);
    }
    const char *kept = arena_strdup(arena, out.text);
    strbuf_fini(&out);
    return kept;
}

/* The end of an error between fences, which it cannot close itself. */
static const char *fenced(struct arena *arena, const char *error)
{
    size_t length = strlen(error);
    size_t most = (SECTION_MAX - FENCES) / 5; /* each byte may become five */
    const char *tail = length > most ? error + length - most : error;
    while (((unsigned char)*tail & 0xC0) == 0x80)
        tail++;
    char *plain = arena_strdup(arena, tail);
    for (char *p = plain; *p != '\0'; p++)
        if (*p == '`')
            *p = '\'';
    return arena_format(arena, "```%s```", escape(arena, plain, SECTION_MAX - FENCES));
}

static json_t *text_object(const char *type, const char *text)
{
    json_t *object = json_object();
    json_put_string(object, "type", type);
    json_put_string(object, "text", text);
    return object;
}

static void add_block(json_t *blocks, const char *type, const char *key, json_t *content)
{
    json_t *block = json_object();
    json_put_string(block, "type", type);
    json_put(block, key, content);
    (void)json_array_append_new(blocks, block);
}

static void add_section(json_t *blocks, const char *text)
{
    add_block(blocks, "section", "text", text_object("mrkdwn", text));
}

static void add_facts(struct arena *arena, const struct alert_event *event, json_t *blocks)
{
    struct alert_fact facts[ALERT_FACTS_MAX];
    size_t count = alert_facts(arena, event, facts);
    json_t *fields = json_array();
    for (size_t i = 0; i < count; i++) {
        const char *text = escape(arena, facts[i].text, FIELD_MAX - 100);
        (void)json_array_append_new(
            fields, text_object("mrkdwn", arena_format(arena, "*%s*\n%s", facts[i].name, text)));
    }
    add_block(blocks, "section", "fields", fields);
}

static void add_details(struct alert_work *work, json_t *blocks)
{
    struct arena *arena = work->arena;
    const struct alert_event *event = &work->notice->events[0];
    if (work->notice->total > 1) {
        struct strbuf list;
        strbuf_init(&list, LIMIT_ALERT_BODY_BYTES);
        alert_list(arena, work->notice, "\xE2\x80\xA2 ", &list);
        add_section(blocks, escape(arena, list.text, SECTION_MAX));
        strbuf_fini(&list);
    } else {
        add_facts(arena, event, blocks);
    }
    if (event->error != NULL && event->error[0] != '\0')
        add_section(blocks, fenced(arena, event->error));
    if (event->url != NULL && strpbrk(event->url, "<>|\r\n ") == NULL)
        add_section(blocks, arena_format(arena, "<%s|Open>", cut(arena, event->url, FIELD_MAX)));
}

enum status alert_slack(struct alert_work *work, struct alert_message *out, struct err *err)
{
    struct arena *arena = work->arena;
    const char *channel = NULL;
    if (alert_fill(work, "channel", work->hook->channel, &channel, err) != STATUS_OK)
        return err->code;
    const char *headline = alert_notice_headline(arena, work->notice);
    const char *own = alert_fill_for_people(work, "text", work->hook->text);
    json_t *blocks = json_array();
    if (own != NULL && own[0] != '\0') {
        add_section(blocks, cut(arena, own, SECTION_MAX));
    } else {
        add_block(blocks, "header", "text",
                  text_object("plain_text", cut(arena, headline, HEADER_MAX)));
        add_details(work, blocks);
        own = escape(arena, headline, TEXT_MAX);
    }
    json_t *mark = json_array();
    (void)json_array_append_new(
        mark, text_object("mrkdwn", arena_format(arena, "Eider, delivery %s", work->notice->id)));
    add_block(blocks, "context", "elements", mark);

    json_t *body = json_object();
    if (channel != NULL)
        json_put_string(body, "channel", channel);
    json_put_string(body, "text", cut(arena, own, TEXT_MAX));
    json_put(body, "blocks", blocks);
    out->body = alert_format(arena, body);
    return STATUS_OK;
}
