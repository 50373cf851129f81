#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/request.h"
#include "cli/views.h"
#include "os/file.h"
#include "os/secret_box.h"

enum { LIMIT_MAX = 10000, TOKEN_LINE_MAX = 256 };

/* --- datasets -------------------------------------------------------------------------------- */

int cmd_assets_list(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_new();
    request_put_option(request, parsed, "contains", "contains");
    if (request_put_int(request, parsed, "limit", "limit", LIMIT_MAX, &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_list(cli, parsed, "asset.list", request, &VIEW_ASSETS);
}

int cmd_assets_show(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_new();
    json_put_string(request, "uri", parsed->args[0]);
    if (request_put_int(request, parsed, "limit", "limit", LIMIT_MAX, &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_show(cli, "asset.show", request, &VIEW_ASSET);
}

int cmd_assets_lineage(struct cli *cli, const struct parsed *parsed)
{
    json_t *request = request_new();
    json_put_string(request, "dataset", parsed->args[0]);
    return cli_show(cli, "asset.lineage", request, &VIEW_LINEAGE);
}

/* An option as JSON, under `key`; nothing when it was not given. */
static enum status put_json(json_t *request, const struct parsed *parsed, const char *option,
                            const char *key, struct err *err)
{
    const char *text = parsed_get(parsed, option, NULL);
    json_t *value = NULL;
    if (text == NULL)
        return STATUS_OK;
    if (json_parse(text, strlen(text), &value, err) != STATUS_OK)
        return err_wrap(err, "--%s", option);
    json_put(request, key, value);
    return STATUS_OK;
}

int cmd_assets_emit(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_new();
    json_put_string(request, "uri", parsed->args[0]);
    if (put_json(request, parsed, "extra", "extra", &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_show(cli, "asset.emit", request, &VIEW_ASSET);
}

/* --- webhooks -------------------------------------------------------------------------------- */

int cmd_webhooks_list(struct cli *cli, const struct parsed *parsed)
{
    json_t *request = request_new();
    if (parsed->args_count > 0)
        json_put_string(request, "dag", parsed->args[0]);
    return cli_list(cli, parsed, "webhook.list", request, &VIEW_WEBHOOKS);
}

/* For nobody else to read. What cannot be kept there is shown, or it would be lost. */
static enum status keep_token(const char *path, json_t *webhook, struct err *err)
{
    const char *token = json_get_string(webhook, "token", "");
    CLEANUP(mem_freep) char *line = mem_format("%s\n", token);
    enum status status = file_write_atomic(path, line, strlen(line), 0600, err);
    secret_wipe(line, strlen(line));
    if (status != STATUS_OK)
        return err_wrap(err, "the webhook is made, its token is not in the file");
    (void)json_object_del(webhook, "token");
    return STATUS_OK;
}

int cmd_webhooks_create(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *response = NULL;
    json_t *request = request_new();
    const char *path = parsed_get(parsed, "token-file", NULL);
    json_put_string(request, "dag", parsed->args[0]);
    request_put_option(request, parsed, "name", "name");
    if (cli_call(cli, "webhook.create", request, &response, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    bool is_kept = path != NULL && keep_token(path, response, &err) == STATUS_OK;
    cli_print(cli, is_kept ? &VIEW_WEBHOOK : &VIEW_WEBHOOK_MADE, response);
    json_decref(response);
    if (!is_kept)
        cli_say(cli, "the token is shown only now: keep it like a password");
    return path != NULL && !is_kept ? cli_fail(cli, &err) : EXIT_CODE_DONE;
}

int cmd_webhooks_delete(struct cli *cli, const struct parsed *parsed)
{
    if (!cli_is_confirmed(cli, parsed, "delete the webhook"))
        return EXIT_CODE_USAGE;
    bool is_dry = parsed_has(parsed, "dry-run");
    json_t *request = request_new();
    json_put_string(request, "id", parsed->args[0]);
    json_put_bool(request, "dry_run", is_dry);
    int code = cli_show(cli, "webhook.delete", request, &VIEW_WEBHOOK);
    if (code == EXIT_CODE_DONE)
        cli_say(cli, "%s", is_dry ? "would be deleted; nothing was changed" : "deleted");
    return code;
}

/* What stands on a command line can be seen by others, so it may come on standard input. */
static enum status put_token(struct cli *cli, const struct parsed *parsed, json_t *request,
                             struct err *err)
{
    char line[TOKEN_LINE_MAX];
    if (parsed->args_count > 0 && strcmp(parsed->args[0], "-") != 0) {
        json_put_string(request, "token", parsed->args[0]);
        return STATUS_OK;
    }
    if (fgets(line, sizeof line, cli->host.in) == NULL)
        return err_set(err, STATUS_INVALID, "there is no token on standard input");
    line[strcspn(line, "\r\n")] = '\0';
    json_t *token = json_text(line, strlen(line));
    secret_wipe(line, sizeof line);
    if (token == NULL)
        return err_set(err, STATUS_INVALID, "what stands on standard input is no token");
    json_put(request, "token", token);
    return STATUS_OK;
}

int cmd_webhooks_fire(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_new();
    request_put_option(request, parsed, "key", "key");
    if (put_token(cli, parsed, request, &err) != STATUS_OK ||
        put_json(request, parsed, "body", "body", &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_show(cli, "webhook.fire", request, &VIEW_RUN);
}
