/*
 * Puts jobs in a queue and prints their ids:
 *
 *   producer URL QUEUE HANDLER [PAYLOAD [COUNT]]
 */
#include <eider.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(struct eider *e, const char *what)
{
    (void)fprintf(stderr, "producer: %s: %s\n", what, eider_error(e));
    eider_close(e);
    return 1;
}

int main(int argc, char **argv)
{
    struct eider *e = NULL;
    struct eider_job_request request = {0};
    if (argc < 4) {
        (void)fprintf(stderr, "usage: producer URL QUEUE HANDLER [PAYLOAD [COUNT]]\n");
        return 2;
    }
    request.queue = argv[2];
    request.handler = argv[3];
    request.payload = argc > 4 ? argv[4] : NULL;
    request.retries = 3;
    int count = argc > 5 ? (int)strtol(argv[5], NULL, 10) : 1;

    if (eider_open(argv[1], &e) != EIDER_OK)
        return fail(e, "open the store");
    for (int i = 0; i < count; i++) {
        char id[EIDER_ID_SIZE];
        if (eider_enqueue(e, &request, id) != EIDER_OK)
            return fail(e, "enqueue");
        (void)printf("%s\n", id);
    }
    eider_close(e);
    return 0;
}
