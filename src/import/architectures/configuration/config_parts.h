/* The steps of config_open. */
#ifndef IMPORT_ARCHITECTURES_CONFIGURATION_CONFIG_PARTS_H
#define IMPORT_ARCHITECTURES_CONFIGURATION_CONFIG_PARTS_H

#include "import/architectures/configuration/config.h"

/* Sets `fields`: those of the root, and those of the text model over them. */
gufo_status config_join_text(model_config *config, gufo_error *error);
/* Sets `ropes`, from `fields`. */
gufo_status config_complete_ropes(model_config *config, gufo_error *error);
/* Sets `class_name` and `architecture`.  `arch`: what the caller says; may be NULL. */
gufo_status config_find_class(model_config *config, const char *arch, gufo_error *error);
/* Changes `target` (`fields` or `edited`) as the rows of a group say. */
gufo_status config_edit(const model_config *config, const char *group, const char *phase,
                        json_t *target, gufo_error *error);
/* The text model's part of config.json; NULL: it has none. */
json_t *config_text_part(const model_config *config);

#endif
