/* general.* of a model.  Each key has sources, in falling priority: the caller's metadata, the model
 * card, the id in config.json, the name of the folder, and for the size the tensors.  Which sources a
 * key has is a row of a table; the rows are in the order in which they are written. */
#include "import/general/general.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/general/card.h"
#include "import/general/parents.h"
#include "import/general/sources.h"

/* Of the layout of today's quantized blocks. */
enum { QUANTIZATION_VERSION = 2 };

struct general_field;

typedef gufo_status write_field(general_sources *s, const struct general_field *field,
                                gufo_error *error);
/* What is known without being said; it writes nothing if nothing is. */
typedef void know_field(const general_sources *s, char out[ID_ROOM]);

static write_field write_text, write_list, write_whole, write_real, write_parents;
static know_field know_type, know_folder, know_size, know_repository, know_format;

typedef struct general_field {
    const char *key;
    write_field *write;
    const char *card;       /* its fields of the card: the first that is set; of a list: all */
    const char *generation; /* its field of generation_config.json */
    id_part part;           /* of an id */
    bool title;             /* which is written as a title */
    bool joined;            /* a list is written as one text */
    know_field *known;
    const char *metadata; /* what the caller's metadata call it, if not by its key */
} general_field;

static const general_field fields[] = {
    {"general.type", .write = write_text, .known = know_type},
    {"general.sampling.sequence", .write = write_text, .generation = "sequence"},
    {"general.sampling.top_k", .write = write_whole, .generation = "top_k"},
    {"general.sampling.top_p", .write = write_real, .generation = "top_p"},
    {"general.sampling.min_p", .write = write_real, .generation = "min_p"},
    {"general.sampling.xtc_probability", .write = write_real, .generation = "xtc_probability"},
    {"general.sampling.xtc_threshold", .write = write_real, .generation = "xtc_threshold"},
    {"general.sampling.temp", .write = write_real, .generation = "temperature"},
    {"general.sampling.penalty_last_n", .write = write_whole, .generation = "penalty_last_n"},
    {"general.sampling.penalty_repeat", .write = write_real, .generation = "penalty_repeat"},
    {"general.sampling.mirostat", .write = write_whole, .generation = "mirostat"},
    {"general.sampling.mirostat_tau", .write = write_real, .generation = "mirostat_tau"},
    {"general.sampling.mirostat_eta", .write = write_real, .generation = "mirostat_eta"},
    {"general.name", .write = write_text, .card = "name model_name", .part = ID_NAME, .title = true,
     .known = know_folder},
    {"general.author", .write = write_text, .card = "author model_author model_creator"},
    {"general.version", .write = write_text, .card = "version model_version", .part = ID_VERSION},
    {"general.organization", .write = write_text, .card = "organization model_organization",
     .part = ID_ORGANIZATION, .title = true},
    {"general.finetune", .write = write_text, .card = "finetune model_finetune",
     .part = ID_FINETUNE},
    {"general.basename", .write = write_text, .card = "basename model_basename model_type",
     .part = ID_BASENAME},
    {"general.description", .write = write_text, .card = "description model_description"},
    {"general.quantized_by", .write = write_text},
    {"general.size_label", .write = write_text, .card = "size_label model_size_label",
     .part = ID_SIZE, .known = know_size},
    {"general.license", .write = write_text, .card = "license", .joined = true},
    {"general.license.name", .write = write_text, .card = "license_name"},
    {"general.license.link", .write = write_text, .card = "license_link"},
    {"general.url", .write = write_text},
    {"general.doi", .write = write_text},
    {"general.uuid", .write = write_text},
    {"general.repo_url", .write = write_text},
    {"general.source.url", .write = write_text, .card = "url model_url"},
    {"general.source.doi", .write = write_text, .card = "doi model_doi"},
    {"general.source.uuid", .write = write_text, .card = "uuid model_uuid"},
    {"general.source.repo_url", .write = write_text, .card = "repo_url model_repo_url",
     .known = know_repository},
    {"general.source.format", .write = write_text, .known = know_format},
    {"general.base_model.", .write = write_parents,
     .card = "base_model base_models base_model_sources", .metadata = "general.base_models"},
    {"general.dataset.", .write = write_parents, .card = "datasets dataset dataset_sources",
     .metadata = "general.datasets"},
    {"general.tags", .write = write_list, .card = "tags pipeline_tag"},
    {"general.languages", .write = write_list, .card = "languages language"},
};

enum { FIELD_COUNT = sizeof fields / sizeof *fields };

static const char *metadata_name(const general_field *field)
{
    return field->metadata != NULL ? field->metadata : field->key;
}

/* The caller's value is of another type than its key has. */
static gufo_status fail_type(const general_field *field, const char *wanted, gufo_error *error)
{
    return refuse(error, GUFO_E_TYPE, "metadata: %s is not %s", metadata_name(field), wanted);
}

static gufo_status set_text(const general_sources *s, const general_field *field, gufo_str text,
                            gufo_error *error)
{
    if (text.len == 0)
        return GUFO_OK;
    return gufo_document_set_str(s->import->document, field->key, text, error);
}

/* ---- what is known -------------------------------------------------------------------------- */

static void know_type(const general_sources *s, char out[ID_ROOM])
{
    (void)s;
    strcpy(out, "model");
}

static void know_folder(const general_sources *s, char out[ID_ROOM])
{
    strcpy(out, s->folder.id);
}

static void know_size(const general_sources *s, char out[ID_ROOM])
{
    if (s->count.total > 0)
        size_label_write(&s->count, out);
}

static void know_repository(const general_sources *s, char out[ID_ROOM])
{
    if (s->folder.from_hub)
        (void)snprintf(out, ID_ROOM, "https://huggingface.co/%s", s->folder.id);
}

static void know_format(const general_sources *s, char out[ID_ROOM])
{
    if (s->import->facts.container != NULL)
        (void)snprintf(out, ID_ROOM, "%s", s->import->facts.container);
}

/* ---- texts ---------------------------------------------------------------------------------- */

/* What an id says, or what is known. */
static gufo_status write_inferred(const general_sources *s, const general_field *field,
                                  gufo_error *error)
{
    const char *part = s->ids[0].part[field->part];
    char text[ID_ROOM] = "";

    if (part[0] == '\0')
        part = s->ids[1].part[field->part];
    if (field->title)
        model_id_title(gufo_str_of(part), text);
    else
        strcpy(text, part);
    if (text[0] == '\0' && field->known != NULL)
        field->known(s, text);
    return set_text(s, field, gufo_str_of(text), error);
}

/* Several licenses are one text. */
static gufo_status write_joined(const general_sources *s, const general_field *field,
                                const json_t *list, gufo_error *error)
{
    buffer joined = {.allocator = &s->import->allocator};
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < json_array_size(list) && status == GUFO_OK; i++) {
        gufo_str text = json_str(json_array_get(list, i));
        size_t comma = joined.len > 0;
        char *room = text.len > 0 ? buffer_extend(&joined, text.len + comma) : NULL;

        if (text.len == 0)
            continue;
        if (room == NULL) {
            status = fail_memory(error);
            break;
        }
        if (comma > 0)
            room[0] = ',';
        memcpy(room + comma, text.data, text.len);
    }
    if (status == GUFO_OK)
        status = set_text(s, field, (gufo_str){(const char *)joined.data, joined.len}, error);
    buffer_free(&joined);
    return status;
}

static gufo_status write_text(general_sources *s, const general_field *field, gufo_error *error)
{
    bool decided;
    const json_t *value = sources_metadata(s, metadata_name(field), &decided);

    if (value == NULL && !decided)
        value = sources_card(s, field->card, true);
    if (value == NULL && !decided && field->generation != NULL)
        value = json_object_get(s->generation, field->generation);
    if (json_is_string(value))
        return set_text(s, field, json_str(value), error);
    if (json_is_array(value) && field->joined)
        return write_joined(s, field, value, error);
    if (decided)
        return value == NULL ? GUFO_OK : fail_type(field, "a text", error);
    if (value != NULL && field->generation == NULL)
        s->odd_field = field->card;
    return write_inferred(s, field, error);
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* The number of a field, if it is one from `least` to `most`.  A value of the configuration that is not
 * is none; one of the caller is a failure. */
static gufo_status find_number(const general_sources *s, const general_field *field, double most,
                               bool whole, double *out, bool *found, gufo_error *error)
{
    const json_t *value = sources_metadata(s, field->key, found);
    bool given = *found;

    if (!given)
        value = json_object_get(s->generation, field->generation);
    *found = false;
    if (value == NULL)
        return GUFO_OK;
    *out = json_number_value(value);
    *found = json_is_number(value) && fabs(*out) <= most && (!whole || *out == floor(*out));
    return *found || !given
               ? GUFO_OK
               : fail_type(field, whole ? "a whole number that fits" : "a number that fits", error);
}

static gufo_status write_whole(general_sources *s, const general_field *field, gufo_error *error)
{
    gufo_status status;
    double number;
    bool found;

    status = find_number(s, field, INT32_MAX, true, &number, &found, error);
    return status != GUFO_OK || !found
               ? status
               : gufo_document_set_i32(s->import->document, field->key, (int32_t)number, error);
}

static gufo_status write_real(general_sources *s, const general_field *field, gufo_error *error)
{
    gufo_status status;
    double number;
    bool found;

    status = find_number(s, field, (double)FLT_MAX, false, &number, &found, error);
    return status != GUFO_OK || !found
               ? status
               : gufo_document_set_f32(s->import->document, field->key, (float)number, error);
}

/* ---- lists ---------------------------------------------------------------------------------- */

/* Appends the texts of a list, or a text, to `texts`, which has room for them. */
static uint64_t add_texts(const json_t *value, gufo_str *texts, uint64_t count)
{
    gufo_str text = json_str(value);

    if (text.len > 0)
        texts[count++] = text;
    for (size_t i = 0; i < json_array_size(value); i++) {
        text = json_str(json_array_get(value, i));
        if (text.len > 0)
            texts[count++] = text;
    }
    return count;
}

/* The values that a list is made of: at most two. */
static size_t find_lists(const general_sources *s, const general_field *field,
                         const json_t *values[2])
{
    const char *names = field->card;
    bool decided;
    size_t count = 0;

    values[0] = sources_metadata(s, field->key, &decided);
    if (decided)
        return values[0] != NULL;
    while (*names != '\0' && count < 2) {
        gufo_str name = str_piece(&names, ' ');
        const json_t *value = json_object_getn(s->card, name.data, name.len);

        if (value != NULL)
            values[count++] = value;
    }
    return count;
}

static gufo_status write_list(general_sources *s, const general_field *field, gufo_error *error)
{
    const json_t *values[2];
    size_t lists = find_lists(s, field, values);
    uint64_t room = lists, count = 0;
    gufo_status status = GUFO_OK;
    gufo_str *texts;

    for (size_t i = 0; i < lists; i++)
        room += json_array_size(values[i]);
    texts = mem_array(&s->import->allocator, room, sizeof *texts);
    if (texts == NULL)
        return fail_memory(error);
    for (size_t i = 0; i < lists; i++)
        count = add_texts(values[i], texts, count);
    if (count > 0)
        status = gufo_document_set_array(s->import->document, field->key,
                                         &(gufo_items){GUFO_VALUE_STRING, count, texts}, error);
    mem_free(&s->import->allocator, texts);
    return status;
}

static gufo_status write_parents(general_sources *s, const general_field *field, gufo_error *error)
{
    bool decided;
    const json_t *list = sources_metadata(s, field->metadata, &decided);

    if (!decided) {
        list = sources_card(s, field->card, false);
        if (list == NULL)
            return GUFO_OK;
        if (json_is_null(list))
            list = NULL;
    } else if (list == NULL) {
        return GUFO_OK;
    } else if (!json_is_array(list)) {
        return fail_type(field, "a list", error);
    }
    return parents_write(s, field->key, list, error);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static bool is_written(const char *key)
{
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (strcmp(metadata_name(&fields[i]), key) == 0)
            return true;
    return false;
}

/* Warns of keys in the caller's metadata that are none of those above. */
static gufo_status check_metadata(const general_sources *s, gufo_error *error)
{
    const char *first = NULL, *key;
    uint64_t count = 0;
    json_t *value;

    if (s->metadata == NULL)
        return GUFO_OK;
    if (!json_is_object(s->metadata))
        return refuse(error, GUFO_E_TYPE, "metadata: not an object of keys and values");
    json_object_foreach(s->metadata, key, value)
    {
        if (is_written(key))
            continue;
        first = first != NULL ? first : key;
        count++;
    }
    return count == 0 ? GUFO_OK
                      : import_warn(s->import, error,
                                    "metadata: %" PRIu64 " keys are not used, %s first: only those "
                                    "of general.* that describe a model are",
                                    count, QUOTED(gufo_str_of(first)));
}

/* Reads the sources that the folder and the tensors are. */
static gufo_status find_sources(general_sources *s, const general_request *request,
                                gufo_error *error)
{
    const model_config *config = request->config;
    gufo_str path = json_str(json_object_get(config->raw, "_name_or_path"));

    if (!request->vocabulary_only)
        s->count = count_parameters(s->import->document);
    s->scale.parameters = s->count.total;
    if (config->folder != NULL)
        folder_name_read(config->folder, &s->folder);
    /* With two slashes it is a path on someone's disk. */
    for (size_t i = 0, slashes = 0; i < path.len; i++) {
        slashes += path.data[i] == '/';
        if (slashes > 1)
            path.len = 0;
    }
    model_id_read(path, &s->scale, &s->ids[0]);
    model_id_read(gufo_str_of(s->folder.id), &s->scale, &s->ids[1]);
    return config->folder != NULL ? card_read(s->import, config->folder, &s->card, error) : GUFO_OK;
}

static gufo_status write_fields(general_sources *s, gufo_error *error)
{
    gufo_status status = check_metadata(s, error);

    for (size_t i = 0; i < FIELD_COUNT && status == GUFO_OK; i++)
        status = fields[i].write(s, &fields[i], error);
    if (status == GUFO_OK && s->odd_field != NULL)
        status = import_warn(s->import, error, "README.md: \"%.*s\" is not a text; it is not used",
                             (int)strcspn(s->odd_field, " "), s->odd_field);
    return status;
}

gufo_status general_write(gufo_import *import, const general_request *request, gufo_error *error)
{
    general_sources *s = mem_zero(&import->allocator, sizeof *s);
    gufo_status status;

    if (s == NULL)
        return fail_memory(error);
    s->import = import;
    s->metadata = request->metadata;
    s->generation = request->config->generation;
    status = find_sources(s, request, error);
    if (status == GUFO_OK)
        status = write_fields(s, error);
    if (status == GUFO_OK)
        status = gufo_document_set_u32(import->document, "general.quantization_version",
                                       QUANTIZATION_VERSION, error);
    json_decref(s->card);
    mem_free(&import->allocator, s);
    return status;
}
