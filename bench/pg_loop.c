/*
 * pg_loop: what a bare loop of jobs on PostgreSQL can do, with durable commits.
 *
 *   pg_loop URL drain COUNT [DRAINERS]
 *       makes COUNT no-op jobs, then each drainer claims 100 in one statement and completes them
 *       in another until none is left
 *   pg_loop URL latency COUNT
 *       one connection inserts a job with NOTIFY, another waits for it and claims it: from the
 *       acknowledged commit to the place where a handler would begin
 *   pg_loop URL produce COUNT INSERT PROBE
 *       the same producer for jobs that somebody else runs: INSERT commits one job and returns
 *       its id, PROBE asks for job $1 and returns no row until it ended, then the instants of its
 *       start and end in microseconds since 1970
 *
 * The next job is inserted only after the last was handled and a pause. Prints JSON.
 */
#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 100, DRAINERS_MAX = 16, COUNT_MAX = 2000000, PAUSE_MS = 10, PROBES_MAX = 3000 };

static const char MAKE_TABLE[] =
    "DROP TABLE IF EXISTS bare_job;"
    "CREATE TABLE bare_job (id BIGINT PRIMARY KEY, state INT NOT NULL, attempt INT NOT NULL,"
    " payload TEXT NOT NULL, started_at TIMESTAMPTZ, ended_at TIMESTAMPTZ);"
    "CREATE INDEX bare_job_ready ON bare_job (id) WHERE state = 0";
static const char FILL[] =
    "INSERT INTO bare_job SELECT i, 0, 0, '{}' FROM generate_series(1, %d) i;"
    "ANALYZE bare_job; CHECKPOINT";
static const char CLAIM[] =
    "UPDATE bare_job SET state = 1, attempt = attempt + 1, started_at = clock_timestamp()"
    " WHERE id = ANY (ARRAY(SELECT id FROM bare_job WHERE state = 0 ORDER BY id LIMIT $1"
    " FOR UPDATE SKIP LOCKED)) RETURNING id";
static const char COMPLETE[] = "UPDATE bare_job SET state = 2, ended_at = clock_timestamp()"
                               " WHERE id = ANY ($1::BIGINT[]) AND state = 1";
static const char COUNT_DONE[] = "SELECT count(*) FROM bare_job WHERE state = 2 AND attempt = 1";
static const char INSERT_ONE[] = "WITH made AS (INSERT INTO bare_job VALUES ($1, 0, 0, '{}'))"
                                 " SELECT pg_notify('bare_job', '')";

static double clock_seconds(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double now_seconds(void)
{
    return clock_seconds(CLOCK_MONOTONIC);
}

static void pause_ms(int ms)
{
    (void)poll(NULL, 0, ms);
}

static void die(PGconn *conn, const char *what)
{
    (void)fprintf(stderr, "pg_loop: %s: %s\n", what, PQerrorMessage(conn));
    exit(1);
}

static PGconn *connect_to(const char *url)
{
    PGconn *conn = PQconnectdb(url);
    if (PQstatus(conn) != CONNECTION_OK)
        die(conn, "connect");
    PQclear(PQexec(conn, "SET client_min_messages = warning"));
    return conn;
}

static PGresult *checked(PGconn *conn, const char *what, PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        die(conn, what);
    return result;
}

static void execute(PGconn *conn, const char *sql)
{
    PQclear(checked(conn, sql, PQexec(conn, sql)));
}

static void prepare(PGconn *conn, const char *name, const char *sql, int parameters)
{
    PQclear(checked(conn, sql, PQprepare(conn, name, sql, parameters, NULL)));
}

/* Runs a prepared statement with one parameter as text, or none. */
static PGresult *run(PGconn *conn, const char *name, const char *parameter)
{
    const char *const values[] = {parameter};
    PGresult *result = PQexecPrepared(conn, name, parameter != NULL, values, NULL, NULL, 0);
    return checked(conn, name, result);
}

/* --- drain ----------------------------------------------------------------------------------- */

struct drainer {
    PGconn *conn;
    pthread_t thread;
    long jobs;
};

/* Claims a batch and completes it; how many there were. */
static int drain_batch(PGconn *conn)
{
    char ids[BATCH * 21 + 2] = "{";
    size_t length = 1;
    PGresult *claimed = run(conn, "claim", "100");
    int rows = PQntuples(claimed);
    for (int i = 0; i < rows; i++) {
        int written = snprintf(ids + length, sizeof ids - length, "%s%s", i > 0 ? "," : "",
                               PQgetvalue(claimed, i, 0));
        length += (size_t)written;
    }
    PQclear(claimed);
    if (rows == 0)
        return 0;
    ids[length++] = '}';
    ids[length] = '\0';
    PQclear(run(conn, "complete", ids));
    return rows;
}

static void *drain_all(void *context)
{
    struct drainer *drainer = context;
    int rows;
    while ((rows = drain_batch(drainer->conn)) > 0)
        drainer->jobs += rows;
    return NULL;
}

static void check_all_done(PGconn *conn, int count)
{
    PGresult *done = checked(conn, COUNT_DONE, PQexec(conn, COUNT_DONE));
    if (strtol(PQgetvalue(done, 0, 0), NULL, 10) != count) {
        (void)fprintf(stderr, "pg_loop: %s of %d jobs done once\n", PQgetvalue(done, 0, 0), count);
        exit(1);
    }
    PQclear(done);
}

static void drain(const char *url, int count, int drainers_count)
{
    struct drainer drainers[DRAINERS_MAX] = {0};
    char fill[sizeof FILL + 16];
    PGconn *conn = connect_to(url);
    execute(conn, MAKE_TABLE);
    (void)snprintf(fill, sizeof fill, FILL, count);
    execute(conn, fill);
    for (int i = 0; i < drainers_count; i++) {
        drainers[i].conn = connect_to(url);
        prepare(drainers[i].conn, "claim", CLAIM, 1);
        prepare(drainers[i].conn, "complete", COMPLETE, 1);
    }

    double begin = now_seconds();
    for (int i = 0; i < drainers_count; i++)
        if (pthread_create(&drainers[i].thread, NULL, drain_all, &drainers[i]) != 0)
            exit(1);
    for (int i = 0; i < drainers_count; i++)
        (void)pthread_join(drainers[i].thread, NULL);
    double seconds = now_seconds() - begin;

    for (int i = 0; i < drainers_count; i++)
        PQfinish(drainers[i].conn);
    check_all_done(conn, count);
    execute(conn, "DROP TABLE bare_job");
    PQfinish(conn);
    (void)printf("{\"jobs\": %d, \"drainers\": %d, \"seconds\": %.6f, \"rate\": %.1f}\n", count,
                 drainers_count, seconds, count / seconds);
}

/* --- latency --------------------------------------------------------------------------------- */

/* Instants of one job, in seconds since 1970. */
struct round {
    double asked;     /* its INSERT was sent */
    double committed; /* and acknowledged */
    double entered;   /* its handler began */
    double ended;
};

struct consumer {
    PGconn *conn;
    int count;
    struct round *rounds;
    sem_t handled;
};

static void wait_for_notice(PGconn *conn)
{
    struct pollfd socket = {.fd = PQsocket(conn), .events = POLLIN};
    if (poll(&socket, 1, -1) < 0 && errno != EINTR)
        die(conn, "poll");
    if (PQconsumeInput(conn) == 0)
        die(conn, "listen");
    PGnotify *notice;
    while ((notice = PQnotifies(conn)) != NULL)
        PQfreemem(notice);
}

static void *consume(void *context)
{
    struct consumer *consumer = context;
    for (int done = 0; done < consumer->count;) {
        wait_for_notice(consumer->conn);
        PGresult *claimed = run(consumer->conn, "claim", "100");
        double entered = clock_seconds(CLOCK_REALTIME);
        for (int i = 0; i < PQntuples(claimed); i++) {
            char id[32];
            struct round *round = &consumer->rounds[done++];
            (void)snprintf(id, sizeof id, "{%s}", PQgetvalue(claimed, i, 0));
            PQclear(run(consumer->conn, "complete", id));
            round->entered = entered;
            round->ended = clock_seconds(CLOCK_REALTIME);
            (void)sem_post(&consumer->handled);
        }
        PQclear(claimed);
    }
    return NULL;
}

static PGresult *insert_one(PGconn *conn, const char *parameter, struct round *round)
{
    round->asked = clock_seconds(CLOCK_REALTIME);
    PGresult *made = run(conn, "insert", parameter);
    round->committed = clock_seconds(CLOCK_REALTIME);
    return made;
}

static void latency(const char *url, int count, struct round *rounds)
{
    PGconn *producer = connect_to(url);
    execute(producer, MAKE_TABLE);
    prepare(producer, "insert", INSERT_ONE, 1);
    struct consumer consumer = {.conn = connect_to(url), .count = count, .rounds = rounds};
    prepare(consumer.conn, "claim", CLAIM, 1);
    prepare(consumer.conn, "complete", COMPLETE, 1);
    execute(consumer.conn, "LISTEN bare_job");
    pthread_t thread;
    if (sem_init(&consumer.handled, 0, 0) != 0 ||
        pthread_create(&thread, NULL, consume, &consumer) != 0)
        exit(1);
    for (int i = 0; i < count; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "%d", i + 1);
        PQclear(insert_one(producer, id, &rounds[i]));
        while (sem_wait(&consumer.handled) != 0)
            continue;
        pause_ms(PAUSE_MS);
    }
    (void)pthread_join(thread, NULL);
    check_all_done(producer, count);
    execute(producer, "DROP TABLE bare_job");
    PQfinish(producer);
    PQfinish(consumer.conn);
}

/* Waits until job `id` ended. */
static void await_end(PGconn *conn, const char *id, struct round *round)
{
    for (int i = 0; i < PROBES_MAX; i++) {
        pause_ms(PAUSE_MS);
        PGresult *seen = run(conn, "probe", id);
        int rows = PQntuples(seen);
        if (rows > 0) {
            round->entered = strtod(PQgetvalue(seen, 0, 0), NULL) / 1e6;
            round->ended = strtod(PQgetvalue(seen, 0, 1), NULL) / 1e6;
        }
        PQclear(seen);
        if (rows > 0)
            return;
    }
    (void)fprintf(stderr, "pg_loop: job %s did not end\n", id);
    exit(1);
}

static void produce(const char *url, int count, struct round *rounds, char **statements)
{
    PGconn *conn = connect_to(url);
    prepare(conn, "insert", statements[0], 0);
    prepare(conn, "probe", statements[1], 1);
    for (int i = 0; i < count; i++) {
        PGresult *made = insert_one(conn, NULL, &rounds[i]);
        await_end(conn, PQgetvalue(made, 0, 0), &rounds[i]);
        PQclear(made);
    }
    PQfinish(conn);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double instant(const struct round *round, size_t member)
{
    double value;
    memcpy(&value, (const char *)round + member, sizeof value);
    return value;
}

static void print_rounds(const struct round *rounds, int count)
{
    static const struct {
        const char *name;
        size_t from;
        size_t to;
    } SPANS[] = {
        {"entered", offsetof(struct round, committed), offsetof(struct round, entered)},
        {"ended", offsetof(struct round, committed), offsetof(struct round, ended)},
        {"entered_since_asked", offsetof(struct round, asked), offsetof(struct round, entered)},
        {"ended_since_asked", offsetof(struct round, asked), offsetof(struct round, ended)},
    };
    double *times = calloc((size_t)count, sizeof *times);
    if (times == NULL)
        exit(1);
    (void)printf("{\"jobs\": %d", count);
    for (size_t i = 0; i < sizeof SPANS / sizeof SPANS[0]; i++) {
        for (int k = 0; k < count; k++)
            times[k] =
                1e3 * (instant(&rounds[k], SPANS[i].to) - instant(&rounds[k], SPANS[i].from));
        qsort(times, (size_t)count, sizeof *times, compare);
        (void)printf(", \"%s\": {\"p50_ms\": %.4f, \"p95_ms\": %.4f}", SPANS[i].name,
                     times[count / 2], times[count * 95 / 100]);
    }
    (void)printf("}\n");
    free(times);
}

/* --------------------------------------------------------------------------------------------- */

static int read_number(const char *text, int most)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || *end != '\0' || value < 1 || value > most) {
        (void)fprintf(stderr, "pg_loop: '%s' is not a number from 1 to %d\n", text, most);
        exit(2);
    }
    return (int)value;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 3 ? argv[2] : "";
    bool is_drain = strcmp(mode, "drain") == 0 && argc <= 5;
    bool is_latency = strcmp(mode, "latency") == 0 && argc == 4;
    bool is_produce = strcmp(mode, "produce") == 0 && argc == 6;
    if (!is_drain && !is_latency && !is_produce) {
        (void)fprintf(stderr, "usage: pg_loop URL drain COUNT [DRAINERS] | latency COUNT |"
                              " produce COUNT INSERT PROBE\n");
        return 2;
    }
    int count = read_number(argv[3], COUNT_MAX);
    if (is_drain) {
        drain(argv[1], count, argc == 5 ? read_number(argv[4], DRAINERS_MAX) : 1);
        return 0;
    }
    struct round *rounds = calloc((size_t)count, sizeof *rounds);
    if (rounds == NULL)
        return 1;
    if (is_latency)
        latency(argv[1], count, rounds);
    else
        produce(argv[1], count, rounds, argv + 4);
    print_rounds(rounds, count);
    free(rounds);
    return 0;
}
