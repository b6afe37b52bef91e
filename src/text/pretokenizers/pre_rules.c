/* The tables of pre-tokenizers: what follows from a name, and the steps that a tokenizer.json has for it. */
#include "text/pretokenizers/pre_rules.h"

#include <string.h>

#include "base/text.h"

/* "-" is no; the size of a text is a constant, its content is not. */
#define YES(column) (sizeof(column) > sizeof "-")
#define IS(column, word) (sizeof(column) == sizeof(word))

static const pre_rules rules[] = {
#define ROW(id, shape, clean, ignore, bos, escape, raw, newlines, unmerged)           \
    {id,           shape,          YES(clean),        YES(ignore),     YES(escape),   \
     YES(raw),     IS(bos, "yes"), IS(bos, "forced"), IS(bos, "none"), YES(newlines), \
     YES(unmerged)},
#include "registry/pretokenizer_rules.inc"
#undef ROW
};

const pre_rules *pre_rules_find(gufo_str name)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strlen(rules[i].name) == name.len && memcmp(rules[i].name, name.data, name.len) == 0)
            return &rules[i];
    }
    return NULL;
}

const pre_rules *pre_rules_at(size_t index)
{
    return index < sizeof rules / sizeof *rules ? &rules[index] : NULL;
}

/* ---- steps of a tokenizer.json: by steps, and by name --------------------------------------- */

static const pre_step table[] = {
#define ROW(pre, ignore_merges, step) {pre, ignore_merges, step},
#include "registry/pretokenizer_steps.inc"
#undef ROW
};

enum { ROWS = sizeof table / sizeof *table };

const pre_step *pre_step_at(size_t index)
{
    return index < ROWS ? &table[index] : NULL;
}

static bool begins_shape(size_t row)
{
    return row == ROWS || table[row].pre[0] != '\0';
}

/* Whether the shape that begins at a row has these steps. */
static bool matches(size_t row, gufo_str steps)
{
    do {
        size_t len = strlen(table[row].step);

        if (!str_begins(steps, table[row].step) || steps.len == len || steps.data[len] != '\n')
            return false;
        steps = str_from(steps, len + 1);
    } while (!begins_shape(++row));
    return steps.len == 0;
}

const char *pre_of_steps(gufo_str steps, bool ignore_merges)
{
    for (size_t row = 0; row < ROWS; row++) {
        const char *needed = table[row].ignore_merges;

        if (begins_shape(row) && matches(row, steps) &&
            (needed[0] == '\0' || (strcmp(needed, "yes") == 0) == ignore_merges))
            return table[row].pre;
    }
    return NULL;
}

static const char *shape_of(const char *pre)
{
    const pre_rules *found = pre_rules_find(gufo_str_of(pre));

    return found != NULL ? found->shape : "";
}

const pre_step *pre_steps_of(const char *pre)
{
    for (size_t row = 0; row < ROWS; row++)
        if (strcmp(table[row].pre, pre) == 0)
            return &table[row];
    for (size_t row = 0; row < ROWS; row++)
        if (begins_shape(row) && *shape_of(pre) != '\0' &&
            strcmp(shape_of(table[row].pre), shape_of(pre)) == 0)
            return &table[row];
    return NULL;
}

bool pre_step_is_last(const pre_step *row)
{
    return begins_shape((size_t)(row - table) + 1);
}
