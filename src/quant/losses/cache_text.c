/* The text of a file of losses, whose fields a tab divides:
 *
 *     gufo losses 1
 *     version     0.1.0
 *     inputs      9f0c5a7e33b1d204
 *     plan        1c44e8a06b97f35d
 *     blk.0.attn_k.weight     Q4_K    0x1.4d1f5e9b3a7c2p-8    0x1.0a3c5e7f90b12p-15    64    1024
 *     ...                     type    loss                    standard error           rows  all rows
 *     end         798         5b8d02e91f6c7a34
 *
 * Each line that is not a loss begins with a word; the last one has the number of losses and a hash of
 * what is before it.  Losses are in the order of tensors. */
#include "quant/losses/losses.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/files/trust.h"
#include "base/text.h"

/* ---- numbers -------------------------------------------------------------------------------- */

enum { MANTISSA = 52, DIGITS = MANTISSA / 4, MOST_EXPONENT = 1100 };

void cache_number(char out[CACHE_NUMBER], double number)
{
    int exponent;
    double part = frexp(number, &exponent);
    uint64_t bits = (uint64_t)ldexp(part, MANTISSA + 1) - (UINT64_C(1) << MANTISSA);

    if (number == 0)
        (void)snprintf(out, CACHE_NUMBER, "0");
    else
        (void)snprintf(out, CACHE_NUMBER, "0x1.%013" PRIx64 "p%+d", bits, exponent - 1);
}

static bool read_exponent(gufo_str text, int *out)
{
    bool minus = text.len > 0 && text.data[0] == '-';
    uint64_t number;

    if (text.len < 2 || (!minus && text.data[0] != '+') ||
        !str_number(str_from(text, 1), &number) || number > MOST_EXPONENT)
        return false;
    *out = minus ? -(int)number : (int)number;
    return true;
}

bool cache_read_number(gufo_str text, double *out)
{
    static const char start[] = "0x1.";
    uint64_t bits;
    int exponent;

    *out = 0;
    if (gufo_str_equal(text, gufo_str_of("0")))
        return true;
    if (!str_begins(text, start) || str_hex(text, sizeof start - 1, DIGITS, &bits) < DIGITS)
        return false;
    bits |= UINT64_C(1) << 4 * DIGITS;
    text = str_from(text, sizeof start - 1 + DIGITS);
    if (text.len == 0 || text.data[0] != 'p' || !read_exponent(str_from(text, 1), &exponent))
        return false;
    *out = ldexp((double)bits, exponent - MANTISSA);
    return isfinite(*out);
}

/* ---- names ---------------------------------------------------------------------------------- */

static bool is_plain(char c)
{
    return (unsigned char)c >= ' ' && c != '\\' && c != 0x7f;
}

bool cache_name(buffer *out, gufo_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char text[8];
        int len = is_plain(name.data[i])
                      ? snprintf(text, sizeof text, "%c", name.data[i])
                      : snprintf(text, sizeof text, "\\x%02x", (unsigned char)name.data[i]);

        if (!buffer_append(out, text, (uint64_t)len))
            return false;
    }
    return true;
}

bool cache_read_name(char *text, gufo_str *name, size_t len)
{
    size_t used = 0;
    uint64_t byte;

    for (size_t i = 0; i < len; i++) {
        if (!is_plain(text[i]) && text[i] != '\\')
            return false;
        if (text[i] != '\\') {
            text[used++] = text[i];
            continue;
        }
        if (len - i < 4 || text[i + 1] != 'x' ||
            str_hex((gufo_str){text, len}, i + 2, 2, &byte) < 2)
            return false;
        text[used++] = (char)byte;
        i += 3;
    }
    *name = (gufo_str){text, used};
    return true;
}

/* ---- lines ---------------------------------------------------------------------------------- */

gufo_str cache_field(gufo_str *rest)
{
    const char *tab = rest->len > 0 ? memchr(rest->data, '\t', rest->len) : NULL;
    gufo_str field = {rest->data, tab != NULL ? (size_t)(tab - rest->data) : rest->len};

    *rest = str_from(*rest, field.len + (tab != NULL));
    return field;
}

/* ---- files ---------------------------------------------------------------------------------- */

const char *cache_obstacle(int fd, uint64_t *size)
{
    struct stat info;

    if (fstat(fd, &info) != 0)
        return "it cannot be examined";
    *size = (uint64_t)info.st_size;
    return trust_own(&info);
}
