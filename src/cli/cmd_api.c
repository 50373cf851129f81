/*
 * Requests to a server as they are, and whether it is well.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/percent.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/parsed.h"
#include "cli/request.h"
#include "client/client.h"
#include "os/file.h"

enum { PATH_BYTES_MAX = 16 << 10, BODY_BYTES_MAX = 64 << 20, HEADERS_MAX = 32 };

/* --- api ------------------------------------------------------------------------------------- */

/* "dags" is short for "/api/v1/dags". */
static enum status make_path(const struct parsed *parsed, struct strbuf *out, struct err *err)
{
    const char *path = parsed->args[1];
    const char *pair;
    strbuf_addf(out, "%s%s", path[0] == '/' ? "" : "/api/v1/", path);
    for (size_t i = 0; (pair = parsed_get_nth(parsed, "query", i)) != NULL; i++) {
        const char *equals = strchr(pair, '=');
        if (equals == NULL || equals == pair)
            return err_set(err, STATUS_INVALID, "--query %.80s: write NAME=VALUE", pair);
        strbuf_add_char(out, strchr(out->text, '?') == NULL ? '?' : '&');
        percent_add(out, pair, (size_t)(equals - pair));
        strbuf_add_char(out, '=');
        percent_add(out, equals + 1, strlen(equals + 1));
    }
    if (out->overflow)
        return err_set(err, STATUS_LIMIT, "the path has more than %d bytes", PATH_BYTES_MAX);
    return STATUS_OK;
}

static enum status read_input(FILE *in, struct strbuf *out, struct err *err)
{
    char bytes[4096];
    size_t got;
    while ((got = fread(bytes, 1, sizeof bytes, in)) > 0)
        strbuf_add_bytes(out, bytes, got);
    if (ferror(in))
        return err_errno(err, errno, "read standard input");
    return out->overflow ? err_set(err, STATUS_LIMIT, "standard input has more than %d MiB",
                                   BODY_BYTES_MAX >> 20)
                         : STATUS_OK;
}

/* JSON as typed, "@FILE", or "@-" for standard input. */
static enum status read_body(const struct cli *cli, const struct parsed *parsed, struct strbuf *out,
                             struct err *err)
{
    const char *data = parsed_get(parsed, "data", NULL);
    CLEANUP(mem_freep) char *bytes = NULL;
    size_t length = 0;
    if (data == NULL)
        return STATUS_OK;
    if (str_equal(data, "@-"))
        return read_input(cli->host.in, out, err);
    if (data[0] != '@') {
        strbuf_add(out, data);
        return STATUS_OK;
    }
    if (file_read(data + 1, BODY_BYTES_MAX, &bytes, &length, err) != STATUS_OK)
        return err->code;
    strbuf_add_bytes(out, bytes, length);
    return STATUS_OK;
}

/* "Name: value" in two; *out_names is heap and holds the names. */
static enum status read_headers(const struct parsed *parsed, char **out_names,
                                struct http_header *headers, size_t *out_count, struct err *err)
{
    struct strbuf names;
    const char *line;
    size_t count = 0;
    strbuf_init(&names, (size_t)HEADERS_MAX * 256);
    size_t starts[HEADERS_MAX];
    for (; (line = parsed_get_nth(parsed, "header", count)) != NULL; count++) {
        const char *colon = strchr(line, ':');
        if (colon == NULL || colon == line || count == HEADERS_MAX || colon - line > 255) {
            strbuf_fini(&names);
            return err_set(err, STATUS_INVALID,
                           "--header %.80s: write 'Name: value', at most %d of them", line,
                           HEADERS_MAX);
        }
        starts[count] = names.length;
        strbuf_add_bytes(&names, line, (size_t)(colon - line));
        strbuf_add_bytes(&names, "", 1);
        headers[count].value = colon + 1 + strspn(colon + 1, " \t");
    }
    *out_names = strbuf_take(&names);
    for (size_t i = 0; i < count; i++)
        headers[i].name = *out_names + starts[i];
    *out_count = count;
    return STATUS_OK;
}

static int print_answer(struct cli *cli, const struct client *client,
                        const struct http_answer *answer)
{
    struct err err = {0};
    (void)fwrite(answer->body, 1, answer->length, cli->host.out);
    if (answer->length > 0 && answer->body[answer->length - 1] != '\n')
        (void)fputc('\n', cli->host.out);
    if (answer->is_cut)
        (void)fprintf(cli->host.err, "eider: there is more of the answer than is shown\n");
    if (answer->status < 300)
        return EXIT_CODE_DONE;
    (void)client_problem(client, answer, &err);
    (void)fflush(cli->host.out);
    (void)fprintf(cli->host.err, "eider: %d: %s\n", answer->status, err.text);
    return exit_code_of_status(err.code);
}

int cmd_api(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    struct client *client = NULL;
    struct http_header headers[HEADERS_MAX];
    CLEANUP(mem_freep) char *names = NULL;
    CLEANUP(mem_freep) char *method = mem_strdup(parsed->args[0]);
    CLEANUP(strbuf_fini) struct strbuf path;
    CLEANUP(strbuf_fini) struct strbuf body;
    struct http_answer answer = {0};
    struct client_request request = {.method = method, .headers = headers};
    strbuf_init(&path, PATH_BYTES_MAX);
    strbuf_init(&body, BODY_BYTES_MAX);
    for (char *p = method; *p != '\0'; p++)
        *p = (char)(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
    if (make_path(parsed, &path, &err) != STATUS_OK ||
        read_body(cli, parsed, &body, &err) != STATUS_OK ||
        read_headers(parsed, &names, headers, &request.headers_count, &err) != STATUS_OK ||
        cli_connect(cli, &client, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    request.path = path.text;
    request.body = parsed_has(parsed, "data") ? body.text : NULL;
    request.body_length = body.length;
    if (client_send(client, &request, &answer, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    int code = print_answer(cli, client, &answer);
    http_answer_fini(&answer);
    return code;
}
