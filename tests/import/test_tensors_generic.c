/* All tensors under their own names, for an architecture without rules. */
#include "../support/allocator.h"
#include "tensor_case.h"
#include "place.h"

/* As case_open, for the architecture "thing", which has no rules. */
static gufo_status open_generic(tensor_case *c, const safetensor *tensors, size_t count,
                                gufo_error *error)
{
    gufo_status status;

    memset(c, 0, sizeof *c);
    c->folder = folder_new();
    check_ok(config_open(&c->config, FOLDER_AT(c->folder.path), "thing", CONFIG_GENERIC, NULL, NULL,
                         error),
             error, "config");
    safetensors_write(folder_path(&c->folder, "model.safetensors").text, tensors, count);
    c->import.allocator = *c->config.allocator;
    c->import.document = gufo_document_new(NULL, error);
    status =
        checkpoint_open(&c->checkpoint, PLACE_AT(c->folder.path), NULL, c->config.allocator, error);
    return status == GUFO_OK
               ? tensors_plan_generic(&c->plan, &c->import, &c->checkpoint, &c->config, error)
               : status;
}

/* The pairs of a key, with "|" between all texts; NULL: the key is absent. */
static void check_pairs(const tensor_case *c, const char *key, const char *expected)
{
    gufo_document_entry entry;
    gufo_array_iter iter;
    gufo_value item;
    char text[2048] = "";

    check(gufo_document_find(c->import.document, key, &entry) == (expected != NULL), "%s", key);
    if (expected == NULL)
        return;
    for (iter = gufo_array_start(&entry.value.as.array); gufo_array_next(&iter, &item);) {
        size_t len = strlen(text);

        (void)snprintf(text + len, sizeof text - len, "%s%.*s", len > 0 ? "|" : "",
                       (int)item.as.str.len, item.as.str.data);
    }
    check_str(gufo_str_of(text), expected, "%s", key);
}

/* ---- shapes and types ----------------------------------------------------------------------- */

static const safetensor shapes[] = {
    {"a.weight", "F32", 2, {3, 2}, NULL},    {"b", "BF16", 2, {2, 4}, NULL},
    {"c.weight", "F16", 3, {2, 3, 4}, NULL}, {"d_norm.weight", "F16", 2, {2, 2}, NULL},
    {"e.weight", "F16", 1, {4}, NULL},       {"f", "F32", 0, {0}, NULL},
    {"g", "F16", 5, {2, 3, 2, 5, 4}, NULL},  {"h", "BF16", 7, {2, 1, 3, 2, 1, 5, 4}, NULL},
};

static const struct {
    const char *type;
    bool keeps;
    uint32_t n_dims;
    uint64_t dims[GUFO_MAX_DIMS];
} planned[COUNT_OF(shapes)] = {
    {"F32", false, 2, {2, 3, 1, 1}}, {"BF16", false, 2, {4, 2, 1, 1}},
    {"F16", false, 3, {4, 3, 2, 1}}, {"F32", true, 2, {2, 2, 1, 1}},
    {"F32", true, 1, {4, 1, 1, 1}},  {"F32", true, 1, {1, 1, 1, 1}},
    {"F16", false, 4, {4, 5, 2, 6}}, {"BF16", false, 4, {4, 5, 1, 12}},
};

/* Numbers are in the order of the checkpoint, whatever the shape. */
static void check_numbers(const tensor_case *c, size_t index, const char *dtype)
{
    const planned_tensor *t = &c->plan.tensors[index];
    uint64_t count = t->dims[0] * t->dims[1] * t->dims[2] * t->dims[3];

    for (uint64_t i = 0; i < count; i++)
        check(made_float(c, t, i) == float_of(dtype, number_bits(dtype, i)), "%s: number %" PRIu64,
              t->name, i);
}

static void test_shapes_and_types(void **state)
{
    safetensor tensors[COUNT_OF(shapes)];
    gufo_error error = no_error();
    tensor_case c;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        tensors[i] = shapes[i];
        tensors[i].bytes = made_numbers(shapes[i].dtype, 0, 4096);
    }
    check_ok(open_generic(&c, tensors, COUNT_OF(shapes), &error), &error, "plan");
    check_u64(c.plan.count, COUNT_OF(shapes), "tensors");
    case_make(&c);
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        const planned_tensor *t = &c.plan.tensors[i];

        check_str(gufo_str_of(t->name), shapes[i].name, "%zu", i);
        check_str(gufo_str_of(t->type->name), planned[i].type, "%s", t->name);
        check(t->keeps_type == planned[i].keeps, "%s", t->name);
        check_u64(t->n_dims, planned[i].n_dims, "%s", t->name);
        for (size_t d = 0; d < GUFO_MAX_DIMS; d++)
            check_u64(t->dims[d], planned[i].dims[d], "%s: dimension %zu", t->name, d);
        check_numbers(&c, i, shapes[i].dtype);
        free((void *)tensors[i].bytes);
    }
    check_pairs(&c, "thing.tensor_names.original", NULL);
    check_pairs(&c, "thing.tensor_shapes.original", "g|2,3,2,5,4|h|2,1,3,2,1,5,4");
    check_str(gufo_str_of(c.plan.first_type->name), "BF16", "auto");
    case_close(&c);
}

static void test_integers_become_floats(void **state)
{
    static const int64_t numbers[] = {-1, 0, 7, INT64_C(1) << 40};
    static const uint8_t flags[] = {0, 1, 1, 0};
    uint8_t bytes[sizeof numbers];
    const safetensor tensors[] = {{"a", "I64", 2, {2, 2}, bytes}, {"b", "BOOL", 2, {2, 2}, flags}};
    gufo_error error = no_error();
    tensor_case c;

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) /* files are little-endian */
        bytes[i] = (uint8_t)((uint64_t)numbers[i / 8] >> i % 8 * 8);
    check_ok(open_generic(&c, tensors, COUNT_OF(tensors), &error), &error, "plan");
    check_str(gufo_str_of(c.plan.first_type->name), "F16", "auto");
    case_make(&c);
    for (uint64_t i = 0; i < 4; i++) {
        check(made_float(&c, &c.plan.tensors[0], i) == (float)numbers[i], "%" PRIu64, i);
        check(made_float(&c, &c.plan.tensors[1], i) == (float)flags[i], "%" PRIu64, i);
    }
    case_close(&c);
}

/* ---- names ---------------------------------------------------------------------------------- */

#define N8(text) text text text text text text text text

static const char n63[] = N8("nnnnnnn") "nnnnnnn", n64[] = N8("nnnnnnnn"),
                  n64_short[] = "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn~89a9b78cec864ede",
                  m200[] = N8("mmmmmmmmmmmmmmmmmmmmmmmmm"),
                  m200_short[] = "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm~f76edf042caa2861",
                  /* Byte 46 is inside a character. */
    u77[] = "uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\xc3\xa9uuuuuuuuuuuuuuuuuuuuuuuuuuuuuu",
                  u77_short[] = "uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu~29ca178e9fc3a17f";

static void test_long_names(void **state)
{
    const safetensor tensors[] = {{"short", "F32", 1, {1}, NULL},
                                  {n63, "F32", 1, {1}, NULL},
                                  {n64, "F32", 1, {1}, NULL},
                                  {m200, "F16", 5, {1, 1, 1, 2, 2}, NULL},
                                  {u77, "F32", 1, {1}, NULL}};
    const char *const names[] = {n63, n64_short, m200_short, "short", u77_short};
    char pairs[1024];
    gufo_error error = no_error();
    tensor_case c;

    (void)state;
    check_ok(open_generic(&c, tensors, COUNT_OF(tensors), &error), &error, "plan");
    check_u64(c.plan.count, COUNT_OF(tensors), "tensors");
    for (size_t i = 0; i < COUNT_OF(names); i++)
        check(case_tensor(&c, names[i]) != NULL, "%s", names[i]);
    (void)snprintf(pairs, sizeof pairs, "%s|%s|%s|%s|%s|%s", m200_short, m200, n64_short, n64,
                   u77_short, u77);
    check_pairs(&c, "thing.tensor_names.original", pairs);
    (void)snprintf(pairs, sizeof pairs, "%s|1,1,1,2,2", m200_short);
    check_pairs(&c, "thing.tensor_shapes.original", pairs);
    case_close(&c);
}

static void test_names_that_are_refused(void **state)
{
    static const char *const names[] = {"", "a\\u0000b"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const safetensor tensors[] = {{names[i], "F32", 1, {1}, NULL}};
        gufo_error error = no_error();
        tensor_case c;

        check(open_generic(&c, tensors, 1, &error) != GUFO_OK, "%s", names[i]);
        check(strstr(error.file, "model.safetensors") != NULL, "%s", error.file);
        case_close(&c);
    }
}

/* ---- memory --------------------------------------------------------------------------------- */

/* So many fill lists that double.  Bytes for each: of an import, and the most while it is planned to be
 * quantized, and while that is written. */
enum { MANY = 4088, IMPORT_BYTES = 260, PLAN_BYTES = 420, RUN_BYTES = 460 };

static void check_bytes(size_t bytes, size_t most, const char *label)
{
    check(bytes / MANY < most, "%s: %zu bytes per tensor", label, bytes / MANY);
}

/* A header has as many tensors as it says: what is kept of each is bounded. */
static void test_many_tensors(void **state)
{
    static const uint8_t bytes[2];
    static safetensor tensors[MANY];
    static char names[MANY][16];
    const gufo_checkpoint_options plain = {.arch = "thing", .flags = GUFO_CHECKPOINT_GENERIC};
    gufo_checkpoint_options options = plain;
    folder root = folder_new();
    const path_text path = folder_path(&root, "out.gguf");
    const gufo_job_options out = {.path = path.text};
    gufo_error error = no_error();
    gufo_allocator allocator;
    const gufo_quantize_options how = {.allocator = &allocator};
    const gufo_run one_thread = {.threads = 1};
    gufo_quantizer *quantizer;
    gufo_import *import;
    counter count;

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof names[i], "x%zu", i);
        tensors[i] = (safetensor){names[i], "F16", 1, {1}, bytes};
    }
    safetensors_write(folder_path(&root, "model.safetensors").text, tensors, MANY);
    counter_init(&count);
    allocator = counter_allocator(&count);
    options.allocator = &allocator;
    import = gufo_import_checkpoint(root.path, &options, &error);
    check(import != NULL, "%s", error.message);
    check_bytes(count.in_use, IMPORT_BYTES, "import");
    count.peak = count.in_use;
    quantizer = gufo_import_quantize(import, NULL, &how, &error);
    check(quantizer != NULL, "%s", error.message);
    check_bytes(count.peak, PLAN_BYTES, "plan");
    count.peak = count.in_use;
    check_ok(gufo_job_run(gufo_quantizer_job(quantizer), &out, &one_thread, &error), &error, "run");
    check_bytes(count.peak, RUN_BYTES, "run");
    gufo_quantizer_free(quantizer);
    gufo_import_free(import);
    check_u64(count.in_use, 0, "bytes that are left");
    folder_remove(&root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_and_types), cmocka_unit_test(test_integers_become_floats),
        cmocka_unit_test(test_long_names),       cmocka_unit_test(test_names_that_are_refused),
        cmocka_unit_test(test_many_tensors),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
