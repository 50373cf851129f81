/*
 * clock_shim: a wall clock that is wrong by as much as a file says.
 *
 * Preloaded into a daemon. The file named by CHAOS_CLOCK holds the offset in microseconds as a
 * 64-bit number; without it the clock is right. Other clocks are left alone.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *offset_us;

__attribute__((constructor)) static void find_offset(void)
{
    const char *path = getenv("CHAOS_CLOCK");
    int file = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *at = mmap(NULL, sizeof *offset_us, PROT_READ, MAP_SHARED, file, 0);
    (void)close(file);
    if (at != MAP_FAILED)
        offset_us = at;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    static int (*real)(clockid_t, struct timespec *);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(clock, out);
    if (code == 0 && clock == CLOCK_REALTIME && offset_us != NULL) {
        int64_t us = (int64_t)out->tv_sec * 1000000 + out->tv_nsec / 1000 + *offset_us;
        out->tv_sec = us / 1000000;
        out->tv_nsec = us % 1000000 * 1000;
    }
    return code;
}

int gettimeofday(struct timeval *out, void *zone)
{
    struct timespec now;
    (void)zone;
    int code = clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return code;
}

time_t time(time_t *out)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL)
        *out = now.tv_sec;
    return now.tv_sec;
}
