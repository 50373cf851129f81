#include "cli/cli.h"
#include "cli/handlers.h"
#include "cli/request.h"
#include "cli/views.h"

enum { LIST_MAX = 100000, LIST_DEFAULT = 20 };

int cmd_audit_list(struct cli *cli, const struct parsed *parsed)
{
    static const char *const OPTIONS[] = {"actor", "dag", "run", "from", "to", "before"};
    struct err err = {0};
    json_t *request = request_new();
    for (size_t i = 0; i < ARRAY_LEN(OPTIONS); i++)
        request_put_option(request, parsed, OPTIONS[i], OPTIONS[i]);
    json_put_bool(request, "all", parsed_has(parsed, "all"));
    json_put_int(request, "limit", LIST_DEFAULT);
    if (request_put_int(request, parsed, "limit", "limit", LIST_MAX, &err) != STATUS_OK) {
        json_decref(request);
        return cli_fail(cli, &err);
    }
    return cli_list(cli, parsed, "audit.list", request, &VIEW_AUDIT);
}
