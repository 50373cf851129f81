/*
 * The forms of all values are a trie with a failure link in each node (Aho and Corasick): the state
 * is the longest end of the stream that begins a form, so its depth says what to hold back, and
 * the time is linear whatever the bytes are. Nearly all bytes of real output are passed over
 * without it: in the root, a bitmap says whether the next four bytes may begin any form.
 */
#include "model/mask.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "model/limits.h"
#include "model/mask_forms.h"

enum { ROOT = 0, START_BYTES = MASK_VALUE_MIN, START_BITS = 1 << 16 };
_Static_assert(START_BYTES == sizeof(uint32_t), "the start of a form is looked at as a number");

/* Numbers of nodes; 0, the root, stands for none where a child or sibling is meant. */
struct node {
    uint32_t child;
    uint32_t sibling;
    uint32_t fail;
    uint32_t depth;
    uint32_t match; /* length of the longest form that ends here; 0: none */
    unsigned char byte;
};

/* Bytes of the stream to hide, by their place in it. */
struct span {
    uint64_t from;
    uint64_t to;
};

struct mask {
    struct node *nodes;
    size_t count;
    size_t capacity;
    uint32_t first[256]; /* children of the root */
    uint64_t starts[START_BITS / 64];
    size_t longest;

    uint32_t state;
    uint64_t end;     /* bytes fed so far */
    uint64_t decided; /* bytes let out or hidden so far */
    uint64_t hidden;  /* where the last "***" ends in the stream */
    char *held;       /* bytes from `decided` to `end` */
    struct span *spans;
    size_t span_count;
    size_t span_capacity;
};

static const uint64_t NOWHERE = UINT64_MAX;

/* --- building -------------------------------------------------------------------------------- */

static uint32_t start_bit(const char *bytes)
{
    uint32_t number = 0;
    memcpy(&number, bytes, sizeof number);
    return number * 2654435761u >> 16;
}

static uint32_t find_child(const struct mask *mask, uint32_t node, unsigned char byte)
{
    if (node == ROOT)
        return mask->first[byte];
    uint32_t child = mask->nodes[node].child;
    while (child != ROOT && mask->nodes[child].byte != byte)
        child = mask->nodes[child].sibling;
    return child;
}

static uint32_t add_child(struct mask *mask, uint32_t node, unsigned char byte)
{
    CHECK(mask->count < mask->capacity);
    uint32_t child = (uint32_t)mask->count++;
    mask->nodes[child] = (struct node){
        .sibling = mask->nodes[node].child, .depth = mask->nodes[node].depth + 1, .byte = byte};
    mask->nodes[node].child = child;
    if (node == ROOT)
        mask->first[byte] = child;
    return child;
}

static void count_form(void *context, const char *form, size_t length)
{
    struct mask *mask = context;
    (void)form;
    mask->capacity += length;
    mask->longest = MAX(mask->longest, length);
}

static void add_form(void *context, const char *form, size_t length)
{
    struct mask *mask = context;
    CHECK(length >= START_BYTES);
    uint32_t bit = start_bit(form);
    mask->starts[bit / 64] |= (uint64_t)1 << bit % 64;
    uint32_t node = ROOT;
    for (size_t i = 0; i < length; i++) {
        uint32_t child = find_child(mask, node, (unsigned char)form[i]);
        node = child != ROOT ? child : add_child(mask, node, (unsigned char)form[i]);
    }
    mask->nodes[node].match = (uint32_t)length;
}

static uint32_t step(const struct mask *mask, uint32_t state, unsigned char byte)
{
    for (;;) {
        uint32_t child = find_child(mask, state, byte);
        if (child != ROOT || state == ROOT)
            return child;
        state = mask->nodes[state].fail;
    }
}

/* Level by level, since a failure link leads to a lower one. */
static void link_failures(struct mask *mask)
{
    uint32_t *queue = mem_zalloc(mask->count, sizeof *queue);
    size_t queued = 1; /* the root */
    for (size_t done = 0; done < queued; done++) {
        uint32_t parent = queue[done];
        for (uint32_t child = mask->nodes[parent].child; child != ROOT;
             child = mask->nodes[child].sibling) {
            struct node *node = &mask->nodes[child];
            if (parent != ROOT)
                node->fail = step(mask, mask->nodes[parent].fail, node->byte);
            if (node->match == 0)
                node->match = mask->nodes[node->fail].match;
            queue[queued++] = child;
        }
    }
    CHECK(queued == mask->count);
    free(queue);
}

enum status mask_check(const char *const *values, struct err *err)
{
    size_t total = 0;
    for (size_t i = 0; values[i] != NULL; i++)
        total += strlen(values[i]);
    if (total > LIMIT_MASK_BYTES)
        return err_set(err, STATUS_LIMIT, "the secrets to hide are %zu bytes long, at most %d",
                       total, LIMIT_MASK_BYTES);
    return STATUS_OK;
}

enum status mask_new(const char *const *values, struct mask **out_mask, struct err *err)
{
    if (mask_check(values, err) != STATUS_OK)
        return err->code;
    struct mask *mask = mem_zalloc(1, sizeof *mask);
    mask->hidden = NOWHERE;
    /* Counted first: an array that grows leaves copies of what is in it behind. */
    mask->capacity = 1;
    for (size_t i = 0; values[i] != NULL; i++)
        mask_forms_each(values[i], strlen(values[i]), count_form, mask);
    mask->nodes = mem_zalloc(mask->capacity, sizeof *mask->nodes);
    mask->held = mem_alloc(mask->longest + 1);
    mask->count = 1;
    for (size_t i = 0; values[i] != NULL; i++)
        mask_forms_each(values[i], strlen(values[i]), add_form, mask);
    link_failures(mask);
    *out_mask = mask;
    return STATUS_OK;
}

void mask_free(struct mask *mask)
{
    if (mask == NULL)
        return;
    explicit_bzero(mask->nodes, mask->count * sizeof *mask->nodes);
    explicit_bzero(mask->held, mask->longest + 1);
    free(mask->nodes);
    free(mask->held);
    free(mask->spans);
    free(mask);
}

/* --- finding --------------------------------------------------------------------------------- */

static void add_span(struct mask *mask, uint64_t from, uint64_t to)
{
    while (mask->span_count > 0 && mask->spans[mask->span_count - 1].to >= from) {
        mask->span_count--;
        from = MIN(from, mask->spans[mask->span_count].from);
    }
    mask->spans =
        mem_grow(mask->spans, &mask->span_capacity, mask->span_count, sizeof *mask->spans);
    mask->spans[mask->span_count++] = (struct span){from, to};
}

/* The first place from `at` on where a form may begin; the last three always may. */
static size_t skip(const struct mask *mask, const char *bytes, size_t at, size_t length)
{
    while (at + START_BYTES <= length) {
        uint32_t bit = start_bit(bytes + at);
        if (mask->starts[bit / 64] >> bit % 64 & 1)
            break;
        at++;
    }
    return at;
}

static void find_spans(struct mask *mask, const char *bytes, size_t length)
{
    uint32_t state = mask->state;
    for (size_t at = 0; at < length;) {
        if (state == ROOT)
            at = skip(mask, bytes, at, length);
        state = step(mask, state, (unsigned char)bytes[at++]);
        uint32_t match = mask->nodes[state].match;
        if (match > 0)
            add_span(mask, mask->end + at - match, mask->end + at);
    }
    mask->state = state;
    mask->end += length;
}

/* --- letting out ----------------------------------------------------------------------------- */

/* What lies at hand of the stream: what was held, and what was just fed behind it. */
struct piece {
    uint64_t held_from;
    uint64_t fed_from;
    const char *fed;
};

static void let_out(const struct mask *mask, const struct piece *piece, uint64_t to,
                    struct strbuf *out)
{
    uint64_t from = mask->decided;
    uint64_t held_to = MIN(to, piece->fed_from);
    if (from < held_to) {
        strbuf_add_bytes(out, mask->held + (from - piece->held_from), (size_t)(held_to - from));
        from = held_to;
    }
    if (from < to)
        strbuf_add_bytes(out, piece->fed + (from - piece->fed_from), (size_t)(to - from));
}

/* Up to `limit`, or to the end of what is to be hidden there. */
static void decide(struct mask *mask, const struct piece *piece, uint64_t limit, struct strbuf *out)
{
    size_t done = 0;
    for (; done < mask->span_count && mask->spans[done].from <= limit; done++) {
        const struct span *span = &mask->spans[done];
        if (span->from > mask->decided) {
            let_out(mask, piece, span->from, out);
            mask->decided = span->from;
        }
        if (mask->decided != mask->hidden)
            strbuf_add(out, "***");
        mask->decided = mask->hidden = span->to;
    }
    mask->span_count -= done;
    if (mask->span_count > 0)
        memmove(mask->spans, mask->spans + done, mask->span_count * sizeof *mask->spans);
    if (limit > mask->decided) {
        let_out(mask, piece, limit, out);
        mask->decided = limit;
    }
}

/* What is not decided becomes what is held. */
static void hold_rest(struct mask *mask, const struct piece *piece)
{
    CHECK(mask->end - mask->decided <= mask->longest);
    char *to = mask->held;
    uint64_t from = mask->decided;
    if (from < piece->fed_from) {
        size_t kept = (size_t)(piece->fed_from - from);
        memmove(to, mask->held + (from - piece->held_from), kept);
        to += kept;
        from = piece->fed_from;
    }
    if (from < mask->end)
        memcpy(to, piece->fed + (from - piece->fed_from), (size_t)(mask->end - from));
}

void mask_feed(struct mask *mask, const void *bytes, size_t length, struct strbuf *out)
{
    struct piece piece = {.held_from = mask->decided, .fed_from = mask->end, .fed = bytes};
    find_spans(mask, bytes, length);
    decide(mask, &piece, mask->end - mask->nodes[mask->state].depth, out);
    hold_rest(mask, &piece);
}

static void decide_all(struct mask *mask, struct strbuf *out)
{
    struct piece piece = {.held_from = mask->decided, .fed_from = mask->end};
    decide(mask, &piece, mask->end, out);
}

bool mask_is_waiting(const struct mask *mask)
{
    return mask->decided < mask->end && mask->nodes[mask->state].depth < MASK_VALUE_MIN;
}

void mask_idle(struct mask *mask, struct strbuf *out)
{
    if (mask_is_waiting(mask))
        decide_all(mask, out);
}

void mask_flush(struct mask *mask, struct strbuf *out)
{
    uint32_t depth = mask->nodes[mask->state].depth;
    if (depth >= MASK_CUT_MIN)
        add_span(mask, mask->end - depth, mask->end);
    decide_all(mask, out);
    mask->state = ROOT;
    mask->hidden = NOWHERE;
}

void mask_text(struct mask *mask, const char *text, struct strbuf *out)
{
    mask_feed(mask, text, strlen(text), out);
    mask_flush(mask, out);
}
