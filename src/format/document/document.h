/* A document: the interface between its files.
 *
 *     document.c       life and encoding; how it differs from the model that it was made from; keys of
 *                      shards; fixes of findings
 *     entries.c        the list of entries
 *     tensors.c        the list of tensors
 *     value.c          values: made, measured, encoded, compared
 *     layout.c         where everything goes, and the header
 *     named_list.c     records that have names, found by name and by position */
#ifndef GUFO_FORMAT_DOCUMENT_H
#define GUFO_FORMAT_DOCUMENT_H

#include "base/error.h"
#include "base/memory.h"
#include "format/file/file.h"
#include "format/document/named_list.h"
#include "format/file/records.h"
#include "format/model/model.h"
#include "format/value/value.h"
#include "gufo/document.h"

/* A value as it is stored: in a model, in its own block, or, for a number, right here. */
typedef struct document_value {
    gufo_value_type type;
    gufo_array content; /* an array, or the bytes of a string; the encoding of a number, too */
    uint8_t number[8];  /* the bytes of a number or bool */
    uint8_t *block;     /* that holds the content; NULL: a model does */
    uint64_t encoded;   /* bytes of type and value in the file */
} document_value;

/* An entry.  The key is owned or is in a model, like its value. */
typedef struct document_entry {
    named named;
    uint64_t origin;
    document_value value;
} document_entry;

typedef struct document_tensor {
    named named;
    const uint64_t *dims; /* GUFO_MAX_DIMS, of gufo_document.shapes */
    uint64_t size;
    uint64_t offset; /* from the start of the file, after layout */
    uint32_t type;
    uint32_t n_dims;
    uint32_t model;  /* that it is from: its number in gufo_document.models, from 1; 0: none */
    uint32_t origin; /* its number there */
} document_tensor;

struct gufo_document {
    gufo_allocator allocator;
    content_rules rules; /* for what is new */
    gufo_encoding encoding;
    const gufo_model *source; /* that it was made from; NULL: none */
    records models;           /* const gufo_model *: all that something was copied from */
    unsigned max_depth;       /* of their arrays */
    named_list entries;       /* of document_entry */
    named_list tensors;       /* of document_tensor */
    shape_table shapes;       /* of tensors */
    uint64_t entries_size;    /* bytes of all entries in the file */
    uint64_t infos_size;      /* of all tensor infos */

    /* Until something changes: */
    bool laid_out;
    gufo_layout layout;
    uint8_t *header; /* the first data_offset bytes; NULL: not encoded yet */
};

static inline document_entry *document_entry_in(const gufo_document *document, uint64_t slot)
{
    return records_at(&document->entries.items, slot);
}

static inline document_tensor *document_tensor_in(const gufo_document *document, uint64_t slot)
{
    return records_at(&document->tensors.items, slot);
}

static inline const gufo_model *document_model_in(const gufo_document *document, uint64_t index)
{
    return *(const gufo_model **)records_at(&document->models, index);
}

/* The model that a tensor was copied from; NULL: none. */
static inline const gufo_model *document_tensor_from(const gufo_document *document,
                                                     const document_tensor *t)
{
    return t->model > 0 ? document_model_in(document, t->model - 1) : NULL;
}

/* Forgets layout and header: something changes. */
static inline void document_touch(gufo_document *document)
{
    mem_free(&document->allocator, document->header);
    document->header = NULL;
    document->laid_out = false;
}

/* The bytes of a tensor info. */
static inline uint64_t document_info_size(gufo_str name, uint32_t n_dims)
{
    return 8 + name.len + 4 + 8 * (uint64_t)n_dims + 4 + 8;
}

/* Remembers that something is copied from a model: whoever writes the document must not replace it.
 *  Copies mostly come from the same model, one after the other. */
static inline gufo_status document_note_model(gufo_document *document, const gufo_model *model,
                                              gufo_error *error)
{
    uint64_t count = document->models.count;
    const gufo_model **noted;

    if (count > 0 && document_model_in(document, count - 1) == model)
        return GUFO_OK;
    noted = records_add(&document->models, &document->allocator);
    if (noted == NULL)
        return fail_memory(error);
    *noted = model;
    if (document->max_depth < model_max_depth(model))
        document->max_depth = model_max_depth(model);
    return GUFO_OK;
}

/* Takes notes back, but for the first `count`: nothing was copied. */
static inline void document_forget_models(gufo_document *document, uint64_t count)
{
    document->models.count = count;
}

/* The rules for what is copied from a model. */
static inline content_rules document_copy_rules(const gufo_document *document)
{
    return document->rules == CONTENT_NEW ? CONTENT_AS_READ : document->rules;
}

/* ---- layout.c ------------------------------------------------------------------------------ */

/* Moves *place, where a packed layout has a tensor of `size` bytes, to the next one; false for more bytes
 * than files have. */
bool layout_advance(const gufo_layout *layout, uint64_t size, uint64_t *place);

/* ---- value.c ------------------------------------------------------------------------------- */

/* Each makes a value: a copy of one that the caller has, of elements, or a view of an entry. */
gufo_status document_value_set(document_value *out, const gufo_value *value,
                               const gufo_allocator *allocator, gufo_error *error);
gufo_status document_value_items(document_value *out, const gufo_items *items,
                                 const gufo_allocator *allocator, gufo_error *error);
gufo_status document_value_view(document_value *out, const gufo_model *model,
                                const gufo_entry *entry, gufo_error *error);
void document_value_free(const document_value *value, const gufo_allocator *allocator);

gufo_value document_value_get(const document_value *value);
/* Type and value, in the order of the encoder, with the bits as they are. */
gufo_status document_value_encode(encoder *e, const document_value *value, gufo_error *error);
/* Whether two values are the same to the last bit. */
gufo_status document_value_same(const document_value *a, const document_value *b,
                                const gufo_allocator *allocator, bool *same, gufo_error *error);

/* ---- entries.c ----------------------------------------------------------------------------- */

/* A string of spaces that a layout made. */
bool document_is_padding(const gufo_entry *entry);
/* Gives a key a value, which the document takes over unless it fails.  A key that is new is copied
 * if `owned`, else it must live as long as the document. */
gufo_status document_put(gufo_document *document, gufo_str key, bool owned,
                         const document_value *value, gufo_error *error);
/* As gufo_document_set, by other rules. */
gufo_status document_set_by(gufo_document *document, gufo_str key, const gufo_value *value,
                            content_rules rules, gufo_error *error);
/* What removing one means for the document: a named_drop. */
void document_drop_entry(void *document, void *entry);
/* All entries of the model that the document is made from. */
gufo_status document_load_entries(gufo_document *document, gufo_error *error);

/* ---- tensors.c ----------------------------------------------------------------------------- */

/* As gufo_document_add_raw_tensor by the rules of the document, with a name that lives as long as the
 * document. */
gufo_status document_lend_tensor(gufo_document *document, gufo_str name, uint32_t type,
                                 uint32_t n_dims, const uint64_t *dims, uint64_t size,
                                 gufo_error *error);
/* Whether the bytes of all copied tensors can be swapped where byte order `order` needs that. */
gufo_status document_check_order(const gufo_document *document, gufo_byte_order order,
                                 gufo_error *error);
/* What removing one means for the document: a named_drop. */
void document_drop_tensor(void *document, void *tensor);
/* Frees the list of tensors of a document whose header is encoded, and which is only asked for that. */
void document_forget_tensors(gufo_document *document);

#endif
