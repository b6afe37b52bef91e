/* Sizes. */
#include "cli/core/values/size.h"

#include "base/checked.h"
#include "cli/core/values/number.h"

#include <ctype.h>
#include <string.h>

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

    if (!number_read(&text, &number) || !read_decimals(&text, &part, &whole))
        return false;
    factor = read_unit(&text, binary);
    if (*text != '\0' || (whole > 1 && factor == 1) || !checked_mul(number, factor, &bytes))
        return false;
    return checked_add(bytes, part * factor / whole, out); /* below 10^6 times 2^40 */
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

    if (!number_read(&text, &number) || *text != '\0' || number == 0 || number >= 1 << 20)
        return NULL;
    return number <= 1024 ? "G" : "M";
}
