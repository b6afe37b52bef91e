/* The table registry/pretokenizer_steps.tsv: by steps, and by name. */
#include "text/pretokenizers/pre_steps.h"

#include <string.h>

#include "base/text.h"
#include "text/pretokenizers/pretokenizer.h"

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
    const pre_rules *rules = pre_rules_find(gufo_str_of(pre));

    return rules != NULL ? rules->shape : "";
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
