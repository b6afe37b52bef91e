/* Numbers in bytes of either order.
 *
 * Loads read memory once: a mapped file may change at any moment, and a number that was checked
 * must be the number that is used.  The empty asm prevents the compiler from reading the memory a
 * second time. */
#ifndef GUFO_BASE_BYTES_H
#define GUFO_BASE_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HOST_IS_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* Whether numbers in byte order `big` have to be swapped on this machine. */
static inline bool bytes_swapped(bool big)
{
    return big != HOST_IS_BIG_ENDIAN;
}

/* Copies one number.  The compiler makes a single move of a size that it knows. */
static inline void copy_number(uint8_t *to, const uint8_t *from, size_t size)
{
    switch (size) {
    case 2:
        memcpy(to, from, 2);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    default:
        memcpy(to, from, size);
    }
}

static inline uint16_t load_u16(const void *at, bool swap)
{
    uint16_t v;

    memcpy(&v, at, sizeof v);
    __asm__("" : "+r"(v));
    return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t load_u32(const void *at, bool swap)
{
    uint32_t v;

    memcpy(&v, at, sizeof v);
    __asm__("" : "+r"(v));
    return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t load_u64(const void *at, bool swap)
{
    uint64_t v;

    memcpy(&v, at, sizeof v);
    __asm__("" : "+r"(v));
    return swap ? __builtin_bswap64(v) : v;
}

/* Up to eight bytes as a little-endian number, zeros behind the last of fewer.  Loads that overlap,
 * and no loop: how many bytes there are cannot be foretold, and a wrong guess costs more. */
static inline uint64_t load_start(const void *at, size_t len)
{
    const unsigned char *bytes = at;
    uint64_t middle, last;

    if (len >= 8)
        return load_u64(at, HOST_IS_BIG_ENDIAN);
    if (len >= 4) {
        last = load_u32(bytes + len - 4, HOST_IS_BIG_ENDIAN);
        return load_u32(at, HOST_IS_BIG_ENDIAN) | last << 8 * (len - 4);
    }
    if (len == 0)
        return 0;
    middle = bytes[len / 2];
    last = bytes[len - 1];
    return bytes[0] | middle << 8 * (len / 2) | last << 8 * (len - 1);
}

static inline void store_u16(void *at, uint16_t v, bool swap)
{
    v = swap ? __builtin_bswap16(v) : v;
    memcpy(at, &v, sizeof v);
}

static inline void store_u32(void *at, uint32_t v, bool swap)
{
    v = swap ? __builtin_bswap32(v) : v;
    memcpy(at, &v, sizeof v);
}

static inline void store_u64(void *at, uint64_t v, bool swap)
{
    v = swap ? __builtin_bswap64(v) : v;
    memcpy(at, &v, sizeof v);
}

/* Of files of our own, which are little-endian everywhere. */
static inline uint64_t load_little_u64(const void *at)
{
    return load_u64(at, HOST_IS_BIG_ENDIAN);
}

static inline void store_little_u64(void *at, uint64_t v)
{
    store_u64(at, v, HOST_IS_BIG_ENDIAN);
}

/* Copies `count` numbers of `width` bytes (1, 2, 4 or 8), swapping each if asked. */
static inline void copy_numbers(void *to, const void *from, uint64_t count, size_t width, bool swap)
{
    unsigned char *out = to;
    const unsigned char *in = from;

    if (!swap || width == 1) {
        memcpy(out, in, (size_t)count * width);
        return;
    }
    for (uint64_t i = 0; i < count; i++, in += width, out += width) {
        if (width == 2)
            store_u16(out, load_u16(in, true), false);
        else if (width == 4)
            store_u32(out, load_u32(in, true), false);
        else
            store_u64(out, load_u64(in, true), false);
    }
}

#endif
