/* The conforming name of a file, from what it says about itself. */
#include "schema/name/name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "gufo/codec.h"
#include "gufo/schema.h"

/* Names for people, such as general.name, as parts of a file name.
 *
 *     Mistral-Nemo 12B Instruct v0.2     base name Mistral-Nemo, size 12B, fine tune Instruct,
 *                                        version v0.2
 *     Llama 3.1                          base name Llama-3-1
 *     SQLCoder 4bit                      base name SQLCoder-4-bit: a component that begins with a
 *                                        digit cannot have letters
 *
 *     通义千问 7B                        base name 通义千问: the convention refuses these,
 *                                        but they are the name of the model
 *
 * Everything but letters, digits and '.' divides words. */

/* A size label; but "4k" is a length of context. */
static bool is_weight_class(gufo_str word)
{
    return name_is_size(word) && word.data[word.len - 1] != 'k' && word.data[word.len - 1] != 'K';
}

/* The end of the word, or of the separator, that begins at byte `at`. */
static size_t span(gufo_str text, size_t at, bool word)
{
    while (at < text.len) {
        size_t letter = text.data[at] == '.' ? 1 : name_letter(text, at);

        if ((letter > 0) != word)
            break;
        at += letter > 0 ? letter : 1;
    }
    return at;
}

/* Cuts the next word off the front: empty at the end. */
static gufo_str next_word(gufo_str *text)
{
    size_t from = span(*text, 0, false), to = span(*text, from, true);
    gufo_str word = name_slice(*text, from, to);

    *text = name_slice(*text, to, text->len);
    return word;
}

/* `last`: no word follows, so that a version is that of the model even without a size. */
static void read_word(name_title *title, gufo_str word, bool last)
{
    bool sized = title->size.len > 0, versioned = sized || (last && title->base.len > 0);

    if (!sized && title->base.len > 0 && is_weight_class(word) && name_set_size(&title->size, word))
        return;
    if (versioned && word.len <= NAME_PART_MAX && name_is_version(word))
        name_set(&title->version, word);
    else
        name_add(sized ? &title->fine_tune : &title->base, word, !sized);
}

void name_read_title(gufo_str text, name_title *out)
{
    gufo_str word = next_word(&text), next;

    *out = (name_title){0};
    for (; word.len > 0; word = next) {
        next = next_word(&text);
        read_word(out, word, next.len == 0);
    }
}

/* ---- a name from parts ---------------------------------------------------------------------- */

/* Like snprintf: what does not fit is counted. */
static void put(char *out, size_t size, size_t *len, gufo_str text)
{
    for (size_t i = 0; i < text.len; i++, (*len)++)
        if (*len + 1 < size)
            out[*len] = text.data[i];
}

size_t gufo_name_format(char *out, size_t size, const gufo_name *name)
{
    const gufo_str parts[] = {name->sidecar, name->base_name, name->size_label, name->fine_tune,
                              name->version, name->encoding,  name->type,       name->shard};
    size_t len = 0;
    bool begun = false;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].data == NULL)
            continue;
        if (begun)
            put(out, size, &len, gufo_str_of("-"));
        put(out, size, &len, parts[i]);
        begun = true;
    }
    put(out, size, &len, gufo_str_of(NAME_EXTENSION));
    if (size > 0)
        out[len < size ? len : size - 1] = '\0';
    return len;
}

/* ---- what the model says -------------------------------------------------------------------- */

/* The text of a key; absent if none exists. */
static gufo_str text_of(const gufo_model *model, const char *key)
{
    gufo_str text;

    return gufo_model_get_str(model, key, &text, NULL) == GUFO_OK ? text : (gufo_str){0};
}

static bool text_is(const gufo_model *model, const char *key, const char *expected)
{
    return name_is(text_of(model, key), expected);
}

/* The parts as they are made. */
typedef struct draft {
    const gufo_model *model;
    gufo_str sidecar, type, encoding; /* or absent */
    bool counts_tensors; /* all tensors are present, and their number gives the size of the model */
    const char *to_write; /* the encoding of the file that will be written; NULL: as the model is */
    name_title title;     /* what general.name holds */
    name_text base, size, fine_tune, version;
} draft;

/* A file with the multi-token prediction of a model, and not its other layers. */
static bool has_only_nextn(const gufo_model *model)
{
    gufo_tensor tensor;
    bool nextn = false;
    size_t at;

    for (uint64_t i = 0; gufo_model_tensor_at(model, i, &tensor); i++) {
        if (tensor.name.len > strlen("blk.0.") && str_begins(tensor.name, "blk.0."))
            return false;
        nextn = nextn || name_find(tensor.name, ".nextn.", &at);
    }
    return nextn;
}

static void find_kind(draft *d)
{
    const gufo_model *model = d->model;

    if (text_is(model, "general.type", "mmproj") || text_is(model, "general.architecture", "clip"))
        d->sidecar = gufo_str_of("mmproj");
    else if (has_only_nextn(model))
        d->sidecar = gufo_str_of("mtp");
    if (text_is(model, "general.type", "adapter"))
        d->type = gufo_str_of("LoRA");
    else if (gufo_model_tensor_count(model) == 0)
        d->type = gufo_str_of("vocab");
}

/* "mmproj-..." would be read as a sidecar. */
static void drop_sidecar(name_text *base)
{
    size_t len;

    while ((len = name_sidecar(name_text_view(base))) > 0) {
        memmove(base->data, base->data + len, base->len - len + 1);
        base->len -= len;
    }
}

static void make_base(draft *d)
{
    gufo_str basename = text_of(d->model, "general.basename");
    name_title title = d->title;

    if (basename.len > 0)
        name_read_title(basename, &title);
    if (d->title.version.len == 0)
        d->title.version = title.version;
    d->base = title.base;
    drop_sidecar(&d->base);
    if (d->base.len == 0)
        name_add(&d->base, text_of(d->model, "general.architecture"), true);
    if (d->base.len == 0)
        name_add(&d->base, gufo_str_of("model"), true);
}

static void make_size(draft *d)
{
    gufo_str label = text_of(d->model, "general.size_label");

    if (name_set_size(&d->size, label))
        return;
    if (d->counts_tensors)
        name_count_size(d->model, &d->size);
    /* People write 7B where 6.7B are counted. */
    if (d->size.len == 0 ||
        name_sizes_agree(name_text_view(&d->size), name_text_view(&d->title.size)))
        d->size = d->title.size;
    /* The convention wants a size of every file; a vocabulary has no parameters. */
    if (d->size.len == 0 && d->type.len > 0 && gufo_model_tensor_count(d->model) == 0)
        name_set(&d->size, gufo_str_of("0B"));
}

/* Only what has a size label can have a fine tune; without one it goes to the base name. */
static void make_fine_tune(draft *d)
{
    gufo_str fine_tune = text_of(d->model, "general.finetune");
    name_text made = {0};

    name_add(&made, fine_tune, false);
    if (made.len == 0)
        made = d->title.fine_tune;
    if (d->size.len > 0)
        d->fine_tune = made;
    else if (made.len > 0)
        name_add(&d->base, name_text_view(&made), true);
}

static void make_version(draft *d)
{
    gufo_str given = text_of(d->model, "general.version");
    size_t prefix = given.len > 0 && (given.data[0] == 'v' || given.data[0] == 'V');
    name_text made = {0};

    if (given.len < NAME_PART_MAX && given.len > prefix) {
        made.len = 1 + given.len - prefix;
        made.data[0] = 'v';
        memcpy(made.data + 1, given.data + prefix, given.len - prefix);
    }
    if (!name_is_version(name_text_view(&made)))
        made = d->title.version;
    if (made.len == 0)
        name_set(&made, gufo_str_of(NAME_DEFAULT_VERSION));
    d->version = made;
}

/* ---- encoding ------------------------------------------------------------------------------- */

/* The name of the type that most elements have; absent if none exist, or if the type is not
 * known. */
static gufo_str dominant_type(const gufo_model *model)
{
    const gufo_element_type *best = NULL;
    uint64_t most = 0;

    for (size_t i = 0; i < gufo_element_type_count(); i++) {
        const gufo_element_type *type = gufo_element_type_at(i);
        uint64_t sum = 0;
        gufo_tensor tensor;

        for (uint64_t j = 0; gufo_model_tensor_at(model, j, &tensor); j++)
            if (tensor.type == type->id && sum < UINT64_MAX - tensor.elements)
                sum += tensor.elements;
        if (sum > most) {
            most = sum;
            best = type;
        }
    }
    return best != NULL ? gufo_str_of(best->name) : (gufo_str){0};
}

/* A file type that was guessed is marked so. */
#define FILE_TYPE_GUESSED UINT64_C(1024)

static gufo_str encoding_of(const gufo_model *model)
{
    uint64_t number;

    if (gufo_model_tensor_count(model) == 0)
        return (gufo_str){0};
    if (gufo_model_get_u64(model, "general.file_type", &number, NULL) == GUFO_OK &&
        gufo_file_type_by_id(number & ~FILE_TYPE_GUESSED) != NULL)
        return gufo_str_of(gufo_file_type_by_id(number & ~FILE_TYPE_GUESSED)->name);
    return dominant_type(model);
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* `shard`, from 1, of `shards`: none below 2. */
static gufo_status write_name(const draft *d, uint64_t shard, uint64_t shards,
                              char out[GUFO_NAME_SIZE], gufo_error *error)
{
    char number[48] = "";
    gufo_name parts = {.sidecar = d->sidecar,
                       .base_name = name_text_view(&d->base),
                       .size_label = name_text_view(&d->size),
                       .fine_tune = name_text_view(&d->fine_tune),
                       .version = name_text_view(&d->version),
                       .encoding = d->encoding,
                       .type = d->type};
    gufo_str part;

    if (shards > 1) {
        snprintf(number, sizeof number, "%05" PRIu64 "-of-%05" PRIu64, shard, shards);
        parts.shard = gufo_str_of(number);
    }
    size_t len = gufo_name_format(out, GUFO_NAME_SIZE, &parts);

    if (len >= GUFO_NAME_SIZE)
        return refuse(error, GUFO_E_RANGE,
                      "its name would have %s bytes, but a file name has at most %d", GROUPED(len),
                      GUFO_NAME_SIZE - 1);
    if (name_fault(&parts, &part) == NULL)
        return GUFO_OK;
    return refuse(error, GUFO_E_RANGE,
                  "the naming convention has no room for shard %" PRIu64 " of %" PRIu64, shard,
                  shards);
}

static void make(draft *d)
{
    find_kind(d);
    d->counts_tensors = d->counts_tensors && d->sidecar.len == 0;
    name_read_title(text_of(d->model, "general.name"), &d->title);
    make_base(d);
    make_size(d);
    make_fine_tune(d);
    make_version(d);
    d->encoding = d->to_write != NULL && gufo_model_tensor_count(d->model) > 0
                      ? gufo_str_of(d->to_write)
                      : encoding_of(d->model);
}

/* What split.no and split.count say; a file without them is the only one. */
static uint64_t split_number(const gufo_model *file, const char *key, uint64_t otherwise)
{
    uint64_t number;

    return gufo_model_get_u64(file, key, &number, NULL) == GUFO_OK ? number : otherwise;
}

gufo_status name_suggest_as(const gufo_model *model, const char *encoding, char out[GUFO_NAME_SIZE],
                            gufo_error *error)
{
    draft d = {.model = model, .counts_tensors = true, .to_write = encoding};

    make(&d);
    return write_name(&d, 1, 1, out, error);
}

/* One file, which may be a shard all the same. */
static gufo_status suggest_alone(const gufo_model *model, char out[GUFO_NAME_SIZE],
                                 gufo_error *error)
{
    uint64_t number = split_number(model, "split.no", 0);
    uint64_t count = split_number(model, "split.count", 1);
    draft d = {.model = model, .counts_tensors = count < 2};

    if (number > 0)
        return refuse(error, GUFO_E_SHARDS,
                      "this is not the first shard of its set, which has the metadata that a "
                      "name is made from");
    make(&d);
    if (d.size.len == 0 && count > 1 && d.sidecar.len == 0 && d.type.len == 0)
        return refuse(error, GUFO_E_SHARDS,
                      "general.size_label is missing, and one shard of %" PRIu64
                      " does not show the size",
                      count);
    return write_name(&d, number + 1, count, out, error);
}

gufo_status gufo_model_suggest_name(const gufo_model *model, size_t shard, char out[GUFO_NAME_SIZE],
                                    gufo_error *error)
{
    size_t count = gufo_model_shard_count(model);
    draft d = {.model = model, .counts_tensors = true};

    if (shard >= count)
        return refuse(error, GUFO_E_RANGE, "the model has no shard %zu", shard + 1);
    if (count == 1)
        return suggest_alone(model, out, error);
    make(&d);
    return write_name(&d, shard + 1, count, out, error);
}
