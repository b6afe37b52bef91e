/* The entries of a document: setting, finding, removing, renaming, and what is refused. */
#include "scalars.h"

#include "../support/document.h"
#include "../support/openers.h"

static gufo_document *new_document(uint32_t flags)
{
    return document_for((encoding){3, false}, flags);
}

static void check_u32(const gufo_document *d, const char *key, uint32_t expected)
{
    gufo_document_entry entry;

    check(gufo_document_find(d, key, &entry), "%s", key);
    check_u64(entry.value.type, GUFO_VALUE_UINT32, "%s", key);
    check_u64(entry.value.as.u, expected, "%s", key);
}

static void check_keys(const gufo_document *d, const char *const *keys, size_t count)
{
    gufo_document_entry entry;

    check_u64(gufo_document_entry_count(d), count, "keys");
    for (size_t i = 0; i < count; i++) {
        check(gufo_document_entry_at(d, i, &entry), "entry %zu", i);
        check_str(entry.key, keys[i], "entry %zu", i);
    }
    check(!gufo_document_entry_at(d, count, &entry), "past the end");
}

/* ---- options -------------------------------------------------------------------------------- */

static void test_options(void **state)
{
    gufo_document_options options = {.flags = 4};
    gufo_error error = no_error();
    gufo_document *d;

    (void)state;
    assert_null(gufo_document_new(&options, &error));
    check_error_shape(&error, GUFO_E_ARGUMENT, "flags");
    for (size_t i = 0; i < COUNT_OF(options.reserved); i++) {
        options = (gufo_document_options){.flags = 0};
        options.reserved[i] = 1;
        error = no_error();
        assert_null(gufo_document_new(&options, &error));
        check_error_shape(&error, GUFO_E_ARGUMENT, "reserved");
    }
    assert_null(gufo_document_from(NULL, NULL, &error));
    check_error_shape(&error, GUFO_E_ARGUMENT, "model");
    d = gufo_document_new(NULL, NULL);
    assert_non_null(d);
    check_u64(gufo_document_version(d), 3, "version");
    check_u64(gufo_document_byte_order(d), GUFO_LITTLE_ENDIAN, "order");
    check_u64(gufo_document_alignment(d), 32, "alignment");
    gufo_document_free(d);
    gufo_document_free(NULL);
}

static void test_encodings(void **state)
{
    static const struct {
        uint32_t version;
        int order;
        uint32_t flags;
        bool good;
    } rows[] = {
        {3, GUFO_BIG_ENDIAN, 0, true},
        {2, GUFO_LITTLE_ENDIAN, 0, true},
        {2, GUFO_BIG_ENDIAN, 0, false},
        {2, GUFO_BIG_ENDIAN, GUFO_DOCUMENT_AS_READ, true},
        {1, GUFO_LITTLE_ENDIAN, GUFO_DOCUMENT_AS_READ, false},
        {4, GUFO_LITTLE_ENDIAN, 0, false},
        {3, 2, 0, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_document *d = new_document(rows[i].flags);
        gufo_error error = no_error();
        gufo_status status =
            gufo_document_set_encoding(d, rows[i].version, (gufo_byte_order)rows[i].order, &error);

        check_status(status, rows[i].good ? GUFO_OK : GUFO_E_ARGUMENT, &error, "row %zu", i);
        check_u64(gufo_document_version(d), rows[i].good ? rows[i].version : 3, "row %zu", i);
        check_u64(gufo_document_byte_order(d), rows[i].good ? (uint64_t)rows[i].order : 0,
                  "row %zu", i);
        gufo_document_free(d);
    }
}

/* ---- values --------------------------------------------------------------------------------- */

/* What may be asked of a document for new content. */
static const encoding written[] = {{2, false}, {3, false}, {3, true}};

static void test_scalars(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(written); i++) {
        gufo_document *d = document_for(written[i], 0);
        gufo_error error = no_error();
        builder b = builder_new(written[i]);

        set_scalars(d, &error);
        build_scalars(&b);
        check_packed(d, &b, encoding_name(written[i]));
        gufo_document_free(d);
        builder_free(&b);
    }
}

/* What is set is a copy, and reads as it was set, also inside arrays inside arrays. */
static void test_arrays(void **state)
{
    gufo_str texts[] = {{"one", 3}, {"", 0}, {"\xff\0", 2}};
    uint16_t numbers[] = {1, 65535};
    const gufo_items inner[] = {
        {GUFO_VALUE_UINT16, 2, numbers}, {GUFO_VALUE_STRING, 3, texts}, {GUFO_VALUE_BOOL, 0, NULL}};
    const gufo_items items = {GUFO_VALUE_ARRAY, 3, inner};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(written); i++) {
        gufo_document *d = document_for(written[i], 0);
        gufo_error error = no_error();
        builder b = builder_new(written[i]);
        gufo_document_entry entry;
        gufo_value element;

        numbers[0] = 1;
        check_ok(gufo_document_set_array(d, "list", &items, &error), &error, "list");
        numbers[0] = 2;
        builder_header(&b, 0, 1);
        builder_kv_array(&b, "list", GUFO_VALUE_ARRAY, 3);
        builder_array(&b, GUFO_VALUE_UINT16, 2);
        builder_u16(&b, 1);
        builder_u16(&b, 65535);
        builder_array(&b, GUFO_VALUE_STRING, 3);
        builder_str(&b, "one");
        builder_str(&b, "");
        builder_strn(&b, "\xff\0", 2);
        builder_array(&b, GUFO_VALUE_BOOL, 0);
        builder_pad(&b, 32);
        check_packed(d, &b, encoding_name(written[i]));
        check(gufo_document_find(d, "list", &entry), "list");
        check_ok(gufo_array_at(&entry.value.as.array, 1, &element, &error), &error, "inner");
        check_ok(gufo_array_at(&element.as.array, 0, &element, &error), &error, "text");
        check_str(element.as.str, "one", "text");
        gufo_document_free(d);
        builder_free(&b);
    }
}

/* A key that exists keeps its place, whatever its value was. */
static void test_replacing(void **state)
{
    static const char *const keys[] = {"a", "b", "c"};
    gufo_document *d = new_document(0);
    const uint8_t bytes[] = {1, 2};
    const gufo_items items = {GUFO_VALUE_UINT8, 2, bytes};
    gufo_error error = no_error();
    gufo_document_entry entry;

    (void)state;
    check_ok(gufo_document_set_text(d, "a", "text", &error), &error, "a");
    check_ok(gufo_document_set_u32(d, "b", 1, &error), &error, "b");
    check_ok(gufo_document_set_array(d, "b", &items, &error), &error, "b");
    check_ok(gufo_document_set_array(d, "c", &items, &error), &error, "c");
    check_ok(gufo_document_set_u32(d, "a", 7, &error), &error, "a");
    check_keys(d, keys, 3);
    check_u32(d, "a", 7);
    check(gufo_document_find(d, "b", &entry), "b");
    /* A value may be one of the document itself. */
    check_ok(gufo_document_set_entry(d, entry.key, &entry.value, &error), &error, "b");
    check(gufo_document_find(d, "b", &entry), "b");
    check_u64(entry.value.as.array.count, 2, "b");
    check_u64(entry.value.as.array.data[1], 2, "b");
    check_u64(entry.origin, GUFO_NO_ORIGIN, "b");
    gufo_document_free(d);
}

static void test_missing_arguments(void **state)
{
    gufo_document *d = new_document(0);
    const gufo_items empty = {GUFO_VALUE_UINT8, 1, NULL};
    gufo_error error = no_error();
    uint64_t count = 7;

    (void)state;
    check_status(gufo_document_set(d, "a", NULL, &error), GUFO_E_ARGUMENT, &error, "value");
    check_status(gufo_document_set_u8(d, NULL, 1, &error), GUFO_E_ARGUMENT, &error, "key");
    check_status(gufo_document_set_text(d, "a", NULL, &error), GUFO_E_ARGUMENT, &error, "text");
    check_status(gufo_document_set_array(d, "a", NULL, &error), GUFO_E_ARGUMENT, &error, "items");
    check_status(gufo_document_set_array(d, NULL, &empty, &error), GUFO_E_ARGUMENT, &error, "key");
    check_status(gufo_document_set_array(d, "a", &empty, &error), GUFO_E_ARGUMENT, &error,
                 "elements");
    check_status(gufo_document_copy_entries(d, NULL, NULL, NULL, &count, &error), GUFO_E_ARGUMENT,
                 &error, "model");
    check_u64(count, 0, "copied");
    check_status(gufo_document_copy_tensors(d, NULL, NULL, NULL, NULL, &error), GUFO_E_ARGUMENT,
                 &error, "model");
    check_status(gufo_document_copy_tensor(d, NULL, 0, &error), GUFO_E_ARGUMENT, &error, "model");
    check_status(gufo_document_add_tensor(d, "a", NULL, 0, NULL, &error), GUFO_E_ARGUMENT, &error,
                 "type");
    check_status(gufo_document_add_raw_tensor(d, "a", 0, 1, NULL, 4, &error), GUFO_E_ARGUMENT,
                 &error, "dims");
    check_status(gufo_document_retype(d, "a", NULL, &error), GUFO_E_ARGUMENT, &error, "type");
    check_status(gufo_document_fix(d, NULL, &error), GUFO_E_ARGUMENT, &error, "fix");
    check_u64(gufo_document_metadata_size(d), 24, "nothing was added");
    gufo_document_free(d);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static const struct {
    const char *key;
    bool in_file; /* whether gufo_model_open accepts it */
    gufo_status status;
    const char *rule;
} bad_keys[] = {
    {"", false, GUFO_E_MALFORMED, "key-empty"},
    {"a\nb", false, GUFO_E_MALFORMED, "key-ascii"},
    {"schl\xc3\xbcssel", false, GUFO_E_MALFORMED, "key-ascii"},
    {"with space", true, GUFO_E_MALFORMED, "key-charset"},
    {"a/b", true, GUFO_E_MALFORMED, "key-charset"},
    {".a", true, GUFO_E_MALFORMED, "key-segment"},
    {"a..b", true, GUFO_E_MALFORMED, "key-segment"},
};

static void test_bad_keys(void **state)
{
    gufo_document *strict = new_document(0), *as_read = new_document(GUFO_DOCUMENT_AS_READ);
    gufo_document *as_ggml = new_document(GUFO_DOCUMENT_AS_GGML);
    gufo_error error = no_error();

    (void)state;
    check_ok(gufo_document_set_u8(strict, "good", 1, &error), &error, "good");
    for (size_t i = 0; i < COUNT_OF(bad_keys); i++) {
        const char *key = bad_keys[i].key;
        gufo_status status = gufo_document_set_u8(strict, key, 1, &error);

        check_rule(status, bad_keys[i].status, &error, bad_keys[i].rule, key);
        status = gufo_document_rename(strict, "good", key, &error);
        check_rule(status, bad_keys[i].status, &error, bad_keys[i].rule, key);
        status = gufo_document_set_u8(as_read, key, 1, &error);
        check((status == GUFO_OK) == bad_keys[i].in_file, "%s", key);
        status = gufo_document_set_u8(as_ggml, key, 1, &error);
        check((status == GUFO_OK) == (key[0] != '\0'), "%s", key);
    }
    check_u64(gufo_document_entry_count(strict), 1, "strict");
    check_u64(gufo_document_metadata_size(strict), 24 + 8 + 4 + 4 + 1, "strict");
    gufo_document_free(strict);
    gufo_document_free(as_read);
    gufo_document_free(as_ggml);
}

static void test_key_length(void **state)
{
    gufo_document *d = new_document(0), *as_ggml = new_document(GUFO_DOCUMENT_AS_GGML);
    gufo_error error = no_error();
    char key[GUFO_MAX_KEY + 2];

    (void)state;
    memset(key, 'k', sizeof key);
    key[GUFO_MAX_KEY + 1] = '\0';
    check_rule(gufo_document_set_u8(d, key, 1, &error), GUFO_E_LIMIT, &error, "key-length", "long");
    check_ok(gufo_document_set_u8(as_ggml, key, 1, &error), &error, "as ggml");
    key[GUFO_MAX_KEY] = '\0';
    check_ok(gufo_document_set_u8(d, key, 1, &error), &error, "65535");
    check_u64(gufo_document_metadata_size(d), 24 + 8 + 65535 + 4 + 1, "65535");
    gufo_document_free(d);
    gufo_document_free(as_ggml);
}

static void test_bad_values(void **state)
{
    gufo_document *d = new_document(0), *as_read = new_document(GUFO_DOCUMENT_AS_READ);
    const gufo_value no_type = {.type = (gufo_value_type)13};
    const gufo_value large = {.type = GUFO_VALUE_UINT8, .as.u = 256};
    const gufo_value small = {.type = GUFO_VALUE_INT16, .as.i = -32769};
    const gufo_items bad = {(gufo_value_type)13, 0, NULL};
    gufo_items levels[GUFO_MAX_DEPTH + 1];
    gufo_error error = no_error();

    (void)state;
    check_status(gufo_document_set(d, "a", &no_type, &error), GUFO_E_ARGUMENT, &error, "type 13");
    check_status(gufo_document_set(d, "a", &large, &error), GUFO_E_RANGE, &error, "256");
    check_status(gufo_document_set(d, "a", &small, &error), GUFO_E_RANGE, &error, "-32769");
    check_status(gufo_document_set_array(d, "a", &bad, &error), GUFO_E_ARGUMENT, &error, "type 13");
    check_rule(gufo_document_set_text(d, "a", "\xff", &error), GUFO_E_MALFORMED, &error,
               "string-utf8", "text");
    check_ok(gufo_document_set_text(as_read, "a", "\xff", &error), &error, "as read");
    levels[GUFO_MAX_DEPTH] = (gufo_items){GUFO_VALUE_UINT8, 0, NULL};
    for (int i = GUFO_MAX_DEPTH - 1; i >= 0; i--)
        levels[i] = (gufo_items){GUFO_VALUE_ARRAY, 1, &levels[i + 1]};
    check_rule(gufo_document_set_array(d, "a", &levels[0], &error), GUFO_E_LIMIT, &error,
               "array-depth", "17");
    check_u64(gufo_document_metadata_size(d), 24, "nothing was added");
    check_ok(gufo_document_set_array(d, "a", &levels[1], &error), &error, "16");
    gufo_document_free(d);
    gufo_document_free(as_read);
}

static void test_alignment(void **state)
{
    static const struct {
        uint32_t value;
        bool good[3]; /* strict, as read, as ggml */
    } rows[] = {{0, {false, false, false}},      {1, {false, true, true}},
                {7, {false, false, false}},      {8, {true, true, true}},
                {24, {true, true, true}},        {32, {true, true, true}},
                {1 << 24, {true, true, true}},   {1 << 25, {false, true, true}},
                {1u << 31, {false, true, true}}, {UINT32_MAX, {false, false, false}}};
    static const uint32_t flags[] = {0, GUFO_DOCUMENT_AS_READ, GUFO_DOCUMENT_AS_GGML};
    const char *key = "general.alignment";

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows) * 3; i++) {
        bool good = rows[i / 3].good[i % 3];
        gufo_document *d = new_document(flags[i % 3]);
        gufo_error error = no_error();
        gufo_status status = gufo_document_set_u32(d, key, rows[i / 3].value, &error);
        gufo_status renamed;

        if (good)
            check_ok(status, &error, "row %zu", i);
        else
            check_rule(status, GUFO_E_MALFORMED, &error, "alignment-value", key);
        check_u64(gufo_document_alignment(d), good ? rows[i / 3].value : 32, "row %zu", i);
        (void)gufo_document_remove_key(d, key);
        check_u64(gufo_document_alignment(d), 32, "row %zu", i);
        check_ok(gufo_document_set_u32(d, "other", rows[i / 3].value, &error), &error, "other");
        renamed = gufo_document_rename(d, "other", key, &error);
        check_u64(renamed, status, "row %zu: a renamed key keeps its identity", i);
        gufo_document_free(d);
    }
}

static void test_alignment_type(void **state)
{
    gufo_document *d = new_document(GUFO_DOCUMENT_AS_READ);
    const uint32_t number = 32;
    const gufo_items items = {GUFO_VALUE_UINT32, 1, &number};
    const char *key = "general.alignment";
    gufo_error error = no_error();

    (void)state;
    check_rule(gufo_document_set_u64(d, key, 32, &error), GUFO_E_MALFORMED, &error,
               "alignment-type", "u64");
    check_rule(gufo_document_set_text(d, key, "32", &error), GUFO_E_MALFORMED, &error,
               "alignment-type", "text");
    check_rule(gufo_document_set_array(d, key, &items, &error), GUFO_E_MALFORMED, &error,
               "alignment-type", "array");
    gufo_document_free(d);
}

/* ---- finding, removing, renaming ------------------------------------------------------------ */

static const char *const seven[] = {"a.x", "b", "a.y", "c", "a.z", "a", "aa"};

static gufo_document *document_of_seven(void)
{
    gufo_document *d = new_document(0);
    gufo_error error = no_error();

    for (uint32_t i = 0; i < COUNT_OF(seven); i++)
        check_ok(gufo_document_set_u32(d, seven[i], i, &error), &error, "%s", seven[i]);
    return d;
}

static bool is_short(void *context, gufo_str key)
{
    ++*(size_t *)context;
    return key.len == 1;
}

static void test_find_next(void **state)
{
    static const uint64_t of_prefix[] = {0, 2, 4}, of_predicate[] = {1, 3, 5};
    gufo_document *d = document_of_seven();
    gufo_document_entry entry;
    size_t asked = 0, n = 0;

    (void)state;
    for (uint64_t i = 0; gufo_document_find_prefix(d, "a.", &i, &entry); i++) {
        check_u64(i, of_prefix[n], "prefix");
        check_u64(entry.value.as.u, of_prefix[n++], "prefix");
    }
    check_u64(n, 3, "prefix");
    n = 0;
    for (uint64_t i = 0; gufo_document_find_next(d, is_short, &asked, &i, NULL); i++)
        check_u64(i, of_predicate[n++], "predicate");
    check_u64(n, 3, "predicate");
    check_u64(asked, COUNT_OF(seven), "each is asked about once");
    (void)gufo_document_remove_key(d, "a.x");
    (void)gufo_document_remove_key(d, "c");
    n = 0;
    for (uint64_t i = 0; gufo_document_find_next(d, NULL, NULL, &i, &entry); i++)
        check_u64(i, n++, "any");
    check_u64(n, 5, "any");
    gufo_document_free(d);
}

static void test_removing(void **state)
{
    static const char *const left[] = {"a.y", "a.z", "aa"}, *const last[] = {"aa"};
    gufo_document *d = document_of_seven();
    uint64_t removed = 0, size = gufo_document_metadata_size(d);
    size_t asked = 0;

    (void)state;
    check(gufo_document_remove_key(d, "a.x"), "a.x");
    check(!gufo_document_remove_key(d, "a.x"), "a.x again");
    check_u64(gufo_document_metadata_size(d), size - (8 + 3 + 4 + 4), "size");
    gufo_document_remove(d, is_short, &asked, &removed);
    check_u64(removed, 3, "short");
    check_u64(asked, 6, "asked");
    check_keys(d, left, 3);
    check_u32(d, "a.z", 4);
    gufo_document_remove_prefix(d, "a.", NULL);
    check_keys(d, last, 1);
    gufo_document_remove_prefix(d, "b", &removed);
    check_u64(removed, 0, "none");
    gufo_document_remove(d, NULL, NULL, &removed);
    check_u64(removed, 1, "all");
    check_u64(gufo_document_metadata_size(d), 24, "empty");
    gufo_document_free(d);
}

static void test_renaming(void **state)
{
    static const char *const keys[] = {"a.x", "b", "new.name", "c", "a.z", "a", "aa"};
    gufo_document *d = document_of_seven();
    gufo_error error = no_error();
    gufo_document_entry entry;
    gufo_status status;

    (void)state;
    check_ok(gufo_document_rename(d, "a.y", "new", &error), &error, "1");
    check_ok(gufo_document_rename(d, "new", "new", &error), &error, "2");
    check(gufo_document_find(d, "new", &entry), "new");
    /* The old name may be the document's own. */
    check_ok(gufo_document_rename_str(d, entry.key, gufo_str_of("new.name"), &error), &error, "3");
    check_keys(d, keys, COUNT_OF(keys));
    check_u32(d, "new.name", 2);
    check(!gufo_document_find(d, "a.y", NULL) && !gufo_document_find(d, "new", NULL), "old names");
    status = gufo_document_rename(d, "a.y", "q", &error);
    check_status(status, GUFO_E_NOT_FOUND, &error, "a.y");
    status = gufo_document_rename(d, "a.y", "a.y", &error);
    check_status(status, GUFO_E_NOT_FOUND, &error, "a.y to itself");
    status = gufo_document_rename(d, "b", "c", &error);
    check_status(status, GUFO_E_EXISTS, &error, "b to c");
    check_keys(d, keys, COUNT_OF(keys));
    gufo_document_free(d);
}

/* Layouts make gufo.padding, nobody else. */
static void test_padding_key(void **state)
{
    gufo_document *d = document_of_seven();
    gufo_error error = no_error();
    gufo_status status = gufo_document_set_text(d, GUFO_PADDING_KEY, " ", &error);

    (void)state;
    check_status(status, GUFO_E_ARGUMENT, &error, "set");
    status = gufo_document_rename(d, "b", GUFO_PADDING_KEY, &error);
    check_status(status, GUFO_E_ARGUMENT, &error, "rename");
    gufo_document_free(d);
}

/* ---- many ----------------------------------------------------------------------------------- */

enum { MANY = 100000 };

static const char *many_key(char *out, size_t size, const char *prefix, uint32_t number)
{
    snprintf(out, size, "%s.%" PRIu32, prefix, number);
    return out;
}

/* Each change takes (nearly) constant time; a quadratic list would need hours here. */
static void test_many(void **state)
{
    gufo_document *d = new_document(0);
    gufo_error error = no_error();
    gufo_document_entry entry;
    char key[32], other[32];

    (void)state;
    for (uint32_t i = 0; i < MANY; i++)
        check_ok(gufo_document_set_u32(d, many_key(key, sizeof key, "k", i), i, &error), &error,
                 "%s", key);
    for (uint32_t i = 0; i < MANY; i++)
        check_ok(gufo_document_rename(d, many_key(key, sizeof key, "k", i),
                                      many_key(other, sizeof other, "r", i), &error),
                 &error, "%s", key);
    for (uint32_t i = 0; i < MANY; i += 2) {
        check(gufo_document_remove_key(d, many_key(key, sizeof key, "r", i)), "%s", key);
        check(gufo_document_entry_at(d, i / 2, &entry), "%s", key);
        check_u64(entry.value.as.u, i + 1, "the next one has its place");
    }
    /* As the documented C API replaces keys: a new value goes to the end. */
    for (uint32_t i = 1; i < MANY; i += 2) {
        many_key(key, sizeof key, "r", i);
        check(gufo_document_remove_key(d, key), "%s", key);
        check_ok(gufo_document_set_u32(d, key, i + 1, &error), &error, "%s", key);
    }
    check_u64(gufo_document_entry_count(d), MANY / 2, "half of them");
    for (uint32_t i = 0; i < MANY / 2; i++) {
        check(gufo_document_entry_at(d, i, &entry), "entry %" PRIu32, i);
        check_u64(entry.value.as.u, 2 * i + 2, "entry %" PRIu32, i);
    }
    gufo_document_free(d);
}

/* ---- shards --------------------------------------------------------------------------------- */

static void test_shard_keys(void **state)
{
    gufo_document *d = document_of_seven();
    gufo_error error = no_error();
    builder b = builder_new((encoding){3, false});

    (void)state;
    gufo_document_remove(d, NULL, NULL, NULL);
    check_ok(gufo_document_set_u32(d, "gufo.split.other", 1, &error), &error, "other");
    check_ok(gufo_document_set_u64(d, "split.count", 9, &error), &error, "another type");
    check_ok(gufo_document_set_shard(d, 2, 65535, INT32_MAX, 77, &error), &error, "shard");
    builder_header(&b, 0, 5);
    builder_kv_u32(&b, "gufo.split.other", 1);
    builder_kv_u16(&b, "split.count", 65535);
    builder_kv_u16(&b, "split.no", 2);
    builder_kv_i32(&b, "split.tensors.count", INT32_MAX);
    builder_kv_u64(&b, "gufo.split.id", 77);
    builder_pad(&b, 32);
    check_packed(d, &b, "shard");
    check_ok(gufo_document_set_shard(d, 0, 1, 0, 0, &error), &error, "no id");
    check(!gufo_document_find(d, "gufo.split.id", NULL), "no id");
    check_status(gufo_document_set_shard(d, 3, 3, 1, 0, &error), GUFO_E_ARGUMENT, &error, "3 of 3");
    check_status(gufo_document_set_shard(d, 0, 65536, 1, 0, &error), GUFO_E_LIMIT, &error, "65536");
    check_status(gufo_document_set_shard(d, 0, 1, INT32_MAX + UINT64_C(1), 0, &error), GUFO_E_LIMIT,
                 &error, "tensors");
    gufo_document_remove_shard_keys(d);
    check_u64(gufo_document_entry_count(d), 1, "only the one that is none of them");
    gufo_document_free(d);
    builder_free(&b);
}

/* ---- findings ------------------------------------------------------------------------------- */

static void test_fixes(void **state)
{
    static const gufo_str texts[] = {{"one", 3}, {"two", 3}, {"three", 5}};
    const gufo_items items = {GUFO_VALUE_STRING, 3, texts};
    const gufo_value two = {.type = GUFO_VALUE_UINT32, .as.u = 2};
    const gufo_value four = {.type = GUFO_VALUE_UINT32, .as.u = 4};
    const gufo_value name = {.type = GUFO_VALUE_STRING, .as.str = {"new", 3}};
    gufo_document *d = new_document(0);
    gufo_error error = no_error();
    gufo_document_entry entry;
    gufo_fix fix = {.kind = GUFO_FIX_NONE};

    (void)state;
    check_ok(gufo_document_set_array(d, "list", &items, &error), &error, "list");
    check_ok(gufo_document_fix(d, &fix, &error), &error, "none");
    fix.kind = GUFO_FIX_REWRITE;
    check_ok(gufo_document_fix(d, &fix, &error), &error, "rewrite");
    fix = (gufo_fix){.kind = GUFO_FIX_SHORTEN, .key = gufo_str_of("list"), .value = four};
    check_status(gufo_document_fix(d, &fix, &error), GUFO_E_ARGUMENT, &error, "four");
    fix.value = two;
    check_ok(gufo_document_fix(d, &fix, &error), &error, "two");
    check(gufo_document_find(d, "list", &entry), "list");
    check_u64(entry.value.as.array.count, 2, "two");
    check_u64(entry.value.as.array.size, 2 * (8 + 3), "two");
    fix.key = gufo_str_of("nothing");
    check_status(gufo_document_fix(d, &fix, &error), GUFO_E_NOT_FOUND, &error, "nothing");
    fix = (gufo_fix){.kind = GUFO_FIX_RENAME, .key = gufo_str_of("list"), .value = name};
    check_ok(gufo_document_fix(d, &fix, &error), &error, "rename");
    check(gufo_document_find(d, "new", NULL), "rename");
    fix = (gufo_fix){.kind = GUFO_FIX_SET, .key = gufo_str_of("new"), .value = two};
    check_ok(gufo_document_fix(d, &fix, &error), &error, "set");
    check_u32(d, "new", 2);
    fix = (gufo_fix){.kind = GUFO_FIX_SHORTEN, .key = gufo_str_of("new"), .value = two};
    check_status(gufo_document_fix(d, &fix, &error), GUFO_E_ARGUMENT, &error, "no array");
    gufo_document_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options),        cmocka_unit_test(test_encodings),
        cmocka_unit_test(test_scalars),        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_replacing),      cmocka_unit_test(test_missing_arguments),
        cmocka_unit_test(test_bad_keys),       cmocka_unit_test(test_key_length),
        cmocka_unit_test(test_bad_values),     cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_alignment_type), cmocka_unit_test(test_find_next),
        cmocka_unit_test(test_removing),       cmocka_unit_test(test_renaming),
        cmocka_unit_test(test_padding_key),    cmocka_unit_test(test_many),
        cmocka_unit_test(test_shard_keys),     cmocka_unit_test(test_fixes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
