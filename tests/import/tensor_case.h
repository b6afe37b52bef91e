/* Small models for tests of operations on tensors: a folder with a configuration and tensors, what is
 * planned of it, and the bytes that a job makes of the plan.
 *
 * The numbers of tensors are made so that each says which one it is: number i of a tensor has the bits
 * of number_bits(dtype, i). */
#ifndef TEST_IMPORT_TENSOR_CASE_H
#define TEST_IMPORT_TENSOR_CASE_H

#include "../support/safetensors_maker.h"
#include "config_folder.h"
#include "import/architectures/operations/tensors.h"
#include "import/packed/packed.h"
#include "place.h"

enum { MOST_NUMBERS = 1 << 16 };

typedef struct tensor_case {
    folder folder;
    model_config config;
    checkpoint checkpoint;
    packed_set packed;
    gufo_import import;
    tensor_plan plan;
    uint8_t *bytes; /* of all tensors, one after the other */
    uint64_t tokens;
} tensor_case;

static inline size_t dtype_size(const char *dtype)
{
    return strcmp(dtype, "F64") == 0 || strcmp(dtype, "I64") == 0    ? 8
           : strcmp(dtype, "F32") == 0                               ? 4
           : strcmp(dtype, "F16") == 0 || strcmp(dtype, "BF16") == 0 ? 2
                                                                     : 1;
}

/* The bits of number `index`: 1 + index / 16384 in F32 and 2^-7 steps in the others. */
static inline uint32_t number_bits(const char *dtype, uint64_t index)
{
    if (strcmp(dtype, "F32") == 0)
        return 0x3f800000u + (uint32_t)index * 16;
    return (strcmp(dtype, "F16") == 0 ? 0x3c00u : 0x3f80u) ^ ((uint32_t)index & 0x7fffu);
}

/* Numbers of a tensor; `first`: that of its first one. */
static inline uint8_t *made_numbers(const char *dtype, uint64_t first, uint64_t count)
{
    size_t size = dtype_size(dtype);
    uint8_t *bytes = malloc((size_t)count * size + 1);

    check(bytes != NULL, "memory");
    for (uint64_t i = 0; i < count; i++)
        for (size_t k = 0; k < size; k++)
            bytes[i * size + k] = (uint8_t)(number_bits(dtype, first + i) >> 8 * k);
    return bytes;
}

/* Opens a model; what it plans is in case->plan. */
static inline gufo_status case_open(tensor_case *c, const char *config, const char *arch,
                                    const safetensor *tensors, size_t count, uint64_t tokens,
                                    gufo_error *error)
{
    gufo_status status;
    gufo_document_options options = {0};

    memset(c, 0, sizeof *c);
    c->config = config_of(&c->folder, config, arch);
    safetensors_write(folder_path(&c->folder, "model.safetensors").text, tensors, count);
    c->import.allocator = *c->config.allocator;
    c->import.document = gufo_document_new(&options, error);
    status =
        checkpoint_open(&c->checkpoint, PLACE_AT(c->folder.path), NULL, c->config.allocator, error);
    if (status == GUFO_OK)
        status = packed_find(&c->packed, &c->checkpoint, &c->config, error);
    if (status == GUFO_OK)
        status = tensors_plan(&c->plan,
                              &(tensors_request){.import = &c->import,
                                                 .document = c->import.document,
                                                 .checkpoint = &c->checkpoint,
                                                 .config = &c->config,
                                                 .tokens = tokens},
                              error);
    return status;
}

static inline void case_close(tensor_case *c)
{
    free(c->bytes);
    tensor_plan_free(&c->plan);
    packed_free(&c->packed);
    checkpoint_close(&c->checkpoint);
    gufo_document_free(c->import.document);
    for (uint64_t i = 0; i < c->import.warning_count; i++)
        c->import.allocator.resize(c->import.allocator.context, c->import.warnings[i], 0);
    if (c->import.warnings != NULL)
        c->import.allocator.resize(c->import.allocator.context, c->import.warnings, 0);
    config_done(&c->folder, &c->config);
}

static inline uint64_t planned_size(const planned_tensor *t)
{
    return t->dims[0] * t->dims[1] * t->dims[2] * t->dims[3] * t->type->block_bytes;
}

static inline uint64_t planned_place(const tensor_case *c, const planned_tensor *t)
{
    uint64_t at = 0;

    for (const planned_tensor *i = c->plan.tensors; i < t; i++)
        at += planned_size(i);
    return at;
}

static inline gufo_status add_planned(gufo_job *job, const tensor_plan *plan,
                                      const planned_tensor *t, uint64_t place, gufo_error *error)
{
    plain_piece room;
    piece p = *planned_piece(plan, t, &room);
    made result = {.type = t->type, .place = place};

    result.row_bytes = p.columns * t->type->block_bytes;
    result.encode = p.n_ops > 0;
    for (uint32_t i = 0; i < p.n_sources; i++)
        result.encode = result.encode || p.sources[i].type != t->type;
    check(p.how != PIECE_MOVE || !result.encode, "%s: numbers that change are not moved", t->name);
    p.made = &result;
    p.n_made = 1;
    return job_add_piece(job, &p, error);
}

/* Makes all tensors, in their types, into case->bytes. */
static inline void case_make(tensor_case *c)
{
    path_text out = folder_path(&c->folder, "out");
    gufo_error error = no_error();
    gufo_job *job = job_new(NULL, &error);
    job_target target = {.size = planned_place(c, c->plan.tensors + c->plan.count)};
    gufo_job_options options = {.path = out.text};
    uint32_t number;
    size_t size;

    for (uint32_t i = 0; i < c->checkpoint.file_count; i++) {
        const checkpoint_file *file = &c->checkpoint.files[i];
        const job_input input = {.role = GUFO_FILE_INPUT,
                                 .index = i,
                                 .name = file->path,
                                 .source = &file->source,
                                 .head = file->head};

        check_ok(job_add_input(job, &input, &number, &error), &error, "input");
    }
    check_ok(job_add_target(job, &target, &number, &error), &error, "target");
    for (uint64_t i = 0; i < c->plan.count; i++)
        check_ok(add_planned(job, &c->plan, &c->plan.tensors[i],
                             planned_place(c, &c->plan.tensors[i]), &error),
                 &error, "%s", c->plan.tensors[i].name);
    job = job_planned(job, GUFO_OK, &error);
    check(job != NULL, "%s", error.message);
    check_ok(gufo_job_run(job, &options, NULL, &error), &error, "run");
    gufo_job_free(job);
    c->bytes = read_file(out.text, &size);
    check_u64(size, target.size, "bytes");
}

/* The planned tensor with a name; fails the test if it does not exist. */
static inline const planned_tensor *case_tensor(const tensor_case *c, const char *name)
{
    for (uint64_t i = 0; i < c->plan.count; i++)
        if (strcmp(c->plan.tensors[i].name, name) == 0)
            return &c->plan.tensors[i];
    check_failed(__FILE__, __LINE__, "planned", "%s", name);
}

/* The float that bits of a type are. */
static inline float float_of(const char *dtype, uint32_t bits)
{
    float value;

    if (strcmp(dtype, "F16") == 0)
        return (float)((bits & 0x8000u) != 0 ? -1 : 1) *
               ((bits & 0x7c00u) == 0 ? (float)(bits & 0x3ffu) / 16777216.0f
                                      : (float)((bits & 0x3ffu) + 1024) / 1024.0f *
                                            (float)(1u << ((bits >> 10 & 31u) + 1)) / 65536.0f);
    bits = strcmp(dtype, "BF16") == 0 ? bits << 16 : bits;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Number `index` of a tensor as a float, wherever it is stored. */
static inline float made_float(const tensor_case *c, const planned_tensor *t, uint64_t index)
{
    const uint8_t *at = c->bytes + planned_place(c, t) + index * t->type->block_bytes;
    uint32_t bits = 0;

    for (uint32_t k = 0; k < t->type->block_bytes; k++)
        bits |= (uint32_t)at[k] << 8 * k;
    return float_of(t->type->name, bits);
}

/* Checks that number i of a planned tensor is number map[i] of those that `dtype` sources have. */
static inline void check_map(const tensor_case *c, const char *name, const char *dtype,
                             uint32_t n_dims, const uint64_t *dims, const uint32_t *map)
{
    const planned_tensor *t = case_tensor(c, name);
    const uint8_t *at = c->bytes + planned_place(c, t);
    uint64_t count = 1;

    check_u64(t->n_dims, n_dims, "dimensions of %s", name);
    for (uint32_t i = 0; i < n_dims; i++) {
        check_u64(t->dims[i], dims[i], "dimension %u of %s", i, name);
        count *= dims[i];
    }
    check(t->keeps_type ? strcmp(t->type->name, "F32") == 0 : strcmp(t->type->name, dtype) == 0,
          "type of %s: %s", name, t->type->name);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t expected = number_bits(dtype, map[i]);

        if (strcmp(t->type->name, dtype) != 0)
            check(made_float(c, t, i) == float_of(dtype, expected), "%s %s: number %" PRIu64, name,
                  dtype, i);
        else
            for (size_t k = 0; k < dtype_size(dtype); k++)
                check_u64(at[i * dtype_size(dtype) + k], (uint8_t)(expected >> 8 * k),
                          "%s %s: number %" PRIu64, name, dtype, i);
    }
}

#endif
