/* What the files of a model folder say about the model: config.json and those beside it.
 *
 * `fields` is the configuration that the tables of registry/ speak of: the fields of the text model
 * are laid over those of the whole. */
#ifndef IMPORT_ARCHITECTURES_CONFIGURATION_CONFIG_H
#define IMPORT_ARCHITECTURES_CONFIGURATION_CONFIG_H

#include "base/buffer.h"
#include "gufo/base.h"
#include "import/json_file.h"

/* What is made of a checkpoint. */
typedef enum config_kind {
    CONFIG_OF_MODEL,
    CONFIG_GENERIC, /* a model without rules */
    CONFIG_OF_TOWER /* what sees images or hears, without the text model */
} config_kind;

typedef struct model_config {
    const gufo_allocator *allocator;
    source_folder folder;  /* where the files are; what it needs is lent */
    import_bounds *bounds; /* of the files, lent; NULL: the default */
    bool is_made;          /* from the keys of a model, without files */
    json_t *raw;           /* config.json, or params.json, as it is */
    json_t *fields;        /* with the text model's fields over it */
    json_t *edited;        /* and with the changes that the keys (vocab_size: the tokenizer) want */
    json_t *origins;    /* of fields that rules made: those that they were made of, in an object */
    json_t *ropes;      /* parameters of rotary positions, complete */
    json_t *tokenizer;  /* tokenizer_config.json; NULL: none */
    json_t *generation; /* generation_config.json; NULL: none, or unreadable */
    json_t *processor; /* of a tower: preprocessor_config.json with processor_config.json over it */
    char *unread;      /* why it is unreadable; NULL: it is not */
    bool is_mistral;   /* Mistral's own layout: params.json */
    /* "LlamaForCausalLM"; "params.json" in Mistral's own layout; "" if the configuration names none,
     * and the caller an architecture */
    char *class_name;
    char *architecture; /* "llama": general.architecture */
    const char *rules;  /* the group of its rules: mostly the name of the architecture */
    config_kind kind;
} model_config;

/* Reads the files of a folder and finds the class and the architecture.  `arch`: the one that the
 * caller says; NULL: as the class says.  CONFIG_GENERIC: an unknown class is accepted, and config.json
 * may be missing.  `bounds`: of these files and others that are read later.
 *   GUFO_E_TYPE       a class without rules: its name, and what can be done
 *   GUFO_E_NOT_FOUND  neither config.json nor params.json
 *   GUFO_E_ARGUMENT   CONFIG_GENERIC without `arch`, an `arch` that cannot be part of a key
 *   GUFO_E_MALFORMED, GUFO_E_RANGE, GUFO_E_LIMIT, GUFO_E_IO, GUFO_E_MEMORY
 * Nothing is left to close after a failure. */
gufo_status config_open(model_config *config, const source_folder *folder, const char *arch,
                        config_kind kind, import_bounds *bounds, const gufo_allocator *allocator,
                        gufo_error *error);
/* The same for a configuration that was made, which is `raw` of it and is not changed: no other
 * file says anything. */
gufo_status config_open_made(model_config *config, json_t *raw, const char *arch,
                             const gufo_allocator *allocator, gufo_error *error);
void config_close(model_config *config);

/* The value of an expression of the tables, over the fields as the tensors see them ("fields"), not
 * as the keys do ("edited"): a whole number that fits.  GUFO_E_MALFORMED names what is missing. */
gufo_status config_number(const model_config *config, const char *expression, uint64_t *out,
                          gufo_error *error);
/* The same for a real number. */
gufo_status config_real(const model_config *config, const char *expression, double *out,
                        gufo_error *error);
/* Whether a condition of the tables holds; an empty one does. */
gufo_status config_holds(const model_config *config, const char *condition, bool *out,
                         gufo_error *error);

/* Names config.json, or params.json, as the file of a failure, unless it names one already. */
gufo_status config_failed(const model_config *config, gufo_status status, gufo_error *error);

/* Files of a model folder that few architectures ask for. */

/* Whether the folder has a file with this name. */
bool config_has_file(const model_config *config, gufo_str name);
/* As json_file_read, of a file of the folder. */
gufo_status config_read_json(const model_config *config, const char *name, uint64_t limit,
                             json_t **json, gufo_error *error);

/* Pooling of an embedding model, as modules.json says (sentence-transformers): the number that
 * {arch}.pooling_type stores.  *found: false without that file, or without pooling in it. */
gufo_status config_pooling(const model_config *config, bool *found, uint32_t *pooling,
                           gufo_error *error);

/* The id of a token that the tokenizer's files add to the vocabulary; *found: whether they do. */
gufo_status config_added_token(const model_config *config, gufo_str text, bool *found, int64_t *id,
                               gufo_error *error);

/* Sets `processor`: what the files say of images and sound. */
gufo_status config_read_processor(model_config *config, gufo_error *error);

/* Whether the model's folder, _name_or_path, model_type or class has this name in it, or a heading of
 * its card begins with it, in any case. */
gufo_status config_is_called(const model_config *config, gufo_str name, bool *out,
                             gufo_error *error);

/* The classes of models that frameworks have, and their architectures: the table hf_classes. */

typedef struct class_row {
    const char *name; /* "LlamaForCausalLM" */
    const char *architecture;
    /* "text"; "whole": a text model, too, whose class counts though its text part has one of its
     * own; "projector": its tower, which sees or hears */
    const char *kind;
    const char *condition;
    const char *rules; /* the group of rules, where it is not the architecture */
} class_row;

/* All rows. */
const class_row *class_at(size_t index);
/* The rows of a class: the first one whose condition holds counts. */
const class_row *class_rows(const char *name, size_t *count);

/* Names of tokenizer.ggml.pre that are usual for an architecture, with blanks between; "" for others, and for NULL. */
const char *usual_pre(const char *architecture);

#endif
