/* Model files for the tests of the quantizer, and runs over them. */
#ifndef TEST_SUPPORT_QUANTIZE_H
#define TEST_SUPPORT_QUANTIZE_H

#include "folder.h"

typedef struct test_tensor {
    const char *name;
    uint32_t type;
    uint32_t n_dims;
    uint64_t dims[GUFO_MAX_DIMS];
} test_tensor;

/* Writes a model: entries by `metadata` (which adds `entries` of them), tensors with random weights
 * in the given types.  Weights depend on the tensor's name alone. */
typedef struct test_model {
    encoding encoding;
    uint32_t alignment; /* 0: 32; no key is written */
    void (*metadata)(builder *b);
    uint64_t entries;
    const test_tensor *tensors;
    size_t tensor_count;
} test_model;

void write_model(const char *path, const test_model *model);
/* Writes an importance matrix in the old format, which has no magic and is always little-endian.
 * With a dataset, it also has the number of chunks: 9. */
typedef struct importance_entry {
    const char *name;
    const float *means;
    uint64_t count;
} importance_entry;

void write_importance(const char *path, const importance_entry *entries, size_t count,
                      const char *dataset);
/* The weights of a tensor before they are encoded, to be freed. */
float *test_weights(const test_tensor *tensor, uint64_t *count);

/* Options with TYPE as a user would write it. */
gufo_quantize_options quantize_to(const char *type);
/* How a job of the quantizer is run; NULL: {0}. */
typedef struct quantize_how {
    uint32_t flags;   /* of gufo_job_flags; all runs can be resumed */
    uint64_t stop_at; /* the call of the progress function that asks to stop, from 1; 0: none */
    gufo_run run;     /* its progress function, if there is one, is not asked to stop */
} quantize_how;

gufo_status quantize_run(gufo_quantizer *q, const char *out, const quantize_how *how,
                         gufo_error *error);
/* Opens, plans, runs and closes. */
gufo_status quantize_file(const char *in, const char *out, const gufo_quantize_options *options,
                          const quantize_how *how, gufo_error *error);
/* The same, which has to succeed, and replaces what is there. */
void quantize_well(const char *in, const char *out, const gufo_quantize_options *options,
                   const char *label);

/* The same numbers, to the bit. */
bool same_loss(const gufo_quantize_loss *a, const gufo_quantize_loss *b);

/* All bytes of a tensor of an open file, to be freed. */
uint8_t *tensor_bytes(const gufo_model *file, const char *name, gufo_tensor *tensor);
gufo_model *open_path(const char *path);

/* Fails unless the files are the same. */
void check_same_file(const char *got, const char *expected, const char *label);

#endif
