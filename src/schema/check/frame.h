/* The frame in which the rules of the schema are checked: what is checked, and how a finding is
 * reported. */
#ifndef GUFO_SCHEMA_FRAME_H
#define GUFO_SCHEMA_FRAME_H

#include "gufo/check.h"
#include "gufo/schema.h"

#include "base/error.h"

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

typedef struct check_context {
    const gufo_model *model;
    const gufo_check_options *options;
    gufo_level level; /* that of the options, or its default */
    const gufo_allocator *allocator;
    subject_kind kind;
    gufo_str architecture;      /* general.architecture, empty without */
    const gufo_arch_info *arch; /* what is known of it, its keys and tensors; NULL, and no rows */
    const gufo_arch_key *keys;
    const gufo_arch_tensor *tensors;
    size_t key_count, tensor_count;
    gufo_finding_fn *found;
    void *context;
    gufo_error *error;
    gufo_status status;                 /* a check that runs out of memory says so here */
    uint64_t listed[SCHEMA_RULE_COUNT]; /* findings at places of which there may be many */
    char hint[640], more[48];
} check_context;

/* Where a finding is, and what may be done; the rest of it is zero. */
typedef struct finding_place {
    uint64_t offset;
    gufo_str subject;
    const char *hint;
    gufo_fix fix;
    size_t shard;
    bool many; /* no rule floods: after FINDINGS_OF_A_RULE of these the others are only counted */
} finding_place;

enum { FINDINGS_OF_A_RULE = 20 };

/* The place of a metadata entry, of a tensor, and of something that is missing. */
static inline finding_place at_entry(const gufo_entry *entry)
{
    return (finding_place){.offset = entry->offset, .subject = entry->key};
}

static inline finding_place at_tensor(const gufo_tensor *tensor)
{
    return (finding_place){.offset = tensor->info_offset,
                           .subject = tensor->name,
                           .shard = tensor->shard,
                           .many = true};
}

static inline finding_place at_missing(const char *subject)
{
    return (finding_place){.offset = GUFO_NO_OFFSET, .subject = gufo_str_of(subject)};
}

/* A place of which there may be many. */
static inline finding_place one_of_many(finding_place place)
{
    place.many = true;
    return place;
}

static inline finding_place with_hint(finding_place place, const char *hint)
{
    place.hint = hint;
    return place;
}

/* Reports a finding.  Strings from the file go into the message through QUOTED(). */
__attribute__((format(printf, 4, 5))) void schema_report(check_context *c, schema_rule rule,
                                                         finding_place place, const char *format,
                                                         ...);

/* Makes the hint of the next finding like printf. */
__attribute__((format(printf, 2, 3))) const char *schema_hint(check_context *c, const char *format,
                                                              ...);

/* Tells for each rule how many more findings there are than were listed.  Done after each check. */
void schema_report_rest(check_context *c);

/* The value of "ARCHITECTURE.NAME"; false if it is not there, or of an absurdly long name. */
__attribute__((format(printf, 3, 4))) bool schema_arch_entry(const check_context *c,
                                                             gufo_entry *out, const char *name,
                                                             ...);

/* The number that a key has; false if it is not there, or not such a number. */
bool schema_check_number(const check_context *c, const char *key, gufo_entry *entry, uint64_t *out);

/* Passes each text of an entry, which may be an array of them, and where it begins in the file. */
void schema_each_text(const gufo_entry *entry,
                      void (*take)(void *context, gufo_str text, uint64_t at), void *context);

#endif
