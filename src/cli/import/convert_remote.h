/* The folder of a model on another machine, as gufo convert reads it. */
#ifndef CLI_IMPORT_CONVERT_REMOTE_H
#define CLI_IMPORT_CONVERT_REMOTE_H

#include "gufo/base.h"

typedef struct convert_remote {
    char *path;         /* of the same files in a cache of this machine, or NULL: */
    gufo_folder folder; /* opened */
    char *called;       /* what a repository of Hugging Face is called; NULL: as its address ends */
} convert_remote;

/* Opens an address.  Returns CODE_OK, or another code after a report; convert_remote_close follows in any case. */
int convert_remote_open(convert_remote *remote, const char *address);
void convert_remote_close(convert_remote *remote);

#endif
