#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/humanize.h"
#include "cli/request.h"
#include "model/settings.h"

/* --- init --- */

static const char HELLO[] =
    "# A first DAG: `eider run hello`\n"
    "title: Hello\n"
    "params:\n"
    "  name: { type: string, default: world }\n"
    "tasks:\n"
    "  greet:\n"
    "    run: echo \"hello {{ params.name }}\"\n"
    "  count:\n"
    "    needs: [greet]\n"
    "    run: echo '[1, 2, 3]' > \"$EIDER_OUTPUTS/numbers\"\n"
    "  square:\n"
    "    needs: [count]\n"
    "    foreach: \"{{ tasks.count.numbers }}\"\n"
    "    run: echo \"{{ item }} squared is $(({{ item }} * {{ item }}))\"\n";

static const char IGNORE[] = ".eider/\n";

static enum status make_folder(const char *path, struct err *err)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return STATUS_OK;
    return err_errno(err, errno, "create folder '%s'", path);
}

static enum status write_new(const char *path, const char *text, struct err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST)
        return err_set(err, STATUS_CONFLICT, "'%s' exists already", path);
    if (fd < 0)
        return err_errno(err, errno, "create '%s'", path);
    size_t length = strlen(text);
    ssize_t written = write(fd, text, length);
    int problem = written < 0 ? errno : (size_t)written != length ? ENOSPC : 0;
    if (close(fd) != 0 && problem == 0)
        problem = errno;
    if (problem != 0)
        return err_errno(err, problem, "write '%s'", path);
    return STATUS_OK;
}

/* Every setting with its meaning and default, commented out: a file that changes nothing. */
static char *settings_template(void)
{
    struct strbuf text;
    strbuf_init(&text, 64 << 10);
    strbuf_add(&text, "# Settings of this project. `eider config list` shows what is in force.\n");
    for (enum setting_key i = 0; i < SETTING_COUNT; i++)
        if (!setting_is_personal(i))
            strbuf_addf(&text, "\n# %s\n# %s: %s\n", SETTINGS[i].help, SETTINGS[i].key,
                        SETTINGS[i].otherwise != NULL ? SETTINGS[i].otherwise : "8");
    return strbuf_take(&text);
}

static enum status check_absent(const char *path, struct err *err)
{
    struct stat status;
    if (lstat(path, &status) == 0)
        return err_set(err, STATUS_CONFLICT, "'%s' exists already; nothing was changed", path);
    return STATUS_OK;
}

static enum status create_project(const char *folder, struct err *err)
{
    CLEANUP(mem_freep) char *settings = settings_template();
    const struct {
        const char *name;
        const char *text;
    } files[] = {{"eider.yaml", settings}, {"dags/hello.yaml", HELLO}, {".gitignore", IGNORE}};

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        CLEANUP(mem_freep) char *path = mem_format("%s/%s", folder, files[i].name);
        if (check_absent(path, err) != STATUS_OK)
            return err->code;
    }
    CLEANUP(mem_freep) char *dags = mem_format("%s/dags", folder);
    if (make_folder(folder, err) != STATUS_OK || make_folder(dags, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        CLEANUP(mem_freep) char *path = mem_format("%s/%s", folder, files[i].name);
        if (write_new(path, files[i].text, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

int cmd_init(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    const char *folder = parsed->args_count > 0 ? parsed->args[0] : ".";
    if (folder[0] == '\0') {
        (void)err_set(&err, STATUS_INVALID, "init: the name is empty");
        return cli_fail(cli, &err);
    }
    if (create_project(folder, &err) != STATUS_OK) {
        (void)err_wrap(&err, "init");
        return cli_fail(cli, &err);
    }
    bool here = str_equal(folder, ".");
    cli_say(cli, "created eider.yaml, dags/hello.yaml and .gitignore%s%s", here ? "" : " in ",
            here ? "" : folder);
    cli_say(cli, "try: %s%s%seider run hello", here ? "" : "cd ", here ? "" : folder,
            here ? "" : " && ");
    return EXIT_CODE_DONE;
}

/* --- validate --- */

static void print_caret(FILE *out, const struct style *style, const json_t *problem)
{
    const char *source = json_get_string(problem, "source", NULL);
    int64_t column = json_get_int(problem, "column", 0);
    int64_t length = MAX(json_get_int(problem, "length", 1), (int64_t)1);
    int64_t line = json_get_int(problem, "line", 0);
    enum { SOURCE_COLUMNS = 160 };
    if (source == NULL || line <= 0 || column <= 0 || column > SOURCE_COLUMNS)
        return;
    struct strbuf text;
    strbuf_init(&text, 4096);
    humanize_add_text(&text, source, SOURCE_COLUMNS, style->utf8);
    (void)fprintf(out, "%6lld | %s\n       | %*s%s^", (long long)line, text.text, (int)column - 1,
                  "", style_color(style, TASK_FAILED));
    for (int64_t i = 1; i < length && column + i <= SOURCE_COLUMNS; i++)
        (void)fputc('~', out);
    (void)fprintf(out, "%s\n", style_reset(style));
    strbuf_fini(&text);
}

static void print_problem(struct cli *cli, const char *path, const json_t *problem)
{
    const struct style *style = &cli->output.style;
    FILE *out = cli->host.out;
    bool is_warning = str_equal(json_get_string(problem, "severity", "error"), "warning");
    int64_t line = json_get_int(problem, "line", 0);
    (void)fprintf(out, "%s%s", style_bold(style), path);
    if (line > 0)
        (void)fprintf(out, ":%lld:%lld", (long long)line,
                      (long long)json_get_int(problem, "column", 1));
    (void)fprintf(out, "%s: %s%s:%s %s\n", style_reset(style),
                  style_color(style, is_warning ? TASK_UPSTREAM_FAILED : TASK_FAILED),
                  is_warning ? "warning" : "error", style_reset(style),
                  json_get_string(problem, "message", "?"));
    print_caret(out, style, problem);
}

static void print_validation(struct cli *cli, const json_t *response)
{
    size_t i;
    json_t *file;
    json_array_foreach(json_object_get(response, "files"), i, file)
    {
        const char *path = json_get_string(file, "path", "?");
        size_t k;
        json_t *problem;
        json_array_foreach(json_object_get(file, "problems"), k, problem)
            print_problem(cli, path, problem);
        if (!json_get_bool(file, "ok", false))
            continue;
        int64_t tasks = json_get_int(file, "tasks_total", 0);
        (void)fprintf(cli->host.out, "%s: ok (%lld task%s)\n", path, (long long)tasks,
                      tasks == 1 ? "" : "s");
    }
}

static const struct column FILE_COLUMNS[] = {
    {"PATH", "path", COLUMN_TEXT, false},         {"OK", "ok", COLUMN_TEXT, false},
    {"DAGS", "dags", COLUMN_LIST, false},         {"TASKS", "tasks_total", COLUMN_NUMBER, false},
    {"PROBLEMS", "problems", COLUMN_JSON, false},
};
static const struct view VIEW_FILES = {
    .list = "files", .columns = FILE_COLUMNS, .columns_count = ARRAY_LEN(FILE_COLUMNS)};

int cmd_validate(struct cli *cli, const struct parsed *parsed)
{
    struct err err = {0};
    json_t *request = request_new();
    json_t *paths = json_array();
    json_t *response = NULL;
    for (size_t i = 0; i < parsed->args_count; i++)
        CHECK(json_array_append_new(paths, json_text(parsed->args[i], strlen(parsed->args[i]))) ==
              0);
    json_put(request, "paths", paths);
    if (cli_call(cli, "dag.validate", request, &response, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    if (cli->output.format == OUTPUT_TABLE || cli->output.format == OUTPUT_WIDE)
        print_validation(cli, response);
    else
        (void)output_print(&cli->output, &VIEW_FILES, response);
    int64_t errors = json_get_int(response, "errors", 0);
    if (errors > 0)
        cli_say(cli, "%lld error%s", (long long)errors, errors == 1 ? "" : "s");
    json_decref(response);
    return errors > 0 ? EXIT_CODE_BAD_DAG : EXIT_CODE_DONE;
}
