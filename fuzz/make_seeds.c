/* Writes the seeds of the fuzz targets: `make_seeds FOLDER`, or checks them: `make_seeds --check
 * FOLDER`.
 *
 * A seed is a small file that shows one feature of the format, or breaks one rule.  Most are put
 * together by hand, because no writer should be able to write them; those named "written-" come out
 * of the library, so that the check also pins what the writer writes, on every machine. */
#define _GNU_SOURCE /* memfd_create */
#include <gufo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- bytes ---------------------------------------------------------------------------------- */

typedef struct bytes {
    uint8_t data[4096];
    size_t size;
    uint32_t version;
    bool big; /* big-endian */
} bytes;

static void put(bytes *b, const void *data, size_t size)
{
    if (size > sizeof b->data - b->size) {
        fprintf(stderr, "a seed is too large\n");
        exit(1);
    }
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

/* The `width` low bytes of `number`, in the order of the file. */
static void number(bytes *b, uint64_t value, int width)
{
    for (int i = 0; i < width; i++) {
        int shift = 8 * (b->big ? width - 1 - i : i);
        uint8_t byte = (uint8_t)(value >> shift);

        put(b, &byte, 1);
    }
}

static void u32(bytes *b, uint32_t value)
{
    number(b, value, 4);
}

/* Counts, lengths and dims: 32 bits in version 1, else 64. */
static void length(bytes *b, uint64_t value)
{
    number(b, value, b->version == 1 ? 4 : 8);
}

static void counted(bytes *b, const char *text, size_t size)
{
    length(b, size);
    put(b, text, size);
}

static void text(bytes *b, const char *s)
{
    counted(b, s, strlen(s));
}

static void pad(bytes *b, size_t alignment, uint8_t fill)
{
    while (b->size % alignment)
        put(b, &fill, 1);
}

static void data(bytes *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = (uint8_t)(i * 7 + 1);

        put(b, &byte, 1);
    }
}

/* ---- parts of a file ------------------------------------------------------------------------ */

static void header(bytes *b, uint64_t tensors, uint64_t entries)
{
    put(b, "GGUF", 4);
    u32(b, b->version);
    length(b, tensors);
    length(b, entries);
}

static void key(bytes *b, const char *name, gufo_value_type type)
{
    text(b, name);
    u32(b, (uint32_t)type);
}

static void text_entry(bytes *b, const char *name, const char *value)
{
    key(b, name, GUFO_VALUE_STRING);
    text(b, value);
}

static void u32_entry(bytes *b, const char *name, uint32_t value)
{
    key(b, name, GUFO_VALUE_UINT32);
    u32(b, value);
}

/* What follows the type of an array: element type and count; the elements come next. */
static void array(bytes *b, gufo_value_type type, uint64_t count)
{
    u32(b, (uint32_t)type);
    length(b, count);
}

static void array_entry(bytes *b, const char *name, gufo_value_type type, uint64_t count)
{
    key(b, name, GUFO_VALUE_ARRAY);
    array(b, type, count);
}

static void info(bytes *b, const char *name, uint32_t n_dims, const uint64_t *dims, uint32_t type,
                 uint64_t offset)
{
    text(b, name);
    u32(b, n_dims);
    for (uint32_t i = 0; i < n_dims; i++)
        length(b, dims[i]);
    u32(b, type);
    number(b, offset, 8);
}

/* A tensor of one dim. */
static void row(bytes *b, const char *name, uint64_t elements, uint32_t type, uint64_t offset)
{
    info(b, name, 1, &elements, type, offset);
}

/* ---- seeds: good files ---------------------------------------------------------------------- */

static void empty(bytes *b)
{
    header(b, 0, 0);
}

static void small(bytes *b)
{
    header(b, 2, 3);
    text_entry(b, "general.architecture", "llama");
    u32_entry(b, "llama.block_count", 1);
    array_entry(b, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, 3);
    text(b, "<s>");
    text(b, "");
    text(b, "\xe2\x96\x81the");
    info(b, "blk.0.attn_norm.weight", 1, (uint64_t[]){8}, GUFO_TYPE_F32, 0);
    info(b, "blk.0.ffn_up.weight", 2, (uint64_t[]){32, 2}, GUFO_TYPE_Q8_0, 32);
    pad(b, 32, 0);
    data(b, 32);
    data(b, 68);
    pad(b, 32, 0);
}

/* Writers of version 1 counted the NUL behind a string as part of it until August 2023. */
static void counted_nul(bytes *b)
{
    header(b, 1, 2);
    counted(b, "general.architecture", 21);
    u32(b, GUFO_VALUE_STRING);
    counted(b, "llama", 6);
    counted(b, "tokenizer.ggml.tokens", 22);
    u32(b, GUFO_VALUE_ARRAY);
    array(b, GUFO_VALUE_STRING, 2);
    counted(b, "a", 2);
    counted(b, "", 1);
    length(b, 12);
    put(b, "norm.weight", 12);
    u32(b, 1);
    length(b, 4);
    u32(b, GUFO_TYPE_F32);
    number(b, 0, 8);
    pad(b, 32, 0);
    data(b, 16);
}

static void one_of_each(bytes *b)
{
    header(b, 0, 12);
    key(b, "v.uint8", GUFO_VALUE_UINT8);
    number(b, 255, 1);
    key(b, "v.int8", GUFO_VALUE_INT8);
    number(b, 0x80, 1);
    key(b, "v.uint16", GUFO_VALUE_UINT16);
    number(b, 65535, 2);
    key(b, "v.int16", GUFO_VALUE_INT16);
    number(b, 0x8000, 2);
    key(b, "v.uint32", GUFO_VALUE_UINT32);
    number(b, UINT32_MAX, 4);
    key(b, "v.int32", GUFO_VALUE_INT32);
    number(b, 0x80000000, 4);
    key(b, "v.float32", GUFO_VALUE_FLOAT32);
    number(b, 0x7f800001, 4); /* a signalling NaN */
    key(b, "v.bool", GUFO_VALUE_BOOL);
    number(b, 1, 1);
    key(b, "v.string", GUFO_VALUE_STRING);
    counted(b, "a\0b\x1b[31m", 8);
    key(b, "v.uint64", GUFO_VALUE_UINT64);
    number(b, UINT64_MAX, 8);
    key(b, "v.int64", GUFO_VALUE_INT64);
    number(b, 1ull << 63, 8);
    key(b, "v.float64", GUFO_VALUE_FLOAT64);
    number(b, 0xfff0000000000000, 8); /* minus infinity */
}

static void arrays(bytes *b)
{
    static const char *const words[] = {"abc", "d", ""};

    header(b, 0, GUFO_VALUE_TYPE_COUNT);
    for (int type = 0; type < GUFO_VALUE_TYPE_COUNT; type++) {
        size_t width = gufo_value_type_size((gufo_value_type)type);
        char name[32];

        snprintf(name, sizeof name, "a.%s", gufo_value_type_name((gufo_value_type)type));
        array_entry(b, name, (gufo_value_type)type, 3);
        for (unsigned i = 0; i < 3; i++) {
            if (type == GUFO_VALUE_STRING)
                text(b, words[i]);
            else if (type == GUFO_VALUE_ARRAY)
                array(b, GUFO_VALUE_UINT8, 0);
            else
                number(b, i & 1, (int)width);
        }
    }
}

/* Arrays inside arrays, `depth` of them, the innermost with two strings. */
static void nest(bytes *b, int depth)
{
    key(b, "deep", GUFO_VALUE_ARRAY);
    for (int i = 1; i < depth; i++)
        array(b, GUFO_VALUE_ARRAY, 1);
    array(b, GUFO_VALUE_STRING, 2);
    text(b, "in");
    text(b, "side");
}

static void nested(bytes *b)
{
    header(b, 0, 1);
    array_entry(b, "pairs", GUFO_VALUE_ARRAY, 2);
    array(b, GUFO_VALUE_INT32, 2);
    u32(b, 1);
    u32(b, 2);
    array(b, GUFO_VALUE_STRING, 1);
    text(b, "three");
}

static void deepest(bytes *b)
{
    header(b, 0, 1);
    nest(b, GUFO_MAX_DEPTH);
}

static void too_deep(bytes *b)
{
    header(b, 0, 1);
    nest(b, GUFO_MAX_DEPTH + 1);
}

static void odd_shapes(bytes *b)
{
    header(b, 4, 0);
    info(b, "scalar", 0, NULL, GUFO_TYPE_F32, 0);
    info(b, "nothing", 2, (uint64_t[]){0, 7}, GUFO_TYPE_F16, 32);
    info(b, "nothing.either", 4, (uint64_t[]){32, 1, 0, 1}, GUFO_TYPE_Q4_0, 32);
    info(b, "four", 4, (uint64_t[]){2, 1, 2, 1}, GUFO_TYPE_I8, 32);
    pad(b, 32, 0);
    data(b, 4);
    pad(b, 32, 0);
    data(b, 4);
}

/* Types the table does not know, or knows no size of: their size reaches to what comes next. */
static void unknown_types(bytes *b)
{
    header(b, 4, 0);
    row(b, "newer", 100, 57, 0);
    row(b, "lost", 64, GUFO_TYPE_Q4_2, 64);
    row(b, "known", 4, GUFO_TYPE_F32, 96);
    row(b, "last", 3, UINT32_MAX, 128);
    pad(b, 32, 0);
    data(b, 133);
}

static void removed_type(bytes *b)
{
    header(b, 1, 0);
    row(b, "interleaved", 32, GUFO_TYPE_Q4_0_4_4, 0);
    pad(b, 32, 0);
    data(b, 18);
}

static void aligned(bytes *b, uint32_t alignment)
{
    header(b, 2, 1);
    u32_entry(b, "general.alignment", alignment);
    row(b, "a", 1, GUFO_TYPE_I8, 0);
    row(b, "b", 1, GUFO_TYPE_I64, alignment);
    pad(b, alignment, 0);
    data(b, 1);
    pad(b, alignment, 0);
    data(b, 8);
}

static void alignment_1(bytes *b)
{
    aligned(b, 1);
}

static void alignment_24(bytes *b)
{
    aligned(b, 24);
}

static void alignment_64(bytes *b)
{
    aligned(b, 64);
}

/* Gaps, non-zero padding, data out of order, bytes behind the last tensor. */
static void untidy(bytes *b)
{
    header(b, 2, 0);
    row(b, "second", 2, GUFO_TYPE_F32, 96);
    row(b, "first", 2, GUFO_TYPE_F32, 32);
    pad(b, 32, 0xaa);
    data(b, 32 + 96 + 8 + 11);
}

static void long_name(bytes *b)
{
    header(b, 1, 0);
    row(b, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", 1, GUFO_TYPE_I8, 0);
    pad(b, 32, 0);
    data(b, 1);
}

static void shard(bytes *b)
{
    header(b, 1, 3);
    key(b, "split.no", GUFO_VALUE_UINT16);
    number(b, 0, 2);
    key(b, "split.count", GUFO_VALUE_UINT16);
    number(b, 2, 2);
    key(b, "split.tensors.count", GUFO_VALUE_INT32);
    number(b, 3, 4);
    row(b, "w", 1, GUFO_TYPE_BF16, 0);
    pad(b, 32, 0);
    data(b, 2);
}

static void bad_text(bytes *b)
{
    header(b, 1, 3);
    text_entry(b, "general.name", "\xff\xfe");
    text_entry(b, "Upper-Case..key", "x");
    array_entry(b, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, 2);
    text(b, "\x80");
    text(b, "\xed\xa0\x80");
    row(b, "na\xc3me", 1, GUFO_TYPE_I8, 0);
    pad(b, 32, 0);
    data(b, 1);
}

/* ---- seeds: broken files -------------------------------------------------------------------- */

static void truncated(bytes *b)
{
    small(b);
    b->size -= 90;
}

static void truncated_infos(bytes *b)
{
    small(b);
    b->size = 200;
}

static void huge_counts(bytes *b)
{
    header(b, 1ull << 60, 1ull << 60);
}

static void huge_array(bytes *b)
{
    header(b, 0, 1);
    array_entry(b, "a", GUFO_VALUE_UINT64, 1ull << 61);
}

static void huge_string(bytes *b)
{
    header(b, 0, 1);
    key(b, "s", GUFO_VALUE_STRING);
    length(b, UINT64_MAX);
}

static void duplicate_key(bytes *b)
{
    header(b, 0, 2);
    u32_entry(b, "k", 1);
    u32_entry(b, "k", 2);
}

static void duplicate_tensor(bytes *b)
{
    header(b, 2, 0);
    row(b, "t", 1, GUFO_TYPE_I8, 0);
    row(b, "t", 1, GUFO_TYPE_I8, 32);
    pad(b, 32, 0);
    data(b, 33);
}

static void bad_bools(bytes *b)
{
    header(b, 0, 2);
    key(b, "b", GUFO_VALUE_BOOL);
    number(b, 2, 1);
    array_entry(b, "bs", GUFO_VALUE_BOOL, 3);
    number(b, 0x00ff01, 3);
}

static void bad_keys(bytes *b)
{
    header(b, 0, 3);
    u32_entry(b, "", 1);
    counted(b, "general.alignment\0x", 19);
    u32(b, GUFO_VALUE_UINT32);
    u32(b, 64);
    u32_entry(b, "caf\xc3\xa9", 1);
}

static void bad_value_type(bytes *b)
{
    header(b, 0, 1);
    key(b, "k", (gufo_value_type)13);
    u32(b, 0);
}

static void bad_element_type(bytes *b)
{
    header(b, 0, 1);
    array_entry(b, "k", (gufo_value_type)99, 1);
    u32(b, 0);
}

static void alignment_0(bytes *b)
{
    header(b, 0, 1);
    u32_entry(b, "general.alignment", 0);
}

static void alignment_text(bytes *b)
{
    header(b, 0, 1);
    text_entry(b, "general.alignment", "32");
}

static void bad_dims(bytes *b)
{
    header(b, 3, 0);
    info(b, "wraps", 2, (uint64_t[]){1ull << 32, 1ull << 32}, GUFO_TYPE_F32, 0);
    info(b, "hidden", 4, (uint64_t[]){INT64_MAX, 4, 0, 1}, GUFO_TYPE_F32, 0);
    row(b, "blocks", 33, GUFO_TYPE_Q4_0, 0);
}

static void five_dims(bytes *b)
{
    header(b, 1, 0);
    info(b, "t", 5, (uint64_t[]){1, 1, 1, 1, 1}, GUFO_TYPE_I8, 0);
    pad(b, 32, 0);
    data(b, 1);
}

static void bad_offsets(bytes *b)
{
    header(b, 4, 0);
    row(b, "a", 16, GUFO_TYPE_F32, 0);
    row(b, "overlaps", 8, GUFO_TYPE_F32, 32);
    row(b, "misaligned", 1, GUFO_TYPE_F32, 65);
    row(b, "outside", 1, GUFO_TYPE_F32, 1ull << 40);
    pad(b, 32, 0);
    data(b, 96);
}

static void bad_names(bytes *b)
{
    header(b, 2, 0);
    length(b, 3);
    put(b, "a\0b", 3);
    u32(b, 0);
    u32(b, GUFO_TYPE_I8);
    number(b, 0, 8);
    row(b, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef+", 1, GUFO_TYPE_I8,
        32);
    pad(b, 32, 0);
    data(b, 33);
}

static void version_4(bytes *b)
{
    b->version = 4;
    header(b, 0, 0);
}

/* ---- seeds: importance matrices ------------------------------------------------------------- */

/* A whole number up to 2^24 as a float. */
static void whole_f32(bytes *b, uint32_t value)
{
    float f = (float)value;
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    u32(b, bits);
}

static void whole_f32s(bytes *b, uint32_t count, const uint32_t *values)
{
    pad(b, 32, 0);
    for (uint32_t i = 0; i < count; i++)
        whole_f32(b, values[i]);
}

/* A plain tensor, and three experts of which no token reached the second. */
static void imatrix(bytes *b)
{
    header(b, 4, 4);
    text_entry(b, "general.type", "imatrix");
    array_entry(b, "imatrix.datasets", GUFO_VALUE_STRING, 2);
    text(b, "a.txt");
    text(b, "b.txt");
    u32_entry(b, "imatrix.chunk_count", 4);
    u32_entry(b, "imatrix.chunk_size", 512);
    info(b, "q.weight.in_sum2", 2, (uint64_t[]){3, 1}, GUFO_TYPE_F32, 0);
    info(b, "q.weight.counts", 2, (uint64_t[]){1, 1}, GUFO_TYPE_F32, 32);
    info(b, "exps.weight.in_sum2", 2, (uint64_t[]){2, 3}, GUFO_TYPE_F32, 64);
    info(b, "exps.weight.counts", 2, (uint64_t[]){1, 3}, GUFO_TYPE_F32, 96);
    whole_f32s(b, 3, (uint32_t[]){1024, 3072, 4608});
    whole_f32s(b, 1, (uint32_t[]){2048});
    whole_f32s(b, 6, (uint32_t[]){1000, 2000, 0, 0, 3, 4});
    whole_f32s(b, 3, (uint32_t[]){1000, 0, 1});
    pad(b, 32, 0);
}

static void legacy_text(bytes *b, const char *s)
{
    u32(b, (uint32_t)strlen(s));
    put(b, s, strlen(s));
}

static void legacy_entry(bytes *b, const char *name, uint32_t calls, uint32_t count,
                         const uint32_t *values)
{
    legacy_text(b, name);
    u32(b, calls);
    u32(b, count);
    for (uint32_t i = 0; i < count; i++)
        whole_f32(b, values[i]);
}

/* The format that came before. */
static void legacy_imatrix(bytes *b)
{
    u32(b, 2);
    legacy_entry(b, "q.weight", 4, 3, (uint32_t[]){2, 6, 9});
    legacy_entry(b, "exps.weight", 0, 2, (uint32_t[]){1, 0});
    u32(b, 4);
    legacy_text(b, "a.txt");
}

/* ---- seeds: no files of the format ---------------------------------------------------------- */

static void magic_only(bytes *b)
{
    put(b, "GGUF", 4);
}

static void web_page(bytes *b)
{
    put(b, "<!DOCTYPE html><html>404</html>\n", 32);
}

static void lfs_pointer(bytes *b)
{
    const char *content = "version https://git-lfs.github.com/spec/v1\n";

    put(b, content, strlen(content));
}

/* ---- seeds: files by the library's writer --------------------------------------------------- */

static void ok(gufo_status status, const gufo_error *error)
{
    if (status == GUFO_OK)
        return;
    fprintf(stderr, "the file cannot be made: %s\n", error->message);
    exit(1);
}

static void plan(gufo_document *d, gufo_error *e)
{
    const gufo_str words[] = {gufo_str_of("one"), gufo_str_of(""), gufo_str_of("three")};
    const int16_t small_numbers[] = {-1, 0, 1};
    const gufo_items inner[] = {{GUFO_VALUE_STRING, 3, words},
                                {GUFO_VALUE_INT16, 3, small_numbers}};
    const gufo_items outer = {GUFO_VALUE_ARRAY, 2, inner};

    ok(gufo_document_set_text(d, "general.architecture", "llama", e), e);
    ok(gufo_document_set_u32(d, "general.alignment", 64, e), e);
    ok(gufo_document_set_u8(d, "v.u8", 8, e), e);
    ok(gufo_document_set_i8(d, "v.i8", -8, e), e);
    ok(gufo_document_set_u16(d, "v.u16", 1600, e), e);
    ok(gufo_document_set_i16(d, "v.i16", -1600, e), e);
    ok(gufo_document_set_i32(d, "v.i32", -320000, e), e);
    ok(gufo_document_set_u64(d, "v.u64", UINT64_MAX, e), e);
    ok(gufo_document_set_i64(d, "v.i64", INT64_MIN, e), e);
    ok(gufo_document_set_f32(d, "v.f32", 0.1f, e), e);
    ok(gufo_document_set_f64(d, "v.f64", -1e300, e), e);
    ok(gufo_document_set_bool(d, "v.bool", true, e), e);
    ok(gufo_document_set_array(d, "v.words", &inner[0], e), e);
    ok(gufo_document_set_array(d, "v.numbers", &inner[1], e), e);
    ok(gufo_document_set_array(d, "v.nested", &outer, e), e);
    ok(gufo_document_add_tensor(d, "a.weight", gufo_element_type_by_id(GUFO_TYPE_Q4_0), 2,
                                (uint64_t[]){32, 2}, e),
       e);
    ok(gufo_document_add_raw_tensor(d, "b.weight", 57, 1, (uint64_t[]){5}, 10, e), e);
}

/* The file goes to a descriptor in memory and from there into the seed. */
static void written(bytes *b)
{
    gufo_document_options options = {
        .flags = GUFO_DOCUMENT_AS_READ,
    };
    static const uint8_t content[36] = {1, 2, 3, 4, 5, 6, 7, 8};
    gufo_error error;
    int fd = memfd_create("gufo-seed", MFD_CLOEXEC);
    gufo_document *d = gufo_document_new(&options, &error);
    gufo_job *job;
    ssize_t size;

    ok(d && fd >= 0 ? GUFO_OK : GUFO_E_IO, &error);
    ok(gufo_document_set_encoding(d, b->version, b->big ? GUFO_BIG_ENDIAN : GUFO_LITTLE_ENDIAN,
                                  &error),
       &error);
    plan(d, &error);
    job = gufo_job_of_documents(&d, 1, NULL, &error);
    ok(job ? GUFO_OK : error.code, &error);
    ok(gufo_job_open_fd(job, fd, &error), &error);
    ok(gufo_job_write(job, 0, 0, 0, content, 36, &error), &error);
    ok(gufo_job_write(job, 0, 1, 0, content, 10, &error), &error);
    ok(gufo_job_finish(job, NULL, &error), &error);
    gufo_job_free(job);
    gufo_document_free(d);
    size = pread(fd, b->data, sizeof b->data, 0);
    b->size = size > 0 ? (size_t)size : 0;
    close(fd);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*make)(bytes *b);
    uint32_t version;
    bool big;
} seeds[] = {
    {"empty", empty, 3, false},
    {"small-v1", small, 1, false},
    {"small-v1-big", small, 1, true},
    {"small-v2", small, 2, false},
    {"small-v3", small, 3, false},
    {"small-v3-big", small, 3, true},
    {"counted-nul-v1", counted_nul, 1, false},
    {"one-of-each", one_of_each, 3, false},
    {"one-of-each-big", one_of_each, 3, true},
    {"arrays", arrays, 3, false},
    {"arrays-v1", arrays, 1, false},
    {"arrays-big", arrays, 3, true},
    {"nested", nested, 3, false},
    {"nested-v1-big", nested, 1, true},
    {"deepest", deepest, 3, false},
    {"odd-shapes", odd_shapes, 3, false},
    {"unknown-types", unknown_types, 3, false},
    {"removed-type", removed_type, 3, false},
    {"alignment-1", alignment_1, 3, false},
    {"alignment-24", alignment_24, 3, false},
    {"alignment-64", alignment_64, 3, false},
    {"untidy", untidy, 3, false},
    {"long-name", long_name, 3, false},
    {"shard", shard, 3, false},
    {"bad-text", bad_text, 3, false},
    {"truncated", truncated, 3, false},
    {"truncated-infos", truncated_infos, 3, false},
    {"huge-counts", huge_counts, 3, false},
    {"huge-array", huge_array, 3, false},
    {"huge-string", huge_string, 3, false},
    {"duplicate-key", duplicate_key, 3, false},
    {"duplicate-tensor", duplicate_tensor, 3, false},
    {"bad-bools", bad_bools, 3, false},
    {"bad-keys", bad_keys, 3, false},
    {"bad-value-type", bad_value_type, 3, false},
    {"bad-element-type", bad_element_type, 3, false},
    {"too-deep", too_deep, 3, false},
    {"alignment-0", alignment_0, 3, false},
    {"alignment-text", alignment_text, 3, false},
    {"bad-dims", bad_dims, 3, false},
    {"five-dims", five_dims, 3, false},
    {"bad-offsets", bad_offsets, 3, false},
    {"bad-names", bad_names, 3, false},
    {"version-4", version_4, 3, false},
    {"imatrix", imatrix, 3, false},
    {"imatrix-big", imatrix, 3, true},
    {"imatrix.dat", legacy_imatrix, 3, false},
    {"magic-only", magic_only, 3, false},
    {"web-page", web_page, 3, false},
    {"lfs-pointer", lfs_pointer, 3, false},
    {"written-v3", written, 3, false},
    {"written-v3-big", written, 3, true},
    {"written-v2", written, 2, false},
};

/* Whether the file holds just these bytes. */
static bool check_seed(const char *path, const bytes *b)
{
    static uint8_t found[sizeof b->data + 1];
    FILE *in = fopen(path, "rb");
    size_t size = in ? fread(found, 1, sizeof found, in) : 0;
    bool same = in && size == b->size && memcmp(found, b->data, size) == 0;

    if (in)
        fclose(in);
    if (!same)
        fprintf(stderr, "%s: %s\n", path, in ? "has other content" : "is missing");
    return same;
}

static bool write_seed(const char *path, const bytes *b)
{
    FILE *out = fopen(path, "wb");
    bool good = out && fwrite(b->data, 1, b->size, out) == b->size;

    if (out && fclose(out) != 0)
        good = false;
    if (!good)
        perror(path);
    return good;
}

int main(int argc, char **argv)
{
    bool check = argc == 3 && strcmp(argv[1], "--check") == 0, good = true;

    if (argc != 2 && !check) {
        fprintf(stderr, "usage: make_seeds [--check] FOLDER\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        static bytes b;
        char path[4096];

        b = (bytes){.version = seeds[i].version, .big = seeds[i].big};
        seeds[i].make(&b);
        snprintf(path, sizeof path, "%s/%s%s", argv[argc - 1], seeds[i].name,
                 strchr(seeds[i].name, '.') != NULL ? "" : ".gguf");
        good &= check ? check_seed(path, &b) : write_seed(path, &b);
    }
    return good ? 0 : 1;
}
