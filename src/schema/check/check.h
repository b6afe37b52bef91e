/* The frame in which the rules of the schema are checked: what is checked, how a finding is reported,
 * and the checks. */
#ifndef GUFO_SCHEMA_CHECK_H
#define GUFO_SCHEMA_CHECK_H

#include "base/error.h"
#include "format/rules/rules.h"
#include "gufo/check.h"
#include "gufo/format.h"
#include "gufo/schema.h"

/* The kind of a file; bits, so that a check can apply to several kinds. */
typedef enum subject_kind {
    KIND_MODEL = 1,
    KIND_VOCABULARY = 2, /* no tensors, whatever general.type says */
    KIND_ADAPTER = 4,    /* general.type: adapter */
    KIND_IMATRIX = 8,    /* general.type: imatrix */
    KIND_PROJECTOR = 16, /* general.type: mmproj, or architecture clip */
    KIND_ANY = 31,
} subject_kind;

/* Keys whose values were asked for. */
typedef struct keys_read {
    gufo_str keys[16];
    size_t count;
    gufo_str missing; /* the first that is not there and has no default, as formulas call it */
} keys_read;

typedef struct check_context {
    const gufo_model *model;
    const gufo_check_options *options;
    gufo_level level; /* that of the options, or its default */
    const gufo_allocator *allocator;
    subject_kind kind;
    gufo_str architecture;      /* general.architecture; empty if it is missing */
    const gufo_arch_info *arch; /* its row; NULL: not known, and so are keys and tensors */
    const gufo_arch_key *keys;
    const gufo_arch_tensor *tensors;
    size_t key_count, tensor_count;
    gufo_finding_fn *found;
    void *context;
    gufo_error *error;
    gufo_status status;          /* a check that runs out of memory stores it here */
    keys_read *read;             /* where values of the architecture are noted; NULL: nowhere */
    uint64_t listed[RULE_COUNT]; /* findings of the current check */
    char text[640], more[48];
} check_context;

/* ---- findings ------------------------------------------------------------------------------- */

/* Begins a finding about a metadata entry, a tensor, or something that is missing. */
static inline gufo_finding at_entry(const gufo_entry *entry)
{
    return (gufo_finding){.offset = entry->offset, .subject = entry->key};
}

static inline gufo_finding at_tensor(const gufo_tensor *tensor)
{
    return (gufo_finding){
        .offset = tensor->info_offset, .subject = tensor->name, .shard = tensor->shard};
}

static inline gufo_finding at_missing(const char *what)
{
    return (gufo_finding){.offset = GUFO_NO_OFFSET, .subject = gufo_str_of(what)};
}

static inline gufo_finding with_hint(gufo_finding finding, const char *text)
{
    finding.hint = text;
    return finding;
}

static inline gufo_finding with_fix(gufo_finding finding, gufo_fix fix)
{
    finding.fix = fix;
    return finding;
}

static inline gufo_finding with_certain_fix(gufo_finding finding, gufo_fix fix)
{
    fix.certain = true;
    return with_fix(finding, fix);
}

/* Fixes: a key gets a text or a number, or another name; or a value that is not known. */
static inline gufo_fix fix_text(gufo_fix_kind kind, gufo_str key, gufo_str text)
{
    return (gufo_fix){
        .kind = kind, .key = key, .value = {.type = GUFO_VALUE_STRING, .as.str = text}};
}

static inline gufo_fix fix_number(gufo_fix_kind kind, gufo_str key, gufo_value_type type,
                                  uint64_t number)
{
    return (gufo_fix){.kind = kind, .key = key, .value = {.type = type, .as.u = number}};
}

static inline gufo_fix fix_typed(gufo_fix_kind kind, gufo_str key, gufo_value_type type)
{
    return fix_number(kind, key, type, 0);
}

static inline gufo_fix fix_remove(gufo_str key)
{
    return fix_typed(GUFO_FIX_REMOVE, key, GUFO_VALUE_UINT8);
}

/* Reports a finding with a message.  Strings from the file go into it through QUOTED(). */
__attribute__((format(printf, 4, 5))) void schema_report(check_context *c, rule_number rule,
                                                         gufo_finding finding, const char *format,
                                                         ...);

/* Makes a text for the hint or the fix of the next finding like printf: empty if it does not
 * fit. */
__attribute__((format(printf, 2, 3))) const char *schema_text(check_context *c, const char *format,
                                                              ...);

/* " (and 41 more)" for 42; nothing for 1.  Lives until the next one. */
const char *schema_and_more(check_context *c, uint64_t count);

/* Reports for each rule how many findings were not listed.  Called after each check. */
void schema_report_rest(check_context *c);

/* ---- what is checked ------------------------------------------------------------------------ */

/* The entry of "ARCHITECTURE.NAME" under any of its names; false if the key is missing or its name is
 * too long. */
__attribute__((format(printf, 3, 4))) bool schema_arch_entry(const check_context *c,
                                                             gufo_entry *out, const char *name,
                                                             ...);

/* The number that a key of today has; false if the key is missing or has another type. */
bool schema_check_number(const check_context *c, const char *key, gufo_entry *entry, uint64_t *out);

/* Passes each text of an entry, which may be an array of them, and where it begins in the file. */
void schema_each_text(const gufo_entry *entry,
                      void (*take)(void *context, gufo_str text, uint64_t at), void *context);

/* ---- the checks --------------------------------------------------------------------------------- */

void schema_check_general(check_context *c);   /* general.c: values of general.* */
void schema_check_weights(check_context *c);   /* weights.c: what general.* says of the tensors */
void schema_check_keys(check_context *c);      /* keys.c: types, spelling, prefixes of all keys */
void schema_check_templates(check_context *c); /* documents.c: chat templates */
void schema_check_documents(check_context *c); /* documents.c: layouts, included tokenizers */
void schema_check_additions(check_context *c); /* tokenizer.c: values beyond the specification */
void schema_check_tokenizer(check_context *c); /* tokenizer.c: the vocabulary */
void schema_check_name(check_context *c);      /* general.c: file name and metadata */
void schema_check_architecture(check_context *c); /* architecture.c: keys of the architecture */
void schema_check_tensors(check_context *c);      /* tensors.c: names, blocks, shapes, types */
void schema_check_adapter(check_context *c);      /* adapter.c */
void schema_check_base(check_context *c);         /* adapter.c: an adapter and its base */
void schema_check_imatrix(check_context *c);      /* kinds.c */
void schema_check_projector(check_context *c);    /* kinds.c */
void schema_check_shards(check_context *c);       /* kinds.c: metadata of later shards */

/* ---- pairs -------------------------------------------------------------------------------------- */

/* Tensors that come in pairs, distinguished by the ends of their names: adapters and importance
 * matrices have them. */
typedef struct pair_rules {
    const char *suffixes[2];
    rule_number pair; /* broken if one tensor of a pair is missing */
    /* Looks at each tensor; `paired`: its name has one of the suffixes. */
    void (*look_at)(check_context *c, const gufo_tensor *tensor, bool paired);
    /* Compares the two of a pair; `base` is their name without the suffix. */
    void (*compare)(check_context *c, const gufo_tensor *first, const gufo_tensor *second,
                    gufo_str base);
} pair_rules;

/* Whether a name ends so, and begins with something else. */
bool name_ends(gufo_str name, const char *suffix);

/* Looks at all tensors.  The other one of a pair may be in another shard than the file. */
void schema_check_pairs(check_context *c, const pair_rules *rules);

/* Whether two values of one file, or of two shards of a set, say the same: numbers are the same whatever their types.  Of arrays the bytes are compared: both values are of
 * one version and byte order. */
bool schema_same_value(const gufo_value *a, const gufo_value *b);

/* ---- keys of an architecture -------------------------------------------------------------------- */

/* By the names that shapes use: "embedding_length", "head_count", "vocab" ... */

/* The entry of a key without its architecture; "attention." may be left out. */
bool arch_entry(const check_context *c, gufo_str name, gufo_entry *out);

/* The name of a key without "attention.", as shapes have it. */
gufo_str arch_short_name(gufo_str name);

/* A count as the entry has it: the number, or the element for `block` of an array that has one per
 * block. */
bool schema_entry_count(const gufo_entry *entry, uint64_t block, uint64_t *out);

/* The value for a block, with the defaults of the specification; false if it is not known. */
bool arch_value(const check_context *c, gufo_str name, uint64_t block, uint64_t *out);

/* The same where blocks with a sliding window have a key of their own: "key_length" is "key_length_swa"
 * there. */
bool arch_block_value(const check_context *c, gufo_str name, uint64_t block, uint64_t *out);

/* The number of tokens; false if the file does not say it. */
bool vocabulary_size(const check_context *c, uint64_t *out);

/* The numbers that blocks may have. */
typedef struct block_range {
    uint64_t required; /* those below must be there */
    uint64_t end;      /* those below may be there */
} block_range;

/* Of `count` blocks, the last ones may be there to predict further tokens: some files count them,
 * others do not, and both are left out as separate files. */
block_range schema_block_range(const check_context *c, uint64_t count);

#endif
