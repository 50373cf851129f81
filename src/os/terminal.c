#include "os/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"

bool terminal_is_one(FILE *stream)
{
    int fd = fileno(stream);
    return fd >= 0 && isatty(fd) == 1;
}

static enum status read_line(FILE *in, size_t bytes_max, struct secret_value *out_value,
                             struct err *err)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t got = getline(&line, &capacity, in);
    size_t length = got > 0 ? (size_t)got : 0;
    if (length > 0 && line[length - 1] == '\n')
        length--;
    enum status status = STATUS_OK;
    if (got < 0)
        status = err_set(err, STATUS_INVALID, "nothing was typed");
    else if (length > bytes_max)
        status = err_set(err, STATUS_LIMIT, "more than %zu bytes", bytes_max);
    else
        *out_value = secret_value_new(line, length);
    if (line != NULL)
        secret_wipe(line, capacity);
    free(line);
    return status;
}

enum status terminal_read_hidden(FILE *in, FILE *out, const char *prompt, size_t bytes_max,
                                 struct secret_value *out_value, struct err *err)
{
    struct termios before;
    int fd = fileno(in);
    if (tcgetattr(fd, &before) != 0)
        return err_errno(err, errno, "ask at the terminal");
    struct termios silent = before;
    silent.c_lflag &= ~(tcflag_t)ECHO;
    /* First of all: who sees the prompt may type at once. */
    if (tcsetattr(fd, TCSAFLUSH, &silent) != 0)
        return err_errno(err, errno, "ask at the terminal");
    (void)fprintf(out, "%s", prompt);
    (void)fflush(out);
    enum status status = read_line(in, bytes_max, out_value, err);
    (void)tcsetattr(fd, TCSAFLUSH, &before);
    (void)fprintf(out, "\n");
    return status;
}
