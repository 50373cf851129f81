/*
 * The event keys of schedules in DAG files: every mistake is found when the file is read, at its
 * place.
 */
#include "base/mem.h"
#include "base/strbuf.h"
#include "expect.h"
#include "spec/spec.h"

static void expect_problems(const char *text, const char *wanted)
{
    CLEANUP(mem_freep) char *whole = mem_format("%s\ntasks: {a: {noop: }}\n", text);
    CLEANUP(spec_file_freep)
    struct spec_file *file = spec_load_text("some.yaml", whole, strlen(whole));
    CLEANUP(strbuf_fini) struct strbuf problems;
    strbuf_init(&problems, 1 << 16);
    for (size_t i = 0; i < file->diags.count; i++)
        strbuf_addf(&problems, "%d:%d: %s\n", file->diags.items[i].line,
                    file->diags.items[i].column, file->diags.items[i].text);
    cr_expect_str_eq(problems.text, wanted, "%s\ngives\n%swanted\n%s", text, problems.text, wanted);
}

Test(spec_triggers, every_form_is_read)
{
    static const char *const GOOD[] = {
        "schedule: {datasets: s3://a/b}",
        "schedule: {assets: [a, b]}",
        "schedule: {datasets: {any: [a, {all: [b, c]}]}}",
        "schedule: {after: other}",
        "schedule: {after: [x, {dag: y, states: any, conf: true}]}",
        "schedule: {after: {any: [x, {dag: y, states: [failed]}]}}",
        "schedule: {file: landing/*.csv}",
        "schedule: {file: {path: /data/x, settle: 500ms}}",
        "schedule: {webhook: true}",
        "schedule: {webhook: [a, b]}",
        "schedule: {webhook: [a, {name: b, signature: github}]}",
        "schedule: {cron: '@daily', datasets: a, file: x, webhook: true}",
        "schedule: ['@daily', {datasets: a}, {after: x}]",
    };
    for (size_t i = 0; i < ARRAY_LEN(GOOD); i++)
        expect_problems(GOOD[i], "");
}

Test(spec_triggers, mistakes_are_found_at_their_places)
{
    static const struct {
        const char *text;
        const char *problems;
    } CASES[] = {
        {"schedule: {datasets: [a, 7]}",
         "1:26: 'datasets': expected the URI of a dataset, without blanks and at most 2000 bytes, "
         "found an integer\n"},
        {"schedule: {datasets: 'a b'}",
         "1:22: 'datasets': expected the URI of a dataset, without blanks and at most 2000 bytes, "
         "found the string 'a b'\n"},
        {"schedule: {datasets: []}", "1:22: 'datasets': the list is empty\n"},
        {"schedule: {datasets: {either: [a]}}",
         "1:23: unknown key 'either' in 'datasets': any or all\n"},
        {"schedule: {datasets: {any: [a], all: [b]}}",
         "1:22: 'datasets': expected a map with one key, any or all\n"},
        {"schedule: {datasets: 'x/{{ ds }}'}",
         "1:22: 'datasets': a template cannot stand here, since no run exists yet\n"},
        {"schedule: {after: 'no dag'}",
         "1:19: 'after': expected the id of a DAG, found the string 'no dag'\n"},
        {"schedule: {after: some}", "1:19: a DAG that starts after itself would never stop\n"},
        {"schedule: {after: {dag: x, states: running}}",
         "1:36: 'states': expected success, failed, cancelled or any, found the string "
         "'running'\n"},
        {"schedule: {after: {dag: x, state: failed}}",
         "1:28: unknown key 'state' in 'after': dag, states, conf\n"},
        {"schedule: {after: {dag: x, states: []}}",
         "1:36: 'states' is empty: no end of the DAG would count\n"},
        {"schedule: {file: 'in*/x.csv'}",
         "1:18: 'file': expected the path of a file; its last part may be a pattern such as *.csv, "
         "found the string 'in*/x.csv'\n"},
        {"schedule: {file: {settle: 2s}}", "1:18: 'file' has no 'path'\n"},
        {"schedule: {file: {path: x, settle: 2h}}",
         "1:36: 'settle': expected a duration of at most 1h such as 2s, found the string '2h'\n"},
        {"schedule: {webhook: 3}", "1:21: 'webhook': expected true, a name, or a map with name, "
                                   "signature, found an integer\n"},
        {"schedule: {webhook: {signature: md5}}",
         "1:33: 'signature': expected eider or github, found the string 'md5'\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        expect_problems(CASES[i].text, CASES[i].problems);
}

Test(spec_triggers, outputs_are_checked_with_their_templates)
{
    static const struct {
        const char *task;
        const char *problems;
    } CASES[] = {
        {"outputs: [a, 's3://x/{{ ds }}']", ""},
        {"outputs: a", ""},
        {"outputs: ['a b']",
         "1:31: 'outputs': expected the URI of a dataset, without blanks and at most 2000 bytes, "
         "found the string 'a b'\n"},
        {"outputs: ['x/{{ dss }}']", "1:37: template: unknown name 'dss'; did you mean 'ds'?\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(mem_freep) char *text = mem_format("tasks: {b: {run: x, %s}}", CASES[i].task);
        CLEANUP(spec_file_freep)
        struct spec_file *file = spec_load_text("some.yaml", text, strlen(text));
        CLEANUP(strbuf_fini) struct strbuf problems;
        strbuf_init(&problems, 1 << 16);
        for (size_t j = 0; j < file->diags.count; j++)
            strbuf_addf(&problems, "%d:%d: %s\n", file->diags.items[j].line,
                        file->diags.items[j].column, file->diags.items[j].text);
        cr_expect_str_eq(problems.text, CASES[i].problems, "%s: %s", text, problems.text);
    }
}

/* --- what can never run, or never stop ------------------------------------------------------- */

static void expect_whole(const char *text, const char *wanted)
{
    CLEANUP(spec_file_freep)
    struct spec_file *file = spec_load_text("some.yaml", text, strlen(text));
    CLEANUP(strbuf_fini) struct strbuf problems;
    strbuf_init(&problems, 1 << 16);
    for (size_t i = 0; i < file->diags.count; i++)
        strbuf_addf(&problems, "%s%d:%d: %s\n",
                    file->diags.items[i].severity == DIAG_WARNING ? "warning " : "",
                    file->diags.items[i].line, file->diags.items[i].column,
                    file->diags.items[i].text);
    cr_expect_str_eq(problems.text, wanted, "%s\ngives\n%swanted\n%s", text, problems.text, wanted);
}

Test(spec_triggers, a_dag_does_not_start_itself_by_its_own_datasets)
{
    static const char OUTPUT[] = "\ntasks: {a: {run: x, outputs: [other, s]}}\n";
    static const char ONE[] = "\ngroups: {g: {tasks: {a: {run: x, outputs: s}}}}\n";
    static const char LOOP[] = "a DAG that starts by 's', which its own task '%s' writes, would "
                               "never stop\n";
    static const struct {
        const char *schedule;
        int column; /* 0: no problem */
    } CASES[] = {
        {"schedule: {datasets: s}", 22},
        {"schedule: {datasets: {any: [t, s]}}", 32},
        {"schedule: {datasets: [s, t]}", 0}, /* t stops it */
        {"schedule: {datasets: t}", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        for (int form = 0; form < 2; form++) {
            CLEANUP(mem_freep)
            char *text = mem_format("%s%s", CASES[i].schedule, form == 0 ? OUTPUT : ONE);
            CLEANUP(mem_freep) char *place = mem_format("1:%d: ", CASES[i].column);
            CLEANUP(mem_freep)
            char *wanted = mem_format(LOOP, form == 0 ? "a" : "g.a");
            CLEANUP(mem_freep) char *all = mem_format("%s%s", place, wanted);
            expect_whole(text, CASES[i].column > 0 ? all : "");
        }
    }
}

Test(spec_triggers, a_param_that_nobody_gives_is_warned_of)
{
    static const struct {
        const char *schedule;
        const char *who; /* NULL: nothing to warn of */
    } CASES[] = {
        {"'@daily'", "a tick of the schedule"},
        {"{datasets: a}", "an update of a dataset"},
        {"{after: other}", "the end of another DAG's run"},
        {"{after: {dag: other, conf: true}}", NULL},
        {"{file: x}", "a file"},
        {"{webhook: true}", NULL},
        {"null", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(mem_freep)
        char *text = mem_format("params:\n  given: 1\n  x: {type: string}\n  n: {nullable: true}\n"
                                "schedule: %s\ntasks: {a: {noop: }}\n",
                                CASES[i].schedule);
        CLEANUP(mem_freep)
        char *wanted = CASES[i].who == NULL
                           ? mem_strdup("")
                           : mem_format("warning 3:3: param 'x' has no default, and %s brings no "
                                        "value: no run can start by it\n",
                                        CASES[i].who);
        expect_whole(text, wanted);
    }
}
