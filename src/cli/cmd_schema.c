/*
 * What others may write and ask, for programs: the server's API, DAG files, settings.
 */
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/parsed.h"
#include "model/dag_schema.h"
#include "model/settings_schema.h"

/* A new reference; NULL: there is none of that name. */
static json_t *schema_of(const struct cli *cli, const char *name)
{
    if (str_equal(name, "dag"))
        return dag_schema();
    if (str_equal(name, "config"))
        return settings_schema();
    return str_equal(name, "openapi") ? cli->host.openapi() : NULL;
}

int cmd_schema(struct cli *cli, const struct parsed *parsed)
{
    CLEANUP(json_decrefp) json_t *schema = schema_of(cli, parsed->args[0]);
    if (schema == NULL) {
        (void)fprintf(cli->host.err, "eider: no schema '%.60s'; there is openapi, dag and config\n",
                      parsed->args[0]);
        return EXIT_CODE_USAGE;
    }
    if (output_print_plain(&cli->output, schema))
        return EXIT_CODE_DONE;
    CLEANUP(mem_freep) char *text = json_format_pretty(schema);
    (void)fprintf(cli->host.out, "%s\n", text);
    return EXIT_CODE_DONE;
}
