/* Folders of a model for tests of configurations: files of JSON, and the configuration of them. */
#ifndef TEST_IMPORT_CONFIG_FOLDER_H
#define TEST_IMPORT_CONFIG_FOLDER_H

#include "../support/folder.h"
#include "../support/shared.h"
#include "import/architectures/configuration/config.h"
#include "place.h"

/* Writes a file of text. */
static inline void write_text(const folder *f, const char *name, const char *text)
{
    write_file(folder_path(f, name).text, text, strlen(text));
}

/* The configuration of a folder that has only this config.json; fails the test if it does not
 * open. */
static inline model_config config_of(folder *f, const char *json, const char *arch)
{
    model_config config;
    gufo_error error = no_error();

    *f = folder_new();
    write_text(f, "config.json", json);
    check_ok(config_open(&config, FOLDER_AT(f->path), arch, CONFIG_OF_MODEL, NULL, NULL, &error),
             &error, "%s", json);
    return config;
}

static inline void config_done(folder *f, model_config *config)
{
    config_close(config);
    folder_remove(f);
}

#endif
