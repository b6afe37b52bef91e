/* The keys of the GGUF model: what the header says, what shapes say, what the caller knows, and
 * what all such files have. */
#include <inttypes.h>
#include <string.h>
#include <stdio.h>

#include "base/error.h"
#include "base/text.h"
#include "gufo/schema.h"
#include "legacy/plan.h"

enum { KEY_ROOM = 128 };

/* What is being filled, with the caller's options. */
typedef struct filling {
    legacy_import *im;
    gufo_document *document;
    const gufo_legacy_options *options;
    const char *arch;
} filling;

/* ---- values --------------------------------------------------------------------------------- */

/* "{arch}." at the beginning of a key is the architecture. */
static gufo_str key_of(const filling *f, const char *key, char out[KEY_ROOM])
{
    const char *rest = strncmp(key, "{arch}", 6) == 0 ? key + 6 : key;

    (void)snprintf(out, KEY_ROOM, "%s%s", rest == key ? "" : f->arch, rest);
    return gufo_str_of(out);
}

static bool is_known(const filling *f, gufo_str key)
{
    return f->options->known != NULL && gufo_document_find_str(f->options->known, key, NULL);
}

/* Adds a setting, unless the caller knows its value. */
static gufo_status add_setting(const filling *f, gufo_str key, gufo_setting_origin origin,
                               bool required, gufo_value_type type, const char *why,
                               gufo_error *error)
{
    bool known = is_known(f, key);

    return import_add_setting(&f->im->base, key, known ? GUFO_SETTING_KNOWN : origin, required,
                              type, known ? "given" : why, error);
}

static gufo_status set(const filling *f, gufo_str key, const gufo_value *value, gufo_error *error)
{
    return gufo_document_set_entry(f->document, key, value, error);
}

static gufo_status set_text(const filling *f, const char *key, const char *text, gufo_error *error)
{
    return gufo_document_set_text(f->document, key, text, error);
}

/* ---- rows of the table ---------------------------------------------------------------------- */

static double number_of(const legacy_import *im, const legacy_key *key)
{
    const legacy_file *file = &im->file;
    double size = file->parts[0].fields[FIELD_HEAD].i == 0
                      ? 1
                      : (double)field_of(file, FIELD_EMBD) / field_of(file, FIELD_HEAD);

    switch (key->from) {
    case FROM_FIELD:
        return key->type == GUFO_VALUE_FLOAT32 ? (double)file->parts[0].fields[key->field].f
                                               : (double)field_of(file, key->field);
    case FROM_SHAPE:
        return (double)im->shapes.size[(unsigned char)key->shape];
    case FROM_HEAD_SIZE:
        return size;
    case FROM_KV_SHAPE:
        return (double)im->shapes.size[(unsigned char)key->shape] / size;
    case FROM_TENSOR:
        return legacy_record_find(&file->parts[0], key->text) != NULL;
    default:
        return key->number;
    }
}

/* A header without a field has what such files have had by default. */
static bool has_field(const legacy_file *file, legacy_field field)
{
    for (const uint8_t *f = file->form->fields; *f != FIELD_END; f++)
        if (*f == field)
            return true;
    return false;
}

/* What is known of the model's size about a key that is assumed; NULL: only what the family has. */
static const legacy_size *find_size(const legacy_import *im, const legacy_key *key)
{
    const legacy_file *file = &im->file;
    const legacy_size *size = key->from == ASSUMED ? file->family->sizes : NULL;
    bool groups = im->shapes.size['K'] != im->shapes.size['E'];

    for (; size != NULL && size->key != NULL; size++)
        if (strcmp(size->key, key->key) == 0 && size->embedding == field_of(file, FIELD_EMBD) &&
            size->layers == field_of(file, FIELD_LAYER) && size->groups == groups &&
            (size->vocabulary == 0 || size->vocabulary == field_of(file, FIELD_VOCAB)))
            return size;
    return NULL;
}

static gufo_value value_of(const legacy_import *im, const legacy_key *key)
{
    const legacy_size *size = find_size(im, key);
    double number = size != NULL ? size->number : number_of(im, key);
    gufo_value value = {.type = key->type};

    if (key->from == FROM_FIELD && !has_field(&im->file, key->field))
        number = 1; /* parallel residual, one head of keys */
    switch (key->type) {
    case GUFO_VALUE_STRING:
        value.as.str = gufo_str_of(key->text);
        break;
    case GUFO_VALUE_BOOL:
        value.as.b = number != 0;
        break;
    case GUFO_VALUE_FLOAT32:
        value.as.f = (double)(float)number;
        break;
    default:
        value.as.u = (uint64_t)number;
    }
    return value;
}

static gufo_status check_kv(const filling *f, double heads, gufo_error *error)
{
    double all = field_of(&f->im->file, FIELD_HEAD);

    if (heads >= 1 && (double)(uint64_t)heads == heads && (uint64_t)all % (uint64_t)heads == 0)
        return GUFO_OK;
    return refuse(error, GUFO_E_MALFORMED,
                  "by the shapes of attention the model has %g heads of keys, which do not divide "
                  "the %g heads of queries",
                  heads, all);
}

static gufo_status set_row(const filling *f, const legacy_key *key, gufo_error *error)
{
    char room[KEY_ROOM];
    gufo_str name = key_of(f, key->key, room);
    gufo_value value = value_of(f->im, key);
    const legacy_size *size = find_size(f->im, key);
    gufo_status status = GUFO_OK;

    if (key->from == FROM_KV_SHAPE)
        status = check_kv(f, number_of(f->im, key), error);
    if (status == GUFO_OK)
        status = set(f, name, &value, error);
    if (status == GUFO_OK && key->from == ASSUMED)
        status = add_setting(f, name, GUFO_SETTING_ASSUMED, true, key->type,
                             size != NULL ? size->why : key->why, error);
    return status;
}

static gufo_status set_rows(const filling *f, gufo_error *error)
{
    const legacy_key *key = f->im->file.family->keys;
    gufo_status status = GUFO_OK;

    for (; key != NULL && key->key != NULL && status == GUFO_OK; key++)
        status = set_row(f, key, error);
    return status;
}

/* ---- general -------------------------------------------------------------------------------- */

enum { TYPES = 64 }; /* more than there are */

/* How many weights have each element type: those of matrices other than the embedding, or of all
 * tensors where there are none. */
typedef struct weight_counts {
    uint64_t of[TYPES], total;
} weight_counts;

static bool is_weight(const legacy_tensor *t)
{
    gufo_str name = gufo_str_of(t->name);

    return t->n_dims > 1 && !str_begins(name, "token_embd.") && !str_begins(name, "output.");
}

static weight_counts count_weights(const legacy_import *im, bool all)
{
    weight_counts counts = {.total = 0};

    for (uint64_t i = 0; i < im->tensor_count; i++) {
        const legacy_tensor *t = &im->tensors[i];
        uint64_t elements = t->dims[0] * t->dims[1] * t->dims[2] * t->dims[3];

        if (all || is_weight(t)) {
            counts.of[t->type->id] += elements;
            counts.total += elements;
        }
    }
    return counts;
}

static const gufo_element_type *most_type(const weight_counts *counts)
{
    uint32_t most = GUFO_TYPE_F32;

    for (uint32_t id = 0; id < TYPES; id++)
        if (counts->of[id] > counts->of[most])
            most = id;
    return gufo_element_type_by_id(most);
}

/* The header's file type where it is still one and enough weights have its type for a mixture; else that
 * of the most. */
static const gufo_file_type *file_type(const legacy_import *im)
{
    enum { LEAST_PART = 8 };
    const legacy_file *file = &im->file;
    const gufo_file_type *said = file->form->container == CONTAINER_RWKV
                                     ? NULL
                                     : gufo_file_type_by_id((uint64_t)file->ftype);
    weight_counts counts = count_weights(im, false);
    const gufo_element_type *most;

    if (counts.total == 0)
        counts = count_weights(im, true);
    most = most_type(&counts);
    if (said != NULL && (said->flags & GUFO_FILE_TYPE_REMOVED) == 0 &&
        counts.of[said->base_type] > counts.total / LEAST_PART &&
        (said->id != GUFO_FILE_TYPE_F32 || most->id == GUFO_TYPE_F32))
        return said;
    return gufo_file_type_by_name(most->name);
}

/* What the header calls the file; retired names are names, too. */
static void describe(const legacy_import *im, char *out, size_t size)
{
    const legacy_file *file = &im->file;
    const gufo_file_type *said = gufo_file_type_by_id((uint64_t)file->ftype);
    const char *container = file->form->container == CONTAINER_RWKV
                                ? "GGMF"
                                : legacy_container_name(file->form->container);
    const char *name = said != NULL ? said->name : "mixed";

    if (file->form->container == CONTAINER_RWKV)
        name = file_type(im) != NULL ? file_type(im)->name : "mixed";
    (void)snprintf(out, size, "converted from legacy %sv%" PRIu32 " %s%s format", container,
                   file->version != 0 ? file->version : 1,
                   strcmp(name, "F32") == 0 ? "ALL_" : "MOSTLY_", name);
}

/* Names of files are any bytes; those that are not text become "?". */
static gufo_status settle_name(const filling *f, gufo_error *error)
{
    const char *path = f->im->file.parts[0].path, *slash = strrchr(path, '/');
    const char *name = f->options->called != NULL ? f->options->called
                       : slash != NULL            ? slash + 1
                                                  : path;
    char *text = mem_text(&f->im->base.allocator, gufo_str_of(name));
    gufo_str rest;
    size_t valid;

    f->im->base.facts.called = f->im->called = text;
    if (text == NULL)
        return fail_memory(error);
    rest = gufo_str_of(text);
    while ((valid = gufo_utf8_valid_prefix(rest)) < rest.len) {
        text[(size_t)(rest.data - text) + valid] = '?';
        rest = (gufo_str){rest.data + valid, rest.len - valid};
    }
    return GUFO_OK;
}

static gufo_status set_general(const filling *f, gufo_error *error)
{
    const legacy_file *file = &f->im->file;
    char text[KEY_ROOM * 2];
    gufo_status status = settle_name(f, error);

    if (status == GUFO_OK)
        status = set_text(f, "general.architecture", f->arch, error);
    if (status == GUFO_OK)
        status = set_text(f, "general.name", f->im->called, error);
    describe(f->im, text, sizeof text);
    if (status == GUFO_OK)
        status = set_text(f, "general.description", text, error);
    (void)snprintf(text, sizeof text, "%s%s%.0" PRIu32,
                   legacy_container_name(file->form->container),
                   file->version != 0 ? " version " : "", file->version);
    if (status == GUFO_OK)
        status = set_text(f, "gufo.source.format", text, error);
    if (status == GUFO_OK)
        status = set_text(f, "gufo.source.file", f->im->called, error);
    return status;
}

/* Tensors say their types themselves: such a header is odd, not wrong. */
static gufo_status check_file_type(const filling *f, gufo_error *error)
{
    enum { LAST = 18 }; /* MOSTLY_Q6_K */
    const legacy_file *file = &f->im->file;

    if (file->form->container == CONTAINER_RWKV || file->ftype <= LAST)
        return GUFO_OK;
    return import_warn(&f->im->base, error,
                       "the header says file type %" PRId32 ", which no program of the time wrote",
                       file->ftype);
}

/* What depends on the types that were chosen. */
static gufo_status set_types(const filling *f, gufo_error *error)
{
    const gufo_file_type *type = file_type(f->im);
    gufo_status status = check_file_type(f, error);
    bool quantized = false;

    if (status == GUFO_OK && type != NULL)
        status = gufo_document_set_u32(f->document, "general.file_type", type->id, error);
    for (uint64_t i = 0; i < f->im->tensor_count; i++)
        quantized |= (f->im->tensors[i].type->flags & GUFO_ELEMENT_QUANTIZED) != 0;
    if (status == GUFO_OK && quantized)
        status = gufo_document_set_u32(f->document, "general.quantization_version", 2, error);
    return status;
}

/* ---- rwkv ----------------------------------------------------------------------------------- */

typedef struct rwkv_mark {
    const char *name; /* of a tensor that came with it */
    uint32_t version;
} rwkv_mark;

/* The highest version of which a tensor is there. */
static uint32_t rwkv_version(const legacy_part *part)
{
    static const rwkv_mark marks[] = {{"blocks.0.att.r_k", 7},
                                      {"blocks.0.att.k_k", 7},
                                      {"blocks.0.att.time_maa_x", 6},
                                      {"blocks.0.att.ln_x.weight", 5}};

    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
        if (legacy_record_find(part, marks[k].name) != NULL)
            return marks[k].version;
    return 4;
}

static gufo_status set_rwkv(const filling *f, gufo_error *error)
{
    const legacy_part *part = &f->im->file.parts[0];
    const legacy_record *wide = legacy_record_find(part, "blocks.0.ffn.key.weight");
    gufo_status status = GUFO_OK;

    if (wide != NULL && wide->n_dims == 2)
        status = gufo_document_set_u32(f->document, "rwkv.feed_forward_length",
                                       (uint32_t)wide->ne[1], error);
    if (status == GUFO_OK)
        status = gufo_document_set_u32(f->document, "rwkv.architecture_version", rwkv_version(part),
                                       error);
    return status;
}

/* ---- the tokenizer -------------------------------------------------------------------------- */

static gufo_status take_vocabulary(const filling *f, gufo_error *error)
{
    uint64_t count = (uint64_t)field_of(&f->im->file, FIELD_VOCAB);
    gufo_document_entry tokens;
    gufo_status status = import_copy_vocabulary(f->document, f->options->vocabulary, error);

    if (status != GUFO_OK)
        return status;
    if (!gufo_document_find(f->document, "tokenizer.ggml.tokens", &tokens) ||
        tokens.value.type != GUFO_VALUE_ARRAY)
        return refuse(error, GUFO_E_ARGUMENT, "the model of the vocabulary has no tokens");
    if (count != 0 && tokens.value.as.array.count != count)
        return refuse(error, GUFO_E_ARGUMENT, "the vocabulary has %s tokens, but the model has %s",
                      GROUPED(tokens.value.as.array.count), GROUPED(count));
    return import_add_setting(&f->im->base, gufo_str_of("tokenizer.ggml.model"), GUFO_SETTING_KNOWN,
                              true, GUFO_VALUE_STRING, "taken from another model", error);
}

static gufo_status report_vocabulary(const filling *f, const legacy_text_report *report,
                                     gufo_error *error)
{
    const legacy_family *family = f->im->file.family;
    const gufo_str merges = gufo_str_of("tokenizer.ggml.merges");
    bool scored = family->text.texts == LEGACY_TEXTS_PIECES;
    gufo_status status = GUFO_OK;

    f->im->base.facts.lossy_tokens = report->lossy;
    if (report->lossy > 0)
        status = import_warn(&f->im->base, error,
                             "%s tokens have lost bytes in the old file; a GGUF model with "
                             "the same vocabulary has them",
                             GROUPED(report->lossy));
    if (status == GUFO_OK && report->unmade > 0 && !is_known(f, merges))
        status = import_warn(&f->im->base, error,
                             "no merge makes %s of the tokens: their ids are not in the order "
                             "of the merges, and those that were found may be wrong",
                             GROUPED(report->unmade));
    if (status == GUFO_OK && report->no_merges != NULL)
        status = add_setting(f, merges, GUFO_SETTING_MISSING, true, GUFO_VALUE_ARRAY,
                             report->no_merges, error);
    if (status == GUFO_OK && scored && !f->im->file.parts[0].vocabulary.has_scores)
        status = add_setting(f, gufo_str_of("tokenizer.ggml.scores"), GUFO_SETTING_ASSUMED, true,
                             GUFO_VALUE_ARRAY,
                             "the file has none: with zeros texts are divided badly", error);
    if (status == GUFO_OK && family->text.texts == LEGACY_TEXTS_UNIGRAM)
        status = add_setting(
            f, gufo_str_of("tokenizer.ggml.model"), GUFO_SETTING_ASSUMED, true, GUFO_VALUE_STRING,
            "its tokens are those of a unigram model; some programs call it llama", error);
    return status;
}

static gufo_status set_tokenizer(const filling *f, gufo_error *error)
{
    const legacy_file *file = &f->im->file;
    legacy_text_report report = {0};
    gufo_status status;

    if (f->options->vocabulary != NULL)
        return take_vocabulary(f, error);
    if (file->form->container == CONTAINER_RWKV)
        return add_setting(f, gufo_str_of("tokenizer.ggml.model"), GUFO_SETTING_MISSING, false,
                           GUFO_VALUE_STRING,
                           "the file has no vocabulary: take it from a model that has it", error);
    if (file->family->text.texts == LEGACY_TEXTS_NONE)
        return GUFO_OK;
    status = legacy_set_vocabulary(f->document, &file->parts[0].vocabulary, &file->family->text,
                                   (uint64_t)field_of(file, FIELD_VOCAB), &f->im->base.allocator,
                                   &report, error);
    return status == GUFO_OK ? report_vocabulary(f, &report, error) : status;
}

/* ---- what the caller knows ------------------------------------------------------------------ */

/* Keys of another family's architecture are for other files. */
static bool is_of_other(const filling *f, gufo_str key)
{
    const char *dot = memchr(key.data, '.', key.len);
    gufo_str arch = {key.data, dot != NULL ? (size_t)(dot - key.data) : 0};

    return !gufo_str_equal(arch, gufo_str_of(f->arch)) && legacy_is_arch(arch);
}

static gufo_status set_known(const filling *f, gufo_error *error)
{
    gufo_document_entry entry;
    gufo_status status = GUFO_OK;

    if (f->options->known == NULL)
        return GUFO_OK;
    for (uint64_t i = 0; status == GUFO_OK && gufo_document_entry_at(f->options->known, i, &entry);
         i++)
        if (!is_of_other(f, entry.key))
            status = set(f, entry.key, &entry.value, error);
    return status;
}

/* Runtimes go through these arrays side by side, as far as there are tokens. */
static gufo_status check_given_tokens(const filling *f, gufo_error *error)
{
    static const struct {
        const char *key;
        gufo_value_type type;
    } arrays[] = {{"tokenizer.ggml.tokens", GUFO_VALUE_STRING},
                  {"tokenizer.ggml.scores", GUFO_VALUE_FLOAT32},
                  {"tokenizer.ggml.token_type", GUFO_VALUE_INT32}};
    uint64_t count = (uint64_t)field_of(&f->im->file, FIELD_VOCAB);
    gufo_document_entry entry;

    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        if (!gufo_document_find(f->document, arrays[i].key, &entry))
            continue;
        if (entry.value.type != GUFO_VALUE_ARRAY || entry.value.as.array.type != arrays[i].type)
            return refuse(error, GUFO_E_ARGUMENT, "%s is not an array of type %s", arrays[i].key,
                          gufo_value_type_name(arrays[i].type));
        if (entry.value.as.array.count != count)
            return refuse(error, GUFO_E_ARGUMENT, "%s has %s elements, but the model has %s tokens",
                          arrays[i].key, GROUPED(entry.value.as.array.count), GROUPED(count));
    }
    return GUFO_OK;
}

gufo_status legacy_set_keys(legacy_import *im, const gufo_legacy_options *options,
                            gufo_error *error)
{
    filling f = {im, im->base.document, options, im->file.family->arch};
    gufo_status status = set_general(&f, error);

    if (status == GUFO_OK)
        status = set_types(&f, error);
    if (status == GUFO_OK)
        status = set_rows(&f, error);
    if (status == GUFO_OK && strcmp(f.arch, "rwkv") == 0)
        status = set_rwkv(&f, error);
    if (status == GUFO_OK)
        status = set_tokenizer(&f, error);
    if (status == GUFO_OK)
        status = import_name_assumed(&im->base, error);
    if (status == GUFO_OK)
        status = set_known(&f, error);
    return status == GUFO_OK && (options->known != NULL || options->vocabulary != NULL)
               ? check_given_tokens(&f, error)
               : status;
}
