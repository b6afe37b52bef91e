/* Names of model files.  Spec, GGUF Naming Convention:
 *
 *     mmproj-Llama-3-8x7B-Instruct-v1.0-Q4_0-LoRA-00001-of-00003.gguf
 *     |      |       |    |        |    |    |    |
 *     |      |       |    |        |    |    |    shard
 *     |      |       |    |        |    |    type: LoRA or vocab
 *     |      |       |    |        |    encoding
 *     |      |       |    |        version
 *     |      |       |    fine tune
 *     |      |       size label
 *     |      base name
 *     sidecar: mmproj or mtp
 *
 * A conforming name has a base name and a version, and nearly always a size label; the rest may be
 * absent.  The scale of a size is K, M, B, T or Q, and shards are numbered from 00001 to their
 * count.
 *
 * The name that a model should have:
 *
 *     gufo_model_suggest_name(model, 0, name, &error); */
#ifndef GUFO_NAME_H
#define GUFO_NAME_H

#include "base.h"
#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface ==================================================================== */

/* The parts of a file name, as views into it; `data` is NULL where a part is absent (a base name
 * may be there and empty). */
typedef struct gufo_name {
    gufo_str sidecar;    /* "mmproj", "mtp" */
    gufo_str base_name;  /* "Mixtral" */
    gufo_str size_label; /* "8x7B", "3.8B-ContextLength4k" */
    gufo_str fine_tune;  /* "Instruct" */
    gufo_str version;    /* "v0.1" */
    gufo_str encoding;   /* "Q4_K_M" */
    gufo_str type;       /* "LoRA", "vocab" */
    gufo_str shard;      /* "00001-of-00003" */
    gufo_str reserved[2];
} gufo_name;

/* Whether the name (of a file, without its folder) conforms, and its parts in *out (may be NULL);
 * all absent if not.  The regular expression of the specification finds the parts; before them may
 * be a sidecar, as today's names have it.  Scale and shard must be those that its text allows.
 * Any bytes are allowed; time is linear in their number, and no memory is needed.  Any thread.
 * Spec, GGUF Naming Convention. */
GUFO_API bool gufo_name_match(gufo_str name, gufo_name *out);

/* Room for every name that a file can have, with the terminator. */
#define GUFO_NAME_SIZE 256

/* The name that the convention gives shard `shard`, from 0, of a model, made from its metadata and
 * tensors:
 *
 *     sidecar     mmproj for general.type "mmproj" and architecture "clip"; mtp for files with
 *                 nextn tensors that lack the first block
 *     base name   general.basename, general.name or general.architecture
 *     size label  general.size_label, or counted from the tensors: of a mixture of experts, the
 *                 experts times the shared parameters and those of one expert.  A size in
 *                 general.name that differs by less than a tenth takes precedence.  A sidecar has
 *                 the size of its model, which its tensors do not show
 *     fine tune   general.finetune, or what follows a size in general.name
 *     version     general.version, one in general.name or general.basename, or v1.0
 *     encoding    general.file_type, or the type of most elements
 *     type        LoRA for adapters, vocab for files without tensors
 *     shard       split.no and split.count
 *
 * Characters that are neither letters nor digits become '-'.  The name conforms, with two
 * exceptions: letters outside ASCII are kept, although the expression refuses them, and an unknown
 * size is left out.  GUFO_E_SHARDS for a shard that was opened alone: the metadata is in the first
 * shard, and the size is counted from all shards.  GUFO_E_RANGE if the model has no such shard.
 * Any thread. */
GUFO_API gufo_status gufo_model_suggest_name(const gufo_model *model, size_t shard,
                                             char out[GUFO_NAME_SIZE], gufo_error *error);

/* ==== Parts and numbers ======================================================================= */

/* As gufo_name_match, with a reason: GUFO_E_MALFORMED if the name does not conform, and *error says
 * what is missing or refused, with the byte of the name.  If only a scale or the numbers of a shard are
 * wrong, *out (may be NULL) still has the parts.  If only the version is missing, it also has them,
 * with the version "v1.0" (static); the encoding must then be a known one, in upper or lower case,
 * because any word could be one.  Any thread. */
GUFO_API gufo_status gufo_name_explain(gufo_str name, gufo_name *out, gufo_error *error);

/* The numbers in the parts of a name. */
typedef struct gufo_name_facts {
    uint64_t experts; /* 8 of "8x7B"; 0 for a model without experts */
    uint64_t
        parameters; /* 7,000,000,000 of "8x7B": of one expert and what is shared; 0: not said */
    uint32_t shard; /* 3 of "00003-of-00009"; 0: not a shard */
    uint32_t shard_count;
    uint64_t reserved[4];
} gufo_name_facts;

/* `name` was matched or explained, or a program has filled it in.  A number that does not fit into
 * 64 bits is 0.  Any thread.  Spec, the examples of the naming convention. */
GUFO_API gufo_name_facts gufo_name_read_facts(const gufo_name *name);

/* Writes the name with these parts, and a hyphen between each two: at most `size` bytes with the
 * terminator.  Returns the bytes that are needed without it, like snprintf.  The content of the
 * parts is not checked.  Any thread. */
GUFO_API size_t gufo_name_format(char *out, size_t size, const gufo_name *name);

/* Replaces {ftype} and {outtype} in the name of a file by a type in lower case, {FTYPE} and {OUTTYPE} by
 * the same in upper case, as converters do with the names of their outputs: "tiny-{ftype}.gguf".  Writes at
 * most `size` bytes with the terminator and returns the bytes that are needed without it, like snprintf.
 * Any thread. */
GUFO_API size_t gufo_name_fill(char *out, size_t size, const char *pattern, const char *type);

#ifdef __cplusplus
}
#endif

#endif
