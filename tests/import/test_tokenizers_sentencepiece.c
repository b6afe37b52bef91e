/* SentencePiece models: their fields, and what is wrong with broken ones, at which byte. */
#include "sentencepiece_maker.h"

#include "base/memory.h"
#include "import/tokenizers/sentencepiece.h"

static const made_piece pieces[] = {
    {"<unk>", 0, 2}, {"<s>", 0, 3}, {"<0x0A>", -1.5f, 6}, {"\xe2\x96\x81the", -2, 0}};

static gufo_str bytes_of(const builder *b)
{
    return (gufo_str){(const char *)b->data, b->len};
}

static void test_fields(void **state)
{
    builder b = make_sentencepiece(pieces, COUNT_OF(pieces), 2), normalizer;
    gufo_error error = no_error();
    sentencepiece model;

    (void)state;
    normalizer = builder_new(b.encoding);
    put_field(&normalizer, 2, "map", 3);
    put_number(&normalizer, 3, 0);
    put_message(&b, 3, &normalizer);
    put_varint(&b, 99 << 3 | 1); /* a field that no program knows, of 64 bits */
    builder_u64(&b, 7);
    check_ok(sentencepiece_read(bytes_of(&b), &default_allocator, &model, &error), &error, "model");
    check_u64(model.count, COUNT_OF(pieces), "pieces");
    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        check_str(model.pieces[i].text, pieces[i].text, "piece %zu", i);
        check(model.pieces[i].score == pieces[i].score, "piece %zu", i);
        check(model.pieces[i].type == (pieces[i].type != 0 ? pieces[i].type : 1), "piece %zu", i);
    }
    check(model.model_type == SENTENCEPIECE_BPE, "type %d", (int)model.model_type);
    check_str(model.charsmap, "map", "charsmap");
    check(!model.add_dummy_prefix && model.remove_extra_whitespaces && model.escape_whitespaces,
          "flags");
    sentencepiece_free(&model);
    builder_free(&b);
}

typedef struct broken_row {
    const char *label, *bytes;
    size_t len;
    gufo_status status;
    uint64_t offset;
} broken_row;

static void test_broken(void **state)
{
    static const broken_row table[] = {
        {"nothing", "", 0, GUFO_E_MALFORMED, GUFO_NO_OFFSET},
        {"a length past the end", "\x0a\x7f\x01", 3, GUFO_E_TRUNCATED, 0},
        {"a length of 63 bits", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10, GUFO_E_TRUNCATED,
         0},
        {"a number without an end", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12,
         GUFO_E_MALFORMED, 1},
        {"a number that is cut off", "\x0a\xff", 2, GUFO_E_TRUNCATED, 1},
        {"a group", "\x0b", 1, GUFO_E_MALFORMED, 0},
        {"field 0", "\x02\x00", 2, GUFO_E_MALFORMED, 0},
        {"a piece whose text ends behind it", "\x0a\x03\x0a\x05\x61", 5, GUFO_E_TRUNCATED, 2},
        {"a piece of type 9", "\x0a\x05\x0a\x01\x61\x18\x09", 7, GUFO_E_MALFORMED, 5},
        {"a model of type 9", "\x0a\x03\x0a\x01\x61\x12\x02\x18\x09", 9, GUFO_E_MALFORMED, 7},
        {"half a score", "\x0a\x04\x15\x00\x00\x00", 6, GUFO_E_TRUNCATED, 2},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        gufo_error error = no_error();
        sentencepiece model;

        check_status(sentencepiece_read((gufo_str){table[i].bytes, table[i].len},
                                        &default_allocator, &model, &error),
                     table[i].status, &error, "%s", table[i].label);
        check_error_shape(&error, table[i].status, table[i].label);
        check_u64(error.offset, table[i].offset, "%s: %s", table[i].label, error.message);
        sentencepiece_free(&model);
    }
}

/* Whatever is cut off, the rest is refused or shorter, and never read beyond its end. */
static void test_cut_off(void **state)
{
    builder b = make_sentencepiece(pieces, COUNT_OF(pieces), 2);

    (void)state;
    for (size_t len = 0; len < b.len; len++) {
        uint8_t *exact = builder_exact_copy(&b, len);
        gufo_error error = no_error();
        sentencepiece model;

        if (sentencepiece_read((gufo_str){(const char *)exact, len}, &default_allocator, &model,
                               &error) == GUFO_OK)
            check(model.count <= COUNT_OF(pieces), "%zu bytes", len);
        sentencepiece_free(&model);
        free(exact);
    }
    builder_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_cut_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
