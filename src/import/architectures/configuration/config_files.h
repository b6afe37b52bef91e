/* Files of a model folder that few architectures ask for. */
#ifndef IMPORT_ARCHITECTURES_CONFIGURATION_CONFIG_FILES_H
#define IMPORT_ARCHITECTURES_CONFIGURATION_CONFIG_FILES_H

#include "import/architectures/configuration/config.h"

/* Whether the folder has a file with this name. */
bool config_has_file(const model_config *config, gufo_str name);
/* As json_file_read, of a file of the folder. */
gufo_status config_read_json(const model_config *config, const char *name, uint64_t limit,
                             json_t **json, gufo_error *error);

/* Pooling of an embedding model, as modules.json says (sentence-transformers): the number that
 * {arch}.pooling_type stores.  *found: false without that file, or without pooling in it. */
gufo_status config_pooling(const model_config *config, bool *found, uint32_t *pooling,
                           gufo_error *error);

/* Whether the model's folder, _name_or_path, model_type or class has this name in it, or a heading of
 * its card begins with it, in any case. */
gufo_status config_is_called(const model_config *config, gufo_str name, bool *out,
                             gufo_error *error);

#endif
