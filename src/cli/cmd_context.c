/*
 * The servers that a user works with, in a file of that user.
 */
#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/parsed.h"
#include "cli/request.h"
#include "client/client.h"
#include "client/contexts.h"
#include "os/secret_box.h"

enum { TOKEN_BYTES_MAX = 4096 };

static const struct column COLUMNS[] = {
    {"NAME", "name", COLUMN_TEXT, false},      {"IN USE", "in_use", COLUMN_TEXT, false},
    {"SERVER", "server", COLUMN_TEXT, false},  {"TOKEN", "token", COLUMN_TEXT, false},
    {"CA FILE", "ca_file", COLUMN_TEXT, true},
};
static const struct view VIEW_CONTEXTS = {
    .list = "contexts",
    .columns = COLUMNS,
    .columns_count = ARRAY_LEN(COLUMNS),
    .empty = "no contexts; `eider context add NAME URL` makes one",
};

static char *file_of(const struct cli *cli)
{
    return contexts_path(cli->host.environment, cli->host.context);
}

/* Tokens are never shown, only whether there is one. */
static json_t *describe(const struct contexts *contexts, const char *in_use)
{
    json_t *list = json_array();
    json_t *response = request_new();
    CHECK(list != NULL);
    for (size_t i = 0; i < contexts->count; i++) {
        const struct context *context = &contexts->items[i];
        json_t *row = request_new();
        json_put_string(row, "name", context->name);
        json_put_bool(row, "in_use", str_equal(context->name, in_use));
        json_put_string(row, "server", context->server);
        json_put_string(row, "token", context->token[0] != '\0' ? "***" : NULL);
        json_put_string(row, "ca_file", context->ca_file[0] != '\0' ? context->ca_file : NULL);
        CHECK(json_array_append_new(list, row) == 0);
    }
    json_put(response, "contexts", list);
    json_put_int(response, "total_entries", (int64_t)contexts->count);
    return response;
}

/* Which one commands talk to now: flags and the environment count as well. */
static char *name_in_use(struct cli *cli)
{
    CLEANUP(json_decrefp) json_t *setting = NULL;
    struct err ignored = {0};
    if (cli_server(cli) == NULL)
        return mem_strdup("");
    json_t *request = request_new();
    json_put_string(request, "key", "context");
    if (cli_call(cli, "config.get", request, &setting, &ignored) != STATUS_OK)
        return mem_strdup("");
    return mem_strdup(json_get_string(setting, "value", ""));
}

int cmd_context_list(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    (void)parsed;
    CLEANUP(mem_freep) char *path = file_of(cli);
    CLEANUP(contexts_fini) struct contexts contexts = {0};
    if (contexts_load(path, &contexts, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    CLEANUP(mem_freep) char *in_use = name_in_use(cli);
    CLEANUP(json_decrefp) json_t *response = describe(&contexts, in_use);
    cli_print(cli, &VIEW_CONTEXTS, response);
    const char *server = cli_server(cli);
    if (server != NULL && in_use[0] == '\0')
        cli_say(cli, "in use is %s, by --server, EIDER_SERVER or the user's file", server);
    return EXIT_CODE_DONE;
}

/* Load, change by `change`, save; returns the exit code. */
static int change_file(struct cli *cli, const struct context *context,
                       enum status (*change)(struct contexts *contexts,
                                             const struct context *context, struct err *err))
{
    struct err err = {0};
    CLEANUP(mem_freep) char *path = file_of(cli);
    CLEANUP(contexts_fini) struct contexts contexts = {0};
    if (contexts_load(path, &contexts, &err) != STATUS_OK ||
        change(&contexts, context, &err) != STATUS_OK ||
        contexts_save(path, &contexts, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    return EXIT_CODE_DONE;
}

static enum status use(struct contexts *contexts, const struct context *context, struct err *err)
{
    const struct context *found = NULL;
    if (str_equal(context->name, "off")) {
        contexts_use(contexts, "");
        return STATUS_OK;
    }
    if (contexts_need(contexts, context->name, &found, err) != STATUS_OK)
        return err->code;
    contexts_use(contexts, context->name);
    return STATUS_OK;
}

int cmd_context_use(struct cli *cli, const struct parsed *parsed)
{
    /* It is only looked at. */
    struct context context = {.name = (char *)(uintptr_t)parsed->args[0]};
    int code = change_file(cli, &context, use);
    if (code == EXIT_CODE_DONE && str_equal(context.name, "off"))
        cli_say(cli, "commands work on this machine's store");
    else if (code == EXIT_CODE_DONE)
        cli_say(cli, "commands talk to the server of '%s'; `eider context use off` ends that",
                context.name);
    return code;
}

static enum status drop(struct contexts *contexts, const struct context *context, struct err *err)
{
    const struct context *found = NULL;
    if (contexts_need(contexts, context->name, &found, err) != STATUS_OK)
        return err->code;
    contexts_remove(contexts, context->name);
    return STATUS_OK;
}

int cmd_context_remove(struct cli *cli, const struct parsed *parsed)
{
    struct context context = {.name = (char *)(uintptr_t)parsed->args[0]};
    int code = change_file(cli, &context, drop);
    if (code == EXIT_CODE_DONE)
        cli_say(cli, "removed");
    return code;
}

/* --- add ------------------------------------------------------------------------------------- */

/* The token of --token, or, as "-", the first line of standard input. */
static enum status read_token(const struct cli *cli, const struct parsed *parsed,
                              struct strbuf *out, struct err *err)
{
    const char *typed = parsed_get(parsed, "token", "");
    char line[TOKEN_BYTES_MAX + 2] = "";
    if (!str_equal(typed, "-")) {
        strbuf_add(out, typed);
        return STATUS_OK;
    }
    if (fgets(line, sizeof line, cli->host.in) == NULL)
        return err_set(err, STATUS_INVALID, "--token -: standard input has no token");
    line[strcspn(line, "\r\n")] = '\0';
    strbuf_add(out, line);
    secret_wipe(line, sizeof line);
    return out->overflow
               ? err_set(err, STATUS_LIMIT, "a token has at most %d bytes", TOKEN_BYTES_MAX)
               : STATUS_OK;
}

static void token_fini(struct strbuf *token)
{
    secret_wipe(token->text, token->capacity);
    strbuf_fini(token);
}

/* By the whole of its host: localhost.example is another machine. */
static bool is_this_machine(const char *server)
{
    static const char *const NAMES[] = {"localhost", "[::1]"};
    const char *host = server + strlen("http://");
    size_t length = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/");
    for (size_t i = 0; i < ARRAY_LEN(NAMES); i++)
        if (strlen(NAMES[i]) == length && strncmp(host, NAMES[i], length) == 0)
            return true;
    return str_starts_with(host, "127.") && strspn(host, "0123456789.") == length;
}

static enum status check_address(const struct context *context, struct err *err)
{
    CLEANUP(client_freep) struct client *client = NULL;
    struct client_options options = {.server = context->server};
    return client_new(&options, &client, err);
}

int cmd_context_add(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    CLEANUP(token_fini) struct strbuf token;
    CLEANUP(mem_freep) char *ca_file = NULL;
    const char *ca_path = parsed_get(parsed, "ca-file", NULL);
    strbuf_init(&token, TOKEN_BYTES_MAX);
    if (ca_path != NULL && (ca_file = realpath(ca_path, NULL)) == NULL) {
        (void)err_errno(&err, errno, "--ca-file '%s'", ca_path);
        return cli_fail(cli, &err);
    }
    struct context context = {
        .name = (char *)(uintptr_t)parsed->args[0],
        .server = (char *)(uintptr_t)parsed->args[1],
        .ca_file = ca_file != NULL ? ca_file : (char[]){""},
    };
    if (check_address(&context, &err) != STATUS_OK ||
        read_token(cli, parsed, &token, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    context.token = token.text;
    int code = change_file(cli, &context, contexts_add);
    if (code != EXIT_CODE_DONE)
        return code;
    if (token.length > 0 && str_starts_with(context.server, "http:") &&
        !is_this_machine(context.server))
        (void)fprintf(cli->host.err, "eider: warning: without https the token can be read on the "
                                     "way\n");
    cli_say(cli, "added; `eider context use %s` makes commands talk to it", context.name);
    return EXIT_CODE_DONE;
}
