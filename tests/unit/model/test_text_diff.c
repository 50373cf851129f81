/*
 * Differences between texts, and between what DAGs mean.
 */
#include "base/mem.h"
#include "expect.h"
#include "model/dag_diff.h"
#include "model/dag_files.h"
#include "model/dag_read.h"
#include "model/dag_write.h"
#include "model/text_diff.h"
#include "read_dag.h"

static char *diff_of(const char *before, const char *after)
{
    struct strbuf out;
    strbuf_init(&out, 1 << 20);
    text_diff(&(struct diff_text){"old", before}, &(struct diff_text){"new", after}, &out);
    return strbuf_take(&out);
}

Test(text_diff, hunks_show_what_went_and_what_came)
{
    static const struct {
        const char *before, *after, *wanted;
    } CASES[] = {
        {"a\n", "a\n", ""},
        {"", "a\n", "--- old\n+++ new\n@@ -0,0 +1,1 @@\n+a\n"},
        {"a\n", "", "--- old\n+++ new\n@@ -1,1 +0,0 @@\n-a\n"},
        {"a\nb\nc\n", "a\nx\nc\n", "--- old\n+++ new\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
        {"a\nb\n", "b\na\n", "--- old\n+++ new\n@@ -1,2 +1,2 @@\n-a\n b\n+a\n"},
        {"a", "a\n", "--- old\n+++ new\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"},
        {"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
         "--- old\n+++ new\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
        {"a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
         "--- old\n+++ new\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n"
         "@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        char *got = diff_of(CASES[i].before, CASES[i].after);
        cr_expect_str_eq(got, CASES[i].wanted, "case %zu:\n%s", i, got);
        free(got);
    }
}

/* Every line of the new text is in the diff as kept or added, in order; the same for the old. */
static void expect_complete(const char *diff, const char *before, const char *after)
{
    struct strbuf old;
    struct strbuf new;
    strbuf_init(&old, 1 << 20);
    strbuf_init(&new, 1 << 20);
    for (const char *at = diff; *at != '\0';) {
        size_t length = strcspn(at, "\n") + 1;
        bool is_head = strncmp(at, "--- ", 4) == 0 || strncmp(at, "+++ ", 4) == 0 || *at == '@';
        if (!is_head && *at != '+')
            strbuf_add_bytes(&old, at + 1, length - 1);
        if (!is_head && *at != '-')
            strbuf_add_bytes(&new, at + 1, length - 1);
        at += length;
    }
    EXPECT_STR(before, old.text);
    EXPECT_STR(after, new.text);
    strbuf_fini(&old);
    strbuf_fini(&new);
}

Test(text_diff, texts_without_anything_in_common_are_shown_one_after_the_other)
{
    struct strbuf before;
    struct strbuf after;
    strbuf_init(&before, 1 << 20);
    strbuf_init(&after, 1 << 20);
    for (int i = 0; i < 3000; i++) {
        strbuf_addf(&before, "b%d\n", i);
        strbuf_addf(&after, "a%d\n", i);
    }
    char *got = diff_of(before.text, after.text);
    expect_complete(got, before.text, after.text);
    free(got);
    strbuf_fini(&before);
    strbuf_fini(&after);
}

Test(dag_diff, tells_tasks_and_keys_that_differ)
{
    CLEANUP(dag_freep)
    struct dag *before = read_dag("{\"owner\": \"ann\", \"tasks\": {\"a\": {\"run\": \"x\"},"
                                  " \"b\": {\"run\": \"y\", \"retries\": 2},"
                                  " \"s\": {\"script\": {\"file\": \"s.sh\"}}}}");
    CLEANUP(dag_freep)
    struct dag *after = read_dag("{\"title\": \"T\", \"tasks\": {\"c\": {\"run\": \"x\"},"
                                 " \"b\": {\"run\": \"z\", \"needs\": [\"c\"]},"
                                 " \"s\": {\"script\": {\"file\": \"s.sh\"}}}}");
    dag_add_file(before, "s.sh", "one", 3);
    dag_add_file(after, "s.sh", "two", 3);
    CLEANUP(json_decrefp) json_t *changes = dag_diff(before, after);
    CLEANUP(mem_freep) char *text = json_format(changes);
    EXPECT_STR("[{\"keys\":[\"owner\",\"title\",\"file s.sh\"],\"task\":null,\"what\":\"changed\"},"
               "{\"keys\":[],\"task\":\"a\",\"what\":\"removed\"},"
               "{\"keys\":[\"needs\",\"retries\",\"run\"],\"task\":\"b\",\"what\":\"changed\"},"
               "{\"keys\":[],\"task\":\"c\",\"what\":\"added\"}]",
               text);
    CLEANUP(json_decrefp) json_t *none = dag_diff(after, after);
    cr_assert_eq(json_array_size(none), 0);
}

Test(dag_files, are_a_part_of_the_meaning)
{
    static const char TEXT[] =
        "{\"tasks\": {\"a\": {\"script\": {\"file\": \"z.sh\"}}, \"b\": {\"script\": {\"file\": "
        "\"a.sh\"}}, \"c\": {\"script\": {\"file\": \"z.sh\"}}, \"d\": {\"script\": {\"file\": "
        "\"{{ ds }}.sh\"}}, \"e\": {\"script\": \"true\"}}}";
    char bare[SHA256_HEX_MAX];
    char first[SHA256_HEX_MAX];
    char again[SHA256_HEX_MAX];
    const struct file_name *names = NULL;
    CLEANUP(dag_freep) struct dag *dag = read_dag(TEXT);
    (void)dag_hash(dag, bare);
    cr_assert_eq(dag_file_names(dag, &names), 2, "each once, and none with a template");
    EXPECT_STR("a.sh", names[0].name);
    EXPECT_STR("z.sh", names[1].name);
    EXPECT_STR("tasks.b.script.file", names[0].place);
    dag_add_file(dag, "z.sh", "zett\n", 5);
    dag_add_file(dag, "a.sh", "ah\n", 3);
    (void)dag_hash(dag, first);
    cr_assert_str_neq(bare, first);
    EXPECT_STR("a.sh", dag->files[0].name);
    cr_assert_null(dag_find_file(dag, "b.sh"));

    CLEANUP(json_decrefp) json_t *tree = dag_write(dag);
    CLEANUP(mem_freep) char *canonical = json_format(tree);
    CLEANUP(dag_freep) struct dag *stored = read_dag(canonical);
    (void)dag_hash(stored, again);
    EXPECT_STR(first, again);
    cr_assert_null(dag_find_file(stored, "z.sh")->bytes);
    EXPECT_STR(dag_find_file(dag, "z.sh")->hash, dag_find_file(stored, "z.sh")->hash);
}
