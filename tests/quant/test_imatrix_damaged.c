/* Importance matrices that are none, or damaged: each is refused with a reason and a place, and no
 * byte of any file makes the library read where it must not. */
#include "imatrix_files.h"

/* ---- the old format ------------------------------------------------------------------------- */

/* From `at` on the bytes of a good file are replaced. */
static void test_legacy_damage(void **state)
{
    enum {
        NAME1 = 4,
        CALLS1 = NAME1 + 4 + sizeof PLAIN - 1,
        VALUES1 = CALLS1 + 4,
        NAME2 = VALUES1 + 4 + 12,
        CHUNKS = NAME2 + 4 + sizeof EXPERTS - 1 + 8 + 24,
        DATASET = CHUNKS + 4
    };
    static const struct {
        const char *label;
        size_t at;
        uint32_t number;
        gufo_status status;
        uint64_t offset;
    } rows[] = {
        {"no entries", 0, 0, GUFO_E_MALFORMED, 0},
        {"a negative number of entries", 0, UINT32_MAX, GUFO_E_MALFORMED, 0},
        {"more entries than bytes", 0, 1000, GUFO_E_MALFORMED, 0},
        {"more entries than there are", 0, 4, GUFO_E_TRUNCATED, 0},
        {"fewer entries than there are", 0, 1, GUFO_E_TRUNCATED, 0},
        {"a name without letters", NAME1, 0, GUFO_E_MALFORMED, NAME1},
        {"a negative name", NAME1, 0x80000000u, GUFO_E_MALFORMED, NAME1},
        {"a name past the end", NAME1, 0x7fffffffu, GUFO_E_TRUNCATED, NAME1 + 4},
        {"negative calls", CALLS1, 0xffffff00u, GUFO_E_MALFORMED, CALLS1},
        {"no values", VALUES1, 0, GUFO_E_MALFORMED, VALUES1},
        {"negative values", VALUES1, 0xfffffffdu, GUFO_E_MALFORMED, VALUES1},
        {"values past the end", VALUES1, 0x7fffffffu, GUFO_E_TRUNCATED, VALUES1 + 4},
        {"the same name again", NAME2, 0, GUFO_E_MALFORMED, NAME2},
        {"negative chunks", CHUNKS, 0x80000001u, GUFO_E_MALFORMED, CHUNKS},
        {"a dataset past the end", DATASET, 16, GUFO_E_TRUNCATED, DATASET + 4},
        {"bytes after the dataset", DATASET, 14, GUFO_E_MALFORMED, DATASET + 4 + 14},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        builder b = make_legacy();
        gufo_error error = no_error();

        for (unsigned k = 0; k < 4; k++)
            b.data[rows[i].at + k] = (uint8_t)(rows[i].number >> 8 * k);
        check(gufo_imatrix_open_memory(b.data, b.len, NULL, &error) == NULL, "%s", rows[i].label);
        check_error_shape(&error, rows[i].status, rows[i].label);
        if (rows[i].offset != 0)
            check_u64(error.offset, rows[i].offset, "%s", rows[i].label);
        builder_free(&b);
    }
}

static void test_duplicate(void **state)
{
    builder b = builder_new((encoding){3, false});
    gufo_error error = no_error();

    (void)state;
    builder_u32(&b, 2);
    legacy_entry(&b, "twice\n", 1, 1, (const float[]){1});
    legacy_entry(&b, "twice\n", 1, 1, (const float[]){1});
    check(gufo_imatrix_open_memory(b.data, b.len, NULL, &error) == NULL, "twice");
    check_error_shape(&error, GUFO_E_MALFORMED, "twice");
    check(strstr(error.message, "twice\\u{a}") != NULL, "%s", error.message);
    builder_free(&b);
}

/* A name longer than any name may be. */
static void test_long_name(void **state)
{
    builder b = builder_new((encoding){3, false});
    gufo_error error = no_error();

    (void)state;
    builder_u32(&b, 1);
    builder_u32(&b, 70000);
    builder_fill(&b, 'n', 70000);
    builder_zeros(&b, 100);
    check(gufo_imatrix_open_memory(b.data, b.len, NULL, &error) == NULL, "long name");
    check_error_shape(&error, GUFO_E_LIMIT, "long name");
    builder_free(&b);
}

/* Every part of a good file from its start: only after the last entry, and after the number of
 * chunks, can it be all there is. */
static void test_legacy_prefixes(void **state)
{
    builder b = make_legacy();
    size_t entries = b.len - 4 - 15 - 4;

    (void)state;
    for (size_t len = 0; len <= b.len; len++) {
        uint8_t *copy = builder_exact_copy(&b, len);
        gufo_error error = no_error();
        gufo_imatrix *m = gufo_imatrix_open_memory(copy, len, NULL, &error);

        check((m != NULL) == (len == entries || len == entries + 4 || len == b.len), "%zu", len);
        if (m == NULL)
            check(error.code == GUFO_E_TRUNCATED || error.code == GUFO_E_MALFORMED, "%zu: %s", len,
                  error.message);
        else
            check_u64(gufo_imatrix_chunk_count(m), len == entries ? 0 : 4, "%zu", len);
        gufo_imatrix_free(m);
        free(copy);
    }
    builder_free(&b);
}

/* What people give by mistake. */
static void test_something_else(void **state)
{
    static const struct {
        const char *bytes, *message;
    } rows[] = {
        {"<!DOCTYPE html><html></html>", "HTML"},
        {"version https://git-lfs.github.com/spec/v1\n", "LFS"},
        {"", "not an importance matrix"},
        {"abc", "not an importance matrix"},
        {"GGU", "not an importance matrix"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_error error = no_error();

        check(gufo_imatrix_open_memory(rows[i].bytes, strlen(rows[i].bytes), NULL, &error) == NULL,
              "%s", rows[i].bytes);
        check_error_shape(&error, GUFO_E_MALFORMED, rows[i].bytes);
        check(strstr(error.message, rows[i].message) != NULL, "%s", error.message);
    }
}

/* ---- GGUF ----------------------------------------------------------------------------------- */

static void test_gguf_damage(void **state)
{
    static const struct {
        const char *label, *names[2];
        uint32_t types[2];
        uint64_t elements[2];
        const char *message; /* NULL: it opens */
    } rows[] = {
        {"good", {"a.in_sum2", "a.counts"}, {0, 0}, {6, 3}, NULL},
        {"other order", {"a.counts", "a.in_sum2"}, {0, 0}, {3, 6}, NULL},
        {"no counts", {"a.in_sum2", "b"}, {0, 0}, {6, 3}, "no counts"},
        {"no sums", {"a", "b.counts"}, {0, 0}, {6, 3}, "no sums"},
        {"of different tensors", {"a.in_sum2", "b.counts"}, {0, 0}, {6, 3}, "no counts"},
        {"a model", {"a", "b"}, {0, 0}, {6, 3}, "not an importance matrix"},
        {"nothing before the suffix",
         {".in_sum2", ".counts"},
         {0, 0},
         {6, 3},
         "not an importance matrix"},
        {"not even", {"a.in_sum2", "a.counts"}, {0, 0}, {6, 4}, "not a multiple"},
        {"empty sums", {"a.in_sum2", "a.counts"}, {0, 0}, {0, 3}, "has no sums"},
        {"empty counts", {"a.in_sum2", "a.counts"}, {0, 0}, {6, 0}, "has no counts"},
        {"counts whose sums no name could have",
         {"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn.counts", "b"},
         {0, 0},
         {6, 3},
         "no sums"},
        {"sums of another type", {"a.in_sum2", "a.counts"}, {GUFO_TYPE_F16, 0}, {6, 3}, "type F32"},
        {"counts of another type",
         {"a.in_sum2", "a.counts"},
         {0, GUFO_TYPE_I32},
         {6, 3},
         "type F32"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        builder b = builder_new((encoding){3, false});
        gufo_error error = no_error();

        builder_header(&b, 2, 0);
        for (size_t k = 0; k < 2; k++)
            builder_tensor(&b, rows[i].names[k], rows[i].types[k], 1, &rows[i].elements[k], 32 * k);
        builder_pad(&b, 32);
        builder_zeros(&b, 64);
        if (rows[i].elements[0] == 0) /* the second then begins where the first does */
            builder_zeros(&b, 64);
        gufo_imatrix *m = gufo_imatrix_open_memory(b.data, b.len, NULL, &error);
        check((m != NULL) == (rows[i].message == NULL), "%s: %s", rows[i].label, error.message);
        if (m == NULL) {
            check_error_shape(&error, GUFO_E_MALFORMED, rows[i].label);
            check(strstr(error.message, rows[i].message) != NULL, "%s: %s", rows[i].label,
                  error.message);
        }
        gufo_imatrix_free(m);
        builder_free(&b);
    }
}

/* A chunk size of 0 says nothing, nor does a dataset without a name. */
static void test_zero_metadata(void **state)
{
    builder b = builder_new((encoding){3, false}), legacy = builder_new((encoding){3, false});
    gufo_str text;

    (void)state;
    builder_header(&b, 2, 1);
    builder_kv_u32(&b, "imatrix.chunk_size", 0);
    builder_tensor(&b, "a.in_sum2", GUFO_TYPE_F32, 1, (uint64_t[]){1}, 0);
    builder_tensor(&b, "a.counts", GUFO_TYPE_F32, 1, (uint64_t[]){1}, 32);
    builder_pad(&b, 32);
    builder_zeros(&b, 64);
    gufo_imatrix *m = imatrix_of(&b, "chunk size");
    check_u64(gufo_imatrix_chunk_size(m), 512, "chunk size");
    gufo_imatrix_free(m);

    builder_u32(&legacy, 1);
    legacy_entry(&legacy, "a", 1, 1, (const float[]){1});
    builder_u32(&legacy, 0);
    legacy_text(&legacy, "");
    m = imatrix_of(&legacy, "dataset");
    check(!gufo_imatrix_dataset_at(m, 0, &text), "no dataset");
    gufo_imatrix_free(m);
    builder_free(&b);
    builder_free(&legacy);
}

/* Facts of other types say nothing. */
static void test_odd_metadata(void **state)
{
    builder b = builder_new((encoding){3, false});
    gufo_str text;

    (void)state;
    builder_header(&b, 2, 3);
    builder_kv_str(&b, "imatrix.datasets", "one.txt");
    builder_kv_u64(&b, "imatrix.chunk_count", UINT64_C(1) << 40);
    builder_kv_i32(&b, "imatrix.chunk_size", -512);
    builder_tensor(&b, "a.in_sum2", GUFO_TYPE_F32, 1, (uint64_t[]){1}, 0);
    builder_tensor(&b, "a.counts", GUFO_TYPE_F32, 1, (uint64_t[]){1}, 32);
    builder_pad(&b, 32);
    builder_zeros(&b, 64);
    gufo_imatrix *m = imatrix_of(&b, "odd metadata");
    check(!gufo_imatrix_dataset_at(m, 0, &text), "no array");
    check_u64(gufo_imatrix_chunk_count(m), 0, "too many");
    check_u64(gufo_imatrix_chunk_size(m), 512, "negative");
    gufo_imatrix_free(m);
    builder_free(&b);
}

/* ---- any bytes ------------------------------------------------------------------------------ */

static void use(const gufo_imatrix *m)
{
    gufo_imatrix_entry entry;
    gufo_imatrix_statistics s;
    gufo_error error;
    float means[64];

    for (uint64_t i = 0; gufo_imatrix_entry_at(m, i, &entry); i++) {
        (void)gufo_imatrix_scan(m, i, &s, &error);
        if (entry.values / entry.matrices <= COUNT_OF(means))
            (void)gufo_imatrix_importance(m, i, entry.values / entry.matrices, entry.matrices - 1,
                                          means, &error);
    }
}

/* One byte after the other is changed: some of those files open, and then all of it can be used. */
static void test_changed_bytes(void **state)
{
    builder files[] = {make_legacy(), make_gguf(false)};

    (void)state;
    for (size_t k = 0; k < COUNT_OF(files); k++) {
        for (size_t at = 0; at < files[k].len; at++) {
            static const uint8_t changes[] = {0xff, 0x80, 0x01};

            for (size_t i = 0; i < COUNT_OF(changes); i++) {
                uint8_t *copy = builder_exact_copy(&files[k], files[k].len);
                gufo_error error = no_error();

                copy[at] ^= changes[i];
                gufo_imatrix *m = gufo_imatrix_open_memory(copy, files[k].len, NULL, &error);
                if (m != NULL)
                    use(m);
                else
                    check(error.code != GUFO_OK, "byte %zu", at);
                gufo_imatrix_free(m);
                free(copy);
            }
        }
        builder_free(&files[k]);
    }
}

/* A file that becomes shorter while it is open. */
static void test_truncated_meanwhile(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "imatrix");

    (void)state;
    for (unsigned gguf = 0; gguf < 2; gguf++) {
        builder b = gguf ? make_gguf(false) : make_legacy();
        gufo_error error = no_error();
        float means[3];

        write_file(path.text, b.data, b.len);
        gufo_imatrix *m = gufo_imatrix_open(path.text, NULL, &error);
        check(m != NULL, "%s", error.message);
        write_file(path.text, b.data, 20);
        check_status(gufo_imatrix_importance(m, 0, 3, 0, means, &error), GUFO_E_TRUNCATED, &error,
                     "%u", gguf);
        gufo_imatrix_free(m);
        builder_free(&b);
    }
    folder_remove(&f);
}

/* An input that becomes shorter after merging: reading, looking through and writing fail. */
static void test_merged_truncated_meanwhile(void **state)
{
    folder f = folder_new(), outputs = folder_new();
    path_text path = folder_path(&f, "imatrix"), out = folder_path(&outputs, "out");

    (void)state;
    for (unsigned gguf = 0; gguf < 2; gguf++) {
        builder b = gguf ? make_gguf(false) : make_legacy();
        gufo_error error = no_error();
        gufo_imatrix_statistics s;
        float numbers[3];

        write_file(path.text, b.data, b.len);
        gufo_imatrix *m = gufo_imatrix_open(path.text, NULL, &error);
        check(m != NULL, "%s", error.message);
        gufo_imatrix *sum = gufo_imatrix_merge((const gufo_imatrix *[]){m, m}, 2, NULL, &error);
        check(sum != NULL, "%s", error.message);
        for (unsigned format = 0; format < 2; format++) {
            write_file(path.text, b.data, b.len);
            gufo_job_options options = {.path = out.text};
            gufo_job *job = gufo_job_imatrix(sum, (gufo_imatrix_format)format, NULL, &error);
            check(job != NULL, "%s", error.message);
            write_file(path.text, b.data, 20);
            check_status(gufo_job_run(job, &options, NULL, &error), GUFO_E_TRUNCATED, &error,
                         "write");
            check(error.role == GUFO_FILE_IMPORTANCE, "role %d", (int)error.role);
            check_str(gufo_str_of(error.file), path.text, "the file that failed");
            gufo_job_free(job);
            check_u64(entry_count(outputs.path), 0, "nothing is left");
        }
        check_status(gufo_imatrix_importance(sum, 0, 3, 0, numbers, &error), GUFO_E_TRUNCATED,
                     &error, "importance");
        check_status(gufo_imatrix_read_sums(sum, 0, 0, 3, numbers, &error), GUFO_E_TRUNCATED,
                     &error, "sums");
        check_status(gufo_imatrix_scan(sum, 1, &s, &error), GUFO_E_TRUNCATED, &error, "scan");
        if (gguf) { /* the other format has its counts in memory */
            check_status(gufo_imatrix_read_counts(sum, 0, 0, 1, numbers, &error), GUFO_E_TRUNCATED,
                         &error, "counts");
            check(!plannable(sum, GUFO_IMATRIX_LEGACY, &error), "planning needs counts");
            check_error_shape(&error, GUFO_E_TRUNCATED, "planning");
        }
        gufo_imatrix_free(sum);
        gufo_imatrix_free(m);
        builder_free(&b);
    }
    folder_remove(&f);
    folder_remove(&outputs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_legacy_damage),
        cmocka_unit_test(test_duplicate),
        cmocka_unit_test(test_long_name),
        cmocka_unit_test(test_legacy_prefixes),
        cmocka_unit_test(test_something_else),
        cmocka_unit_test(test_gguf_damage),
        cmocka_unit_test(test_odd_metadata),
        cmocka_unit_test(test_zero_metadata),
        cmocka_unit_test(test_changed_bytes),
        cmocka_unit_test(test_truncated_meanwhile),
        cmocka_unit_test(test_merged_truncated_meanwhile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
