/* Size plans: the optimum is never worse than a fixed mixture, files have the size that was planned, and
 * constraints hold. */
#include <math.h>
#include <sys/stat.h>

#include "../support/allocator.h"
#include "../support/quantize.h"

enum { COLUMNS = 256 };

/* ---- models --------------------------------------------------------------------------------- */

static const test_tensor llama[] = {
    {"token_embd.weight", GUFO_TYPE_F32, 2, {COLUMNS, 12}},
    {"blk.0.attn_norm.weight", GUFO_TYPE_F32, 1, {COLUMNS}},
    {"blk.0.attn_q.weight", GUFO_TYPE_F32, 2, {COLUMNS, 8}},
    {"blk.0.attn_k.weight", GUFO_TYPE_F32, 2, {COLUMNS, 4}},
    {"blk.0.attn_v.weight", GUFO_TYPE_F32, 2, {COLUMNS, 4}},
    {"blk.0.attn_output.weight", GUFO_TYPE_F32, 2, {COLUMNS, 8}},
    {"blk.0.ffn_gate.weight", GUFO_TYPE_F32, 2, {COLUMNS, 16}},
    {"blk.0.ffn_up.weight", GUFO_TYPE_F32, 2, {COLUMNS, 16}},
    {"blk.0.ffn_down.weight", GUFO_TYPE_F32, 2, {2 * COLUMNS, 8}},
    {"blk.1.attn_q.weight", GUFO_TYPE_F32, 2, {COLUMNS, 8}},
    {"blk.1.attn_k.weight", GUFO_TYPE_F32, 2, {COLUMNS, 4}},
    {"blk.1.attn_v.weight", GUFO_TYPE_F32, 2, {COLUMNS, 4}},
    {"blk.1.ffn_gate.weight", GUFO_TYPE_F32, 2, {COLUMNS, 16}},
    {"blk.1.ffn_up.weight", GUFO_TYPE_F32, 2, {COLUMNS, 16}},
    {"blk.1.ffn_down.weight", GUFO_TYPE_F32, 2, {2 * COLUMNS, 8}},
    {"output.weight", GUFO_TYPE_F32, 2, {COLUMNS, 12}},
};

/* One large tensor; rows that do not fill blocks of all types; experts. */
static const test_tensor tied[] = {
    {"token_embd.weight", GUFO_TYPE_F16, 2, {COLUMNS, 50}},
    {"blk.0.attn_qkv.weight", GUFO_TYPE_BF16, 2, {96, 9}},
    {"blk.0.attn_output.weight", GUFO_TYPE_BF16, 2, {32, 7}},
    {"blk.0.ffn_up_exps.weight", GUFO_TYPE_F16, 3, {COLUMNS, 3, 3}},
    {"blk.0.ffn_down_exps.weight", GUFO_TYPE_F16, 3, {COLUMNS, 5, 3}},
    {"blk.0.ffn_gate_inp.weight", GUFO_TYPE_F32, 2, {COLUMNS, 3}},
};

static void add_metadata(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
    builder_kv_u32(b, "llama.block_count", 2);
    builder_kv_u32(b, "llama.attention.head_count", 4);
    builder_kv_u32(b, "llama.attention.head_count_kv", 2);
    builder_kv_u32(b, "general.file_type", 0);
}

/* Without a file type: the header of the output is longer. */
static void add_little_metadata(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
}

static const test_model models[] = {
    {.encoding = {3, false},
     .metadata = add_metadata,
     .entries = 5,
     .tensors = llama,
     .tensor_count = COUNT_OF(llama)},
    {.encoding = {3, false},
     .metadata = add_little_metadata,
     .entries = 1,
     .alignment = 0,
     .tensors = tied,
     .tensor_count = COUNT_OF(tied)},
};

/* ---- a place with a model ------------------------------------------------------------------- */

typedef struct place {
    folder f;
    path_text in, imatrix, out;
    gufo_model *input;
    gufo_imatrix *importance;
    gufo_quantize_options options;
    gufo_losses *losses;
} place;

/* The same importance for all tensors, whose columns differ. */
static void add_importance(place *p, const test_model *model)
{
    static float means[3 * COLUMNS];
    importance_entry entries[COUNT_OF(llama)];
    gufo_error error = no_error();

    for (size_t i = 0; i < COUNT_OF(means); i++)
        means[i] = (float)(i * 7919 % 97 + 1) / 16;
    for (size_t i = 0; i < model->tensor_count; i++) {
        const test_tensor *t = &model->tensors[i];

        entries[i] =
            (importance_entry){t->name, means, t->dims[0] * (t->n_dims > 2 ? t->dims[2] : 1)};
    }
    write_importance(p->imatrix.text, entries, model->tensor_count, NULL);
    p->importance = gufo_imatrix_open(p->imatrix.text, NULL, &error);
    check(p->importance != NULL, "%s", error.message);
    p->options.importance = p->importance;
}

static place *place_new(size_t model, bool weighs)
{
    place *p = calloc(1, sizeof *p);

    check(p != NULL, "memory");
    p->f = folder_new();
    p->in = folder_path(&p->f, "in.gguf");
    p->imatrix = folder_path(&p->f, "imatrix.dat");
    p->out = folder_path(&p->f, "out.gguf");
    write_model(p->in.text, &models[model]);
    p->input = open_path(p->in.text);
    if (weighs)
        add_importance(p, &models[model]);
    return p;
}

static void place_end(place *p)
{
    gufo_losses_free(p->losses);
    gufo_imatrix_free(p->importance);
    gufo_model_free(p->input);
    folder_remove(&p->f);
    free(p);
}

/* Types by their names, with blanks between. */
static gufo_losses_options types_of(const char *names)
{
    static const gufo_element_type *types[GUFO_QUANTIZE_TARGETS];
    gufo_losses_options options = {.types = types, .flags = GUFO_LOSSES_ALL_ROWS};
    char *text = strdup(names), *rest = NULL;

    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        types[options.type_count] = gufo_element_type_by_name(word);
        check(types[options.type_count] != NULL, "%s", word);
        options.type_count++;
    }
    free(text);
    return options;
}

static void measure(place *p, const char *types, const gufo_run *run)
{
    const gufo_losses_options options = types_of(types);
    gufo_error error = no_error();

    gufo_losses_free(p->losses);
    p->losses = gufo_losses_new(p->input, &p->options, &options, &error);
    check(p->losses != NULL, "%s", error.message);
    check_ok(gufo_losses_measure(p->losses, run, &error), &error, "measure");
}

#define FEW "Q8_0 Q6_K Q5_K Q4_K Q3_K Q2_K"

/* ---- options -------------------------------------------------------------------------------- */

static const gufo_element_type *any_least(void *context, gufo_str name,
                                          const gufo_element_type *standard)
{
    (void)context;
    (void)name;
    (void)standard;
    return NULL;
}

static gufo_size_plan *plan_or_fail(const place *p, const gufo_size_target *targets, size_t count,
                                    const gufo_size_options *more, gufo_error *error)
{
    gufo_size_options options = more != NULL ? *more : (gufo_size_options){0};

    options.targets = targets;
    options.target_count = count;
    *error = no_error();
    return gufo_size_plan_new(p->losses, &options, NULL, error);
}

static gufo_size_plan *plan_for(const place *p, gufo_size_target target,
                                const gufo_size_options *more)
{
    gufo_error error;
    gufo_size_plan *plan = plan_or_fail(p, &target, 1, more, &error);

    check(plan != NULL, "%" PRIu64 " bytes: %s", target.bytes, error.message);
    return plan;
}

static gufo_size_result result_of(const gufo_size_plan *plan, size_t target)
{
    gufo_size_result result;

    check(gufo_size_plan_at(plan, target, &result), "target %zu", target);
    return result;
}

static gufo_size_tensor tensor_of(const gufo_size_plan *plan, const char *name)
{
    gufo_size_tensor tensor;

    for (uint64_t i = 0; gufo_size_plan_tensor_at(plan, 0, i, &tensor); i++)
        if (gufo_str_equal(tensor.name, gufo_str_of(name)))
            return tensor;
    check_failed(__FILE__, __LINE__, "no such tensor", "%s", name);
}

static void check_type(const gufo_size_plan *plan, const char *name, const char *type)
{
    const gufo_size_tensor tensor = tensor_of(plan, name);

    check(strcmp(tensor.loss.type->name, type) == 0, "%s is %s", name, tensor.loss.type->name);
}

/* ---- what must hold for any plan ------------------------------------------------------------ */

static uint64_t padded(uint64_t bytes)
{
    return (bytes + 31) / 32 * 32;
}

/* Bytes and losses are those of the types; no tensor alone could lose less in what is left. */
static void check_plan(const place *p, const gufo_size_plan *plan, const char *label)
{
    const gufo_size_result r = result_of(plan, 0);
    gufo_size_tensor t;
    gufo_loss other;
    uint64_t bytes = 0, left = r.asked - r.size;
    double loss = 0;

    check(r.size <= r.asked && r.size >= r.least, "%s: %" PRIu64, label, r.size);
    check(r.bound <= r.loss * (1 + 1e-12), "%s: bound", label);
    for (uint64_t i = 0; gufo_size_plan_tensor_at(plan, 0, i, &t); i++) {
        bytes += t.loss.bytes;
        if (t.is_kept)
            continue;
        loss += t.coefficient * t.loss.relative;
        for (size_t k = 0; t.tied == 1 && gufo_losses_option_at(p->losses, i, k, &other); k++)
            check(t.coefficient * other.relative >= t.coefficient * t.loss.relative ||
                      padded(other.bytes) > padded(t.loss.bytes) + left,
                  "%s: tensor %" PRIu64 " as %s", label, i, other.type->name);
    }
    check_u64(r.data_size, bytes, "%s", label);
    check(fabs(loss - r.loss) <= 1e-9 * loss, "%s: %g, not %g", label, r.loss, loss);
}

/* ---- the theorem ---------------------------------------------------------------------------- */

typedef struct mixture {
    uint64_t size;
    double loss;
} mixture;

static bool make_mixture(const place *p, const gufo_size_plan *like, const char *name, mixture *out)
{
    gufo_quantize_options options = p->options;
    gufo_error error = no_error();
    gufo_quantizer_tensor tensor;
    gufo_size_tensor planned;
    gufo_quantizer *q;
    bool known = true;

    check(gufo_quantize_target_by_name(name, false, &options.recipe.target), "%s", name);
    q = gufo_quantizer_new(p->input, &options, &error);
    if (q == NULL)
        return false;
    *out = (mixture){.size = gufo_quantizer_output_size(q)};
    for (uint64_t i = 0; known && gufo_quantizer_tensor_at(q, i, &tensor); i++) {
        gufo_loss loss;

        check(gufo_size_plan_tensor_at(like, 0, i, &planned), "tensor %" PRIu64, i);
        if (planned.is_kept)
            continue;
        known = gufo_losses_find(p->losses, i, gufo_element_type_by_id(tensor.choice.type), &loss);
        if (known)
            out->loss += planned.coefficient * loss.relative;
    }
    gufo_quantizer_free(q);
    return known;
}

/* At the size of a mixture, which is one of the choices, nothing is lost more than by it. */
static size_t compare_mixtures(const place *p, const char *label)
{
    const gufo_size_options free_least = {.least_type = any_least};
    gufo_size_plan *all = plan_for(p, (gufo_size_target){.bytes = UINT64_C(1) << 40}, &free_least);
    const gufo_file_type *type;
    size_t compared = 0;
    mixture m;

    check(result_of(all, 0).is_best, "%s", label);
    for (size_t i = 0; (type = gufo_file_type_at(i)) != NULL; i++) {
        gufo_size_plan *plan;

        if ((type->flags & GUFO_FILE_TYPE_NOT_MADE) != 0 || !make_mixture(p, all, type->name, &m))
            continue;
        plan = plan_for(p, (gufo_size_target){.bytes = m.size}, &free_least);
        check(result_of(plan, 0).is_proven, "%s: %s", label, type->name);
        check(result_of(plan, 0).loss <= m.loss * (1 + 1e-12), "%s: %s loses %g, the plan %g",
              label, type->name, m.loss, result_of(plan, 0).loss);
        check(result_of(plan, 0).mixture_size == m.size, "%s: %s is not found", label, type->name);
        check(result_of(plan, 0).mixture_loss <= m.loss * (1 + 1e-12), "%s: %s", label, type->name);
        check_plan(p, plan, type->name);
        gufo_size_plan_free(plan);
        compared++;
    }
    gufo_size_plan_free(all);
    return compared;
}

static void test_mixtures_lose_more(void **state)
{
    static const char types[] = "F16 BF16 Q8_0 Q6_K Q5_K Q4_K Q3_K Q2_K Q4_0 Q4_1 Q5_0 Q5_1 IQ4_NL "
                                "IQ4_XS IQ3_S IQ3_XXS IQ2_S IQ2_XS IQ2_XXS IQ1_S IQ1_M TQ1_0 TQ2_0";

    (void)state;
    for (size_t i = 0; i < 2 * COUNT_OF(models); i++) {
        place *p = place_new(i / 2, i % 2 == 1);
        size_t compared;

        measure(p, types, NULL);
        compared = compare_mixtures(p, i % 2 == 1 ? "with importance" : "without");
        check(compared >= 15, "%zu mixtures", compared);
        place_end(p);
    }
}

/* ---- files ---------------------------------------------------------------------------------- */

static uint64_t size_of_files(const place *p, const gufo_job *job)
{
    uint64_t sum = 0;
    struct stat info;

    for (size_t i = 0; i < gufo_job_output_count(job); i++) {
        char name[64] = "out.gguf";

        if (gufo_job_output_count(job) > 1)
            snprintf(name, sizeof name, "out-%05zu-of-%05zu.gguf", i + 1,
                     gufo_job_output_count(job));
        check(stat(folder_path(&p->f, name).text, &info) == 0, "%s", name);
        sum += (uint64_t)info.st_size;
    }
    return sum;
}

/* Whether a run agrees with a plan, and would not with one of other losses. */
static void check_comparison(const gufo_size_tensor *planned, const gufo_quantizer_tensor *tensor,
                             const char *label)
{
    gufo_size_tensor other = *planned;
    bool is_compared = !planned->is_kept && planned->loss.rows > 0 && tensor->loss.count > 0;
    bool agrees = false;
    double actual = -1;

    check(gufo_size_tensor_compare(planned, tensor, &actual, &agrees) == is_compared, "%s", label);
    check(agrees == is_compared, "%s: %g, not %g", label, actual, planned->loss.relative);
    check(actual == (is_compared ? gufo_losses_actual(tensor) : -1), "%s: %g", label, actual);
    if (actual <= 0)
        return;
    other.loss.relative = 2 * actual;
    other.loss.standard_error = actual / 4;
    check(gufo_size_tensor_compare(&other, tensor, NULL, &agrees) && !agrees, "%s: far", label);
    other.loss.standard_error = actual / 2;
    check(gufo_size_tensor_compare(&other, tensor, NULL, &agrees) && agrees, "%s: near", label);
}

/* Runs a plan: files of the planned size, types as planned, and losses as expected. */
static void run_plan(place *p, const gufo_size_plan *plan, const char *label)
{
    gufo_quantize_options options = p->options;
    const quantize_how how = {.flags = GUFO_JOB_REPLACE};
    gufo_error error = no_error();
    gufo_quantizer_tensor tensor;
    gufo_size_tensor planned;
    gufo_quantizer *q;

    gufo_size_plan_apply(plan, &options);
    q = gufo_quantizer_new(p->input, &options, &error);
    check(q != NULL, "%s: %s", label, error.message);
    check_u64(gufo_quantizer_output_size(q), result_of(plan, 0).size, "%s", label);
    check_ok(quantize_run(q, p->out.text, &how, &error), &error, "%s", label);
    check_u64(size_of_files(p, gufo_quantizer_job(q)), result_of(plan, 0).size, "%s", label);
    for (uint64_t i = 0; gufo_quantizer_tensor_at(q, i, &tensor); i++) {
        check(gufo_size_plan_tensor_at(plan, 0, i, &planned), "%s", label);
        check_u64(tensor.choice.type, planned.loss.type->id, "%s: tensor %" PRIu64, label, i);
        if (!planned.is_kept && tensor.loss.count > 0)
            check(fabs(gufo_losses_actual(&tensor) - planned.loss.relative) <=
                      1e-9 * planned.loss.relative,
                  "%s: tensor %" PRIu64 " lost %g, not %g", label, i, gufo_losses_actual(&tensor),
                  planned.loss.relative);
        check_comparison(&planned, &tensor, label);
    }
    gufo_quantizer_free(q);
}

/* Many sizes: from the least to more than enough. */
static void run_sizes(place *p, const char *label)
{
    gufo_size_plan *plan = plan_for(p, (gufo_size_target){.bytes = UINT64_C(1) << 40}, NULL);
    uint64_t least = result_of(plan, 0).least, most = result_of(plan, 0).size;
    gufo_error error;

    gufo_size_plan_free(plan);
    for (uint64_t i = 0; i <= 5; i++) {
        const gufo_size_target target = {.bytes = least + (most - least) * i / 5 + (i == 5)};

        plan = plan_for(p, target, NULL);
        check_plan(p, plan, label);
        run_plan(p, plan, label);
        check(result_of(plan, 0).is_best == (i == 5), "%s: %" PRIu64, label, i);
        gufo_size_plan_free(plan);
    }
    plan = plan_or_fail(p, &(gufo_size_target){.bytes = least - 1}, 1, NULL, &error);
    check(plan == NULL, "%s: below the least", label);
    check_error_shape(&error, GUFO_E_LIMIT, label);
}

static void test_sizes_of_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        place *p = place_new(i, i == 1);

        measure(p, FEW " F16", NULL);
        run_sizes(p, "a file");
        place_end(p);
    }
}

/* The more the types take, the more shards there are. */
static void test_sizes_of_shards(void **state)
{
    place *p = place_new(0, false);
    size_t unproven = 0;

    (void)state;
    p->options.split_size = 7000;
    measure(p, FEW, NULL);
    for (uint64_t bytes = 28000; bytes < 42000; bytes += 997) {
        gufo_size_plan *plan = plan_for(p, (gufo_size_target){.bytes = bytes}, NULL);
        const gufo_size_result r = result_of(plan, 0);

        check(r.size <= bytes, "%" PRIu64 " bytes", bytes);
        check(r.bound <= r.loss, "%" PRIu64 " bytes", bytes);
        unproven += !r.is_proven;
        if (bytes % 3 == 0)
            run_plan(p, plan, "shards");
        gufo_size_plan_free(plan);
    }
    check(unproven > 0, "no size needs another shard");
    p->options.split_size = 0;
    p->options.split_tensors = 3;
    measure(p, FEW, NULL);
    run_sizes(p, "shards of 3 tensors");
    place_end(p);
}

static void add_split(builder *b, uint16_t shard)
{
    builder_kv_u16(b, "split.no", shard);
    builder_kv_u16(b, "split.count", 2);
    builder_kv_i32(b, "split.tensors.count", COUNT_OF(llama));
}

static void add_first(builder *b)
{
    add_metadata(b);
    add_split(b, 0);
}

static void add_second(builder *b)
{
    add_split(b, 1);
}

static void test_sizes_of_kept_shards(void **state)
{
    place *p = place_new(0, false);
    test_model shard = models[0];

    (void)state;
    gufo_model_free(p->input);
    shard.metadata = add_first;
    shard.entries = 8;
    shard.tensor_count = 6;
    p->in = folder_path(&p->f, "in-00001-of-00002.gguf");
    write_model(p->in.text, &shard);
    shard.metadata = add_second;
    shard.entries = 3;
    shard.tensors += 6;
    shard.tensor_count = COUNT_OF(llama) - 6;
    write_model(folder_path(&p->f, "in-00002-of-00002.gguf").text, &shard);
    p->input = open_path(p->in.text);
    p->options.flags = GUFO_QUANTIZE_KEEP_SPLIT;
    measure(p, FEW, NULL);
    run_sizes(p, "kept shards");
    place_end(p);
}

/* ---- bits per weight ------------------------------------------------------------------------ */

static void test_bits_per_weight(void **state)
{
    static const double bits[] = {4.5, 5.0000001, 6.5, 64};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bits); i++) {
        place *p = place_new(i % 2, false);
        gufo_size_plan *plan;
        gufo_size_result r;

        measure(p, FEW " IQ4_NL", NULL);
        plan = plan_for(p, (gufo_size_target){.bits_per_weight = bits[i]}, NULL);
        r = result_of(plan, 0);
        check_u64(r.asked, (uint64_t)(bits[i] * (double)r.elements / 8), "%g", bits[i]);
        check(r.data_size <= r.asked, "%g bits", bits[i]);
        check(8 * (double)r.data_size / (double)r.elements <= bits[i], "%g bits", bits[i]);
        run_plan(p, plan, "bits");
        gufo_size_plan_free(plan);
        place_end(p);
    }
}

/* ---- constraints ---------------------------------------------------------------------------- */

static bool ends_with(gufo_str name, const char *end)
{
    size_t len = strlen(end);

    return name.len >= len && memcmp(name.data + name.len - len, end, len) == 0;
}

static const gufo_element_type *least_of(void *context, gufo_str name,
                                         const gufo_element_type *standard)
{
    (void)context;
    return ends_with(name, "attn_q.weight") ? gufo_element_type_by_name("Q6_K") : standard;
}

static const gufo_element_type *most_of(void *context, gufo_str name)
{
    (void)context;
    return ends_with(name, "ffn_down.weight") ? gufo_element_type_by_name("Q3_K") : NULL;
}

static void test_least_and_most(void **state)
{
    place *p = place_new(0, false);
    const gufo_size_options options = {.least_type = least_of, .most_type = most_of};
    gufo_size_plan *plan;
    uint64_t least;

    (void)state;
    measure(p, FEW, NULL);
    plan = plan_for(p, (gufo_size_target){.bytes = 1 << 20}, &options);
    check_type(plan, "blk.0.ffn_down.weight", "Q3_K");
    check_type(plan, "blk.0.attn_q.weight", "Q8_0");
    least = result_of(plan, 0).least;
    gufo_size_plan_free(plan);
    /* The smallest choice has the least types: the given ones, and the built-in ones. */
    plan = plan_for(p, (gufo_size_target){.bytes = least}, &options);
    check_type(plan, "blk.1.attn_q.weight", "Q6_K");
    check_type(plan, "blk.1.attn_k.weight", "Q3_K");
    check_type(plan, "output.weight", "Q4_K");
    check_type(plan, "token_embd.weight", "Q2_K");
    gufo_size_plan_free(plan);
    place_end(p);
}

/* A tensor that no type is left for; the message says what it may become. */
static void test_nothing_is_left(void **state)
{
    place *p = place_new(0, false);
    const gufo_size_options options = {.least_type = least_of};
    gufo_error error;

    (void)state;
    measure(p, "Q3_K Q4_K", NULL);
    check(plan_or_fail(p, &(gufo_size_target){.bytes = 1 << 20}, 1, &options, &error) == NULL,
          "Q6_K");
    check_error_shape(&error, GUFO_E_ARGUMENT, "Q6_K");
    check(strstr(error.message, "blk.0.attn_q.weight") != NULL, "%s", error.message);
    check(strstr(error.message, "at least Q6_K") != NULL, "%s", error.message);
    check(strstr(error.message, "Q3_K, Q4_K") != NULL, "%s", error.message);
    /* A built-in least type gives way: the output may be Q3_K, its only type. */
    measure(p, "Q3_K", NULL);
    gufo_size_plan_free(plan_for(p, (gufo_size_target){.bytes = 1 << 20}, NULL));
    place_end(p);
}

static uint32_t tie_of(void *context, gufo_str name)
{
    (void)context;
    return ends_with(name, "attn_q.weight") || ends_with(name, "attn_k.weight") ||
                   ends_with(name, "attn_v.weight")
               ? 1
           : ends_with(name, "ffn_gate.weight") || ends_with(name, "ffn_up.weight") ? 2
                                                                                    : 0;
}

static void test_ties(void **state)
{
    static const char *const same[][2] = {{"blk.0.attn_q.weight", "blk.0.attn_v.weight"},
                                          {"blk.1.attn_k.weight", "blk.1.attn_v.weight"},
                                          {"blk.0.ffn_gate.weight", "blk.0.ffn_up.weight"}};
    place *p = place_new(0, false);
    const gufo_size_options options = {.tie = tie_of};
    size_t layers_differ = 0;

    (void)state;
    measure(p, FEW, NULL);
    for (uint64_t bytes = 30000; bytes < 44000; bytes += 700) {
        gufo_size_plan *plan = plan_for(p, (gufo_size_target){.bytes = bytes}, &options);

        for (size_t i = 0; i < COUNT_OF(same); i++) {
            const gufo_size_tensor a = tensor_of(plan, same[i][0]), b = tensor_of(plan, same[i][1]);

            check(a.loss.type == b.loss.type && a.group == b.group, "%s", same[i][0]);
            check_u64(a.tied, i < 2 ? 3 : 2, "%s", same[i][0]);
        }
        layers_differ += tensor_of(plan, "blk.0.ffn_up.weight").loss.type !=
                         tensor_of(plan, "blk.1.ffn_up.weight").loss.type;
        check_plan(p, plan, "ties");
        gufo_size_plan_free(plan);
    }
    check(layers_differ > 0, "layers are tied to each other");
    place_end(p);
}

static const gufo_element_type *override_of(void *context, gufo_str name)
{
    (void)context;
    if (ends_with(name, "attn_q.weight"))
        return gufo_element_type_by_name("Q8_0");
    return ends_with(name, "attn_k.weight") ? gufo_element_type_by_name("Q4_0") : NULL;
}

/* Types that the user gives stay, count, and may contradict a tie. */
static void test_given_types(void **state)
{
    place *p = place_new(0, false);
    const gufo_size_options ties = {.tie = tie_of};
    gufo_size_plan *plan;
    gufo_error error;

    (void)state;
    p->options.recipe.override_type = override_of;
    p->options.recipe.output_type = gufo_element_type_by_name("F16");
    measure(p, FEW, NULL);
    plan = plan_for(p, (gufo_size_target){.bytes = 40000}, NULL);
    check_type(plan, "blk.0.attn_q.weight", "Q8_0");
    check_type(plan, "blk.1.attn_k.weight", "Q4_0");
    check_type(plan, "output.weight", "F16");
    check(tensor_of(plan, "blk.1.attn_k.weight").loss.relative > 0, "its loss counts");
    check_plan(p, plan, "given");
    run_plan(p, plan, "given");
    gufo_size_plan_free(plan);
    check(plan_or_fail(p, &(gufo_size_target){.bytes = 40000}, 1, &ties, &error) == NULL, "ties");
    check_error_shape(&error, GUFO_E_ARGUMENT, "ties");
    check(strstr(error.message, "blk.0.attn_q.weight") != NULL &&
              strstr(error.message, "blk.0.attn_k.weight") != NULL,
          "%s", error.message);
    place_end(p);
}

/* The more floats a plan has, the more elements of its main type are floats. */
static void test_plain_types(void **state)
{
    place *p = place_new(1, false);
    gufo_size_plan *plan;

    (void)state;
    p->options.recipe.override_type = override_of;
    measure(p, FEW " F16 BF16", NULL);
    plan = plan_for(p, (gufo_size_target){.bytes = 1 << 20}, NULL);
    check(strcmp(result_of(plan, 0).main_type->name, "F16") == 0, "main type");
    check_u64(result_of(plan, 0).file_type->id, GUFO_FILE_TYPE_F16, "file type");
    run_plan(p, plan, "floats");
    gufo_size_plan_free(plan);
    place_end(p);
}

/* What is quantized already may stay, and loses nothing then. */
static void test_quantized_source(void **state)
{
    test_tensor tensors[COUNT_OF(llama)];
    test_model model = models[0];
    gufo_size_plan *plan;
    place *p;

    (void)state;
    memcpy(tensors, llama, sizeof llama);
    for (size_t i = 0; i < COUNT_OF(llama); i++)
        tensors[i].type = tensors[i].n_dims > 1 ? GUFO_TYPE_Q6_K : GUFO_TYPE_F32;
    model.tensors = tensors;
    p = place_new(0, false);
    gufo_model_free(p->input);
    write_model(p->in.text, &model);
    p->input = open_path(p->in.text);
    p->options.recipe.allow_requantize = true;
    measure(p, "Q4_K Q3_K Q8_0", NULL);
    run_sizes(p, "a quantized source");
    plan = plan_for(p, (gufo_size_target){.bytes = 1 << 20}, NULL);
    check_type(plan, "blk.0.ffn_down.weight", "Q6_K");
    check(result_of(plan, 0).loss == 0, "%g", result_of(plan, 0).loss);
    gufo_size_plan_free(plan);
    place_end(p);
}

/* ---- coefficients --------------------------------------------------------------------------- */

typedef struct factor {
    double value;
    const char *end;
} factor;

static double coefficient_of(void *context, gufo_str name, double standard)
{
    const factor *f = context;

    return ends_with(name, f->end) ? f->value : standard;
}

static void test_coefficients(void **state)
{
    static const double bad[] = {-1, NAN, INFINITY, -INFINITY};
    place *p = place_new(0, false);
    factor f = {0, "ffn_down.weight"};
    const gufo_size_options options = {.coefficient = coefficient_of, .context = &f};
    gufo_size_plan *plan;
    gufo_error error;

    (void)state;
    measure(p, FEW, NULL);
    plan = plan_for(p, (gufo_size_target){.bytes = 38000}, &options);
    check_type(plan, "blk.0.ffn_down.weight", "Q2_K"); /* nothing is lost, so that least is best */
    gufo_size_plan_free(plan);
    f.value = 1e12;
    plan = plan_for(p, (gufo_size_target){.bytes = 38000}, &options);
    check_type(plan, "blk.1.ffn_down.weight", "Q8_0");
    check_plan(p, plan, "large");
    gufo_size_plan_free(plan);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        f.value = bad[i];
        check(plan_or_fail(p, &(gufo_size_target){.bytes = 38000}, 1, &options, &error) == NULL,
              "%g", bad[i]);
        check_error_shape(&error, GUFO_E_ARGUMENT, "coefficient");
    }
    f.value = 1.7e308; /* of two tensors: their sum is too large */
    plan = plan_or_fail(p, &(gufo_size_target){.bytes = 38000}, 1, &options, &error);
    check(plan != NULL || error.code == GUFO_E_RANGE, "%s", error.message);
    gufo_size_plan_free(plan);
    place_end(p);
}

static void test_built_in_coefficients(void **state)
{
    static const struct {
        size_t model;
        const char *name;
        double value;
    } rows[] = {
        {0, "token_embd.weight", 0.05},
        {0, "blk.0.attn_q.weight", 0.12},
        {0, "blk.0.attn_k.weight", 0.10},
        {0, "blk.1.attn_v.weight", 0.72},
        {0, "blk.0.attn_output.weight", 0.36},
        {0, "blk.0.ffn_gate.weight", 0.36},
        {0, "blk.0.ffn_up.weight", 0.52},
        {0, "blk.0.ffn_down.weight", 1},
        {0, "output.weight", 1},
        {1, "token_embd.weight", 1},
        {1, "blk.0.attn_qkv.weight", (0.12 + 0.10 + 0.72) / 3},
        {1, "blk.0.ffn_down_exps.weight", 1},
    };

    (void)state;
    for (size_t model = 0; model < COUNT_OF(models); model++) {
        place *p = place_new(model, false);
        gufo_size_plan *plan;

        measure(p, FEW, NULL);
        plan = plan_for(p, (gufo_size_target){.bytes = 1 << 20}, NULL);
        for (size_t i = 0; i < COUNT_OF(rows); i++)
            if (rows[i].model == model)
                check(fabs(tensor_of(plan, rows[i].name).coefficient - rows[i].value) < 1e-12,
                      "%s: %g", rows[i].name, tensor_of(plan, rows[i].name).coefficient);
        gufo_size_plan_free(plan);
        place_end(p);
    }
}

/* ---- several sizes, threads ----------------------------------------------------------------- */

static void check_same_plan(const gufo_size_plan *a, size_t target, const gufo_size_plan *b)
{
    gufo_size_tensor of_a, of_b;

    check_u64(result_of(a, target).size, result_of(b, 0).size, "size");
    check(result_of(a, target).loss == result_of(b, 0).loss, "loss");
    for (uint64_t i = 0; gufo_size_plan_tensor_at(a, target, i, &of_a); i++) {
        check(gufo_size_plan_tensor_at(b, 0, i, &of_b), "tensor %" PRIu64, i);
        check(of_a.loss.type == of_b.loss.type, "tensor %" PRIu64, i);
        check(of_a.loss.relative == of_b.loss.relative, "tensor %" PRIu64, i);
    }
}

/* Several at once are what each is alone, and are written from one reading. */
static void test_several_sizes(void **state)
{
    static const gufo_size_target targets[] = {
        {.bytes = 30000}, {.bits_per_weight = 5}, {.bytes = 45000}, {.bytes = 30000}};
    place *p = place_new(0, false);
    gufo_quantize_options options = p->options;
    gufo_size_plan *all;
    gufo_quantizer *q;
    gufo_error error;

    (void)state;
    measure(p, FEW, NULL);
    all = plan_or_fail(p, targets, COUNT_OF(targets), NULL, &error);
    check(all != NULL, "%s", error.message);
    gufo_size_plan_apply(all, &options);
    q = gufo_quantizer_new(p->input, &options, &error);
    check(q != NULL, "%s", error.message);
    for (size_t i = 0; i < COUNT_OF(targets); i++) {
        gufo_size_plan *alone = plan_for(p, targets[i], NULL);

        check_same_plan(all, i, alone);
        check_u64(gufo_quantizer_target_size(q, i), result_of(all, i).size, "target %zu", i);
        gufo_size_plan_free(alone);
    }
    check(!gufo_size_plan_at(all, COUNT_OF(targets), NULL), "past the last");
    check(!gufo_size_plan_tensor_at(all, 0, COUNT_OF(llama), NULL), "past the last");
    gufo_quantizer_free(q);
    gufo_size_plan_free(all);
    place_end(p);
}

static void test_threads(void **state)
{
    static const unsigned threads[] = {2, 7};
    place *first = place_new(1, true);
    gufo_size_plan *plan;

    (void)state;
    measure(first, FEW, &(gufo_run){.threads = 1});
    plan = plan_for(first, (gufo_size_target){.bits_per_weight = 6}, NULL);
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        place *p = place_new(1, true);
        gufo_size_plan *other;

        measure(p, FEW, &(gufo_run){.threads = threads[i]});
        other = plan_for(p, (gufo_size_target){.bits_per_weight = 6}, NULL);
        check_same_plan(plan, 0, other);
        gufo_size_plan_free(other);
        place_end(p);
    }
    gufo_size_plan_free(plan);
    place_end(first);
}

/* ---- plans as text -------------------------------------------------------------------------- */

typedef struct rules {
    char names[COUNT_OF(llama)][64];
    const gufo_element_type *types[COUNT_OF(llama)];
    size_t count;
    uint64_t line; /* of the last one */
} rules;

static gufo_status take_rule(void *context, const gufo_type_rule *rule, gufo_error *error)
{
    rules *r = context;
    gufo_text name = {0};

    check(r->count < COUNT_OF(llama), "%zu rules", r->count);
    check_ok(gufo_type_rule_tensor(rule->pattern, &name, error), error, "pattern");
    snprintf(r->names[r->count], sizeof r->names[0], "%.*s", (int)name.len, name.data);
    check(rule->type != NULL, "%.*s", (int)rule->type_name.len, rule->type_name.data);
    r->types[r->count++] = rule->type;
    r->line = rule->line;
    gufo_text_free(&name);
    return GUFO_OK;
}

static const gufo_element_type *type_by_rule(void *context, gufo_str name)
{
    const rules *r = context;

    for (size_t i = 0; i < r->count; i++)
        if (gufo_str_equal(gufo_str_of(r->names[i]), name))
            return r->types[i];
    return NULL;
}

static rules read_plan(const gufo_size_plan *plan)
{
    gufo_error error = no_error();
    gufo_text text = {0};
    rules r = {.count = 0};

    check_ok(gufo_size_plan_write(plan, 0, "a comment", &text, &error), &error, "write");
    check(strncmp(text.data, "# a comment\n^", 13) == 0, "%.13s", text.data);
    check_ok(gufo_type_rules_read((gufo_str){text.data, text.len}, take_rule, &r, &error), &error,
             "read");
    check_u64(r.line, r.count + 1, "lines");
    check(gufo_size_plan_write(plan, 1, NULL, &text, &error) == GUFO_E_RANGE, "no such target");
    gufo_text_free(&text);
    return r;
}

/* Whether a quantizer makes the same of every tensor as another one. */
static void check_same_files(const gufo_quantizer *a, const gufo_quantizer *b)
{
    gufo_quantizer_tensor of_a, of_b;

    for (uint64_t i = 0; gufo_quantizer_tensor_at(a, i, &of_a); i++) {
        check(gufo_quantizer_tensor_at(b, i, &of_b), "tensor %" PRIu64, i);
        check_u64(of_a.choice.type, of_b.choice.type, "tensor %" PRIu64, i);
    }
    check_u64(gufo_quantizer_output_size(a), gufo_quantizer_output_size(b), "size");
}

static void check_text(size_t bytes, const char *types, const char *target)
{
    place *p = place_new(0, false);
    gufo_quantize_options options = p->options;
    gufo_quantizer *planned, *read;
    gufo_size_plan *plan;
    gufo_error error;
    rules r;

    measure(p, types, NULL);
    plan = plan_for(p, (gufo_size_target){.bytes = bytes}, NULL);
    check(strcmp(result_of(plan, 0).target, target) == 0, "%s", result_of(plan, 0).target);
    r = read_plan(plan);
    check(r.count > 4, "%zu rules", r.count);
    gufo_size_plan_apply(plan, &options);
    planned = gufo_quantizer_new(p->input, &options, &error);
    options = p->options;
    check(gufo_quantize_target_by_name(target, false, &options.recipe.target), "%s", target);
    options.recipe.override_type = type_by_rule;
    options.recipe.override_context = &r;
    read = gufo_quantizer_new(p->input, &options, &error);
    check(planned != NULL && read != NULL, "%s", error.message);
    check_same_files(planned, read);
    gufo_quantizer_free(planned);
    gufo_quantizer_free(read);
    gufo_size_plan_free(plan);
    place_end(p);
}

/* Where most of it is plain numbers, rules need another target. */
static void test_text(void **state)
{
    (void)state;
    check_text(30000, FEW, "Q5_K_M");
    check_text(100000, "F16 Q8_0 Q4_K", "Q8_0");
}

static void test_patterns(void **state)
{
    static const struct {
        const char *pattern, *name;
    } rows[] = {
        {"^a\\.b$", "a.b"}, {"^a\\x20\\$\\x7f$", "a $\x7f"},
        {"^$", ""},         {"^\303\244-/:,_$", "\303\244-/:,_"},
        {"a", NULL},        {"^a", NULL},
        {"a$", NULL},       {"^a.b$", NULL},
        {"^a\\$", NULL},    {"^a\\d$", NULL},
        {"^\\x8$", NULL},   {"^\\xff$", NULL},
        {"^", NULL},        {"", NULL},
        {"^a|b$", NULL},
    };
    gufo_text name = {0};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_error error = no_error();
        gufo_status status = gufo_type_rule_tensor(gufo_str_of(rows[i].pattern), &name, &error);

        check((status == GUFO_OK) == (rows[i].name != NULL), "%s: %s", rows[i].pattern,
              error.message);
        if (status == GUFO_OK)
            check(gufo_str_equal((gufo_str){name.data, name.len}, gufo_str_of(rows[i].name)), "%s",
                  rows[i].pattern);
        else
            check_error_shape(&error, GUFO_E_TYPE, rows[i].pattern);
    }
    gufo_text_free(&name);
}

static gufo_status join_rule(void *context, const gufo_type_rule *rule, gufo_error *error)
{
    char *out = context;
    size_t len = strlen(out);

    (void)error;
    snprintf(out + len, 200 - len, "%" PRIu64 " %.*s %.*s %s|", rule->line, (int)rule->pattern.len,
             rule->pattern.data, (int)rule->type_name.len, rule->type_name.data,
             rule->type != NULL ? rule->type->name : "none");
    return rule->pattern.data[0] == '!' ? GUFO_E_STOPPED : GUFO_OK;
}

/* Rules of a file by hand; what is wrong is found at its byte. */
static void test_rules(void **state)
{
    static const char text[] = "# a=Q8_0\n\n  attn_k=q8_0 \t ffn(?==)x=ggml_type_f16\r\n #=X\n";
    static const struct {
        const char *text;
        size_t len;
        uint64_t offset;
    } bad[] = {{"a=Q8_0\n  b\n", 11, 9}, {"=Q8_0", 5, 0}, {"a=Q8_0\0b=F16", 12, 6}};
    gufo_error error = no_error();
    char out[200] = "";

    (void)state;
    check_ok(gufo_type_rules_read(gufo_str_of(text), join_rule, out, &error), &error, "read");
    check(strcmp(out, "3 attn_k q8_0 Q8_0|3 ffn(?==)x ggml_type_f16 F16|4 # X none|") == 0, "%s",
          out);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        *out = '\0';
        check(gufo_type_rules_read((gufo_str){bad[i].text, bad[i].len}, join_rule, out, &error) ==
                  GUFO_E_MALFORMED,
              "%s", bad[i].text);
        check_error_shape(&error, GUFO_E_MALFORMED, bad[i].text);
        check_u64(error.offset, bad[i].offset, "%s", bad[i].text);
    }
    *out = '\0';
    check(gufo_type_rules_read(gufo_str_of("!=F16 b=F16"), join_rule, out, &error) ==
              GUFO_E_STOPPED,
          "stopped");
    check(strcmp(out, "1 ! F16 F16|") == 0, "%s", out);
    check_ok(gufo_type_rules_read((gufo_str){NULL, 0}, join_rule, out, &error), &error, "empty");
}

/* ---- wrong arguments ------------------------------------------------------------------------ */

static void check_refused(const place *p, const gufo_size_target *targets, size_t count,
                          const gufo_size_options *more, const char *label)
{
    gufo_error error;

    check(plan_or_fail(p, targets, count, more, &error) == NULL, "%s", label);
    check_error_shape(&error, GUFO_E_ARGUMENT, label);
}

static void test_arguments(void **state)
{
    static const gufo_size_target bad[] = {
        {.bytes = 0},
        {.bytes = 40000, .bits_per_weight = 4},
        {.bytes = 40000, .bits_per_weight = NAN},
        {.bits_per_weight = NAN},
        {.bits_per_weight = -4.5},
        {.bits_per_weight = INFINITY},
        {.bits_per_weight = 64.5},
        {.bytes = 40000, .reserved = {0, 1}},
    };
    static const gufo_size_target many[GUFO_QUANTIZE_TARGETS + 1] = {{.bytes = 40000}};
    const gufo_losses_options types = types_of(FEW);
    place *p = place_new(0, false);
    gufo_error error = no_error();

    (void)state;
    p->losses = gufo_losses_new(p->input, &p->options, &types, &error);
    check(p->losses != NULL, "%s", error.message);
    check_refused(p, many, 1, NULL, "not measured");
    check_ok(gufo_losses_measure(p->losses, NULL, &error), &error, "measure");
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        check_refused(p, &bad[i], 1, NULL, "a size");
    check_refused(p, many, 0, NULL, "no size");
    check_refused(p, NULL, 1, NULL, "no sizes");
    check_refused(p, many, COUNT_OF(many), NULL, "too many");
    check_refused(p, many, 1, &(gufo_size_options){.reserved = {1}}, "reserved");
    check(gufo_size_plan_new(NULL, &(gufo_size_options){0}, NULL, NULL) == NULL, "no losses");
    check(gufo_size_plan_new(p->losses, NULL, NULL, NULL) == NULL, "no options");
    gufo_size_plan_free(plan_for(p, (gufo_size_target){.bytes = UINT64_MAX}, NULL));
    gufo_size_plan_free(NULL);
    place_end(p);
}

/* Every request for memory may fail: nothing is left behind, and the next time it works. */
static void test_memory(void **state)
{
    static const gufo_size_target target = {.bytes = 38000};
    const gufo_size_options options = {.targets = &target, .target_count = 1, .tie = tie_of};
    place *p = place_new(0, false);
    gufo_size_plan *plan = NULL;
    gufo_allocator allocator;
    gufo_run run = {0};
    size_t failures = 0;
    counter c;

    (void)state;
    counter_init(&c);
    allocator = counter_allocator(&c);
    run.allocator = p->options.allocator = &allocator;
    measure(p, "Q8_0 Q4_K Q2_K", NULL);
    for (size_t in_use = c.in_use; plan == NULL; failures++) {
        gufo_error error = no_error();

        c.calls = 0;
        c.fail_at = failures + 1;
        plan = gufo_size_plan_new(p->losses, &options, &run, &error);
        if (plan != NULL)
            break;
        check_error_shape(&error, GUFO_E_MEMORY, "memory");
        check_u64(c.in_use, in_use, "failure %zu", failures);
    }
    check(failures > 20, "%zu failures", failures);
    gufo_size_plan_free(plan);
    c.fail_at = 0;
    place_end(p);
    check_u64(c.in_use, 0, "all is freed");
}

/* A model without tensors has one plan. */
static void test_empty_model(void **state)
{
    test_model model = models[0];
    place *p = place_new(0, false);
    gufo_size_plan *plan;
    gufo_error error;

    (void)state;
    gufo_model_free(p->input);
    model.tensor_count = 0;
    write_model(p->in.text, &model);
    p->input = open_path(p->in.text);
    measure(p, FEW, NULL);
    plan = plan_for(p, (gufo_size_target){.bits_per_weight = 4}, NULL);
    check_u64(result_of(plan, 0).data_size, 0, "data");
    gufo_size_plan_free(plan);
    plan = plan_for(p, (gufo_size_target){.bytes = 1000}, NULL);
    check(result_of(plan, 0).is_best, "best");
    gufo_size_plan_free(plan);
    check(plan_or_fail(p, &(gufo_size_target){.bytes = 10}, 1, NULL, &error) == NULL, "10 bytes");
    check_error_shape(&error, GUFO_E_LIMIT, "10 bytes");
    place_end(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mixtures_lose_more),
        cmocka_unit_test(test_sizes_of_files),
        cmocka_unit_test(test_sizes_of_shards),
        cmocka_unit_test(test_sizes_of_kept_shards),
        cmocka_unit_test(test_bits_per_weight),
        cmocka_unit_test(test_least_and_most),
        cmocka_unit_test(test_nothing_is_left),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_given_types),
        cmocka_unit_test(test_plain_types),
        cmocka_unit_test(test_quantized_source),
        cmocka_unit_test(test_coefficients),
        cmocka_unit_test(test_built_in_coefficients),
        cmocka_unit_test(test_several_sizes),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_empty_model),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
