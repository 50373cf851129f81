/*
 * A store moves into another: everything arrives, nothing half, nobody holds anything any more.
 */
#include <fcntl.h>
#include <strings.h>
#include <sys/wait.h>

#include "base/rng.h"
#include "base/strbuf.h"
#include "os/file.h"
#include "store/job.h"
#include "store/move.h"
#include "store/move_tables.h"
#include "store_bench.h"

static struct bench_store bench;
static struct bench_store target;
static char export_dir[] = "/tmp/eider-move-XXXXXX";

static void setup(void)
{
    bench = (struct bench_store){0};
    target = (struct bench_store){0};
    bench_open(&bench);
    bench_open(&target);
    cr_assert_not_null(mkdtemp(export_dir));
}

static const char *export_path(void)
{
    return arena_format(bench.arena, "%s/export", export_dir);
}

static void teardown(void)
{
    (void)unlink(export_path());
    (void)rmdir(export_dir);
    bench_close(&target);
    bench_close(&bench);
}

TestSuite(move, .init = setup, .fini = teardown, .timeout = 120);

static struct store_options options_of(const struct bench_store *of, enum db_mode mode)
{
    return (struct store_options){.url = of->url, .mode = mode, .now_us = bench_clock};
}

static struct move_result export_to_file(const struct move_files *files)
{
    struct err err = {0};
    struct move_result result;
    struct store_options options = options_of(&bench, DB_READ_ONLY);
    CLEANUP(file_closep) int fd = open(export_path(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    EXPECT_OK(store_export(&options, fd, files, &result, &err), &err);
    return result;
}

static enum status import_fd(int fd, struct move_result *result, struct err *err)
{
    struct store_options options = options_of(&target, DB_READ_WRITE);
    *err = (struct err){0};
    return store_import(&options, fd, "mover", &(struct move_files){0}, result, err);
}

static enum status import_file(struct move_result *result, struct err *err)
{
    CLEANUP(file_closep) int fd = open(export_path(), O_RDONLY | O_CLOEXEC);
    return import_fd(fd, result, err);
}

static int64_t ask(const struct bench_store *of, const char *sql)
{
    struct err err = {0};
    CLEANUP(db_closep) struct db *db = NULL;
    int64_t answer = 0;
    EXPECT_OK(db_open(of->url, DB_READ_ONLY, &db, &err), &err);
    EXPECT_OK(db_get_int(db, -1, &answer, &err, sql, ""), &err);
    return answer;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All rows of a statement as one text, sorted, the same on every database. */
static const char *dump(const struct bench_store *of, const char *sql, size_t columns)
{
    struct err err = {0};
    CLEANUP(db_closep) struct db *db = NULL;
    struct db_stmt *stmt = NULL;
    const char *rows[400];
    size_t count = 0;
    EXPECT_OK(db_open(of->url, DB_READ_ONLY, &db, &err), &err);
    EXPECT_OK(db_query(db, &stmt, &err, sql, ""), &err);
    for (enum status status = STATUS_OK; db_next(stmt, &status, &err);) {
        const char *row = "";
        for (size_t i = 0; i < columns; i++)
            row = arena_format(bench.arena, "%s|%s", row,
                               db_is_null(stmt, (int)i) ? "null" : db_text(stmt, (int)i));
        cr_assert_lt(count, ARRAY_LEN(rows));
        rows[count++] = row;
    }
    qsort(rows, count, sizeof *rows, by_text);
    const char *all = "";
    for (size_t i = 0; i < count; i++)
        all = arena_format(bench.arena, "%s%s\n", all, rows[i]);
    return all;
}

/* Numbers and texts as they are, bytes by their hexadecimal form. */
static const char *dump_table(const struct bench_store *of, const struct move_table *table)
{
    struct move_columns columns;
    bool is_sqlite = strncmp(of->url, "sqlite:", 7) == 0;
    const char *list = "";
    size_t count = 0;
    move_table_columns(table, is_sqlite ? DB_SQLITE : DB_POSTGRES, bench.arena, &columns);
    for (size_t i = 0; i < columns.count; i++) {
        const struct move_column *column = &columns.items[i];
        const char *as_text = arena_format(bench.arena, "CAST(%s AS TEXT)", column->name);
        if (column->letter == 'b')
            as_text = is_sqlite
                          ? arena_format(bench.arena,
                                         "CASE WHEN %s IS NULL THEN NULL ELSE lower(hex(%s)) END",
                                         column->name, column->name)
                          : arena_format(bench.arena, "encode(%s, 'hex')", column->name);
        if (!column->stays)
            list = arena_format(bench.arena, "%s%s%s", list, count++ == 0 ? "" : ", ", as_text);
    }
    return dump(of, arena_format(bench.arena, "SELECT %s FROM %s", list, table->name), count);
}

static const char DAG[] =
    "{\"dag_id\": \"d\", \"tasks\": {"
    "\"a\": {\"run\": \"true\", \"retries\": 2}, \"b\": {\"run\": \"true\", \"retries\": 2},"
    "\"c\": {\"run\": \"true\", \"needs\": [\"a\", \"b\"]},"
    "\"m\": {\"run\": \"true\", \"foreach\": [1, 2, 3], \"needs\": [\"a\"]}}}";

/* One run at its end and one in the middle: something runs, waits, is due, has a value. */
static void fill(void)
{
    bench_start(&bench, DAG);
    struct bench_script script[] = {{.task = "m", .expand = 3}, {0}};
    cr_assert_eq(bench_drain(&bench, script, 4), RUN_SUCCESS);
    bench_start(&bench, DAG);
    struct advance_result first = bench_advance(&bench, NULL, 0, 2);
    cr_assert_eq(first.claims_count, 2);
    struct outcome outcome = bench_outcome(&first.claims[0], 1);
    struct outcome_value value = {.key = "k", .json = "\"\\u00e4\\n\"", .bytes = 8};
    outcome.detail = "two\nlines \xc3\xa4 \"quoted\"";
    outcome.values = &value;
    outcome.values_count = 1;
    (void)bench_advance(&bench, &outcome, 1, 0);
    struct err err = {0};
    struct job_created job;
    struct job_request request = {.queue = "default",
                                  .handler = "$ true",
                                  .payload = "{\"a\": \"\\u00e4\"}",
                                  .dedupe = "once",
                                  .actor = "test"};
    EXPECT_OK(store_jobs_enqueue(bench.store, &request, 1, &job, NULL, &err), &err);
}

/* --- the list -------------------------------------------------------------------------------- */

static const char *listed_columns(const char *table, enum db_dialect dialect)
{
    struct move_columns columns;
    const char *list = "";
    const struct move_table *known = move_table_find(table);
    cr_assert_not_null(known, "table '%s' is not in the list of move_tables.c", table);
    move_table_columns(known, dialect, bench.arena, &columns);
    for (size_t i = 0; i < columns.count; i++)
        list = arena_format(bench.arena, "%s%s:%c ", list, columns.items[i].name,
                            columns.items[i].letter);
    return list;
}

/* "name:letter " of each column in both, whatever the order. */
static void expect_same_columns(const char *table, const char *listed, const char *real)
{
    const char *const SIDES[][2] = {{listed, real}, {real, listed}};
    for (size_t side = 0; side < 2; side++)
        for (const char *at = SIDES[side][0]; *at != '\0'; at += strcspn(at, " ") + 1) {
            const char *word = arena_format(bench.arena, " %.*s ", (int)strcspn(at, " "), at);
            const char *other = arena_format(bench.arena, " %s", SIDES[side][1]);
            cr_assert_not_null(strstr(other, word), "table '%s', column%sis missing %s", table,
                               word, side == 0 ? "in the schema" : "in the list");
        }
}

static char letter_of_type(const char *type)
{
    if (strcasecmp(type, "text") == 0)
        return 't';
    return strcasecmp(type, "blob") == 0 || strcasecmp(type, "bytea") == 0 ? 'b' : 'i';
}

static const char SQLITE_COLUMNS[] =
    "SELECT m.name, c.name, c.type FROM sqlite_master m, pragma_table_info(m.name) c"
    " WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name";
static const char POSTGRES_COLUMNS[] =
    "SELECT table_name::text, column_name::text, data_type::text FROM information_schema.columns"
    " WHERE table_schema = current_schema() AND table_name NOT IN (SELECT table_name"
    " FROM information_schema.views WHERE table_schema = current_schema()) ORDER BY table_name";

Test(move, the_list_is_the_schema_of_the_database)
{
    struct err err = {0};
    CLEANUP(db_closep) struct db *db = NULL;
    struct db_stmt *stmt = NULL;
    size_t tables = 0;
    EXPECT_OK(db_open(bench.url, DB_READ_ONLY, &db, &err), &err);
    enum db_dialect dialect = db_dialect(db);
    EXPECT_OK(
        db_query(db, &stmt, &err, dialect == DB_SQLITE ? SQLITE_COLUMNS : POSTGRES_COLUMNS, ""),
        &err);
    const char *table = "";
    const char *real = "";
    enum status status = STATUS_OK;
    for (bool more = true; more;) {
        more = db_next(stmt, &status, &err);
        const char *name = more ? db_text(stmt, 0) : "";
        if (strcmp(name, table) != 0) {
            if (table[0] != '\0')
                expect_same_columns(table, listed_columns(table, dialect), real);
            tables += table[0] != '\0';
            table = arena_strdup(bench.arena, name);
            real = "";
        }
        if (more)
            real = arena_format(bench.arena, "%s%s:%c ", real, db_text(stmt, 1),
                                letter_of_type(db_text(stmt, 2)));
    }
    EXPECT_OK(status, &err);
    for (const struct move_table *known = MOVE_TABLES; known->name != NULL; known++, tables--)
        cr_assert_gt(tables, 0, "a table of the list is not in the schema");
    cr_assert_eq(tables, 0);
}

extern const char *const POSTGRES_MIGRATIONS[];

/*
 * The columns between "CREATE TABLE name (" and ")": four blanks, a lower-case name, a type; then
 * those that were added.
 */
static const char *written_columns(const char *sql, const char *table)
{
    const char *begin = arena_format(bench.arena, "CREATE TABLE %s (\n", table);
    const char *at = strstr(sql, begin);
    const char *list = "";
    cr_assert_not_null(at, "no table '%s'", table);
    for (at += strlen(begin); *at == ' '; at = strchr(at, '\n') + 1) {
        char name[64];
        char type[64];
        if (sscanf(at, " %63s %63[A-Z0-9]", name, type) == 2 && name[0] >= 'a')
            list = arena_format(bench.arena, "%s%s:%c ", list, name, letter_of_type(type));
    }
    const char *added = arena_format(bench.arena, "ALTER TABLE %s ADD COLUMN ", table);
    for (at = sql; (at = strstr(at, added)) != NULL;) {
        char name[64];
        char type[64];
        at += strlen(added);
        cr_assert_eq(sscanf(at, "%63s %63[A-Z0-9]", name, type), 2);
        list = arena_format(bench.arena, "%s%s:%c ", list, name, letter_of_type(type));
    }
    return list;
}

Test(move, the_list_is_the_schema_of_postgresql)
{
    const char *sql = "";
    for (size_t i = 0; POSTGRES_MIGRATIONS[i] != NULL; i++)
        sql = arena_format(bench.arena, "%s%s\n", sql, POSTGRES_MIGRATIONS[i]);
    for (const struct move_table *known = MOVE_TABLES; known->name != NULL; known++)
        expect_same_columns(known->name, listed_columns(known->name, DB_POSTGRES),
                            written_columns(sql, known->name));
    for (const char *at = sql; (at = strstr(at, "CREATE TABLE ")) != NULL; at++) {
        char name[64];
        cr_assert_eq(sscanf(at, "CREATE TABLE %63s", name), 1);
        cr_assert_not_null(move_table_find(name), "table '%s' is not in the list", name);
    }
}

/* --- there ----------------------------------------------------------------------------------- */

static void expect_all_tables_same(void)
{
    for (const struct move_table *table = MOVE_TABLES; table->name != NULL; table++) {
        if (table->stays || strcmp(table->name, "host") == 0 || strcmp(table->name, "event") == 0)
            continue;
        EXPECT_STR(dump_table(&bench, table), dump_table(&target, table));
    }
    cr_assert_eq(ask(&target, "SELECT count(*) FROM event"),
                 ask(&bench, "SELECT count(*) FROM event") + 1, "and the import itself");
}

STORE_TEST(move, everything_arrives_and_nobody_holds_anything)
{
    struct err err = {0};
    struct move_result result;
    struct store_info before;
    struct store_info after;
    fill();
    cr_assert_gt(ask(&bench, "SELECT count(*) FROM timer"), 0);
    cr_assert_gt(ask(&bench, "SELECT count(*) FROM running"), 0);
    cr_assert_gt(ask(&bench, "SELECT count(*) FROM attempt"), 0);
    cr_assert_gt(ask(&bench, "SELECT count(*) FROM job"), 0);
    cr_assert_gt(ask(&bench, "SELECT count(*) FROM ready"), 0);

    struct move_result sent = export_to_file(&(struct move_files){0});
    EXPECT_OK(import_file(&result, &err), &err);

    expect_all_tables_same();
    EXPECT_OK(store_describe(bench.store, &before, &err), &err);
    EXPECT_OK(store_describe(target.store, &after, &err), &err);
    EXPECT_STR(before.uuid, after.uuid);
    EXPECT_STR(before.uuid, result.uuid);
    cr_assert_eq(after.epoch, before.epoch + 1);
    cr_assert_eq(result.epoch, after.epoch);
    cr_assert_eq(result.rows, sent.rows);
    cr_assert_eq(result.bytes, sent.bytes);
    static const char STORE[] = "SELECT CAST(schema AS TEXT), CAST(next_run AS TEXT),"
                                " CAST(next_task AS TEXT), fleet, CAST(created_at_us AS TEXT)"
                                " FROM store";
    EXPECT_STR(dump(&bench, STORE, 5), dump(&target, STORE, 5));
    cr_assert_eq(ask(&target, "SELECT count(*) FROM running r WHERE NOT EXISTS"
                              " (SELECT 1 FROM host h WHERE h.id = r.host AND h.ended_at_us > 0)"),
                 0, "what runs belongs to hosts that ended");
    struct check_report report;
    EXPECT_OK(store_check(target.store, &report, &err), &err);
    cr_assert_eq(report.count, 0, "%s", report.findings[0].rule);
}

/* Only where there is a server: from it into a file, and from the file into it. */
STORE_TEST(move, a_store_moves_between_databases)
{
    struct err err = {0};
    struct move_result result;
    if (!db_bench_is_postgres())
        cr_skip("no server");
    fill();
    struct bench_store server = target;
    target = (struct bench_store){0};
    cr_assert_eq(setenv("EIDER_TEST_DATABASE", "sqlite", 1), 0);
    bench_open(&target);
    (void)export_to_file(&(struct move_files){0});
    EXPECT_OK(import_file(&result, &err), &err);
    expect_all_tables_same();

    struct bench_store origin = bench;
    bench = target;
    target = server;
    (void)export_to_file(&(struct move_files){0});
    EXPECT_OK(import_file(&result, &err), &err);
    expect_all_tables_same();
    cr_assert_eq(result.epoch, 3);
    bench_close(&bench);
    bench = origin;
    /* Rows that the server numbers go on behind those that came in. */
    bench_start(&target, DAG);
}

static bool nobody_is_alive(void *context, int64_t host)
{
    (void)context;
    (void)host;
    return false;
}

STORE_TEST(move, a_run_goes_on_where_it_was)
{
    struct err err = {0};
    struct move_result result;
    int64_t lost = 0;
    fill();
    (void)export_to_file(&(struct move_files){0});
    EXPECT_OK(import_file(&result, &err), &err);

    EXPECT_OK(store_recover(target.store, 0, nobody_is_alive, NULL, &lost, &err), &err);
    cr_assert_eq(lost, 1);
    target.run = bench.run;
    EXPECT_OK(store_version_dag(target.store, ask(&target, "SELECT max(id) FROM version"),
                                &target.dag, &err),
              &err);
    struct bench_script script[] = {{.task = "m", .expand = 3}, {0}};
    cr_assert_eq(bench_drain(&target, script, 4), RUN_SUCCESS);
    int64_t number = target.run.id;
    bench_start(&target, DAG);
    cr_assert_eq(target.run.id, number + 1, "numbers go on as well");
}

STORE_TEST(move, an_export_is_the_state_of_one_instant)
{
    struct err err = {0};
    struct move_result result;
    struct move_files files = {0};
    /* A DAG text longer than the pipe and all buffers: there the export stops until we read on. */
    fill();
    bench_start(&bench, arena_format(bench.arena, "%s%*s", DAG, 200000, " "));
    int64_t runs = ask(&bench, "SELECT count(*) FROM run");
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_geq(fcntl(ends[1], F_SETPIPE_SZ, 4096), 0);
    pid_t child = fork();
    if (child == 0) {
        struct store_options options = options_of(&bench, DB_READ_ONLY);
        (void)close(ends[0]);
        _exit(store_export(&options, ends[1], &files, &result, &err) == STATUS_OK ? 0 : 1);
    }
    (void)close(ends[1]);
    char byte = 0;
    cr_assert_eq(read(ends[0], &byte, 1), 1, "it has begun, and has not come to the runs");
    CLEANUP(file_closep) int fd = open(export_path(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    EXPECT_OK(file_write_fd(fd, "export", &byte, 1, &err), &err);
    bench_start(&bench, DAG);
    char buffer[4096];
    for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
        EXPECT_OK(file_write_fd(fd, "export", buffer, (size_t)got, &err), &err);
    int status = 0;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);

    EXPECT_OK(import_file(&result, &err), &err);
    cr_assert_eq(ask(&target, "SELECT count(*) FROM run"), runs);
    cr_assert_eq(ask(&bench, "SELECT count(*) FROM run"), runs + 1);
}

/* --- refused --------------------------------------------------------------------------------- */

static void expect_untouched(void)
{
    cr_assert_eq(ask(&target, "SELECT (SELECT count(*) FROM run) + (SELECT count(*) FROM task)"
                              " + (SELECT count(*) FROM dag) + (SELECT count(*) FROM event)"),
                 0);
    cr_assert_eq(ask(&target, "SELECT epoch FROM store"), 1);
    cr_assert_eq(ask(&target, "SELECT count(*) FROM queue"), 1);
}

static void write_export(const char *bytes, size_t length)
{
    struct err err = {0};
    CLEANUP(file_closep) int fd = open(export_path(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    EXPECT_OK(file_write_fd(fd, "export", bytes, length, &err), &err);
}

/* From a pipe, which cannot be read twice. */
static enum status import_piped(struct err *err)
{
    struct move_result result;
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        char *bytes = NULL;
        size_t length = 0;
        (void)close(ends[0]);
        bool fine = file_read(export_path(), 1 << 20, &bytes, &length, err) == STATUS_OK &&
                    file_write_fd(ends[1], "pipe", bytes, length, err) == STATUS_OK;
        _exit(fine ? 0 : 1);
    }
    (void)close(ends[1]);
    enum status status = import_fd(ends[0], &result, err);
    (void)close(ends[0]);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    return status;
}

STORE_TEST(move, a_cut_or_altered_export_changes_nothing)
{
    struct err err = {0};
    struct move_result result;
    char *bytes = NULL;
    size_t length = 0;
    fill();
    (void)export_to_file(&(struct move_files){0});
    EXPECT_OK(file_read(export_path(), 1 << 20, &bytes, &length, &err), &err);

    for (int round = 0; round < 40; round++) {
        size_t at = rng_below(length);
        write_export(bytes, at);
        cr_assert_neq(import_file(&result, &err), STATUS_OK, "cut at %zu", at);
        cr_assert_neq(import_piped(&err), STATUS_OK, "cut at %zu", at);
        expect_untouched();
        char kept = bytes[at];
        bytes[at] = (char)(bytes[at] ^ (1 << rng_below(7)));
        write_export(bytes, length);
        cr_assert_neq(import_file(&result, &err), STATUS_OK, "altered at %zu", at);
        cr_assert_neq(import_piped(&err), STATUS_OK, "altered at %zu", at);
        expect_untouched();
        bytes[at] = kept;
    }
    char *rows = strstr(strstr(bytes, "{\"end\":"), "rows");
    rows[0] = 's'; /* the line with the hash is not part of it */
    write_export(bytes, length);
    EXPECT_STATUS(STATUS_CORRUPT, import_file(&result, &err), &err);
    rows[0] = 'r';
    write_export(bytes, length - 1);
    EXPECT_STATUS(STATUS_CORRUPT, import_file(&result, &err), &err);
    EXPECT_CONTAINS(err.text, "cut");
    char *longer = mem_format("%sx", bytes);
    write_export(longer, length + 1);
    EXPECT_STATUS(STATUS_CORRUPT, import_file(&result, &err), &err);
    EXPECT_CONTAINS(err.text, "follows");
    write_export(bytes, length);
    EXPECT_OK(import_piped(&err), &err);
    expect_all_tables_same();
    free(longer);
    free(bytes);
}

STORE_TEST(move, a_store_with_something_in_it_is_left_alone)
{
    struct err err = {0};
    struct move_result result;
    fill();
    (void)export_to_file(&(struct move_files){0});
    bench_start(&target, DAG);

    EXPECT_STATUS(STATUS_CONFLICT, import_file(&result, &err), &err);
    EXPECT_CONTAINS(err.text, "1 runs and 0 jobs");
    cr_assert_eq(ask(&target, "SELECT count(*) FROM run"), 1);
}

STORE_TEST(move, what_is_not_an_export_or_too_new_is_told)
{
    static const struct {
        const char *text;
        enum status status;
        const char *part;
    } CASES[] = {
        {"", STATUS_CORRUPT, "cut"},
        {"hello\n", STATUS_INVALID, "not an export"},
        {"[1]\n", STATUS_INVALID, "not an export"},
        {"{\"eider_export\":1}\n", STATUS_INVALID, "not an export"},
        {"{\"eider_export\":1,\"schema\":999,\"store\":{},"
         "\"uuid\":\"00000000-0000-0000-0000-000000000000\"}\n",
         STATUS_CONFLICT, "newer program"},
        {"{\"eider_export\":2,\"schema\":1,\"store\":{},"
         "\"uuid\":\"00000000-0000-0000-0000-000000000000\"}\n",
         STATUS_CONFLICT, "newer program"},
    };
    struct err err = {0};
    struct move_result result;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        write_export(CASES[i].text, strlen(CASES[i].text));
        EXPECT_STATUS(CASES[i].status, import_file(&result, &err), &err);
        EXPECT_CONTAINS(err.text, CASES[i].part);
    }
    expect_untouched();
}
