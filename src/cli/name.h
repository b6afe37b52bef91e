/* gufo name: what its parts share. */
#ifndef CLI_NAME_H
#define CLI_NAME_H

#include "cli/input.h"
#include "cli/json.h"
#include "cli/options.h"

#include "gufo/name.h"

typedef struct name_options {
    command_input base;
    input_options input;
    bool suggest, rename;
} name_options;

/* The name of the file that `path` is, without its folder. */
gufo_str name_of_path(const char *path);

/* Begins the JSON object of one FILE: its name and the parts of it.  `with_path`: it is more than a
 * name. */
void name_begin_json(json_writer *j, const char *path, bool with_path);

/* --suggest and --rename for one FILE.  Returns the exit code. */
int name_suggest(const char *path, const name_options *options);

#endif
