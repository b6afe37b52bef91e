/* The vocabulary of a model file: text to token ids, and ids to text.
 *
 *     open     gufo_vocab_open                        the tokenizer.* keys of a model
 *     look     gufo_vocab_describe, gufo_vocab_token  what it holds
 *     count    gufo_vocab_census_new                  what is shown of it, as one record
 *     encode   gufo_tokenize, gufo_tokenizer_feed      text to ids, whole or in parts
 *     decode   gufo_detokenize, gufo_detokenizer_feed  ids to text, whole or in parts
 *     compare  gufo_vocab_compare, gufo_vocab_unreachable  how two differ, what one never gives
 *     export   gufo_vocab_export_json                 tokenizer.json, vocab.txt
 *
 * A vocabulary does not change once it is open: any number of threads may call the functions that
 * take a const gufo_vocab.  A tokenizer, a detokenizer, a list of ids or a text is for one thread at
 * a time.  Memory comes from the allocator of the vocabulary, unless a struct names another one.
 * Ids are those that llama.cpp gives (August 2026); docs/tokenizers.md has the rules. */
#ifndef GUFO_VOCAB_H
#define GUFO_VOCAB_H

#include "check.h"
#include "format.h"
#include "run.h"
#include "summary.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface =================================================================== */

typedef struct gufo_vocab gufo_vocab;
typedef struct gufo_vocab_options gufo_vocab_options;
typedef struct gufo_tokenize_options gufo_tokenize_options;

#define GUFO_NO_TOKEN UINT32_MAX /* no such token, no such special token */

/* Opens the vocabulary of a model: tokenizer.ggml.* keys, or where they are missing
 * tokenizer.huggingface.json or tokenizer.rwkv.world.  The vocabulary keeps its own copy of what it
 * needs; the model may be closed.  `options` may be NULL.  Freed with gufo_vocab_free.  NULL on
 * failure:
 *   GUFO_E_NOT_FOUND  the model has no vocabulary, or not the one that is asked for
 *   GUFO_E_TYPE       a tokenizer that is not supported, by name
 *   GUFO_E_MALFORMED, GUFO_E_RANGE, GUFO_E_LIMIT
 *                     what is wrong with it: merges of unknown parts, too few scores, a token of
 *                     more than 64 KiB ...
 *   GUFO_E_CHANGED    the file changed meanwhile
 *   GUFO_E_STOPPED    progress asked for it
 *   GUFO_E_ARGUMENT   options: no pre-tokenizer has this name, or the algorithm has none
 *   GUFO_E_MEMORY
 * Any thread. */
GUFO_MUST_USE GUFO_API gufo_vocab *gufo_vocab_open(const gufo_model *model,
                                                   const gufo_vocab_options *options,
                                                   gufo_error *error);
/* Frees a vocabulary; NULL is allowed.  Its tokenizers and detokenizers must be freed before. */
GUFO_API void gufo_vocab_free(gufo_vocab *vocab);

/* A stretch of a text, in bytes from its begin, parts that came before counted. */
typedef struct gufo_span {
    uint64_t begin, end;
} gufo_span;

/* A list of ids that grows.  {0} is an empty one; the caller may set `allocator` before its first
 * use.  Setting `count` to 0 empties it and keeps its memory.  Freed with gufo_ids_free. */
typedef struct gufo_ids {
    uint32_t *ids;
    /* The bytes that each id covers; {0, 0} for ids that were added without GUFO_TOKENIZE_SPANS.  NULL:
     * none was added with it. */
    gufo_span *spans;
    size_t count, room;
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[2];
} gufo_ids;

/* Frees the memory of a list, which is empty then. */
GUFO_API void gufo_ids_free(gufo_ids *ids);
/* Appends the ids of a text, any bytes, to `out`.  `options` may be NULL: no flags.  Threads help
 * with long texts; ids do not depend on their number.  On failure `out` has what was found by then:
 *   GUFO_E_MALFORMED  the vocabulary cannot encode it: no token for a byte, no BOS that it must add
 *   GUFO_E_LIMIT      a stretch that must be encoded as a whole is too long
 *   GUFO_E_ARGUMENT   options that do not exist
 *   GUFO_E_MEMORY */
GUFO_API gufo_status gufo_tokenize(const gufo_vocab *vocab, gufo_str text,
                                   const gufo_tokenize_options *options, gufo_ids *out,
                                   gufo_error *error);
/* Counts the ids that gufo_tokenize gives: *count.  Memory does not grow with the text, unless the
 * tokenizer is a tokenizer.json.  Fails as gufo_tokenize. */
GUFO_API gufo_status gufo_count_tokens(const gufo_vocab *vocab, gufo_str text,
                                       const gufo_tokenize_options *options, uint64_t *count,
                                       gufo_error *error);
/* Appends the text of ids: any bytes.  `flags` are gufo_detokenize_flags.  GUFO_E_RANGE for an id that
 * does not exist, and nothing is appended; GUFO_E_MEMORY; GUFO_E_ARGUMENT for flags that do not
 * exist. */
GUFO_API gufo_status gufo_detokenize(const gufo_vocab *vocab, const uint32_t *ids, size_t count,
                                     uint32_t flags, gufo_text *out, gufo_error *error);
/* Writes the ids of the tokens that end generation, in order: EOS, EOT and others like them, which
 * GUFO_TOKEN_END marks; at most `room` of them.  Returns how many there are. */
GUFO_API size_t gufo_vocab_stop_tokens(const gufo_vocab *vocab, uint32_t *ids, size_t room);

/* ==== Part 1: opening ======================================================================== */

typedef enum gufo_vocab_flags {
    /* Ids of the tokenizer that the model was trained with, where llama.cpp is known to give
     * others: see gufo_vocab_facts.original. */
    GUFO_VOCAB_ORIGINAL = 1,
} gufo_vocab_flags;

/* By whose rules text becomes tokens, where a model file has several tokenizers. */
typedef enum gufo_tokenizer_kind {
    GUFO_TOKENIZER_ANY = 0,         /* the first one that is there */
    GUFO_TOKENIZER_GGML = 1,        /* tokenizer.ggml.*: as engines do it */
    GUFO_TOKENIZER_HUGGINGFACE = 2, /* tokenizer.huggingface.json: as the model was trained */
    GUFO_TOKENIZER_RWKV = 3,        /* tokenizer.rwkv.world */
} gufo_tokenizer_kind;

typedef struct gufo_vocab_options {
    uint32_t flags;     /* of gufo_vocab_flags */
    uint32_t tokenizer; /* a gufo_tokenizer_kind */
    const char *pre; /* a name that replaces tokenizer.ggml.pre, for the time of the call; NULL: the
                        file's */
    const gufo_allocator *allocator; /* is copied; NULL: malloc */
    /* Its `threads`, which then share the allocator, help to read a tokenizer.json; its progress counts
     * steps, and may stop.  For the time of the call; NULL: one thread. */
    const gufo_run *run;
    uint64_t reserved[4]; /* must be zero */
} gufo_vocab_options;

/* Opens the vocabulary of a tokenizer.json by its own rules: ids, spans and decoded texts are those of
 * Hugging Face's library (tokenizers 0.23), with which models are trained.  `config` is the
 * tokenizer_config.json beside it, whose added tokens and add_bos_token count; it may be empty.  Both are
 * copied.  `options` may be NULL; `pre` does not count.  Fails as gufo_vocab_open. */
GUFO_MUST_USE GUFO_API gufo_vocab *gufo_vocab_open_json(gufo_str json, gufo_str config,
                                                        const gufo_vocab_options *options,
                                                        gufo_error *error);
/* Calls `token` for each token of a tokenizer.json: a gufo_tokenizer_json_fn (check.h). */
GUFO_API gufo_status gufo_tokenizer_json_tokens(gufo_str json, const gufo_parse_options *options,
                                                gufo_tokenizer_token_fn *token, void *context,
                                                gufo_error *error);

/* ==== Part 2: looking ======================================================================== */

/* Special tokens, in the order in which llama.cpp lists them. */
typedef enum gufo_special {
    GUFO_SPECIAL_BOS = 0,
    GUFO_SPECIAL_EOS = 1,
    GUFO_SPECIAL_EOT = 2,
    GUFO_SPECIAL_EOM = 3,
    GUFO_SPECIAL_UNKNOWN = 4,
    GUFO_SPECIAL_SEPARATOR = 5,
    GUFO_SPECIAL_PADDING = 6,
    GUFO_SPECIAL_MASK = 7,
    GUFO_SPECIAL_FIM_PREFIX = 8,
    GUFO_SPECIAL_FIM_SUFFIX = 9,
    GUFO_SPECIAL_FIM_MIDDLE = 10,
    GUFO_SPECIAL_FIM_PADDING = 11,
    GUFO_SPECIAL_FIM_REPOSITORY = 12,
    GUFO_SPECIAL_FIM_SEPARATOR = 13,
} gufo_special;

#define GUFO_SPECIAL_COUNT 14
#define GUFO_SPECIAL_ROOM 24 /* of gufo_vocab_facts.special: later versions may know more */

/* The short name of a role: "bos", "eos", "unk" ... "fim_sep"; static; NULL for a number that is no
 * role. */
GUFO_API const char *gufo_special_name(gufo_special special);

typedef struct gufo_vocab_facts {
    const char *model;     /* tokenizer.ggml.model: "llama", "gpt2" ... */
    const char *algorithm; /* "SPM", "BPE", "WPM", "UGM", "RWKV" */
    const char *pre;       /* the pre-tokenizer in use; NULL: the algorithm has none */
    uint32_t size;         /* tokens */
    uint32_t special[GUFO_SPECIAL_ROOM]; /* by gufo_special: an id, or GUFO_NO_TOKEN */
    bool add_bos, add_eos;               /* what the flags of the file, or defaults, say */
    bool adds_bos, adds_eos, adds_sep;   /* what encoding adds: some algorithms ignore the flags */
    bool space_prefix;                   /* a space is put before a text */
    bool clean_spaces;                   /* decoding removes spaces before punctuation */
    bool ignore_merges;                  /* a piece that is a token is not merged, or none is */
    /* How ids differ from those of the tokenizer that the model was trained with, and that
     * GUFO_VOCAB_ORIGINAL gives: one sentence; NULL: no difference is known. */
    const char *original;
    uint64_t reserved[8];
} gufo_vocab_facts;

/* Describes a vocabulary.  What the struct points to lives as long as the vocabulary.  Cannot fail. */
GUFO_API gufo_vocab_facts gufo_vocab_describe(const gufo_vocab *vocab);

/* Sentence `index` about what was assumed on opening, such as the pre-tokenizer of a file that does
 * not name it; NULL past the end.  It lives as long as the vocabulary. */
GUFO_API const char *gufo_vocab_warning_at(const gufo_vocab *vocab, uint64_t index);

/* Bits: what a token is after the rules for known texts (</s>, <|im_end|> ...) were applied.  With
 * GUFO_VOCAB_ORIGINAL these do not make a normal token special. */
typedef enum gufo_token_attribute {
    GUFO_TOKEN_UNKNOWN = 1,
    GUFO_TOKEN_UNUSED = 2,
    GUFO_TOKEN_NORMAL = 4,
    GUFO_TOKEN_CONTROL = 8,
    GUFO_TOKEN_USER_DEFINED = 16,
    GUFO_TOKEN_BYTE = 32,
    GUFO_TOKEN_LSTRIP = 64,  /* takes white space before it away */
    GUFO_TOKEN_RSTRIP = 128, /* takes white space after it away */
    GUFO_TOKEN_END = 256,    /* ends generation */
} gufo_token_attribute;

typedef struct gufo_token {
    gufo_str text; /* as stored; lives as long as the vocabulary */
    float score;   /* 0 where the file has none */
    /* Of the file: 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte; 0: another
     * number.  4 for a normal one that tokenizer.ggml.added_tokens names; for a run of spaces there
     * with GUFO_VOCAB_ORIGINAL alone. */
    int32_t type;
    uint32_t attributes; /* of gufo_token_attribute */
    uint64_t reserved[4];
} gufo_token;

/* Describes token `id`; false past the last id, and *out is as it was. */
GUFO_API bool gufo_vocab_token(const gufo_vocab *vocab, uint32_t id, gufo_token *out);
/* The token that is stored with this text: the last one of several; GUFO_NO_TOKEN if none is. */
GUFO_API uint32_t gufo_vocab_find(const gufo_vocab *vocab, gufo_str text);

/* ==== Part 3: encoding ======================================================================= */

typedef enum gufo_tokenize_flags {
    GUFO_TOKENIZE_ADD_SPECIAL = 1, /* BOS, EOS and SEP, as the vocabulary's flags say */
    /* The texts of control tokens in the text become these tokens.  Not for text from strangers. */
    GUFO_TOKENIZE_PARSE_SPECIAL = 2,
    /* Fills the list's `spans`.  A token covers whole characters: one that is a part of a character
     * has its span, one for a space that was put before a character, too.  A token that is added
     * around the text has the span 0, 0 (docs/tokenizers.md has the rules). */
    GUFO_TOKENIZE_SPANS = 4,
} gufo_tokenize_flags;

typedef enum gufo_tokenize_event_kind {
    /* A special token in the text, or around it. */
    GUFO_TOKENIZE_SPECIAL = 0,
    /* What the pre-tokenizer cut off: pieces are encoded on their own. */
    GUFO_TOKENIZE_PIECE = 1,
    /* Two parts of the piece become one; `left` is the length of the first. */
    GUFO_TOKENIZE_MERGE = 2,
    /* A token of the piece. */
    GUFO_TOKENIZE_TOKEN = 3,
} gufo_tokenize_event_kind;

/* One step of encoding: it shows how ids come about. */
typedef struct gufo_tokenize_event {
    gufo_tokenize_event_kind kind;
    /* As the algorithm sees it: normalised, in the alphabet of bytes ...; lives as long as the call. */
    gufo_str text;
    uint32_t id;    /* of a token; GUFO_NO_TOKEN if the text is not one */
    size_t left;    /* bytes of `text` */
    double score;   /* of a merge: its rank (BPE) or score (SPM); of a token: its score (UGM) */
    gufo_span span; /* what `text` comes from */
    uint64_t reserved[2];
} gufo_tokenize_event;

/* Takes a step; called in the order of the text by the thread that encodes. */
typedef void gufo_tokenize_fn(void *context, const gufo_tokenize_event *event);

typedef struct gufo_tokenize_options {
    uint32_t flags;          /* of gufo_tokenize_flags */
    gufo_tokenize_fn *watch; /* called for each step, and then one thread works; NULL: none */
    void *watch_context;
    const gufo_run *run;  /* `threads` and `allocator`, nothing else; NULL: one thread */
    uint64_t reserved[4]; /* must be zero */
} gufo_tokenize_options;

/* Encodes texts that come in parts, and many texts one after the other.  It remembers pieces that
 * it has encoded: it is faster than gufo_tokenize for many short texts. */
typedef struct gufo_tokenizer gufo_tokenizer;

/* Makes a tokenizer, which the vocabulary must outlive.  `options` is copied, and NULL: no flags; its
 * `run` must live as long as the tokenizer.  Freed with gufo_tokenizer_free.  NULL on failure:
 * GUFO_E_MEMORY, GUFO_E_ARGUMENT for options that do not exist. */
GUFO_MUST_USE GUFO_API gufo_tokenizer *gufo_tokenizer_new(const gufo_vocab *vocab,
                                                          const gufo_tokenize_options *options,
                                                          gufo_error *error);
/* NULL is allowed. */
GUFO_API void gufo_tokenizer_free(gufo_tokenizer *tokenizer);
/* Takes the next part of a text, cut anywhere; appends the ids that no further part can change.
 * Memory does not grow with the text, but with the longest stretch that must be encoded as a
 * whole.  Fails as gufo_tokenize; then only gufo_tokenizer_free may follow. */
GUFO_API gufo_status gufo_tokenizer_feed(gufo_tokenizer *tokenizer, gufo_str part, gufo_ids *out,
                                         gufo_error *error);
/* The text ends here: appends the remaining ids.  Fails as gufo_tokenizer_feed.  The next text may
 * follow. */
GUFO_API gufo_status gufo_tokenizer_end(gufo_tokenizer *tokenizer, gufo_ids *out,
                                        gufo_error *error);

/* ==== Part 4: decoding ======================================================================= */

/* Appends what one token gives on its own, control tokens included.  GUFO_E_RANGE for an id that
 * does not exist, GUFO_E_MEMORY. */
GUFO_API gufo_status gufo_token_piece(const gufo_vocab *vocab, uint32_t id, gufo_text *out,
                                      gufo_error *error);

typedef enum gufo_detokenize_flags {
    GUFO_DETOKENIZE_SKIP_SPECIAL = 1,   /* control and unknown tokens give nothing */
    GUFO_DETOKENIZE_REMOVE_SPECIAL = 2, /* the BOS and the EOS that encoding adds give nothing */
} gufo_detokenize_flags;

/* The same for ids that come one after the other, as a model generates them.  What is appended is
 * final: an unfinished UTF-8 sequence, and a space that may go, are held back. */
typedef struct gufo_detokenizer gufo_detokenizer;

/* Makes a detokenizer, which the vocabulary must outlive.  Freed with gufo_detokenizer_free.  NULL on
 * failure: GUFO_E_MEMORY, GUFO_E_ARGUMENT for flags that do not exist. */
GUFO_MUST_USE GUFO_API gufo_detokenizer *gufo_detokenizer_new(const gufo_vocab *vocab,
                                                              uint32_t flags, gufo_error *error);
/* NULL is allowed. */
GUFO_API void gufo_detokenizer_free(gufo_detokenizer *detokenizer);
/* Takes the next ids, and appends the text that no further id can change.  GUFO_E_RANGE for an id that
 * does not exist: nothing was taken, and other ids may follow.  GUFO_E_MEMORY: only
 * gufo_detokenizer_free may follow. */
GUFO_API gufo_status gufo_detokenizer_feed(gufo_detokenizer *detokenizer, const uint32_t *ids,
                                           size_t count, gufo_text *out, gufo_error *error);
/* The text ends here: appends what was held back.  The next text may follow.  GUFO_E_MEMORY. */
GUFO_API gufo_status gufo_detokenizer_end(gufo_detokenizer *detokenizer, gufo_text *out,
                                          gufo_error *error);

/* ==== Part 5: what a vocabulary holds ======================================================== */

#define GUFO_TOKEN_TYPE_COUNT 7 /* gufo_token.type is less */

/* The name of a gufo_token.type: "normal", "unknown", "control", "user-defined", "unused", "byte"; "other"
 * for any other number.  Static. */
GUFO_API const char *gufo_token_type_name(int32_t type);
/* Counts the tokens of each gufo_token.type. */
GUFO_API void gufo_vocab_count_types(const gufo_vocab *vocab,
                                     uint64_t counts[GUFO_TOKEN_TYPE_COUNT]);

/* Counts tokens that are written in texts (normal, user-defined) by the bytes that they give: counts[n] have n,
 * and the last one counts longer ones, too.  GUFO_E_MEMORY. */
GUFO_API gufo_status gufo_vocab_count_lengths(const gufo_vocab *vocab,
                                              uint64_t counts[GUFO_TOKEN_LENGTHS],
                                              gufo_error *error);

/* Each of these appends ids to `out`, which is as it was on failure: GUFO_E_MEMORY. */

/* Tokens that have one of these gufo_token_attribute, in order. */
GUFO_API gufo_status gufo_vocab_tokens_with(const gufo_vocab *vocab, uint32_t attributes,
                                            gufo_ids *out, gufo_error *error);
/* Tokens whose text a later one has, too, in order: gufo_vocab_find gives the last one. */
GUFO_API gufo_status gufo_vocab_duplicates(const gufo_vocab *vocab, gufo_ids *out,
                                           gufo_error *error);
/* At most `count` tokens that are written in texts (normal, user-defined): first those that give the most
 * bytes, and of equal ones the first. */
GUFO_API gufo_status gufo_vocab_longest(const gufo_vocab *vocab, size_t count, gufo_ids *out,
                                        gufo_error *error);
/* Tokens that no text gives, in order: the text that the token gives becomes other tokens.  A word is
 * encoded without the space that vocabularies put before a text; what continues a word (WordPiece, Unigram)
 * behind some letter.  Tokens without a text of their own (control, unknown and unused ones, bytes, parts of
 * characters) are not tested; *tested, which may be NULL, is how many are.  `run`: its `threads` share the
 * allocator of the vocabulary; NULL: one thread.  Fails as gufo_tokenize, too. */
GUFO_API gufo_status gufo_vocab_unreachable(const gufo_vocab *vocab, const gufo_run *run,
                                            gufo_ids *out, uint64_t *tested, gufo_error *error);

typedef struct gufo_vocab_census_options {
    uint32_t most;                   /* tokens of each list, at most; 0: 10 */
    const gufo_allocator *allocator; /* is copied; NULL: that of the vocabulary */
    uint64_t reserved[4];            /* must be zero */
} gufo_vocab_census_options;

/* All of it in one record (summary.h): what is shown of a vocabulary.  It owns its texts: the vocabulary may be
 * freed.  `options` may be NULL.  Freed with gufo_vocab_census_free.  NULL on failure: GUFO_E_MEMORY,
 * GUFO_E_ARGUMENT. */
GUFO_MUST_USE GUFO_API gufo_vocab_census *gufo_vocab_census_new(
    const gufo_vocab *vocab, const gufo_vocab_census_options *options, gufo_error *error);
/* NULL is allowed. */
GUFO_API void gufo_vocab_census_free(gufo_vocab_census *census);

/* ==== Part 6: comparing, and the forms of other programs ===================================== */

/* What a vocabulary was opened from: it does not keep its merges as they are written. */
typedef struct gufo_vocab_source {
    const gufo_model *model; /* the one given to gufo_vocab_open; NULL: it was opened from `json` */
    gufo_str json;           /* the text given to gufo_vocab_open_json */
    uint64_t reserved[4];    /* must be zero */
} gufo_vocab_source;

/* What changes from the first vocabulary, a, to the second one, b. */
typedef enum gufo_token_change {
    GUFO_TOKEN_CHANGE_REMOVED = 0, /* the text is in a alone */
    GUFO_TOKEN_CHANGE_ADDED = 1,   /* in b alone */
    GUFO_TOKEN_CHANGE_MOVED = 2,   /* in both, with another id */
    GUFO_TOKEN_CHANGE_TYPE = 3,    /* with another gufo_token.type */
    GUFO_TOKEN_CHANGE_SCORE = 4,
} gufo_token_change;

#define GUFO_TOKEN_CHANGE_COUNT 5
#define GUFO_TOKEN_CHANGE_ROOM 8 /* later versions may know more */

typedef struct gufo_token_difference {
    gufo_token_change change;
    uint32_t a, b; /* ids; GUFO_NO_TOKEN where the text is missing */
    uint64_t reserved[2];
} gufo_token_difference;

/* A list of them that grows, as gufo_ids does: {0} is an empty one.  Freed with gufo_token_differences_free. */
typedef struct gufo_token_differences {
    gufo_token_difference *items;
    size_t count, room;
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[2];
} gufo_token_differences;

/* Frees the memory of a list, which is empty then. */
GUFO_API void gufo_token_differences_free(gufo_token_differences *list);

/* A fact (gufo_vocab_facts) that differs, in words: "pre-tokenizer", "gpt-2", "none". */
typedef struct gufo_vocab_setting {
    const char *name;
    const char *a, *b; /* live as long as the call */
    uint64_t reserved[2];
} gufo_vocab_setting;

typedef struct gufo_vocab_compare_options {
    /* Merges are compared where both are given. */
    const gufo_vocab_source *source_a, *source_b;
    /* Gets the differences of tokens, behind what it has: those of a, by their ids, then those that b adds.  A
     * token that is moved may have another type and another score, too.  May be NULL. */
    gufo_token_differences *tokens;
    /* Called for each difference of settings.  May be NULL. */
    void (*setting)(void *context, const gufo_vocab_setting *setting);
    void *context;
    uint64_t reserved[4]; /* must be zero */
} gufo_vocab_compare_options;

typedef struct gufo_vocab_comparison {
    uint64_t settings;                       /* that differ */
    uint64_t tokens[GUFO_TOKEN_CHANGE_ROOM]; /* by gufo_token_change */
    uint64_t merges_a, merges_b;             /* how many there are */
    bool merges_differ;
    uint64_t first_merge; /* the rank, from 0, from which on they do */
    bool same;            /* nothing differs */
    uint64_t reserved[4];
} gufo_vocab_comparison;

/* Compares two vocabularies.  A text that several tokens have is compared id by id where ids agree, else
 * the last token counts.  `options` and `result` may be NULL.  Any thread.
 *   GUFO_E_ARGUMENT  a source that is not the one the vocabulary was opened from
 *   GUFO_E_TYPE      its merges are not strings
 *   GUFO_E_CHANGED, GUFO_E_MEMORY
 * An error about the source of b has the role GUFO_FILE_SECOND_INPUT. */
GUFO_API gufo_status gufo_vocab_compare(const gufo_vocab *a, const gufo_vocab *b,
                                        const gufo_vocab_compare_options *options,
                                        gufo_vocab_comparison *result, gufo_error *error);

/* Appends a tokenizer.json that Hugging Face's tokenizers read: one that is made of the vocabulary, or the
 * one that it was opened from.  On failure `out` is as it was.  It allocates values with malloc.
 * Any thread.
 *   GUFO_E_TYPE       a vocabulary that has no such form; the message names it
 *   GUFO_E_MALFORMED  texts that JSON cannot have: two the same, not UTF-8
 *   GUFO_E_ARGUMENT   a source that is not the one the vocabulary was opened from
 *   GUFO_E_CHANGED, GUFO_E_MEMORY */
GUFO_API gufo_status gufo_vocab_export_json(const gufo_vocab *vocab,
                                            const gufo_vocab_source *source, gufo_text *out,
                                            gufo_error *error);
/* Appends a line for each token, by ids.  Tokens of WordPiece are as Hugging Face has them: continuations
 * begin with ##.  Others are as the file has them.  Backslashes and line ends in texts become \\ \n \r, bytes
 * that are not UTF-8 \xNN.  On failure `out` is as it was: GUFO_E_MEMORY. */
GUFO_API gufo_status gufo_vocab_export_txt(const gufo_vocab *vocab, gufo_text *out,
                                           gufo_error *error);

#ifdef __cplusplus
}
#endif

#endif
