/* What the files of this room share. */
#ifndef IMPORT_EXPORT_PARTS_H
#define IMPORT_EXPORT_PARTS_H

#include "base/buffer.h"
#include "import/architectures/configuration/config.h"
#include "import/export/export.h"

/* Adds a file, whose bytes it takes over, also on failure.  They are of malloc. */
gufo_status export_add(export_files *files, const char *name, buffer *bytes, gufo_error *error);
/* The same of a JSON value, indented. */
gufo_status export_add_json(export_files *files, const char *name, const json_t *json,
                            gufo_error *error);
/* Removes the files from number `count` on. */
void export_drop(export_files *files, uint32_t count);

/* ---- vocabulary.c --------------------------------------------------------------------------- */

/* Adds the files of the tokenizer. */
gufo_status export_vocabulary(const gufo_model *model, export_files *files, gufo_error *error);

/* ---- tokenizer_config.c --------------------------------------------------------------------- */

/* Adds tokenizer_config.json, special_tokens_map.json and added_tokens.json.  `with_added`: the file of the
 * vocabulary does not say which tokens were added, but scores do. */
gufo_status export_tokenizer_config(const gufo_model *model, bool with_added, export_files *files,
                                    gufo_error *error);

/* ---- card.c --------------------------------------------------------------------------------- */

/* Adds README.md. */
gufo_status export_card(const gufo_model *model, export_files *files, gufo_error *error);

/* ---- metadata.c ----------------------------------------------------------------------------- */

/* Adds gguf-metadata.json: what the conversion of the files so far does not give.  `type`: of most of the
 * model. */
gufo_status export_metadata(const gufo_model *model, uint32_t type, export_files *files,
                            gufo_error *error);

#endif
