/* Models whose losses the tests measure, and what becomes of them in a run. */
#ifndef TEST_LOSSES_MODELS_H
#define TEST_LOSSES_MODELS_H

#include "../support/quantize.h"

enum { LOSS_COLUMNS = 256 };

/* Options of every kind: kept, fixed by nothing, rows that fall back, a stack, another float, an
 * interleaved type, nothing at all; one that has more than one unit. */
static const test_tensor loss_tensors[] = {
    {"token_embd.weight", GUFO_TYPE_F32, 2, {LOSS_COLUMNS, 6}},
    {"blk.0.attn_norm.weight", GUFO_TYPE_F32, 1, {LOSS_COLUMNS}},
    {"blk.0.attn_q.weight", GUFO_TYPE_F16, 2, {LOSS_COLUMNS, 1300}},
    {"blk.0.attn_v.weight", GUFO_TYPE_BF16, 2, {LOSS_COLUMNS, 8}},
    {"blk.0.ffn_down.weight", GUFO_TYPE_F32, 2, {96, 5}},
    {"blk.1.ffn_down_exps.weight", GUFO_TYPE_F32, 3, {LOSS_COLUMNS, 40, 3}},
    {"blk.1.empty.weight", GUFO_TYPE_F32, 2, {LOSS_COLUMNS, 0}},
    {"blk.1.ffn_up.weight", GUFO_TYPE_Q4_0_4_4, 2, {LOSS_COLUMNS, 8}},
    {"blk.1.ints", GUFO_TYPE_I32, 1, {5}},
    {"output.weight", GUFO_TYPE_BF16, 2, {LOSS_COLUMNS, 5}},
};

static inline void add_loss_metadata(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
}

static inline void write_loss_model(const char *path, encoding e)
{
    const test_model model = {.encoding = e,
                              .metadata = add_loss_metadata,
                              .entries = 1,
                              .tensors = loss_tensors,
                              .tensor_count = COUNT_OF(loss_tensors)};

    write_model(path, &model);
}

/* For most tensors, each expert its own; some columns matter much more than others. */
static inline void write_loss_importance(const char *path)
{
    static float means[LOSS_COLUMNS * 3];
    const importance_entry entries[] = {
        {"blk.0.attn_q.weight", means + 5, LOSS_COLUMNS},
        {"blk.0.attn_v.weight", means + 7, LOSS_COLUMNS},
        {"blk.1.ffn_up.weight", means + 7, LOSS_COLUMNS},
        {"blk.1.ffn_down_exps.weight", means, 3 * LOSS_COLUMNS},
        {"blk.0.ffn_down.weight", means + 9, 96},
    };

    for (size_t i = 0; i < COUNT_OF(means); i++)
        means[i] = (float)(1 + i * 7919 % 61) * (i % 50 == 0 ? 16 : 1) / 64;
    write_importance(path, entries, COUNT_OF(entries), NULL);
}

typedef struct loss_place {
    folder f;
    path_text in, imatrix, cache;
    gufo_model *input;
    gufo_imatrix *importance;
    gufo_quantize_options options;
} loss_place;

static inline loss_place *loss_place_new(encoding e)
{
    loss_place *p = calloc(1, sizeof *p);

    check(p != NULL, "memory");
    p->f = folder_new();
    p->in = folder_path(&p->f, "in.gguf");
    p->imatrix = folder_path(&p->f, "imatrix.dat");
    p->cache = folder_path(&p->f, "in.losses");
    write_loss_model(p->in.text, e);
    p->input = open_path(p->in.text);
    p->options.recipe.allow_requantize = true;
    return p;
}

static inline void loss_place_weigh(loss_place *p)
{
    gufo_error error = no_error();

    write_loss_importance(p->imatrix.text);
    p->importance = gufo_imatrix_open(p->imatrix.text, NULL, &error);
    check(p->importance != NULL, "%s", error.message);
    p->options.importance = p->importance;
}

static inline void loss_place_end(loss_place *p)
{
    gufo_imatrix_free(p->importance);
    gufo_model_free(p->input);
    folder_remove(&p->f);
    free(p);
}

static inline gufo_losses *losses_of(const gufo_model *input, const gufo_quantize_options *options,
                                     const gufo_losses_options *more)
{
    gufo_error error = no_error();
    gufo_losses *l = gufo_losses_new(input, options, more, &error);

    check(l != NULL, "%s", error.message);
    return l;
}

static inline void measure_well(gufo_losses *l, const gufo_run *run)
{
    gufo_error error = no_error();

    check_ok(gufo_losses_measure(l, run, &error), &error, "measure");
}

/* The same losses to the bit, and from the same rows. */
static inline void check_same_losses(const gufo_losses *a, const gufo_losses *b, const char *label)
{
    gufo_losses_tensor tensor;
    gufo_loss one, other;

    check_u64(gufo_losses_count(a), gufo_losses_count(b), "%s", label);
    for (uint64_t i = 0; gufo_losses_tensor_at(a, i, &tensor); i++)
        for (size_t k = 0; gufo_losses_option_at(a, i, k, &one); k++) {
            check(gufo_losses_option_at(b, i, k, &other) && one.type == other.type, "%s", label);
            check(one.is_known && other.is_known, "%s: %s", label, loss_tensors[i].name);
            check(one.relative == other.relative && one.standard_error == other.standard_error &&
                      one.rows == other.rows,
                  "%s: %s as %s: %.17g, %.17g", label, loss_tensors[i].name, one.type->name,
                  one.relative, other.relative);
        }
}

#endif
