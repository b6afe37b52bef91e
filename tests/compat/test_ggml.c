/* The small ggml of the standalone build: types, tensors, pools. */
#include "compat.h"

#include <strings.h>

/* Removed types have no blocks; the others are those of the one table. */
static void test_types(void **state)
{
    (void)state;
    for (int id = 0; id < GGML_TYPE_COUNT; id++) {
        enum ggml_type type = (enum ggml_type)id;
        const gufo_element_type *row = gufo_element_type_by_id((uint32_t)id);
        bool removed = (row->flags & GUFO_ELEMENT_REMOVED) != 0;

        check_u64(ggml_type_size(type), removed ? 0 : row->block_bytes, "type %d", id);
        check_u64(ggml_blck_size(type), removed ? 0 : row->block_elements, "type %d", id);
        check(ggml_is_quantized(type) == (!removed && (row->flags & GUFO_ELEMENT_QUANTIZED)),
              "type %d", id);
        if (!removed)
            check(strcasecmp(ggml_type_name(type), row->name) == 0, "type %d", id);
    }
    assert_null(gufo_element_type_by_id(GGML_TYPE_COUNT));
    check(strcmp(ggml_type_name(GGML_TYPE_Q4_K), "q4_K") == 0, "the K is large");
    check(strcmp(ggml_type_name(GGML_TYPE_COUNT), "NONE") == 0, "no type");
    check_u64(ggml_row_size(GGML_TYPE_Q4_0, 64), 36, "two blocks");
}

static void test_halves(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        float half = ggml_fp16_to_fp32((ggml_fp16_t)bits);
        float brain = ggml_bf16_to_fp32((ggml_bf16_t){(uint16_t)bits});

        if (half == half)
            check_u64(ggml_fp32_to_fp16(half), bits, "binary16");
        if (brain == brain)
            check_u64(ggml_fp32_to_bf16(brain).bits, bits, "bfloat16");
        else
            check((ggml_fp32_to_bf16(brain).bits & 0x7f) != 0, "NaN stays NaN: %x", (unsigned)bits);
    }
    check(ggml_fp16_to_fp32(0x3c00) == 1.0f, "1");
    check_u64(ggml_fp32_to_bf16(1.00390625f).bits, 0x3f80, "a tie goes to the even one");
    check_u64(ggml_fp32_to_bf16(1.01171875f).bits, 0x3f82, "a tie goes to the even one");
}

static void test_pool(void **state)
{
    const size_t overhead = ggml_tensor_overhead(), align = GGML_MEM_ALIGN;
    const size_t data = GGML_PAD(12, align) + GGML_PAD(1, align);
    struct ggml_context *pool =
        ggml_init((struct ggml_init_params){.mem_size = 3 * overhead + data});
    struct ggml_tensor *a, *b;

    (void)state;
    assert_non_null(pool);
    check_u64(ggml_used_mem(pool), 0, "empty");
    assert_null(ggml_get_first_tensor(pool));
    a = ggml_new_tensor_2d(pool, GGML_TYPE_I16, 3, 2);
    b = ggml_new_tensor_1d(pool, GGML_TYPE_I8, 1);
    check_u64(ggml_used_mem(pool), 2 * overhead + data, "data is padded");
    check_u64((uintptr_t)a->data % align + (uintptr_t)b->data % align, 0, "and aligned");
    check_u64(ggml_get_max_tensor_size(pool), 12, "the largest");
    ggml_set_no_alloc(pool, true);
    check(ggml_dup_tensor(pool, a)->data == NULL, "without data");
    check(ggml_used_mem(pool) == ggml_get_mem_size(pool), "exactly full");
    check(ggml_get_first_tensor(pool) == a && ggml_get_next_tensor(pool, a) == b, "in order");
    ggml_reset(pool);
    check_u64(ggml_used_mem(pool), 0, "empty again");
    check(ggml_get_mem_buffer(pool) != NULL && ggml_get_no_alloc(pool), "the pool stays");
    ggml_free(pool);
}

static void test_own_buffer(void **state)
{
    static _Alignas(16) char memory[1024];
    struct ggml_context *pool =
        ggml_init((struct ggml_init_params){.mem_size = sizeof memory, .mem_buffer = memory});
    struct ggml_tensor *t = ggml_new_tensor_1d(pool, GGML_TYPE_F32, 4);

    (void)state;
    check((char *)t > memory && (char *)t < memory + sizeof memory, "inside");
    check(ggml_get_data_f32(t) == ggml_get_data(t), "data");
    ggml_free(pool);
    assert_null(ggml_init((struct ggml_init_params){.mem_size = SIZE_MAX}));
}

static void test_names(void **state)
{
    struct ggml_tensor t = {.type = GGML_TYPE_F32}, same = t;
    char longer[100];

    (void)state;
    memset(longer, 'n', sizeof longer);
    longer[99] = '\0';
    ggml_set_name(&t, longer);
    check_u64(strlen(ggml_get_name(&t)), GGML_MAX_NAME - 1, "cut");
    ggml_set_name(&t, t.name);
    check_u64(strlen(ggml_get_name(&t)), GGML_MAX_NAME - 1, "its own name");
    ggml_format_name(&t, "blk.%d", 12);
    check(strcmp(t.name, "blk.12") == 0, "formatted");
    check(ggml_are_same_shape(&t, &same), "shapes do not know names");
}

static void test_shapes(void **state)
{
    struct ggml_context *pool = ggml_init((struct ggml_init_params){8192, NULL, true});
    struct ggml_tensor *t = ggml_new_tensor_3d(pool, GGML_TYPE_Q4_0, 64, 3, 2);

    (void)state;
    check_u64(ggml_n_dims(t), 3, "dims");
    check_u64(ggml_nelements(t), 384, "elements");
    check_u64(ggml_nrows(t), 6, "rows");
    check_u64(ggml_nbytes(t), 216, "bytes");
    check_u64(ggml_nbytes_pad(t), GGML_PAD(216, GGML_MEM_ALIGN), "padded bytes");
    check_u64(ggml_element_size(t), 18, "a block");
    check_u64(t->nb[3], 216, "strides");
    check(ggml_is_contiguous(t) && !ggml_is_matrix(t) && !ggml_is_empty(t), "kind");
    t->nb[1] = 72; /* every second row */
    check(!ggml_is_contiguous(t), "not contiguous");
    check_u64(ggml_nbytes(t), 36 + 2 * 72 + 108, "to the last byte");
    t = ggml_new_tensor_1d(pool, GGML_TYPE_I8, 1);
    check(ggml_is_scalar(t) && ggml_is_vector(t) && ggml_is_matrix(t), "a scalar");
    check_u64(ggml_n_dims(t), 1, "a scalar");
    t = ggml_new_tensor_4d(pool, GGML_TYPE_I8, 3, 0, 1, 1);
    check(ggml_is_empty(t), "empty");
    check_u64(ggml_nbytes(t), 0, "empty");
    ggml_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types), cmocka_unit_test(test_halves),
        cmocka_unit_test(test_pool),  cmocka_unit_test(test_own_buffer),
        cmocka_unit_test(test_names), cmocka_unit_test(test_shapes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
