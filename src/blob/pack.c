#include "blob/pack.h"

#include <zlib.h>

#include "base/mem.h"

enum status pack(const void *bytes, size_t length, void **out_bytes, size_t *out_size,
                 struct err *err)
{
    uLongf size = compressBound(length);
    CLEANUP(mem_freep) void *packed = mem_alloc(size);
    int failure = compress2(packed, &size, bytes, length, Z_DEFAULT_COMPRESSION);
    if (failure != Z_OK)
        return err_set(err, STATUS_IO, "deflate: %s", zError(failure));
    *out_bytes = TAKE(packed);
    *out_size = size;
    return STATUS_OK;
}

enum status unpack(const void *bytes, size_t size, void *out, size_t length, struct err *err)
{
    uLongf got = length;
    int failure = uncompress(out, &got, bytes, size);
    if (failure == Z_OK && got == length)
        return STATUS_OK;
    return err_set(err, STATUS_CORRUPT, "inflate: %s",
                   failure == Z_OK ? "fewer bytes than were packed" : zError(failure));
}
