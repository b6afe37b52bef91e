/* Shard sets: several files that are one model.
 *
 *     NAME-00001-of-00003.gguf    all metadata, split.no 0, first tensors
 *     NAME-00002-of-00003.gguf    split.no 1, more tensors
 *     NAME-00003-of-00003.gguf    split.no 2, the rest
 *
 * The specification names the files; the keys split.no, split.count and split.tensors.count are an
 * established convention. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "format/file.h"

typedef struct shard {
    char *path;
    gufo_file *file;
    uint64_t first; /* number of its first tensor in the set */
} shard;

struct gufo_set {
    gufo_allocator allocator;
    records shards; /* of shard: those that were opened */
    size_t count;   /* of all, by the name of the first */
    uint64_t tensors;
    name_index names;
};

static shard *set_shard(const gufo_set *set, size_t index)
{
    return records_at(&set->shards, index);
}

/* ---- names ---------------------------------------------------------------------------------- */

enum { SHARD_DIGITS = 5 };

static bool read_digits(const char *text, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < SHARD_DIGITS; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *out = *out * 10 + (uint32_t)(text[i] - '0');
    }
    return true;
}

bool gufo_shard_path_parse(const char *path, size_t *prefix_len, uint32_t *number, uint32_t *count)
{
    static const char pattern[] = "-00000-of-00000.gguf";
    enum { NUMBER_AT = 1, OF_AT = 6, COUNT_AT = 10, END_AT = 15 };
    size_t len = strlen(path), suffix = sizeof pattern - 1;
    const char *at;

    if (len <= suffix)
        return false;
    at = path + len - suffix;
    if (at[0] != '-' || strncmp(at + OF_AT, "-of-", 4) != 0 ||
        strcmp(at + END_AT, pattern + END_AT) != 0 || !read_digits(at + NUMBER_AT, number) ||
        !read_digits(at + COUNT_AT, count) || *number == 0 || *number > *count)
        return false;
    *prefix_len = len - suffix;
    return true;
}

size_t gufo_shard_path_format(char *out, size_t size, const char *path, size_t prefix_len,
                              uint32_t number, uint32_t count)
{
    int len = snprintf(out, size, "%.*s-%05" PRIu32 "-of-%05" PRIu32 ".gguf", (int)prefix_len, path,
                       number, count);

    return len < 0 ? 0 : (size_t)len;
}

/* The path of shard `number` beside the first; of a set of one, the path itself. */
static char *shard_path(const gufo_set *set, const char *first, size_t prefix_len, uint32_t number)
{
    size_t size = strlen(first) + 1;
    char *path = mem_alloc(&set->allocator, size);

    if (path == NULL)
        return NULL;
    memcpy(path, first, size);
    if (set->count > 1)
        (void)gufo_shard_path_format(path, size, first, prefix_len, number, (uint32_t)set->count);
    return path;
}

/* ---- checks --------------------------------------------------------------------------------- */

static gufo_status expect_key(const gufo_file *file, const char *key, uint64_t expected,
                              gufo_error *error)
{
    uint64_t found;
    gufo_error reason;
    gufo_entry entry;

    if (gufo_get_u64(file, key, &found, &reason) != GUFO_OK)
        return fail_with(error, GUFO_E_SHARDS, GUFO_NO_OFFSET, "not part of a set: %.200s",
                         reason.message);
    if (found == expected)
        return GUFO_OK;
    (void)gufo_metadata_find(file, key, &entry);
    return fail_with(error, GUFO_E_SHARDS, entry.value_offset,
                     "%s is %" PRIu64 ", but should be %" PRIu64 " by the name of the file", key,
                     found, expected);
}

/* Every shard must be written like the first. */
static gufo_status compare_layout(const gufo_file *first, const gufo_file *file, gufo_error *error)
{
    static const char *const orders[] = {
        [GUFO_LITTLE_ENDIAN] = "little-endian", [GUFO_BIG_ENDIAN] = "big-endian"};
    const struct {
        const char *what;
        uint64_t first, own;
    } facts[] = {
        {"version", first->encoding.version, file->encoding.version},
        {"alignment", first->alignment, file->alignment_known ? file->alignment : first->alignment},
    };

    if (first->encoding.byte_order != file->encoding.byte_order)
        return fail_with(error, GUFO_E_SHARDS, GUFO_NO_OFFSET, "file is %s, the first shard is %s",
                         orders[file->encoding.byte_order], orders[first->encoding.byte_order]);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (facts[i].first != facts[i].own)
            return fail_with(error, GUFO_E_SHARDS, GUFO_NO_OFFSET,
                             "%s differs from that of the first shard (%" PRIu64 ", not %" PRIu64
                             ")",
                             facts[i].what, facts[i].own, facts[i].first);
    return GUFO_OK;
}

static gufo_status check_shard(const gufo_set *set, size_t index, gufo_error *error)
{
    const gufo_file *file = set_shard(set, index)->file;
    gufo_status status = expect_key(file, "split.no", index, error);

    if (status == GUFO_OK)
        status = expect_key(file, "split.count", set->count, error);
    return status == GUFO_OK ? compare_layout(set_shard(set, 0)->file, file, error) : status;
}

static gufo_status check_total(const gufo_set *set, size_t index, gufo_error *error)
{
    uint64_t total;
    gufo_error reason;

    if (gufo_get_u64(set_shard(set, index)->file, "split.tensors.count", &total, &reason) !=
        GUFO_OK)
        return fail_with(error, GUFO_E_SHARDS, GUFO_NO_OFFSET, "not part of a set: %.200s",
                         reason.message);
    if (total != set->tensors)
        return fail_with(error, GUFO_E_SHARDS, GUFO_NO_OFFSET,
                         "split.tensors.count is %" PRIu64 ", but the shards have %" PRIu64
                         " tensors",
                         total, set->tensors);
    return GUFO_OK;
}

/* ---- tensors by number and name ------------------------------------------------------------- */

/* The shard that holds tensor `index`: the last one that begins at or before it. */
static size_t shard_of(const gufo_set *set, uint64_t index)
{
    size_t low = 0, high = set->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (set_shard(set, middle)->first <= index)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static gufo_str set_name_of(const void *owner, uint64_t index)
{
    const gufo_set *set = owner;
    const shard *s = set_shard(set, shard_of(set, index));

    return file_tensor_name(s->file, file_tensor(s->file, index - s->first));
}

/* Indexes all names; *failed receives the shard that has a tensor another one has too. */
static gufo_status index_tensors(gufo_set *set, size_t *failed, gufo_error *error)
{
    gufo_status status =
        name_index_new(&set->names, set->tensors, set_name_of, set, &set->allocator, error);

    for (uint64_t i = 0; status == GUFO_OK && i < set->tensors; i++) {
        char quoted[GUFO_QUOTE_SIZE];
        uint64_t first;

        if (name_index_add(&set->names, i, &first))
            continue;
        *failed = shard_of(set, i);
        if (shard_of(set, first) == *failed) /* a lenient open has told of it */
            continue;
        status =
            fail_with(error, GUFO_E_SHARDS,
                      file_tensor(set_shard(set, *failed)->file, i - set_shard(set, *failed)->first)
                          ->info_offset,
                      "tensor %s is in shard %zu already", quote_name(quoted, set_name_of(set, i)),
                      shard_of(set, first) + 1);
    }
    return status;
}

/* ---- opening -------------------------------------------------------------------------------- */

static gufo_status open_shard(gufo_set *set, size_t index, const gufo_open_options *options,
                              gufo_error *error)
{
    shard *s = set_shard(set, index);
    gufo_error reason = {0};

    s->file = gufo_open(s->path, options, &reason);
    s->first = set->tensors;
    if (s->file != NULL) {
        set->tensors += gufo_tensor_count(s->file);
        return GUFO_OK;
    }
    if (set->count > 1 && reason.system == ENOENT)
        return fail_with(error, GUFO_E_SHARDS, GUFO_NO_OFFSET, "shard %zu of %zu is missing",
                         index + 1, set->count);
    if (error != NULL)
        *error = reason;
    return reason.code;
}

/* Of a damaged shard not all infos may be there; what they add up to is then not known. */
static bool all_infos_read(const gufo_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (gufo_file_infos_end(set_shard(set, i)->file) == 0)
            return false;
    return set->count > 1;
}

/* Lists one more shard; memory follows what was opened, not what the name announces. */
static gufo_status add_shard(gufo_set *set, const char *first, size_t prefix_len, gufo_error *error)
{
    uint32_t number = (uint32_t)set->shards.count + 1;
    shard *added = records_add(&set->shards, &set->allocator);

    if (added != NULL)
        added->path = shard_path(set, first, prefix_len, number);
    return added != NULL && added->path != NULL ? GUFO_OK : fail_memory(error);
}

/* Opens and checks all shards; *failed receives the one that a failure is about. */
static gufo_status open_all(gufo_set *set, const char *first, size_t prefix_len,
                            const gufo_open_options *options, size_t *failed, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < set->count && status == GUFO_OK; i++) {
        *failed = i;
        status = add_shard(set, first, prefix_len, error);
        if (status == GUFO_OK)
            status = open_shard(set, i, options, error);
        if (status == GUFO_OK && set->count > 1)
            status = check_shard(set, i, error);
    }
    for (size_t i = 0; i < set->count && status == GUFO_OK && all_infos_read(set); i++) {
        *failed = i;
        status = check_total(set, i, error);
    }
    return status == GUFO_OK ? index_tensors(set, failed, error) : status;
}

/* A copy that the caller frees with free(); NULL of NULL, or without memory. */
static char *heap_copy(const char *text)
{
    size_t size = text == NULL ? 0 : strlen(text) + 1;
    char *copy = size == 0 ? NULL : malloc(size);

    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

static gufo_set *set_new(const gufo_allocator *allocator, size_t count)
{
    gufo_set *set = mem_zero(allocator, sizeof *set);

    if (set == NULL)
        return NULL;
    set->allocator = *allocator;
    set->count = count;
    set->shards.size = sizeof(shard);
    return set;
}

gufo_set *gufo_set_open(const char *path, const gufo_open_options *options, char **failed_path,
                        gufo_error *error)
{
    const gufo_allocator *allocator =
        options != NULL && options->allocator != NULL ? options->allocator : &default_allocator;
    uint32_t number = 0, count = 1;
    size_t prefix_len = 0, failed = 0;
    gufo_set *set;

    if (failed_path != NULL)
        *failed_path = NULL;
    if (!gufo_shard_path_parse(path, &prefix_len, &number, &count) || number != 1)
        count = 1;
    set = set_new(allocator, count);
    if (set == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    if (open_all(set, path, prefix_len, options, &failed, error) == GUFO_OK)
        return set;
    if (failed_path != NULL)
        *failed_path = heap_copy(gufo_set_shard_path(set, failed));
    gufo_set_close(set);
    return NULL;
}

void gufo_set_close(gufo_set *set)
{
    gufo_allocator allocator;

    if (set == NULL)
        return;
    allocator = set->allocator;
    for (size_t i = 0; i < set->shards.count; i++) {
        gufo_close(set_shard(set, i)->file);
        mem_free(&allocator, set_shard(set, i)->path);
    }
    name_index_free(&set->names, &allocator);
    records_free(&set->shards, &allocator);
    mem_free(&allocator, set);
}

/* ---- access --------------------------------------------------------------------------------- */

size_t gufo_set_shard_count(const gufo_set *set)
{
    return set->count;
}

const gufo_file *gufo_set_shard(const gufo_set *set, size_t index)
{
    return index < set->shards.count ? set_shard(set, index)->file : NULL;
}

const char *gufo_set_shard_path(const gufo_set *set, size_t index)
{
    return index < set->shards.count ? set_shard(set, index)->path : NULL;
}

uint64_t gufo_set_tensor_count(const gufo_set *set)
{
    return set->tensors;
}

bool gufo_set_tensor_at(const gufo_set *set, uint64_t index, gufo_tensor *out, size_t *shard_index)
{
    size_t owner;

    if (index >= set->tensors)
        return false;
    owner = shard_of(set, index);
    if (shard_index != NULL)
        *shard_index = owner;
    return gufo_tensor_at(set_shard(set, owner)->file, index - set_shard(set, owner)->first, out);
}

bool gufo_set_tensor_find(const gufo_set *set, const char *name, gufo_tensor *out,
                          size_t *shard_index)
{
    uint64_t index;

    return name_index_find(&set->names, gufo_str_of(name), &index) &&
           gufo_set_tensor_at(set, index, out, shard_index);
}
