/* What a text names that is not on this machine, by its grammar alone: nothing is asked.
 *
 *     hf://[models/|datasets/|spaces/]OWNER/NAME[@REVISION][/PATH]     a file of a repository, or all in a folder of it
 *     hf.co/OWNER/NAME[:TYPE], OWNER/NAME:TYPE                         its file of an element type
 *     ms://OWNER/NAME[@REVISION][/PATH]
 *     ollama://[HOST/][OWNER/]NAME[:TAG]
 *     https://HOST/...                                                 and what browsers show of the services above
 *
 * Names become parts of paths and of addresses: each is checked against its grammar here, before anybody
 * has it, and none that is has "..", a backslash, or a character that a terminal would act on. */
#ifndef REMOTE_PLACES_ADDRESS_H
#define REMOTE_PLACES_ADDRESS_H

#include "gufo/base.h"

enum {
    ADDRESS_NAME = 128,
    ADDRESS_TAG = 128,
    ADDRESS_HOST = 256,
    ADDRESS_REVISION = 256,
    ADDRESS_PATH = 1025,
    ADDRESS_MOST = 8192 /* bytes of a text that is read */
};

/* What a repository has: a row. */
typedef struct repository_type {
    const char *word;   /* "models/": what may come first in an address */
    const char *folder; /* of its page: nothing for models */
    const char *cache;  /* "models--" */
} repository_type;

/* A grammar: what a service's names look like. */
typedef enum address_form {
    ADDRESS_OF_REPOSITORY, /* OWNER/NAME, and a file in it */
    ADDRESS_OF_MODEL,      /* NAME:TAG of a registry */
    ADDRESS_OF_WEB,        /* https:// */
} address_form;

typedef struct address {
    const struct place_service *service; /* places/services.h */
    const repository_type *type;         /* of a repository, else NULL */
    bool may_be_file; /* without a scheme: it may be the path of a file on this machine, too */
    char host[ADDRESS_HOST]; /* of a registry; "": the usual one */
    char owner[ADDRESS_NAME], name[ADDRESS_NAME];
    char revision[ADDRESS_REVISION]; /* "": the usual one */
    char tag[ADDRESS_TAG];   /* an element type, "": none; of a model of a registry: its tag */
    char path[ADDRESS_PATH]; /* of a file in a repository, or of a folder; "": all of it */
    bool is_folder;          /* all files below `path`: it ended with a slash, or is empty */
    gufo_str url;            /* of the web: the text itself */
} address;

/* Whether a text is one of these, well-formed or not.  Any thread. */
bool address_is_one(gufo_str text);

/* Reads one.  GUFO_E_ARGUMENT: the text is none, or a part of it is not what its grammar says; GUFO_E_LIMIT
 * for one that is too long. */
gufo_status address_read(gufo_str text, address *out, gufo_error *error);

/* Whether a text may be a path in a repository: names of UTF-8 between slashes, none of them "." or "..",
 * no backslash and no control character. */
bool address_is_path(gufo_str text);
/* Whether it is a commit: 40 hexadecimal digits in lower case, or 64. */
bool address_is_commit(gufo_str text);

#endif
