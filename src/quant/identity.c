/* The identity of a run: two hashes. */
#include "quant/identity.h"

#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "format/model.h"

enum { PIECE = 4096 };

/* A chain: each piece is hashed with what the pieces before it gave as key. */
static void chain(uint64_t *hash, const void *data, size_t size)
{
    *hash = hash_text((hash_key){*hash, size}, (gufo_str){data, size});
}

static void chain_u64(uint64_t *hash, uint64_t number)
{
    chain(hash, &number, sizeof number);
}

/* ---- input ---------------------------------------------------------------------------------- */

static gufo_status chain_shard(uint64_t *hash, const gufo_model *file, gufo_error *error)
{
    uint64_t end = gufo_model_facts(file).data_offset;
    gufo_status status = GUFO_OK;
    uint8_t bytes[PIECE];
    struct stat info;

    if (end >
        gufo_model_facts(file).size) /* of a file without tensors, which may lack the padding */
        end = gufo_model_facts(file).size;
    chain_u64(hash, gufo_model_facts(file).size);
    if (model_file(file)->source.fd >= 0 && fstat(model_file(file)->source.fd, &info) == 0) {
        chain_u64(hash, (uint64_t)info.st_mtim.tv_sec);
        chain_u64(hash, (uint64_t)info.st_mtim.tv_nsec);
    }
    for (uint64_t at = 0; at < end && status == GUFO_OK; at += PIECE) {
        size_t size = (size_t)(end - at < PIECE ? end - at : PIECE);

        status = gufo_model_read_raw(file, at, bytes, size, error);
        if (status == GUFO_OK)
            chain(hash, bytes, size);
    }
    return status;
}

gufo_status identity_input(gufo_quantizer *q, uint64_t *out, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    *out = 0;
    for (size_t i = 0; i < gufo_model_shard_count(q->input) && status == GUFO_OK; i++) {
        status = chain_shard(out, gufo_model_shard(q->input, i), error);
        if (status != GUFO_OK)
            q->failed_path = gufo_model_name(gufo_model_shard(q->input, i));
    }
    return status;
}

/* ---- options -------------------------------------------------------------------------------- */

static gufo_status chain_entry(uint64_t *hash, const gufo_imatrix *imatrix, uint64_t index,
                               gufo_error *error)
{
    float numbers[PIECE / sizeof(float)];
    const uint64_t most = PIECE / sizeof(float);
    gufo_status status = GUFO_OK;
    gufo_imatrix_entry entry;

    (void)gufo_imatrix_entry_at(imatrix, index, &entry);
    chain(hash, entry.name.data, entry.name.len);
    for (uint64_t at = 0; at < entry.values && status == GUFO_OK; at += most) {
        uint64_t count = entry.values - at < most ? entry.values - at : most;

        status = gufo_imatrix_read_sums(imatrix, index, at, count, numbers, error);
        if (status == GUFO_OK)
            chain(hash, numbers, (size_t)count * sizeof *numbers);
    }
    for (uint64_t at = 0; at < entry.matrices && status == GUFO_OK; at += most) {
        uint64_t count = entry.matrices - at < most ? entry.matrices - at : most;

        status = gufo_imatrix_read_counts(imatrix, index, at, count, numbers, error);
        if (status == GUFO_OK)
            chain(hash, numbers, (size_t)count * sizeof *numbers);
    }
    return status;
}

gufo_status identity_options(const gufo_quantizer *q, uint64_t *out, gufo_error *error)
{
    const gufo_imatrix *imatrix = q->options.importance;
    gufo_status status = GUFO_OK;

    *out = 0;
    for (size_t i = 0; i < q->output_count; i++) {
        size_t size;
        const void *header = gufo_writer_header(q->outputs[i].writer, &size);

        chain(out, header, size);
    }
    chain_u64(out, (uint64_t)q->options.effort);
    chain_u64(out, q->options.flags & GUFO_QUANTIZE_KEEP_NONFINITE);
    for (uint64_t i = 0; i < q->tensor_count; i++) {
        chain(out, q->tensors[i].source.name.data, q->tensors[i].source.name.len);
        chain_u64(out, q->tensors[i].has_importance);
    }
    for (uint64_t i = 0; imatrix != NULL && i < gufo_imatrix_entry_count(imatrix); i++)
        if (status == GUFO_OK)
            status = chain_entry(out, imatrix, i, error);
    return status;
}
