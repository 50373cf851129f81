/*
 * strmap and idmap against the plainest thing that does the same.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/idmap.h"
#include "base/rng.h"
#include "base/strmap.h"
#include "expect.h"

Test(strmap, first_value_of_a_key_stays)
{
    enum { COUNT = 5000 };
    CLEANUP(strmap_freep) struct strmap *map = strmap_new();
    char(*keys)[24] = calloc(COUNT, sizeof *keys);
    int64_t value = 77;

    cr_assert(!strmap_find(map, "", &value));
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(keys[i], sizeof keys[i], "%s%d", i % 2 ? "task_" : "", i);
        cr_assert(strmap_add(map, keys[i], i));
        cr_assert(!strmap_add(map, keys[i / 2], -1));
    }
    cr_assert(strmap_add(map, "", -5));

    cr_assert_eq(strmap_count(map), COUNT + 1);
    for (int i = 0; i < COUNT; i++) {
        cr_assert(strmap_find(map, keys[i], &value));
        cr_assert_eq(value, i);
    }
    cr_assert(strmap_find(map, "", &value));
    cr_assert_eq(value, -5);
    value = 77;
    cr_assert(!strmap_find(map, "task_", &value));
    cr_assert_eq(value, 77);
    strmap_free(NULL);
    free(keys);
}

Test(idmap, set_replace_remove)
{
    CLEANUP(idmap_freep) struct idmap *map = idmap_new();
    int a = 0;
    int b = 0;
    size_t cursor = 0;

    cr_assert_null(idmap_find(map, 1));
    cr_assert_null(idmap_remove(map, 1));
    cr_assert_null(idmap_next(map, &cursor));
    idmap_set(map, INT64_MIN, &a);
    idmap_set(map, INT64_MAX, &a);
    idmap_set(map, INT64_MAX, &b);

    cr_assert_eq(idmap_count(map), 2);
    cr_assert_eq(idmap_find(map, INT64_MAX), &b);
    cr_assert_eq(idmap_remove(map, INT64_MAX), &b);
    cr_assert_null(idmap_remove(map, INT64_MAX));
    cr_assert_eq(idmap_find(map, INT64_MIN), &a);
    cr_assert_null(idmap_find(map, 0));
    idmap_free(NULL);
}

static size_t walk(const struct idmap *map)
{
    size_t count = 0;
    size_t cursor = 0;
    while (idmap_next(map, &cursor) != NULL)
        count++;
    return count;
}

/* Few ids, so that chains form, wrap around and are cut in the middle. */
Test(idmap, behaves_like_an_array_over_many_random_operations)
{
    enum { IDS = 300, STEPS = 60000 };
    static void *reference[IDS + 1];
    static char targets[IDS * 4];
    CLEANUP(idmap_freep) struct idmap *map = idmap_new();
    size_t count = 0;
    uint64_t chance = rng_below(UINT64_MAX);
    uint64_t seed = chance;

    for (int step = 0; step < STEPS; step++) {
        chance = chance * 6364136223846793005u + 1442695040888963407u;
        int64_t id = (int64_t)(chance >> 33) % IDS + 1;
        bool grows = step / 5000 % 2 == 0;
        if ((chance >> 20) % 4 < (grows ? 3 : 1)) {
            count += reference[id] == NULL;
            reference[id] = &targets[(chance >> 13) % sizeof targets];
            idmap_set(map, id, reference[id]);
        } else {
            cr_assert_eq(idmap_remove(map, id), reference[id], "step %d of seed %llu", step,
                         (unsigned long long)seed);
            count -= reference[id] != NULL;
            reference[id] = NULL;
        }
        cr_assert_eq(idmap_count(map), count);
        if (step % 500 != 0)
            continue;
        for (int64_t i = 1; i <= IDS; i++)
            cr_assert_eq(idmap_find(map, i), reference[i], "id %lld, step %d of seed %llu",
                         (long long)i, step, (unsigned long long)seed);
        cr_assert_eq(walk(map), count);
    }
}
