/* The header that a document gives, byte for byte: of every good file in every encoding, and after
 * random changes, against bytes laid out without the library. */
#include "../support/document.h"
#include "../support/good.h"
#include "../support/openers.h"

#include "codec/interleaved.h"

/* ---- good files ----------------------------------------------------------------------------- */

/* Encodings that can be written. */
static const encoding targets[] = {{2, false}, {3, false}, {2, true}, {3, true}};

/* Whether the bytes of all tensors can be swapped: block by block, or group by group. */
static bool can_be_swapped(const gufo_model *file)
{
    gufo_tensor t;

    for (uint64_t i = 0; gufo_model_tensor_at(file, i, &t); i++) {
        const gufo_element_type *type = gufo_element_type_by_id(t.type);

        if (type == NULL || type->block_elements == 0)
            return false;
        if (interleaved_find(t.type) != NULL &&
            t.size / type->block_bytes % interleaved_find(t.type)->rows != 0)
            return false;
    }
    return true;
}

/* The document of a file, packed for another encoding, has the header of the same file in that
 * encoding; what cannot be swapped is refused. */
static void check_target(const good_file *good, const gufo_model *file, encoding to,
                         const char *label)
{
    gufo_document *d = document_of(file, GUFO_DOCUMENT_AS_READ, label);
    gufo_byte_order order = to.big ? GUFO_BIG_ENDIAN : GUFO_LITTLE_ENDIAN;
    bool possible = gufo_model_facts(file).byte_order == order || can_be_swapped(file);
    gufo_error error = no_error();
    gufo_status status = gufo_document_set_encoding(d, (uint32_t)to.version, order, &error);
    gufo_document_tensor t;

    check_status(status, possible ? GUFO_OK : GUFO_E_TYPE, &error, "%s", label);
    if (possible) {
        builder expected = good_build(good, to);
        gufo_model *same = open_built(&expected, label);

        check_header(d, NULL, expected.data, (size_t)gufo_model_facts(same).data_offset, label);
        gufo_model_free(same);
        builder_free(&expected);
    }
    for (uint64_t i = 0; gufo_document_tensor_at(d, i, &t); i++)
        check(t.swapped == (possible && gufo_model_facts(file).byte_order != order), "%s: swapped",
              label);
    gufo_document_free(d);
}

static void check_good(const good_file *good, const builder *bytes, const char *label,
                       void *context)
{
    gufo_model *file;

    if (!(good->flags & GOOD_CANONICAL) && strcmp(good->name, "unpadded tail") != 0)
        return;
    file = open_built(bytes, label);
    for (size_t i = 0; i < COUNT_OF(targets); i++) {
        char text[160];

        snprintf(text, sizeof text, "%s to %s", label, encoding_name(targets[i]));
        check_target(good, file, targets[i], text);
        ++*(size_t *)context;
    }
    gufo_model_free(file);
}

static void test_good_files(void **state)
{
    size_t checked = 0;

    (void)state;
    good_for_each(check_good, &checked);
    check(checked >= 6 * 4 * 15, "only %zu", checked);
}

/* As in the model, every file keeps its header and all of its bytes behind it. */
static void check_as_source(const good_file *good, const builder *bytes, const char *label,
                            void *context)
{
    const gufo_layout_options options = {.way = GUFO_LAYOUT_AS_SOURCE};
    gufo_model *file = open_built(bytes, label);
    gufo_document *d = document_of(file, 0, label);
    gufo_error error = no_error();
    gufo_document_tensor t;
    gufo_layout layout;
    gufo_tensor was;

    (void)good;
    check_ok(gufo_document_layout(d, &options, &layout, &error), &error, "%s", label);
    check_u64(layout.file_size - layout.data_offset,
              bytes->len - gufo_model_facts(file).data_offset, "%s", label);
    for (uint64_t i = 0; gufo_model_tensor_at(file, i, &was); i++) {
        check(gufo_document_tensor_at(d, i, &t), "%s", label);
        check_u64(t.offset - layout.data_offset, was.offset - gufo_model_facts(file).data_offset,
                  "%s", label);
        check_u64(t.size, was.size, "%s", label);
    }
    if (bytes->encoding.version > 1)
        check_header(d, &options, bytes->data, (size_t)gufo_model_facts(file).data_offset, label);
    ++*(size_t *)context;
    gufo_document_free(d);
    gufo_model_free(file);
}

static void test_as_source(void **state)
{
    size_t checked = 0;

    (void)state;
    good_for_each(check_as_source, &checked);
    check(checked >= 6 * 20, "only %zu", checked);
}

/* ---- bits ----------------------------------------------------------------------------------- */

/* Signalling NaNs stay signalling in both orders, alone and in arrays. */
static void test_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENCODING_COUNT * 2; i++) {
        encoding to = {3, i % 2 == 1};
        builder both[2] = {builder_new(all_encodings[i / 2]), builder_new(to)};
        gufo_error error = no_error();
        gufo_document *d;
        gufo_model *file;

        for (size_t k = 0; k < 2; k++) {
            builder_header(&both[k], 0, 3);
            builder_key(&both[k], "single", GUFO_VALUE_FLOAT32);
            builder_u32(&both[k], 0x7f800001);
            builder_key(&both[k], "double", GUFO_VALUE_FLOAT64);
            builder_u64(&both[k], UINT64_C(0xfff0000000000001));
            builder_kv_array(&both[k], "list", GUFO_VALUE_ARRAY, 1);
            builder_array(&both[k], GUFO_VALUE_FLOAT32, 2);
            builder_u32(&both[k], 0xff800001);
            builder_u32(&both[k], 0x80000000);
            builder_pad(&both[k], 32);
        }
        file = open_built(&both[0], "bits");
        d = document_of(file, 0, "bits");
        check_ok(
            gufo_document_set_encoding(d, 3, to.big ? GUFO_BIG_ENDIAN : GUFO_LITTLE_ENDIAN, &error),
            &error, "bits");
        check_packed(d, &both[1], encoding_name(all_encodings[i / 2]));
        gufo_document_free(d);
        gufo_model_free(file);
        builder_free(&both[0]);
        builder_free(&both[1]);
    }
}

/* ---- random changes ------------------------------------------------------------------------- */

enum { KEYS = 60 };

/* The same entries, as plainly as possible: the keys are numbers, a value is a number or a text
 * that says it. */
typedef struct plain {
    uint32_t keys[KEYS];
    uint32_t values[KEYS];
    size_t count;
} plain;

static size_t plain_find(const plain *p, uint32_t key)
{
    size_t i = 0;

    while (i < p->count && p->keys[i] != key)
        i++;
    return i;
}

typedef struct text {
    char bytes[24];
} text;

static text say(const char *prefix, uint32_t number)
{
    text t;

    snprintf(t.bytes, sizeof t.bytes, "%s.%" PRIu32, prefix, number);
    return t;
}

static void build_plain(builder *b, const plain *p)
{
    builder_header(b, 0, p->count);
    for (size_t i = 0; i < p->count; i++) {
        if (p->values[i] % 2 == 0)
            builder_kv_u32(b, say("k", p->keys[i]).bytes, p->values[i]);
        else
            builder_kv_str(b, say("k", p->keys[i]).bytes, say("v", p->values[i]).bytes);
    }
    builder_pad(b, 32);
}

static void set(gufo_document *d, plain *p, uint32_t key, uint32_t value)
{
    size_t at = plain_find(p, key);
    gufo_error error = no_error();
    gufo_status status =
        value % 2 == 0
            ? gufo_document_set_u32(d, say("k", key).bytes, value, &error)
            : gufo_document_set_text(d, say("k", key).bytes, say("v", value).bytes, &error);

    check_ok(status, &error, "set");
    p->keys[at] = key;
    p->values[at] = value;
    p->count += at == p->count;
}

static void remove_at(plain *p, size_t at)
{
    p->count--;
    memmove(&p->keys[at], &p->keys[at + 1], (p->count - at) * sizeof *p->keys);
    memmove(&p->values[at], &p->values[at + 1], (p->count - at) * sizeof *p->values);
}

static void change(gufo_document *d, plain *p, uint64_t *random)
{
    uint32_t key = (uint32_t)(random_next(random) % KEYS);
    uint32_t other = (uint32_t)(random_next(random) % KEYS);
    size_t at = plain_find(p, key);
    gufo_error error = no_error();
    gufo_status status;

    switch (random_next(random) % 4) {
    case 0:
        check(gufo_document_remove_key(d, say("k", key).bytes) == (at < p->count), "remove");
        if (at < p->count)
            remove_at(p, at);
        break;
    case 1:
        status = gufo_document_rename(d, say("k", key).bytes, say("k", other).bytes, &error);
        if (at == p->count)
            check_status(status, GUFO_E_NOT_FOUND, &error, "rename");
        else if (other != key && plain_find(p, other) < p->count)
            check_status(status, GUFO_E_EXISTS, &error, "rename");
        else {
            check_ok(status, &error, "rename");
            p->keys[at] = other;
        }
        break;
    default:
        set(d, p, key, (uint32_t)random_next(random));
    }
}

static void check_random(encoding e, uint64_t seed)
{
    uint64_t random = seed;
    gufo_document *d = document_for(e, 0);
    plain p = {.count = 0};
    gufo_error error = no_error();

    for (int round = 0; round < 40; round++) {
        builder b = builder_new(e), again = builder_new(e);
        gufo_model *file;
        gufo_document *copy;

        for (uint64_t i = random_next(&random) % 30; i > 0; i--)
            change(d, &p, &random);
        build_plain(&b, &p);
        check_packed(d, &b, "set");
        /* The same with values that are views into a file. */
        file = open_built(&b, "random");
        copy = document_of(file, 0, "random");
        plain p2 = p;
        for (int i = 0; i < 20; i++)
            change(copy, &p2, &random);
        build_plain(&again, &p2);
        check_packed(copy, &again, "copied");
        /* And all of them into the other one. */
        check_ok(gufo_document_copy_entries(copy, file, NULL, NULL, NULL, &error), &error, "copy");
        for (size_t i = 0; i < p.count; i++) {
            size_t at = plain_find(&p2, p.keys[i]);

            p2.keys[at] = p.keys[i];
            p2.values[at] = p.values[i];
            p2.count += at == p2.count;
        }
        builder_free(&again);
        again = builder_new(e);
        build_plain(&again, &p2);
        check_packed(copy, &again, "copied over");
        gufo_document_free(copy);
        gufo_model_free(file);
        builder_free(&b);
        builder_free(&again);
    }
    gufo_document_free(d);
}

static void test_random_changes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        check_random((encoding){2, false}, seed);
        check_random((encoding){3, false}, seed + 100);
        check_random((encoding){3, true}, seed + 200);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_files),
        cmocka_unit_test(test_as_source),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_random_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
