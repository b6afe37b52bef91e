/* A tokenizer.json at work: the steps by which its own library makes ids of a text.
 *
 *     text             "Hello <b>world"
 *     added tokens     Hello |<b>|world          those in the text as it came
 *     normalizer       hello |<b>|world          of each stretch between them
 *     added tokens                               those in the normalized text
 *     pre-tokenizer    hello| |<b>|world
 *     model            7 12 |3|9
 *     post-processor   1 7 12 3 9 2              around it
 *
 * No step knows another one: what they hand on is text, and where it comes from (work_text.h). */
#ifndef TEXT_PIPELINE_H
#define TEXT_PIPELINE_H

#include "text/vocabulary/ids.h"

typedef struct pipeline pipeline;             /* pipeline_parts.h */
typedef struct tokenizer_file tokenizer_file; /* formats/tokenizer_file.h */

/* The pipeline of a file, which may be freed afterwards.  NULL on failure: GUFO_E_TYPE for what does not
 * exist or cannot be done, by name, GUFO_E_MALFORMED, GUFO_E_LIMIT, GUFO_E_MEMORY.  It does not change: any
 * thread may use it. */
pipeline *pipeline_new(const tokenizer_file *f, unsigned threads, const gufo_allocator *allocator,
                       gufo_error *error);
void pipeline_free(pipeline *p); /* NULL is allowed */
/* The name of its model, as the file has it: "BPE". */
const char *pipeline_model_name(const pipeline *p);

/* What one thread needs. */
typedef struct pipeline_scratch pipeline_scratch;
pipeline_scratch *pipeline_scratch_new(const pipeline *p, const gufo_allocator *allocator,
                                       gufo_error *error);
void pipeline_scratch_free(pipeline_scratch *s); /* NULL is allowed */

typedef struct pipeline_request {
    const gufo_vocab *vocab; /* for texts of tokens */
    bool frame;              /* the post-processor's special tokens are added */
    bool specials;           /* the texts of special tokens become these */
    bool spans;              /* the bytes of each token are noted in out->spans */
    gufo_tokenize_fn *watch; /* NULL: nobody watches */
    void *watch_context;
} pipeline_request;

/* Appends the ids of a text, any bytes: what is not UTF-8 is U+FFFD. */
gufo_status pipeline_encode(const pipeline *p, pipeline_scratch *s, const pipeline_request *request,
                            gufo_str text, gufo_ids *out, gufo_error *error);

/* Appends the text of ids, which exist; `flags` are gufo_detokenize_flags. */
gufo_status pipeline_decode(const pipeline *p, const gufo_vocab *v, const uint32_t *ids,
                            size_t count, uint32_t flags, gufo_text *out, gufo_error *error);

#endif
