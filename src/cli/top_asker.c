#include "cli/top_asker.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "os/knock.h"
#include "os/mailbox.h"
#include "os/thread.h"

enum { END_WAIT_MS = 1000 };

struct top_asker {
    struct cli *cli;
    struct thread *thread;
    struct mailbox *questions;
    struct mailbox *replies;
    int knock;
    bool is_busy; /* of the screen's thread */
};

static void answer(struct top_asker *asker, struct top_reply *reply)
{
    if (cli_call(asker->cli, reply->question.operation, TAKE(reply->question.request),
                 &reply->response, &reply->err) != STATUS_OK)
        reply->response = NULL;
    CHECK(mailbox_push(asker->replies, reply));
    knock_send(asker->knock);
}

static void work(void *context)
{
    struct top_asker *asker = context;
    for (;;) {
        struct mailbox_batch batch = mailbox_take(asker->questions);
        bool is_over = batch.count == 0;
        for (size_t i = 0; i < batch.count; i++)
            answer(asker, batch.items[i]);
        free((void *)batch.items);
        if (is_over)
            return;
    }
}

enum status top_asker_new(struct cli *cli, struct top_asker **out, struct err *err)
{
    struct top_asker *asker = mem_zalloc(1, sizeof *asker);
    *asker = (struct top_asker){
        .cli = cli, .questions = mailbox_new(), .replies = mailbox_new(), .knock = -1};
    if (knock_open(&asker->knock, err) != STATUS_OK ||
        thread_start("eider-top", work, asker, &asker->thread, err) != STATUS_OK) {
        (void)!top_asker_free(asker); /* nothing was asked */
        return err->code;
    }
    *out = asker;
    return STATUS_OK;
}

static void take_first(struct top_asker *asker, struct mailbox_batch batch, struct top_reply *out)
{
    CHECK(batch.count == 1);
    struct top_reply *reply = batch.items[0];
    *out = *reply;
    free(reply);
    asker->is_busy = false;
}

bool top_asker_free(struct top_asker *asker)
{
    if (asker == NULL)
        return true;
    mailbox_close(asker->questions);
    if (asker->is_busy) {
        struct top_reply unwanted = {0};
        struct mailbox_batch batch = mailbox_take_within(asker->replies, END_WAIT_MS);
        if (batch.count > 0)
            take_first(asker, batch, &unwanted);
        free((void *)batch.items);
        if (asker->is_busy)
            return false;
        json_decref(unwanted.response);
    }
    thread_join(asker->thread);
    mailbox_free(asker->questions);
    mailbox_free(asker->replies);
    if (asker->knock >= 0)
        (void)close(asker->knock);
    free(asker);
    return true;
}

void top_asker_ask(struct top_asker *asker, const struct top_question *taken)
{
    CHECK(!asker->is_busy);
    struct top_reply *reply = mem_zalloc(1, sizeof *reply);
    reply->question = *taken;
    /* Parts of it are the monitor's, which goes on with them meanwhile. */
    reply->question.request = json_deep_copy(taken->request);
    CHECK(reply->question.request != NULL);
    json_decref(taken->request);
    asker->is_busy = true;
    CHECK(mailbox_push(asker->questions, reply));
}

bool top_asker_is_busy(const struct top_asker *asker)
{
    return asker->is_busy;
}

bool top_asker_take(struct top_asker *asker, struct top_reply *out)
{
    knock_clear(asker->knock); /* first: who knocks afterwards is heard the next time */
    struct mailbox_batch batch = mailbox_take_now(asker->replies);
    bool has_reply = batch.count > 0;
    if (has_reply)
        take_first(asker, batch, out);
    free((void *)batch.items);
    return has_reply;
}

int top_asker_fd(const struct top_asker *asker)
{
    return asker->knock;
}
