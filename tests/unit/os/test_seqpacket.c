#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "expect.h"
#include "os/seqpacket.h"

Test(seqpacket, messages_of_every_size_arrive_as_they_were_sent)
{
    static const size_t SIZES[] = {
        0,      1, 1000, SEQPACKET_INLINE_MAX - 1, SEQPACKET_INLINE_MAX, SEQPACKET_INLINE_MAX + 1,
        5 << 20};
    struct err err = {0};
    int fds[2];
    EXPECT_OK(seqpacket_pair(fds, &err), &err);
    for (size_t i = 0; i < ARRAY_LEN(SIZES); i++) {
        char *bytes = mem_alloc(SIZES[i] + 1);
        for (size_t j = 0; j < SIZES[i]; j++)
            bytes[j] = (char)(j * 31 + i);
        EXPECT_OK(seqpacket_send(fds[0], bytes, SIZES[i], NULL, 0, &err), &err);
        struct seqpacket_message message = {0};
        EXPECT_OK(seqpacket_receive(fds[1], 5 << 20, &message, &err), &err);
        cr_assert_eq(message.length, SIZES[i]);
        cr_assert_eq(memcmp(message.bytes, bytes, SIZES[i]), 0);
        cr_assert_eq(message.fd_count, 0);
        cr_assert_not(message.ended);
        seqpacket_message_fini(&message);
        free(bytes);
    }
}

Test(seqpacket, descriptors_travel_with_small_and_large_messages)
{
    struct err err = {0};
    int fds[2], pipe_fds[2];
    EXPECT_OK(seqpacket_pair(fds, &err), &err);
    cr_assert_eq(pipe2(pipe_fds, O_CLOEXEC), 0);
    char *large = mem_zalloc(1 << 20, 1);
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(seqpacket_send(fds[0], large, i == 0 ? 3 : 1 << 20, &pipe_fds[1], 1, &err), &err);
        struct seqpacket_message message = {0};
        EXPECT_OK(seqpacket_receive(fds[1], 1 << 20, &message, &err), &err);
        cr_assert_eq(message.fd_count, 1);
        cr_assert(fcntl(message.fds[0], F_GETFD) & FD_CLOEXEC);
        cr_assert_eq(write(message.fds[0], "z", 1), 1);
        char byte = 0;
        cr_assert_eq(read(pipe_fds[0], &byte, 1), 1);
        cr_assert_eq(byte, 'z');
        seqpacket_message_fini(&message);
    }
    free(large);
}

Test(seqpacket, waiting_limits_and_the_end_have_their_own_answers)
{
    struct err err = {0};
    int fds[2];
    EXPECT_OK(seqpacket_pair(fds, &err), &err);
    struct seqpacket_message message = {.length = 77};
    EXPECT_STATUS(STATUS_BUSY, seqpacket_receive(fds[1], 10, &message, &err), &err);
    cr_assert_eq(message.length, 77);

    EXPECT_OK(seqpacket_send(fds[0], "12345678901", 11, NULL, 0, &err), &err);
    EXPECT_STATUS(STATUS_LIMIT, seqpacket_receive(fds[1], 10, &message, &err), &err);

    cr_assert_eq(send(fds[0], "hello", 5, 0), 5);
    EXPECT_STATUS(STATUS_CORRUPT, seqpacket_receive(fds[1], 10, &message, &err), &err);

    enum status status = STATUS_OK;
    for (int i = 0; i < 100000 && status == STATUS_OK; i++)
        status = seqpacket_send(fds[0], "x", 1, NULL, 0, &err);
    cr_assert_eq(status, STATUS_BUSY);

    (void)close(fds[1]);
    EXPECT_STATUS(STATUS_NOT_FOUND, seqpacket_send(fds[0], "x", 1, NULL, 0, &err), &err);
    EXPECT_OK(seqpacket_receive(fds[0], 10, &message, &err), &err);
    cr_assert(message.ended);
}

Test(seqpacket, a_listener_is_for_its_user_only_and_replaces_a_dead_one)
{
    struct err err = {0};
    char dir[300] = "/tmp/eider-seqpacket-XXXXXX";
    cr_assert_not_null(mkdtemp(dir));
    /* Longer than an address has room for. */
    size_t length = strlen(dir);
    (void)snprintf(dir + length, sizeof dir - length, "/%0200d", 0);
    cr_assert_eq(mkdir(dir, 0700), 0);
    char path[320];
    (void)snprintf(path, sizeof path, "%s/socket", dir);
    int listener = -1, client = -1, server = -1;

    EXPECT_STATUS(STATUS_NOT_FOUND, seqpacket_connect(path, &client, &err), &err);
    EXPECT_OK(seqpacket_listen(path, &listener, &err), &err);
    (void)close(listener);
    EXPECT_STATUS(STATUS_NOT_FOUND, seqpacket_connect(path, &client, &err), &err);
    EXPECT_OK(seqpacket_listen(path, &listener, &err), &err);
    struct stat status;
    cr_assert_eq(stat(path, &status), 0);
    cr_assert_eq(status.st_mode & 07777, 0600);

    EXPECT_STATUS(STATUS_BUSY, seqpacket_accept(listener, &server, &err), &err);
    EXPECT_OK(seqpacket_connect(path, &client, &err), &err);
    EXPECT_OK(seqpacket_send(client, "early", 5, NULL, 0, &err), &err);
    EXPECT_OK(seqpacket_accept(listener, &server, &err), &err);
    cr_assert(seqpacket_is_listener(listener));
    cr_assert_not(seqpacket_is_listener(client));
    cr_assert_not(seqpacket_is_listener(server));
    struct seqpacket_message message = {0};
    EXPECT_OK(seqpacket_receive(server, 10, &message, &err), &err);
    EXPECT_STR("early", message.bytes);
    seqpacket_message_fini(&message);

    cr_assert_eq(unlink(path), 0);
    cr_assert_eq(rmdir(dir), 0);
    dir[length] = '\0';
    cr_assert_eq(rmdir(dir), 0);
}
