/* Floor 3: whether a file means something: the second level of validation.
 *
 * gufo_model_check (format.h) says whether a file is sound; this says whether a reader of models can
 * do something with it: are the required keys there, and of the right type, do the tensors have the
 * shapes that the keys announce, do the lists of the vocabulary agree.  It reads metadata and tensor
 * infos, never tensor data.
 *
 * A file is judged by what it is: a model, a vocabulary (no tensors), an adapter, an importance
 * matrix, or a projector of another modality.  Rules have a level; findings look like those of
 * format.h, and some of them say how they are fixed. */
#ifndef GUFO_CHECK_H
#define GUFO_CHECK_H

#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gufo_level {
    GUFO_LEVEL_DEFAULT = 0,   /* GUFO_LEVEL_MODEL */
    GUFO_LEVEL_STRUCTURE = 1, /* format.h's rules alone: nothing is found here */
    GUFO_LEVEL_STANDARD = 2,  /* what the standard says about keys and their values */
    GUFO_LEVEL_MODEL = 3,     /* and whether the model is complete and agrees with itself */
} gufo_level;

/* "structure", "standard", "model" (also for GUFO_LEVEL_DEFAULT); "unknown" for a number that is none.
 * Static; any thread. */
GUFO_API const char *gufo_level_name(gufo_level level);
/* The level with that name into *level; false if there is none.  Any thread. */
GUFO_API bool gufo_level_by_name(const char *name, gufo_level *level);

typedef struct gufo_check_options {
    gufo_level level;
    const char *path; /* of the file, or of the first shard, whose name is compared with the
                         metadata; NULL: no rule about names */
    bool single; /* the file is one shard of a set, and looked at alone: rules about what may be
                         in the other shards are passed over */
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[4];            /* zeros; GUFO_E_ARGUMENT for anything else */
} gufo_check_options;

/* Checks a model by the rules whose ids begin with S (standard) and M (model): gufo_rule_at lists them.
 * Findings come in the order of the checks: general, keys, tokenizer, architecture,
 * tensors; within each in the order of the file.  `shard` of a finding is the index of the file that
 * it is about.  Models that were opened leniently are judged by what could be read.
 * Linear in the metadata and the tensor infos; memory in proportion to the number of tokens.
 * `options` may be NULL.  Fails only for memory, and with GUFO_E_ARGUMENT for a level that does not
 * exist.  Any thread, one at a time for one `context`. */
GUFO_API gufo_status gufo_check(const gufo_model *model, const gufo_check_options *options,
                                gufo_finding_fn *found, void *context, gufo_error *error);

#ifdef __cplusplus
}
#endif

#endif
