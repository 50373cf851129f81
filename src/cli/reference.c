#include "cli/reference.h"

#include <string.h>

#include "base/attrs.h"
#include "cli/exit_code.h"
#include "cli/help.h"
#include "model/dag_fields.h"
#include "model/dag_roots.h"
#include "model/metric.h"
#include "model/sensor_fields.h"
#include "model/settings.h"
#include "model/template.h"

void reference_cell(FILE *out, const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '|')
            (void)fputc('\\', out);
        (void)fputc(*p, out);
    }
}

/* --- keys of a DAG file --- */

/* What a value looks like, in a word or two; what the text explains has none. */
static const char *const VALUE_WORDS[] = {
    [FIELD_TEXT] = "text",
    [FIELD_TEMPLATE] = "template",
    [FIELD_CONDITION] = "template",
    [FIELD_NAME] = "name",
    [FIELD_FLAG] = "true, false",
    [FIELD_INTEGER] = "integer",
    [FIELD_NUMBER] = "number",
    [FIELD_DURATION] = "duration",
    [FIELD_SIZE] = "size",
    [FIELD_TEXTS] = "list of texts",
    [FIELD_CODES] = "list of exit codes",
    [FIELD_CHOICE] = "",
    [FIELD_ENV] = "map of templates",
    [FIELD_GROUP] = "map",
    [FIELD_OWN] = "",
    [FIELD_KEPT] = "",
    [FIELD_MISSING] = "",
};
_Static_assert(ARRAY_LEN(VALUE_WORDS) == FIELD_MISSING + 1, "every type has its word");

enum { CHOICES_SHOWN_MAX = 4 }; /* longer lists have a table of their own */

static void print_key(FILE *out, const char *parent, const struct dag_field *field)
{
    (void)fprintf(out, "| `%s%s%s`", parent, parent[0] != '\0' ? "." : "", field->key);
    if (field->alias != NULL)
        (void)fprintf(out, ", `%s`", field->alias);
    (void)fprintf(out, " | %s", VALUE_WORDS[field->type]);
    if (field->type == FIELD_CHOICE && field->choices->count <= CHOICES_SHOWN_MAX)
        for (size_t i = 0; i < field->choices->count; i++)
            (void)fprintf(out, "%s`%s`", i > 0 ? ", " : "", field->choices->names[i]);
    (void)fputs(" | ", out);
    reference_cell(out, field->doc);
    (void)fputs(" |\n", out);
}

static void print_names(FILE *out, const struct field_table *table, enum field_type type,
                        const char *title)
{
    size_t shown = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct dag_field *field = &table->fields[i];
        if (field->type != type || field->has_effect)
            continue;
        (void)fprintf(out, "%s`%s`", shown++ == 0 ? title : ", ", field->key);
        if (field->alias != NULL)
            (void)fprintf(out, " (`%s`)", field->alias);
    }
    if (shown > 0)
        (void)fputs(".\n", out);
}

static void print_keys(FILE *out, const struct field_table *table)
{
    (void)fputs("| key | value | meaning |\n|---|---|---|\n", out);
    for (size_t i = 0; i < table->count; i++) {
        const struct dag_field *field = &table->fields[i];
        if ((field->type == FIELD_KEPT && !field->has_effect) || field->type == FIELD_MISSING)
            continue;
        print_key(out, "", field);
        for (size_t k = 0; field->members != NULL && k < field->members->count; k++)
            print_key(out, field->key, &field->members->fields[k]);
    }
    print_names(out, table, FIELD_KEPT, "\nRead, checked and kept, without effect yet: ");
    print_names(out, table, FIELD_MISSING, "\nAn error in this version: ");
}

static void print_dag_keys(FILE *out)
{
    print_keys(out, &DAG_FIELDS);
}

static void print_task_keys(FILE *out)
{
    print_keys(out, &TASK_FIELDS);
}

static void print_group_keys(FILE *out)
{
    print_keys(out, &GROUP_FIELDS);
}

static void print_sensor_keys(FILE *out)
{
    print_keys(out, &SENSOR_FIELDS);
}

/* --- templates --- */

static void print_template_names(FILE *out)
{
    (void)fputs("| name | meaning |\n|---|---|\n", out);
    for (size_t i = 0; i < DAG_ROOTS_COUNT; i++) {
        (void)fprintf(out, "| `%s` | ", DAG_ROOTS[i].name);
        reference_cell(out, DAG_ROOTS[i].doc);
        (void)fputs(" |\n", out);
    }
}

static void print_filters(FILE *out)
{
    (void)fputs("| filter | gives |\n|---|---|\n", out);
    for (size_t i = 0; i < template_filter_count(); i++) {
        struct template_filter filter = template_filter_get(i);
        (void)fprintf(out, "| `%s", filter.name);
        for (size_t k = 0; k < filter.params_count; k++)
            (void)fprintf(out, "%s%s", k > 0 ? ", " : "(", filter.params[k]);
        (void)fprintf(out, "%s` | ", filter.params_count > 0 ? ")" : "");
        reference_cell(out, filter.doc);
        (void)fputs(" |\n", out);
    }
}

/* --- settings and exit codes --- */

static void print_setting_rows(FILE *out, enum setting_key first, enum setting_key end)
{
    (void)fputs("| key | environment | flag | default | meaning |\n|---|---|---|---|---|\n", out);
    for (enum setting_key i = first; i < end; i++) {
        const struct setting *setting = &SETTINGS[i];
        (void)fprintf(out, "| `%s` | `%s` | ", setting->key, setting->environment);
        if (setting->flag != NULL)
            (void)fprintf(out, "`%s`", setting->flag);
        (void)fprintf(out, " | %s | ", setting->otherwise != NULL ? setting->otherwise : "");
        reference_cell(out, setting->help);
        (void)fputs(" |\n", out);
    }
}

static void print_settings(FILE *out)
{
    print_setting_rows(out, 0, SETTING_COUNT);
}

/* Those of `eider up`, which stand together in the table. */
static void print_fleet_settings(FILE *out)
{
    print_setting_rows(out, SETTING_HOST_NAME, SETTING_DRAIN_GRACE + 1);
}

/* Those that are sent elsewhere, and how many series there are. */
static void print_metrics_settings(FILE *out)
{
    print_setting_rows(out, SETTING_METRICS_SERIES, SETTING_OTLP_HEADERS + 1);
}

static void print_metrics(FILE *out)
{
    (void)fputs("| metric | type | labels | of | meaning |\n|---|---|---|---|---|\n", out);
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        const struct metric_row *row = &METRICS[i];
        const char *labels = metric_label_names((enum metric)i);
        (void)fprintf(out, "| `%s` | %s |", row->name, metric_type_name(row->type));
        while (labels[0] != '\0') {
            size_t length = strcspn(labels, " ");
            (void)fprintf(out, " `%.*s`", (int)length, labels);
            labels += length + (labels[length] == ' ');
        }
        (void)fprintf(out, " | %s | %s |\n", row->source == OF_STORE ? "store" : "process",
                      row->help);
    }
}

static void print_exit_codes(FILE *out)
{
    (void)fputs("| code | meaning |\n|---|---|\n", out);
#define X(name, number, text) (void)fprintf(out, "| %d | %s |\n", number, text);
    EXIT_CODE_MAP(X)
#undef X
}

/* clang-format off */
#define REFERENCE_MAP(X)                      \
    X("cli", help_reference)                  \
    X("dag-keys", print_dag_keys)             \
    X("task-keys", print_task_keys)           \
    X("group-keys", print_group_keys)         \
    X("sensor-keys", print_sensor_keys)       \
    X("template-names", print_template_names) \
    X("filters", print_filters)               \
    X("settings", print_settings)             \
    X("fleet-settings", print_fleet_settings) \
    X("exit-codes", print_exit_codes)         \
    X("metrics", print_metrics)               \
    X("metrics-settings", print_metrics_settings) \
    X("operations", reference_operations)
/* clang-format on */

static const struct {
    const char *name;
    void (*print)(FILE *out);
} PARTS[] = {
#define X(name, print) {name, print},
    REFERENCE_MAP(X)
#undef X
};

#define X(name, print) " " name
const char REFERENCE_NAMES[] = "" REFERENCE_MAP(X);
#undef X

bool reference_print(FILE *out, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(PARTS); i++) {
        if (strcmp(PARTS[i].name, name) == 0) {
            PARTS[i].print(out);
            return true;
        }
    }
    return false;
}
