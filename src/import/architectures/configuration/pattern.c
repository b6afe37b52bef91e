/* Patterns of names.  fnmatch cannot say what {b} and {e} are, knows [ and ?, which names may have, and
 * depends on the locale.  A star takes the shortest run first, and after a mismatch the last one takes a
 * character more, so that the time is at most the product of both lengths. */
#include "import/architectures/configuration/pattern.h"

#include "base/text.h"

/* A placeholder at the start of a pattern: "{b}" or "{e}". */
static uint64_t *number_of(gufo_str pattern, pattern_numbers *numbers)
{
    if (str_begins(pattern, "{b}"))
        return &numbers->block;
    return str_begins(pattern, "{e}") ? &numbers->entry : NULL;
}

/* Takes one thing that is not "*" from pattern and name. */
static bool take_one(gufo_str *pattern, gufo_str *name, pattern_numbers *numbers)
{
    uint64_t *number = number_of(*pattern, numbers);
    gufo_str digits;

    if (number == NULL) {
        if (name->len == 0 || *name->data != *pattern->data)
            return false;
        *pattern = str_from(*pattern, 1);
        *name = str_from(*name, 1);
        return true;
    }
    digits = (gufo_str){name->data, str_digits(*name, 0)};
    if (digits.len == 0 || !str_number(digits, number))
        return false;
    *pattern = str_from(*pattern, 3);
    *name = str_from(*name, digits.len);
    return true;
}

bool pattern_matches(gufo_str pattern, gufo_str name, pattern_numbers *numbers)
{
    gufo_str star = {0}, from = {0};
    pattern_numbers found = {UINT64_MAX, UINT64_MAX};

    while (name.len > 0 || pattern.len > 0) {
        if (pattern.len > 0 && *pattern.data == '*') {
            pattern = str_from(pattern, 1);
            if (pattern.len == 0)
                break;
            star = pattern;
            from = name;
            continue;
        }
        if (pattern.len > 0 && take_one(&pattern, &name, &found))
            continue;
        if (star.data == NULL || from.len == 0)
            return false;
        from = str_from(from, 1);
        pattern = star;
        name = from;
    }
    if (numbers != NULL)
        *numbers = found;
    return true;
}
