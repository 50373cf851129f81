#include "notify/parcel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "os/zone_file.h"
#include "store/vault_scope.h"

struct parcel {
    struct arena *arena;
    json_t **documents;
    size_t documents_count;
    struct alert_message message;
    struct connection connection;
    bool has_connection;
    struct vault_seen seen; /* what is secret in it */
    bool public_only;
    const char *workdir;
};

/* Documents are kept: events borrow from them. */
static enum status read_events(struct parcel *parcel, const struct parcel_request *request,
                               struct alert_event *out, struct err *err)
{
    parcel->documents = arena_array(parcel->arena, request->count, sizeof(json_t *));
    for (size_t i = 0; i < request->count; i++) {
        const char *text = request->documents[i];
        if (json_parse(text, strlen(text), &parcel->documents[i], err) != STATUS_OK)
            return err->code;
        parcel->documents_count++;
        if (alert_event_read(parcel->documents[i], &out[i], err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

/* Only those that the hook wants; without an `if` that is all. */
static enum status choose_events(const struct parcel_request *request,
                                 const struct template_scope *scope, struct alert_event *events,
                                 size_t *out_count, struct err *err)
{
    size_t wanted = 0;
    for (size_t i = 0; i < request->count; i++) {
        bool is_wanted = false;
        if (alert_is_wanted(request->hook, &events[i], scope, &is_wanted, err) != STATUS_OK)
            return err_wrap(err, "'if'");
        if (is_wanted)
            events[wanted++] = events[i];
    }
    *out_count = wanted;
    return STATUS_OK;
}

/* The one place that knows where connections come from. */
static enum status alert_connection(const struct parcel_request *request, const char *name,
                                    struct connection *out, struct err *err)
{
    if (vault_connection(request->vault, request->space, name, out, err) == STATUS_OK)
        return STATUS_OK;
    /* Whatever is wrong with it, somebody may mend it. */
    if (err->code == STATUS_INVALID || err->code == STATUS_CORRUPT)
        err->code = STATUS_CONFLICT;
    return err->code;
}

/* A connection that a template takes apart is found out only here. */
static enum status check_command(const struct parcel *parcel, struct err *err)
{
    const char *run = parcel->message.run;
    if (run == NULL || strcmp(vault_seen_mask(&parcel->seen, run), run) == 0)
        return STATUS_OK;
    return err_set(err, STATUS_INVALID,
                   "the command line would show a secret: give it to the command as a variable of "
                   "'env'");
}

/* *out_is_wanted false: nothing is to be sent. */
static enum status fill(struct parcel *parcel, const struct parcel_request *request,
                        bool *out_is_wanted, struct err *err)
{
    struct vault_scope names = {
        .vault = request->vault,
        .space = request->space,
        .may_see = true,
        .seen = &parcel->seen,
    };
    struct template_scope scope = vault_scope_names(&names);
    scope.zones = zone_file_read;
    struct alert_event *events = arena_array(parcel->arena, request->count, sizeof *events);
    size_t wanted = 0;
    if (read_events(parcel, request, events, err) != STATUS_OK ||
        choose_events(request, &scope, events, &wanted, err) != STATUS_OK)
        return err->code;
    /* A condition puts nothing into the message. */
    names.given_before = names.given;
    names.is_tainted = false;
    *out_is_wanted = wanted > 0;
    if (wanted == 0)
        return STATUS_OK;
    const struct alert_notice notice = {
        .id = request->delivery,
        .at_us = request->at_us,
        .events = events,
        .count = wanted,
        .total = request->total - (request->count - wanted),
    };
    if (alert_render(parcel->arena, request->hook, &notice, &scope, &parcel->message, err) !=
            STATUS_OK ||
        check_command(parcel, err) != STATUS_OK)
        return err->code;
    if (request->hook->connection == NULL)
        return STATUS_OK;
    if (alert_connection(request, request->hook->connection, &parcel->connection, err) != STATUS_OK)
        return err->code;
    parcel->has_connection = true;
    vault_seen_add_connection(&parcel->seen, &parcel->connection);
    return STATUS_OK;
}

enum status parcel_new(const struct parcel_request *request, struct parcel **out, struct err *err)
{
    CHECK(request->count > 0);
    CHECK(request->total >= request->count);
    struct parcel *parcel = mem_zalloc(1, sizeof *parcel);
    bool is_wanted = false;
    parcel->arena = arena_new();
    parcel->seen.arena = parcel->arena;
    parcel->public_only = request->public_only;
    parcel->workdir = arena_strdup_null(parcel->arena, request->workdir);
    enum status status = fill(parcel, request, &is_wanted, err);
    if (status != STATUS_OK) {
        const char *shown = vault_seen_mask(&parcel->seen, err->text);
        (void)err_set(err, status, "%s", arena_strdup(parcel->arena, shown));
    }
    if (status != STATUS_OK || !is_wanted) {
        parcel_free(parcel);
        parcel = NULL;
    }
    if (status == STATUS_OK)
        *out = parcel;
    return status;
}

void parcel_send(const struct parcel *parcel, struct deliver_outcome *out)
{
    const struct deliver_request request = {
        .message = &parcel->message,
        .connection = parcel->has_connection ? &parcel->connection : NULL,
        .now_us = clock_wall_us(),
        .public_only = parcel->public_only,
        .workdir = parcel->workdir,
    };
    deliver(&request, out);
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct vault_seen seen = parcel->seen;
    seen.arena = arena;
    const char *text = vault_seen_mask(&seen, out->text);
    if (text != out->text)
        (void)snprintf(out->text, sizeof out->text, "%s", text);
}

void parcel_free(struct parcel *parcel)
{
    if (parcel == NULL)
        return;
    for (size_t i = 0; i < parcel->documents_count; i++)
        json_decref(parcel->documents[i]);
    vault_seen_wipe(&parcel->seen);
    if (parcel->has_connection)
        connection_fini(&parcel->connection);
    arena_free(parcel->arena);
    free(parcel);
}
