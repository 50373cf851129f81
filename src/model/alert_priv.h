#pragma once
/*
 * alert_priv: what the parts of alert share.
 *
 * alert.c has events and their names, alert_scope.c what templates see, alert_render.c the choice
 * of target; the messages of people's targets are in alert_slack.c, alert_pagerduty.c and
 * alert_email.c.
 */
#include "base/strbuf.h"
#include "model/alert.h"

enum { ALERT_KEY_BYTES_MAX = 255 }; /* of PagerDuty */

static inline const char *alert_text_or(const char *text, const char *otherwise)
{
    return text != NULL ? text : otherwise;
}

/* ---- alert.c ---- */
const char *alert_task_text(struct arena *arena, const struct alert_event *event);
/* A key that is too long becomes its hash. */
const char *alert_key_within(struct arena *arena, const char *key);
/* The headline of the first event, "and 11 more" included. */
const char *alert_notice_headline(struct arena *arena, const struct alert_notice *notice);

/* ---- alert_scope.c ---- */
struct alert_scope {
    json_t *document; /* of the notice */
    const struct template_scope *more;
    /* Of the text at hand. */
    bool has_asked;             /* `more`, which may answer otherwise another time */
    bool has_secrets;           /* some of what it answered is not to be shown */
    char refusal[ERR_TEXT_MAX]; /* what it said last when it did not answer; shows no values */
};
/* Another text is rendered. */
void alert_scope_begin(struct alert_scope *scope);
/*
 * What failed with a text, for who decides whether to try again, and to be shown: STATUS_INVALID
 * when it fails for ever, else STATUS_CONFLICT; without what may be a part of a secret.
 */
void alert_scope_judge(const struct alert_scope *scope, struct err *err);
/* The template scope over `scope`, which must stay where it is. */
struct template_scope alert_scope_of(struct alert_scope *scope);

/* ---- alert_render.c ---- */
struct alert_work {
    struct arena *arena;
    const struct hook *hook;
    const struct alert_notice *notice;
    struct alert_scope scope;
};
/* A text of the hook, rendered; `what` names it in errors. */
NODISCARD enum status alert_fill(struct alert_work *work, const char *what, const char *text,
                                 const char **out, struct err *err);
/* The text filled last is wrong, as *err says: whether it may be right another time. */
enum status alert_refuse(const struct alert_work *work, const char *what, struct err *err);
/*
 * A text for people: NULL when the hook has none. What does not render is replaced by a line that
 * says so, because an alert that does not arrive is worse than one that looks wrong.
 */
const char *alert_fill_for_people(struct alert_work *work, const char *what, const char *text);
/* The text of a JSON value in the arena; the value is given up. */
const char *alert_format(struct arena *arena, json_t *taken);

/* The facts of an event as rows of a name and a text, for people. */
enum { ALERT_FACTS_MAX = 10 }; /* as many as Slack takes */
struct alert_fact {
    const char *name;
    const char *text;
};
size_t alert_facts(struct arena *arena, const struct alert_event *event,
                   struct alert_fact out[ALERT_FACTS_MAX]);
/* One line per listed event, and how many are not; each begins with `bullet`. */
void alert_list(struct arena *arena, const struct alert_notice *notice, const char *bullet,
                struct strbuf *out);

/* ---- alert_slack.c, alert_pagerduty.c, alert_email.c ---- */
NODISCARD enum status alert_slack(struct alert_work *work, struct alert_message *out,
                                  struct err *err);
NODISCARD enum status alert_pagerduty(struct alert_work *work, struct alert_message *out,
                                      struct err *err);
NODISCARD enum status alert_email(struct alert_work *work, struct alert_message *out,
                                  struct err *err);
