/* Where the data of a document begins, what fills the room before it, and what has no layout. */
#include "../support/document.h"
#include "../support/good.h"
#include "../support/openers.h"

enum { PADDING_ENTRY = 8 + 12 + 4 + 8 }; /* bytes of an empty gufo.padding */

/* ---- the data offset ------------------------------------------------------------------------ */

/* A file with a key whose text has `len` bytes, one tensor, and a gap and a tail behind it. */
static builder build_model(encoding e, uint32_t alignment, size_t len)
{
    builder b = builder_new(e);
    const uint64_t dims[1] = {3};

    builder_header(&b, 1, 2);
    builder_kv_u32(&b, "general.alignment", alignment);
    builder_key(&b, "text", GUFO_VALUE_STRING);
    builder_length(&b, len);
    builder_fill(&b, 't', len);
    builder_tensor(&b, "a", GUFO_TYPE_F32, 1, dims, alignment);
    builder_pad(&b, alignment);
    builder_fill(&b, 'g', alignment);
    builder_pattern(&b, 1, 12);
    builder_fill(&b, 'z', 77);
    return b;
}

/* Whether data may begin at `offset`, by the words of the header. */
static bool is_place(uint64_t offset, uint64_t size, uint64_t alignment, uint64_t was,
                     const gufo_layout_options *o)
{
    uint64_t block = o->block == 0 ? 1 : o->block;

    if (offset % alignment != 0 || offset % block != was % block || offset < o->minimum ||
        offset < size + o->reserve)
        return false;
    return offset - size < alignment || offset - size >= PADDING_ENTRY;
}

static void check_place(gufo_document *d, uint64_t was, const gufo_layout_options *o,
                        const char *label)
{
    const gufo_open_options metadata = {.flags = GUFO_OPEN_METADATA_ONLY};
    uint64_t size = gufo_document_metadata_size(d), first = size;
    gufo_error error = no_error();
    const void *bytes;
    gufo_layout layout;
    gufo_entry entry;
    gufo_model *file;
    size_t len;

    check_ok(gufo_document_layout(d, o, &layout, &error), &error, "%s", label);
    while (!is_place(first, size, layout.alignment, was, o))
        first++;
    check_u64(layout.data_offset, first, "%s", label);
    check_u64(layout.padding, first - size < layout.alignment ? 0 : first - size, "%s", label);
    check_u64(layout.metadata_size, size + layout.padding, "%s", label);
    check_ok(gufo_document_header(d, &bytes, &len, &error), &error, "%s", label);
    check_u64(len, first, "%s", label);
    file = gufo_model_open_memory(bytes, len, &metadata, &error);
    check(file != NULL, "%s: %s", label, error.message);
    check_u64(gufo_model_facts(file).data_offset, first, "%s", label);
    check_u64(gufo_model_facts(file).infos_end, layout.metadata_size, "%s", label);
    check(gufo_model_find(file, GUFO_PADDING_KEY, &entry) == (layout.padding > 0), "%s", label);
    if (layout.padding > 0) {
        check_u64(entry.end - entry.offset, layout.padding, "%s", label);
        check_u64(strspn(entry.value.as.str.data, " "), entry.value.as.str.len, "%s: spaces",
                  label);
    }
    gufo_model_free(file);
}

static void test_places(void **state)
{
    static const uint32_t alignments[] = {1, 8, 24, 32, 4096};
    static const uint64_t reserves[] = {0, 1, 31, 32, 100, 5000};
    static const uint64_t minima[] = {0, 200, 4000, 8192};
    static const uint64_t blocks[] = {0, 1, 32, 512, 4096};
    static const size_t lengths[] = {0, 5, 40};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(alignments) * COUNT_OF(lengths); i++) {
        size_t len = lengths[i % COUNT_OF(lengths)];
        builder b = build_model(all_encodings[2 + i % 4], alignments[i / COUNT_OF(lengths)], len);
        gufo_model *model = open_built(&b, "model");
        gufo_document *d = document_of(model, 0, "model");
        gufo_error error = no_error();

        for (size_t k = 0; k < COUNT_OF(reserves) * COUNT_OF(minima) * COUNT_OF(blocks) * 2; k++) {
            const gufo_layout_options o = {
                .way = k % 2 == 0 ? GUFO_LAYOUT_PACKED : GUFO_LAYOUT_AS_SOURCE,
                .reserve = reserves[k / 2 % COUNT_OF(reserves)],
                .minimum = minima[k / 2 / COUNT_OF(reserves) % COUNT_OF(minima)],
                .block = blocks[k / 2 / COUNT_OF(reserves) / COUNT_OF(minima)]};
            char label[80];

            snprintf(label, sizeof label, "model %zu, options %zu", i, k);
            check_place(d, gufo_model_facts(model).data_offset, &o, label);
        }
        check_ok(gufo_document_set_text(d, "text", "another, longer than it was", &error), &error,
                 "set");
        check_place(d, gufo_model_facts(model).data_offset,
                    &(gufo_layout_options){.way = GUFO_LAYOUT_AS_SOURCE, .block = 4096}, "longer");
        gufo_document_free(d);
        gufo_model_free(model);
        builder_free(&b);
    }
}

/* gufo.padding of the model does not count: its room is there again. */
static void test_room_comes_back(void **state)
{
    const gufo_layout_options options = {.way = GUFO_LAYOUT_AS_SOURCE, .reserve = 1000};
    builder b = build_model((encoding){3, false}, 32, 5);
    gufo_model *model = open_built(&b, "model"), *second;
    gufo_document *d = document_of(model, 0, "model"), *again;
    const gufo_open_options metadata = {.flags = GUFO_OPEN_METADATA_ONLY};
    gufo_error error = no_error();
    gufo_layout layout, same;
    const void *bytes;
    size_t len;

    (void)state;
    check_ok(gufo_document_layout(d, &options, &layout, &error), &error, "first");
    check(layout.padding >= 1000, "%" PRIu64, layout.padding);
    check_ok(gufo_document_header(d, &bytes, &len, &error), &error, "first");
    second = gufo_model_open_memory(bytes, len, &metadata, &error);
    check(second != NULL, "%s", error.message);
    again = document_of(second, 0, "second");
    check_u64(gufo_document_metadata_size(again), gufo_document_metadata_size(d), "the same");
    check_ok(gufo_document_layout(again, &(gufo_layout_options){.minimum = layout.data_offset},
                                  &same, &error),
             &error, "second");
    check_u64(same.padding, layout.padding, "the same");
    gufo_document_free(again);
    gufo_model_free(second);
    gufo_document_free(d);
    gufo_model_free(model);
    builder_free(&b);
}

/* ---- what has none -------------------------------------------------------------------------- */

static gufo_status as_source(gufo_document *d, gufo_error *error)
{
    return gufo_document_layout(d, &(gufo_layout_options){.way = GUFO_LAYOUT_AS_SOURCE}, NULL,
                                error);
}

static void add_tensor(gufo_document *d, gufo_error *e)
{
    check_ok(gufo_document_add_tensor(d, "new", gufo_element_type_by_id(GUFO_TYPE_F32), 0, NULL, e),
             e, "add");
}

static void retype(gufo_document *d, gufo_error *e)
{
    check_ok(gufo_document_retype(d, "a", gufo_element_type_by_id(GUFO_TYPE_F16), e), e, "retype");
}

static void realign(gufo_document *d, gufo_error *e)
{
    check_ok(gufo_document_set_u32(d, "general.alignment", 64, e), e, "alignment");
}

static void drop_alignment(gufo_document *d, gufo_error *e)
{
    (void)e;
    (void)gufo_document_remove_key(d, "general.alignment");
}

static void swap(gufo_document *d, gufo_error *e)
{
    check_ok(gufo_document_set_encoding(d, 3, GUFO_BIG_ENDIAN, e), e, "order");
}

static void copy_again(gufo_document *d, gufo_error *e)
{
    gufo_document_tensor t;

    check(gufo_document_tensor_at(d, 0, &t), "tensor");
    (void)gufo_document_drop_tensor_str(d, t.name);
    check_ok(gufo_document_copy_tensor(d, t.from, t.origin, e), e, "copy");
}

static void rename_and_set(gufo_document *d, gufo_error *e)
{
    check_ok(gufo_document_rename_tensor(d, "a", "b", e), e, "rename");
    check_ok(gufo_document_set_u32(d, "new", 1, e), e, "set");
}

static void drop(gufo_document *d, gufo_error *e)
{
    (void)e;
    (void)gufo_document_drop_tensor(d, "a");
}

static void test_as_source(void **state)
{
    static const struct {
        const char *label;
        void (*change)(gufo_document *d, gufo_error *error);
        bool possible;
    } rows[] = {{"added", add_tensor, false},
                {"retyped", retype, false},
                {"aligned anew", realign, false},
                {"no alignment", drop_alignment, false},
                {"order", swap, false},
                {"copied again", copy_again, true},
                {"renamed", rename_and_set, true},
                {"dropped", drop, true}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        builder b = build_model((encoding){3, false}, 8, 5);
        gufo_model *model = open_built(&b, "model");
        gufo_document *d = document_of(model, 0, "model");
        gufo_error error = no_error();
        gufo_status status;

        rows[i].change(d, &error);
        status = as_source(d, &error);
        check_status(status, rows[i].possible ? GUFO_OK : GUFO_E_ARGUMENT, &error, "%s",
                     rows[i].label);
        check_ok(gufo_document_layout(d, NULL, NULL, &error), &error, "%s: packed", rows[i].label);
        gufo_document_free(d);
        gufo_model_free(model);
        builder_free(&b);
    }
}

static void test_refused_options(void **state)
{
    gufo_document *d = document_for((encoding){3, false}, 0);
    gufo_layout_options options[] = {{.way = (gufo_layout_way)2},
                                     {.reserve = GUFO_MAX_RESERVE + 1},
                                     {.reserved = {0, 1}},
                                     {.way = GUFO_LAYOUT_AS_SOURCE}};
    gufo_error error = no_error();
    const void *bytes;
    size_t size;

    (void)state;
    check_status(gufo_document_header(d, &bytes, &size, &error), GUFO_E_ARGUMENT, &error, "header");
    for (size_t i = 0; i < COUNT_OF(options); i++) {
        check_status(gufo_document_layout(d, &options[i], NULL, &error), GUFO_E_ARGUMENT, &error,
                     "options %zu", i);
        check_error_shape(&error, GUFO_E_ARGUMENT, "options");
    }
    check_ok(gufo_document_layout(d, NULL, NULL, &error), &error, "layout");
    check_ok(gufo_document_header(d, &bytes, &size, &error), &error, "header");
    check_ok(gufo_document_set_u8(d, "a", 1, &error), &error, "a change");
    check_status(gufo_document_header(d, &bytes, &size, &error), GUFO_E_ARGUMENT, &error,
                 "the layout is of before");
    gufo_document_free(d);
}

/* No file has more than 2^63 - 1 bytes. */
static void test_largest(void **state)
{
    const gufo_element_type *bytes = gufo_element_type_by_id(GUFO_TYPE_I8);
    gufo_document *d = document_for((encoding){3, false}, 0);
    const gufo_layout_options far = {.minimum = UINT64_C(1) << 63};
    const gufo_layout_options odd = {.block = UINT64_MAX};
    const gufo_layout_options overflowing = {.minimum = UINT64_MAX, .block = 4096};
    gufo_error error = no_error();
    gufo_layout layout;

    (void)state;
    check_status(gufo_document_layout(d, &far, NULL, &error), GUFO_E_RANGE, &error, "far");
    check_status(gufo_document_layout(d, &odd, NULL, &error), GUFO_E_RANGE, &error, "odd");
    check_status(gufo_document_layout(d, &overflowing, NULL, &error), GUFO_E_RANGE, &error, "max");
    check_ok(gufo_document_add_tensor(d, "a", bytes, 1, (uint64_t[]){INT64_MAX / 2}, &error),
             &error, "half");
    check_ok(gufo_document_layout(d, NULL, &layout, &error), &error, "half");
    check(layout.file_size > INT64_MAX / 2, "half");
    check_ok(gufo_document_add_tensor(d, "b", bytes, 1, (uint64_t[]){INT64_MAX / 2}, &error),
             &error, "half");
    check_status(gufo_document_layout(d, NULL, NULL, &error), GUFO_E_RANGE, &error, "whole");
    gufo_document_free(d);
}

/* An entry that only looks like padding stays, and nothing is put beside it. */
static void test_odd_padding(void **state)
{
    const gufo_layout_options room = {.reserve = 100};
    builder b = builder_new((encoding){3, false});
    gufo_error error = no_error();
    gufo_document *d;
    gufo_model *model;

    (void)state;
    builder_header(&b, 0, 1);
    builder_kv_u32(&b, GUFO_PADDING_KEY, 1);
    builder_pad(&b, 32);
    model = open_built(&b, "odd");
    d = document_of(model, 0, "odd");
    check_packed(d, &b, "odd");
    check_rule(gufo_document_layout(d, &room, NULL, &error), GUFO_E_MALFORMED, &error,
               "key-duplicate", "odd");
    gufo_document_free(d);
    gufo_model_free(model);
    builder_free(&b);
}

/* ---- a file that is changed meanwhile ------------------------------------------------------- */

/* Every byte of the metadata is overwritten in turn: the header has the bytes that were asked for,
 * other ones of the same structure, or the change is noticed.  Nothing is read outside the file. */
static void test_changed_meanwhile(void **state)
{
    static const encoding ways[] = {{1, false}, {3, false}, {3, true}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ways) * 2; i++) {
        builder b = good_build_named("nested arrays", ways[i / 2]);
        uint8_t *bytes = builder_exact_copy(&b, b.len);
        gufo_model *model = gufo_model_open_memory(bytes, b.len, NULL, NULL);
        gufo_document *d = document_of(model, 0, "model");
        gufo_error error = no_error();
        size_t noticed = 0, len = 0;
        const void *header;

        check_ok(
            gufo_document_set_encoding(d, 3, i % 2 ? GUFO_BIG_ENDIAN : GUFO_LITTLE_ENDIAN, &error),
            &error, "order");
        for (size_t at = 24; at < b.len; at++) {
            gufo_status status;

            bytes[at] ^= 0xff;
            check_ok(gufo_document_layout(d, NULL, NULL, &error), &error, "layout");
            status = gufo_document_header(d, &header, &len, &error);
            if (status != GUFO_OK)
                check(status == GUFO_E_CHANGED || status == GUFO_E_MALFORMED ||
                          status == GUFO_E_LIMIT,
                      "%zu: %s", at, error.message);
            noticed += status != GUFO_OK;
            bytes[at] ^= 0xff;
        }
        check(noticed > 10, "only %zu", noticed);
        check_ok(gufo_document_layout(d, NULL, NULL, &error), &error, "layout");
        check_ok(gufo_document_header(d, &header, &len, &error), &error, "as it was");
        gufo_document_free(d);
        gufo_model_free(model);
        free(bytes);
        builder_free(&b);
    }
}

/* ---- damaged models ------------------------------------------------------------------------- */

static gufo_model *open_leniently(const builder *b)
{
    const gufo_open_options options = {.flags = GUFO_OPEN_LENIENT};
    gufo_model *file = gufo_model_open_memory(b->data, b->len, &options, NULL);

    assert_non_null(file);
    return file;
}

static void check_no_document(const builder *b, const char *rule)
{
    gufo_model *file = open_leniently(b);
    gufo_error error = no_error();

    check(gufo_document_from(file, NULL, &error) == NULL, "%s", rule);
    check_rule(error.code, GUFO_E_MALFORMED, &error, rule, rule);
    gufo_model_free(file);
}

/* What only a lenient open lets in cannot be written. */
static void test_damaged(void **state)
{
    builder twice = builder_new((encoding){3, false}), two = twice, deep = twice;
    gufo_error error = no_error();
    gufo_document *d;
    gufo_model *file;

    (void)state;
    builder_header(&twice, 0, 2);
    builder_kv_u32(&twice, "a", 1);
    builder_kv_u32(&twice, "a", 2);
    builder_pad(&twice, 32);
    check_no_document(&twice, "key-duplicate");
    builder_header(&two, 0, 1);
    builder_key(&two, "a", GUFO_VALUE_BOOL);
    builder_u8(&two, 2);
    builder_pad(&two, 32);
    check_no_document(&two, "bool-value");
    builder_header(&deep, 1, 0);
    builder_tensor(&deep, "t", GUFO_TYPE_F32, 2, (uint64_t[]){UINT64_C(1) << 40, 1 << 30}, 0);
    builder_pad(&deep, 32);
    file = open_leniently(&deep);
    check(gufo_document_from(file, NULL, &error) == NULL, "dims");
    check_status(error.code, GUFO_E_MALFORMED, &error, "dims");
    gufo_model_free(file);
    /* The later of two entries wins where they are only copied. */
    file = open_leniently(&twice);
    d = document_for((encoding){3, false}, 0);
    check_ok(gufo_document_copy_entries(d, file, NULL, NULL, NULL, &error), &error, "copied");
    check_u64(gufo_document_entry_count(d), 1, "copied");
    gufo_document_free(d);
    gufo_model_free(file);
    builder_free(&twice);
    builder_free(&two);
    builder_free(&deep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_room_comes_back),
        cmocka_unit_test(test_as_source),
        cmocka_unit_test(test_refused_options),
        cmocka_unit_test(test_largest),
        cmocka_unit_test(test_odd_padding),
        cmocka_unit_test(test_changed_meanwhile),
        cmocka_unit_test(test_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
