/* gufo name: what its parts share. */
#ifndef CLI_NAME_H
#define CLI_NAME_H

#include "cli/input.h"
#include "cli/json.h"
#include "cli/options.h"

#include "base/files/guard.h"
#include "gufo/name.h"

typedef struct name_options {
    command_input base;
    input_options input;
    bool suggest, rename;
} name_options;

/* Begins the JSON object of one FILE: its name and the parts of it.  `with_path`: it is more than a
 * name. */
void name_begin_json(json_writer *j, const char *path, bool with_path);
/* A line for each part that there is. */
void name_print_parts(const gufo_name *parsed, bool conforming);

/* --suggest and --rename for one FILE.  What was renamed is added to `kept`, files that no other
 * may replace. Returns the exit code. */
int name_suggest(const char *path, const name_options *options, output_guard *kept);

#endif
