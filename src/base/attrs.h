#pragma once
/*
 * attrs: the compiler attributes and the few macros that the whole tree uses.
 */
#include <stddef.h> /* IWYU pragma: export */

#define NODISCARD        __attribute__((warn_unused_result))
#define PRINTF(fmt, arg) __attribute__((format(printf, fmt, arg)))
#define NORETURN         __attribute__((noreturn))
#define CLEANUP(fn)      __attribute__((cleanup(fn)))
#define UNUSED           __attribute__((unused))

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

/* Hand over what a CLEANUP variable owns: yields the pointer and leaves NULL behind. */
#define TAKE(pointer)                                                                              \
    ({                                                                                             \
        __typeof__(pointer) taken_ = (pointer);                                                    \
        (pointer) = NULL;                                                                          \
        taken_;                                                                                    \
    })

#define MIN(a, b)                                                                                  \
    ({                                                                                             \
        __typeof__(a) min_a_ = (a);                                                                \
        __typeof__(b) min_b_ = (b);                                                                \
        min_a_ < min_b_ ? min_a_ : min_b_;                                                         \
    })
#define MAX(a, b)                                                                                  \
    ({                                                                                             \
        __typeof__(a) max_a_ = (a);                                                                \
        __typeof__(b) max_b_ = (b);                                                                \
        max_a_ > max_b_ ? max_a_ : max_b_;                                                         \
    })
