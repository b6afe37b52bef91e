/* general.* of a model.  Each key has sources, in falling priority: the caller's metadata, the model
 * card, the id in config.json, the name of the folder, and for the size the tensors.  Which sources a
 * key has is a row of a table; the rows are in the order in which they are written. */
#include "import/general/general.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "import/general/sources.h"

/* ---- what is known -------------------------------------------------------------------------- */

static void know_type(const general_sources *s, char out[ID_ROOM])
{
    static const char tower[] = "mmproj";

    strcpy(out, s->is_tower ? tower : s->scale.adapter ? "adapter" : "model");
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
        folder_name_write(&s->folder, out);
}

static void know_format(const general_sources *s, char out[ID_ROOM])
{
    if (s->import->facts.container != NULL)
        (void)snprintf(out, ID_ROOM, "%s", s->import->facts.container);
}

/* ---- the keys ------------------------------------------------------------------------------- */

static const general_field fields[] = {
    {"general.type", .kind = &card_text, .known = know_type},
    {"general.sampling.sequence", .kind = &card_text, .generation = "sequence"},
    {"general.sampling.top_k", .kind = &card_whole, .generation = "top_k"},
    {"general.sampling.top_p", .kind = &card_real, .generation = "top_p"},
    {"general.sampling.min_p", .kind = &card_real, .generation = "min_p"},
    {"general.sampling.xtc_probability", .kind = &card_real, .generation = "xtc_probability"},
    {"general.sampling.xtc_threshold", .kind = &card_real, .generation = "xtc_threshold"},
    {"general.sampling.temp", .kind = &card_real, .generation = "temperature"},
    {"general.sampling.penalty_last_n", .kind = &card_whole, .generation = "penalty_last_n"},
    {"general.sampling.penalty_repeat", .kind = &card_real, .generation = "penalty_repeat"},
    {"general.sampling.mirostat", .kind = &card_whole, .generation = "mirostat"},
    {"general.sampling.mirostat_tau", .kind = &card_real, .generation = "mirostat_tau"},
    {"general.sampling.mirostat_eta", .kind = &card_real, .generation = "mirostat_eta"},
    {"general.name", .kind = &card_text, .card = "name model_name", .part = ID_NAME, .title = true,
     .known = know_folder},
    {"general.author", .kind = &card_text, .card = "author model_author model_creator"},
    {"general.version", .kind = &card_text, .card = "version model_version", .part = ID_VERSION},
    {"general.organization", .kind = &card_text, .card = "organization model_organization",
     .part = ID_ORGANIZATION, .title = true},
    {"general.finetune", .kind = &card_text, .card = "finetune model_finetune",
     .part = ID_FINETUNE},
    {"general.basename", .kind = &card_text, .card = "basename model_basename model_type",
     .part = ID_BASENAME},
    {"general.description", .kind = &card_text, .card = "description model_description"},
    {"general.quantized_by", .kind = &card_text},
    {"general.size_label", .kind = &card_text, .card = "size_label model_size_label",
     .part = ID_SIZE, .known = know_size},
    {"general.license", .kind = &card_license, .card = "license"},
    {"general.license.name", .kind = &card_text, .card = "license_name"},
    {"general.license.link", .kind = &card_text, .card = "license_link"},
    {"general.url", .kind = &card_text},
    {"general.doi", .kind = &card_text},
    {"general.uuid", .kind = &card_text},
    {"general.repo_url", .kind = &card_text},
    {"general.source.url", .kind = &card_text, .card = "url model_url"},
    {"general.source.doi", .kind = &card_text, .card = "doi model_doi"},
    {"general.source.uuid", .kind = &card_text, .card = "uuid model_uuid"},
    {"general.source.repo_url", .kind = &card_text, .card = "repo_url model_repo_url",
     .known = know_repository},
    {"gufo.source.format", .kind = &card_text, .known = know_format},
    {"general.base_model.", .kind = &field_parents,
     .card = "base_model base_models base_model_sources", .metadata = "general.base_models"},
    {"general.dataset.", .kind = &field_parents, .card = "datasets dataset dataset_sources",
     .metadata = "general.datasets"},
    {"general.tags", .kind = &card_tags, .card = "tags pipeline_tag"},
    {"general.languages", .kind = &card_languages, .card = GENERAL_CARD_LANGUAGES},
};

enum { FIELD_COUNT = sizeof fields / sizeof *fields };

const char *general_key_at(size_t index)
{
    return index < FIELD_COUNT ? field_metadata_name(&fields[index]) : NULL;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static const general_field *find_field(const char *name)
{
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (strcmp(field_metadata_name(&fields[i]), name) == 0)
            return &fields[i];
    return NULL;
}

/* What is wrong with the caller's metadata; *unused counts keys that are none of the above, of which
 * *first is one. */
static gufo_status look_at_metadata(json_t *metadata, const char **first, uint64_t *unused,
                                    gufo_error *error)
{
    const char *key;
    json_t *value;

    if (!json_is_object(metadata))
        return refuse(error, GUFO_E_TYPE, "not an object of keys and values");
    json_object_foreach(metadata, key, value)
    {
        const general_field *field = find_field(key);

        if (field != NULL && !json_is_null(value) && !field->kind->fits(value))
            return refuse(error, GUFO_E_TYPE, "%s is not %s", key, field->kind->wanted);
        if (field == NULL && (*unused)++ == 0)
            *first = key;
    }
    return GUFO_OK;
}

static gufo_status check_metadata(const general_sources *s, const char *name, gufo_error *error)
{
    const char *first = "";
    uint64_t unused = 0;
    gufo_status status =
        s->metadata != NULL ? look_at_metadata(s->metadata, &first, &unused, error) : GUFO_OK;

    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_INPUT, 0, name);
    return status != GUFO_OK || unused == 0
               ? status
               : import_warn(s->import, error,
                             "%s: %s keys are not used, %s first: only those of general.* "
                             "that describe a model are",
                             name, GROUPED(unused), QUOTED(gufo_str_of(first)));
}

/* A value of generation_config.json that is not of the kind of its key is none. */
static gufo_status check_generation(const general_sources *s, const general_field *field,
                                    gufo_error *error)
{
    const json_t *value =
        field->generation != NULL ? json_object_get(s->generation, field->generation) : NULL;

    return value == NULL || json_is_null(value) || field->kind->fits(value)
               ? GUFO_OK
               : import_warn(s->import, error,
                             "generation_config.json: %s is not %s; it is not used",
                             field->generation, field->kind->wanted);
}

/* Whether a text can be the id of a model: with two slashes it is a path on someone's disk. */
static bool is_id(gufo_str text)
{
    size_t slashes = 0;

    for (size_t i = 0; i < text.len; i++)
        slashes += text.data[i] == '/';
    return slashes <= 1;
}

/* The base of an adapter whose card does not name it. */
static gufo_status add_base(general_sources *s, const general_request *request, gufo_error *error)
{
    const gufo_str base = request->base;

    if (base.len == 0 || !is_id(base) || *base.data == '.' || *base.data == '/' ||
        memchr(base.data, '/', base.len) == NULL ||
        sources_card(s, "base_model base_models base_model_sources", false, NULL) != NULL)
        return GUFO_OK;
    if (s->card == NULL)
        s->card = json_object();
    return json_object_set_new(s->card, "base_model", json_stringn(base.data, base.len)) == 0
               ? GUFO_OK
               : fail_memory(error);
}

/* Reads the sources that the folder and the tensors are. */
static gufo_status find_sources(general_sources *s, const general_request *request,
                                gufo_error *error)
{
    const model_config *config = request->config;
    gufo_str path = json_str(json_object_get(config->raw, "_name_or_path"));
    gufo_status status;

    if (!request->vocabulary_only && !request->adapter)
        s->count = count_parameters(s->import->document);
    s->scale.parameters = request->adapter ? request->weights : s->count.total;
    s->scale.adapter = request->adapter;
    s->is_tower = request->tower;
    folder_name_read(&config->folder, &s->folder);
    /* With two slashes it is a path on someone's disk. */
    if (!is_id(path))
        path.len = 0;
    model_id_read(path, &s->scale, &s->ids[0]);
    model_id_read(gufo_str_of(s->folder.id), &s->scale, &s->ids[1]);
    status = card_read(s->import, config, &s->card, error);
    return status == GUFO_OK ? add_base(s, request, error) : status;
}

static gufo_status write_fields(general_sources *s, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < FIELD_COUNT && status == GUFO_OK; i++) {
        status = check_generation(s, &fields[i], error);
        if (status == GUFO_OK)
            status = fields[i].kind->write(s, &fields[i], error);
    }
    if (status == GUFO_OK && s->odd_field.len > 0)
        status = import_warn(s->import, error, "README.md: %s is not a text; it is not used",
                             QUOTED(s->odd_field));
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
    s->decided = request->decided;
    s->generation = request->config->generation;
    status = check_metadata(s, request->metadata_name != NULL ? request->metadata_name : "metadata",
                            error);
    if (status == GUFO_OK)
        status = find_sources(s, request, error);
    if (status == GUFO_OK)
        status = write_fields(s, error);
    json_decref(s->card);
    mem_free(&import->allocator, s);
    return status;
}
