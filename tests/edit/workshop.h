/* A folder with models, the copies that can be made of them, and whether anything in it has
 * changed. */
#ifndef TEST_EDIT_WORKSHOP_H
#define TEST_EDIT_WORKSHOP_H

#include "copies.h"

#include "base/hash.h"

#include <dirent.h>

enum { SHARDS = 3 };

typedef struct workshop {
    folder f;
    path_text in, first, other; /* a model, the first shard of the same one, and another one */
    path_text out;
    gufo_model *other_file;
    uint8_t *bytes; /* of `in` */
    size_t len;
} workshop;

/* ---- the folder ----------------------------------------------------------------------------- */

static const test_tensor other_tensors[] = {
    {"token_embd.weight", GUFO_TYPE_F32, 2, {64, 40}},
    {"a.weight", GUFO_TYPE_F32, 2, {64, 3}},
    {"b.weight", GUFO_TYPE_Q4_0_4_4, 2, {64, 8}},
    {"new.weight", GUFO_TYPE_I8, 1, {32}},
};

static inline void other_metadata(builder *b)
{
    builder_kv_str(b, "general.name", "Other");
    builder_kv_array(b, "texts", GUFO_VALUE_STRING, 2);
    builder_str(b, "one");
    builder_str(b, "two");
    builder_kv_array(b, "nested", GUFO_VALUE_ARRAY, 1);
    builder_array(b, GUFO_VALUE_UINT16, 2);
    builder_u16(b, 1);
    builder_u16(b, 2);
    builder_kv_u32(b, "number", 7);
}

static inline workshop workshop_new(void)
{
    test_model other = {.encoding = {3, true},
                        .metadata = other_metadata,
                        .entries = 4,
                        .tensors = other_tensors,
                        .tensor_count = COUNT_OF(other_tensors)};
    gufo_split_options twos = {.max_tensors = 2};
    workshop b = {.f = folder_new()};

    b.in = folder_path(&b.f, "in.gguf");
    b.other = folder_path(&b.f, "other.gguf");
    b.out = folder_path(&b.f, "out.gguf");
    b.first = shard_of(folder_path(&b.f, "set").text, 1, SHARDS);
    write_small_model(b.in.text);
    write_model(b.other.text, &other);
    (void)copy_well(b.in.text, folder_path(&b.f, "set").text, plan_split, &twos, "source set");
    b.other_file = open_path(b.other.text);
    b.bytes = read_file(b.in.text, &b.len);
    return b;
}

static inline void workshop_end(workshop *b)
{
    gufo_model_free(b->other_file);
    free(b->bytes);
    folder_remove(&b->f);
}

static inline int is_named(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* A hash of all names and bytes in the folder. */
static inline uint64_t folder_state(const workshop *b)
{
    struct dirent **entries;
    int count = scandir(b->f.path, &entries, is_named, alphasort);
    uint64_t state = 0;

    check(count > 0, "the folder");
    for (int i = 0; i < count; i++) {
        gufo_str name = gufo_str_of(entries[i]->d_name);
        size_t len;
        char *bytes = (char *)read_file(folder_path(&b->f, name.data).text, &len);

        check(bytes != NULL, "%s", name.data);
        state = hash_text((hash_key){state, 1}, name);
        state = hash_text((hash_key){state, 2}, (gufo_str){bytes, len});
        free(bytes);
        free(entries[i]);
    }
    free(entries);
    return state;
}

static inline int is_output(const struct dirent *entry)
{
    return strncmp(entry->d_name, "out", 3) == 0;
}

/* Takes the outputs away, and what an edit made of the input. */
static inline void restore(const workshop *b)
{
    struct dirent **entries;
    int count = scandir(b->f.path, &entries, is_output, NULL);

    check(count >= 0, "the folder");
    for (int i = 0; i < count; i++) {
        (void)unlink(folder_path(&b->f, entries[i]->d_name).text);
        free(entries[i]);
    }
    free(entries);
    write_file(b->in.text, b->bytes, b->len);
}

/* ---- copies --------------------------------------------------------------------------------- */

typedef gufo_job *plan_fn(const gufo_model *set, const gufo_allocator *allocator,
                          gufo_error *error);

static inline gufo_job *by_tensors(const gufo_model *set, const gufo_allocator *allocator,
                                   gufo_error *error)
{
    const gufo_split_options options = {.max_tensors = 2, .allocator = allocator};

    return gufo_job_split(set, &options, error);
}

static inline gufo_job *by_size(const gufo_model *set, const gufo_allocator *allocator,
                                gufo_error *error)
{
    const gufo_split_options options = {
        .max_size = 2000, .metadata_alone = true, .allocator = allocator};

    return gufo_job_split(set, &options, error);
}

static inline gufo_job *as_big(const gufo_model *set, const gufo_allocator *allocator,
                               gufo_error *error)
{
    const gufo_endian_options options = {.order = GUFO_BIG_ENDIAN, .allocator = allocator};

    return gufo_job_endian(set, &options, error);
}

static inline gufo_job *merged(const gufo_model *set, const gufo_allocator *allocator,
                               gufo_error *error)
{
    const gufo_merge_options options = {.allocator = allocator};

    return gufo_job_merge(set, &options, error);
}

static inline bool is_of_block(void *context, gufo_str name)
{
    (void)context;
    return name.data[0] < 'd';
}

static inline gufo_job *some_tensors(const gufo_model *set, const gufo_allocator *allocator,
                                     gufo_error *error)
{
    const gufo_strip_options options = {.keeps_tensor = is_of_block, .allocator = allocator};

    return gufo_job_strip(set, &options, error);
}

static inline gufo_job *vocabulary(const gufo_model *set, const gufo_allocator *allocator,
                                   gufo_error *error)
{
    const gufo_strip_options options = {.vocabulary_only = true, .allocator = allocator};

    return gufo_job_strip(set, &options, error);
}

static inline gufo_job *as_raw(const gufo_model *set, const gufo_allocator *allocator,
                               gufo_error *error)
{
    const gufo_extract_options options = {.type = gufo_element_type_by_id(GUFO_TYPE_F32),
                                          .allocator = allocator};
    const uint64_t tensor = 5;

    return gufo_job_extract(set, &tensor, 1, &options, error);
}

static inline gufo_job *as_numpy(const gufo_model *set, const gufo_allocator *allocator,
                                 gufo_error *error)
{
    const gufo_extract_options options = {.format = GUFO_EXTRACT_NUMPY,
                                          .type = gufo_element_type_by_id(GUFO_TYPE_F16),
                                          .allocator = allocator};
    const uint64_t tensor = 4;

    return gufo_job_extract(set, &tensor, 1, &options, error);
}

static inline gufo_job *as_safetensors(const gufo_model *set, const gufo_allocator *allocator,
                                       gufo_error *error)
{
    const gufo_extract_options options = {.format = GUFO_EXTRACT_SAFETENSORS,
                                          .allocator = allocator};
    const uint64_t tensors[] = {0, 1, 2, 3, 4, 5};

    return gufo_job_extract(set, tensors, COUNT_OF(tensors), &options, error);
}

static const char set_name[] = "out-00001-of-00003.gguf";

static const struct {
    const char *label;
    bool from_set;
    plan_fn *plan;
    const char *out;
} copies[] = {
    {"split by tensors", false, by_tensors, "out"},
    {"split by size", true, by_size, "out"},
    {"merge", true, merged, "out.gguf"},
    {"merge to a stream", true, merged, NULL},
    {"endian", false, as_big, "out.gguf"},
    {"endian of a set", true, as_big, set_name},
    {"strip", true, some_tensors, "out.gguf"},
    {"vocabulary", false, vocabulary, "out.gguf"},
    {"raw", false, as_raw, "out.bin"},
    {"npy", true, as_numpy, "out.npy"},
    {"safetensors", false, as_safetensors, "out.safetensors"},
    {"safetensors to a stream", true, as_safetensors, NULL},
};

#endif
