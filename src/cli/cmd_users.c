/*
 * Users, tokens and namespaces from the command line. A password is typed without being shown.
 */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/request.h"
#include "cli/views.h"
#include "os/password.h"
#include "os/secret_box.h"
#include "os/terminal.h"

static json_t *request_of_name(const struct parsed *parsed)
{
    json_t *request = request_new();
    json_put_string(request, "name", parsed->args[0]);
    return request;
}

/* Every time that an option was given, as a list; absent when it never was. */
static void put_words(json_t *request, const struct parsed *parsed, const char *option,
                      const char *key)
{
    const char *word = parsed_get_nth(parsed, option, 0);
    if (word == NULL)
        return;
    json_t *list = json_array();
    CHECK(list != NULL);
    for (size_t n = 0; (word = parsed_get_nth(parsed, option, n)) != NULL; n++)
        CHECK(json_array_append_new(list, json_text(word, strlen(word))) == 0);
    json_put(request, key, list);
}

/* --- passwords ------------------------------------------------------------------------------- */

static enum status read_line(struct cli *cli, struct secret_value *out, struct err *err)
{
    char line[PASSWORD_BYTES_MAX + 3];
    if (fgets(line, sizeof line, cli->host.in) == NULL)
        return err_set(err, STATUS_INVALID, "standard input has no password");
    size_t length = strcspn(line, "\r\n");
    *out = secret_value_new(line, length);
    secret_wipe(line, sizeof line);
    return STATUS_OK;
}

/* Twice, since nobody sees what is typed. */
static enum status ask_twice(struct cli *cli, struct secret_value *out, struct err *err)
{
    struct secret_value again = {0};
    if (terminal_read_hidden(cli->host.in, cli->host.err, "password: ", PASSWORD_BYTES_MAX, out,
                             err) != STATUS_OK)
        return err->code;
    enum status status = terminal_read_hidden(cli->host.in, cli->host.err,
                                              "once more: ", PASSWORD_BYTES_MAX, &again, err);
    if (status == STATUS_OK && strcmp(again.bytes, out->bytes) != 0)
        status = err_set(err, STATUS_INVALID, "the two are not the same: nothing was changed");
    secret_value_fini(&again);
    return status;
}

static enum status put_password(struct cli *cli, json_t *request, struct err *err)
{
    struct secret_value typed = {0};
    enum status status =
        terminal_is_one(cli->host.in) ? ask_twice(cli, &typed, err) : read_line(cli, &typed, err);
    if (status == STATUS_OK)
        status = password_check(typed.bytes, err);
    if (status == STATUS_OK)
        json_put(request, "password", json_text(typed.bytes, typed.length));
    secret_value_fini(&typed);
    return status;
}

/* --- users ----------------------------------------------------------------------------------- */

int cmd_users_list(struct cli *cli, const struct parsed *parsed)
{
    return cli_list(cli, parsed, "user.list", NULL, &VIEW_USERS);
}

int cmd_users_add(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *request = request_of_name(parsed);
    put_words(request, parsed, "role", "grants");
    if (!parsed_has(parsed, "no-password") && put_password(cli, request, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    if (!parsed_has(parsed, "role"))
        cli_say(cli, "without --role this one may nothing; `eider users set` gives roles");
    return cli_show(cli, "user.add", TAKE(request), &VIEW_USER);
}

int cmd_users_set(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *request = request_of_name(parsed);
    put_words(request, parsed, "role", "grants");
    if (parsed_has(parsed, "disable") && parsed_has(parsed, "enable")) {
        (void)err_set(&err, STATUS_INVALID, "--disable and --enable exclude each other");
        return cli_fail(cli, &err);
    }
    if (parsed_has(parsed, "disable") || parsed_has(parsed, "enable"))
        json_put_bool(request, "disabled", parsed_has(parsed, "disable"));
    if (parsed_has(parsed, "password") && put_password(cli, request, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    return cli_show(cli, "user.set", TAKE(request), &VIEW_USER);
}

int cmd_users_remove(struct cli *cli, const struct parsed *parsed)
{
    if (!cli_is_confirmed(cli, parsed, "remove the user and all tokens of that one"))
        return EXIT_CODE_USAGE;
    bool is_dry = parsed_has(parsed, "dry-run");
    json_t *request = request_of_name(parsed);
    json_put_bool(request, "dry_run", is_dry);
    int code = cli_show(cli, "user.remove", request, &VIEW_USER);
    if (code == EXIT_CODE_DONE)
        cli_say(cli, "%s", is_dry ? "would be removed; nothing was changed" : "removed");
    return code;
}

/* --- tokens ---------------------------------------------------------------------------------- */

int cmd_tokens_list(struct cli *cli, const struct parsed *parsed)
{
    return cli_list(cli, parsed, "token.list", NULL, &VIEW_TOKENS);
}

int cmd_tokens_add(struct cli *cli, const struct parsed *parsed)
{
    json_t *request = request_of_name(parsed);
    request_put_option(request, parsed, "owner", "owner");
    request_put_option(request, parsed, "expires", "expires_in");
    put_words(request, parsed, "role", "grants");
    put_words(request, parsed, "queue", "queues");
    int code = cli_show(cli, "token.add", request, &VIEW_TOKEN);
    if (code == EXIT_CODE_DONE)
        cli_say(cli, "the token is shown only now: keep it like a password");
    return code;
}

int cmd_tokens_remove(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *response = NULL;
    json_t *request = request_new();
    json_put_string(request, "id", parsed->args[0]);
    if (cli_call(cli, "token.remove", request, &response, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    json_decref(response);
    cli_say(cli, "token %s is void", parsed->args[0]);
    return EXIT_CODE_DONE;
}

/* --- namespaces ------------------------------------------------------------------------------ */

int cmd_namespaces_list(struct cli *cli, const struct parsed *parsed)
{
    return cli_list(cli, parsed, "namespace.list", NULL, &VIEW_NAMESPACES);
}

int cmd_namespaces_add(struct cli *cli, const struct parsed *parsed)
{
    json_t *request = request_of_name(parsed);
    request_put_option(request, parsed, "doc", "doc");
    return cli_show(cli, "namespace.add", request, &VIEW_NAMESPACE);
}

int cmd_namespaces_remove(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *response = NULL;
    if (cli_call(cli, "namespace.remove", request_of_name(parsed), &response, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    json_decref(response);
    cli_say(cli, "the namespace %s is removed", parsed->args[0]);
    return EXIT_CODE_DONE;
}
