/* What the name of a model's folder says. */
#ifndef IMPORT_GENERAL_FOLDER_NAME_H
#define IMPORT_GENERAL_FOLDER_NAME_H

#include <limits.h>

#include "gufo/base.h"

typedef struct folder_name {
    char id[NAME_MAX + 1]; /* of the model; "": the folder has no name that can be used */
    bool from_hub;         /* it is that of a repository of Hugging Face */
} folder_name;

/* `folder`: a path; "." and paths that end in slashes have a name as well. */
void folder_name_read(const char *folder, folder_name *out);

#endif
