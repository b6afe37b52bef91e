/* The table of operations. */
#include <string.h>

#include "base/text.h"
#include "import/architectures/operations_data.h"
#include "import/architectures/operations_heads.h"
#include "import/architectures/operations_names.h"
#include "import/architectures/operations_shape.h"
#include "import/architectures/operations_values.h"
#include "import/architectures/generated.h"

static const operation operations[] = {
    /* names */
    {"plain", "", OPERATION_ON_ITEMS, names_keep},
    {"drop", "", OPERATION_ON_ITEMS, names_drop},
    {"skip", "", OPERATION_ON_ITEMS, names_skip},
    {"rename", "t|t", OPERATION_ON_NAMES, names_rename},
    {"strip", "t", OPERATION_ON_NAMES, names_strip},
    {"begin", "t", OPERATION_ON_NAMES, names_begin},
    {"end", "t", OPERATION_ON_NAMES, names_end},
    {"renumber", "n", OPERATION_ON_NAMES, names_renumber},
    {"first", "t", OPERATION_ON_ITEMS, names_first},
    /* shapes and parts */
    {"transpose", "", OPERATION_ON_VIEWS, shape_transpose},
    {"swap", "nn", OPERATION_ON_VIEWS, shape_swap},
    {"reshape", "n|*", OPERATION_ON_VIEWS, shape_reshape},
    {"squeeze", "", OPERATION_ON_VIEWS, shape_squeeze},
    {"column", "", OPERATION_ON_VIEWS, shape_column},
    {"flatten", "", OPERATION_ON_VIEWS, shape_flatten},
    {"divide", "n|t", OPERATION_ON_ITEMS, shape_divide},
    {"split", "nn|*", OPERATION_ON_ITEMS, shape_split},
    {"alternate", "|t", OPERATION_ON_ITEMS, shape_alternate},
    {"copy", "", OPERATION_ON_ITEMS, shape_copy},
    {"firstrows", "n", OPERATION_ON_VIEWS, shape_first_rows},
    {"rowsfrom", "n", OPERATION_ON_VIEWS, shape_rows_from},
    {"padrows", "n", OPERATION_ON_VIEWS, shape_pad_rows},
    {"repeat", "n", OPERATION_ON_VIEWS, shape_repeat},
    /* several tensors */
    {"stack", "t|n", OPERATION_STACKS, NULL},
    {"join", "t|n", OPERATION_STACKS, NULL},
    /* heads */
    {"permute", "n", OPERATION_ON_VIEWS, heads_permute},
    {"unpermute", "nn", OPERATION_ON_VIEWS, heads_unpermute},
    {"regroup3", "n", OPERATION_ON_VIEWS, heads_regroup3},
    {"regroupkv", "nn", OPERATION_ON_ITEMS, heads_regroup_kv},
    {"splitkv", "nn", OPERATION_ON_ITEMS, heads_split_kv},
    {"qkvz", "nnnn", OPERATION_ON_ITEMS, heads_qkvz},
    {"tile", "nnn|n", OPERATION_ON_VIEWS, heads_tile},
    {"tilecolumns", "nnn", OPERATION_ON_VIEWS, heads_tile_columns},
    /* arithmetic */
    {"add", "r", OPERATION_ON_VIEWS, values_add},
    {"negexp", "", OPERATION_ON_VIEWS, values_neg_exp},
    {"halve", "n", OPERATION_ON_VIEWS, values_halve},
    {"multiply", "r", OPERATION_ON_VIEWS, values_multiply},
    {"ternary", "", OPERATION_ON_VIEWS, values_ternary},
    {"multiplyrows", "tnn|*", OPERATION_ON_VIEWS, values_multiply_rows},
    /* what looks at numbers */
    {"zero", "", OPERATION_ON_ITEMS, data_zero},
    {"dropifequal", "t", OPERATION_ON_ITEMS, data_drop_if_equal},
    {"tokenrows", "tt|*", OPERATION_ON_ITEMS, data_token_rows},
    {"key", "t", OPERATION_ON_ITEMS, data_key},
    /* generated */
    {"llama3", "n", OPERATION_ON_ITEMS, generate_llama3},
    {"factors", "tn", OPERATION_ON_ITEMS, generate_factors},
    {"proportional", "nn", OPERATION_ON_ITEMS, generate_proportional},
    {"mels", "nnn", OPERATION_ON_ITEMS, generate_mels},
    /* types, and what is not converted yet */
    {"F32", "", OPERATION_ON_ITEMS, names_keep},
    {"any", "", OPERATION_ON_ITEMS, names_keep},
    {"refuse", "t", OPERATION_ON_ITEMS, names_refuse},
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
