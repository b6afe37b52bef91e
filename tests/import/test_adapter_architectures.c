/* Adapters for small models of many architectures, every file of tests/import/architectures: a pair of
 * rank 2 for each matrix of the model.  Two ways have to lead to the same numbers:
 *
 *     W + 2 B A, in the names and the order of the framework  --converted-->   a model
 *     W converted  +  2 b a, of the adapter converted                          the same model
 *
 * Numbers are small multiples of 1/64, so that all sums are exact, but for those of matrices that rules
 * multiply.  What is refused are pairs for tensors that rules drop or look at. */
#include "../support/pace.h"
#include "fixture_model.h"

#include "gufo/check.h"
#include "gufo/name.h"

#include <math.h>

#include "gufo/import.h"

#define TEXT(view) (int)(view).len, (view).data

enum { RANK = 2, ALPHA = 4, MOST_REFUSED = 64 };

typedef struct pairs {
    subject *of;
    const char *name; /* the label of every message */
    path_text base, adapter;
    safetensor tensors[MOST_TENSORS];
    size_t count;
    bool paired[MOST_TENSORS];
    unsigned refused;
} pairs;

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Number `index` of half of a pair: -2 ... 2.  `seed`: of the tensor. */
static int half_number(uint64_t seed, unsigned half, uint64_t index)
{
    return (int)(splitmix64(seed * 3 + half * 1000003 + index) % 5) - 2;
}

static bool is_pairable(const safetensor *t)
{
    return t->n_dims == 2 && *t->dtype != 'I' && *t->dtype != 'U' && strlen(t->name) > 7 &&
           strcmp(t->name + strlen(t->name) - 7, ".weight") == 0;
}

static bool is_embedding(const safetensor *t)
{
    return strstr(t->name, "embed_tokens") != NULL || strstr(t->name, "wte.") != NULL ||
           strstr(t->name, "embed_in") != NULL;
}

/* Modules whose weights are [in, out]. */
static bool is_conv1d(const pairs *s, const safetensor *t)
{
    static const char *const ends[] = {".c_attn.weight", ".c_proj.weight", ".c_fc.weight",
                                       ".c_fc2.weight"};
    const json_t *classes =
        json_object_get(json_object_get(s->of->fixture, "config"), "architectures");
    const char *name = json_string_value(json_array_get(classes, 0));

    if (name == NULL || (strncmp(name, "GPT2", 4) != 0 && strncmp(name, "JAIS", 4) != 0))
        return false;
    for (size_t i = 0; i < COUNT_OF(ends); i++)
        if (strstr(t->name, ends[i]) != NULL)
            return true;
    return false;
}

/* Whether the weight is the transpose of B A. */
static bool is_turned(const pairs *s, const safetensor *t)
{
    return is_embedding(t) || is_conv1d(s, t);
}

/* Number [o, i] of what the pair adds: 2 B A, in 64ths. */
static int added(uint64_t seed, uint64_t o, uint64_t i, uint64_t in)
{
    int sum = 0;

    for (uint64_t k = 0; k < RANK; k++)
        sum += half_number(seed, 1, o * RANK + k) * half_number(seed, 0, k * in + i);
    return ALPHA / RANK * sum;
}

/* A of a pair: [rank, in], and B: [out, rank], in 64ths. */
static safetensor make_half(const pairs *s, const safetensor *t, unsigned half, char *name,
                            size_t size)
{
    bool turned = is_turned(s, t);
    uint64_t in = t->shape[turned ? 0 : 1], out = t->shape[turned ? 1 : 0];
    safetensor made = {.name = name, .dtype = "F32", .n_dims = 2};
    uint64_t count = RANK * (half == 0 ? in : out), seed = fnv1a64(t->name);
    uint8_t *bytes = malloc((size_t)count * 4);
    const char *end = is_embedding(t) ? ".lora_embedding_" : ".lora_";

    assert_non_null(bytes);
    made.shape[0] = half == 0 ? RANK : out;
    made.shape[1] = half == 0 ? in : RANK;
    (void)snprintf(name, size, "base_model.model.%.*s%s%c%s", (int)(strlen(t->name) - 7), t->name,
                   end, half == 0 ? 'A' : 'B', is_embedding(t) ? "" : ".weight");
    for (uint64_t i = 0; i < count; i++)
        store_number("F32", (float)half_number(seed, half, i) / (half == 1 ? 64.0f : 1.0f), 0,
                     bytes + 4 * i);
    made.bytes = bytes;
    return made;
}

static void write_adapter(const pairs *s)
{
    static const char settings[] =
        "{\"peft_type\": \"LORA\", \"r\": 2, \"lora_alpha\": 4, \"target_modules\": []}";
    static char names[2 * MOST_TENSORS][192];
    static safetensor halves[2 * MOST_TENSORS];
    size_t n = 0;

    for (size_t i = 0; i < s->count; i++)
        for (unsigned half = 0; s->paired[i] && half < 2; half++, n++)
            halves[n] = make_half(s, &s->tensors[i], half, names[n], sizeof names[n]);
    (void)mkdir(s->adapter.text, 0777);
    write_file(path_join(s->adapter.text, "adapter_config.json").text, settings, strlen(settings));
    safetensors_write(path_join(s->adapter.text, "adapter_model.safetensors").text, halves, n);
    free_tensors(halves, n);
}

/* ---- the model that was changed -------------------------------------------------------------- */

static float read_number(const safetensor *t, uint64_t index)
{
    const uint8_t *bytes = t->bytes;
    const bool swapped = bytes_swapped(false);

    if (strcmp(t->dtype, "F32") == 0)
        return float_from_bits(load_u32(bytes + 4 * index, swapped));
    if (strcmp(t->dtype, "BF16") == 0)
        return float_from_bits((uint32_t)load_u16(bytes + 2 * index, swapped) << 16);
    return half_to_float(load_u16(bytes + 2 * index, swapped));
}

/* W + 2 B A, in F32. */
static safetensor change_tensor(const pairs *s, const safetensor *t)
{
    const uint64_t seed = fnv1a64(t->name), rows = t->shape[0], columns = t->shape[1];
    const bool turned = is_turned(s, t);
    safetensor made = *t;
    uint8_t *bytes = malloc((size_t)(rows * columns) * 4);

    assert_non_null(bytes);
    for (uint64_t i = 0; i < rows * columns; i++) {
        uint64_t row = i / columns, column = i % columns;
        int more = turned ? added(seed, column, row, rows) : added(seed, row, column, columns);

        store_number("F32", read_number(t, i) + (float)more / 64.0f, 0, bytes + 4 * i);
    }
    made.dtype = "F32";
    made.bytes = bytes;
    return made;
}

static void write_changed(const pairs *s)
{
    safetensor tensors[MOST_TENSORS];

    for (size_t i = 0; i < s->count; i++)
        tensors[i] = s->paired[i] ? change_tensor(s, &s->tensors[i]) : s->tensors[i];
    s->of->path = folder_path(s->of->root, "changed");
    write_folder(s->of, tensors, s->count);
    for (size_t i = 0; i < s->count; i++)
        if (s->paired[i])
            free((void *)tensors[i].bytes);
}

/* ---- converting ------------------------------------------------------------------------------ */

static gufo_import *convert(path_text path, const char *base, gufo_error *error)
{
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_NO_VOCABULARY, .base = base};

    return gufo_import_checkpoint(path.text, &options, error);
}

/* The tensor that a message names first. */
static size_t named_tensor(const pairs *s, const char *message)
{
    const char *begin = strchr(message, '"');
    size_t len = begin != NULL ? strcspn(begin + 1, "\"") : 0;

    for (size_t i = 0; i < s->count && begin != NULL; i++)
        if (s->paired[i] && strlen(s->tensors[i].name) == len &&
            memcmp(s->tensors[i].name, begin + 1, len) == 0)
            return i;
    check_failed(__FILE__, __LINE__, s->name, "%s", message);
}

/* Whether pairs of this model may be refused with this message. */
static bool is_expected(const pairs *s, const char *message)
{
    /* Poolers, blocks that predict several tokens, tied heads, the embedding of a second tower. */
    static const char *const dropping[] = {
        "bert",  "bert-labels",   "chameleon",   "deepseek2-v3", "distilbert", "ernie4_5-moe",
        "gemma", "hunyuan-dense", "hunyuan-moe", "jina-bert-v2", "neo-bert",   "qwen3next",
        "t5",    "t5encoder"};
    static const struct {
        const char *name, *part;
    } refusals[] = {{"axk2", " look at its numbers"},
                    {"bitnet", " look at its numbers"},
                    {"openpangu", " mix its rows with its columns"}};

    for (size_t i = 0; i < COUNT_OF(dropping); i++)
        if (strcmp(s->name, dropping[i]) == 0)
            return strstr(message, " drop it, so that ") != NULL;
    for (size_t i = 0; i < COUNT_OF(refusals); i++)
        if (strcmp(s->name, refusals[i].name) == 0)
            return strstr(message, refusals[i].part) != NULL;
    return false;
}

/* The adapter, with pairs for everything that is not refused. */
static gufo_import *convert_adapter(pairs *s)
{
    for (;;) {
        gufo_error error = no_error();
        gufo_import *import;

        write_adapter(s);
        import = convert(s->adapter, s->base.text, &error);
        if (import != NULL || error.code == GUFO_E_NOT_FOUND)
            return import;
        check(s->refused++ < MOST_REFUSED && is_expected(s, error.message), "%s: %s", s->name,
              error.message);
        s->paired[named_tensor(s, error.message)] = false;
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

static float *decode(const pairs *s, const gufo_model *model, const gufo_tensor *t)
{
    float *numbers = malloc((size_t)t->elements * sizeof *numbers);
    gufo_error error = no_error();

    assert_non_null(numbers);
    check_ok(gufo_tensor_decode(model, t, 0, t->elements / t->dims[0], numbers, NULL, &error),
             &error, "%s: %.*s", s->name, (int)t->name.len, t->name.data);
    return numbers;
}

static bool find_half(const gufo_model *adapter, gufo_str name, const char *end, gufo_tensor *out)
{
    char text[128];

    (void)snprintf(text, sizeof text, "%.*s%s", (int)name.len, name.data, end);
    return gufo_model_tensor_find(adapter, text, out);
}

/* Adds 2 b a, slice by slice; of the embedding, 2 (b a) with its axes swapped. */
static void add_pair(pairs *s, const gufo_model *adapter, const gufo_tensor *t, float *numbers)
{
    bool token = gufo_str_equal(t->name, gufo_str_of("token_embd.weight"));
    uint64_t slices = t->dims[2] * t->dims[3], rows = t->dims[1], columns = t->dims[0];
    gufo_tensor a, b;
    float *of_a, *of_b;

    if (!find_half(adapter, t->name, ".lora_a", &a) || !find_half(adapter, t->name, ".lora_b", &b))
        return;
    check_u64(a.dims[0], token ? RANK : columns, "%s: %.*s", s->name, TEXT(a.name));
    check_u64(a.dims[1], token ? rows : RANK, "%s: %.*s", s->name, TEXT(a.name));
    check_u64(b.dims[0], RANK, "%s: %.*s", s->name, TEXT(b.name));
    check_u64(b.dims[1], token ? columns : rows, "%s: %.*s", s->name, TEXT(b.name));
    check_u64(a.dims[2] * a.dims[3], slices, "%s: %.*s", s->name, TEXT(a.name));
    check_u64(b.dims[2] * b.dims[3], slices, "%s: %.*s", s->name, TEXT(b.name));
    of_a = decode(s, adapter, &a);
    of_b = decode(s, adapter, &b);
    for (uint64_t i = 0; i < slices * rows * columns; i++) {
        uint64_t slice = i / (rows * columns), row = i / columns % rows, column = i % columns;

        for (uint64_t k = 0; k < RANK; k++)
            numbers[i] +=
                (float)(ALPHA / RANK) * (token ? of_a[row * RANK + k] * of_b[column * RANK + k]
                                               : of_b[(slice * rows + row) * RANK + k] *
                                                     of_a[(slice * RANK + k) * columns + column]);
    }
    free(of_a);
    free(of_b);
}

static void compare_tensor(pairs *s, const gufo_model *base, const gufo_model *adapter,
                           const gufo_model *changed, const gufo_tensor *t)
{
    float *expected = decode(s, base, t), *got;
    gufo_tensor other;
    char name[128];

    (void)snprintf(name, sizeof name, "%.*s", TEXT(t->name));
    check(gufo_model_tensor_find(changed, name, &other), "%s: no %s", s->name, name);
    check_u64(other.elements, t->elements, "%s: %s", s->name, name);
    got = decode(s, changed, &other);
    add_pair(s, adapter, t, expected);
    for (uint64_t i = 0; i < t->elements; i++)
        if (!(fabs((double)got[i] - (double)expected[i]) <=
              1e-6 * (1 + fabs((double)expected[i]))) &&
            memcmp(&got[i], &expected[i], sizeof *got) != 0) {
            print_error("%s: %s: number %" PRIu64 " is %g instead of %g\n", s->name, name, i,
                        (double)got[i], (double)expected[i]);
            s->of->differences++;
            break;
        }
    free(expected);
    free(got);
}

/* Every pair is for a tensor of the base. */
static void check_names(const pairs *s, const gufo_model *base, const gufo_model *adapter)
{
    gufo_tensor t, other;

    for (uint64_t i = 0; gufo_model_tensor_at(adapter, i, &t); i++) {
        char name[128];

        check(t.name.len > 7, "%s: %.*s", s->name, TEXT(t.name));
        (void)snprintf(name, sizeof name, "%.*s", (int)t.name.len - 7, t.name.data);
        check(gufo_model_tensor_find(base, name, &other), "%s: %s", s->name, name);
    }
}

static void compare_models(pairs *s, gufo_import *base, gufo_import *adapter, gufo_import *changed)
{
    const gufo_model *model = gufo_import_model(base);
    gufo_tensor t;

    check_names(s, model, gufo_import_model(adapter));
    for (uint64_t i = 0; gufo_model_tensor_at(model, i, &t); i++)
        compare_tensor(s, model, gufo_import_model(adapter), gufo_import_model(changed), &t);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void note_error(void *context, const gufo_finding *finding)
{
    if (finding->rule->spec_severity == GUFO_ERROR)
        differ(context, "%s %s: %s", finding->rule->id, finding->rule->name, finding->message);
}

/* An adapter keeps to the specification, and so does its name. */
static void check_written(pairs *s, const gufo_import *adapter)
{
    const gufo_check_options options = {.level = GUFO_LEVEL_SPEC};
    gufo_error error = no_error();
    char name[GUFO_NAME_SIZE];

    check_ok(
        gufo_model_check_content(gufo_import_model(adapter), &options, note_error, s->of, &error),
        &error, "%s", s->name);
    check_ok(gufo_import_file_name(adapter, "F32", name, &error), &error, "%s", s->name);
    check_ok(gufo_name_explain(gufo_str_of(name), NULL, &error), &error, "%s: %s", s->name, name);
}

static void try_pairs(pairs *s)
{
    gufo_error error = no_error();
    gufo_import *base = convert(s->base, NULL, &error), *adapter, *changed;

    check(base != NULL, "%s: %s", s->name, error.message);
    adapter = convert_adapter(s);
    write_changed(s);
    changed = convert(s->of->path, NULL, &error);
    check(changed != NULL, "%s: %s", s->name, error.message);
    if (adapter != NULL) {
        check_written(s, adapter);
        compare_models(s, base, adapter, changed);
    }
    gufo_import_free(base);
    gufo_import_free(adapter);
    gufo_import_free(changed);
}

static void try_model(subject *of)
{
    static pairs s;
    folder root = folder_new();

    memset(&s, 0, sizeof s);
    s.of = of;
    s.name = of->name;
    of->root = &root;
    of->path = s.base = folder_path(&root, "base");
    s.adapter = folder_path(&root, "adapter");
    s.count = make_tensors(of->fixture, s.tensors);
    for (size_t i = 0; i < s.count; i++)
        s.paired[i] = is_pairable(&s.tensors[i]);
    if (json_object_get(of->fixture, "refused") == NULL) {
        write_folder(of, s.tensors, s.count);
        try_pairs(&s);
    }
    free_tensors(s.tensors, s.count);
    folder_remove(&root);
}

static void test_architectures(void **state)
{
    unsigned differences = each_fixture(NULL, all_some_or_few(1, 3, 12), try_model);

    (void)state;
    check(differences == 0, "%u differences", differences);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_architectures)};

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
