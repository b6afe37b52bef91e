/* A model, the object that opening returns: the interface inside the room.
 *
 *     one file         gufo_model -> gguf_file
 *     several shards   gufo_model -> gufo_model, gufo_model ... each -> gguf_file
 *     made             gufo_model -> made -> gufo_provider
 *
 *     model.c      the object: life, facts, shards, bytes
 *     metadata.c   entries by number and key, typed access
 *     tensors.c    tensors by number and name, bytes of their data; rows as blocks and as numbers
 *     shards.c     names of shards, and whether they belong together
 *     open.c       from an input, or a provider, to a model
 *     made.c       what a provider makes
 *     check.c      the rules that need all of a model */

#ifndef GUFO_FORMAT_MODEL_H
#define GUFO_FORMAT_MODEL_H

#include "format/file/file.h"

struct made_model;

struct gufo_model {
    gufo_allocator allocator;
    char *name;              /* or NULL */
    uint32_t number;         /* of this shard in the model that lends it */
    uint64_t first;          /* the number of its first tensor there */
    gguf_file *file;         /* the first shard's; NULL if none exists: */
    struct made_model *made; /* or NULL */

    /* Of several shards; a model of one has none, and is its own. */
    records shards; /* of gufo_model * */
    uint64_t tensors;
    name_index names; /* of the tensors of all */
};

/* An empty model with a copy of `name`, which may be NULL.  NULL without memory. */
gufo_model *model_new(const gufo_allocator *allocator, const char *name, gufo_error *error);

/* One file as a model, whatever it is a part of. */
gufo_model *model_open_file(const gufo_input *input, opening_state *o, uint32_t number,
                            gufo_error *error);
/* Closes a source that is not going to be opened. */
void model_close_input(const gufo_input *input);

/* What an input is called; NULL: it has no name. */
const char *model_input_name(const gufo_input *input, const gufo_open_options *options);

static inline bool model_is_set(const gufo_model *model)
{
    return model->shards.count > 0;
}

/* Shard `index`, which exists. */
static inline gufo_model *model_part(const gufo_model *model, size_t index)
{
    return *(gufo_model **)records_at(&model->shards, index);
}

/* The file of a model that has just one. */
static inline const gguf_file *model_file(const gufo_model *model)
{
    return model->file;
}

/* How deep arrays may be nested in the files of the model. */
static inline unsigned model_max_depth(const gufo_model *model)
{
    const gufo_model *part = model_is_set(model) ? model_part(model, 0) : model;

    return part->file != NULL ? part->file->max_depth : GUFO_MAX_DEPTH;
}

/* The shard of several that holds tensor `index`: the last one that begins at or before it. */
size_t model_owner(const gufo_model *model, uint64_t index);
/* The model of one file that has a tensor; NULL if there is no such shard. */
const gufo_model *model_holding(const gufo_model *model, const gufo_tensor *tensor);

/* What makes a made model; NULL for any other. */
const gufo_provider *model_provider(const gufo_model *model);
/* Names a made model (a copy of `name`, which may be NULL), whose context is closed with it from now on.
 * Without memory nothing changes. */
gufo_status model_hand_over(gufo_model *model, const char *name, void (*close)(void *context),
                            gufo_error *error);

struct gufo_job;

/* The job that an import has made a model with: piece i makes the rows of tensor i, for those who
 * want them in other ways than rows of the tensor (produce/).  NULL: none. */
void model_set_maker(gufo_model *model, const struct gufo_job *maker);
const struct gufo_job *model_maker(const gufo_model *model);

/* Names the file in *error, unless an error names one already.  Returns `status`. */
gufo_status model_fail(const gufo_model *model, gufo_status status, gufo_error *error);

/* The entry with this key, in which "{arch}." at the front is the architecture (gufo_model_get_u64). */
gufo_status model_find_entry(const gufo_model *model, const char *key, gufo_entry *entry,
                             gufo_error *error);
/* Adds to a failed conversion of a value what it could not know: which key, and where. */
gufo_status model_fail_value(const gufo_model *model, gufo_status status, const gufo_entry *entry,
                             gufo_error *error);

/* Defines a public function that finds an entry and converts its value as gufo_value_NAME does.  `find`
 * has the parameters of model_find_entry. */
#define MODEL_GETTER(function, find, name, type)                                            \
    gufo_status function##_##name(const gufo_model *model, const char *key, type *out,      \
                                  gufo_error *error)                                        \
    {                                                                                       \
        gufo_entry entry;                                                                   \
        gufo_status status = find(model, key, &entry, error);                               \
                                                                                            \
        if (status != GUFO_OK)                                                              \
            return status;                                                                  \
        return model_fail_value(model, gufo_value_##name(&entry.value, out, error), &entry, \
                                error);                                                     \
    }
#define MODEL_ARRAY_GETTER(function, find)                                                     \
    gufo_status function##_array(const gufo_model *model, const char *key,                     \
                                 gufo_value_type elements, gufo_array *out, gufo_error *error) \
    {                                                                                          \
        gufo_entry entry;                                                                      \
        gufo_status status = find(model, key, &entry, error);                                  \
                                                                                               \
        if (status != GUFO_OK)                                                                 \
            return status;                                                                     \
        return model_fail_value(model, gufo_value_array(&entry.value, elements, out, error),   \
                                &entry, error);                                                \
    }

/* Entry or tensor `index` of those that the model has.  A provider may fail to describe one again,
 * or change it: GUFO_E_CHANGED. */
gufo_status model_entry_at(const gufo_model *model, uint64_t index, gufo_entry *out,
                           gufo_error *error);
gufo_status model_tensor_at(const gufo_model *model, uint64_t index, gufo_tensor *out,
                            gufo_error *error);
/* GUFO_E_ARGUMENT if the model is made: it has no `what` ("layout to check"). */
gufo_status model_need_files(const gufo_model *model, const char *what, gufo_error *error);

/* Fills a model of several shards with the files beside the first one, or with those of a list.  On
 * failure, closing the model is the caller's. */
gufo_status shards_open_beside(gufo_model *model, const char *first, size_t prefix_len,
                               size_t count, opening_state *o, gufo_error *error);
gufo_status shards_open_list(gufo_model *model, const gufo_input *inputs, size_t count,
                             opening_state *o, gufo_error *error);
/* GUFO_E_SHARDS if a model of one file is only a part of a model. */
gufo_status shards_check_alone(const gufo_model *model, gufo_error *error);

/* ---- made models -------------------------------------------------------------------------------- */

/* The private part of a made model. */
typedef struct made_model {
    gufo_provider provider;
    const struct gufo_job *maker; /* see model_maker */
    uint32_t alignment;
    name_index keys, names;
} made_model;

void made_close(made_model *m, const gufo_allocator *allocator);
gufo_facts made_facts(const made_model *m);
bool made_entry_at(const made_model *m, uint64_t index, gufo_entry *out);
bool made_entry_find(const made_model *m, gufo_str key, gufo_entry *out);
bool made_tensor_at(const made_model *m, uint64_t index, gufo_tensor *out);
/* Just what the provider says. */
bool made_ask_entry(const made_model *m, uint64_t index, gufo_entry *out);
bool made_ask_tensor(const made_model *m, uint64_t index, gufo_tensor *out);
/* Any bytes; the range has been checked. */
gufo_status made_read_bytes(const gufo_model *model, const gufo_tensor *tensor, uint64_t offset,
                            void *out, size_t size, gufo_error *error);

/* ---- zeros -------------------------------------------------------------------------------------- */

/* Data that never came: downloaders reserve the whole file, and what they do not fill stays zero. */

/* Tensors smaller than this are not looked at: a bias may well be zero. */
enum { ZEROS_LEAST = 4096 };

/* Whether zeros in a tensor may mean that its data never came: not in small ones, and not in B of an adapter, of which
 * training begins with zeros. */
bool zeros_are_suspect(const gguf_file *file, const tensor_record *tensor);
/* Likewise, and whether the tensor is a matrix. */
bool zeros_are_suspect_matrix(const gguf_file *file, const tensor_record *tensor);
/* Whether the pages at the end, in the middle and at the begin of a tensor's data are all zero. */
gufo_status zeros_sample(const gguf_file *file, const tensor_record *tensor, bool *zero,
                         gufo_error *error);
/* Where the zeros begin with which the bytes [from, to) of a file end; `to`: there are none.  Reads no more
 * than the zeros, and one block. */
gufo_status zeros_before(const gguf_file *file, uint64_t from, uint64_t to, uint64_t *begin,
                         gufo_error *error);

/* "368 MB": a size for a sentence. */
enum { ZEROS_TEXT = 32 };
const char *zeros_text(uint64_t bytes, char out[ZEROS_TEXT]);

#endif
