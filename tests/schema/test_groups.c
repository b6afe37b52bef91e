/* Tensors in groups. */
#include "../support/allocator.h"
#include "../support/check.h"

static gufo_model *model_of(gufo_document *d, void **header)
{
    gufo_layout layout;
    const void *bytes;
    size_t size;
    gufo_error error;

    check_ok(gufo_document_layout(d, NULL, &layout, &error), &error, "layout");
    check_ok(gufo_document_header(d, &bytes, &size, &error), &error, "header");
    *header = calloc(1, (size_t)layout.file_size);
    assert_non_null(*header);
    memcpy(*header, bytes, size);
    return gufo_model_open_memory(*header, (size_t)layout.file_size, NULL, &error);
}

static const struct {
    const char *name, *type;
    uint64_t rows;
} tensors[] = {
    {"output.weight", "F16", 2},
    {"blk.0.attn_q.weight", "F16", 2},
    {"blk.0.ffn.weight", "F16", 2},
    {"blk.10.attn_q.weight", "F16", 2},
    {"blk.2.attn_q.weight", "F16", 2},
    {"blk.1.attn_q.weight", "F16", 2},
    {"blk.1.ffn.weight", "F32", 2},
    {"blk.2.ffn.weight", "F16", 3},
    {"blk.3.ffn.weight", "F16", 2},
    {"blk.01.ffn.weight", "F16", 2},
    {"blk.1234567890.w", "F16", 2},
    {"blk.1234567891.w", "F16", 2},
    {"7", "F16", 2},
    {"a.1.2", "F16", 2},
    {"a.2.2", "F16", 2},
    {"a.1.3", "F16", 2},
    {"8", "F16", 2},
    {"blk.-1.ffn.weight", "F16", 2},
    {"blk.1..ffn.weight", "F16", 2},
};

static const struct {
    const char *name;
    uint64_t first, count, size;
} groups[] = {
    {"output.weight", 0, 1, 64},
    {"blk.0-2,10.attn_q.weight", 1, 4, 256},
    {"blk.0,3.ffn.weight", 2, 2, 128},
    {"blk.1.ffn.weight", 6, 1, 128},
    {"blk.2.ffn.weight", 7, 1, 96},
    {"blk.01.ffn.weight", 9, 1, 64},
    {"blk.1234567890.w", 10, 1, 64},
    {"blk.1234567891.w", 11, 1, 64},
    {"7-8", 12, 2, 128},
    {"a.1-2.2", 13, 2, 128},
    {"a.1.3", 15, 1, 64},
    {"blk.-1.ffn.weight", 17, 1, 64},
    {"blk.1..ffn.weight", 18, 1, 64},
};

typedef struct place {
    gufo_document *document;
    void *bytes;
    gufo_model *model;
} place;

static place place_new(void)
{
    place p = {.document = gufo_document_new(NULL, NULL)};
    gufo_error error;

    assert_non_null(p.document);
    for (size_t i = 0; i < COUNT_OF(tensors); i++)
        check_ok(gufo_document_add_tensor(p.document, tensors[i].name,
                                          gufo_element_type_by_name(tensors[i].type), 2,
                                          (uint64_t[]){16, tensors[i].rows}, &error),
                 &error, "%s", tensors[i].name);
    p.model = model_of(p.document, &p.bytes);
    assert_non_null(p.model);
    return p;
}

static void place_end(place *p)
{
    gufo_model_free(p->model);
    free(p->bytes);
    gufo_document_free(p->document);
}

/* Members are in the order of their numbers. */
static void check_group(const place *p, const gufo_tensor_groups *all, size_t i, gufo_text *name)
{
    gufo_tensor_group group;
    gufo_tensor first;
    gufo_error error;
    uint64_t least = UINT64_MAX, member;

    check(gufo_tensor_groups_at(all, i, &group), "group %zu", i);
    check_ok(gufo_tensor_groups_name(all, i, name, &error), &error, "%s", groups[i].name);
    check(gufo_str_equal((gufo_str){name->data, name->len}, gufo_str_of(groups[i].name)),
          "%.*s, not %s", (int)name->len, name->data, groups[i].name);
    check(gufo_model_tensor_at(p->model, groups[i].first, &first), "%s", groups[i].name);
    check(gufo_str_equal(group.first.name, first.name), "%s", groups[i].name);
    check_u64(group.count, groups[i].count, "%s", groups[i].name);
    check_u64(group.size, groups[i].size, "%s", groups[i].name);
    for (uint64_t k = 0; k < group.count; k++) {
        check(gufo_tensor_groups_member(all, i, k, &member), "%s", groups[i].name);
        least = member < least ? member : least;
    }
    check_u64(least, groups[i].first, "%s", groups[i].name);
    check(!gufo_tensor_groups_member(all, i, group.count, &member), "%s", groups[i].name);
}

static void test_groups(void **state)
{
    static const uint64_t queries[] = {1, 5, 4, 3};
    place p = place_new();
    gufo_error error = {0};
    gufo_tensor_groups *all = gufo_tensor_groups_new(p.model, NULL, &error);
    gufo_text name = {0};
    gufo_tensor_group group;
    uint64_t member;

    (void)state;
    check(all != NULL, "%s", error.message);
    for (size_t i = 0; i < COUNT_OF(groups); i++)
        check_group(&p, all, i, &name);
    for (size_t i = 0; i < COUNT_OF(queries); i++) {
        check(gufo_tensor_groups_member(all, 1, i, &member), "member %zu", i);
        check_u64(member, queries[i], "member %zu", i);
    }
    assert_false(gufo_tensor_groups_at(all, COUNT_OF(groups), &group));
    assert_false(gufo_tensor_groups_member(all, COUNT_OF(groups), 0, &member));
    check(gufo_tensor_groups_name(all, COUNT_OF(groups), &name, &error) == GUFO_E_RANGE, "past");
    gufo_text_free(&name);
    gufo_tensor_groups_free(all);
    gufo_tensor_groups_free(NULL);
    place_end(&p);
}

static bool is_query(void *context, gufo_str name)
{
    ++*(size_t *)context;
    return name.len > 6 && memcmp(name.data + 6, "attn_q", 6) == 0; /* not that of blk.10 */
}

static void test_selection(void **state)
{
    place p = place_new();
    size_t asked = 0;
    gufo_tensor_groups_options options = {.keep = is_query, .keep_context = &asked};
    gufo_error error = {0};
    gufo_tensor_groups *all = gufo_tensor_groups_new(p.model, &options, &error);
    gufo_tensor_group group;

    (void)state;
    check(all != NULL, "%s", error.message);
    check_u64(asked, COUNT_OF(tensors), "tensors");
    assert_true(gufo_tensor_groups_at(all, 0, &group));
    check_u64(group.count, 3, "queries");
    assert_false(gufo_tensor_groups_at(all, 1, &group));
    gufo_tensor_groups_free(all);
    options.reserved[0] = 1;
    assert_null(gufo_tensor_groups_new(p.model, &options, &error));
    check_error_shape(&error, GUFO_E_ARGUMENT, "reserved");
    place_end(&p);
}

/* Every request for memory may fail. */
static void test_memory(void **state)
{
    place p = place_new();
    gufo_tensor_groups *all = NULL;
    gufo_allocator allocator;
    counter c;

    (void)state;
    counter_init(&c);
    allocator = counter_allocator(&c);
    for (size_t failures = 0; all == NULL; failures++) {
        const gufo_tensor_groups_options options = {.allocator = &allocator};
        gufo_error error = {0};

        c.calls = 0;
        c.fail_at = failures + 1;
        all = gufo_tensor_groups_new(p.model, &options, &error);
        if (all == NULL)
            check_error_shape(&error, GUFO_E_MEMORY, "memory");
        check(all != NULL || c.in_use == 0, "failure %zu", failures);
    }
    gufo_tensor_groups_free(all);
    check_u64(c.in_use, 0, "all is freed");
    place_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_selection),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
