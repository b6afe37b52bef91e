/* Parts of a model: its metadata, or what a tokenizer needs of it, with some tensors or none. */
#include <string.h>

#include "edit/copy.h"

/* What describes the data of tensors, and nothing else: meaningless where there is none.  A key that
 * ends in a dot stands for all that begin with it. */
static const char *const about_data[] = {
    "general.file_type",
    "general.quantization_version",
    "quantize.imatrix.",
};

static bool stands_for(const char *pattern, gufo_str key)
{
    size_t len = strlen(pattern);

    if (pattern[len - 1] != '.')
        return gufo_str_equal(key, gufo_str_of(pattern));
    return key.len > len && memcmp(key.data, pattern, len) == 0;
}

static bool is_of_vocabulary(gufo_str key)
{
    for (size_t i = 0; i < sizeof about_data / sizeof *about_data; i++)
        if (stands_for(about_data[i], key))
            return false;
    return is_no_split_key(key);
}

static gufo_status choose_tensors(gufo_copy *c, const gufo_strip_options *options,
                                  gufo_error *error)
{
    uint64_t count = gufo_tensor_count(c->input);
    gufo_status status = copy_reserve_pieces(c, count, error);
    gufo_tensor tensor;

    if (options->vocabulary_only || options->keeps_tensor == NULL)
        return status;
    for (uint64_t i = 0; i < count && status == GUFO_OK; i++) {
        (void)gufo_tensor_at(c->input, i, &tensor);
        if (options->keeps_tensor(options->context, tensor.name))
            (void)copy_add_piece(c, i, PIECE_MOVE);
    }
    return status;
}

gufo_copy *gufo_copy_strip(const gufo_model *input, const gufo_strip_options *options,
                           gufo_error *error)
{
    gufo_copy *c = copy_new(input, options->allocator, error);
    gufo_status status;

    if (c == NULL)
        return NULL;
    if (options->vocabulary_only)
        c->keeps_key = is_of_vocabulary;
    status = choose_tensors(c, options, error);
    if (status == GUFO_OK)
        status = copy_add_output(c, c->piece_count, error);
    c = copy_planned(c, status, error);
    if (c != NULL) /* how data lay is of no interest where it is taken apart */
        c->normalised &= GUFO_NORMALISED_VERSION | GUFO_NORMALISED_METADATA;
    return c;
}
