/* Parts of a model: its metadata, or the part that a tokenizer needs, with some tensors or none. */
#include <string.h>

#include "base/error.h"
#include "edit/planner.h"

/* What describes the data of tensors, and nothing else: meaningless where none exists.  A key
 * that ends in a dot means all that begin with it. */
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

static bool is_of_vocabulary(void *unused, gufo_str key)
{
    for (size_t i = 0; i < sizeof about_data / sizeof *about_data; i++)
        if (stands_for(about_data[i], key))
            return false;
    return document_is_model_key(unused, key);
}

static gufo_status strip(gufo_job *job, const gufo_strip_options *options, gufo_error *error)
{
    const gufo_model *input = planner_of(job)->input;
    gufo_select_fn *keeps_key = options->vocabulary_only ? is_of_vocabulary : document_is_model_key;
    gufo_document *document;
    gufo_status status = planner_document(job, &document, error);

    if (status == GUFO_OK)
        status = gufo_document_copy_entries(document, gufo_model_shard(input, 0), keeps_key, NULL,
                                            NULL, error);
    if (status != GUFO_OK || options->vocabulary_only || options->keeps_tensor == NULL)
        return status;
    return gufo_document_copy_tensors(document, input, options->keeps_tensor, options->context,
                                      NULL, error);
}

gufo_job *gufo_job_strip(const gufo_model *input, const gufo_strip_options *options,
                         gufo_error *error)
{
    static const gufo_strip_options standard = {0};
    gufo_job *job = NULL;

    options = options != NULL ? options : &standard;
    if (planner_check_input(input, error) == GUFO_OK &&
        reserved_check(options->reserved, "gufo_strip_options", error) == GUFO_OK)
        job = planner_begin(input, options->allocator, error);
    if (job != NULL)
        job = planner_end(job, strip(job, options, error), error);
    if (job != NULL) /* how data lay is of no interest where it is taken apart */
        job->normalised &= GUFO_NORMALISED_VERSION | GUFO_NORMALISED_METADATA;
    return job;
}
