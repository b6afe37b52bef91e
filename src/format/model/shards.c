/* Shard sets: several files that are one model.
 *
 *     NAME-00001-of-00003.gguf    all metadata, split.no 0, first tensors
 *     NAME-00002-of-00003.gguf    split.no 1, more tensors
 *     NAME-00003-of-00003.gguf    split.no 2, the rest
 *
 * The specification names the files; the keys split.no, split.count and split.tensors.count are an
 * established convention.  A list of files that a caller gives has the same keys and any names. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/threads.h"
#include "format/model/model.h"

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

static bool parse_path(const char *path, size_t *prefix_len, uint32_t *number, uint32_t *count)
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

bool gufo_shard_path_parse(const char *path, size_t *prefix_len, uint32_t *number, uint32_t *count)
{
    size_t unwanted_len;
    uint32_t unwanted[2];

    return parse_path(path, prefix_len != NULL ? prefix_len : &unwanted_len,
                      number != NULL ? number : &unwanted[0], count != NULL ? count : &unwanted[1]);
}

size_t gufo_shard_path_format(char *out, size_t size, const char *path, size_t prefix_len,
                              uint32_t number, uint32_t count)
{
    int len = snprintf(out, size, "%.*s-%05" PRIu32 "-of-%05" PRIu32 ".gguf", (int)prefix_len, path,
                       number, count);

    return len < 0 ? 0 : (size_t)len;
}

/* ---- checks --------------------------------------------------------------------------------- */

/* The files that a model is opened from: a list, or the files beside the first one. */
typedef struct shard_list {
    const gufo_input *inputs; /* or NULL, and then: */
    const char *first;        /* or NULL: the files are open */
    char *paths;              /* room for one of them for each thread: all are as long */
    size_t prefix_len;
    size_t count;
    uint64_t taken; /* inputs that another object now closes */
} shard_list;

static gufo_status expect_key(const shard_list *list, const gufo_model *shard, const char *key,
                              uint64_t expected, gufo_error *error)
{
    uint64_t found;
    gufo_error reason;
    gufo_entry entry;

    if (gufo_model_get_u64(shard, key, &found, &reason) != GUFO_OK)
        return refuse(error, GUFO_E_SHARDS, "not part of a set: %.200s", reason.message);
    if (found == expected)
        return GUFO_OK;
    (void)gufo_model_find(shard, key, &entry);
    return fail_with(error, GUFO_E_SHARDS, entry.value_offset,
                     "%s is %" PRIu64 ", but should be %" PRIu64 " by %s", key, found, expected,
                     list->first != NULL ? "the name of the file" : "the list of files");
}

/* Every shard must be written like the first. */
static gufo_status compare_layout(const gguf_file *first, const gguf_file *file, gufo_error *error)
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
        return refuse(error, GUFO_E_SHARDS, "file is %s, the first shard is %s",
                      orders[file->encoding.byte_order], orders[first->encoding.byte_order]);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (facts[i].first != facts[i].own)
            return refuse(error, GUFO_E_SHARDS,
                          "%s differs from that of the first shard (%" PRIu64 ", not %" PRIu64 ")",
                          facts[i].what, facts[i].own, facts[i].first);
    return GUFO_OK;
}

static gufo_status check_shard(const gufo_model *model, const shard_list *list, size_t index,
                               gufo_error *error)
{
    const gufo_model *shard = model_part(model, index);
    gufo_status status = expect_key(list, shard, "split.no", index, error);

    if (status == GUFO_OK)
        status = expect_key(list, shard, "split.count", list->count, error);
    return status == GUFO_OK ? compare_layout(model->file, shard->file, error) : status;
}

static gufo_status check_total(const gufo_model *model, const gufo_model *shard, gufo_error *error)
{
    uint64_t total;
    gufo_error reason;

    if (gufo_model_get_u64(shard, "split.tensors.count", &total, &reason) != GUFO_OK)
        return refuse(error, GUFO_E_SHARDS, "not part of a set: %.200s", reason.message);
    if (total != model->tensors)
        return refuse(error, GUFO_E_SHARDS,
                      "split.tensors.count is %" PRIu64 ", but the shards have %s tensors", total,
                      GROUPED(model->tensors));
    return GUFO_OK;
}

/* Of a damaged shard not all infos may be there; what they add up to is then not known. */
static gufo_status check_totals(const gufo_model *model, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < model->shards.count; i++)
        if (model_part(model, i)->file->infos_end == 0)
            return GUFO_OK;
    for (size_t i = 0; i < model->shards.count && status == GUFO_OK; i++) {
        const gufo_model *shard = model_part(model, i);

        status = model_fail(shard, check_total(model, shard, error), error);
    }
    return status;
}

/* ---- one shard alone ------------------------------------------------------------------------ */

/* The number of the shard, from 1 (0: not known), and the count, by the keys of the file, or else
 * by its name. */
static void find_numbers(const gufo_model *model, uint64_t *number, uint64_t *count)
{
    uint32_t named, of;
    size_t prefix_len;

    *number = *count = 0;
    if (gufo_model_get_u64(model, "split.count", count, NULL) == GUFO_OK && *count > 1) {
        if (gufo_model_get_u64(model, "split.no", number, NULL) == GUFO_OK)
            *number = *number < *count ? *number + 1 : 0;
    } else if (model->name != NULL &&
               gufo_shard_path_parse(model->name, &prefix_len, &named, &of) && named > 1) {
        *number = named;
        *count = of;
    }
}

gufo_status shards_check_alone(const gufo_model *model, gufo_error *error)
{
    uint64_t number, count;
    char which[64];
    gufo_entry entry;
    gufo_status status;

    find_numbers(model, &number, &count);
    if (count <= 1)
        return GUFO_OK;
    if (number > 0)
        (void)snprintf(which, sizeof which, "shard %" PRIu64 " of %" PRIu64, number, count);
    else
        (void)snprintf(which, sizeof which, "one of %s shards", GROUPED(count));
    status = fail_with(error, GUFO_E_SHARDS,
                       gufo_model_find(model, "split.count", &entry) ? entry.value_offset
                                                                     : GUFO_NO_OFFSET,
                       "the file is %s of a model; to open the model, name its first shard, "
                       "NAME-00001-of-%05" PRIu64 ".gguf",
                       which, count);
    return model_fail(model, status, error);
}

/* ---- tensors by name ------------------------------------------------------------------------ */

static gufo_str set_name_of(const void *owner, uint64_t index)
{
    const gufo_model *model = owner;
    const gufo_model *shard = model_part(model, model_owner(model, index));

    return file_name(shard->file, &file_tensor(shard->file, index - shard->first)->record);
}

/* Indexes all names. */
static gufo_status index_tensors(gufo_model *model, gufo_error *error)
{
    gufo_status status =
        name_index_new(&model->names, model->tensors, set_name_of, model, &model->allocator, error);

    for (uint64_t i = 0; status == GUFO_OK && i < model->tensors; i++) {
        const gufo_model *shard;
        uint64_t first;

        if (name_index_add(&model->names, i, &first))
            continue;
        shard = model_part(model, model_owner(model, i));
        if (model_owner(model, first) == shard->number) /* a lenient open has reported it */
            continue;
        status = fail_with(error, GUFO_E_SHARDS,
                           file_tensor(shard->file, i - shard->first)->record.offset,
                           "tensor %s is in shard %zu already", QUOTED(set_name_of(model, i)),
                           model_owner(model, first) + 1);
        (void)model_fail(shard, status, error);
    }
    return status;
}

/* ---- opening -------------------------------------------------------------------------------- */

typedef struct set_opening {
    gufo_model *model;
    shard_list *list;
    opening_state *opening;
} set_opening;

/* The file of shard `index`, until the thread asks for the next one. */
static gufo_input input_of(const shard_list *list, unsigned thread, size_t index)
{
    char *path;

    if (list->inputs != NULL)
        return list->inputs[index];
    path = list->paths + thread * (strlen(list->first) + 1);
    (void)gufo_shard_path_format(path, strlen(list->first) + 1, list->first, list->prefix_len,
                                 (uint32_t)index + 1, (uint32_t)list->count);
    return gufo_input_path(path);
}

/* Findings, and the damage that a lenient open kept, name the shard by its number. */
static void number_shard(gufo_model *shard, uint32_t number)
{
    shard->number = number;
    if (shard->file != NULL) {
        shard->file->number = number;
        shard->file->damage.file_index = number;
    }
}

/* A shard that is the last one of the model now. */
static void place_shard(gufo_model *model, gufo_model *shard, uint32_t number)
{
    number_shard(shard, number);
    shard->first = model->tensors;
    model->tensors += shard->file->tensors.count;
    model->file = model_part(model, 0)->file;
}

static gufo_status add_shard(gufo_model *model, gufo_model *shard, gufo_error *error)
{
    gufo_model **place = records_add(&model->shards, &model->allocator);

    if (place == NULL) {
        gufo_model_free(shard);
        return fail_memory(error);
    }
    *place = shard;
    place_shard(model, shard, shard->number);
    return GUFO_OK;
}

/* Opens one more shard; memory follows what was opened, not what the name announces. */
static gufo_status open_shard(void *context, unsigned thread, uint64_t index, void *result,
                              gufo_error *error)
{
    const set_opening *s = context;
    gufo_input input = input_of(s->list, thread, (size_t)index);
    gufo_error reason = {0};
    gufo_model **shard = result;
    gufo_status status;

    mutex_lock(&s->opening->lock);
    s->list->taken = larger(s->list->taken, index + 1);
    mutex_unlock(&s->opening->lock);
    *shard = model_open_file(&input, s->opening, (uint32_t)index, &reason);
    if (*shard != NULL)
        return GUFO_OK;
    if (reason.system != ENOENT)
        return fail_as(error, &reason);
    status = refuse(error, GUFO_E_SHARDS, "shard %" PRIu64 " of %zu is missing", index + 1,
                    s->list->count);
    fail_in(error, GUFO_FILE_INPUT, (uint32_t)index, input.path);
    return status;
}

static gufo_status take_shard(void *context, uint64_t index, const void *result, gufo_error *error)
{
    const set_opening *s = context;
    gufo_model *const *shard = result;
    gufo_status status = add_shard(s->model, *shard, error);

    return status == GUFO_OK
               ? model_fail(*shard, check_shard(s->model, s->list, (size_t)index, error), error)
               : status;
}

static void drop_shard(void *context, void *result)
{
    gufo_model **shard = result;

    (void)context;
    gufo_model_free(*shard);
}

/* Without `run`, the allocator, the sources and the function for findings may be for one thread only. */
static unsigned threads_for(const shard_list *list, const gufo_open_options *options)
{
    bool one = options->on_finding != NULL || (options->run == NULL && options->allocator != NULL);

    for (size_t i = 0; i < list->count && list->inputs != NULL && options->run == NULL; i++)
        one = one || list->inputs[i].kind == GUFO_INPUT_SOURCE;
    if (one)
        return 1;
    return (unsigned)smaller(list->count,
                             thread_count(options->run != NULL ? options->run->threads : 0));
}

static gufo_status finish_set(gufo_model *model, gufo_error *error)
{
    gufo_status status = check_totals(model, error);

    return status == GUFO_OK ? index_tensors(model, error) : status;
}

static gufo_status open_all(gufo_model *model, shard_list *list, unsigned threads, opening_state *o,
                            gufo_error *error)
{
    set_opening s = {model, list, o};
    const parallel_loop loop = {.end = list->count,
                                .threads = threads,
                                .result_size = sizeof(gufo_model *),
                                .context = &s,
                                .work = open_shard,
                                .hand_over = take_shard,
                                .drop = drop_shard};
    gufo_status status = parallel_run(&loop, &model->allocator, error);

    return status == GUFO_OK ? finish_set(model, error) : status;
}

gufo_status shards_open_beside(gufo_model *model, const char *first, size_t prefix_len,
                               size_t count, opening_state *o, gufo_error *error)
{
    shard_list list = {.first = first, .prefix_len = prefix_len, .count = count};
    const unsigned threads = threads_for(&list, o->options);
    gufo_status status;

    list.paths = mem_array(&model->allocator, threads, strlen(first) + 1);
    status = list.paths != NULL ? open_all(model, &list, threads, o, error) : fail_memory(error);
    mem_free(&model->allocator, list.paths);
    return model_fail(model, status, error);
}

/* What is wrong with a shard that has no name is not wrong with the first one, whose name the set has. */
static gufo_status fail_list(const gufo_model *model, gufo_status status, gufo_error *error)
{
    if (status == GUFO_OK || (error != NULL && error->role == GUFO_FILE_INPUT))
        return status;
    return model_fail(model, status, error);
}

gufo_status shards_open_list(gufo_model *model, const gufo_input *inputs, size_t count,
                             opening_state *o, gufo_error *error)
{
    shard_list list = {.inputs = inputs, .count = count};
    gufo_status status = open_all(model, &list, threads_for(&list, o->options), o, error);

    for (size_t i = (size_t)list.taken; i < count && status != GUFO_OK; i++)
        model_close_input(&inputs[i]);
    return fail_list(model, status, error);
}

/* ---- joining -------------------------------------------------------------------------------- */

static gufo_status check_part(const gufo_model *part, gufo_error *error)
{
    if (part == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "a model is missing");
    if (part->made != NULL || model_is_set(part))
        return model_fail(
            part,
            refuse(error, GUFO_E_ARGUMENT, "models of one GGUF file can be joined, and no others"),
            error);
    return GUFO_OK;
}

static gufo_status check_parts(gufo_model *const *models, size_t count, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    if (count < 2 || count > GUFO_MAX_SHARDS)
        return refuse(error, GUFO_E_ARGUMENT, "2 to %s models can be joined; %s were given",
                      GROUPED(GUFO_MAX_SHARDS), GROUPED(count));
    for (size_t i = 0; i < count && status == GUFO_OK; i++)
        status = check_part(models[i], error);
    for (size_t i = 0; i < count && status == GUFO_OK; i++)
        models[i]->number = (uint32_t)i;
    for (size_t i = 0; i < count && status == GUFO_OK; i++)
        if (models[i]->number != i) /* that of its second place */
            status = refuse(error, GUFO_E_ARGUMENT, "a model is given twice");
    return status;
}

static gufo_status join_all(gufo_model *set, gufo_model *const *models, size_t count,
                            gufo_error *error)
{
    shard_list list = {.count = count};
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < count && status == GUFO_OK; i++) {
        gufo_model **place = records_add(&set->shards, &set->allocator);

        if (place == NULL)
            return fail_memory(error);
        *place = models[i];
        place_shard(set, models[i], (uint32_t)i);
        status = model_fail(models[i], check_shard(set, &list, i, error), error);
    }
    return status == GUFO_OK ? finish_set(set, error) : status;
}

/* The set that did not come about, whose parts stay the caller's. */
static gufo_model *part_again(gufo_model *set, gufo_model *const *models, size_t count)
{
    if (set != NULL) {
        set->shards.count = 0;
        set->file = NULL;
        gufo_model_free(set);
    }
    for (size_t i = 0; i < count; i++)
        if (models[i] != NULL) {
            number_shard(models[i], 0);
            models[i]->first = 0;
        }
    return NULL;
}

gufo_model *gufo_model_join(gufo_model *const *models, size_t count, gufo_error *error)
{
    gufo_model *set = NULL;

    if (check_parts(models, count, error) == GUFO_OK)
        set = model_new(&models[0]->allocator, models[0]->name, error);
    if (set != NULL && join_all(set, models, count, error) == GUFO_OK)
        return set;
    return count <= GUFO_MAX_SHARDS ? part_again(set, models, count) : NULL;
}
