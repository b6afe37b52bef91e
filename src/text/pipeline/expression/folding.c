/* Characters of any case, by full case folding: s S ſ are the same, and so are ß ẞ ss.
 *
 *     (?i:ss)      (?:[sSſ][sSſ]|[ßẞ])
 *     (?i:[a-zß])  (?:[a-zA-ZſKßẞ]|[sSſ][sSſ]) */
#include "base/error.h"
#include "text/pipeline/expression/parser.h"

enum { MOST_FOLDED = 3, MOST_WRITTEN = 1 << 16 };

/* In the order of code points; 0 behind the last character of a text. */
static const struct {
    uint32_t code, folded[MOST_FOLDED];
} rows[] = {
#define ROW(code, first, second, third) {code, {first, second, third}},
#include "registry/case_folds.inc"
#undef ROW
};

#define ROW_COUNT (sizeof rows / sizeof *rows)

static size_t folded_length(size_t row)
{
    return rows[row].folded[1] == 0 ? 1 : rows[row].folded[2] == 0 ? 2 : 3;
}

/* The row of a character; ROW_COUNT: it is folded already. */
static size_t find_row(uint32_t code)
{
    size_t low = 0, high = ROW_COUNT;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (rows[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ROW_COUNT && rows[low].code == code ? low : ROW_COUNT;
}

static bool folds_to(size_t row, const uint32_t *text, size_t count)
{
    bool same = folded_length(row) == count;

    for (size_t i = 0; i < count && same; i++)
        same = rows[row].folded[i] == text[i];
    return same;
}

/* Writes the characters that fold to a text; *any: whether there are some. */
static gufo_status write_characters(parser *p, const uint32_t *text, size_t count, bool *any)
{
    code_ranges set = {.allocator = p->out->allocator};
    bool done = count > 1 || code_ranges_add(&set, *text, *text);

    for (size_t i = 0; i < ROW_COUNT && done; i++)
        if (folds_to(i, text, count))
            done = code_ranges_add(&set, rows[i].code, rows[i].code);
    if (!done) {
        code_ranges_free(&set);
        return fail_memory(p->error);
    }
    *any = set.count > 0;
    code_ranges_sort(&set);
    return *any ? parser_write_set(p, &set) : GUFO_OK;
}

static bool has_several(const uint32_t *text, size_t count)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (folds_to(i, text, count))
            return true;
    return false;
}

/* Writes what matches a folded text.  Where a character stands for several there are two ways on. */
static gufo_status write_ways(parser *p, const uint32_t *text, size_t count)
{
    gufo_status status = GUFO_OK;
    size_t at = 0, groups = 0;
    bool any;

    for (; at < count && status == GUFO_OK; at++) {
        bool opened = false;

        for (size_t len = 2; len <= MOST_FOLDED && len <= count - at && status == GUFO_OK; len++) {
            if (!has_several(text + at, len))
                continue;
            status = parser_write(p, opened ? "|" : "(?:");
            opened = true;
            if (status == GUFO_OK)
                status = write_characters(p, text + at, len, &any);
            if (status == GUFO_OK)
                status = write_ways(p, text + at + len, count - at - len);
        }
        if (p->out->text.len > MOST_WRITTEN)
            return refuse(p->error, GUFO_E_LIMIT,
                          "the regular expression %s has too many forms in other cases",
                          QUOTED(p->text));
        groups += opened;
        if (opened && status == GUFO_OK)
            status = parser_write(p, "|");
        if (status == GUFO_OK)
            status = write_characters(p, text + at, 1, &any);
    }
    for (; groups > 0 && status == GUFO_OK; groups--)
        status = parser_write(p, ")");
    return status;
}

gufo_status parser_write_folded(parser *p, uint32_t code)
{
    size_t row = find_row(code);

    for (size_t i = 0; i < (row < ROW_COUNT ? folded_length(row) : 1); i++) {
        uint32_t *text = (uint32_t *)buffer_extend(&p->folded, sizeof *text);

        if (text == NULL)
            return fail_memory(p->error);
        *text = row < ROW_COUNT ? rows[row].folded[i] : code;
    }
    return GUFO_OK;
}

gufo_status parser_end_folded(parser *p)
{
    const uint32_t *text = (const uint32_t *)(const void *)p->folded.data;
    size_t count = p->folded.len / sizeof *text;
    gufo_status status;

    if (count == 0)
        return GUFO_OK;
    status = parser_write(p, "(?:");
    if (status == GUFO_OK)
        status = write_ways(p, text, count);
    p->folded.len = 0;
    return status == GUFO_OK ? parser_write(p, ")") : status;
}

/* Whether the set has a character that folds to the same text. */
static bool has_same(const code_ranges *set, size_t row)
{
    size_t len = folded_length(row);
    bool has = len == 1 && code_ranges_has(set, rows[row].folded[0]);

    for (size_t i = 0; i < ROW_COUNT && len > 1 && !has; i++)
        has = folds_to(i, rows[row].folded, len) && code_ranges_has(set, rows[i].code);
    return has;
}

/* Adds the other characters of those that fold to the same. */
static bool fold_ranges(code_ranges *set)
{
    code_ranges more = {.allocator = set->allocator};
    bool done = true;

    for (size_t i = 0; i < ROW_COUNT && done; i++)
        if (folded_length(i) == 1 && code_ranges_has(set, rows[i].code))
            done = code_ranges_add(&more, rows[i].folded[0], rows[i].folded[0]);
    done = done && code_ranges_join(set, &more);
    code_ranges_sort(set);
    more.count = 0;
    for (size_t i = 0; i < ROW_COUNT && done; i++)
        if (has_same(set, i))
            done = code_ranges_add(&more, rows[i].code, rows[i].code);
    done = done && code_ranges_join(set, &more);
    code_ranges_sort(set);
    code_ranges_free(&more);
    return done;
}

gufo_status parser_write_folded_set(parser *p, code_ranges *set, bool negated)
{
    bool longer[ROW_COUNT] = {false};
    gufo_status status = parser_write(p, "(?:");

    if (status == GUFO_OK && !fold_ranges(set))
        status = fail_memory(p->error);
    for (size_t i = 0; i < ROW_COUNT; i++)
        longer[i] = !negated && folded_length(i) > 1 && code_ranges_has(set, rows[i].code);
    if (status == GUFO_OK && negated && !code_ranges_invert(set))
        status = fail_memory(p->error);
    if (status == GUFO_OK)
        status = parser_write_set(p, set);
    else
        code_ranges_free(set);
    for (size_t i = 0; i < ROW_COUNT && status == GUFO_OK; i++) {
        if (!longer[i])
            continue;
        status = parser_write(p, "|");
        if (status == GUFO_OK)
            status = write_ways(p, rows[i].folded, folded_length(i));
    }
    return status == GUFO_OK ? parser_write(p, ")") : status;
}
