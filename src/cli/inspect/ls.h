/* Folders of models, for gufo ls and commands that take one model after the other. */
#ifndef CLI_INSPECT_LS_H
#define CLI_INSPECT_LS_H

#include "cli/core/options/options.h"

/* Whether a path is a folder of models, not a model. */
bool ls_is_folder(const char *path);
/* Calls `one` for each model in a folder, by name, of a set for the first shard; returns the worst code,
 * CODE_NO after a report if there is none. */
int ls_each(const char *folder, void *context, int (*one)(void *context, const char *path));
/* Lists the files of a repository elsewhere.  Returns the exit code. */
int ls_repository(const char *address, const shared_options *shared);
/* Lists the models in a folder, here or elsewhere.  Returns the exit code. */
int ls_folder(const char *path, const shared_options *shared);

#endif
