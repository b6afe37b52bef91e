/* The life of a copy, and what callers ask about its plan. */
#include "edit/copy.h"

#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "format/model.h"

/* ---- life ----------------------------------------------------------------------------------- */

gufo_copy *copy_new(const gufo_model *input, const gufo_allocator *allocator, gufo_error *error)
{
    const gufo_model *first = gufo_model_shard(input, 0);
    gufo_copy *c;

    if (model_need_files(input, "bytes to copy", error) != GUFO_OK)
        return NULL;
    if (allocator == NULL)
        allocator = &default_allocator;
    c = mem_zero(allocator, sizeof *c);
    if (c == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    c->allocator = *allocator;
    c->input = input;
    c->encoding.version = gufo_model_facts(first).version == 2 ? 2 : 3;
    c->encoding.byte_order = (uint8_t)gufo_model_facts(first).byte_order;
    c->keeps_key = is_no_split_key;
    return c;
}

void gufo_copy_free(gufo_copy *c)
{
    gufo_allocator allocator;

    if (c == NULL)
        return;
    allocator = c->allocator;
    copy_targets_discard(c);
    for (size_t i = 0; c->paths != NULL && i < c->output_count; i++)
        mem_free(&allocator, c->paths[i]);
    mem_free(&allocator, c->paths);
    mem_free(&allocator, c->files);
    mem_free(&allocator, (void *)c->temporaries);
    mem_free(&allocator, c->header);
    mem_free(&allocator, c->outputs);
    mem_free(&allocator, c->pieces);
    mem_free(&allocator, c);
}

/* ---- planning ------------------------------------------------------------------------------- */

/* Memory for `count` records; NULL without, or where that many cannot be. */
static void *reserve(const gufo_copy *c, uint64_t count, size_t size)
{
    uint64_t bytes;

    if (!checked_mul(count, size, &bytes) || bytes > SIZE_MAX)
        return NULL;
    return mem_zero(&c->allocator, (size_t)bytes);
}

gufo_status copy_reserve_pieces(gufo_copy *c, uint64_t count, gufo_error *error)
{
    c->pieces = reserve(c, count + 1, sizeof *c->pieces);
    return c->pieces != NULL ? GUFO_OK : fail_memory(error);
}

piece *copy_add_piece(gufo_copy *c, uint64_t index, piece_method method)
{
    piece *p = &c->pieces[c->piece_count++];

    (void)gufo_tensor_at(c->input, index, &p->source);
    p->shard = p->source.shard;
    p->type = gufo_element_type_by_id(p->source.type);
    p->method = method;
    p->size = p->source.size;
    return p;
}

gufo_status copy_add_all_pieces(gufo_copy *c, piece_method method, gufo_error *error)
{
    uint64_t count = gufo_tensor_count(c->input);
    gufo_status status = copy_reserve_pieces(c, count, error);

    for (uint64_t i = 0; status == GUFO_OK && i < count; i++)
        (void)copy_add_piece(c, i, method);
    return status;
}

gufo_status copy_add_output(gufo_copy *c, uint64_t count, gufo_error *error)
{
    const copy_output *last = c->output_count > 0 ? &c->outputs[c->output_count - 1] : NULL;
    uint64_t first = last != NULL ? last->first_piece + last->piece_count : 0;

    if (c->output_count == c->output_room) {
        size_t room = 2 * c->output_room + 1;
        copy_output *larger = mem_resize(&c->allocator, c->outputs, room * sizeof *larger);

        if (larger == NULL)
            return fail_memory(error);
        c->outputs = larger;
        c->output_room = room;
    }
    c->outputs[c->output_count++] = (copy_output){.first_piece = first, .piece_count = count};
    return GUFO_OK;
}

/* Lays out the GGUF file that output `index` will be. */
static gufo_status lay_out(gufo_copy *c, size_t index, gufo_error *error)
{
    copy_output *out = &c->outputs[index];
    gufo_writer *header;
    gufo_layout layout;
    gufo_status status = copy_header(c, index, &header, error);

    if (status != GUFO_OK)
        return status;
    (void)gufo_writer_layout(header, &layout, NULL);
    out->size = layout.file_size;
    for (uint64_t i = 0; i < out->piece_count; i++) {
        piece *p = &c->pieces[out->first_piece + i];

        (void)gufo_writer_tensor(header, i, &p->place, &p->size);
    }
    gufo_writer_free(header);
    return GUFO_OK;
}

static gufo_status cut_pieces(gufo_copy *c, copy_output *out, gufo_error *error)
{
    for (uint64_t i = 0; i < out->piece_count; i++) {
        piece *p = &c->pieces[out->first_piece + i];
        gufo_status status = piece_cut(p, out->units, error);

        if (status != GUFO_OK)
            return status;
        out->units += p->units;
        out->data_size += p->size;
    }
    c->total += out->data_size;
    return GUFO_OK;
}

gufo_copy *copy_planned(gufo_copy *c, gufo_status status, gufo_error *error)
{
    for (size_t i = 0; i < c->output_count && status == GUFO_OK; i++) {
        if (!c->foreign)
            status = lay_out(c, i, error);
        if (status == GUFO_OK)
            status = cut_pieces(c, &c->outputs[i], error);
    }
    if (status == GUFO_OK && !c->foreign)
        status = copy_note_normalised(c, error);
    if (status == GUFO_OK) {
        c->temporaries = reserve(c, c->output_count, sizeof *c->temporaries);
        status = c->temporaries != NULL ? GUFO_OK : fail_memory(error);
    }
    if (status == GUFO_OK)
        return c;
    gufo_copy_free(c);
    return NULL;
}

bool is_no_split_key(gufo_str key)
{
    static const char *const keys[] = {SPLIT_NO_KEY, SPLIT_COUNT_KEY, SPLIT_TENSORS_KEY,
                                       SPLIT_ID_KEY};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (gufo_str_equal(key, gufo_str_of(keys[i])))
            return false;
    return true;
}

/* ---- questions ------------------------------------------------------------------------------ */

size_t gufo_copy_output_count(const gufo_copy *c)
{
    return c->output_count;
}

bool gufo_copy_output_at(const gufo_copy *c, size_t index, gufo_copy_output *out)
{
    if (index >= c->output_count)
        return false;
    *out = (gufo_copy_output){.size = c->outputs[index].size,
                              .tensor_count = c->outputs[index].piece_count,
                              .data_size = c->outputs[index].data_size};
    return true;
}

size_t gufo_copy_output_path(const gufo_copy *c, const char *path, size_t index, char *out,
                             size_t size)
{
    size_t prefix_len = strlen(path), len = prefix_len;
    uint32_t number, count;

    if (c->naming == NAMED_SET)
        (void)gufo_shard_path_parse(path, &prefix_len, &number, &count);
    if (c->naming != NAMED_FILE)
        return gufo_shard_path_format(out, size, path, prefix_len, (uint32_t)index + 1,
                                      (uint32_t)c->output_count);
    if (size > 0) {
        size_t fits = len < size ? len : size - 1;

        memcpy(out, path, fits);
        out[fits] = '\0';
    }
    return len;
}

uint32_t gufo_copy_normalised(const gufo_copy *c)
{
    return c->normalised;
}

const char *gufo_copy_failed_path(const gufo_copy *c)
{
    return c->failed_path;
}

const char *volatile const *gufo_copy_temporaries(const gufo_copy *c)
{
    return c->temporaries;
}
