/* A small model, and edits of it that lead each of the three ways. */
#ifndef TEST_SUPPORT_EDIT_H
#define TEST_SUPPORT_EDIT_H

#include "folder.h"

/* A file with a metadata of several sectors and two tensors: general.architecture "llama",
 * general.name (2000 bytes), answer (uint32 42), list (int16), tensors "a" and "b". */
void write_small_model(const char *path, encoding e);

/* Sets general.name to `length` times 'n' and applies that.  `plan` may be NULL. */
gufo_status edit_name(const char *path, size_t length, const gufo_edit_target *target,
                      gufo_edit_plan *plan, bool *recover, gufo_error *error);

/* Lengths of the name that lead to a way in place; for a rewrite the target says so. */
#define NAME_FITS 1500
#define NAME_GROWS 6000

/* The path of the journal. */
path_text journal_of(const char *path);

#endif
