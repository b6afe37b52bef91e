/* Files of PyTorch: what is read from zip archives and from the files before them, and how hostile
 * pickles and damaged archives are refused. */
#include "../support/allocator.h"
#include "../support/folder.h"
#include "../support/torch_maker.h"
#include "torch_files.h"
#include "place.h"

#include <inttypes.h>

#include "import/containers/checkpoint.h"

static folder place;
static path_text path;

static int make_folder(void **state)
{
    (void)folders_in_memory(state);
    place = folder_new();
    path = folder_path(&place, "pytorch_model.bin");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    folder_remove(&place);
    return 0;
}

static builder new_builder(void)
{
    return builder_new((encoding){3, false});
}

static void put(builder *file)
{
    write_file(path.text, file->data, file->len);
    builder_free(file);
}

static checkpoint opened(const char *where)
{
    gufo_error error;
    checkpoint c;

    if (checkpoint_open(&c, PLACE_AT(where), NULL, NULL, &error) != GUFO_OK)
        fail_msg("byte %" PRIu64 ": %s", error.offset, error.message);
    return c;
}

/* Opens the file, which has to be refused, and gives all memory back. */
static void check_refused(gufo_status status, const char *part)
{
    gufo_error error = {0};
    gufo_allocator allocator;
    counter count;
    checkpoint c;

    counter_init(&count);
    allocator = counter_allocator(&count);
    if (checkpoint_open(&c, PLACE_AT(path.text), NULL, &allocator, &error) != status ||
        strstr(error.message, part) == NULL)
        fail_msg("%s: status %d, byte %" PRIu64 ": %s", part, (int)error.code, error.offset,
                 error.message);
    assert_string_equal(error.file, path.text);
    checkpoint_close(&c);
    assert_int_equal(count.in_use, 0);
    assert_true(count.peak < 256 * 1024);
}

static void check_bytes(const checkpoint *c, const char *name, const void *bytes, size_t size)
{
    const checkpoint_tensor *t = checkpoint_find(c, gufo_str_of(name));
    uint8_t read[64];

    assert_non_null(t);
    assert_true(size <= sizeof read);
    assert_int_equal(source_read(&c->files[t->file].source, t->offset, read, size, NULL), GUFO_OK);
    assert_memory_equal(read, bytes, size);
}

/* ---- good files ----------------------------------------------------------------------------- */

static const uint8_t numbers[24] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                    13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24};

/* A matrix, the same again, its transpose, a row, eight-bit floats, and what is not a tensor. */
static void add_entries(builder *p, bool is_old)
{
    static const torch_view views[] = {
        {.storage = "Float",
         .key = "0",
         .elements = 6,
         .n_dims = 2,
         .shape = {2, 3},
         .stride = {3, 1}},
        {.storage = "Float",
         .key = "0",
         .elements = 6,
         .n_dims = 2,
         .shape = {2, 3},
         .stride = {3, 1}},
        {.storage = "Float",
         .key = "0",
         .elements = 6,
         .n_dims = 2,
         .shape = {3, 2},
         .stride = {1, 3}},
        {.storage = "Float",
         .key = "0",
         .elements = 6,
         .first = 3,
         .n_dims = 3,
         .shape = {1, 3, 1},
         .stride = {77, 1, 88}},
        {.storage = "BFloat16", .key = "1", .elements = 2, .n_dims = 0},
    };
    static const char *const names[] = {"w", "tied", "transposed", "row", "scalar"};

    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        torch_view view = views[i];

        view.is_old = is_old;
        pickled_text(p, names[i]);
        pickled_tensor(p, &view);
        if (i == 1)
            pickled_text(p, "step"), pickled_int(p, 7);
    }
}

static builder good_pickle(bool is_old)
{
    builder p = new_builder();

    pickled_begin(&p);
    pickled_dictionary(&p);
    pickled_op(&p, '(');
    add_entries(&p, is_old);
    builder_raw(&p, "u}X\11\0\0\0_metadataNsb.", 20);
    return p;
}

static void check_entries(const checkpoint *c, bool swapped)
{
    const checkpoint_tensor *t = c->tensors;

    assert_int_equal(c->tensor_count, 5);
    assert_int_equal(c->skipped, 1);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(t[i].swapped, swapped);
    assert_true(gufo_str_equal(t[0].name, gufo_str_of("w")));
    assert_string_equal(t[0].number->name, "F32");
    for (size_t i = 0; i < 5; i++)
        assert_true((t[i].strides != NULL) == (i == 2));
    assert_int_equal(t[1].offset, t[0].offset);
    assert_int_equal(t[2].strides[0], 1);
    assert_int_equal(t[2].strides[1], 3);
    assert_int_equal(checkpoint_tensor_size(&t[2]), 24);
    assert_int_equal(t[3].offset, t[0].offset + 12);
    assert_string_equal(t[4].number->name, "BF16");
    assert_int_equal(t[4].elements, 1);
    check_bytes(c, "w", numbers, sizeof numbers);
    check_bytes(c, "scalar", numbers, 2);
}

static void test_zip(void **state)
{
    static const char *const orders[] = {NULL, "little", "big"};

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        const char *order = orders[i % 3];
        builder p = good_pickle(false), file = new_builder();
        const zip_part parts[] = {{"any name/data.pkl", p.data, p.len, 0},
                                  {"any name/data/0", numbers, 24, 0},
                                  {"any name/data/1", numbers, 4, 0},
                                  {"any name/version", "3\n", 2, 0},
                                  {"any name/byteorder", order, order ? strlen(order) : 0, 0}};

        zip_build(&file, parts, order != NULL ? 5 : 4, i > 2);
        put(&file);
        builder_free(&p);
        checkpoint c = opened(path.text);
        assert_string_equal(c.container, "PyTorch");
        check_entries(&c, i % 3 == 2);
        checkpoint_close(&c);
        c = opened(place.path);
        assert_int_equal(c.tensor_count, 5);
        checkpoint_close(&c);
    }
    assert_string_equal(checkpoint_recognise(PLACE_AT(path.text)), "PyTorch");
}

static void test_old(void **state)
{
    const old_storage storages[] = {{"1", 2, numbers, 4}, {"0", 6, numbers, 24}};

    (void)state;
    for (unsigned big = 0; big < 2; big++) {
        builder p = good_pickle(true), file = new_builder();

        torch_old_build(&file, &p, storages, 2, big != 0);
        put(&file);
        builder_free(&p);
        assert_string_equal(checkpoint_recognise(PLACE_AT(path.text)), "PyTorch (legacy)");
        checkpoint c = opened(path.text);
        assert_string_equal(c.container, "PyTorch (legacy)");
        check_entries(&c, big != 0);
        checkpoint_close(&c);
    }
}

/* Files that PyTorch itself wrote. */
static void test_genuine(void **state)
{
    static const uint8_t floats[] = {0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64},
                         halves[] = {0xc0, 0x3f, 0, 0xc0};

    (void)state;
    for (unsigned is_old = 0; is_old < 2; is_old++) {
        write_file(path.text, is_old != 0 ? torch_old_file : torch_zip_file,
                   is_old != 0 ? sizeof torch_old_file : sizeof torch_zip_file);
        checkpoint c = opened(path.text);

        assert_int_equal(c.tensor_count, 3);
        check_bytes(&c, "a", floats, sizeof floats);
        check_bytes(&c, "t", floats, sizeof floats);
        check_bytes(&c, "p", halves, sizeof halves);
        assert_true(c.tensors[1].strides != NULL && c.tensors[1].strides[1] == 3);
        checkpoint_close(&c);
    }
}

/* Windows of a storage, in old files. */
static void test_window(void **state)
{
    const old_storage storages[] = {{"0", 12, numbers, 24}};
    builder p = new_builder(), file = new_builder();

    (void)state;
    pickled_begin(&p);
    pickled_dictionary(&p);
    pickled_text(&p, "a");
    pickled_tensor(&p, &(torch_view){"Half", "0", 12, 1, 1, {2}, {1}, NULL, "w", 4, 6, true});
    pickled_op(&p, 's');
    pickled_op(&p, '.');
    torch_old_build(&file, &p, storages, 1, false);
    put(&file);
    builder_free(&p);
    checkpoint c = opened(path.text);
    check_bytes(&c, "a", numbers + 10, 4);
    checkpoint_close(&c);
}

/* ---- hostile pickles ------------------------------------------------------------------------ */

static void put_zip(const void *pickle, size_t len)
{
    builder file = new_builder();
    const zip_part parts[] = {{"a/data.pkl", pickle, len, 0}, {"a/data/0", numbers, 24, 0}};

    zip_build(&file, parts, 2, false);
    put(&file);
}

#define BYTES(text) text, sizeof(text) - 1

static void test_hostile(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        gufo_status status;
        const char *part;
    } rows[] = {
        {BYTES("\x80\2cos\nsystem\n(X\2\0\0\0lstR."), GUFO_E_TYPE, "\"os.system\""},
        {BYTES("\x80\2cbuiltins\neval\n."), GUFO_E_TYPE, "\"builtins.eval\""},
        {BYTES("\x80\4\x8c\2os\x8c\6system\x93."), GUFO_E_TYPE, "\"os.system\""},
        {BYTES("\x80\2ctorch._utils\n_rebuild_qtensor\n."), GUFO_E_TYPE, "_rebuild_qtensor"},
        {BYTES("\x80\2ctorch\nload\n."), GUFO_E_TYPE, "\"torch.load\""},
        {BYTES("\x80\2ctorch.FloatStorage\nx\n."), GUFO_E_TYPE, "FloatStorage.x"},
        {BYTES("\x80\2(ios\nsystem\n."), GUFO_E_TYPE, "opcode INST"},
        {BYTES("\x80\2(cos\no."), GUFO_E_TRUNCATED, "ends"},
        {BYTES("\x80\2(o."), GUFO_E_TYPE, "opcode OBJ"},
        {BYTES("\x80\2\x82\1."), GUFO_E_TYPE, "opcode EXT1"},
        {BYTES("\x80\2\x92."), GUFO_E_TYPE, "opcode NEWOBJ_EX"},
        {BYTES("\x80\2P1\n."), GUFO_E_TYPE, "opcode PERSID"},
        {BYTES("\x80\2I1\n."), GUFO_E_TYPE, "opcode INT"},
        {BYTES("\x80\2\x97."), GUFO_E_TYPE, "opcode NEXT_BUFFER"},
        {BYTES("\x80\2\xff."), GUFO_E_MALFORMED, "no opcode 0xff"},
        {BYTES("\x80\2N)R."), GUFO_E_MALFORMED, "not a global"},
        {BYTES("\x80\2ctorch\nfloat32\n)R."), GUFO_E_MALFORMED, "the pickle calls a type"},
        {BYTES("\x80\2ctorch\nFloatStorage\n)\x81."), GUFO_E_MALFORMED, "the pickle calls a type"},
        {BYTES("\x80\2Nb."), GUFO_E_MALFORMED, "empty"},
        {BYTES("\x80\2]NNb."), GUFO_E_TYPE, "attributes"},
        {BYTES("\x80\2NQ."), GUFO_E_MALFORMED, "persistent"},
        {BYTES("\x80\2."), GUFO_E_MALFORMED, "ends with 0"},
        {BYTES("\x80\2NN."), GUFO_E_MALFORMED, "ends with 2"},
        {BYTES("\x80\2N(."), GUFO_E_MALFORMED, "ends with 1"},
        {BYTES("\x80\2Nt."), GUFO_E_MALFORMED, "no mark"},
        {BYTES("\x80\2N(\x85."), GUFO_E_MALFORMED, "empty"},
        {BYTES("\x80\2Na."), GUFO_E_MALFORMED, "empty"},
        {BYTES("\x80\2NNa."), GUFO_E_MALFORMED, "not a list"},
        {BYTES("\x80\2](NNu."), GUFO_E_MALFORMED, "not a dictionary"},
        {BYTES("\x80\2}(Nu."), GUFO_E_MALFORMED, "a name without a value"},
        {BYTES("\x80\2h\1."), GUFO_E_MALFORMED, "1 of the memo was not set"},
        {BYTES("\x80\2Nr\xff\xff\xff\xff."), GUFO_E_LIMIT, "4294967295 of the memo"},
        {BYTES("\x80\2X\xff\xff\xff\xffx."), GUFO_E_TRUNCATED, "ends inside"},
        {BYTES("\x80\2\x8a\11\1\2\3\4\5\6\7\10\11."), GUFO_E_RANGE, "9 bytes"},
        {BYTES("\x80\1N."), GUFO_E_MALFORMED, "protocol 1"},
        {BYTES("\x80\2N\x80\2."), GUFO_E_MALFORMED, "not at its start"},
        {BYTES("\x80\2N"), GUFO_E_TRUNCATED, "ends inside"},
        {BYTES("\x80\2}.N"), GUFO_E_MALFORMED, "follows"},
        {BYTES("\x80\2}."), GUFO_E_TYPE, "no dictionary of tensors"},
        {BYTES("\x80\2]q\0h\0a."), GUFO_E_TYPE, "no dictionary"}, /* a list in itself */
        {BYTES("\x80\2}q\0X\5\0\0\0modelh\0s."), GUFO_E_TYPE, "no dictionary"},
        {BYTES("\x80\2ccollections\nOrderedDict\n]NaR."), GUFO_E_MALFORMED, "not a global"},
        {BYTES("\x80\2ccollections\nOrderedDict\n(]Nat\x52."), GUFO_E_MALFORMED, "pairs"},
        {BYTES("\x80\2ctorch._utils\n_rebuild_parameter\n)R."), GUFO_E_MALFORMED, "parameter"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_zip(rows[i].bytes, rows[i].len);
        check_refused(rows[i].status, rows[i].part);
    }
}

/* Views that cannot be. */
static void test_views(void **state)
{
    static const struct {
        torch_view view; /* of a storage with 24 bytes */
        gufo_status status;
        const char *part;
    } rows[] = {
        {TORCH_VIEW("Float", "0", 6, 0, 1, .shape = {7}, .stride = {1}), GUFO_E_MALFORMED,
         "ends past the end of its storage"},
        {TORCH_VIEW("Float", "0", 6, 1, 2, .shape = {2, 3}, .stride = {3, 1}), GUFO_E_MALFORMED,
         "ends past the end of its storage"},
        {TORCH_VIEW("Float", "0", 6, 0, 2, .shape = {2, 3}, .stride = {4, 1}), GUFO_E_MALFORMED,
         "ends past the end of its storage"},
        {TORCH_VIEW("Float", "0", 6, 0, 1, .shape = {6}, .stride = {UINT32_MAX}), GUFO_E_MALFORMED,
         "invalid offset"},
        {TORCH_VIEW("Float", "0", 6, UINT32_MAX, 1, .shape = {1}, .stride = {1}), GUFO_E_MALFORMED,
         "invalid offset"},
        {TORCH_VIEW("Float", "0", 6, 0, 1, .shape = {UINT32_MAX}, .stride = {0}), GUFO_E_MALFORMED,
         "invalid offset"},
        {TORCH_VIEW("Float", "0", 5, 0, 1, .shape = {5}, .stride = {1}), GUFO_E_MALFORMED,
         "24 bytes, but should have 5"},
        {TORCH_VIEW("Float", "0", UINT32_MAX, 0, 1, .shape = {5}, .stride = {1}), GUFO_E_MALFORMED,
         "persistent id"},
        {TORCH_VIEW("Float", "2", 6, 0, 1, .shape = {5}, .stride = {1}), GUFO_E_MALFORMED,
         "no data of storage \"2\""},
        {TORCH_VIEW("Float", "../data/0", 6, 0, 1, .shape = {5}, .stride = {1}), GUFO_E_MALFORMED,
         "no data of storage"},
        {TORCH_VIEW("Float", "0", 6, 0, 9, .shape = {1, 1, 1, 1, 1, 1, 1, 1, 1}, .stride = {1}),
         GUFO_E_MALFORMED, "invalid offset"},
        {TORCH_VIEW("Untyped", "0", 24, 0, 1, .shape = {5}, .stride = {1}), GUFO_E_MALFORMED,
         "no storage with a type"},
        {TORCH_VIEW("Untyped", "0", 24, 2, 1, .shape = {23}, .stride = {1},
                    .dtype = "float8_e4m3fn"),
         GUFO_E_MALFORMED, "ends past"},
        {TORCH_VIEW("Float", "0", 6, 0, 1, .shape = {5}, .stride = {1}, .dtype = "float8_e4m3fn"),
         GUFO_E_MALFORMED, "another type"},
        {TORCH_VIEW("Float", "0", 6, 0, 2, .shape = {1000, 6}, .stride = {0, 1}), GUFO_E_LIMIT,
         "repeats the numbers of its storage"},
        {TORCH_VIEW("Float", "0", 6, 0, 2, .shape = {3, 3}, .stride = {1, 1}), GUFO_E_LIMIT,
         "repeats the numbers of its storage"},
        {TORCH_VIEW("Quint8", "0", 6, 0, 1, .shape = {5}, .stride = {1}), GUFO_E_TYPE,
         "torch.Quint8Storage"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        builder p = new_builder();

        pickled_begin(&p);
        pickled_dictionary(&p);
        pickled_text(&p, "a");
        pickled_tensor(&p, &rows[i].view);
        builder_raw(&p, "s.", 2);
        put_zip(p.data, p.len);
        builder_free(&p);
        check_refused(rows[i].status, rows[i].part);
    }
}

/* A type that has no class of storages. */
static void test_untyped(void **state)
{
    builder p = new_builder();

    (void)state;
    pickled_begin(&p);
    pickled_dictionary(&p);
    pickled_text(&p, "a");
    pickled_tensor(&p, &(torch_view)TORCH_VIEW("Untyped", "0", 24, 3, 1, .shape = {4},
                                               .stride = {1}, .dtype = "float8_e5m2"));
    builder_raw(&p, "s.", 2);
    put_zip(p.data, p.len);
    builder_free(&p);
    checkpoint c = opened(path.text);
    assert_string_equal(c.tensors[0].number->name, "F8_E5M2");
    check_bytes(&c, "a", numbers + 3, 4);
    checkpoint_close(&c);
}

/* One key, two types; one name, two tensors. */
static void test_twice(void **state)
{
    builder p = new_builder();

    (void)state;
    pickled_begin(&p);
    pickled_dictionary(&p);
    pickled_text(&p, "a");
    pickled_tensor(&p, &(torch_view)TORCH_VIEW("Float", "0", 6, 0, 1, .shape = {6}, .stride = {1}));
    pickled_op(&p, 's');
    pickled_text(&p, "a");
    pickled_tensor(&p, &(torch_view)TORCH_VIEW("Float", "0", 6, 0, 1, .shape = {6}, .stride = {1}));
    builder_raw(&p, "s.", 2);
    put_zip(p.data, p.len);
    check_refused(GUFO_E_MALFORMED, "two tensors are called \"a\"");
    p.len -= 2;
    pickled_op(&p, 's');
    pickled_text(&p, "b");
    pickled_tensor(&p, &(torch_view)TORCH_VIEW("Int", "0", 6, 0, 1, .shape = {6}, .stride = {1}));
    builder_raw(&p, "s.", 2);
    put_zip(p.data, p.len);
    builder_free(&p);
    check_refused(GUFO_E_MALFORMED, "two types");
}

/* ---- damaged archives ----------------------------------------------------------------------- */

static void put_parts(const zip_part *parts, size_t count)
{
    builder file = new_builder();

    zip_build(&file, parts, count, false);
    put(&file);
}

static void test_archives(void **state)
{
    builder p = good_pickle(false);
    const zip_part pickle = {"a/data.pkl", p.data, p.len, 0}, zero = {"a/data/0", numbers, 24, 0},
                   one = {"a/data/1", numbers, 4, 0}, packed = {"a/data/1", numbers, 4, 8},
                   other = {"b/data.pkl", p.data, p.len, 0}, code = {"a/code/x.py", "x", 1, 0},
                   constants = {"a/constants.pkl", "x", 1, 0}, order = {"a/byteorder", "odd", 3, 0};

    (void)state;
    put_parts((zip_part[]){pickle, zero, packed}, 3);
    check_refused(GUFO_E_TYPE, "member \"a/data/1\" is compressed");
    put_parts((zip_part[]){pickle, zero, one, zero}, 4);
    check_refused(GUFO_E_MALFORMED, "two members are called \"a/data/0\"");
    put_parts((zip_part[]){pickle, zero, one, other}, 4);
    check_refused(GUFO_E_MALFORMED, "\"a/data.pkl\" and \"b/data.pkl\"");
    put_parts((zip_part[]){pickle, zero, one, code}, 4);
    check_refused(GUFO_E_TYPE, "TorchScript");
    put_parts((zip_part[]){pickle, zero, one, constants}, 4);
    check_refused(GUFO_E_TYPE, "TorchScript");
    put_parts((zip_part[]){pickle, zero, one, order}, 4);
    check_refused(GUFO_E_MALFORMED, "byte order");
    put_parts((zip_part[]){zero}, 1);
    check_refused(GUFO_E_TYPE, "has no data.pkl");
    assert_null(checkpoint_recognise(PLACE_AT(path.text)));
    /* The pickle is a member like others, wherever it is; without a directory nobody knows. */
    put_parts((zip_part[]){zero, one, pickle}, 3);
    assert_string_equal(checkpoint_recognise(PLACE_AT(path.text)), "PyTorch");
    builder_free(&p);
}

/* Every length that a file may be cut to, and every number of an archive's records made large. */
static void test_cut(void **state)
{
    builder p = good_pickle(false), file = new_builder();
    const zip_part parts[] = {{"a/data.pkl", p.data, p.len, 0},
                              {"a/data/0", numbers, 24, 0},
                              {"a/data/1", numbers, 4, 0}};
    const old_storage storages[] = {{"1", 2, numbers, 4}, {"0", 6, numbers, 24}};
    gufo_error error;
    checkpoint c;

    (void)state;
    zip_build(&file, parts, 3, true);
    for (size_t len = 4; len < file.len; len++) {
        write_file(path.text, file.data, len);
        assert_int_not_equal(checkpoint_open(&c, PLACE_AT(path.text), NULL, NULL, &error), GUFO_OK);
        checkpoint_close(&c);
    }
    builder_free(&file);
    builder_free(&p);
    p = good_pickle(true);
    file = new_builder();
    torch_old_build(&file, &p, storages, 2, false);
    for (size_t len = 16; len < file.len; len++) {
        write_file(path.text, file.data, len);
        assert_int_equal(checkpoint_open(&c, PLACE_AT(path.text), NULL, NULL, &error),
                         GUFO_E_TRUNCATED);
        checkpoint_close(&c);
    }
    builder_raw(&file, "x", 1);
    put(&file);
    check_refused(GUFO_E_MALFORMED, "1 bytes follow");
    builder_free(&p);
}

static void test_without_memory(void **state)
{
    const old_storage storages[] = {{"1", 2, numbers, 4}, {"0", 6, numbers, 24}};

    (void)state;
    for (unsigned is_old = 0; is_old < 2; is_old++) {
        builder p = good_pickle(is_old != 0), file = new_builder();
        const zip_part parts[] = {{"a/data.pkl", p.data, p.len, 0},
                                  {"a/data/0", numbers, 24, 0},
                                  {"a/data/1", numbers, 4, 0}};
        gufo_status status = GUFO_E_MEMORY;

        if (is_old != 0)
            torch_old_build(&file, &p, storages, 2, false);
        else
            zip_build(&file, parts, 3, false);
        put(&file);
        builder_free(&p);
        for (size_t i = 1; status == GUFO_E_MEMORY; i++) {
            gufo_allocator allocator;
            counter count;
            checkpoint c;

            counter_init(&count);
            count.fail_at = i;
            allocator = counter_allocator(&count);
            status = checkpoint_open(&c, PLACE_AT(path.text), NULL, &allocator, NULL);
            checkpoint_close(&c);
            assert_int_equal(count.in_use, 0);
            assert_true(status == GUFO_OK || i < 200);
        }
        assert_int_equal(status, GUFO_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zip),
        cmocka_unit_test(test_old),
        cmocka_unit_test(test_genuine),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_untyped),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_archives),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_without_memory),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
