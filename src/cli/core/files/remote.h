/* FILE and DIR arguments that are addresses of models elsewhere: https://, hf://, ollama://, ms://.
 *
 * The library finds and reads them (gufo/remote.h); it reads no environment, so that what other programs' variables
 * say of tokens, caches and proxies is put together here.  remote_missing.c replaces this file in a build
 * without the library. */
#ifndef CLI_CORE_FILES_REMOTE_H
#define CLI_CORE_FILES_REMOTE_H

#include "gufo/format.h"
#include "gufo/remote.h"

/* Whether an argument is an address.  What has no scheme is one only if neither it nor its folder is here. */
bool remote_is(const char *path);
/* Whether it is the address of a repository, or of a folder in one. */
bool remote_is_folder(const char *path);

/* The client, which is made once; NULL, with an error, if that fails. */
gufo_remote *remote_client(gufo_error *error);

/* The address in full: of OWNER/NAME:TYPE the name of the file; any other text, and what cannot be found, as it is.
 * It lives as long as the program. */
const char *remote_spelled(const char *path);

/* gufo_remote_model_open.  With -v the command says where it is read. */
gufo_model *remote_open(const char *path, const gufo_open_options *options, gufo_error *error);
/* A path for people: of an address without what is behind its question mark, which may be a secret.  Functions of this
 * file know what it means.  It lives as long as the program, or as `path`. */
const char *remote_shown(const char *path);

/* Reports an address, whose model cannot be edited; false for any other path. */
bool remote_refuse_edit(const char *path);

/* gufo_remote_list. */
gufo_status remote_list(const char *path, gufo_remote_file_fn *use, void *context,
                        uint64_t *left_out, gufo_error *error);
/* Reads the first bytes, at most `size`; 0 for what cannot be read. */
size_t remote_begin(const char *path, void *bytes, size_t size);

#endif
