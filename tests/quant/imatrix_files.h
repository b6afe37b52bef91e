/* Importance matrices of both formats, byte by byte.
 *
 *     entry        columns  matrices  chunks   means
 *     plain        3        1         4        0.5 1.5 2.25
 *     experts      2        3         2        1 2 | none | 3 4     (none: no token came there) */
#ifndef TEST_QUANT_IMATRIX_FILES_H
#define TEST_QUANT_IMATRIX_FILES_H

#include "../support/folder.h"

#define PLAIN "blk.0.attn_q.weight"
#define EXPERTS "blk.0.ffn_down_exps.weight"

enum { TOKENS = 512 }; /* of a chunk */

static inline void legacy_text(builder *b, const char *text)
{
    builder_u32(b, (uint32_t)strlen(text));
    builder_raw(b, text, strlen(text));
}

static inline void legacy_entry(builder *b, const char *name, uint32_t calls, uint32_t count,
                                const float *values)
{
    legacy_text(b, name);
    builder_u32(b, calls);
    builder_u32(b, count);
    for (uint32_t i = 0; i < count; i++)
        builder_f32(b, values[i]);
}

/* Means times calls; a third of one to see rounding. */
static inline builder make_legacy(void)
{
    builder b = builder_new((encoding){3, false});

    builder_u32(&b, 2);
    legacy_entry(&b, PLAIN, 4, 3, (const float[]){2, 6, 9});
    legacy_entry(&b, EXPERTS, 3, 6, (const float[]){1.0f / 3, 6, 3, 3, 1e-39f, 1e35f});
    builder_u32(&b, 4);
    legacy_text(&b, "calibration.txt");
    return b;
}

static inline void gguf_head(builder *b, uint32_t chunks, uint64_t tensors)
{
    builder_header(b, tensors, 4);
    builder_kv_str(b, "general.type", "imatrix");
    builder_kv_array(b, "imatrix.datasets", GUFO_VALUE_STRING, 2);
    builder_str(b, "first.txt");
    builder_str(b, "second.txt");
    builder_kv_u32(b, "imatrix.chunk_count", chunks);
    builder_kv_u32(b, "imatrix.chunk_size", TOKENS);
}

static inline void gguf_floats(builder *b, size_t count, const float *values)
{
    builder_pad(b, 32);
    for (size_t i = 0; i < count; i++)
        builder_f32(b, values[i]);
}

static inline builder make_gguf(bool big)
{
    builder b = builder_new((encoding){3, big});

    gguf_head(&b, 4, 4);
    builder_tensor(&b, PLAIN ".in_sum2", GUFO_TYPE_F32, 2, (uint64_t[]){3, 1}, 0);
    builder_tensor(&b, PLAIN ".counts", GUFO_TYPE_F32, 2, (uint64_t[]){1, 1}, 32);
    builder_tensor(&b, EXPERTS ".in_sum2", GUFO_TYPE_F32, 2, (uint64_t[]){2, 3}, 64);
    builder_tensor(&b, EXPERTS ".counts", GUFO_TYPE_F32, 2, (uint64_t[]){1, 3}, 96);
    gguf_floats(&b, 3, (const float[]){0.5f * 2048, 1.5f * 2048, 2.25f * 2048});
    gguf_floats(&b, 1, (const float[]){2048});
    gguf_floats(&b, 6, (const float[]){1000, 2000, 0, 0, 3, 4});
    gguf_floats(&b, 3, (const float[]){1000, 0, 1});
    builder_pad(&b, 32);
    return b;
}

static inline gufo_imatrix *imatrix_of(const builder *b, const char *label)
{
    gufo_error error = no_error();
    gufo_imatrix *m = gufo_imatrix_open_memory(b->data, b->len, NULL, &error);

    check(m != NULL, "%s: %s", label, error.message);
    return m;
}

static inline uint64_t entry_of(const gufo_imatrix *m, const char *name)
{
    gufo_imatrix_entry entry;
    uint64_t index = 0;

    while (gufo_imatrix_entry_at(m, index, &entry) &&
           !gufo_str_equal(entry.name, gufo_str_of(name)))
        index++;
    check(index < gufo_imatrix_entry_count(m), "%s", name);
    return index;
}

static inline void check_importance(const gufo_imatrix *m, const char *name, uint64_t columns,
                                    uint64_t matrix, const float *expected, const char *label)
{
    float means[8];
    gufo_error error = no_error();

    check_ok(gufo_imatrix_importance(m, entry_of(m, name), columns, matrix, means, &error), &error,
             "%s", label);
    for (uint64_t i = 0; i < columns; i++)
        check(means[i] == expected[i], "%s: column %" PRIu64 ": %.9g, not %.9g", label, i,
              (double)means[i], (double)expected[i]);
}

/* Plans and writes a file; `run` may be NULL. */
static inline gufo_status imatrix_save(const gufo_imatrix *m, gufo_imatrix_format format,
                                       const char *path, bool replace, const gufo_run *run,
                                       gufo_error *error)
{
    gufo_job_options options = {.path = path, .flags = replace ? GUFO_JOB_REPLACE : 0};
    gufo_job *job = gufo_job_imatrix(m, format, NULL, error);
    gufo_status status = job != NULL ? gufo_job_run(job, &options, run, error) : error->code;

    gufo_job_free(job);
    return status;
}

static inline gufo_status imatrix_stream(const gufo_imatrix *m, gufo_imatrix_format format, int fd,
                                         gufo_error *error)
{
    gufo_job *job = gufo_job_imatrix(m, format, NULL, error);
    gufo_status status = job != NULL ? gufo_job_stream(job, fd, NULL, error) : error->code;

    gufo_job_free(job);
    return status;
}

static inline bool plannable(const gufo_imatrix *m, gufo_imatrix_format format, gufo_error *error)
{
    gufo_job *job = gufo_job_imatrix(m, format, NULL, error);

    gufo_job_free(job);
    return job != NULL;
}

static inline bool see_temporary(void *context, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    check(file_exists(gufo_job_temporaries(context)[0]), "temporary file");
    return true;
}

/* Writes to a new file in the folder and returns its bytes. */
static inline uint8_t *written(const gufo_imatrix *m, gufo_imatrix_format format, const char *path,
                               size_t *len)
{
    gufo_error error = no_error();
    gufo_job_options options = {.path = path, .flags = GUFO_JOB_REPLACE};
    gufo_job *job = gufo_job_imatrix(m, format, NULL, &error);
    gufo_run run = {.progress = see_temporary, .progress_context = job};
    gufo_job_output output;

    check(job != NULL, "%s", error.message);
    check(gufo_job_output_count(job) == 1 && gufo_job_output_at(job, 0, &output), "one output");
    check_ok(gufo_job_run(job, &options, &run, &error), &error, "write");
    gufo_job_free(job);
    uint8_t *bytes = read_file(path, len);

    check_u64(*len, output.size, "the size that was planned");
    return bytes;
}

static inline void check_written(const gufo_imatrix *m, gufo_imatrix_format format,
                                 const builder *expected, const char *label)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "out");
    size_t len;
    uint8_t *bytes = written(m, format, path.text, &len);

    check_view(((gufo_str){(char *)bytes, len}),
               ((gufo_str){(char *)expected->data, expected->len}), "%s", label);
    check_u64(entry_count(f.path), 1, "%s: nothing is left beside it", label);
    free(bytes);
    folder_remove(&f);
}

#endif
