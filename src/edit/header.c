/* The first bytes of the new file.
 *
 * Tensor data stays as it is, so every tensor keeps its offset from the beginning of the data.  What
 * moves is that beginning: to where the caller wants it, with a key gufo.padding that fills the room.
 * Its value is a string of spaces, which costs a reader no more than any other string; an array
 * would cost some of them an object per element. */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "edit/edit.h"

enum {
    AT_ENTRY_COUNT = 16,
    /* Key length, key, type, length of the string. */
    PADDING_SIZE = 8 + (sizeof GUFO_PADDING_KEY - 1) + 4 + 8,
};

/* ---- entries -------------------------------------------------------------------------------- */

/* A number with its bits as they are. */
static bool encode_bits(encoder *e, const gufo_model *file, const gufo_entry *entry)
{
    size_t width = gufo_value_type_size(entry->value.type);
    void *to = buffer_extend(&e->out, width);

    if (to != NULL)
        copy_numbers(to, model_file(file)->source.base + entry->value_offset, 1, width,
                     (model_file(file)->encoding.byte_order == GUFO_BIG_ENDIAN) != e->big);
    return to != NULL;
}

gufo_status encode_entry_value(encoder *e, const gufo_model *file, uint64_t index,
                               gufo_error *error)
{
    gufo_entry entry;
    bool done;

    (void)gufo_metadata_at(file, index, &entry);
    done = encode_u32(e, (uint32_t)entry.value.type);
    if (done && entry.value.type == GUFO_VALUE_ARRAY)
        return encode_array(e, &entry.value.as.array, 1, error);
    if (done && entry.value.type == GUFO_VALUE_STRING)
        done = encode_string(e, entry.value.as.str);
    else if (done)
        done = encode_bits(e, file, &entry);
    return done ? GUFO_OK : fail_memory(error);
}

static gufo_status encode_entries(new_header *h, const gufo_edit *edit, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; status == GUFO_OK && i < edit->slots.count; i++) {
        const slot *s = edit_slot(edit, i);

        status = encode_string(&h->out, edit_entry(s).key) ? GUFO_OK : fail_memory(error);
        if (status == GUFO_OK)
            status = encode_entry_value(&h->out, s->from, s->index, error);
    }
    return status;
}

static bool encode_info(encoder *e, const gufo_tensor *tensor, gufo_str name, uint64_t offset)
{
    bool done = encode_string(e, name) && encode_u32(e, tensor->n_dims);

    for (uint32_t i = 0; done && i < tensor->n_dims; i++)
        done = encode_u64(e, tensor->dims[i]);
    return done && encode_u32(e, tensor->type) && encode_u64(e, offset);
}

static bool encode_infos(new_header *h, const gufo_edit *edit)
{
    uint64_t begin = gufo_model_facts(edit->file).data_offset;
    bool done = true;
    gufo_tensor tensor;

    for (uint64_t i = 0; done && gufo_tensor_at(edit->file, i, &tensor); i++)
        done = encode_info(&h->infos, &tensor, edit_tensor_name(edit, i, &tensor),
                           tensor.offset - begin);
    return done;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Any number is taken: what it may be is checked when the header is read again. */
static uint64_t find_alignment(const gufo_edit *edit)
{
    uint64_t alignment;
    gufo_value value;

    if (!gufo_edit_find(edit, GUFO_ALIGNMENT_KEY, &value) ||
        gufo_value_u64(&value, &alignment, NULL) != GUFO_OK || alignment == 0)
        return GUFO_DEFAULT_ALIGNMENT;
    return alignment;
}

gufo_status new_header_make(new_header *h, const gufo_edit *edit, gufo_error *error)
{
    uint32_t version = gufo_model_facts(edit->file).version;
    gufo_status status;
    bool done;

    *h = (new_header){.alignment = find_alignment(edit),
                      .version = version < 2 || edit->lay_anew ? 3 : version};
    h->relaid = edit->lay_anew || h->alignment != gufo_model_facts(edit->file).alignment;
    h->out.out.allocator = h->infos.out.allocator = &edit->allocator;
    h->out.big = h->infos.big = gufo_model_facts(edit->file).byte_order == GUFO_BIG_ENDIAN;
    h->entry_count = edit->slots.count;
    done = encode_bytes(&h->out, "GGUF", 4) && encode_u32(&h->out, h->version) &&
           encode_u64(&h->out, h->relaid ? 0 : gufo_tensor_count(edit->file)) &&
           encode_u64(&h->out, h->entry_count) && (h->relaid || encode_infos(h, edit));
    status = done ? encode_entries(h, edit, error) : fail_memory(error);
    h->entries_end = h->out.out.len;
    if (status != GUFO_OK)
        new_header_free(h);
    return status;
}

void new_header_free(new_header *h)
{
    buffer_free(&h->out.out);
    buffer_free(&h->infos.out);
}

uint64_t new_header_size(const new_header *h)
{
    return h->entries_end + h->infos.out.len;
}

bool new_header_fits(const new_header *h, uint64_t data_offset)
{
    uint64_t size = new_header_size(h);

    return size <= data_offset &&
           (data_offset - size < h->alignment || data_offset - size >= PADDING_SIZE);
}

bool common_multiple(uint64_t a, uint64_t b, uint64_t *out)
{
    uint64_t x = a, y = b;

    while (y != 0) {
        uint64_t rest = x % y;

        x = y;
        y = rest;
    }
    return checked_mul(a / x, b, out);
}

bool new_header_place(const new_header *h, uint64_t base, uint64_t unit, uint64_t reserve,
                      uint64_t *out)
{
    uint64_t least, far;

    *out = base;
    if (!checked_add(new_header_size(h), reserve, &least))
        return false;
    if (least > base &&
        !(checked_mul((least - base - 1) / unit + 1, unit, &far) && checked_add(base, far, out)))
        return false;
    /* Two steps at most: one of them leaves room for the key. */
    while (!new_header_fits(h, *out))
        if (!checked_add(*out, unit, out))
            return false;
    return *out <= INT64_MAX;
}

/* Adds gufo.padding so that everything ends at `data_offset`, if zeros cannot do that. */
static bool encode_padding(new_header *h, uint64_t data_offset)
{
    uint64_t room = data_offset - new_header_size(h);
    void *spaces;

    h->padding = room < h->alignment ? 0 : room;
    if (h->padding == 0)
        return true;
    if (!encode_string(&h->out, gufo_str_of(GUFO_PADDING_KEY)) ||
        !encode_u32(&h->out, GUFO_VALUE_STRING) || !encode_u64(&h->out, room - PADDING_SIZE))
        return false;
    spaces = buffer_extend(&h->out.out, room - PADDING_SIZE);
    if (spaces != NULL)
        memset(spaces, ' ', (size_t)(room - PADDING_SIZE));
    return spaces != NULL;
}

/* Reads the header as any reader will. */
static gufo_status check_readable(const new_header *h, const gufo_edit *edit, uint64_t data_offset,
                                  gufo_error *error)
{
    const gufo_open_options options = {.flags = GUFO_OPEN_METADATA_ONLY | GUFO_OPEN_INCOMPLETE,
                                       .allocator = &edit->allocator};
    gufo_model *file = gufo_open_memory(h->out.out.data, h->out.out.len, &options, error);
    uint64_t found;

    if (file == NULL)
        return error != NULL ? error->code : GUFO_E_MALFORMED;
    found = gufo_model_facts(file).data_offset;
    gufo_close(file);
    if (found != data_offset)
        return fail_with(error, GUFO_E_CHANGED, GUFO_NO_OFFSET,
                         "the file was changed while it was being edited");
    return GUFO_OK;
}

gufo_status new_header_lay(new_header *h, const gufo_edit *edit, uint64_t data_offset,
                           gufo_error *error)
{
    encoder *e = &h->out;
    uint64_t count;
    void *zeros;
    bool done;

    e->out.len = (size_t)h->entries_end;
    done = encode_padding(h, data_offset) && encode_bytes(e, h->infos.out.data, h->infos.out.len);
    zeros = done ? buffer_extend(&e->out, data_offset - e->out.len) : NULL;
    if (zeros == NULL)
        return fail_memory(error);
    memset(zeros, 0, (size_t)(e->out.data + e->out.len - (uint8_t *)zeros));
    count = h->entry_count + (h->padding > 0);
    copy_numbers(e->out.data + AT_ENTRY_COUNT, &count, 1, sizeof count, bytes_swapped(e->big));
    return check_readable(h, edit, data_offset, error);
}
