#include "os/secret_box.h"

#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/check.h"
#include "base/rng.h"

enum {
    VERSION = 1,
    NONCE_BYTES = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG_BYTES = crypto_aead_xchacha20poly1305_ietf_ABYTES,
};
_Static_assert((int)SECRET_KEY_BYTES == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "a key fits");

/* In front of what is encrypted; all bytes, so without gaps. */
struct head {
    uint8_t version;
    uint8_t key_id[SECRET_KEY_ID_BYTES];
    uint8_t nonce[NONCE_BYTES];
};
_Static_assert(sizeof(struct head) == 1 + SECRET_KEY_ID_BYTES + NONCE_BYTES, "no gaps");

enum { SEALED_BYTES_MAX = sizeof(struct head) + SECRET_BOX_BYTES_MAX + TAG_BYTES };

/* --- values ---------------------------------------------------------------------------------- */

static struct secret_value value_alloc(size_t length)
{
    CHECK(sodium_init() >= 0);
    struct secret_value value = {.bytes = sodium_malloc(length + 1), .length = length};
    CHECK(value.bytes != NULL);
    value.bytes[length] = '\0';
    return value;
}

struct secret_value secret_value_new(const char *bytes, size_t length)
{
    struct secret_value value = value_alloc(length);
    memcpy(value.bytes, bytes, length);
    return value;
}

void secret_value_fini(struct secret_value *value)
{
    sodium_free(value->bytes);
    *value = (struct secret_value){0};
}

void secret_wipe(void *bytes, size_t length)
{
    sodium_memzero(bytes, length);
}

/* --- sealing --------------------------------------------------------------------------------- */

/* What is authenticated beside the value: version, key id, and each part with its length. */
static void bind(struct strbuf *out, const struct head *head, const struct secret_context *context)
{
    const char *const parts[] = {context->kind, context->space, context->name};
    strbuf_init(out, 1 << 20);
    strbuf_add_bytes(out, head, offsetof(struct head, nonce));
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        uint32_t length = (uint32_t)strlen(parts[i]);
        const uint8_t bytes[] = {(uint8_t)length, (uint8_t)(length >> 8), (uint8_t)(length >> 16),
                                 (uint8_t)(length >> 24)};
        strbuf_add_bytes(out, bytes, sizeof bytes);
        strbuf_add_bytes(out, parts[i], length);
    }
    CHECK(!out->overflow);
}

enum status secret_box_seal(const struct secret_keys *keys, const struct secret_context *context,
                            const struct secret_value *plain, struct strbuf *out, struct err *err)
{
    CHECK(keys->count > 0);
    CHECK(sodium_init() >= 0);
    if (plain->length > SECRET_BOX_BYTES_MAX)
        return err_set(err, STATUS_LIMIT, "%s '%s': longer than %d bytes", context->kind,
                       context->name, SECRET_BOX_BYTES_MAX);
    struct head head = {.version = VERSION};
    memcpy(head.key_id, keys->keys[0].id, sizeof head.key_id);
    rng_bytes(head.nonce, sizeof head.nonce);

    CLEANUP(strbuf_fini) struct strbuf bound;
    bind(&bound, &head, context);
    CLEANUP(strbuf_fini) struct strbuf sealed;
    strbuf_init(&sealed, SEALED_BYTES_MAX);
    strbuf_add_bytes(&sealed, &head, sizeof head);
    strbuf_add_repeat(&sealed, '\0', plain->length + TAG_BYTES);
    unsigned char *cipher = (unsigned char *)sealed.text + sizeof head;
    CHECK(crypto_aead_xchacha20poly1305_ietf_encrypt(
              cipher, NULL, (const unsigned char *)plain->bytes, plain->length,
              (const unsigned char *)bound.text, bound.length, NULL, head.nonce,
              keys->keys[0].bytes) == 0);
    base64_encode(out, sealed.text, sealed.length);
    return STATUS_OK;
}

/* --- opening --------------------------------------------------------------------------------- */

/* The bytes of a sealed text; false: it is none of ours. */
static bool decode(const char *sealed, struct strbuf *out, struct head *out_head)
{
    strbuf_init(out, SEALED_BYTES_MAX);
    if (!base64_decode(out, sealed, strlen(sealed)) || out->overflow ||
        out->length < sizeof *out_head + TAG_BYTES)
        return false;
    memcpy(out_head, out->text, sizeof *out_head);
    return true;
}

static const struct secret_key *find_key(const struct secret_keys *keys, const struct head *head)
{
    for (size_t i = 0; i < keys->count; i++)
        if (memcmp(keys->keys[i].id, head->key_id, sizeof head->key_id) == 0)
            return &keys->keys[i];
    return NULL;
}

static enum status other_key(const struct secret_keys *keys, const struct secret_context *context,
                             const struct head *head, struct err *err)
{
    char theirs[SECRET_KEY_ID_MAX];
    CLEANUP(strbuf_fini) struct strbuf ours;
    strbuf_init(&ours, 256);
    for (size_t i = 0; i < keys->count; i++) {
        char id[SECRET_KEY_ID_MAX];
        strbuf_addf(&ours, "%s%s", i > 0 ? ", " : "", secret_key_id_format(keys->keys[i].id, id));
    }
    return err_set(err, STATUS_DENIED,
                   "%s '%s': sealed with another key (id %s), this host has (id %s): give it that "
                   "key, EIDER_SECRET_KEY or secret_key_file",
                   context->kind, context->name, secret_key_id_format(head->key_id, theirs),
                   ours.text);
}

enum status secret_box_open(const struct secret_keys *keys, const struct secret_context *context,
                            const char *sealed, struct secret_value *out_plain, struct err *err)
{
    CLEANUP(strbuf_fini) struct strbuf bytes;
    struct head head;
    if (!decode(sealed, &bytes, &head))
        return err_set(err, STATUS_INVALID, "%s '%s': this is not a sealed value", context->kind,
                       context->name);
    if (head.version != VERSION)
        return err_set(err, STATUS_INVALID,
                       "%s '%s': sealed in form %u, which this version of eider does not know",
                       context->kind, context->name, head.version);
    const struct secret_key *key = find_key(keys, &head);
    if (key == NULL)
        return other_key(keys, context, &head, err);

    CLEANUP(strbuf_fini) struct strbuf bound;
    bind(&bound, &head, context);
    size_t length = bytes.length - sizeof head;
    struct secret_value plain = value_alloc(length - TAG_BYTES);
    if (crypto_aead_xchacha20poly1305_ietf_decrypt((unsigned char *)plain.bytes, NULL, NULL,
                                                   (const unsigned char *)bytes.text + sizeof head,
                                                   length, (const unsigned char *)bound.text,
                                                   bound.length, head.nonce, key->bytes) != 0) {
        secret_value_fini(&plain);
        return err_set(err, STATUS_CORRUPT, "%s '%s': damaged, or sealed for another name",
                       context->kind, context->name);
    }
    *out_plain = plain;
    return STATUS_OK;
}

bool secret_box_is_outdated(const struct secret_keys *keys, const char *sealed)
{
    CLEANUP(strbuf_fini) struct strbuf bytes;
    struct head head;
    return decode(sealed, &bytes, &head) &&
           memcmp(head.key_id, keys->keys[0].id, sizeof head.key_id) != 0;
}

bool secret_box_key_id(const char *sealed, char out[SECRET_KEY_ID_MAX])
{
    CLEANUP(strbuf_fini) struct strbuf bytes;
    struct head head;
    if (!decode(sealed, &bytes, &head))
        return false;
    (void)secret_key_id_format(head.key_id, out);
    return true;
}
