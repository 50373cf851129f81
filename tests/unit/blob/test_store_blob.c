/*
 * Blobs inside a store.
 */
#include <malloc.h>

#include "base/mem.h"
#include "base/rng.h"
#include "blob/log_reader.h"
#include "blob/store_blob.h"
#include "os/file.h"
#include "os/file_tree.h"
#include "os/thread.h"
#include "store_bench.h"

static struct bench_store bench;
static struct blob *blob;
static const struct blob_key KEY = {.kind = BLOB_LOG, .ids = {1, 2, 3}, .id_count = 3};

static void set_up(void)
{
    bench = (struct bench_store){0};
    bench_open(&bench);
    blob_open_store(bench.store, &blob);
}

static void tear_down(void)
{
    blob_close(blob);
    bench_close(&bench);
}

TestSuite(store_blob, .init = set_up, .fini = tear_down);

static struct blob_handle *opened(struct blob *from, enum blob_mode mode)
{
    struct err err = {0};
    struct blob_handle *handle = NULL;
    EXPECT_OK(blob_open(from, &KEY, mode, &handle, &err), &err);
    return handle;
}

static bool is_sealed(struct blob_handle *handle)
{
    struct err err = {0};
    bool sealed = false;
    EXPECT_OK(blob_is_sealed(handle, &sealed, &err), &err);
    return sealed;
}

/* Ranges of chance, the whole and the end must be those of `bytes`. */
static void expect_bytes(struct blob_handle *reader, const char *bytes, size_t length)
{
    struct err err = {0};
    CLEANUP(mem_freep) char *got_bytes = mem_alloc(length + 10);
    size_t got = 0;
    uint64_t size = 0;
    EXPECT_OK(blob_size(reader, &size, &err), &err);
    cr_assert_eq(size, length);
    EXPECT_OK(blob_range(reader, 0, got_bytes, length + 10, &got, &err), &err);
    cr_assert_eq(got, length);
    cr_assert_eq(memcmp(got_bytes, bytes, length), 0);
    for (int i = 0; i < 20; i++) {
        size_t from = rng_below(length + 2);
        size_t wanted = rng_below(length + 2);
        size_t expected = from > length ? 0 : MIN(wanted, length - from);
        EXPECT_OK(blob_range(reader, from, got_bytes, wanted, &got, &err), &err);
        cr_assert_eq(got, expected, "%zu bytes from %zu of %zu", wanted, from, length);
        cr_assert_eq(memcmp(got_bytes, bytes + MIN(from, length), got), 0);
    }
    EXPECT_OK(blob_tail(reader, got_bytes, 100, &got, &err), &err);
    cr_assert_eq(got, MIN(length, (size_t)100));
    cr_assert_eq(memcmp(got_bytes, bytes + length - got, got), 0);
}

static void fill(char *bytes, size_t length, bool random)
{
    rng_bytes(bytes, length);
    for (size_t i = 0; !random && i < length; i++)
        bytes[i] = "some words of a log\n"[(unsigned char)bytes[i] % 20];
}

/* Against an array of bytes, with pieces of every size, that pack well or not at all. */
Test(store_blob, whatever_is_appended_is_read_before_and_after_sealing)
{
    enum { BYTES = 900000 };
    struct err err = {0};
    CLEANUP(mem_freep) char *bytes = mem_alloc(BYTES);
    for (int round = 0; round < 6; round++) {
        size_t piece_max = (size_t[]){300, 70000, 500000}[round % 3];
        size_t length = 0;
        fill(bytes, BYTES, round >= 3);
        struct blob_handle *writer = opened(blob, BLOB_APPEND);
        struct blob_handle *reader = NULL;
        for (int appends = 0; appends < 200 && length + piece_max <= BYTES; appends++) {
            size_t piece = rng_below(piece_max) + 1;
            EXPECT_OK(blob_append(writer, bytes + length, piece, &err), &err);
            length += piece;
            if (reader == NULL)
                reader = opened(blob, BLOB_READ);
            if (appends % 16 == 0)
                expect_bytes(reader, bytes, length);
        }
        expect_bytes(reader, bytes, length);
        cr_assert_not(is_sealed(reader));

        EXPECT_OK(blob_seal(writer, &err), &err);
        expect_bytes(reader, bytes, length);
        cr_assert(is_sealed(reader));
        blob_handle_close(reader);
        reader = opened(blob, BLOB_READ);
        expect_bytes(reader, bytes, length);
        blob_handle_close(reader);
        blob_handle_close(writer);
        EXPECT_OK(blob_delete(blob, &KEY, &err), &err);
    }
}

static int64_t count(const char *sql)
{
    struct err err = {0};
    struct db *db = NULL;
    int64_t number = -1;
    EXPECT_OK(db_open(bench.url, DB_READ_ONLY, &db, &err), &err);
    EXPECT_OK(db_get_int(db, 0, &number, &err, sql, ""), &err);
    db_close(db);
    return number;
}

Test(store_blob, sealing_makes_few_small_pieces_of_many)
{
    struct err err = {0};
    struct blob_handle *writer = opened(blob, BLOB_APPEND);
    char line[1000];
    memset(line, 'x', sizeof line);
    for (int i = 0; i < 600; i++)
        EXPECT_OK(blob_append(writer, line, sizeof line, &err), &err);
    cr_assert_eq(count("SELECT count(*) FROM chunk"), 600);
    EXPECT_OK(blob_seal(writer, &err), &err);
    blob_handle_close(writer);
    cr_assert_eq(count("SELECT count(*) FROM chunk"), 4);
    cr_assert_eq(count("SELECT count(*) FROM chunk WHERE form = 0"), 0);
    cr_assert_lt(count("SELECT sum(length(bytes)) FROM chunk"), 6000);
}

Test(store_blob, a_repeated_append_adds_nothing_and_another_one_is_refused)
{
    struct err err = {0};
    struct store_blob_piece piece = {.key = KEY, .bytes = "hello", .length = 5};
    struct store_blob_piece next = {.key = KEY, .offset = 5, .bytes = " world", .length = 6};
    struct store_blob_piece both[] = {piece, next};
    EXPECT_OK(store_blob_append(bench.store, &piece, 1, &err), &err);
    EXPECT_OK(store_blob_append(bench.store, &piece, 1, &err), &err);
    EXPECT_OK(store_blob_append(bench.store, both, 2, &err), &err);
    EXPECT_OK(store_blob_append(bench.store, both, 2, &err), &err);

    static const struct store_blob_piece OTHERS[] = {
        {.key = KEY, .bytes = "HELLO", .length = 5},
        {.key = KEY, .bytes = "hell", .length = 4},
        {.key = KEY, .offset = 3, .bytes = "lo", .length = 2},
        {.key = KEY, .offset = 12, .bytes = "gap", .length = 3},
        {.key = KEY, .offset = 5, .ends = true},
    };
    for (size_t i = 0; i < ARRAY_LEN(OTHERS); i++) {
        /* All or none: the good piece before it is not kept either. */
        struct store_blob_piece good = {.key = KEY, .offset = 11, .bytes = "!", .length = 1};
        struct store_blob_piece mixed[] = {good, OTHERS[i]};
        if (OTHERS[i].offset == 12)
            mixed[0] = piece;
        EXPECT_STATUS(STATUS_CONFLICT, store_blob_append(bench.store, mixed, 2, &err), &err);
    }
    struct store_blob_piece end = {.key = KEY, .offset = 11, .ends = true};
    EXPECT_OK(store_blob_append(bench.store, &end, 1, &err), &err);
    EXPECT_OK(store_blob_append(bench.store, &end, 1, &err), &err);
    struct store_blob_piece late = {.key = KEY, .offset = 11, .bytes = "x", .length = 1};
    EXPECT_STATUS(STATUS_CONFLICT, store_blob_append(bench.store, &late, 1, &err), &err);
    struct blob_handle *reader = opened(blob, BLOB_READ);
    expect_bytes(reader, "hello world", 11);
    blob_handle_close(reader);
    struct blob_handle *writer = opened(blob, BLOB_APPEND);
    EXPECT_STATUS(STATUS_CONFLICT, blob_append(writer, "x", 1, &err), &err);
    blob_handle_close(writer);
}

Test(store_blob, two_connections_read_while_a_third_writes)
{
    enum { BYTES = 200000 };
    struct err err = {0};
    CLEANUP(mem_freep) char *bytes = mem_alloc(BYTES);
    fill(bytes, BYTES, false);
    struct blob_handle *writer = opened(blob, BLOB_APPEND);
    EXPECT_OK(blob_append(writer, bytes, 1, &err), &err);
    struct store *stores[2];
    struct blob *blobs[2];
    struct blob_handle *readers[2];
    size_t seen[2] = {0};
    CLEANUP(mem_freep) char *copies = mem_alloc(2 * BYTES);
    for (int i = 0; i < 2; i++) {
        struct store_options options = {.url = bench.url, .mode = DB_READ_ONLY};
        EXPECT_OK(store_open(&options, &stores[i], &err), &err);
        blob_open_store(stores[i], &blobs[i]);
        readers[i] = opened(blobs[i], BLOB_READ);
    }
    for (size_t length = 1; seen[0] < BYTES || seen[1] < BYTES;) {
        size_t piece = MIN((size_t)rng_below(9000) + 1, BYTES - length);
        if (piece > 0) { /* a reader in small steps may need longer than the writer */
            EXPECT_OK(blob_append(writer, bytes + length, piece, &err), &err);
            length += piece;
            if (length == BYTES)
                EXPECT_OK(blob_seal(writer, &err), &err);
        }
        for (int i = 0; i < 2; i++) {
            size_t got = 0;
            size_t wanted = MIN((size_t)(i == 0 ? 100000 : 7000), BYTES - seen[i]);
            EXPECT_OK(
                blob_range(readers[i], seen[i], copies + i * BYTES + seen[i], wanted, &got, &err),
                &err);
            cr_assert_eq(got, MIN(wanted, length - seen[i]));
            seen[i] += got;
        }
    }
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(memcmp(copies + i * BYTES, bytes, BYTES), 0);
        blob_handle_close(readers[i]);
        blob_close(blobs[i]);
        store_close(stores[i]);
    }
    blob_handle_close(writer);
}

Test(store_blob, keys_that_differ_in_zeros_are_not_mixed)
{
    struct err err = {0};
    struct blob_handle *handle = NULL;
    struct blob_key short_key = {.kind = BLOB_LOG, .ids = {1}, .id_count = 1};
    struct blob_key zeros = {.kind = BLOB_LOG, .ids = {1, 0}, .id_count = 2};
    struct blob_key inner = {.kind = BLOB_LOG, .ids = {1, 0, 5}, .id_count = 3};
    EXPECT_OK(blob_put(blob, &short_key, "short", 5, &err), &err);
    EXPECT_STATUS(STATUS_INVALID, blob_put(blob, &zeros, "zeros", 5, &err), &err);
    EXPECT_OK(blob_put(blob, &inner, "", 0, &err), &err);
    EXPECT_OK(blob_delete_all(blob, zeros.ids, 2, &err), &err);
    EXPECT_STATUS(STATUS_NOT_FOUND, blob_open(blob, &inner, BLOB_READ, &handle, &err), &err);
    EXPECT_OK(blob_open(blob, &short_key, BLOB_READ, &handle, &err), &err);
    blob_handle_close(handle);
}

/* Of the sanitizer, if there is one: then what was freed does not count. */
extern size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t allocated(void)
{
    if (__sanitizer_get_current_allocated_bytes != NULL)
        return __sanitizer_get_current_allocated_bytes();
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

struct counted {
    uint64_t lines;
    size_t most_bytes;
};

static bool count_line(void *context, const struct log_line *line)
{
    struct counted *counted = context;
    counted->lines += line->ends ? 1 : 0;
    if (counted->lines % 256 == 0)
        counted->most_bytes = MAX(counted->most_bytes, allocated());
    return true;
}

Test(store_blob, a_log_of_50_megabytes_takes_little_memory, .timeout = 100)
{
    enum { PIECE = 64 << 10, PIECES = 800, LINE = 64 };
    struct err err = {0};
    CLEANUP(mem_freep) char *piece = mem_alloc(PIECE);
    for (size_t i = 0; i < PIECE; i++)
        piece[i] = i % LINE == LINE - 1 ? '\n' : (char)('a' + i * i % 23);
    struct counted counted = {0};
    size_t before = allocated();
    struct blob_handle *writer = opened(blob, BLOB_APPEND);
    for (int i = 0; i < PIECES; i++) {
        EXPECT_OK(blob_append(writer, piece, PIECE, &err), &err);
        counted.most_bytes = MAX(counted.most_bytes, allocated());
    }
    EXPECT_OK(blob_seal(writer, &err), &err);
    blob_handle_close(writer);
    struct log_reader *reader = NULL;
    EXPECT_OK(log_reader_open(blob, &KEY, &reader, &err), &err);
    EXPECT_OK(log_reader_lines(reader, 1, UINT64_MAX, count_line, &counted, &err), &err);
    log_reader_close(reader);
    cr_assert_eq(counted.lines, (uint64_t)PIECES * PIECE / LINE);
    /* The database keeps pages in memory. */
    cr_assert_lt(counted.most_bytes - before, 24 << 20);
}

static void expect_layered(struct blob *layered, const char *text, bool sealed)
{
    struct blob_handle *reader = opened(layered, BLOB_READ);
    expect_bytes(reader, text, strlen(text));
    cr_assert_eq(is_sealed(reader), sealed);
    blob_handle_close(reader);
}

Test(store_blob, what_is_not_in_the_store_yet_is_read_from_the_directory)
{
    struct err err = {0};
    char dir[64] = "/tmp/eider-layered-XXXXXX";
    cr_assert_not_null(mkdtemp(dir));
    struct blob *local = NULL, *layered = NULL;
    struct blob_handle *reader = NULL;
    EXPECT_OK(blob_open_directory(dir, &local, &err), &err);
    EXPECT_OK(blob_open_layered(bench.store, dir, &layered, &err), &err);
    EXPECT_STATUS(STATUS_NOT_FOUND, blob_open(layered, &KEY, BLOB_READ, &reader, &err), &err);
    struct blob_handle *keeper = opened(local, BLOB_APPEND);
    EXPECT_OK(blob_append(keeper, "hello world", 11, &err), &err);
    expect_layered(layered, "hello world", false);

    /* The log goes over to the store and grows, while the same reader looks on. */
    struct store_blob_piece piece = {.key = KEY, .bytes = "hello", .length = 5};
    EXPECT_OK(store_blob_append(bench.store, &piece, 1, &err), &err);
    reader = opened(layered, BLOB_READ);
    expect_bytes(reader, "hello world", 11);
    EXPECT_OK(blob_append(keeper, "!", 1, &err), &err);
    piece = (struct store_blob_piece){
        .key = KEY, .offset = 5, .bytes = " world!", .length = 7, .ends = true};
    EXPECT_OK(store_blob_append(bench.store, &piece, 1, &err), &err);
    EXPECT_OK(blob_delete(local, &KEY, &err), &err);
    expect_bytes(reader, "hello world!", 12);
    blob_handle_close(reader);
    expect_layered(layered, "hello world!", true);

    EXPECT_OK(blob_put(local, &KEY, "hello world!", 12, &err), &err);
    EXPECT_OK(blob_delete_all(layered, KEY.ids, 1, &err), &err);
    EXPECT_STATUS(STATUS_NOT_FOUND, blob_open(layered, &KEY, BLOB_READ, &reader, &err), &err);
    blob_handle_close(keeper);
    blob_close(layered);
    blob_close(local);
    int tmp = -1;
    EXPECT_OK(file_open_directory("/tmp", &tmp, &err), &err);
    EXPECT_OK(file_tree_remove(tmp, dir + 5, &err), &err);
    file_closep(&tmp);
}

Test(store_blob, logs_lie_beside_a_file_and_inside_a_server)
{
    struct err err = {0};
    char dir[64] = "/tmp/eider-place-XXXXXX", path[128];
    cr_assert_not_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/1", dir);
    struct blob *logs = NULL;
    EXPECT_OK(blob_open_for(bench.store, dir, &logs, &err), &err);
    EXPECT_OK(blob_put(logs, &KEY, "x", 1, &err), &err);
    cr_assert_eq(count("SELECT count(*) FROM chunk WHERE form < 2"), db_bench_is_postgres());
    cr_assert_eq(access(path, F_OK) != 0, db_bench_is_postgres());
    EXPECT_OK(blob_delete_all(logs, KEY.ids, 1, &err), &err);
    blob_close(logs);
    cr_assert_eq(rmdir(dir), 0);
}

enum { RACE_PIECE = 10, RACE_PIECES = 8, RACERS = 3, RACES = 40 };

struct racer {
    char letter;
    struct store *store;
};

/* Add pieces of its own letter wherever the blob ends, until somebody seals it: the first one. */
static void race(void *context)
{
    struct racer *racer = context;
    char bytes[RACE_PIECE];
    memset(bytes, racer->letter, sizeof bytes);
    struct err err = {0};
    struct store_blob_state state = {0};
    while (!state.is_sealed) {
        if (store_blob_state(racer->store, &KEY, &state, &err) != STATUS_OK)
            continue;
        bool ends = racer->letter == 'a' && state.size >= (uint64_t)RACE_PIECE * RACE_PIECES;
        struct store_blob_piece piece = {.key = KEY,
                                         .offset = state.size,
                                         .bytes = bytes,
                                         .length = ends ? 0 : sizeof bytes,
                                         .ends = ends};
        (void)!store_blob_append(racer->store, &piece, 1, &err);
    }
    (void)!store_blob_compact(racer->store, &KEY, &err);
}

static void race_once(struct racer *racers)
{
    struct err err = {0};
    struct thread *threads[RACERS];
    for (int i = 0; i < RACERS; i++)
        EXPECT_OK(thread_start("racer", race, &racers[i], &threads[i], &err), &err);
    for (int i = 0; i < RACERS; i++)
        thread_join(threads[i]);
    struct blob_handle *reader = opened(blob, BLOB_READ);
    uint64_t size = 0;
    size_t got = 0;
    EXPECT_OK(blob_size(reader, &size, &err), &err);
    CLEANUP(mem_freep) char *bytes = mem_alloc(size + 100);
    EXPECT_OK(blob_range(reader, 0, bytes, size + 100, &got, &err), &err);
    cr_assert_eq(got, size);
    for (size_t i = 0; i < got; i++)
        cr_assert_eq(bytes[i], bytes[i - i % RACE_PIECE], "byte %zu", i);
    cr_assert_eq(count("SELECT count(*) FROM chunk WHERE form < 2 AND start_at + length >"
                       " (SELECT start_at FROM chunk WHERE form = 2)"),
                 0, "something follows the end");
    blob_handle_close(reader);
    EXPECT_OK(blob_delete(blob, &KEY, &err), &err);
}

Test(store_blob, writers_that_race_neither_mix_their_pieces_nor_pass_the_end, .timeout = 100)
{
    struct err err = {0};
    struct racer racers[RACERS];
    for (int i = 0; i < RACERS; i++) {
        struct store_options options = {.url = bench.url, .mode = DB_READ_WRITE};
        racers[i].letter = (char)('a' + i);
        EXPECT_OK(store_open(&options, &racers[i].store, &err), &err);
    }
    for (int i = 0; i < RACES; i++)
        race_once(racers);
    for (int i = 0; i < RACERS; i++)
        store_close(racers[i].store);
}
