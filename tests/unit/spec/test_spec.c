#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "expect.h"
#include "model/dag_write.h"
#include "model/limits.h"
#include "spec/spec.h"

/* All problems, a line each: "line:column: text". */
static void list_problems(const struct spec_file *file, struct strbuf *out)
{
    for (size_t i = 0; i < file->diags.count; i++)
        strbuf_addf(out, "%d:%d: %s%s\n", file->diags.items[i].line, file->diags.items[i].column,
                    file->diags.items[i].severity == DIAG_WARNING ? "warning: " : "",
                    file->diags.items[i].text);
}

static void expect_problems(const char *text, const char *wanted)
{
    CLEANUP(spec_file_freep)
    struct spec_file *file = spec_load_text("dir/some.yaml", text, strlen(text));
    struct strbuf problems;
    strbuf_init(&problems, 1 << 16);
    list_problems(file, &problems);
    cr_expect_str_eq(problems.text, wanted, "%s\ngives\n%swanted\n%s", text, problems.text, wanted);
    strbuf_fini(&problems);
}

Test(spec, every_mistake_is_named_at_its_place)
{
    static const struct {
        const char *text;
        const char *problems;
    } CASES[] = {
        {"", "0:0: the file is empty: a DAG needs at least 'tasks'\n"},
        {"- a\n", "1:1: a DAG is a map with 'tasks'\n"},
        {"title: x\n", "1:1: the DAG has no tasks: add 'tasks'\n"},
        {"tasks:\n", "1:1: the DAG has no tasks\n"},
        {"tasks: [a]\n", "1:8: 'tasks': expected a map from id to task, found a list\n"},
        {"tasks:\n  a: { noop: }\ntitel: x\n", "3:1: unknown key 'titel' of a DAG; did you mean "
                                               "'title'?\n"},
        {"tasks:\n  a: { rnu: x }\n",
         "2:3: task 'a' has no kind: add run, script, noop, sensor, branch or short_circuit\n"
         "2:8: unknown key 'rnu' of a task; did you mean 'run'?\n"},
        {"tasks:\n  a: echo\n",
         "2:6: 'a': expected a map such as { run: echo hello }, found the string 'echo'\n"},
        {"tasks:\n  a: { run: x, noop: }\n", "2:16: task 'a' has two kinds, 'run' and 'noop': keep "
                                             "one\n"},
        {"tasks:\n  a: { sql: x }\n", "2:8: kind 'sql' is not available in this version\n"},
        {"tasks:\n  a/b: { noop: }\n", "2:3: 'a/b' is not a task id: " DAG_NAME_RULE "\n"},
        {"include: x\ntasks: {a: {noop: }}", "1:1: 'include' is not available in this version\n"},
        {"eider: 2\ntasks: {a: {noop: }}", "1:8: 'eider': this version reads format 1\n"},
        {"timeout: 1h\ndagrun_timeout: 2h\ntasks: {a: {noop: }}",
         "2:1: 'dagrun_timeout' and 'timeout' mean the same: keep one\n"},
        {"tasks:\n  a: { noop: , pool_slots: 2, slots: 1 }\n",
         "2:16: 'pool_slots' and 'slots' mean the same: keep one\n"},
        /* Types and bounds. */
        {"tasks:\n  a: { noop: , retries: 1001 }\n",
         "2:25: 'retries': 1001 is out of bounds: expected an integer from 0 to 1000\n"},
        {"tasks:\n  a: { noop: , retries: 1.5 }\n",
         "2:25: 'retries': expected an integer from 0 to 1000, found a number\n"},
        {"tasks:\n  a: { noop: , retry_backoff: 0.5 }\n",
         "2:31: 'retry_backoff': 0.5 is out of bounds: expected a number from 1 to 100\n"},
        {"tasks:\n  a: { noop: , timeout: 5 min }\n",
         "2:25: 'timeout': expected a duration such as 500ms, 30s, 5m, 2h or 1d, found the string "
         "'5 min'\n"},
        {"tasks:\n  a: { noop: , timeout: -5 }\n",
         "2:25: 'timeout': expected a duration such as 500ms, 30s, 5m, 2h or 1d, found an "
         "integer\n"},
        {"tasks:\n  a: { noop: , fail_fast: yes }\n",
         "2:27: 'fail_fast': expected true or false, found the string 'yes'\n"},
        {"tasks:\n  a: { noop: , doc: [x] }\n", "2:21: 'doc': expected a string, found a list\n"},
        {"tasks:\n  a: { noop: , trigger_rule: all_succes }\n",
         "2:30: 'trigger_rule': there is no 'all_succes'; did you mean 'all_success'?\n"},
        {"tasks:\n  a: { noop: , retry_on: [timout, 7, lost_owner, exit] }\n",
         "2:27: 'retry_on': there is no 'timout'; did you mean 'timeout'?\n"
         "2:38: 'retry_on': expected an exit code from 0 to 255, or exit, signal, timeout, "
         "exec_error, found the string 'lost_owner'\n"},
        {"tasks:\n  a: { noop: , foreach: files }\n",
         "2:25: 'foreach': expected a list, or a template that gives one, found the string "
         "'files'\n"},
        {"tasks:\n  a: { noop: , foreach: true }\n",
         "2:25: 'foreach': expected a list, or a template that gives one, found true\n"},
        {"tasks:\n  a: { noop: , tags: [a, 1] }\n", "2:26: 'tags': expected a string, found an "
                                                    "integer\n"},
        {"tasks:\n  a: { noop: , retry_on: [0, 256, x] }\n",
         "2:30: 'retry_on': exit codes are 0 to 255, not 256\n"
         "2:35: 'retry_on': expected an exit code from 0 to 255, or exit, signal, timeout, "
         "exec_error, found the string 'x'\n"},
        {"tasks:\n  a: { noop: , exit: { skp: [1] } }\n",
         "2:24: unknown key 'skp' of a 'exit'; did you mean 'skip'?\n"},
        {"tasks:\n  a: { noop: , limits: { memory: lots } }\n",
         "2:34: 'memory': expected a size such as 512, 64KiB or 2GiB, found the string 'lots'\n"},
        {"tasks:\n  a: { noop: , env: { 1A: x, B: [1], C: null } }\n",
         "2:23: '1A' is not the name of a variable: letters, digits and _, not starting with a "
         "digit\n2:33: 'B': expected a string, found a list\n"
         "2:41: 'C': expected a string, found nothing (null)\n"},
        {"tasks:\n  a: { noop: , pool: a b }\n",
         "2:22: 'pool': 'a b' is not a name: " DAG_NAME_RULE "\n"},
        {"params: { x: { type: int } }\ntasks: {a: {noop: }}",
         "1:11: param 'x': unknown type 'int' (did you mean 'any'?)\n"},
        {"defaults: { needs: [a], run: x, zzzzzz: 1 }\ntasks: {a: {noop: }}",
         "1:13: 'needs' belongs to a task, not to 'defaults'\n"
         "1:25: 'run' belongs to a task, not to 'defaults'\n1:33: unknown key 'zzzzzz' of a "
         "task\n"},
        /* Kinds. */
        {"tasks:\n  a: { run: '  ' }\n", "2:13: 'run': the command is empty\n"},
        {"tasks:\n  a: { run: [] }\n", "2:13: 'run': the list is empty: name a program\n"},
        {"tasks:\n  a: { run: {x: 1} }\n",
         "2:13: 'run': expected a command, or a list of a program "
         "and its arguments, found a map\n"},
        {"tasks:\n  a: { script: {file: x, text: y} }\n",
         "2:16: 'script': give either 'text' or 'file'\n"},
        {"tasks:\n  a: { run: x, interpreter: sh }\n", "2:16: 'interpreter' belongs to 'script'\n"},
        {"tasks:\n  a: { script: {text: x, args: [1]}, args: [b] }\n",
         "2:33: 'args': expected a string, found an integer\n"},
        {"tasks:\n  a: { noop: 5 }\n", "2:14: 'noop': expected nothing, or {}, found an integer\n"},
        {"tasks:\n  a: { noop: , protocol: true }\n",
         "2:3: task 'a': 'protocol' is for run and script\n"},
        {"tasks:\n  a: { short_circuit: maybe }\n",
         "2:23: 'short_circuit': 'maybe' is not a template, so it is always the same: write \"{{ "
         ".. "
         "}}\", true or false\n"},
        {"tasks:\n  a: { noop: , foreach: 5, matrix: {} }\n",
         "2:25: 'foreach': expected a list, or a template that gives one, found an integer\n"
         "2:36: 'matrix': expected a map of lists, found a map\n"},
        {"tasks:\n  a: { noop: , foreach: [1], matrix: {x: [1], y: []} }\n",
         "2:3: task 'a' has both 'foreach' and 'matrix'\n"
         "2:50: 'y': expected a list with at least one value, found a list\n"},
        /* References. */
        {"tasks:\n  load: { noop: , needs: [lod, load, x] }\n",
         "2:27: 'needs': there is no task 'lod'; did you mean 'load'?\n"
         "2:32: 'needs': task 'load' cannot need itself\n"
         "2:38: 'needs': there is no task 'x'\n"},
        {"tasks:\n  a: { noop: }\n  b: { noop: , needs: [a, a] }\n",
         "3:27: 'a' is named twice in the list\n"},
        {"tasks:\n  a: { noop: , needs: {b: 1} }\n",
         "2:23: 'needs': expected a list of tasks, found "
         "a map\n"},
        {"tasks:\n  a: { noop: , needs: c }\n  b: { noop: , needs: a }\n  c: { noop: , needs: b }\n"
         "  d: { noop: , needs: [c, e] }\n  e: { noop: , needs: d }\n",
         "2:3: tasks need each other in a circle: a -> b -> c -> a\n"
         "5:3: tasks need each other in a circle: d -> e -> d\n"},
        {"tasks:\n  a: { noop: , needs: z }\nfinally:\n  z: { noop: , needs: a }\n",
         "2:23: 'needs': 'z' is a finally task: it runs after all others, so only finally tasks "
         "can "
         "need it\n4:23: 'needs': 'a' is not a finally task; finally tasks run after all others "
         "anyway\n"},
        {"tasks:\n  a: { noop: }\nfinally:\n  a: { noop: }\n",
         "4:3: 'a' is the id of another task or group\n"},
        {"tasks:\n  a: { noop: }\n  t: { noop: , teardown: [a, g] }\ngroups: {g: {tasks: {x: "
         "{noop: }}}}\n",
         "3:27: 'teardown': task 'a' is not a setup: add 'setup: true' to it\n"
         "3:30: 'teardown': 'g' is a group, not a setup task\n"},
        {"tasks:\n  a: { noop: }\ngroups:\n  g: { tasks: { x: { noop: , needs: g } }, needs: [g] "
         "}\n  h: { needs: a }\n",
         "4:37: 'needs': 'g' is the group that task 'g.x' is in\n"
         "4:52: 'needs': group 'g' cannot need 'g', which it contains\n"
         "5:3: group 'h' has no tasks\n"},
        {"tasks:\n  b: { branch: [{if: '{{ ds }}', then: c}, {else: [d, zz]}] }\n  c: { noop: , "
         "needs: "
         "b }\n  d: { noop: }\n",
         "2:52: 'branch': 'd' does not need 'b': add it to its 'needs'\n"
         "2:55: 'branch': there is no task 'zz'\n"},
        {"tasks:\n  b: { branch: [{else: []}, {if: '{{ ds }}'}, {if: x, then: [], or: 1}, 5] }\n",
         "2:17: 'branch': 'else' must be the last choice\n2:29: 'branch': 'if' needs 'then'\n"
         "2:52: 'if': 'x' is not a template, so it is always the same: write \"{{ .. }}\", true or "
         "false\n2:65: unknown key 'or' of a choice of a branch\n"
         "2:73: 'branch': expected {if: .., then: [..]} or {else: [..]}, found an integer\n"},
        /* Templates. */
        {"params: { region: eu }\ntasks:\n  a: { run: 'x {{ params.regoin }} {{ dss }}' }\n",
         "3:19: template: there is no param 'regoin'; did you mean 'region'?\n"
         "3:39: template: unknown name 'dss'; did you mean 'ds'?\n"},
        {"tasks:\n  a:\n    run: |\n      echo ok\n        echo {{ oops! }}\n",
         "5:21: template: unexpected character in an expression\n"},
        {"tasks:\n  a: { noop: }\n  b: { run: 'x{{ tasks.a.n }}' }\n  c: { needs: [a], run: '{{ "
         "tasks.a.n }}{{ tasks.c.n }}{{ tasks.nope.n }}{{ tasks.gone.n | default(1) }}' }\n",
         "3:18: template: task 'b' uses a value of 'a', which does not come before it: add it to "
         "'needs'\n"
         "4:44: template: task 'c' uses its own value, which does not exist yet\n"
         "4:59: template: there is no task 'nope'\n"},
        {"tasks:\n  a: { run: '{{ item }} {{ secrets.x }}', env: { A: '{{ secrets.x }}' } }\n",
         "2:17: template: 'item' exists only in tasks with 'foreach' or 'matrix'\n"
         "2:28: template: 'secrets' can be used in 'env', headers and hooks only, since everything "
         "else is shown and kept: give it to the task as a variable of 'env'\n"},
        {"tasks:\n  a: { run: '{{ conn.db.host }} {{ conn.db.password | default(1) }}', env: { A: "
         "'{{ "
         "conn.db.uri }}' }, on_failure: [{ webhook: { url: 'http://x', headers: { T: '{{ "
         "secrets.t }}' } } }] }\n  b: { run: [x, '{{ conn.db.uri }}'] }\n",
         "2:36: template: conn.db.password can be used in 'env', headers and hooks only, since "
         "everything else is shown and kept: give it to the task as a variable of 'env'\n"
         "3:21: template: conn.db.uri can be used in 'env', headers and hooks only, since "
         "everything "
         "else is shown and kept: give it to the task as a variable of 'env'\n"},
        /* What is not built yet is said once per key. */
        {"tasks:\n  a: { noop: , throttle: api, cache: true }\n"
         "  b: { noop: , throttle: api , cache: 5 }\n",
         "2:16: warning: 'throttle' is accepted but not acted on by this version\n"
         "2:31: warning: 'cache' is accepted but not acted on by this version\n"
         "3:39: 'cache': expected a string or true or false or a map, found an integer\n"},
        /* Hooks, wherever they stand. */
        {"on_failure:\n  - slack: x\n  - slak: y\ndefaults:\n  on_retry: { slack: { txt: z } "
         "}\ntasks:\n"
         "  a:\n    noop:\n    email: [ops]\n    on_skip:\n      - command: |\n          ok\n"
         "          echo {{ ti.x }}\n",
         "3:5: unknown key 'slak' of a hook; did you mean 'slack'?\n"
         "5:24: unknown key 'txt' of a slack hook; did you mean 'text'?\n"
         "9:13: 'to': 'ops' is not an address such as ops@example.com\n"
         "13:19: template: 'ti' is not known in hooks, which are rendered when it is over\n"},
        /* Deadlines. */
        {"sla: { within: 2h, finish_by: 6:30am }\ntasks:\n  a: { noop: , sla: { witin: 5m } }\n"
         "  b: { noop: , sla: { finish_by: \"06:30\", tz: Mars } }\n",
         "1:31: 'finish_by': expected a time of day such as \"06:30\", found the string '6:30am'\n"
         "3:23: unknown key 'witin' of a 'sla'; did you mean 'within'?\n"
         "4:47: 'tz': there is no time zone 'Mars': use a name such as Europe/Berlin, UTC or "
         "local\n"},
        /* Labels are kept as they are written too, but hosts act on them. */
        {"tasks:\n  a: { noop: , worker: gpu, wait: 5 }\n",
         "2:35: 'wait': expected true or false, found an integer\n"},
        {"tasks: {a: {noop: }}\n---\ntasks: {b: {noop: }}\n",
         "3:1: two DAGs of this file have the id 'some': add 'dag: NAME'\n"},
        {"tasks: {a: {noop: }}\n---\ndag: x\ntasks: 5\n---\n{",
         "4:8: 'tasks': expected a map from id to task, found an integer\n"
         "7:1: YAML: did not find expected node content while parsing a flow node that starts on "
         "line 7\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        expect_problems(CASES[i].text, CASES[i].problems);
}

Test(spec, a_mistake_in_the_yaml_leaves_no_dag_of_the_file)
{
    static const char *const TEXTS[] = {
        "<<: *x",
        "tasks: {a: {noop: }, a: {noop: }}",
        "tasks: {a: {noop: }}\n---\n{",
        "tasks: {a: {noop: , timeout: x}}",
    };
    for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++) {
        CLEANUP(spec_file_freep)
        struct spec_file *file = spec_load_text("x", TEXTS[i], strlen(TEXTS[i]));
        cr_expect_gt(file->diags.errors, 0);
        cr_assert_gt(file->dags_count, 0);
        cr_expect_null(file->dags[0], "%s", TEXTS[i]);
    }
}

Test(spec, what_is_not_text_is_refused_at_its_byte)
{
    static const struct {
        const char *bytes;
        size_t length;
        const char *problems;
    } CASES[] = {
        {"a: \xff", 4, "1:4: byte 0xFF is not UTF-8"},
        {"a\nb: \xc0\xaf", 7, "2:4: byte 0xC0 is not UTF-8"},
        {"\xed\xa0\x80", 3, "1:1: byte 0xED is not UTF-8"},
        {"ab\0c", 4, "1:3: a NUL byte: this is not a text file"},
        {"\xe6\x97", 2, "1:1: byte 0xE6 is not UTF-8"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(spec_file_freep)
        struct spec_file *file = spec_load_text("x.yaml", CASES[i].bytes, CASES[i].length);
        struct strbuf problems;
        strbuf_init(&problems, 4096);
        list_problems(file, &problems);
        EXPECT_CONTAINS(problems.text, CASES[i].problems);
        cr_expect_eq(file->dags_count, 0);
        strbuf_fini(&problems);
    }
}

static char *canonical(const char *text)
{
    CLEANUP(spec_file_freep)
    struct spec_file *file = spec_load_text("dir/some.yaml", text, strlen(text));
    struct strbuf problems;
    strbuf_init(&problems, 1 << 16);
    list_problems(file, &problems);
    cr_assert_eq(file->diags.errors, 0, "%s\n%s", text, problems.text);
    strbuf_fini(&problems);
    json_t *tree = dag_write(file->dags[0]);
    char *answer = json_format(tree);
    json_decref(tree);
    return answer;
}

Test(spec, good_files_mean_what_they_say)
{
    static const struct {
        const char *text;
        const char *canonical;
    } CASES[] = {
        {"tasks:\n  hello: { run: echo hello }\n",
         "{\"dag\":\"some\",\"tasks\":{\"hello\":{\"run\":\"echo hello\"}}}"},
        {"dag_id: x\ntasks: {a: {noop: {}, execution_timeout: 5, priority_weight: 3, pool_slots: "
         "2, "
         "trigger_rule: dummy, queue: default}}",
         "{\"dag\":\"x\",\"tasks\":{\"a\":{\"noop\":null,\"priority\":3,\"slots\":2,\"timeout\":"
         "\"5s\",\"trigger_rule\":\"always\"}}}"},
        {"defaults: {retries: 2, env: {A: 1, B: x}, tags: [t]}\ntasks: {a: {noop: , env: {B: "
         "true}}, "
         "b: {noop: , retries: 0, tags: u}}",
         "{\"dag\":\"some\",\"tasks\":{\"a\":{\"env\":{\"A\":\"1\",\"B\":\"true\"},\"noop\":null,"
         "\"retries\":2,\"tags\":[\"t\"]},\"b\":{\"env\":{\"A\":\"1\",\"B\":\"x\"},\"noop\":null,"
         "\"tags\":[\"u\"]}}}"},
        {"tasks: {a: {script: \"x\", interpreter: /usr/bin/env python3}, b: {script: {file: f.sh, "
         "args: [1a]}}}",
         "{\"dag\":\"some\",\"tasks\":{\"a\":{\"script\":{\"interpreter\":[\"/usr/bin/env\","
         "\"python3\"],\"text\":\"x\"}},\"b\":{\"script\":{\"args\":[\"1a\"],\"file\":\"f.sh\","
         "\"interpreter\":[\"/bin/sh\"]}}}}"},
        /* Groups: short names, roots, leaves, nesting. */
        {"tasks: {a: {noop: }, z: {noop: , needs: g}}\ngroups:\n  g:\n    needs: a\n    defaults: "
         "{retries: 1}\n    tasks: {a: {noop: }, b: {noop: , needs: a}}\n    groups:\n      h: "
         "{needs: [b], tasks: {p: {noop: }, q: {noop: , needs: p, retries: 2}}}\n",
         "{\"dag\":\"some\",\"tasks\":{\"a\":{\"noop\":null},"
         "\"g.a\":{\"group\":\"g\",\"needs\":[\"a\"],\"noop\":null,\"retries\":1},"
         "\"g.b\":{\"group\":\"g\",\"needs\":[\"g.a\"],\"noop\":null,\"retries\":1},"
         "\"g.h.p\":{\"group\":\"g.h\",\"needs\":[\"g.b\"],\"noop\":null,\"retries\":1},"
         "\"g.h.q\":{\"group\":\"g.h\",\"needs\":[\"g.h.p\"],\"noop\":null,\"retries\":2},"
         "\"z\":{\"needs\":[\"g.h.q\"],\"noop\":null}}}"},
        /* A subgroup that needs something of the group is no root of it. */
        {"tasks: {a: {noop: }}\ngroups: {g: {needs: a, tasks: {x: {noop: }}, groups: {h: {needs: "
         "x, "
         "tasks: {y: {noop: }}}, i: {tasks: {y: {noop: }}}}}}",
         "{\"dag\":\"some\",\"tasks\":{\"a\":{\"noop\":null},"
         "\"g.h.y\":{\"group\":\"g.h\",\"needs\":[\"g.x\"],\"noop\":null},"
         "\"g.i.y\":{\"group\":\"g.i\",\"needs\":[\"a\"],\"noop\":null},"
         "\"g.x\":{\"group\":\"g\",\"needs\":[\"a\"],\"noop\":null}}}"},
        {"tasks: {s: {noop: , setup: true}, w: {noop: , needs: s}, t: {noop: , needs: w, teardown: "
         "s}}",
         "{\"dag\":\"some\",\"tasks\":{\"s\":{\"noop\":null,\"setup\":true},\"t\":{\"needs\":["
         "\"s\","
         "\"w\"],\"noop\":null,\"teardown\":[\"s\"]},\"w\":{\"needs\":[\"s\"],\"noop\":null}}}"},
        {"groups: {g: {tasks: {b: {branch: [{if: true, then: x}]}, x: {noop: , needs: b}}}}",
         "{\"dag\":\"some\",\"tasks\":{\"g.b\":{\"branch\":[{\"if\":\"{{ true "
         "}}\",\"then\":[\"g.x\"]}],\"group\":\"g\"},\"g.x\":{\"group\":\"g\",\"needs\":[\"g.b\"],"
         "\"noop\":null}}}"},
        {"tasks: {a: {noop: }}\nfinally: {z: {noop: }, y: {noop: , needs: z, if: '{{ tasks.a.x "
         "}}'}}",
         "{\"dag\":\"some\",\"finally\":{\"y\":{\"if\":\"{{ tasks.a.x }}\",\"needs\":[\"z\"],"
         "\"noop\":null},\"z\":{\"noop\":null}},\"tasks\":{\"a\":{\"noop\":null}}}"},
        {"schedule: '@daily'\nparams: {a: 1}\nverdict: leaves\ntimeout: 90m\ntasks: {a: {noop: }}",
         "{\"dag\":\"some\",\"params\":{\"a\":{\"default\":1}},\"schedule\":\"@daily\",\"tasks\":{"
         "\"a\":{\"noop\":null}},\"timeout\":\"1h30m\",\"verdict\":\"leaves\"}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(mem_freep) char *answer = canonical(CASES[i].text);
        cr_expect_str_eq(answer, CASES[i].canonical, "%s\ngives\n%s\nnot\n%s", CASES[i].text,
                         answer, CASES[i].canonical);
    }
}

Test(spec, places_of_templates_are_kept)
{
    static const char TEXT[] = "defaults: { env: { T: '{{ ds }}' } }\n"
                               "tasks:\n"
                               "  a:\n"
                               "    run: |\n"
                               "      echo {{ ds }}\n"
                               "    env: { U: '{{ ds }}', V: plain }\n";
    CLEANUP(spec_file_freep) struct spec_file *file = spec_load_text("x", TEXT, strlen(TEXT));
    cr_assert_eq(file->diags.errors, 0);
    const struct dag *dag = file->dags[0];
    cr_expect_eq(dag->places_count, 3);
    cr_expect_eq(dag_find_place(dag, "tasks.a.run")->line, 5);
    cr_expect_eq(dag_find_place(dag, "tasks.a.run.deeper.still")->column, 10);
    cr_expect_eq(dag_find_place(dag, "tasks.a.env.U")->line, 6);
    cr_expect_eq(dag_find_place(dag, "defaults.env.T")->line, 1);
    cr_expect_null(dag_find_place(dag, "tasks.a.env.V"));
    cr_expect_null(dag_find_place(dag, "tasks.a.runs"));
    cr_expect_null(dag_find_place(dag, ""));
}

Test(spec, files_that_cannot_be_read_are_errors)
{
    struct spec_file *file = NULL;
    struct err err = {0};
    EXPECT_STATUS(STATUS_NOT_FOUND, spec_load_file("/nonexistent.yaml", &file, &err), &err);
    EXPECT_CONTAINS(err.text, "/nonexistent.yaml");
    EXPECT_STATUS(STATUS_INVALID, spec_load_file("/tmp", &file, &err), &err);
    EXPECT_STATUS(STATUS_INVALID, spec_load_file("/dev/null", &file, &err), &err);
    cr_expect_null(file);

    char path[] = "/tmp/test_spec.XXXXXX.yaml";
    int fd = mkstemps(path, 5);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, "tasks: {a: {noop: }}", 20), 20);
    EXPECT_OK(spec_load_file(path, &file, &err), &err);
    cr_expect_eq(file->dags_count, 1);
    cr_expect_eq(strncmp(file->dags[0]->id, "test_spec.", 10), 0, "%s", file->dags[0]->id);
    cr_expect_eq(file->dags[0]->id[strlen("test_spec.XXXXXX")], '\0');
    spec_file_free(TAKE(file));

    cr_assert_eq(ftruncate(fd, (off_t)LIMIT_FILE_BYTES + 1), 0);
    EXPECT_STATUS(STATUS_LIMIT, spec_load_file(path, &file, &err), &err);
    (void)close(fd);
    (void)unlink(path);
}

Test(spec, a_file_whose_name_cannot_be_an_id_says_so)
{
    static const char TEXT[] = "tasks: {a: {noop: }}\n";
    CLEANUP(spec_file_freep)
    struct spec_file *file = spec_load_text("/x/my dag.yaml", TEXT, strlen(TEXT));
    cr_assert_eq(file->diags.count, 1);
    EXPECT_CONTAINS(file->diags.items[0].text,
                    "the DAG has no id, and the file's name 'my dag' cannot be one");
}

/* Airflow's default_args has keys of the DAG beside those of its tasks. */
Test(spec, defaults_may_hold_what_belongs_to_the_dag)
{
    static const char TEXT[] = "default_args: {owner: ann, start_date: 2026-01-01, retries: 2,\n"
                               "  email: [a@example.com], email_on_failure: true}\n"
                               "schedule: '@daily'\n"
                               "tasks: {a: {run: x}}\n"
                               "---\n"
                               "dag: second\n"
                               "owner: bob\n"
                               "default_args: {owner: ann}\n"
                               "tasks: {a: {run: x}}\n";
    CLEANUP(spec_file_freep)
    struct spec_file *file = spec_load_text("some.yaml", TEXT, strlen(TEXT));
    cr_assert_eq(file->diags.count, 0, "%s",
                 file->diags.count > 0 ? file->diags.items[0].text : "");
    EXPECT_STR("ann", file->dags[0]->owner);
    EXPECT_STR("2026-01-01", json_get_string(file->dags[0]->rest, "start_date", ""));
    cr_assert_eq(file->dags[0]->tasks[0].retry.retries, 2);
    EXPECT_STR("bob", file->dags[1]->owner); /* what the DAG says itself counts more */

    static const char WRONG[] = "default_args: {owners: ann, start_date: soon}\n"
                                "groups: {g: {default_args: {owner: ann}, tasks: {a: {run: x}}}}\n"
                                "schedule: '@daily'\n";
    CLEANUP(spec_file_freep)
    struct spec_file *wrong = spec_load_text("some.yaml", WRONG, strlen(WRONG));
    cr_assert_eq(wrong->diags.errors, 3);
    EXPECT_CONTAINS(wrong->diags.items[0].text, "unknown key 'owners' of a task");
    EXPECT_CONTAINS(wrong->diags.items[1].text, "'start_date'");
    EXPECT_CONTAINS(wrong->diags.items[2].text, "unknown key 'owner' of a task");
}
