#pragma once
/*
 * pg_between: what stands between a client and its PostgreSQL in tests: a proxy that loses
 * answers, and a real pooler.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "db_bench.h"

static inline const char *pg_tcp(void)
{
    const char *url = getenv("EIDER_TEST_POSTGRES_TCP");
    if (url == NULL)
        cr_skip_test("no server through TCP");
    return url;
}

/* From postgresql://postgres@127.0.0.1:PORT/postgres. */
static inline int pg_port(void)
{
    return (int)strtol(strrchr(pg_tcp(), ':') + 1, NULL, 10);
}

static inline int loopback_socket(int port, bool listening)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int done = listening ? bind(fd, (struct sockaddr *)&address, sizeof address)
                         : connect(fd, (struct sockaddr *)&address, sizeof address);
    cr_assert_eq(done, 0, "port %d: %s", port, strerror(errno));
    if (listening)
        cr_assert_eq(listen(fd, 8), 0);
    return fd;
}

static inline int port_of(int fd)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    return ntohs(address.sin_port);
}

/* --- proxy ----------------------------------------------------------------------------------- */

/* One connection at a time. After a client said `swallow_after`, the server's next words are lost
 * and the connection ends. */
struct proxy {
    int listener;
    int port;
    int stop[2];
    const char *_Atomic swallow_after;
    const char *_Atomic lose_answer; /* the server's words with this are lost, once */
    atomic_bool then_nobody;         /* after that there is no server any more */
    pthread_t thread;
};

/* Pass on what is there; false at the end, or when it is to be lost. */
static inline bool proxy_answer(struct proxy *proxy, int server, int client)
{
    static char answer[65536];
    ssize_t count = read(server, answer, sizeof answer);
    if (count <= 0)
        return false;
    const char *word = proxy->lose_answer;
    /* With the NUL, so that a command is not found in a longer one. */
    if (word != NULL && memmem(answer, (size_t)count, word, strlen(word) + 1) != NULL) {
        proxy->lose_answer = NULL;
        if (proxy->then_nobody)
            (void)shutdown(proxy->listener, SHUT_RDWR);
        return false;
    }
    return write(client, answer, (size_t)count) == count;
}

static inline bool proxy_pass(int from, int to, const char *word, bool *said)
{
    static char buffer[65536];
    ssize_t count = read(from, buffer, sizeof buffer);
    if (count <= 0)
        return false;
    if (word != NULL && memmem(buffer, (size_t)count, word, strlen(word)) != NULL)
        *said = true;
    return to < 0 || write(to, buffer, (size_t)count) == count;
}

static inline bool proxy_serve(struct proxy *proxy, int client, int server)
{
    bool said = false;
    for (;;) {
        struct pollfd fds[] = {{.fd = client, .events = POLLIN},
                               {.fd = server, .events = POLLIN},
                               {.fd = proxy->stop[0], .events = POLLIN}};
        (void)poll(fds, ARRAY_LEN(fds), -1);
        if (fds[2].revents != 0)
            return false;
        if (fds[1].revents != 0 && (said || !proxy_answer(proxy, server, client)))
            return true;
        if (fds[0].revents != 0 && !proxy_pass(client, server, proxy->swallow_after, &said))
            return true;
    }
}

static inline void *proxy_run(void *context)
{
    struct proxy *proxy = context;
    for (bool more = true; more;) {
        struct pollfd fds[] = {{.fd = proxy->listener, .events = POLLIN},
                               {.fd = proxy->stop[0], .events = POLLIN}};
        (void)poll(fds, ARRAY_LEN(fds), -1);
        if (fds[1].revents != 0)
            return NULL;
        int client = accept(proxy->listener, NULL, NULL);
        int server = loopback_socket(pg_port(), false);
        more = proxy_serve(proxy, client, server) && !proxy->then_nobody;
        (void)close(client);
        (void)close(server);
    }
    return NULL;
}

static inline void proxy_start(struct proxy *proxy)
{
    (void)pg_tcp();
    proxy->swallow_after = NULL;
    proxy->lose_answer = NULL;
    proxy->then_nobody = false;
    proxy->listener = loopback_socket(0, true);
    proxy->port = port_of(proxy->listener);
    cr_assert_eq(pipe(proxy->stop), 0);
    cr_assert_eq(pthread_create(&proxy->thread, NULL, proxy_run, proxy), 0);
}

static inline void proxy_stop(struct proxy *proxy)
{
    (void)close(proxy->stop[1]);
    (void)pthread_join(proxy->thread, NULL);
    (void)close(proxy->stop[0]);
    (void)close(proxy->listener);
}

/* --- pooler ---------------------------------------------------------------------------------- */

struct pooler {
    char dir[64];
    char url[128];
    pid_t pid;
};

static inline void pooler_become(const char *config)
{
    const struct passwd *user = getpwnam("postgres");
    if (geteuid() == 0 && (user == NULL || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0))
        _exit(126);
    /* A test that fails does not come to its end; after setuid, which would undo this. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)execl("/usr/sbin/pgbouncer", "pgbouncer", "-q", config, (char *)NULL);
    _exit(127);
}

static inline void pooler_write_config(struct pooler *pooler, const char *schema, int port)
{
    char path[96];
    (void)snprintf(path, sizeof path, "%s/ini", pooler->dir);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    (void)fprintf(file,
                  "[databases]\n"
                  "pooled = host=127.0.0.1 port=%d dbname=postgres user=postgres"
                  " connect_query='SET search_path = %s'\n"
                  "[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nauth_type = any\n"
                  "pool_mode = transaction\ndefault_pool_size = 2\nunix_socket_dir =\n"
                  "logfile = %s/log\n",
                  pg_port(), schema, port, pooler->dir);
    (void)fclose(file);
    cr_assert_eq(chmod(pooler->dir, 0777), 0);
}

static inline bool pooler_answers(const struct pooler *pooler)
{
    struct err err = {0};
    CLEANUP(db_closep) struct db *db = NULL;
    return db_open(pooler->url, DB_READ_WRITE, &db, &err) == STATUS_OK;
}

static inline void pooler_start(struct pooler *pooler, const char *schema)
{
    (void)pg_tcp();
    if (access("/usr/sbin/pgbouncer", X_OK) != 0)
        cr_skip_test("no pgbouncer here");
    *pooler = (struct pooler){.dir = "/tmp/eider-pooler-XXXXXX"};
    cr_assert_not_null(mkdtemp(pooler->dir));
    int reserved = loopback_socket(0, true);
    int port = port_of(reserved);
    (void)close(reserved);
    (void)snprintf(pooler->url, sizeof pooler->url, "postgresql://postgres@127.0.0.1:%d/pooled",
                   port);
    pooler_write_config(pooler, schema, port);
    char path[96];
    (void)snprintf(path, sizeof path, "%s/ini", pooler->dir);
    pooler->pid = fork();
    cr_assert_geq(pooler->pid, 0);
    if (pooler->pid == 0)
        pooler_become(path);
    for (int tries = 0; tries < 200 && !pooler_answers(pooler); tries++)
        (void)poll(NULL, 0, 20);
}

static inline void pooler_stop(struct pooler *pooler)
{
    static const char *const NAMES[] = {"ini", "log"};
    (void)kill(pooler->pid, SIGKILL);
    (void)waitpid(pooler->pid, NULL, 0);
    for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
        char path[96];
        (void)snprintf(path, sizeof path, "%s/%s", pooler->dir, NAMES[i]);
        (void)unlink(path);
    }
    (void)rmdir(pooler->dir);
}
