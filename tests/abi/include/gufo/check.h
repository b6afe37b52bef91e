/* Whether the content of a file makes sense: the second level of validation.
 *
 *     gufo_model_check_content(model, NULL, print_finding, stdout, &error);
 *
 * gufo_model_check (format.h) says whether a file is well-formed; this header says whether a reader
 * of models can use it: whether the required keys are present and have the right types, whether the
 * tensors have the shapes that the keys announce, and whether the lists of the vocabulary agree.
 * It reads metadata and tensor infos, never tensor data.
 *
 * The rules depend on the kind of file: a model, a vocabulary (no tensors), an adapter, an
 * importance matrix, or a projector of another modality.  Rules have a level; findings look like
 * those of format.h, and some of them carry a fix. */
#ifndef GUFO_CHECK_H
#define GUFO_CHECK_H

#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface ==================================================================== */

typedef struct gufo_check_options gufo_check_options;

/* Checks a model by the rules whose ids begin with S (standard) and M (model): gufo_rule_at lists
 * them.  Findings come in the order of the checks: general, keys, tokenizer, architecture, tensors;
 * within each in the order of the file.  `shard` of a finding is the index of the file that it is
 * about.  For a model that was opened leniently, only what could be read is checked.  Linear in the
 * metadata and the tensor infos; memory in proportion to the number of tokens, and to the text that
 * `tokenizer_json` reads.  `options` may be NULL.  Fails only for memory, and with GUFO_E_ARGUMENT for
 * a level that does not exist.  Any thread, one at a time for one `context`. */
GUFO_API gufo_status gufo_model_check_content(const gufo_model *model,
                                              const gufo_check_options *options,
                                              gufo_finding_fn *found, void *context,
                                              gufo_error *error);

/* ==== Tokenizers ============================================================================== */

/* A token of a tokenizer.json; its text lives as long as the call.  Returns whether to continue. */
typedef bool gufo_tokenizer_token_fn(void *context, uint64_t id, gufo_str text);

/* Reads a tokenizer.json, which may be any bytes: calls `token` for each token of the vocabulary, then for each added
 * one, in the order of the file.  GUFO_E_NOT_FOUND: it has no vocabulary; GUFO_E_MALFORMED, GUFO_E_TRUNCATED,
 * GUFO_E_RANGE, GUFO_E_LIMIT with the byte of the text; GUFO_E_MEMORY.  `options` may be NULL.
 * gufo_tokenizer_json_tokens of vocab.h is one. */
typedef gufo_status gufo_tokenizer_json_fn(gufo_str json, const gufo_parse_options *options,
                                           gufo_tokenizer_token_fn *token, void *context,
                                           gufo_error *error);

/* ==== Options ================================================================================= */

/* Called for each dimension of a tensor that keys give: `keys`, whole names, are those that it is
 * computed from; `fits`: the tensor has it.  Which key is wrong can be told from that: the one whose
 * dimensions fit nowhere.  The names are views that live as long as the model. */
typedef void gufo_dimension_fn(void *context, const gufo_str *keys, size_t count, bool fits);

typedef struct gufo_check_options {
    gufo_level level;
    const char *path; /* of the file, or of the first shard, whose name is compared with the
                         metadata; NULL: no rule about names */
    bool single;      /* the file is one shard of a set, and is checked alone: rules about what the
                         other shards may hold are skipped */
    bool every; /* of each rule every finding comes; else GUFO_FINDINGS_OF_A_RULE (findings.h),
                        and one that says how many more there are */
    const gufo_allocator *allocator; /* NULL: malloc */
    gufo_template_judge_fn *judge;   /* of chat templates; NULL: only their size is judged, and
                                        whether {{, {% and {# are closed */
    const gufo_model *base; /* of an adapter: the model that it changes, with which it is compared;
                             * NULL: not known.  Anything but an adapter then breaks a rule */
    gufo_dimension_fn *dimension; /* called with the `context` of the findings; NULL: not wanted */
    gufo_tokenizer_json_fn
        *tokenizer_json;  /* of tokenizer.huggingface.json; NULL: its tokens are not
                                                 * compared with tokenizer.ggml.tokens */
    uint64_t reserved[4]; /* zeros; GUFO_E_ARGUMENT for anything else */
} gufo_check_options;

#ifdef __cplusplus
}
#endif

#endif
