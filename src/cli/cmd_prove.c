#include "base/check.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/parsed.h"
#include "cli/request.h"
#include "cli/views.h"

struct proof_row {
    const char *name;
    const char *summary;
};

static const struct proof_row PROOFS[] = {
#define X(name, text, summary) [PROOF_##name] = {text, summary},
    PROOF_MAP(X)
#undef X
};

static int list_proofs(struct cli *cli)
{
    CLEANUP(json_decrefp) json_t *response = request_new();
    json_t *list = json_array();
    CHECK(list != NULL);
    for (size_t i = 0; i < ARRAY_LEN(PROOFS); i++) {
        json_t *row = request_new();
        json_put_string(row, "name", PROOFS[i].name);
        json_put_string(row, "summary", PROOFS[i].summary);
        CHECK(json_array_append_new(list, row) == 0);
    }
    json_put(response, "proofs", list);
    (void)output_print(&cli->output, &VIEW_PROOFS, response);
    return EXIT_CODE_DONE;
}

static enum status find_proof(const char *name, enum proof *out, struct err *err)
{
    for (enum proof i = 0; i < PROOF_COUNT; i++) {
        if (str_equal(PROOFS[i].name, name)) {
            *out = i;
            return STATUS_OK;
        }
    }
    return err_set(err, STATUS_INVALID, "there is no proof '%.60s'; `eider prove` lists them",
                   name);
}

static void say_line(void *context, const char *line)
{
    cli_say(context, "%s", line);
}

static void show_report(struct cli *cli, const json_t *report)
{
    size_t i = 0;
    json_t *note = NULL;
    (void)output_print(&cli->output, &VIEW_PROOF, report);
    if (cli->output.format != OUTPUT_TABLE && cli->output.format != OUTPUT_WIDE)
        return;
    json_array_foreach(json_object_get(report, "notes"), i, note)
        cli_say(cli, "%s", json_string_value(note));
    cli_say(cli, "%s: %s", json_get_string(report, "proof", "?"),
            json_get_bool(report, "ok", false) ? "proved" : "NOT proved");
}

int cmd_prove(struct cli *cli, const struct parsed *parsed)
{
    const struct int_bounds kills = {PROVE_KILLS_LEAST, PROVE_KILLS_MOST, PROVE_KILLS};
    const struct int_bounds tasks = {PROVE_TASKS_LEAST, PROVE_TASKS_MOST, PROVE_TASKS};
    const struct int_bounds count = {PROVE_COUNT_LEAST, PROVE_COUNT_MOST, PROVE_COUNT};
    struct prove_request request = {
        .keeps = parsed_has(parsed, "keep"), .say = say_line, .say_context = cli};
    CLEANUP(json_decrefp) json_t *report = NULL;
    struct err err = {0};
    if (parsed->args_count == 0)
        return list_proofs(cli);
    if (find_proof(parsed->args[0], &request.proof, &err) != STATUS_OK ||
        parsed_get_int(parsed, "kills", &kills, &request.kills, &err) != STATUS_OK ||
        parsed_get_int(parsed, "tasks", &tasks, &request.tasks, &err) != STATUS_OK ||
        parsed_get_int(parsed, "count", &count, &request.count, &err) != STATUS_OK ||
        cli_prove(cli, &request, &report, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    if (json_get_bool(report, "interrupted", false))
        return EXIT_CODE_INTERRUPTED;
    show_report(cli, report);
    return json_get_bool(report, "ok", false) ? EXIT_CODE_DONE : EXIT_CODE_FAILED;
}
