/* What an algorithm is to the frame around it (text/tokenize.c): a row of functions.
 *
 * The frame cuts special tokens out of a text and passes the stretches between them, the fragments,
 * to the algorithm.  A fragment may come in several parts, whole but for the last one, each of which
 * ends where `cut` allows: the ids are those of the whole fragment. */
#ifndef TEXT_ALGORITHM_H
#define TEXT_ALGORITHM_H

#include "text/vocabulary/ids.h"

typedef struct algorithm_scratch algorithm_scratch;

/* One thread's work on texts. */
typedef struct tokenizing {
    const gufo_vocab *vocab;
    const gufo_allocator *allocator;
    algorithm_scratch *scratch; /* of the algorithm */
    gufo_tokenize_fn *watch;    /* NULL: no steps are shown */
    void *watch_context;
    bool spans;     /* tokens have spans */
    bool traced;    /* steps are shown or tokens have spans: trace.h */
    uint64_t begin; /* of the part, in the whole text */
} tokenizing;

/* A part of a fragment. */
typedef struct fragment_part {
    gufo_str text;
    bool first, last; /* the fragment begins, ends here */
} fragment_part;

typedef struct token_algorithm {
    const char *name; /* "BPE" */
    /* Builds vocab->tables; the texts, scores, types and text look-up are there. */
    gufo_status (*open)(gufo_vocab *vocab, const gufo_model *model, gufo_error *error);
    /* Called when the attributes of tokens are final, as known texts make them; may be NULL. */
    void (*settle)(gufo_vocab *vocab);
    void (*close)(gufo_vocab *vocab);
    /* May be NULL: the algorithm needs none. */
    algorithm_scratch *(*scratch_new)(const gufo_vocab *vocab, const gufo_allocator *allocator,
                                      gufo_error *error);
    void (*scratch_free)(algorithm_scratch *scratch, const gufo_allocator *allocator);
    /* Appends the ids of a part. */
    gufo_status (*encode)(tokenizing *t, fragment_part part, gufo_ids *out, gufo_error *error);
    /* The last place in text[0 .. len) where the fragment can be cut without changing any id, whatever
     * follows text + len; 0 if none is.  `text` begins where a fragment or part does.  The place may
     * not depend on what was cut before. */
    size_t (*cut)(const gufo_vocab *vocab, gufo_str text);
    /* Whether parts can be encoded at the same time, by different threads with scratches of their
     * own, whatever the parts before them gave. */
    bool parallel;
} token_algorithm;

/* A function that makes ids of texts; NULL in a build that only looks at vocabularies (cmake/web.cmake). */
#ifdef GUFO_NO_TOKENIZING
enum { TOKENIZING = false };
#else
enum { TOKENIZING = true };
#endif
#define TOKENIZES(function) (TOKENIZING ? (function) : NULL)

extern const token_algorithm algorithm_bpe, algorithm_spm, algorithm_wpm, algorithm_ugm,
    algorithm_rwkv;

#endif
