/* What Unicode says of code points, by the browser, which knows it anyway (web/page/worker.js).
 *
 * Categories come by pages of 256, of which a few are kept: a text has letters of few scripts. */
#include "template/values/unicode.h"

#include <stdbool.h>

__attribute__((import_module("host"), import_name("categories"))) void host_categories(
    uint32_t first, uint8_t categories[256]);
__attribute__((import_module("host"), import_name("change_case"))) uint32_t host_change_case(
    uint32_t point, uint32_t which, uint32_t out[3]);

/* In the order in which JavaScript has them. */
enum { TO_LOWER, TO_UPPER, TO_TITLE, TO_FOLDED };

enum { PAGE = 256, KEPT = 64 };

unicode_category unicode_category_of(uint32_t point)
{
    static struct {
        bool filled;
        uint32_t first;
        uint8_t categories[PAGE];
    } pages[KEPT];
    uint32_t first = point / PAGE * PAGE, place = point / PAGE % KEPT;

    if (!pages[place].filled || pages[place].first != first)
        host_categories(first, pages[place].categories);
    pages[place].filled = true;
    pages[place].first = first;
    return (unicode_category)pages[place].categories[point % PAGE];
}

static uint32_t change_simply(uint32_t point, uint32_t which)
{
    uint32_t out[3];

    return host_change_case(point, which, out) == 1 ? out[0] : point;
}

uint32_t unicode_lower(uint32_t point)
{
    return change_simply(point, TO_LOWER);
}

uint32_t unicode_upper(uint32_t point)
{
    return change_simply(point, TO_UPPER);
}

uint32_t unicode_title(uint32_t point)
{
    return change_simply(point, TO_TITLE);
}

size_t unicode_fold(uint32_t point, uint32_t out[3])
{
    size_t count = host_change_case(point, TO_FOLDED, out);

    if (count > 0)
        return count;
    out[0] = point;
    return 1;
}
