/* The frame in which the rules of the schema are checked: what is checked, and how a finding is
 * reported. */
#ifndef GUFO_SCHEMA_FRAME_H
#define GUFO_SCHEMA_FRAME_H

#include "gufo/check.h"
#include "gufo/schema.h"

#include "base/error.h"
#include "format/rules/rules.h"

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
    bool every;                  /* findings of a rule are not limited */
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

static inline gufo_finding at_missing(const char *subject)
{
    return (gufo_finding){.offset = GUFO_NO_OFFSET, .subject = gufo_str_of(subject)};
}

static inline gufo_finding with_hint(gufo_finding finding, const char *hint)
{
    finding.hint = hint;
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
    return (gufo_fix){kind, false, key, {.type = GUFO_VALUE_STRING, .as.str = text}};
}

static inline gufo_fix fix_number(gufo_fix_kind kind, gufo_str key, gufo_value_type type,
                                  uint64_t number)
{
    return (gufo_fix){kind, false, key, {.type = type, .as.u = number}};
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

#endif
