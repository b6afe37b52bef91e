/* A job of an export, with a configuration that is given. */
#ifndef IMPORT_EXPORT_JOB_H
#define IMPORT_EXPORT_JOB_H

#include "import/export/export.h"

/* gufo_export_job; `config`: config.json, in place of what export_config says; NULL: that. */
gufo_job *export_job_of(const gufo_model *model, json_t *config, const gufo_export_options *options,
                        gufo_error *error);

#endif
