/* The table of operations. */
#include <string.h>

#include "base/text.h"
#include "import/architectures/operations/operation.h"

static const operation operations[] = {
    /* names */
    {"plain", "", OPERATION_ON_ITEMS, names_keep, 0},
    {"drop", "", OPERATION_ON_ITEMS, names_drop, OPERATION_DROPS},
    {"skip", "", OPERATION_ON_ITEMS, names_skip, OPERATION_DROPS},
    {"rename", "t|t", OPERATION_ON_NAMES, names_rename, 0},
    {"strip", "t", OPERATION_ON_NAMES, names_strip, 0},
    {"begin", "t", OPERATION_ON_NAMES, names_begin, 0},
    {"end", "t", OPERATION_ON_NAMES, names_end, 0},
    {"renumber", "n", OPERATION_ON_NAMES, names_renumber, 0},
    {"first", "t", OPERATION_ON_ITEMS, names_first, 0},
    /* shapes and parts */
    {"transpose", "", OPERATION_ON_VIEWS, shape_transpose, OPERATION_TRANSPOSES},
    {"swap", "nn", OPERATION_ON_VIEWS, shape_swap, 0},
    {"reshape", "n|*", OPERATION_ON_VIEWS, shape_reshape, 0},
    {"squeeze", "", OPERATION_ON_VIEWS, shape_squeeze, 0},
    {"column", "", OPERATION_ON_VIEWS, shape_column, 0},
    {"flatten", "", OPERATION_ON_VIEWS, shape_flatten, 0},
    {"divide", "n|t", OPERATION_ON_ITEMS, shape_divide, 0},
    {"split", "nn|*", OPERATION_ON_ITEMS, shape_split, 0},
    {"alternate", "|t", OPERATION_ON_ITEMS, shape_alternate, 0},
    {"copy", "", OPERATION_ON_ITEMS, shape_copy, 0},
    {"firstrows", "n", OPERATION_ON_VIEWS, shape_first_rows, 0},
    {"rowsfrom", "n", OPERATION_ON_VIEWS, shape_rows_from, 0},
    {"padrows", "n", OPERATION_ON_VIEWS, shape_pad_rows, 0},
    {"repeat", "n", OPERATION_ON_VIEWS, shape_repeat, 0},
    /* several tensors */
    {"stack", "t|n", OPERATION_STACKS, NULL, OPERATION_NEW_AXIS},
    {"join", "t|n", OPERATION_STACKS, NULL, 0},
    /* heads */
    {"permute", "n", OPERATION_ON_VIEWS, heads_permute, 0},
    {"unpermute", "nn", OPERATION_ON_VIEWS, heads_unpermute, 0},
    {"regroup3", "n", OPERATION_ON_VIEWS, heads_regroup3, 0},
    {"regroupkv", "nn", OPERATION_ON_ITEMS, heads_regroup_kv, 0},
    {"splitkv", "nn", OPERATION_ON_ITEMS, heads_split_kv, 0},
    {"qkvz", "nnnn", OPERATION_ON_ITEMS, heads_qkvz, 0},
    {"tile", "nnn|n", OPERATION_ON_VIEWS, heads_tile, 0},
    {"tilecolumns", "nnn", OPERATION_ON_VIEWS, heads_tile_columns, 0},
    /* arithmetic */
    {"add", "r", OPERATION_ON_VIEWS, values_add, 0},
    {"negexp", "", OPERATION_ON_VIEWS, values_neg_exp, 0},
    {"halve", "n", OPERATION_ON_VIEWS, values_halve, 0},
    {"multiply", "r", OPERATION_ON_VIEWS, values_multiply, 0},
    {"ternary", "", OPERATION_ON_VIEWS, values_ternary, 0},
    {"multiplyrows", "tnn|*", OPERATION_ON_VIEWS, values_multiply_rows, 0},
    /* what looks at numbers */
    {"zero", "", OPERATION_ON_ITEMS, data_zero, OPERATION_DROPS},
    {"diagonal", "nnn|*", OPERATION_ON_ITEMS, data_diagonal, 0},
    {"dropifequal", "t", OPERATION_ON_ITEMS, data_drop_if_equal, 0},
    {"tokenrows", "tt|*", OPERATION_ON_ITEMS, data_token_rows, 0},
    {"key", "t", OPERATION_ON_ITEMS, data_key, 0},
    /* generated */
    {"llama3", "n", OPERATION_ON_ITEMS, generate_llama3, 0},
    {"factors", "tn", OPERATION_ON_ITEMS, generate_factors, 0},
    {"proportional", "nn", OPERATION_ON_ITEMS, generate_proportional, 0},
    {"mels", "nnn", OPERATION_ON_ITEMS, generate_mels, 0},
    /* types, and what is not converted yet */
    {"F32", "", OPERATION_ON_ITEMS, names_keep, OPERATION_TO_F32},
    {"any", "", OPERATION_ON_ITEMS, names_keep, 0},
    {"refuse", "t", OPERATION_ON_ITEMS, names_refuse, OPERATION_DROPS},
};

const operation *operation_find(gufo_str name)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (gufo_str_equal(name, gufo_str_of(operations[i].name)))
            return &operations[i];
    return NULL;
}

/* Letters before |, and all letters. */
static void count_letters(const operation *o, uint32_t *least, uint32_t *all, bool *more)
{
    bool optional = false;

    *least = *all = 0;
    *more = false;
    for (const char *c = o->arguments; *c != '\0'; c++) {
        if (*c == '|') {
            optional = true;
        } else if (*c == '*') {
            *more = true;
        } else {
            *least += !optional;
            *all += 1;
        }
    }
}

bool operation_takes(const operation *o, uint32_t count)
{
    uint32_t least, all;
    bool more;

    count_letters(o, &least, &all, &more);
    return count >= least && (more || count <= all);
}

char operation_wants(const operation *o, uint32_t index)
{
    char last = 't';

    for (const char *c = o->arguments; *c != '\0'; c++) {
        if (!is_letter(*c))
            continue;
        last = *c;
        if (index-- == 0)
            break;
    }
    return last;
}
