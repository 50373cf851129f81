#pragma once
/*
 * listener: receivers on loopback (listener.py), for a test of its own.
 *
 * They end with the pipe to their input, so a test that crashes leaves nothing behind either.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "expect.h"
#include "os/file.h"
#include "os/process.h"
#include "tree.h"

struct listener {
    struct process process;
    int input;
    json_t *about; /* ports and files */
};

UNUSED static struct listener listener_start(void)
{
    static const char *const PROXIES[] = {"http_proxy",  "https_proxy", "all_proxy",
                                          "HTTPS_PROXY", "ALL_PROXY",   "no_proxy"};
    for (size_t i = 0; i < ARRAY_LEN(PROXIES); i++)
        (void)unsetenv(PROXIES[i]); /* the way to loopback is ours */
    static const char *const ENV[] = {"PATH=/usr/bin:/bin", "TMPDIR=/tmp", NULL};
    static const char script[] = TREE "/tests/testing/listener.py";
    const char *const argv[] = {"/usr/bin/python3", script, NULL};
    int input[2];
    int output[2];
    cr_assert_eq(pipe2(input, O_CLOEXEC), 0);
    cr_assert_eq(pipe2(output, O_CLOEXEC), 0);
    struct process_request request = {
        .argv = argv, .env = ENV, .fds = {input[0], output[1], STDERR_FILENO, 0, 0}};
    struct listener listener = {.input = input[1]};
    struct err err = {0};
    EXPECT_OK(process_spawn(&request, &listener.process, &err), &err);
    (void)close(input[0]);
    (void)close(output[1]);

    FILE *lines = fdopen(output[0], "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t length = getline(&line, &room, lines);
    cr_assert_gt(length, 0, "the listener did not start: is python3-aiosmtpd installed?");
    EXPECT_OK(json_parse(line, (size_t)length, &listener.about, &err), &err);
    free(line);
    (void)fclose(lines);
    return listener;
}

UNUSED static void listener_stop(struct listener *listener)
{
    struct process_end end;
    (void)close(listener->input);
    cr_expect(process_wait(listener->process.pidfd, -1, &end));
    cr_expect_eq(end.code, 0);
    (void)close(listener->process.pidfd);
    json_decref(listener->about);
}

UNUSED static int64_t listener_port(const struct listener *listener, const char *name)
{
    int64_t port = json_get_int(listener->about, name, 0);
    cr_assert_neq(port, 0, "%s", name);
    return port;
}

UNUSED static const char *listener_ca_file(const struct listener *listener)
{
    return json_get_string(listener->about, "ca_file", NULL);
}

/* What it received last; a new reference, NULL when nothing came. */
UNUSED static json_t *listener_received(const struct listener *listener)
{
    const char *path = json_get_string(listener->about, "received", "");
    CLEANUP(mem_freep) char *text = NULL;
    size_t length = 0;
    json_t *received = NULL;
    struct err err = {0};
    if (file_read(path, 64 << 20, &text, &length, &err) != STATUS_OK)
        return NULL;
    EXPECT_OK(json_parse(text, length, &received, &err), &err);
    return received;
}

/* "http://127.0.0.1:PORT/PATH", heap. */
UNUSED static char *listener_url(const struct listener *listener, const char *server,
                                 const char *path)
{
    return mem_format("%s://127.0.0.1:%lld%s", strcmp(server, "http") == 0 ? "http" : "https",
                      (long long)listener_port(listener, server), path);
}
