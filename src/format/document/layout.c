/* The layout of a document: every offset and the size of the file, before a byte of data exists;
 * and the header.
 *
 *     header | entries | gufo.padding | tensor infos | zeros | data ...
 *                                                    ^ metadata_size
 *                                                            ^ data_offset, aligned
 *
 *     packed       ... data 0 | padding | data 1 | padding | ... each offset aligned, also
 *                  padding after the last tensor: ggml requires it, the specification does not
 *     as source    ... whatever follows the data offset of the model, gaps and tail included
 *
 * Zeros before the data are fewer than the alignment.  More room than that is filled by the value
 * of gufo.padding, a string of spaces, which costs a reader no more than any other string; an array
 * would cost some of them an object per element. */
#include "format/document/document.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "format/rules/rules.h"

enum {
    HEADER_SIZE = 4 + 4 + 8 + 8,
    /* Key length, key, type, length of the string. */
    PADDING_SIZE = 8 + (sizeof GUFO_PADDING_KEY - 1) + 4 + 8,
};

uint64_t gufo_document_metadata_size(const gufo_document *document)
{
    return HEADER_SIZE + document->entries_size + document->infos_size;
}

/* ---- options -------------------------------------------------------------------------------- */

static gufo_status check_options(const gufo_layout_options *options, gufo_error *error)
{
    if (options->way != GUFO_LAYOUT_PACKED && options->way != GUFO_LAYOUT_AS_SOURCE)
        return refuse(error, GUFO_E_ARGUMENT, "layout kind %d does not exist", (int)options->way);
    if (options->reserve > GUFO_MAX_RESERVE)
        return refuse(error, GUFO_E_ARGUMENT, "at most 64 MiB can be reserved for later edits");
    return reserved_check(options->reserved, "gufo_layout_options", error);
}

static gufo_status fail_as_source(const char *reason, gufo_error *error)
{
    return refuse(error, GUFO_E_ARGUMENT, "tensors cannot keep their places: %s", reason);
}

/* Whether a tensor has the bytes that it has in the model. */
static bool has_place(const gufo_document *document, const document_tensor *t)
{
    const gufo_model *from = document_tensor_from(document, t);
    gufo_tensor was;

    return from != NULL && from == document->source &&
           gufo_model_tensor_at(from, t->origin, &was) && was.type == t->type &&
           was.offset != GUFO_NO_OFFSET;
}

/* Whether the data of the model can keep its places. */
static gufo_status check_as_source(const gufo_document *document, gufo_error *error)
{
    const gufo_model *model = document->source;
    uint64_t next = 0, slot = 0;
    const document_tensor *t;

    if (model == NULL)
        return fail_as_source("the document was not made from a model", error);
    if (gufo_model_shard_count(model) > 1)
        return fail_as_source("the model has several files", error);
    if (gufo_model_facts(model).data_offset == 0)
        return fail_as_source("those in the model are not known", error);
    if (gufo_document_alignment(document) != gufo_model_facts(model).alignment)
        return fail_as_source("the alignment changes", error);
    if (gufo_document_byte_order(document) != gufo_model_facts(model).byte_order)
        return fail_as_source("the byte order changes", error);
    while ((t = named_list_next(&document->tensors, &slot)) != NULL) {
        if (!has_place(document, t) || t->origin < next)
            return fail_as_source("some were added, or have another type", error);
        next = t->origin + 1; /* one that was copied again comes late, and shares its place */
    }
    return GUFO_OK;
}

/* ---- where the data begins ------------------------------------------------------------------ */

/* The first number from `least` on that leaves `rest` when it is divided by `unit`. */
static bool first_from(uint64_t least, uint64_t unit, uint64_t rest, uint64_t *out)
{
    uint64_t steps = least > rest ? (least - rest - 1) / unit + 1 : 0, far;

    return checked_mul(steps, unit, &far) && checked_add(far, rest, out);
}

/* Finds the data offset, and how long gufo.padding is: 0 where none exists. */
static bool place_data(const gufo_document *document, const gufo_layout_options *options,
                       gufo_layout *out)
{
    uint64_t size = gufo_document_metadata_size(document), alignment = out->alignment;
    uint64_t was = document->source != NULL ? gufo_model_facts(document->source).data_offset : 0;
    uint64_t unit, least, room;

    if (!checked_common_multiple(alignment, options->block == 0 ? alignment : options->block,
                                 &unit) ||
        !checked_add(size, options->reserve, &least))
        return false;
    /* Another alignment than the model's leaves nothing to share. */
    was = was % alignment == 0 ? was % unit : 0;
    if (least < options->minimum)
        least = options->minimum;
    if (!first_from(least, unit, was, &out->data_offset))
        return false;
    /* Few steps: one of them leaves room for the key. */
    while (room = out->data_offset - size, room >= alignment && room < PADDING_SIZE)
        if (!checked_add(out->data_offset, unit, &out->data_offset))
            return false;
    out->padding = room < alignment ? 0 : room;
    out->metadata_size = size + out->padding;
    return out->data_offset <= INT64_MAX;
}

/* ---- where tensors go ----------------------------------------------------------------------- */

bool layout_advance(const gufo_layout *layout, uint64_t size, uint64_t *place)
{
    return checked_add(*place, size, place) && checked_align(*place, layout->alignment, place) &&
           *place <= INT64_MAX; /* the largest size of a file, what off_t holds */
}

static bool place_packed(const gufo_document *document, gufo_layout *out)
{
    uint64_t end = out->data_offset, slot = 0;
    document_tensor *t;

    while ((t = named_list_next(&document->tensors, &slot)) != NULL) {
        t->offset = end;
        if (!layout_advance(out, t->size, &end))
            return false;
    }
    out->file_size = end;
    return true;
}

static bool place_as_source(const gufo_document *document, gufo_layout *out)
{
    uint64_t begin = gufo_model_facts(document->source).data_offset;
    uint64_t size = gufo_model_facts(document->source).size, slot = 0;
    document_tensor *t;
    gufo_tensor was;

    while ((t = named_list_next(&document->tensors, &slot)) != NULL)
        if (gufo_model_tensor_at(document->source, t->origin, &was) &&
            !checked_add(out->data_offset, was.offset - begin, &t->offset))
            return false;
    return checked_add(out->data_offset, size > begin ? size - begin : 0, &out->file_size) &&
           out->file_size <= INT64_MAX;
}

/* ---- padding -------------------------------------------------------------------------------- */

/* An alignment that was read may be as large as 4 GiB, and a file of 100 bytes may claim it: a file
 * that is made from others gets at most twice as much padding as the largest of them has bytes. */
static gufo_status check_padding(const gufo_document *document, const gufo_layout *layout,
                                 gufo_error *error)
{
    uint64_t padding = layout->file_size - layout->metadata_size, slot = 0, room = 0;
    const document_tensor *t;

    if (layout->alignment <= GUFO_MAX_ALIGNMENT)
        return GUFO_OK;
    while ((t = named_list_next(&document->tensors, &slot)) != NULL)
        padding -= smaller(padding, t->size);
    if (document->source != NULL)
        room = gufo_model_facts(document->source).size;
    for (uint64_t i = 0; i < document->models.count; i++)
        room = larger(room, gufo_model_facts(document_model_in(document, i)).size);
    if (padding / 2 <= room)
        return GUFO_OK;
    return refuse(error, GUFO_E_RANGE,
                  "general.alignment is %" PRIu32
                  ", which needs %s bytes of padding; set an alignment up to %u",
                  layout->alignment, GROUPED(padding), GUFO_MAX_ALIGNMENT);
}

gufo_status gufo_document_layout(gufo_document *document, const gufo_layout_options *options,
                                 gufo_layout *out, gufo_error *error)
{
    static const gufo_layout_options standard = {0};
    gufo_layout layout = {.tensor_count = document->tensors.count,
                          .alignment = gufo_document_alignment(document),
                          .way = options != NULL ? options->way : GUFO_LAYOUT_PACKED};
    gufo_status status;
    bool as_source;

    options = options != NULL ? options : &standard;
    as_source = options->way == GUFO_LAYOUT_AS_SOURCE;
    status = check_options(options, error);
    if (status == GUFO_OK && as_source)
        status = check_as_source(document, error);
    if (status != GUFO_OK)
        return status;
    document_touch(document);
    if (!place_data(document, options, &layout) ||
        !(as_source ? place_as_source : place_packed)(document, &layout))
        return refuse(error, GUFO_E_RANGE, "the file would be larger than any file can be");
    status = check_padding(document, &layout, error);
    if (status != GUFO_OK)
        return status;
    if (layout.padding > 0 && gufo_document_find(document, GUFO_PADDING_KEY, NULL))
        return rule_failure(error, RULE_KEY_DUPLICATE,
                            "padding is needed, but there is a key \"" GUFO_PADDING_KEY
                            "\" that was not made for it");
    document->layout = layout;
    document->laid_out = true;
    if (out != NULL)
        *out = layout;
    return GUFO_OK;
}

/* ---- the header ----------------------------------------------------------------------------- */

static gufo_status encode_entries(const gufo_document *document, encoder *e, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    const document_entry *entry;
    uint64_t slot = 0;

    while (status == GUFO_OK && (entry = named_list_next(&document->entries, &slot)) != NULL) {
        if (!encode_string(e, entry->named.name))
            return fail_memory(error);
        status = document_value_encode(e, &entry->value, error);
    }
    if (status == GUFO_OK && e->out.len != HEADER_SIZE + document->entries_size)
        return refuse(error, GUFO_E_CHANGED, "the metadata was changed while the file was open");
    return status;
}

/* `size` bytes that are all the same. */
static bool encode_fill(encoder *e, int byte, uint64_t size)
{
    void *room = buffer_extend(&e->out, size);

    if (room != NULL && size > 0)
        memset(room, byte, (size_t)size);
    return room != NULL;
}

static bool encode_padding(const gufo_document *document, encoder *e)
{
    uint64_t size = document->layout.padding;

    return size == 0 ||
           (encode_string(e, gufo_str_of(GUFO_PADDING_KEY)) && encode_u32(e, GUFO_VALUE_STRING) &&
            encode_u64(e, size - PADDING_SIZE) && encode_fill(e, ' ', size - PADDING_SIZE));
}

static bool encode_infos(const gufo_document *document, encoder *e)
{
    const document_tensor *t;
    uint64_t slot = 0;

    while ((t = named_list_next(&document->tensors, &slot)) != NULL)
        if (!encode_info(e, t->named.name, t->n_dims, t->dims, t->type,
                         t->offset - document->layout.data_offset))
            return false;
    return true;
}

/* Bytes of the header: up to the data, unless the padding before it is too large. */
static uint64_t header_size(const gufo_layout *layout)
{
    uint64_t zeros = layout->data_offset - layout->metadata_size;

    return zeros > GUFO_MAX_ALIGNMENT ? layout->metadata_size : layout->data_offset;
}

static gufo_status encode_all(const gufo_document *document, uint64_t size, encoder *e,
                              gufo_error *error)
{
    uint64_t entries = document->entries.count + (document->layout.padding > 0);
    gufo_status status = GUFO_OK;

    if (!encode_header(e, document->encoding.version, document->tensors.count, entries))
        return fail_memory(error);
    status = encode_entries(document, e, error);
    if (status == GUFO_OK && (!encode_padding(document, e) || !encode_infos(document, e) ||
                              !encode_fill(e, 0, size - e->out.len)))
        status = fail_memory(error);
    return status;
}

gufo_status gufo_document_header(gufo_document *document, const void **bytes, size_t *size,
                                 gufo_error *error)
{
    encoder e = {.out.allocator = &document->allocator,
                 .max_depth = document->max_depth,
                 .big = document->encoding.byte_order == GUFO_BIG_ENDIAN};
    uint64_t room = header_size(&document->layout);
    gufo_status status = GUFO_OK;

    if (!document->laid_out)
        return refuse(error, GUFO_E_ARGUMENT, "a document has no header before it is laid out");
    if (document->header == NULL) {
        /* All of it at once: growing would take up to three times the room. */
        if (room <= SIZE_MAX / 4)
            e.out.data = mem_alloc(e.out.allocator, (size_t)room);
        if (e.out.data == NULL)
            return fail_memory(error);
        e.out.capacity = (size_t)room;
        status = encode_all(document, room, &e, error);
        document->header = e.out.data;
    }
    if (status != GUFO_OK) {
        buffer_free(&e.out);
        document->header = NULL;
        return status;
    }
    *bytes = document->header;
    *size = (size_t)room;
    return GUFO_OK;
}
