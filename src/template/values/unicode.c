/* What Unicode says of code points, by utf8proc. */
#include "template/values/unicode.h"

#include <utf8proc.h>

_Static_assert((int)UNICODE_LU == UTF8PROC_CATEGORY_LU && (int)UNICODE_CO == UTF8PROC_CATEGORY_CO,
               "its categories are in this order");

unicode_category unicode_category_of(uint32_t point)
{
    return (unicode_category)utf8proc_category((utf8proc_int32_t)point);
}

uint32_t unicode_lower(uint32_t point)
{
    return (uint32_t)utf8proc_tolower((utf8proc_int32_t)point);
}

uint32_t unicode_upper(uint32_t point)
{
    return (uint32_t)utf8proc_toupper((utf8proc_int32_t)point);
}

uint32_t unicode_title(uint32_t point)
{
    return (uint32_t)utf8proc_totitle((utf8proc_int32_t)point);
}

size_t unicode_fold(uint32_t point, uint32_t out[3])
{
    utf8proc_int32_t folded[8];
    int boundary = 0;
    utf8proc_ssize_t count =
        utf8proc_decompose_char((utf8proc_int32_t)point, folded, 8, UTF8PROC_CASEFOLD, &boundary);

    if (count < 1 || count > 3) {
        out[0] = point;
        return 1;
    }
    for (utf8proc_ssize_t i = 0; i < count; i++)
        out[i] = (uint32_t)folded[i];
    return (size_t)count;
}
