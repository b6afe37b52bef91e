/* Losses before a type is chosen: which options tensors have, and that what is measured is what a run
 * loses. */
#include "losses_models.h"

#include "../support/allocator.h"
#include "../support/codec.h"
#include "../support/pace.h"

#include <math.h>

static const gufo_element_type *type_named(const char *name)
{
    const gufo_element_type *type = gufo_element_type_by_name(name);

    check(type != NULL, "%s", name);
    return type;
}

/* ---- options -------------------------------------------------------------------------------- */

/* The options of a tensor, as "Q4_0 Q8_0", with "!" where it is fixed. */
static void check_options(const gufo_losses *l, const char *name, const char *expected)
{
    char text[512] = "";
    gufo_losses_tensor tensor;
    uint64_t bytes = 0;
    gufo_loss loss;
    uint64_t i = 0;

    while (gufo_losses_tensor_at(l, i, &tensor) && !gufo_str_equal(tensor.name, gufo_str_of(name)))
        i++;
    check(i < gufo_losses_count(l), "%s", name);
    for (size_t k = 0; gufo_losses_option_at(l, i, k, &loss); k++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", k > 0 ? " " : "",
                 loss.type->name);
        check(k == 0 || loss.bytes >= bytes, "%s: bytes rise", name);
        check(loss.rows == 0 && loss.relative == 0, "%s: nothing is measured", name);
        bytes = loss.bytes;
    }
    check(tensor.is_fixed == (tensor.option_count == 1 && expected[0] == '!'), "%s: %s", name,
          text);
    check(strcmp(text, expected + (expected[0] == '!')) == 0, "%s: %s, not %s", name, text,
          expected);
}

static const gufo_element_type *ask(void *context, gufo_str name)
{
    (void)context;
    if (gufo_str_equal(name, gufo_str_of("blk.0.attn_v.weight")))
        return gufo_element_type_by_name("Q5_0");
    return NULL;
}

static void test_standard_options(void **state)
{
    loss_place *p = loss_place_new((encoding){3, false});
    gufo_losses *l = losses_of(p->input, &p->options, NULL);

    (void)state;
    check_options(l, "token_embd.weight", "Q2_K Q3_K IQ4_XS Q4_K Q5_K Q6_K Q8_0 F32");
    check_options(l, "blk.0.attn_norm.weight", "!F32");
    check_options(l, "blk.0.attn_q.weight", "Q2_K Q3_K IQ4_XS Q4_K Q5_K Q6_K Q8_0 F16");
    check_options(l, "blk.0.ffn_down.weight", "Q4_0 IQ4_NL Q5_0 Q5_1 Q8_0 F32");
    check_options(l, "blk.1.ffn_up.weight", "Q2_K Q3_K IQ4_XS Q4_0 Q4_K Q5_K Q6_K Q8_0");
    check_options(l, "blk.1.ints", "!I32");
    gufo_losses_free(l);

    loss_place_weigh(p);
    l = losses_of(p->input, &p->options, NULL);
    check_options(l, "blk.0.attn_v.weight",
                  "IQ1_S IQ1_M IQ2_XXS IQ2_XS IQ2_S Q2_K IQ3_XXS Q3_K IQ3_S IQ4_XS Q4_K Q5_K "
                  "Q6_K Q8_0 BF16");
    check_options(l, "token_embd.weight", "Q2_K Q3_K IQ4_XS Q4_K Q5_K Q6_K Q8_0 F32");
    gufo_losses_free(l);
    loss_place_end(p);
}

/* What the options of the quantizer say holds for every type. */
static void test_fixed_options(void **state)
{
    const gufo_element_type *types[] = {type_named("IQ2_XS"), type_named("F16"),
                                        type_named("Q8_0")};
    const gufo_losses_options more = {.types = types, .type_count = COUNT_OF(types)};
    loss_place *p = loss_place_new((encoding){3, false});
    gufo_losses *l;
    gufo_losses_tensor tensor;

    (void)state;
    p->options.recipe.override_type = ask;
    p->options.recipe.output_type = type_named("Q6_K");
    l = losses_of(p->input, &p->options, &more);
    check_options(l, "blk.0.attn_v.weight", "!Q5_0");
    check_options(l, "output.weight", "!Q6_K");
    check_options(l, "blk.0.attn_q.weight", "Q8_0 F16"); /* IQ2_XS needs importance */
    check_options(l, "blk.1.ffn_up.weight", "Q4_0 Q8_0 F16");
    check(gufo_losses_tensor_at(l, 3, &tensor) && tensor.reason == GUFO_REASON_OVERRIDE, "reason");
    gufo_losses_free(l);
    p->options.recipe.keep_output = true;
    p->options.recipe.output_type = NULL;
    l = losses_of(p->input, &p->options, &more);
    check_options(l, "output.weight", "!BF16");
    check(!gufo_losses_find(l, 9, type_named("Q8_0"), NULL) &&
              gufo_losses_find(l, 9, type_named("BF16"), NULL),
          "find");
    gufo_losses_free(l);
    loss_place_end(p);
}

/* The call fails, and its error says so. */
static void refuses(const loss_place *p, const gufo_losses_options *more, gufo_status status,
                    const char *words)
{
    gufo_error error = no_error();
    gufo_losses *l = gufo_losses_new(p->input, &p->options, more, &error);

    check(l == NULL, "%s", words);
    check_status(error.code, status, &error, "%s", words);
    check(strstr(error.message, words) != NULL, "%s: %s", words, error.message);
}

static void test_refused_options(void **state)
{
    const gufo_element_type *types[40] = {type_named("Q4_0"), type_named("Q4_0")};
    loss_place *p = loss_place_new((encoding){3, false});
    gufo_losses_options more = {.types = types, .type_count = 2};

    (void)state;
    refuses(p, &more, GUFO_E_ARGUMENT, "type Q4_0 is listed twice");
    types[1] = gufo_element_type_by_id(GUFO_TYPE_Q4_0_4_4);
    refuses(p, &more, GUFO_E_ARGUMENT, "nothing encodes that type");
    types[1] = NULL;
    refuses(p, &more, GUFO_E_ARGUMENT, "is missing");
    more.type_count = 40;
    refuses(p, &more, GUFO_E_LIMIT, "at most 32 types");
    more.type_count = 1;
    more.flags = 64;
    refuses(p, &more, GUFO_E_ARGUMENT, "gufo_losses_options");
    more.flags = 0;
    more.reserved[3] = 1;
    refuses(p, &more, GUFO_E_ARGUMENT, "reserved");
    more.reserved[3] = 0;
    types[0] = type_named("IQ2_XS");
    refuses(p, &more, GUFO_E_NOT_FOUND, "any of the types without importance data");
    more.types = NULL;
    refuses(p, &more, GUFO_E_ARGUMENT, "types is missing");
    p->options.recipe.allow_requantize = false;
    refuses(p, NULL, GUFO_E_TYPE, "quantized already");
    gufo_losses_free(NULL);
    loss_place_end(p);
}

/* ---- all rows ------------------------------------------------------------------------------- */

static const char *const measured[] = {"Q8_0", "Q4_0", "F16", "Q2_K", "IQ4_NL"};

/* What a run for a type alone has lost is what was measured, to the bit. */
static void compare_with_run(const loss_place *p, const gufo_losses *l, const char *type)
{
    gufo_quantize_options options = p->options;
    path_text out = folder_path(&p->f, "out.gguf");
    const quantize_how how = {.flags = GUFO_JOB_REPLACE};
    gufo_error error = no_error();
    gufo_quantizer *q;
    gufo_quantizer_tensor got;
    gufo_loss loss;

    check(gufo_quantize_target_by_name(type, true, &options.recipe.target), "%s", type);
    q = gufo_quantizer_new(p->input, &options, &error);
    check(q != NULL, "%s", error.message);
    check_ok(quantize_run(q, out.text, &how, &error), &error, "%s", type);
    for (uint64_t i = 0; gufo_quantizer_tensor_at(q, i, &got); i++) {
        check(gufo_losses_find(l, i, gufo_element_type_by_id(got.choice.type), &loss),
              "%s: %s is an option", type, loss_tensors[i].name);
        check_u64(loss.bytes, got.choice.size, "%s: %s", type, loss_tensors[i].name);
        check(loss.is_known && loss.standard_error == 0, "%s", loss_tensors[i].name);
        check(loss.relative == gufo_losses_actual(&got), "%s as %s: %.17g, %.17g",
              loss_tensors[i].name, type, loss.relative, gufo_losses_actual(&got));
        check(got.has_importance || got.weighted_value == 0, "%s", loss_tensors[i].name);
        check(!got.has_importance || loss.relative == 0 || got.weighted_error > 0, "%s: weighted",
              loss_tensors[i].name);
    }
    gufo_quantizer_free(q);
}

static void compare_all(const loss_place *p)
{
    const gufo_element_type *types[COUNT_OF(measured)];
    const gufo_losses_options more = {
        .types = types, .type_count = COUNT_OF(types), .flags = GUFO_LOSSES_ALL_ROWS};
    gufo_losses *l;

    for (size_t i = 0; i < COUNT_OF(types); i++)
        types[i] = type_named(measured[i]);
    l = losses_of(p->input, &p->options, &more);
    measure_well(l, NULL);
    for (size_t i = 0; i < COUNT_OF(measured); i++)
        compare_with_run(p, l, measured[i]);
    gufo_losses_free(l);
}

static void test_all_rows(void **state)
{
    (void)state;
    for (size_t e = 0; e < ENCODING_COUNT; e += all_some_or_few(1, 3, 5)) {
        loss_place *p = loss_place_new(all_encodings[e]);

        compare_all(p);
        loss_place_weigh(p);
        compare_all(p);
        loss_place_end(p);
    }
}

/* ---- the same everywhere -------------------------------------------------------------------- */

static void test_threads(void **state)
{
    static const gufo_run runs[] = {{.threads = 1},
                                    {.threads = 2, .memory = UINT64_C(64) << 20},
                                    {.threads = 7},
                                    {.threads = 1, .cpu = GUFO_CPU_PORTABLE}};
    const gufo_element_type *types[] = {type_named("Q4_0"), type_named("IQ4_NL"),
                                        type_named("F16")};
    const gufo_losses_options more = {.types = types, .type_count = COUNT_OF(types)};
    loss_place *p = loss_place_new((encoding){3, false});
    gufo_losses *first;
    gufo_loss loss;

    (void)state;
    loss_place_weigh(p);
    first = losses_of(p->input, &p->options, &more);
    measure_well(first, &runs[0]);
    check(gufo_losses_find(first, 2, types[0], &loss) && loss.rows < loss.all_rows &&
              loss.standard_error > 0 && loss.standard_error <= 0.02 * loss.relative,
          "a sample");
    for (size_t i = 1; i < COUNT_OF(runs); i++) {
        gufo_losses *l = losses_of(p->input, &p->options, &more);

        measure_well(l, &runs[i]);
        check_same_losses(first, l, "threads");
        gufo_losses_free(l);
    }
    gufo_losses_free(first);
    loss_place_end(p);
}

/* ---- samples -------------------------------------------------------------------------------- */

/* Rows that are hard to draw from: in every one numbers are near a normal distribution, or have long
 * tails; and their size differs. */
typedef enum rows_kind { SAME, SCALED, HUGE_ROW, BLOCKS, TAILS, EXPERTS, ZEROS, KINDS } rows_kind;

enum { HARD_ROWS = 1024, PER_KIND = 6 };

static uint64_t kind_of(uint64_t tensor)
{
    return tensor % KINDS;
}

static bool no_entry(void *context, uint64_t index, gufo_entry *out)
{
    (void)context, (void)index, (void)out;
    return false;
}

static bool hard_tensor(void *context, uint64_t index, gufo_tensor *out)
{
    char(*names)[32] = context; /* of all tensors, one after the other */

    *out = (gufo_tensor){.name = gufo_str_of(names[index]),
                         .type = GUFO_TYPE_F32,
                         .n_dims = 2,
                         .dims = {LOSS_COLUMNS, HARD_ROWS}};
    if (kind_of(index) == EXPERTS) {
        out->n_dims = 3;
        out->dims[1] = HARD_ROWS / 32;
        out->dims[2] = 32;
    }
    return true;
}

/* A number that is now and then `most` times as large. */
static float long_tail(number_source *source, uint64_t most)
{
    float value = next_weight(source);
    uint64_t luck = next_number(source) % 512;

    return luck < 8 ? value * (float)(1 + luck * most / 8) : value;
}

static void hard_row(uint64_t tensor, uint64_t row, float *out)
{
    number_source source = {tensor * 1000003 + row * 7919 + 1};
    uint64_t luck;
    float scale = 1;
    bool tails = false;

    for (int i = 0; i < 4; i++)
        (void)next_number(&source);
    luck = next_number(&source) % 1024;
    switch ((rows_kind)kind_of(tensor)) {
    case SCALED:
        scale = (float)(1 + luck * luck / 1024);
        break;
    case HUGE_ROW:
        tails = row == 517;
        scale = row == 517 ? 5000 : 1;
        break;
    case BLOCKS:
        tails = row / 32 % 2 == 1;
        scale = tails ? 3 : 1;
        break;
    case TAILS:
        tails = true;
        break;
    case EXPERTS:
        tails = row / 32 % 3 == 0;
        scale = (float)(1 + row / 32 % 5);
        break;
    case ZEROS:
        scale = luck < 900 ? 0 : 1;
        break;
    default:
        break;
    }
    for (size_t i = 0; i < LOSS_COLUMNS; i++)
        out[i] = scale * (tails ? long_tail(&source, 64) : next_weight(&source));
}

static gufo_status hard_rows(void *context, uint64_t tensor, uint64_t first, uint64_t rows,
                             void *out, gufo_error *error)
{
    (void)context, (void)error;
    for (uint64_t i = 0; i < rows; i++)
        hard_row(tensor, first + i, (float *)out + i * LOSS_COLUMNS);
    floats_from_little_endian(out, (size_t)rows * LOSS_COLUMNS);
    return GUFO_OK;
}

/* Of all that is predicted nearly everything is within three standard errors, and a standard error is
 * what differences are like. */
static void test_samples(void **state)
{
    static char names[KINDS * PER_KIND][32];
    const gufo_provider provider = {.context = names,
                                    .tensor_count = KINDS * PER_KIND,
                                    .entry_at = no_entry,
                                    .tensor_at = hard_tensor,
                                    .read_rows = hard_rows};
    const gufo_element_type *types[] = {type_named("Q8_0"), type_named("Q5_0"), type_named("Q4_0"),
                                        type_named("Q6_K"), type_named("Q3_K")};
    gufo_losses_options more = {.types = types, .type_count = COUNT_OF(types)};
    gufo_error error = no_error();
    gufo_model *model;
    gufo_losses *sampled, *all;
    uint64_t count = 0, far = 0;
    double squares = 0;

    (void)state;
    skip_if_emulated();
    for (size_t i = 0; i < COUNT_OF(names); i++)
        snprintf(names[i], sizeof names[i], "blk.%zu.hard.weight", i);
    model = gufo_model_open_provider(&provider, NULL, &error);
    check(model != NULL, "%s", error.message);
    sampled = losses_of(model, NULL, &more);
    more.flags = GUFO_LOSSES_ALL_ROWS;
    all = losses_of(model, NULL, &more);
    measure_well(sampled, NULL);
    measure_well(all, NULL);
    for (uint64_t i = 0; i < gufo_losses_count(all); i++)
        for (size_t k = 0; k < COUNT_OF(types); k++) {
            gufo_loss a, b;

            check(gufo_losses_option_at(sampled, i, k, &a) && gufo_losses_option_at(all, i, k, &b),
                  "options");
            check_u64(b.rows, HARD_ROWS, "all rows");
            check(a.is_known && a.standard_error <= 0.02 * a.relative, "tensor %d", (int)i);
            if (a.rows == a.all_rows) {
                check(a.relative == b.relative, "tensor %d", (int)i);
                continue;
            }
            count++;
            far += fabs(a.relative - b.relative) > 3 * a.standard_error;
            squares += pow((a.relative - b.relative) / a.standard_error, 2);
        }
    check(count > KINDS * PER_KIND * COUNT_OF(types) / 2, "samples: %d", (int)count);
    check(far * 100 <= count, "%d of %d are far away", (int)far, (int)count);
    check(squares < 1.5 * (double)count, "mean square %g", squares / (double)count);
    gufo_losses_free(sampled);
    gufo_losses_free(all);
    gufo_model_free(model);
}

/* ---- adapters ------------------------------------------------------------------------------- */

static const test_tensor adapter_tensors[] = {
    {"blk.0.attn_q.weight.lora_a", GUFO_TYPE_F32, 2, {LOSS_COLUMNS, 4}},
    {"blk.0.attn_q.weight.lora_b", GUFO_TYPE_F32, 2, {4, 1300}},
    {"blk.1.ffn_up.weight.lora_a", GUFO_TYPE_F32, 2, {LOSS_COLUMNS, 2}},
    {"blk.1.ffn_up.weight.lora_b", GUFO_TYPE_F32, 2, {2, 8}},
};

static void add_adapter_metadata(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
    builder_kv_str(b, "general.type", "adapter");
    builder_kv_str(b, "adapter.type", "lora");
    builder_key(b, "adapter.lora.alpha", 6);
    builder_f32(b, 32);
}

/* What an adapter changes is encoded even in its own type, and F16 rounds otherwise. */
static void test_adapters(void **state)
{
    const test_model adapter = {.encoding = {3, false},
                                .metadata = add_adapter_metadata,
                                .entries = 4,
                                .tensors = adapter_tensors,
                                .tensor_count = COUNT_OF(adapter_tensors)};
    loss_place *p = loss_place_new((encoding){3, false});
    path_text path = folder_path(&p->f, "adapter.gguf");
    gufo_quantize_adapter one;
    gufo_losses *l;
    gufo_loss loss;

    (void)state;
    write_model(path.text, &adapter);
    one = (gufo_quantize_adapter){.model = open_path(path.text)};
    p->options.adapters = &one;
    p->options.adapter_count = 1;
    compare_all(p);
    l = losses_of(p->input, &p->options, NULL);
    measure_well(l, NULL);
    check(gufo_losses_find(l, 2, type_named("F16"), &loss) && loss.rows > 0 && loss.relative > 0,
          "F16 is encoded again");
    check(!gufo_losses_find(l, 7, type_named("Q4_0"), NULL), "nothing stays as it is");
    gufo_losses_free(l);
    gufo_model_free((gufo_model *)(uintptr_t)one.model);
    loss_place_end(p);
}

/* ---- failures ------------------------------------------------------------------------------- */

static bool stop_at_once(void *context, uint64_t done, uint64_t total)
{
    uint64_t *calls = context;

    return done <= total && ++*calls < 4;
}

static void test_stopped(void **state)
{
    const gufo_element_type *types[] = {type_named("Q4_0"), type_named("Q8_0")};
    const gufo_losses_options more = {.types = types, .type_count = COUNT_OF(types)};
    loss_place *p = loss_place_new((encoding){3, false});
    gufo_losses *l = losses_of(p->input, &p->options, &more);
    gufo_losses *whole = losses_of(p->input, &p->options, &more);
    gufo_error error = no_error();
    gufo_status status = GUFO_E_STOPPED;
    unsigned runs = 0;

    (void)state;
    for (; status == GUFO_E_STOPPED; runs++) {
        uint64_t calls = 0;
        const gufo_run run = {.threads = 1, .progress = stop_at_once, .progress_context = &calls};

        status = gufo_losses_measure(l, &run, &error);
        if (runs == 20) /* a tensor that takes long is not finished in four steps */
            measure_well(l, NULL);
    }
    check_ok(status, &error, "the last one");
    check(runs > 2, "several runs");
    measure_well(whole, NULL);
    check_same_losses(l, whole, "stopped");
    gufo_losses_free(l);
    gufo_losses_free(whole);
    loss_place_end(p);
}

static void test_not_finite(void **state)
{
    static const test_tensor tensor = {"a.weight", GUFO_TYPE_F32, 2, {32, 300}};
    const test_model model = {.encoding = {3, false}, .tensors = &tensor, .tensor_count = 1};
    const gufo_element_type *types[] = {type_named("Q4_0")};
    const gufo_losses_options more = {.types = types, .type_count = 1};
    static const uint8_t nan_bytes[4] = {0, 0, 0xc0, 0x7f};
    gufo_quantize_options options = {0};
    gufo_error error = no_error();
    folder f = folder_new();
    path_text path = folder_path(&f, "a.gguf");
    gufo_model *input;
    gufo_losses *l;
    uint8_t *bytes;
    size_t len;

    (void)state;
    write_model(path.text, &model);
    bytes = read_file(path.text, &len);
    memcpy(bytes + len - 4, nan_bytes, 4); /* in the last row, which no sample has by chance */
    write_file(path.text, bytes, len);
    free(bytes);
    input = open_path(path.text);
    l = losses_of(input, &options, &more);
    check_status(gufo_losses_measure(l, NULL, &error), GUFO_E_RANGE, &error, "NaN");
    check(strstr(error.message, "row 299") != NULL, "%s", error.message);
    gufo_losses_free(l);
    options.flags = GUFO_QUANTIZE_KEEP_NONFINITE;
    l = losses_of(input, &options, &more);
    measure_well(l, NULL);
    gufo_losses_free(l);
    gufo_model_free(input);
    folder_remove(&f);
}

/* A type that makes infinity of a value loses all of it: it is not the best one. */
static void test_too_large(void **state)
{
    static const test_tensor tensors[] = {{"a.weight", GUFO_TYPE_F32, 2, {LOSS_COLUMNS, 3}}};
    const test_model model = {.encoding = {3, false},
                              .metadata = add_loss_metadata,
                              .entries = 1,
                              .tensors = tensors,
                              .tensor_count = 1};
    const gufo_element_type *types[] = {type_named("Q4_0"), type_named("BF16")};
    const gufo_losses_options more = {.types = types, .type_count = COUNT_OF(types)};
    static const uint8_t large_bytes[4] = {0x99, 0x76, 0x96, 0x7e}; /* 1e38 */
    const gufo_quantize_options options = {.flags = GUFO_QUANTIZE_KEEP_NONFINITE};
    folder f = folder_new();
    path_text path = folder_path(&f, "a.gguf");
    gufo_model *input;
    gufo_losses *l;
    gufo_loss loss;
    uint8_t *bytes;
    size_t len;

    (void)state;
    write_model(path.text, &model);
    bytes = read_file(path.text, &len);
    memcpy(bytes + len - 4, large_bytes, 4);
    write_file(path.text, bytes, len);
    free(bytes);
    input = open_path(path.text);
    l = losses_of(input, &options, &more);
    measure_well(l, NULL);
    check(gufo_losses_find(l, 0, types[0], &loss) && loss.relative > 0.999, "%g", loss.relative);
    check(gufo_losses_find(l, 0, types[1], &loss) && loss.relative < 0.001, "%g", loss.relative);
    gufo_losses_free(l);
    gufo_model_free(input);
    folder_remove(&f);
}

/* Each request for memory fails in turn. */
static void test_memory(void **state)
{
    loss_place *p = loss_place_new((encoding){3, false});
    const gufo_element_type *types[] = {type_named("Q4_0"), type_named("Q8_0")};
    const gufo_losses_options more = {.types = types, .type_count = COUNT_OF(types)};
    gufo_status status = GUFO_E_MEMORY;
    gufo_allocator allocator;
    counter c;

    (void)state;
    counter_init(&c);
    allocator = counter_allocator(&c);
    p->options.allocator = &allocator;
    for (size_t fail_at = 1; status != GUFO_OK; fail_at += all_some_or_few(1, 7, 50)) {
        gufo_error error = no_error();
        gufo_losses *l;

        c.calls = 0;
        c.fail_at = fail_at;
        l = gufo_losses_new(p->input, &p->options, &more, &error);
        status = l != NULL ? gufo_losses_measure(l, &(gufo_run){.threads = 1}, &error) : error.code;
        if (status == GUFO_OK)
            status = gufo_losses_write(l, p->cache.text, &error);
        if (status == GUFO_OK)
            status = gufo_losses_read(l, p->cache.text, NULL, &error);
        check(status == GUFO_OK || status == GUFO_E_MEMORY, "%s", error.message);
        gufo_losses_free(l);
        check_u64(c.in_use, 0, "freed");
        check(fail_at < 5000, "an end");
    }
    loss_place_end(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standard_options), cmocka_unit_test(test_fixed_options),
        cmocka_unit_test(test_refused_options),  cmocka_unit_test(test_all_rows),
        cmocka_unit_test(test_threads),          cmocka_unit_test(test_samples),
        cmocka_unit_test(test_adapters),         cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_not_finite),       cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
