/* The other byte order: bytes that come back, and numbers that stay. */
#include "copies.h"

#include "../support/good.h"

static const gufo_byte_order orders[] = {GUFO_LITTLE_ENDIAN, GUFO_BIG_ENDIAN};

typedef struct workshop {
    folder f;
    path_text in, turned, back;
} workshop;

static workshop workshop_new(void)
{
    workshop w = {.f = folder_new()};

    w.in = folder_path(&w.f, "in.gguf");
    w.turned = folder_path(&w.f, "turned.gguf");
    w.back = folder_path(&w.f, "back.gguf");
    return w;
}

/* ---- every good file ------------------------------------------------------------------------ */

/* Types without a layout, and interleaved blocks that are not whole groups. */
static bool is_refused(const good_file *good)
{
    static const char *const names[] = {"unknown types", "sampler", "all types"};

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(good->name, names[i]) == 0)
            return true;
    return false;
}

static void check_good_file(const good_file *good, const builder *bytes, const char *label,
                            void *context)
{
    const workshop *w = context;
    const gufo_byte_order *other = &orders[!bytes->encoding.big];
    bool canonical = (good->flags & GOOD_CANONICAL) != 0 && bytes->encoding.version == 3;
    gufo_error error = no_error();
    copied turned;

    write_file(w->in.text, bytes->data, bytes->len);
    check_status(make_copy(w->in.text, w->turned.text, plan_endian, &orders[bytes->encoding.big],
                           false, NULL, &error),
                 GUFO_E_ARGUMENT, &error, "%s: it has that order", label);
    if (is_refused(good)) {
        check_status(make_copy(w->in.text, w->turned.text, plan_endian, other, false, NULL, &error),
                     GUFO_E_TYPE, &error, "%s", label);
        check(!file_exists(w->turned.text), "%s", label);
        return;
    }
    turned = copy_well(w->in.text, w->turned.text, plan_endian, other, label);
    check((turned.normalised == 0) == canonical || strcmp(good->name, "many") == 0, "%s: %#x",
          label, turned.normalised);
    (void)copy_well(w->turned.text, w->back.text, plan_endian, &orders[bytes->encoding.big], label);
    check(same_files(w->in.text, w->back.text) == (turned.normalised == 0), "%s", label);
    (void)unlink(w->turned.text);
    (void)unlink(w->back.text);
}

static void test_good_files(void **state)
{
    workshop w = workshop_new();

    (void)state;
    good_for_each(check_good_file, &w);
    folder_remove(&w.f);
}

/* ---- metadata ------------------------------------------------------------------------------- */

/* A file of the other order, made by hand, is what comes out. */
static void check_same_as_built(const good_file *good, const builder *bytes, const char *label,
                                void *context)
{
    const workshop *w = context;
    builder other;

    if (bytes->encoding.version != 3 || (good->flags & GOOD_CANONICAL) == 0 ||
        strstr(good->name, "array") == NULL)
        return;
    other = good_build(good, (encoding){3, !bytes->encoding.big});
    write_file(w->in.text, bytes->data, bytes->len);
    (void)copy_well(w->in.text, w->turned.text, plan_endian, &orders[!bytes->encoding.big], label);
    check_file(w->turned.text, other.data, other.len, label);
    (void)unlink(w->turned.text);
    builder_free(&other);
}

static void test_metadata(void **state)
{
    workshop w = workshop_new();

    (void)state;
    good_for_each(check_same_as_built, &w);
    folder_remove(&w.f);
}

/* ---- every element type --------------------------------------------------------------------- */

enum { ROWS = 8 };

/* Random blocks of every type that has a layout, a row of two blocks times ROWS. */
static void write_all_types(const char *path)
{
    builder b = builder_new((encoding){3, false});
    uint64_t offset = 0, count = 0, random = 7;
    const gufo_element_type *type;

    for (size_t i = 0; (type = gufo_element_type_at(i)) != NULL; i++)
        count += type->block_bytes > 0;
    builder_header(&b, count, 0);
    for (size_t i = 0; (type = gufo_element_type_at(i)) != NULL; i++) {
        if (type->block_bytes == 0)
            continue;
        builder_tensor(&b, type->name, type->id, 2,
                       (uint64_t[]){2 * (uint64_t)type->block_elements, ROWS}, offset);
        offset += (2 * ROWS * (uint64_t)type->block_bytes + 31) / 32 * 32;
    }
    builder_pad(&b, 32);
    for (size_t i = 0; (type = gufo_element_type_at(i)) != NULL; i++) {
        for (size_t byte = 0; byte < 2 * ROWS * (size_t)type->block_bytes; byte++)
            builder_u8(&b, (uint8_t)(random_next(&random) >> 32));
        builder_pad(&b, 32);
    }
    write_file(path, b.data, b.len);
    builder_free(&b);
}

/* The numbers of a tensor, decoded from blocks of either order: to be freed. */
static float *numbers_of(const gufo_model *file, const gufo_element_type *type, uint64_t *count)
{
    gufo_error error = no_error();
    uint64_t columns = 2 * (uint64_t)type->block_elements;
    gufo_tensor tensor;
    uint8_t *blocks = tensor_bytes(file, type->name, &tensor);
    float *numbers = malloc((size_t)(columns * ROWS) * sizeof *numbers);

    *count = columns * ROWS;
    check(numbers != NULL, "memory");
    if (gufo_model_facts(file).byte_order == GUFO_BIG_ENDIAN)
        check_ok(gufo_swap_blocks(type, blocks, 2 * ROWS, &error), &error, "%s", type->name);
    check_ok(gufo_decode(type, blocks, ROWS, columns, numbers,
                         &(gufo_run){.cpu = GUFO_CPU_PORTABLE}, &error),
             &error, "%s", type->name);
    free(blocks);
    return numbers;
}

/* Whether some number in a block has more than one byte. */
static bool has_order(const gufo_element_type *type)
{
    static const uint32_t none[] = {GUFO_TYPE_I8, GUFO_TYPE_MXFP4, GUFO_TYPE_NVFP4};

    for (size_t i = 0; i < COUNT_OF(none); i++)
        if (type->id == none[i])
            return false;
    return true;
}

static void test_all_types(void **state)
{
    workshop w = workshop_new();
    const gufo_element_type *type;
    gufo_model *in, *turned;

    (void)state;
    write_all_types(w.in.text);
    (void)copy_well(w.in.text, w.turned.text, plan_endian, &orders[1], "turn");
    (void)copy_well(w.turned.text, w.back.text, plan_endian, &orders[0], "back");
    check_same_file(w.back.text, w.in.text, "twice");
    in = open_path(w.in.text);
    turned = open_path(w.turned.text);
    for (size_t i = 0; (type = gufo_element_type_at(i)) != NULL; i++) {
        uint64_t count;
        gufo_tensor tensor;
        float *before, *after;
        uint8_t *bytes_before, *bytes_after;

        if (type->block_bytes == 0)
            continue;
        before = numbers_of(in, type, &count);
        after = numbers_of(turned, type, &count);
        for (uint64_t n = 0; n < count; n++)
            check(memcmp(&before[n], &after[n], sizeof *before) == 0 ||
                      (before[n] != before[n] && after[n] != after[n]),
                  "%s: number %" PRIu64, type->name, n);
        bytes_before = tensor_bytes(in, type->name, &tensor);
        bytes_after = tensor_bytes(turned, type->name, &tensor);
        check((memcmp(bytes_before, bytes_after, (size_t)tensor.size) != 0) == has_order(type),
              "%s", type->name);
        free(bytes_before);
        free(bytes_after);
        free(before);
        free(after);
    }
    gufo_model_free(in);
    gufo_model_free(turned);
    folder_remove(&w.f);
}

/* More than one unit of work: 3 MiB and a bit, whose middle must be as well turned as its ends. */
static void test_large_tensors(void **state)
{
    static const test_tensor tensors[] = {{"f", GUFO_TYPE_F32, 2, {1024, 801}},
                                          {"q", GUFO_TYPE_Q8_0, 2, {1024, 1001}}};
    test_model model = {
        .encoding = {3, false}, .tensors = tensors, .tensor_count = COUNT_OF(tensors)};
    workshop w = workshop_new();
    gufo_tensor tensor;
    gufo_model *in, *turned;

    (void)state;
    write_model(w.in.text, &model);
    (void)copy_well(w.in.text, w.turned.text, plan_endian, &orders[1], "turn");
    in = open_path(w.in.text);
    turned = open_path(w.turned.text);
    for (size_t i = 0; i < COUNT_OF(tensors); i++) {
        gufo_error error = no_error();
        uint8_t *before = tensor_bytes(in, tensors[i].name, &tensor);
        uint8_t *after = tensor_bytes(turned, tensors[i].name, &tensor);
        const gufo_element_type *type = gufo_element_type_by_id(tensor.type);

        check_ok(gufo_swap_blocks(type, before, tensor.size / type->block_bytes, &error), &error,
                 "%s", tensors[i].name);
        check(memcmp(before, after, (size_t)tensor.size) == 0, "%s", tensors[i].name);
        free(before);
        free(after);
    }
    gufo_model_free(in);
    gufo_model_free(turned);
    (void)copy_well(w.turned.text, w.back.text, plan_endian, &orders[0], "back");
    check_same_file(w.back.text, w.in.text, "twice");
    folder_remove(&w.f);
}

/* ---- shard sets ----------------------------------------------------------------------------- */

static void test_sets(void **state)
{
    workshop w = workshop_new();
    gufo_split_options twos = {.max_tensors = 2};
    path_text prefix = folder_path(&w.f, "s"), big = folder_path(&w.f, "big");
    path_text little = folder_path(&w.f, "little");
    gufo_error error = no_error();
    path_text first = shard_of(prefix.text, 1, 3), turned = shard_of(big.text, 1, 3);

    (void)state;
    write_small_model(w.in.text);
    (void)copy_well(w.in.text, prefix.text, plan_split, &twos, "split");
    check_status(make_copy(first.text, w.turned.text, plan_endian, &orders[1], false, NULL, &error),
                 GUFO_E_ARGUMENT, &error, "a name for one file");
    check_status(make_copy(first.text, shard_of(big.text, 1, 4).text, plan_endian, &orders[1],
                           false, NULL, &error),
                 GUFO_E_ARGUMENT, &error, "a name for four");
    check_u64(copy_well(first.text, turned.text, plan_endian, &orders[1], "turn").outputs, 3, "3");
    (void)copy_well(turned.text, shard_of(little.text, 1, 3).text, plan_endian, &orders[0], "back");
    for (size_t i = 1; i <= 3; i++)
        check_same_file(shard_of(little.text, i, 3).text, shard_of(prefix.text, i, 3).text, "back");
    (void)copy_well(turned.text, w.turned.text, plan_merge, NULL, "merge");
    (void)copy_well(w.turned.text, w.back.text, plan_endian, &orders[0], "back");
    check_same_file(w.back.text, w.in.text, "whole again");
    folder_remove(&w.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_files), cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_all_types),  cmocka_unit_test(test_large_tensors),
        cmocka_unit_test(test_sets),
    };

    return cmocka_run_group_tests(tests, copies_setup, NULL);
}
