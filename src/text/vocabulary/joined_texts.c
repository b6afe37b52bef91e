/* Looking up what pairs of texts make: the expected text is compared first, the others are looked up in a batch. */
#include "text/vocabulary/joined_texts.h"

#include <string.h>

#include "base/text.h"
#include "base/buffer.h"

/* Of several numbers with one text the expected one may be the wrong one. */
static bool is_at(const joined_texts *j, uint32_t number, gufo_str left, gufo_str right)
{
    gufo_str text;

    if (number >= j->texts->count || j->texts->repeats)
        return false;
    text = text_at(j->texts, number);
    return text.len == left.len + right.len && memcmp(text.data, left.data, left.len) == 0 &&
           memcmp(text.data + left.len, right.data, right.len) == 0;
}

/* The next one, or, of merges that make the same, the one before again. */
static bool is_expected(joined_texts *j, gufo_str left, gufo_str right, uint32_t *number)
{
    if (is_at(j, j->expected, left, right))
        *number = j->expected++;
    else if (j->expected > 0 && is_at(j, j->expected - 1, left, right))
        *number = j->expected - 1;
    else
        return false;
    return true;
}

static gufo_str join(gufo_text *to, gufo_str left, gufo_str right)
{
    const size_t begin = to->len;

    (void)text_add(to, left.data, left.len); /* there is room */
    (void)text_add(to, right.data, right.len);
    return (gufo_str){to->data + begin, to->len - begin};
}

static bool make_room(joined_texts *j, const gufo_str *texts, uint32_t count)
{
    size_t size = 0;

    for (uint32_t i = 0; i < count; i++)
        size += texts[i].len;
    j->joined.len = 0;
    return text_reserve(&j->joined, size);
}

bool joined_find(joined_texts *j, const gufo_str *pairs, uint32_t count, uint32_t *numbers)
{
    gufo_str texts[JOINED_BATCH];
    uint32_t found[JOINED_BATCH], places[JOINED_BATCH], others = 0;

    if (!make_room(j, pairs, 2 * count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        gufo_str left = pairs[2 * i], right = str_from(pairs[2 * i + 1], j->prefix);

        if (is_expected(j, left, right, &numbers[i]))
            continue;
        texts[others] = join(&j->joined, left, right);
        places[others++] = i;
    }
    text_table_find_batch(j->texts, texts, others, found);
    for (uint32_t i = 0; i < others; i++)
        numbers[places[i]] = found[i];
    if (others == count && count > 0 && numbers[count - 1] != UINT32_MAX)
        j->expected = numbers[count - 1] + 1;
    return true;
}

gufo_str joined_text(joined_texts *j, const gufo_str pair[2])
{
    return make_room(j, pair, 2) ? join(&j->joined, pair[0], str_from(pair[1], j->prefix))
                                 : (gufo_str){NULL, 0};
}
