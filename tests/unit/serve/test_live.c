/*
 * Listeners, with a store made for the test: its cursors are how many events come before.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "expect.h"
#include "serve/live.h"
#include "service/principal.h"
#include "service/service.h"

enum { PATIENCE_S = 60 };

/* --- a store --------------------------------------------------------------------------------- */

struct scene {
    pthread_mutex_t lock;
    int events;
    int past;     /* cursors of another one are of no use */
    int asked;    /* how often */
    bool is_away; /* and fails */
    bool is_open;
    struct service service;
    struct live *live;
};

static struct service *open_service(void *context)
{
    struct scene *scene = context;
    scene->is_open = true;
    return &scene->service;
}

static void close_service(void *context, struct service *service)
{
    struct scene *scene = context;
    cr_expect_eq(service, &scene->service);
    scene->is_open = false;
}

static const char *cursor_at(const struct scene *scene, int number, char out[32])
{
    (void)snprintf(out, 32, "%d.%d", scene->past, number);
    return out;
}

static json_t *event_of(const struct scene *scene, int number)
{
    char cursor[32];
    json_t *event = json_object();
    json_put_string(event, "kind", number % 2 == 0 ? "run_ended" : "task_ended");
    json_put_string(event, "namespace", number % 3 == 0 ? "hr" : "sales");
    json_put_int(event, "n", number);
    json_put_string(event, "cursor", cursor_at(scene, number, cursor));
    return event;
}

static enum status list(struct scene *scene, const json_t *request, json_t **out, struct err *err)
{
    char text[32];
    int past = scene->past;
    int from = scene->events;
    int until = scene->events;
    int limit = (int)json_get_int(request, "limit", 100);
    const char *cursor = json_get_string(request, "cursor", NULL);
    if (scene->is_away)
        return err_set(err, STATUS_UNREACHABLE, "the store is away");
    if (cursor != NULL && sscanf(cursor, "%d.%d", &past, &from) != 2)
        return err_set(err, STATUS_INVALID, "no cursor");
    (void)!sscanf(json_get_string(request, "until", ""), "%*d.%d", &until);
    int to = past == scene->past ? MIN(from + limit, until) : scene->events;
    json_t *events = json_array();
    for (int i = past == scene->past ? from + 1 : to + 1; i <= to; i++)
        (void)json_array_append_new(events, event_of(scene, i));
    *out = json_object();
    json_put(*out, "events", events);
    json_put_string(*out, "cursor", cursor_at(scene, to, text));
    json_put_bool(*out, "more", to < until);
    if (past != scene->past)
        json_put_string(*out, "gap", "history");
    return STATUS_OK;
}

static enum status call(struct service *service, const char *name, const json_t *request,
                        json_t **out, struct err *err)
{
    struct scene *scene = (struct scene *)((char *)service - offsetof(struct scene, service));
    cr_expect_str_eq(name, "event.list");
    cr_expect_eq(service->principal, &PRINCIPAL_LOCAL);
    (void)pthread_mutex_lock(&scene->lock);
    scene->asked++;
    enum status status = list(scene, request, out, err);
    (void)pthread_mutex_unlock(&scene->lock);
    return status;
}

static struct live_options usual(struct scene *scene)
{
    return (struct live_options){.open_service = open_service,
                                 .close_service = close_service,
                                 .context = scene,
                                 .call = call,
                                 .poll_ms = 3600000};
}

static void start(struct scene *scene, const struct live_options *options)
{
    struct err err = {0};
    (void)pthread_mutex_init(&scene->lock, NULL);
    cr_assert_eq(live_new(options, &scene->live, &err), STATUS_OK, "%s", err.text);
}

static void stop(struct scene *scene)
{
    live_free(scene->live);
    cr_expect(!scene->is_open);
    (void)pthread_mutex_destroy(&scene->lock);
}

static void happen(struct scene *scene, int count)
{
    (void)pthread_mutex_lock(&scene->lock);
    scene->events += count;
    (void)pthread_mutex_unlock(&scene->lock);
    live_wake(scene->live);
}

/* --- a listener ------------------------------------------------------------------------------ */

static const struct grant ALL = {"*", PERMISSION_VIEWER};
static const struct principal EVERYBODY = {.name = "all", .grants = &ALL, .count = 1};

struct ear {
    struct http_stream stream;
    pthread_mutex_t lock;
    pthread_cond_t woken;
    bool is_awake;
    struct strbuf text;
    bool is_over;
};

static void wake(void *context)
{
    struct ear *ear = context;
    (void)pthread_mutex_lock(&ear->lock);
    ear->is_awake = true;
    (void)pthread_cond_signal(&ear->woken);
    (void)pthread_mutex_unlock(&ear->lock);
}

static void ear_open(struct ear *ear, struct scene *scene, const struct live_request *request)
{
    struct live_request wish = *request;
    if (wish.filter.principal == NULL)
        wish.filter.principal = &EVERYBODY;
    *ear = (struct ear){0};
    (void)pthread_mutex_init(&ear->lock, NULL);
    (void)pthread_cond_init(&ear->woken, NULL);
    strbuf_init(&ear->text, 64 << 20);
    live_listen(scene->live, &wish, &ear->stream);
    ear->stream.attach(ear->stream.context, wake, ear);
}

static void ear_close(struct ear *ear)
{
    ear->stream.close(ear->stream.context);
    strbuf_fini(&ear->text);
    (void)pthread_mutex_destroy(&ear->lock);
    (void)pthread_cond_destroy(&ear->woken);
}

static bool wait_for_wake(struct ear *ear)
{
    struct timespec until;
    (void)timespec_get(&until, TIME_UTC);
    until.tv_sec += PATIENCE_S;
    int code = 0;
    (void)pthread_mutex_lock(&ear->lock);
    while (!ear->is_awake && code == 0)
        code = pthread_cond_timedwait(&ear->woken, &ear->lock, &until);
    ear->is_awake = false;
    (void)pthread_mutex_unlock(&ear->lock);
    return code == 0;
}

/* As the server does: read until there is nothing, then wait to be woken. */
static void ear_hear(struct ear *ear, const char *words)
{
    while (!ear->is_over && (words == NULL || strstr(ear->text.text, words) == NULL)) {
        char some[100];
        ssize_t got = ear->stream.read(ear->stream.context, some, sizeof some);
        if (got > 0)
            strbuf_add_bytes(&ear->text, some, (size_t)got);
        ear->is_over = got < 0;
        if (got == 0)
            cr_assert(wait_for_wake(ear), "waited for '%s', heard: %s", words, ear->text.text);
    }
}

/* The numbers that were heard, as "1 2 3 ". */
static void expect_numbers(const struct ear *ear, int from, int to, int step)
{
    struct strbuf heard;
    struct strbuf expected;
    strbuf_init(&heard, 1 << 20);
    strbuf_init(&expected, 1 << 20);
    for (const char *at = ear->text.text; (at = strstr(at, "\"n\":")) != NULL; at++)
        strbuf_addf(&heard, "%d ", atoi(at + 4));
    for (int i = from; i <= to; i += step)
        strbuf_addf(&expected, "%d ", i);
    cr_expect_str_eq(heard.text, expected.text);
    strbuf_fini(&heard);
    strbuf_fini(&expected);
}

/* --- what is promised ------------------------------------------------------------------------ */

Test(live, who_listens_hears_what_comes_and_only_that)
{
    struct scene scene = {.events = 10};
    struct live_options options = usual(&scene);
    struct ear ear;
    start(&scene, &options);
    ear_open(&ear, &scene, &(struct live_request){0});
    ear_hear(&ear, "event: ready");
    cr_expect_not_null(strstr(ear.text.text, "retry: "));
    cr_expect_not_null(strstr(ear.text.text, "id: 0.10\nevent: ready\n"));
    happen(&scene, 1);
    ear_hear(&ear, "\"n\":11");
    happen(&scene, 700);
    ear_hear(&ear, "\"n\":711,");
    expect_numbers(&ear, 11, 711, 1);
    ear_close(&ear);
    stop(&scene);
}

Test(live, who_comes_back_hears_first_what_was_missed)
{
    struct scene scene = {.events = 1000};
    struct live_options options = usual(&scene);
    struct ear ear;
    struct ear other;
    start(&scene, &options);
    ear_open(&other, &scene, &(struct live_request){0});
    ear_hear(&other, "event: ready");
    ear_open(&ear, &scene, &(struct live_request){.id = "0.3"});
    ear_hear(&ear, "\"n\":200");
    happen(&scene, 5);
    ear_hear(&ear, "event: ready");
    happen(&scene, 5);
    ear_hear(&ear, "\"n\":1010,");
    expect_numbers(&ear, 4, 1010, 1);
    ear_hear(&other, "\"n\":1010,");
    expect_numbers(&other, 1001, 1010, 1);
    ear_close(&ear);
    ear_close(&other);
    stop(&scene);
}

Test(live, nothing_is_asked_while_nobody_listens)
{
    struct scene scene = {0};
    struct live_options options = usual(&scene);
    struct ear ear;
    options.poll_ms = 1;
    start(&scene, &options);
    happen(&scene, 1);
    cr_expect_eq(scene.asked, 0);
    ear_open(&ear, &scene, &(struct live_request){0});
    ear_hear(&ear, "event: ready");
    ear_close(&ear);
    live_free(scene.live);
    cr_expect_gt(scene.asked, 0);
    int asked = scene.asked;
    start(&scene, &options);
    happen(&scene, 1);
    stop(&scene);
    cr_expect_eq(scene.asked, asked);
}

Test(live, who_is_not_woken_looks_by_itself)
{
    struct scene scene = {0};
    struct live_options options = usual(&scene);
    struct ear ear;
    options.poll_ms = 1;
    start(&scene, &options);
    ear_open(&ear, &scene, &(struct live_request){0});
    ear_hear(&ear, "event: ready");
    (void)pthread_mutex_lock(&scene.lock);
    scene.events = 3;
    (void)pthread_mutex_unlock(&scene.lock);
    ear_hear(&ear, "\"n\":3");
    expect_numbers(&ear, 1, 3, 1);
    ear_close(&ear);
    stop(&scene);
}

Test(live, each_hears_what_it_wants_and_may_see)
{
    static const struct grant IN_HR = {"hr", PERMISSION_VIEWER};
    const struct principal hr = {.name = "hr", .grants = &IN_HR, .count = 1};
    struct scene scene = {0};
    struct live_options options = usual(&scene);
    struct ear of_runs;
    struct ear of_hr;
    struct ear back;
    struct live_request runs = {
        .filter = {.has_kinds = true, .kinds = {UINT64_C(1) << EVENT_RUN_ENDED}}};
    start(&scene, &options);
    ear_open(&of_runs, &scene, &runs);
    ear_open(&of_hr, &scene, &(struct live_request){.filter = {.principal = &hr}});
    ear_hear(&of_runs, "event: ready");
    ear_hear(&of_hr, "event: ready");
    happen(&scene, 300);
    ear_hear(&of_runs, "\"n\":300,");
    ear_hear(&of_hr, "\"n\":300,");
    expect_numbers(&of_runs, 2, 300, 2);
    expect_numbers(&of_hr, 3, 300, 3);
    ear_open(&back, &scene, &(struct live_request){.filter = {.principal = &hr}, .id = "0.0"});
    ear_hear(&back, "event: ready");
    expect_numbers(&back, 3, 300, 3);
    ear_close(&of_runs);
    ear_close(&of_hr);
    ear_close(&back);
    stop(&scene);
}

Test(live, who_is_too_slow_is_told_where_to_go_on_and_nobody_else_is)
{
    struct scene scene = {0};
    struct live_options options = usual(&scene);
    struct ear slow;
    struct ear quick;
    struct ear back;
    options.ring_events = 20;
    start(&scene, &options);
    ear_open(&slow, &scene, &(struct live_request){0});
    ear_open(&quick, &scene, &(struct live_request){0});
    ear_hear(&slow, "event: ready");
    ear_hear(&quick, "event: ready");
    happen(&scene, 5);
    ear_hear(&slow, "\"n\":2");
    for (int last = 15; last <= 105; last += 10) {
        char words[32];
        (void)snprintf(words, sizeof words, "\"n\":%d,", last);
        happen(&scene, 10);
        ear_hear(&quick, words);
    }
    ear_hear(&slow, NULL);
    expect_numbers(&quick, 1, 105, 1);
    cr_expect(!quick.is_over);
    const char *end = strstr(slow.text.text, "event: dropped\n");
    cr_assert_not_null(end);
    cr_assert_not_null(strstr(end, "\"cursor\":\"0."));
    int heard = atoi(strstr(end, "\"cursor\":\"0.") + strlen("\"cursor\":\"0."));
    expect_numbers(&slow, 1, heard, 1);
    char id[32];
    (void)snprintf(id, sizeof id, "0.%d", heard);
    ear_open(&back, &scene, &(struct live_request){.id = id});
    ear_hear(&back, "event: ready");
    expect_numbers(&back, heard + 1, 105, 1);
    ear_close(&slow);
    ear_close(&quick);
    ear_close(&back);
    stop(&scene);
}

Test(live, an_id_of_no_use_begins_anew)
{
    static const char *const IDS[] = {"nonsense", "7.3"};
    struct scene scene = {.events = 10};
    struct live_options options = usual(&scene);
    start(&scene, &options);
    for (size_t i = 0; i < ARRAY_LEN(IDS); i++) {
        struct ear ear;
        ear_open(&ear, &scene, &(struct live_request){.id = IDS[i]});
        ear_hear(&ear, "event: reset");
        ear_hear(&ear, "\"reason\":");
        int before = scene.events;
        happen(&scene, 2);
        char words[32];
        (void)snprintf(words, sizeof words, "\"n\":%d,", before + 2);
        ear_hear(&ear, words);
        expect_numbers(&ear, before + 1, before + 2, 1);
        cr_expect_null(strstr(ear.text.text, "event: ready"));
        ear_close(&ear);
    }
    stop(&scene);
}

Test(live, a_store_that_was_put_back_is_told)
{
    struct scene scene = {.events = 10};
    struct live_options options = usual(&scene);
    struct ear ear;
    start(&scene, &options);
    ear_open(&ear, &scene, &(struct live_request){0});
    ear_hear(&ear, "event: ready");
    (void)pthread_mutex_lock(&scene.lock);
    scene.past = 1;
    scene.events = 4;
    (void)pthread_mutex_unlock(&scene.lock);
    live_wake(scene.live);
    ear_hear(&ear, "event: reset");
    happen(&scene, 1);
    ear_hear(&ear, "\"n\":5,");
    expect_numbers(&ear, 5, 5, 1);
    ear_close(&ear);
    stop(&scene);
}

Test(live, a_store_that_is_away_is_waited_for)
{
    struct scene scene = {.is_away = true};
    struct live_options options = usual(&scene);
    struct ear ear;
    options.poll_ms = 1;
    start(&scene, &options);
    ear_open(&ear, &scene, &(struct live_request){0});
    ear_hear(&ear, "retry");
    (void)pthread_mutex_lock(&scene.lock);
    scene.is_away = false;
    (void)pthread_mutex_unlock(&scene.lock);
    ear_hear(&ear, "event: ready");
    happen(&scene, 1);
    ear_hear(&ear, "\"n\":1,");
    ear_close(&ear);
    stop(&scene);
}

Test(live, a_silent_line_has_its_beats_with_the_place)
{
    struct scene scene = {.events = 1};
    struct live_options options = usual(&scene);
    struct live_request runs = {
        .filter = {.has_kinds = true, .kinds = {UINT64_C(1) << EVENT_RUN_ENDED}}};
    struct ear ear;
    options.beat_ms = 10;
    start(&scene, &options);
    ear_open(&ear, &scene, &runs);
    ear_hear(&ear, ": still there\n\n");
    happen(&scene, 2);
    ear_hear(&ear, "\"n\":2,");
    /* The third is not wanted, but who comes back need not look at it again. */
    ear_hear(&ear, ": still there\nid: 0.3\n\n");
    ear_close(&ear);
    stop(&scene);
}

Test(live, after_a_while_one_is_asked_who_it_is)
{
    struct scene scene = {0};
    struct live_options options = usual(&scene);
    struct ear ear;
    options.life_ms = 20;
    start(&scene, &options);
    ear_open(&ear, &scene, &(struct live_request){0});
    ear_hear(&ear, NULL);
    cr_expect(ear.is_over);
    cr_expect_not_null(strstr(ear.text.text, "event: ready"));
    ear_close(&ear);
    stop(&scene);
}

Test(live, nobody_listens_longer_than_its_token_is_good_for)
{
    const struct principal guest = {
        .name = "guest", .grants = &ALL, .count = 1, .expires_at_us = clock_wall_us() + 20000};
    struct scene scene = {0};
    struct live_options options = usual(&scene);
    struct ear ear;
    start(&scene, &options);
    ear_open(&ear, &scene, &(struct live_request){.filter = {.principal = &guest}});
    ear_hear(&ear, NULL);
    cr_expect(ear.is_over);
    ear_close(&ear);
    stop(&scene);
}
