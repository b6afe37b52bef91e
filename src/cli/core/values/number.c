/* Sizes and counts as people write and read them. */
#include "gufo/print.h"
#include "cli/core/values/number.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Moves past a unit; 1 without a unit. */
static uint64_t read_unit(const char **text, bool binary)
{
    static const char letters[] = "KMGT";
    const char *letter = memchr(letters, toupper((unsigned char)**text), sizeof letters - 1);
    uint64_t factor = 1, step;

    if (letter != NULL) {
        ++*text;
        binary |= tolower((unsigned char)**text) == 'i';
        *text += tolower((unsigned char)**text) == 'i';
        step = binary ? 1024 : 1000;
        for (const char *each = letters; each <= letter; each++)
            factor *= step;
    }
    *text += toupper((unsigned char)**text) == 'B';
    return factor;
}

/* ".25" is 25 of 100; false if there are too many digits. */
static bool read_decimals(const char **text, uint64_t *part, uint64_t *whole)
{
    const char *at = *text + 1;

    *part = 0;
    *whole = 1;
    if (**text != '.')
        return true;
    for (; isdigit((unsigned char)*at) && *whole < 1000000; at++, *whole *= 10)
        *part = *part * 10 + (uint64_t)(*at - '0');
    *text = at;
    return *whole > 1;
}

static bool read_size(const char *text, bool binary, uint64_t *out)
{
    uint64_t number, part, whole, factor, bytes;

    if (!gufo_number_read(&text, &number) || !read_decimals(&text, &part, &whole))
        return false;
    factor = read_unit(&text, binary);
    if (*text != '\0' || (whole > 1 && factor == 1) ||
        __builtin_mul_overflow(number, factor, &bytes))
        return false;
    return !__builtin_add_overflow(bytes, part * factor / whole, out); /* below 10^6 times 2^40 */
}

bool size_read(const char *text, uint64_t *out)
{
    return read_size(text, false, out);
}

bool size_read_memory(const char *text, uint64_t *out)
{
    return read_size(text, true, out);
}

const char *size_likely_unit(const char *text)
{
    uint64_t number;

    if (!gufo_number_read(&text, &number) || *text != '\0' || number == 0 || number >= 1 << 20)
        return NULL;
    return number <= 1024 ? "G" : "M";
}

/* ---- for people ------------------------------------------------------------------------------ */

human_text human_grouped(uint64_t value)
{
    human_text h;

    (void)gufo_number_grouped(h.text, value);
    return h;
}

human_text human_count(uint64_t value)
{
    human_text h;

    (void)gufo_number_count(h.text, value);
    return h;
}

human_text human_memory(uint64_t value)
{
    human_text h;

    (void)gufo_number_memory(h.text, value);
    return h;
}

human_text human_file_size(uint64_t value)
{
    human_text h;

    (void)gufo_number_size(h.text, value);
    return h;
}

human_text human_counted(uint64_t count, const char *one, const char *many)
{
    human_text h = human_grouped(count);
    size_t len = strlen(h.text);

    snprintf(h.text + len, sizeof h.text - len, " %s", count == 1 ? one : many);
    return h;
}
