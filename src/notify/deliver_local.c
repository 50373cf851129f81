/*
 * deliver_local: mail through the site's own server, and commands on this machine.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "model/alert_mail.h"
#include "model/limits.h"
#include "notify/deliver_priv.h"
#include "os/errand.h"
#include "os/mail_client.h"

static const char COMMAND_PATH[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

enum { EXIT_TRY_LATER = 75, GRACE_MS = 5000, SHOWN_OUTPUT_BYTES = 900 };

/* ---- mail ---- */

static size_t collect_recipients(const struct delivery *delivery, const char **out)
{
    size_t count = 0;
    const struct string_list *lists[] = {&delivery->message->to, &delivery->message->cc};
    for (size_t k = 0; k < ARRAY_LEN(lists); k++)
        for (size_t i = 0; i < lists[k]->count; i++)
            out[count++] = alert_mail_bare(delivery->arena, lists[k]->items[i]);
    return count;
}

/* "taken by the mail server, which refuses a@b, c@d" */
static void say_taken(const struct mail_request *sent, struct deliver_outcome *out)
{
    struct strbuf text;
    bool has_any = false;
    strbuf_init(&text, DELIVER_TEXT_MAX - 1);
    strbuf_add(&text, "taken by the mail server");
    for (size_t i = 0; i < sent->recipients_count; i++) {
        if (!sent->refused[i])
            continue;
        strbuf_addf(&text, "%s%s", has_any ? ", " : ", which refuses ", sent->recipients[i]);
        has_any = true;
    }
    deliver_say(out, DELIVER_DONE, text.text, "", 0);
    strbuf_fini(&text);
}

void deliver_email(const struct delivery *delivery, struct deliver_outcome *out)
{
    const struct alert_message *message = delivery->message;
    const struct endpoint *endpoint = &delivery->endpoint;
    struct err err = {0};
    const char *mail = NULL;
    if (alert_mail_write(delivery->arena, message, endpoint->from, &mail, &err) != STATUS_OK) {
        deliver_say_err(out, &err);
        return;
    }
    size_t most = message->to.count + message->cc.count + 1;
    const char **recipients = arena_array(delivery->arena, most, sizeof *recipients);
    struct mail_request wanted = {
        .host = endpoint->host,
        .port = endpoint->port,
        .security = endpoint->security,
        .login = endpoint->login,
        .password = endpoint->password,
        .from = alert_mail_bare(delivery->arena, endpoint->from),
        .recipients = recipients,
        .recipients_count = collect_recipients(delivery, recipients),
        .mail = mail,
        .mail_length = strlen(mail),
        .way = deliver_way(delivery),
        .refused = arena_array(delivery->arena, most, sizeof(bool)),
    };
    if (mail_send(&wanted, &err) != STATUS_OK)
        deliver_say_err(out, &err);
    else
        say_taken(&wanted, out);
}

/* ---- command ---- */

static const char *const *environment_of(const struct delivery *delivery)
{
    const struct alert_message *message = delivery->message;
    const char **env = arena_array(delivery->arena, message->env_count + 2, sizeof *env);
    bool has_path = false;
    size_t count = 0;
    for (size_t i = 0; i < message->env_count; i++) {
        has_path |= strcmp(message->env[i].name, "PATH") == 0;
        env[count++] =
            arena_format(delivery->arena, "%s=%s", message->env[i].name, message->env[i].value);
    }
    if (!has_path)
        env[count] = arena_format(delivery->arena, "PATH=%s", COMMAND_PATH);
    return env;
}

static void judge_command(const struct errand_end *end, int64_t timeout_ms,
                          struct deliver_outcome *out)
{
    char prefix[80];
    enum deliver_verdict verdict = DELIVER_FAILED;
    if (end->timed_out) {
        (void)snprintf(prefix, sizeof prefix, "killed after %" PRId64 " ms", timeout_ms);
    } else if (end->end.signalled) {
        (void)snprintf(prefix, sizeof prefix, "ended by signal %d", end->end.signal);
    } else {
        (void)snprintf(prefix, sizeof prefix, "exit code %d", end->end.code);
        if (end->end.code == 0)
            verdict = DELIVER_DONE;
        else if (end->end.code == EXIT_TRY_LATER)
            verdict = DELIVER_RETRY;
    }
    size_t shown = MIN(end->tail_length, (size_t)SHOWN_OUTPUT_BYTES);
    deliver_say(out, verdict, prefix, end->tail + end->tail_length - shown, shown);
}

void deliver_command(const struct delivery *delivery, struct deliver_outcome *out)
{
    const struct alert_message *message = delivery->message;
    const char *const argv[] = {"/bin/sh", "-c", message->run, NULL};
    struct errand_request wanted = {
        .argv = argv,
        .env = environment_of(delivery),
        .workdir = delivery->request->workdir,
        .input = message->body,
        .input_length = message->body_length,
        .timeout_ms = message->timeout_ms,
        .grace_ms = GRACE_MS,
    };
    struct err err = {0};
    struct errand_end end;
    if (errand_run(&wanted, &end, &err) != STATUS_OK)
        deliver_say_err(out, &err);
    else
        judge_command(&end, message->timeout_ms, out);
}
