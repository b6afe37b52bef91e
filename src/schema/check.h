/* The frame in which the rules of the schema are checked: what is checked, and how a finding is
 * reported.  check.c goes through its table of checks; each check is a function in its own
 * check_*.c. */
#ifndef GUFO_SCHEMA_CHECK_H
#define GUFO_SCHEMA_CHECK_H

#include "gufo/check.h"
#include "gufo/schema.h"

typedef enum schema_rule {
#define RULE(constant, id, name, severity, level, clause, summary) SCHEMA_##constant,
#include "format/rules/rules_of_meaning.def"
#undef RULE
    SCHEMA_RULE_COUNT
} schema_rule;

/* What a file is judged as; bits, so that a check can be for several. */
typedef enum subject_kind {
    KIND_MODEL = 1,
    KIND_VOCABULARY = 2, /* no tensors, whatever general.type says */
    KIND_ADAPTER = 4,    /* general.type: adapter */
    KIND_IMATRIX = 8,    /* general.type: imatrix */
    KIND_PROJECTOR = 16, /* general.type: mmproj, or architecture clip */
    KIND_ANY = 31,
} subject_kind;

typedef struct checker {
    const gufo_model *model;
    const gufo_check_options *options;
    gufo_level level; /* that of the options, or its default */
    const gufo_allocator *allocator;
    subject_kind kind;
    gufo_str architecture; /* general.architecture, empty without */
    gufo_finding_fn *found;
    void *context;
    gufo_error *error;
    gufo_status status; /* a check that runs out of memory says so here */
} checker;

/* Where a finding is, and what may be done; the rest of it is zero. */
typedef struct finding_place {
    uint64_t offset;
    gufo_str subject;
    const char *hint;
    gufo_fix fix;
    size_t shard;
} finding_place;

/* The place of a metadata entry, of a tensor, and of something that is missing. */
finding_place schema_place_entry(const gufo_entry *entry);
finding_place schema_place_tensor(const gufo_tensor *tensor, size_t shard);
finding_place schema_place_missing(const char *subject);

/* Tells a finding.  Strings from the file go into the message through quote_name. */
__attribute__((format(printf, 4, 5))) void schema_report(checker *c, schema_rule rule,
                                                         finding_place place, const char *format,
                                                         ...);

/* The tensors of the file or of all shards. */
uint64_t schema_tensor_count(const checker *c);
bool schema_tensor_at(const checker *c, uint64_t index, gufo_tensor *out, size_t *shard);
bool schema_tensor_find(const checker *c, const char *name, gufo_tensor *out, size_t *shard);

/* The value of "ARCHITECTURE.NAME"; false if it is not there, or of an absurdly long name. */
bool schema_check_arch_entry(const checker *c, const char *name, gufo_entry *out);

/* ---- the checks ----------------------------------------------------------------------------- */

void schema_check_general(checker *c);   /* check_general.c: values of general.* */
void schema_check_keys(checker *c);      /* check_keys.c: types, spelling, prefixes of all keys */
void schema_check_templates(checker *c); /* check_template.c: chat templates */
void schema_check_tokenizer(checker *c); /* check_tokenizer.c: the vocabulary */
void schema_check_name(checker *c);      /* check_name.c: file name and metadata */
void schema_check_architecture(checker *c); /* check_architecture.c: keys of the architecture */
void schema_check_tensors(checker *c);      /* check_tensors.c: names, blocks, shapes, types */
void schema_check_adapter(checker *c);      /* check_adapter.c */
void schema_check_imatrix(checker *c);      /* check_imatrix.c */
void schema_check_projector(checker *c);    /* check_projector.c */
void schema_check_shards(checker *c);       /* check_shards.c: metadata of later shards */

#endif
