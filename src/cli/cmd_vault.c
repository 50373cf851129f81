/*
 * Variables, connections and secrets from the command line. Values come as an argument, from a file
 * or from standard input; a secret that is typed is not shown.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/request.h"
#include "cli/views.h"
#include "model/connection.h"
#include "model/limits.h"
#include "os/secret_box.h"
#include "os/terminal.h"

enum { VALUE_BYTES_MAX = LIMIT_SECRET_BYTES + 2 };

static json_t *request_of_space(const struct parsed *parsed)
{
    json_t *request = request_new();
    request_put_option(request, parsed, "namespace", "namespace");
    return request;
}

static json_t *request_of_name(const struct parsed *parsed)
{
    json_t *request = request_of_space(parsed);
    json_put_string(request, "name", parsed->args[0]);
    return request;
}

/* --- values ---------------------------------------------------------------------------------- */

static void value_fini(struct strbuf *value)
{
    secret_wipe(value->text, value->capacity);
    strbuf_fini(value);
}

static enum status read_stream(FILE *stream, const char *name, struct strbuf *out, struct err *err)
{
    char bytes[4096];
    size_t got;
    while ((got = fread(bytes, 1, sizeof bytes, stream)) > 0)
        strbuf_add_bytes(out, bytes, got);
    secret_wipe(bytes, sizeof bytes);
    if (ferror(stream))
        return err_errno(err, errno, "read %s", name);
    if (out->overflow)
        return err_set(err, STATUS_LIMIT, "%s: a value has at most %d bytes", name,
                       LIMIT_SECRET_BYTES);
    return STATUS_OK;
}

static enum status read_file(const char *path, struct strbuf *out, struct err *err)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return err_errno(err, errno, "read '%s'", path);
    enum status status = read_stream(file, path, out, err);
    (void)fclose(file);
    return status;
}

/* The last line end of a file or stream is the editor's, not the value's. */
static void drop_line_end(struct strbuf *value)
{
    if (value->length > 0 && value->text[value->length - 1] == '\n')
        strbuf_truncate(value, value->length - 1);
    if (value->length > 0 && value->text[value->length - 1] == '\r')
        strbuf_truncate(value, value->length - 1);
}

static enum status ask(struct cli *cli, const char *name, struct strbuf *out, struct err *err)
{
    CLEANUP(mem_freep) char *prompt = mem_format("%s: ", name);
    struct secret_value typed = {0};
    if (terminal_read_hidden(cli->host.in, cli->host.err, prompt, LIMIT_SECRET_BYTES, &typed,
                             err) != STATUS_OK)
        return err->code;
    strbuf_add_bytes(out, typed.bytes, typed.length);
    secret_value_fini(&typed);
    return STATUS_OK;
}

/* The value as typed, of --file, or of standard input. */
static enum status read_value(struct cli *cli, const struct parsed *parsed, struct strbuf *out,
                              struct err *err)
{
    const char *file = parsed_get(parsed, "file", NULL);
    const char *typed = parsed->args_count > 1 ? parsed->args[1] : NULL;
    if (file != NULL && typed != NULL)
        return err_set(err, STATUS_INVALID, "give a value or --file, not both");
    if (typed != NULL && !str_equal(typed, "-")) {
        strbuf_add(out, typed);
        return STATUS_OK;
    }
    if (file == NULL && typed == NULL && terminal_is_one(cli->host.in))
        return ask(cli, parsed->args[0], out, err);
    enum status status = file != NULL ? read_file(file, out, err)
                                      : read_stream(cli->host.in, "standard input", out, err);
    drop_line_end(out);
    return status;
}

static bool is_in_argv(const struct parsed *parsed)
{
    return parsed->args_count > 1 && !str_equal(parsed->args[1], "-");
}

static void warn(struct cli *cli, const char *text)
{
    (void)fprintf(cli->host.err, "eider: warning: %s\n", text);
}

static void warn_of_argv(struct cli *cli)
{
    warn(cli, "what stands on a command line can be seen in the list of processes and in the "
              "history of the shell; use --file or standard input");
}

static void warn_if_hidden(struct cli *cli, const json_t *row)
{
    if (json_get_bool(row, "hidden", false))
        warn(cli, "the same name comes from the environment or a file on this host, which counts "
                  "more than the store");
}

/* Read the value, call the operation and show what came of it. */
static int set(struct cli *cli, const struct parsed *parsed, const char *operation,
               const struct view *view)
{
    CLEANUP(value_fini) struct strbuf value;
    struct err err = {0};
    json_t *response = NULL;
    strbuf_init(&value, VALUE_BYTES_MAX);
    if (read_value(cli, parsed, &value, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    json_t *text = json_stringn(value.text, value.length);
    if (text == NULL) {
        (void)err_set(&err, STATUS_INVALID, "the value is not text in UTF-8: keep it as base64");
        return cli_fail(cli, &err);
    }
    json_t *request = request_of_name(parsed);
    request_put_option(request, parsed, "doc", "doc");
    json_put(request, "value", text);
    if (cli_call(cli, operation, request, &response, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    (void)output_print(&cli->output, view, response);
    warn_if_hidden(cli, response);
    json_decref(response);
    return EXIT_CODE_DONE;
}

static int delete (struct cli *cli, const struct parsed *parsed, const char *operation)
{
    if (!cli_is_confirmed(cli, parsed, "delete it from the store"))
        return EXIT_CODE_USAGE;
    bool is_dry = parsed_has(parsed, "dry-run");
    json_t *request = request_of_name(parsed);
    json_put_bool(request, "dry_run", is_dry);
    int code = cli_show(cli, operation, request, &VIEW_VAULT_DELETED);
    if (code == EXIT_CODE_DONE)
        cli_say(cli, "%s", is_dry ? "would be deleted; nothing was changed" : "deleted");
    return code;
}

/* --- variables ------------------------------------------------------------------------------- */

int cmd_vars_list(struct cli *cli, const struct parsed *parsed)
{
    return cli_list(cli, parsed, "variable.list", request_of_space(parsed), &VIEW_VARIABLES);
}

int cmd_vars_show(struct cli *cli, const struct parsed *parsed)
{
    return cli_show(cli, "variable.show", request_of_name(parsed), &VIEW_VARIABLE);
}

int cmd_vars_set(struct cli *cli, const struct parsed *parsed)
{
    if (connection_name_is_secret(parsed->args[0]))
        warn(cli, "by its name this is a secret; variables are stored and shown as they are, "
                  "`eider secrets set` keeps it sealed");
    return set(cli, parsed, "variable.set", &VIEW_VARIABLE);
}

int cmd_vars_delete(struct cli *cli, const struct parsed *parsed)
{
    return delete (cli, parsed, "variable.delete");
}

/* --- connections ----------------------------------------------------------------------------- */

int cmd_conns_list(struct cli *cli, const struct parsed *parsed)
{
    return cli_list(cli, parsed, "connection.list", request_of_space(parsed), &VIEW_CONNECTIONS);
}

int cmd_conns_show(struct cli *cli, const struct parsed *parsed)
{
    return cli_show(cli, "connection.show", request_of_name(parsed), &VIEW_CONNECTION);
}

static void note_secret(void *context, const char *secret)
{
    (void)secret;
    *(bool *)context = true;
}

int cmd_conns_set(struct cli *cli, const struct parsed *parsed)
{
    struct connection connection = {0};
    struct err ignored = {0};
    bool has_secrets = false;
    if (is_in_argv(parsed) &&
        connection_parse(parsed->args[1], &connection, &ignored) == STATUS_OK) {
        connection_secrets(&connection, note_secret, &has_secrets);
        connection_fini(&connection);
    }
    if (has_secrets)
        warn_of_argv(cli);
    return set(cli, parsed, "connection.set", &VIEW_CONNECTION);
}

int cmd_conns_delete(struct cli *cli, const struct parsed *parsed)
{
    return delete (cli, parsed, "connection.delete");
}

int cmd_conns_test(struct cli *cli, const struct parsed *parsed)
{
    return cli_show(cli, "connection.test", request_of_name(parsed), &VIEW_CONNECTION_TEST);
}

/* --- secrets --------------------------------------------------------------------------------- */

int cmd_secrets_list(struct cli *cli, const struct parsed *parsed)
{
    return cli_list(cli, parsed, "secret.list", request_of_space(parsed), &VIEW_SECRETS);
}

int cmd_secrets_show(struct cli *cli, const struct parsed *parsed)
{
    return cli_show(cli, "secret.show", request_of_name(parsed), &VIEW_SECRET);
}

int cmd_secrets_set(struct cli *cli, const struct parsed *parsed)
{
    if (is_in_argv(parsed))
        warn_of_argv(cli);
    return set(cli, parsed, "secret.set", &VIEW_SECRET);
}

int cmd_secrets_delete(struct cli *cli, const struct parsed *parsed)
{
    return delete (cli, parsed, "secret.delete");
}

int cmd_secrets_rotate(struct cli *cli, const struct parsed *parsed)
{
    (void)parsed;
    return cli_show(cli, "secret.rotate", NULL, &VIEW_ROTATION);
}
