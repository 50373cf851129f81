#include "serve/throttle.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hmac.h"
#include "base/mem.h"
#include "base/rng.h"

enum { SETS = 1024, WAYS = 4, KEY_BYTES = 16, SECRET_BYTES = 32, NETWORK_BYTES = 8 };

static const int64_t FORGOTTEN_MS = INT64_C(3600) * 1000;
static const int64_t STEP_MS = 1000;

enum rule_kind { RULE_BOTH, RULE_ADDRESS, RULE_ACCOUNT, RULE_COUNT };

static const struct {
    int64_t free;
    int64_t most_ms;
} RULES[RULE_COUNT] = {
    [RULE_BOTH] = {5, INT64_C(900) * 1000},
    [RULE_ADDRESS] = {20, INT64_C(300) * 1000},
    [RULE_ACCOUNT] = {50, INT64_C(30) * 1000},
};

struct count {
    uint8_t key[KEY_BYTES];
    int64_t failures; /* 0: free */
    int64_t last_ms;
};

struct throttle {
    pthread_mutex_t lock;
    uint8_t secret[SECRET_BYTES]; /* so that nobody can choose whose place is taken */
    struct count counts[SETS][WAYS];
};

struct throttle *throttle_new(void)
{
    struct throttle *throttle = mem_zalloc(1, sizeof *throttle);
    rng_bytes(throttle->secret, sizeof throttle->secret);
    CHECK(pthread_mutex_init(&throttle->lock, NULL) == 0);
    return throttle;
}

void throttle_free(struct throttle *throttle)
{
    if (throttle == NULL)
        return;
    CHECK(pthread_mutex_destroy(&throttle->lock) == 0);
    free(throttle);
}

int64_t throttle_delay_ms(int64_t failures, int64_t free, int64_t most_ms)
{
    int64_t delay = STEP_MS;
    if (failures < free)
        return 0;
    for (int64_t i = free; i < failures && delay < most_ms; i++)
        delay *= 2;
    return delay < most_ms ? delay : most_ms;
}

/* --- places ---------------------------------------------------------------------------------- */

/* Whoever has one address of IPv6 has all those of its network, which are as good as one. */
static const char *network_of(const char *address, char out[static INET6_ADDRSTRLEN])
{
    struct in6_addr six;
    if (inet_pton(AF_INET6, address, &six) != 1 || IN6_IS_ADDR_V4MAPPED(&six))
        return address;
    memset(&six.s6_addr[NETWORK_BYTES], 0, sizeof six.s6_addr - NETWORK_BYTES);
    return inet_ntop(AF_INET6, &six, out, INET6_ADDRSTRLEN);
}

static void make_key(const struct throttle *throttle, enum rule_kind kind, const char *account,
                     const char *address, uint8_t out[static SHA256_BYTES])
{
    struct hmac hmac;
    char network[INET6_ADDRSTRLEN];
    const char *from = network_of(address, network);
    uint8_t letter = (uint8_t)kind;
    hmac_init(&hmac, throttle->secret, sizeof throttle->secret);
    hmac_add(&hmac, &letter, 1);
    if (kind != RULE_ADDRESS)
        hmac_add(&hmac, account, strlen(account) + 1);
    if (kind != RULE_ACCOUNT)
        hmac_add(&hmac, from, strlen(from) + 1);
    hmac_finish(&hmac, out);
}

static struct count *set_of(struct throttle *throttle, const uint8_t *key)
{
    return throttle->counts[((size_t)key[KEY_BYTES] << 8 | key[KEY_BYTES + 1]) % SETS];
}

static struct count *find(struct throttle *throttle, const uint8_t *key, int64_t now_ms)
{
    struct count *set = set_of(throttle, key);
    for (size_t i = 0; i < WAYS; i++)
        if (set[i].failures > 0 && memcmp(set[i].key, key, KEY_BYTES) == 0 &&
            now_ms - set[i].last_ms < FORGOTTEN_MS)
            return &set[i];
    return NULL;
}

/* A free place, or that of who failed longest ago. */
static struct count *make_place(struct throttle *throttle, const uint8_t *key, int64_t now_ms)
{
    struct count *set = set_of(throttle, key);
    struct count *place = &set[0];
    for (size_t i = 0; i < WAYS; i++) {
        bool is_free = set[i].failures == 0 || now_ms - set[i].last_ms >= FORGOTTEN_MS;
        if (is_free || set[i].last_ms < place->last_ms)
            place = &set[i];
        if (is_free)
            break;
    }
    *place = (struct count){.failures = 0};
    (void)memcpy(place->key, key, KEY_BYTES);
    return place;
}

/* --- counting -------------------------------------------------------------------------------- */

int64_t throttle_wait_ms(struct throttle *throttle, const char *account, const char *address,
                         int64_t now_ms)
{
    int64_t wait_ms = 0;
    CHECK(pthread_mutex_lock(&throttle->lock) == 0);
    for (int kind = 0; kind < RULE_COUNT; kind++) {
        uint8_t key[SHA256_BYTES];
        make_key(throttle, (enum rule_kind)kind, account, address, key);
        const struct count *count = find(throttle, key, now_ms);
        if (count == NULL)
            continue;
        int64_t delay_ms =
            throttle_delay_ms(count->failures, RULES[kind].free, RULES[kind].most_ms);
        wait_ms = MAX(wait_ms, count->last_ms + delay_ms - now_ms);
    }
    CHECK(pthread_mutex_unlock(&throttle->lock) == 0);
    return wait_ms;
}

bool throttle_fail(struct throttle *throttle, const char *account, const char *address,
                   int64_t now_ms)
{
    bool begins = false;
    CHECK(pthread_mutex_lock(&throttle->lock) == 0);
    for (int kind = 0; kind < RULE_COUNT; kind++) {
        uint8_t key[SHA256_BYTES];
        make_key(throttle, (enum rule_kind)kind, account, address, key);
        struct count *count = find(throttle, key, now_ms);
        if (count == NULL)
            count = make_place(throttle, key, now_ms);
        count->failures++;
        count->last_ms = now_ms;
        begins |= count->failures == RULES[kind].free;
    }
    CHECK(pthread_mutex_unlock(&throttle->lock) == 0);
    return begins;
}

void throttle_forgive(struct throttle *throttle, const char *account, const char *address)
{
    uint8_t key[SHA256_BYTES];
    CHECK(pthread_mutex_lock(&throttle->lock) == 0);
    make_key(throttle, RULE_BOTH, account, address, key);
    struct count *set = set_of(throttle, key);
    for (size_t i = 0; i < WAYS; i++)
        if (memcmp(set[i].key, key, KEY_BYTES) == 0)
            set[i].failures = 0;
    CHECK(pthread_mutex_unlock(&throttle->lock) == 0);
}
