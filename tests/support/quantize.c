/* Model files and runs of the quantizer. */
#include "quantize.h"

#include "codec.h"

static uint64_t element_count(const test_tensor *tensor)
{
    uint64_t count = 1;

    for (uint32_t i = 0; i < tensor->n_dims; i++)
        count *= tensor->dims[i];
    return count;
}

float *test_weights(const test_tensor *tensor, uint64_t *count)
{
    number_source source = {1};
    float *weights;

    *count = element_count(tensor);
    weights = malloc((size_t)*count * sizeof *weights + 1);
    check(weights != NULL, "memory");
    for (const char *c = tensor->name; *c != '\0'; c++)
        source.state = source.state * 31 + (uint8_t)*c;
    for (uint64_t i = 0; i < *count; i++)
        weights[i] = next_weight(&source);
    return weights;
}

/* Of the interleaved types, which no encoder makes, any bytes mean something. */
static void add_data(builder *b, const test_tensor *tensor)
{
    const gufo_element_type *type = gufo_element_type_by_id(tensor->type);
    uint64_t count, rows, row_size;
    float *weights = test_weights(tensor, &count);
    gufo_error error = no_error();
    uint8_t *blocks;

    rows = count / tensor->dims[0];
    check(gufo_element_row_size(type, tensor->dims[0], &row_size, NULL) == GUFO_OK, "%s",
          tensor->name);
    blocks = calloc((size_t)(rows * row_size) + 1, 1);
    check(blocks != NULL, "memory");
    if (type->flags & GUFO_ELEMENT_ENCODES)
        encode_with(type, GUFO_CPU_PORTABLE, GUFO_EFFORT_REFERENCE, weights, rows, tensor->dims[0],
                    NULL, blocks);
    else
        for (uint64_t i = 0; i < rows * row_size; i++)
            blocks[i] = (uint8_t)(i % 61);
    if (b->encoding.big)
        check_ok(gufo_swap_blocks(type, blocks, rows * row_size / type->block_bytes, &error),
                 &error, "%s", tensor->name);
    builder_raw(b, blocks, (size_t)(rows * row_size));
    free(blocks);
    free(weights);
}

static uint64_t data_size(const test_tensor *tensor)
{
    const gufo_element_type *type = gufo_element_type_by_id(tensor->type);

    return element_count(tensor) / type->block_elements * type->block_bytes;
}

void write_model(const char *path, const test_model *model)
{
    uint64_t alignment = model->alignment != 0 ? model->alignment : 32, offset = 0;
    builder b = builder_new(model->encoding);

    builder_header(&b, model->tensor_count, model->entries);
    if (model->metadata != NULL)
        model->metadata(&b);
    for (size_t i = 0; i < model->tensor_count; i++) {
        const test_tensor *tensor = &model->tensors[i];

        builder_tensor(&b, tensor->name, tensor->type, tensor->n_dims, tensor->dims, offset);
        offset = (offset + data_size(tensor) + alignment - 1) / alignment * alignment;
    }
    builder_pad(&b, (size_t)alignment);
    for (size_t i = 0; i < model->tensor_count; i++) {
        add_data(&b, &model->tensors[i]);
        builder_pad(&b, (size_t)alignment);
    }
    write_file(path, b.data, b.len);
    builder_free(&b);
}

void write_importance(const char *path, const importance_entry *entries, size_t count,
                      const char *dataset)
{
    builder b = builder_new((encoding){3, false});

    builder_u32(&b, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        builder_u32(&b, (uint32_t)strlen(entries[i].name));
        builder_raw(&b, entries[i].name, strlen(entries[i].name));
        builder_u32(&b, 1);
        builder_u32(&b, (uint32_t)entries[i].count);
        for (uint64_t j = 0; j < entries[i].count; j++)
            builder_f32(&b, entries[i].means[j]);
    }
    if (dataset != NULL) {
        builder_u32(&b, 9);
        builder_u32(&b, (uint32_t)strlen(dataset));
        builder_raw(&b, dataset, strlen(dataset));
    }
    write_file(path, b.data, b.len);
    builder_free(&b);
}

/* ---- runs ----------------------------------------------------------------------------------- */

gufo_quantize_options quantize_to(const char *type)
{
    gufo_quantize_options options = {0};

    check(gufo_quantize_target_by_name(type, false, &options.recipe.target), "%s", type);
    return options;
}

typedef struct stopper {
    uint64_t calls, stop_at, done;
} stopper;

static bool on_progress(void *context, uint64_t done, uint64_t total)
{
    stopper *s = context;

    if (done < s->done || done > total)
        return false; /* never: the run would not end well */
    s->done = done;
    return ++s->calls != s->stop_at;
}

gufo_status quantize_run(gufo_quantizer *q, const char *out, const quantize_how *how,
                         gufo_error *error)
{
    static const quantize_how plain = {0};
    gufo_job_options options = {.path = out};
    stopper s = {0};
    gufo_run run;

    how = how != NULL ? how : &plain;
    options.flags = how->flags | GUFO_JOB_RESUMABLE;
    run = how->run;
    s.stop_at = how->stop_at;
    if (run.progress == NULL) {
        run.progress = on_progress;
        run.progress_context = &s;
    }
    return gufo_job_run(gufo_quantizer_job(q), &options, &run, error);
}

gufo_status quantize_file(const char *in, const char *out, const gufo_quantize_options *options,
                          const quantize_how *how, gufo_error *error)
{
    gufo_model *input = gufo_model_open(in, NULL, error);
    gufo_quantizer *q;
    gufo_status status;

    check(input != NULL, "%s: %s", in, error->message);
    q = gufo_quantizer_new(input, options, error);
    status = q == NULL ? error->code : quantize_run(q, out, how, error);
    gufo_quantizer_free(q);
    gufo_model_free(input);
    return status;
}

void quantize_well(const char *in, const char *out, const gufo_quantize_options *options,
                   const char *label)
{
    gufo_error error = no_error();
    const quantize_how how = {.flags = GUFO_JOB_REPLACE};

    check_ok(quantize_file(in, out, options, &how, &error), &error, "%s", label);
}

/* ---- looking -------------------------------------------------------------------------------- */

bool same_loss(const gufo_quantize_loss *a, const gufo_quantize_loss *b)
{
    return a->count == b->count && a->square_value == b->square_value &&
           a->square_error == b->square_error && a->largest_error == b->largest_error;
}

gufo_model *open_path(const char *path)
{
    const gufo_open_options just_this = {.flags = GUFO_OPEN_INCOMPLETE};
    gufo_error error = no_error();
    gufo_model *file = gufo_model_open(path, &just_this, &error);

    check(file != NULL, "%s: %s", path, error.message);
    return file;
}

uint8_t *tensor_bytes(const gufo_model *file, const char *name, gufo_tensor *tensor)
{
    gufo_error error = no_error();
    uint8_t *bytes;

    check(gufo_model_tensor_find(file, name, tensor), "no tensor %s", name);
    bytes = malloc((size_t)tensor->size + 1);
    check(bytes != NULL, "memory");
    check_ok(gufo_tensor_read_raw(file, tensor, 0, bytes, (size_t)tensor->size, &error), &error,
             "%s", name);
    return bytes;
}

void check_same_file(const char *got, const char *expected, const char *label)
{
    size_t len;
    uint8_t *bytes = read_file(expected, &len);

    check(bytes != NULL, "%s: %s", label, expected);
    check_file(got, bytes, len, label);
    free(bytes);
}
