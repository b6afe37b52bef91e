/* Files that a document and a job make of data that is given, byte for byte, against bytes laid out
 * by hand. */
#include "scalars.h"

#include "../support/document.h"
#include "../support/folder.h"
#include "../support/openers.h"
#include "../support/sink.h"
#include "../support/walk.h"
#include "base/files/output.h"
#include "base/memory.h"

#include <pthread.h>
#include <errno.h>
#include <signal.h>

/* What new content may be encoded in. */
static const encoding written[] = {{2, false}, {3, false}, {3, true}};

/* ---- metadata ------------------------------------------------------------------------------- */

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

static void add_arrays(gufo_document *d, gufo_error *e)
{
    static const uint8_t u8[] = {1, 255};
    static const int8_t i8[] = {1, -1};
    static const uint16_t u16[] = {1, 65535};
    static const int16_t i16[] = {1, -2};
    static const uint32_t u32[] = {1, 0xfffffff0};
    static const int32_t i32[] = {1, -3};
    static const float f32[] = {1.5f, -0.0f};
    static const bool bools[] = {true, false};
    static const gufo_str texts[] = {{"one", 3}, {"", 0}, {"\xff\0", 2}};
    static const uint64_t u64[] = {1, UINT64_MAX};
    static const int64_t i64[] = {1, -4};
    static const double f64[] = {1.5, 1e300};
    static const gufo_items inner[] = {
        {GUFO_VALUE_UINT16, 2, u16}, {GUFO_VALUE_STRING, 3, texts}, {GUFO_VALUE_FLOAT64, 0, NULL}};
    static const struct {
        const char *key;
        gufo_items items;
    } rows[] = {
        {"l.u8", {GUFO_VALUE_UINT8, 2, u8}},       {"l.i8", {GUFO_VALUE_INT8, 2, i8}},
        {"l.u16", {GUFO_VALUE_UINT16, 2, u16}},    {"l.i16", {GUFO_VALUE_INT16, 2, i16}},
        {"l.u32", {GUFO_VALUE_UINT32, 2, u32}},    {"l.i32", {GUFO_VALUE_INT32, 2, i32}},
        {"l.f32", {GUFO_VALUE_FLOAT32, 2, f32}},   {"l.bool", {GUFO_VALUE_BOOL, 2, bools}},
        {"l.text", {GUFO_VALUE_STRING, 3, texts}}, {"l.nested", {GUFO_VALUE_ARRAY, 3, inner}},
        {"l.u64", {GUFO_VALUE_UINT64, 2, u64}},    {"l.i64", {GUFO_VALUE_INT64, 2, i64}},
        {"l.f64", {GUFO_VALUE_FLOAT64, 2, f64}},   {"l.none", {GUFO_VALUE_STRING, 0, NULL}},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_ok(gufo_document_set_array(d, rows[i].key, &rows[i].items, e), e, "%s", rows[i].key);
}

static void build_texts(builder *b)
{
    builder_str(b, "one");
    builder_str(b, "");
    builder_strn(b, "\xff\0", 2);
}

static void build_arrays(builder *b)
{
    builder_header(b, 0, 14);
    builder_kv_array(b, "l.u8", GUFO_VALUE_UINT8, 2);
    builder_raw(b, "\1\xff", 2);
    builder_kv_array(b, "l.i8", GUFO_VALUE_INT8, 2);
    builder_raw(b, "\1\xff", 2);
    builder_kv_array(b, "l.u16", GUFO_VALUE_UINT16, 2);
    builder_u16(b, 1);
    builder_u16(b, 65535);
    builder_kv_array(b, "l.i16", GUFO_VALUE_INT16, 2);
    builder_u16(b, 1);
    builder_u16(b, 65534);
    builder_kv_array(b, "l.u32", GUFO_VALUE_UINT32, 2);
    builder_u32(b, 1);
    builder_u32(b, 0xfffffff0);
    builder_kv_array(b, "l.i32", GUFO_VALUE_INT32, 2);
    builder_u32(b, 1);
    builder_u32(b, 0xfffffffd);
    builder_kv_array(b, "l.f32", GUFO_VALUE_FLOAT32, 2);
    builder_u32(b, 0x3fc00000);
    builder_u32(b, 0x80000000);
    builder_kv_array(b, "l.bool", GUFO_VALUE_BOOL, 2);
    builder_raw(b, "\1\0", 2);
    builder_kv_array(b, "l.text", GUFO_VALUE_STRING, 3);
    build_texts(b);
    builder_kv_array(b, "l.nested", GUFO_VALUE_ARRAY, 3);
    builder_array(b, GUFO_VALUE_UINT16, 2);
    builder_u16(b, 1);
    builder_u16(b, 65535);
    builder_array(b, GUFO_VALUE_STRING, 3);
    build_texts(b);
    builder_array(b, GUFO_VALUE_FLOAT64, 0);
    builder_kv_array(b, "l.u64", GUFO_VALUE_UINT64, 2);
    builder_u64(b, 1);
    builder_u64(b, UINT64_MAX);
    builder_kv_array(b, "l.i64", GUFO_VALUE_INT64, 2);
    builder_u64(b, 1);
    builder_u64(b, UINT64_MAX - 3);
    builder_kv_array(b, "l.f64", GUFO_VALUE_FLOAT64, 2);
    builder_f64(b, 1.5);
    builder_f64(b, 1e300);
    builder_kv_array(b, "l.none", GUFO_VALUE_STRING, 0);
    builder_pad(b, 32);
}

static void test_arrays(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(written); i++) {
        gufo_document *d = document_for(written[i], 0);
        gufo_error error = no_error();
        builder b = builder_new(written[i]);

        add_arrays(d, &error);
        build_arrays(&b);
        check_packed(d, &b, encoding_name(written[i]));
        gufo_document_free(d);
        builder_free(&b);
    }
}

/* Sixteen arrays inside each other can be written, and keys and text are copied at once. */
static void test_deepest_and_copies(void **state)
{
    gufo_document *d = document_for((encoding){3, false}, 0);
    gufo_error error = no_error();
    builder b = builder_new((encoding){3, false});
    uint8_t number = 7;
    gufo_items levels[GUFO_MAX_DEPTH];
    char key[] = "deep", text[] = "text";

    (void)state;
    levels[GUFO_MAX_DEPTH - 1] = (gufo_items){GUFO_VALUE_UINT8, 1, &number};
    for (int i = GUFO_MAX_DEPTH - 2; i >= 0; i--)
        levels[i] = (gufo_items){GUFO_VALUE_ARRAY, 1, &levels[i + 1]};
    check_ok(gufo_document_set_array(d, key, &levels[0], &error), &error, "depth 16");
    check_ok(gufo_document_set_text(d, "t", text, &error), &error, "text");
    number = 8;
    memset(key, 'x', 4);
    memset(text, 'x', 4);
    memset(levels, 0, sizeof levels);
    builder_header(&b, 0, 2);
    builder_key(&b, "deep", GUFO_VALUE_ARRAY);
    for (int i = 1; i < GUFO_MAX_DEPTH; i++)
        builder_array(&b, GUFO_VALUE_ARRAY, 1);
    builder_array(&b, GUFO_VALUE_UINT8, 1);
    builder_u8(&b, 7);
    builder_kv_str(&b, "t", "text");
    builder_pad(&b, 32);
    check_packed(d, &b, "depth 16");
    gufo_document_free(d);
    builder_free(&b);
}

/* A value taken from a file of the other byte order is encoded anew. */
static void test_add_value(void **state)
{
    (void)state;
    for (size_t e = 0; e < ENCODING_COUNT; e++) {
        builder source = builder_new(all_encodings[e]);
        builder expected = builder_new((encoding){3, true});
        builder *both[2] = {&source, &expected};
        gufo_document *d = document_for((encoding){3, true}, 0);
        gufo_error error = no_error();
        gufo_model *file;
        gufo_entry entry;

        for (size_t i = 0; i < 2; i++) {
            builder_header(both[i], 0, 3);
            builder_kv_u32(both[i], "n", 5);
            builder_kv_array(both[i], "list", GUFO_VALUE_ARRAY, 2);
            builder_array(both[i], GUFO_VALUE_STRING, 2);
            builder_str(both[i], "a");
            builder_str(both[i], "bc");
            builder_array(both[i], GUFO_VALUE_INT64, 1);
            builder_u64(both[i], UINT64_MAX - 7);
            builder_key(both[i], "f", GUFO_VALUE_FLOAT32);
            builder_u32(both[i], 0x7fc00001); /* a NaN with a payload */
        }
        builder_pad(&expected, 32);
        file = open_built(&source, "source");
        for (uint64_t i = 0; gufo_model_entry_at(file, i, &entry); i++)
            check_ok(gufo_document_set_entry(d, entry.key, &entry.value, &error), &error, "entry");
        check_packed(d, &expected, encoding_name(all_encodings[e]));
        gufo_model_free(file);
        gufo_document_free(d);
        builder_free(&source);
        builder_free(&expected);
    }
}

/* ---- whole files ---------------------------------------------------------------------------- */

typedef struct planned {
    const char *name;
    uint32_t type, n_dims;
    uint64_t dims[4], given, size; /* size given to the document (0: none), and true size */
} planned;

static const planned tensors[] = {
    {"token_embd.weight", GUFO_TYPE_Q4_0, 2, {64, 3}, 0, 108},
    {"scalar", GUFO_TYPE_F32, 0, {0}, 4, 4},
    {"empty", GUFO_TYPE_F32, 1, {0}, 0, 0},
    {"unknown", 57, 3, {3, 5, 7}, 77, 77},
    {"blk.0.attn_q.weight", GUFO_TYPE_F16, 4, {2, 2, 2, 2}, 0, 32},
    {"sixty four bytes are allowed for a name and this has them all ..",
     GUFO_TYPE_I8,
     1,
     {1},
     0,
     1},
};

static void plan_tensors(gufo_document *d, uint32_t alignment)
{
    gufo_error error = no_error();

    if (alignment != 0)
        check_ok(gufo_document_set_u32(d, "general.alignment", alignment, &error), &error, "align");
    check_ok(gufo_document_set_text(d, "general.architecture", "llama", &error), &error, "key");
    for (size_t i = 0; i < COUNT_OF(tensors); i++)
        check_ok(tensors[i].given == 0
                     ? gufo_document_add_tensor(d, tensors[i].name,
                                                gufo_element_type_by_id(tensors[i].type),
                                                tensors[i].n_dims, tensors[i].dims, &error)
                     : gufo_document_add_raw_tensor(d, tensors[i].name, tensors[i].type,
                                                    tensors[i].n_dims, tensors[i].dims,
                                                    tensors[i].given, &error),
                 &error, "%s", tensors[i].name);
}

static builder build_file(encoding e, uint32_t alignment)
{
    builder b = builder_new(e);
    uint32_t a = alignment != 0 ? alignment : 32;
    uint64_t offset = 0;

    builder_header(&b, COUNT_OF(tensors), alignment != 0 ? 2 : 1);
    if (alignment != 0)
        builder_kv_u32(&b, "general.alignment", alignment);
    builder_kv_str(&b, "general.architecture", "llama");
    for (size_t i = 0; i < COUNT_OF(tensors); i++) {
        builder_tensor(&b, tensors[i].name, tensors[i].type, tensors[i].n_dims, tensors[i].dims,
                       offset);
        offset += (tensors[i].size + a - 1) / a * a;
    }
    b.mark = b.len;
    for (size_t i = 0; i < COUNT_OF(tensors); i++) {
        builder_pad(&b, a);
        builder_pattern(&b, (unsigned)i, (size_t)tensors[i].size);
    }
    builder_pad(&b, a);
    return b;
}

static void check_layout(gufo_document *d, const builder *b, uint32_t alignment, const char *label)
{
    uint64_t a = alignment != 0 ? alignment : 32, offset, size, next;
    gufo_error error = no_error();
    gufo_layout layout;

    check(!tensor_place(d, 0, &offset, &size), "%s: before the layout", label);
    check_ok(gufo_document_layout(d, NULL, &layout, &error), &error, "%s", label);
    check_u64(layout.metadata_size, b->mark, "%s", label);
    next = (b->mark + a - 1) / a * a;
    check_u64(layout.data_offset, next, "%s", label);
    check_u64(layout.file_size, b->len, "%s", label);
    check_u64(layout.tensor_count, COUNT_OF(tensors), "%s", label);
    check_u64(layout.alignment, a, "%s", label);
    for (size_t i = 0; i < COUNT_OF(tensors); i++) {
        check(tensor_place(d, i, &offset, &size), "%s", label);
        check_u64(offset, next, "%s, %s", label, tensors[i].name);
        check_u64(size, tensors[i].size, "%s, %s", label, tensors[i].name);
        next += (size + a - 1) / a * a;
    }
    check(!tensor_place(d, COUNT_OF(tensors), &offset, &size), "%s: past the end", label);
}

/* Writes one byte after the other, from the last tensor to the first. */
static void write_backwards(sink *out)
{
    gufo_error error = no_error();

    for (size_t i = COUNT_OF(tensors); i-- > 0;)
        for (uint64_t at = tensors[i].size; at-- > 0;) {
            uint8_t byte = pattern_byte((unsigned)i, (size_t)at);

            check_ok(sink_write(out, i, at, &byte, 1, &error), &error, "%s", tensors[i].name);
        }
}

static void test_files(void **state)
{
    static const uint32_t alignments[] = {0, 8, 16, 32, 64, 4096};
    folder f = folder_new();
    path_text path = folder_path(&f, "out.gguf");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(written) * COUNT_OF(alignments); i++) {
        encoding e = written[i % COUNT_OF(written)];
        uint32_t alignment = alignments[i / COUNT_OF(written)];
        gufo_document *d = document_for(e, 0);
        builder b = build_file(e, alignment);
        gufo_error error = no_error();
        gufo_model *file;
        char label[64];
        sink out;

        snprintf(label, sizeof label, "alignment %" PRIu32 ", %s", alignment, encoding_name(e));
        plan_tensors(d, alignment);
        check_layout(d, &b, alignment, label);
        out = (sink){.document = d};
        check_ok(sink_open(&out, path.text, true, &error), &error, "%s", label);
        write_backwards(&out);
        check_ok(sink_finish(&out, &error), &error, "%s", label);
        sink_free(&out);
        check_file(path.text, b.data, b.len, label);
        file = gufo_model_open(path.text, NULL, &error);
        check(file != NULL, "%s: %s", label, error.message);
        walk_file(file, NULL, 0, label);
        gufo_model_free(file);
        builder_free(&b);
    }
    folder_remove(&f);
}

/* The options' defaults: version 3, little-endian. */
static void test_defaults(void **state)
{
    gufo_document *d = gufo_document_new(NULL, NULL);
    builder b = builder_new((encoding){3, false});

    (void)state;
    assert_non_null(d);
    builder_header(&b, 0, 0);
    builder_pad(&b, 32);
    check_packed(d, &b, "defaults");
    gufo_document_free(d);
    gufo_document_free(NULL);
    builder_free(&b);
}

/* ---- threads -------------------------------------------------------------------------------- */

enum { THREADS = 4, BIG_TENSORS = 16, BIG_SIZE = 40000, PIECE = 997 };

typedef struct job {
    sink *out;
    unsigned number;
    gufo_status status;
} job;

/* Thread `number` writes every fourth piece of every tensor. */
static void *write_pieces(void *context)
{
    job *j = context;
    gufo_error error = no_error();
    uint8_t piece[PIECE];
    unsigned count = 0;

    for (uint64_t t = 0; t < BIG_TENSORS; t++)
        for (size_t at = 0; at < BIG_SIZE; at += PIECE) {
            size_t size = BIG_SIZE - at < PIECE ? BIG_SIZE - at : PIECE;

            if (count++ % THREADS != j->number)
                continue;
            for (size_t i = 0; i < size; i++)
                piece[i] = pattern_byte((unsigned)t, at + i);
            if (sink_write(j->out, t, at, piece, size, &error) != GUFO_OK)
                j->status = GUFO_E_IO;
        }
    return NULL;
}

static void test_threads(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "out.gguf");
    sink out = {.document = document_for((encoding){3, false}, 0)};
    builder b = builder_new((encoding){3, false});
    const uint64_t dims[1] = {BIG_SIZE};
    gufo_error error = no_error();
    pthread_t threads[THREADS];
    job jobs[THREADS];
    char name[32];

    (void)state;
    builder_header(&b, BIG_TENSORS, 0);
    for (unsigned t = 0; t < BIG_TENSORS; t++) {
        snprintf(name, sizeof name, "t%u", t);
        check_ok(gufo_document_add_tensor(out.document, name, gufo_element_type_by_id(GUFO_TYPE_I8),
                                          1, dims, &error),
                 &error, "%s", name);
        builder_tensor(&b, name, GUFO_TYPE_I8, 1, dims, t * (uint64_t)BIG_SIZE);
    }
    builder_pad(&b, 32);
    for (unsigned t = 0; t < BIG_TENSORS; t++)
        builder_pattern(&b, t, BIG_SIZE);
    check_ok(sink_open(&out, path.text, false, &error), &error, "open");
    for (unsigned i = 0; i < THREADS; i++) {
        jobs[i] = (job){&out, i, GUFO_OK};
        assert_int_equal(pthread_create(&threads[i], NULL, write_pieces, &jobs[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        check_u64(jobs[i].status, GUFO_OK, "thread %u", i);
    }
    check_ok(sink_finish(&out, &error), &error, "finish");
    sink_free(&out);
    check_file(path.text, b.data, b.len, "threads");
    folder_remove(&f);
    builder_free(&b);
}

/* ---- outputs ----------------------------------------------------------------------------------- */

static gufo_document *new_document(void)
{
    gufo_error error = no_error();
    gufo_document *d = gufo_document_new(NULL, &error);

    check(d != NULL, "%s", error.message);
    return d;
}

/* The reader of a stream goes away between data and padding. */
static void test_stream_padding_fails(void **state)
{
    const uint64_t dims[1] = {4};
    sink out = {.document = new_document()};
    gufo_error error = no_error();
    int ends[2];

    (void)state;
    signal(SIGPIPE, SIG_IGN);
    check(pipe(ends) == 0, "pipe");
    check_ok(gufo_document_add_tensor(out.document, "a", gufo_element_type_by_id(GUFO_TYPE_I8), 1,
                                      dims, &error),
             &error, "a");
    check_ok(gufo_document_add_tensor(out.document, "b", gufo_element_type_by_id(GUFO_TYPE_I8), 1,
                                      dims, &error),
             &error, "b");
    check_ok(sink_open_fd(&out, ends[1], &error), &error, "open");
    check_ok(sink_write(&out, 0, 0, "data", 4, &error), &error, "a");
    close(ends[0]);
    check_status(sink_write(&out, 1, 0, "data", 4, &error), GUFO_E_IO, &error, "b");
    check_u64((unsigned)error.system, EPIPE, "b");
    sink_free(&out);
    close(ends[1]);
    signal(SIGPIPE, SIG_DFL);
}

/* A target that cannot even be looked at. */
static void test_target_behind_a_file(void **state)
{
    folder f = folder_new();
    path_text file = folder_path(&f, "file"), target = path_join(file.text, "out.gguf");
    sink out = {.document = new_document()};
    gufo_error error = no_error();

    (void)state;
    write_file(file.text, "text", 4);
    check_status(sink_open(&out, target.text, true, &error), GUFO_E_IO, &error, "target");
    check_u64((unsigned)error.system, ENOTDIR, "target");
    sink_free(&out);
    check_file(file.text, "text", 4, "target");
    check_u64(entry_count(f.path), 1, "nothing is left");
    folder_remove(&f);
}

static void test_output_sizes(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "out");
    gufo_error error = no_error();
    output o;

    (void)state;
    check_status(output_open(&o, path.text, false, UINT64_MAX, NULL, &default_allocator, &error),
                 GUFO_E_IO, &error, "endless");
    check_u64((unsigned)error.system, EFBIG, "endless");
    check_u64(entry_count(f.path), 0, "endless");
    check_ok(output_open(&o, path.text, false, 0, NULL, &default_allocator, &error), &error,
             "empty");
    check_ok(output_commit(&o, &error), &error, "empty");
    check_file(path.text, "", 0, "empty");
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_deepest_and_copies),
        cmocka_unit_test(test_add_value),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_stream_padding_fails),
        cmocka_unit_test(test_target_behind_a_file),
        cmocka_unit_test(test_output_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
