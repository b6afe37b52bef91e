/* Options that say something about tensors by their names: PATTERN=TYPE, PATTERN<TAB>NUMBER, PATTERN.  The
 * first rule that matches a name counts. */
#ifndef CLI_QUANTIZE_NAME_RULES_H
#define CLI_QUANTIZE_NAME_RULES_H

#include "cli/core/options/names.h"

#include "gufo/codec.h"
#include "gufo/format.h"

/* Files of rules. */
#define RULES_MOST_BYTES ((size_t)16 << 20)
#define RULES_TOO_LONG "more than 16 MiB of patterns"

typedef struct name_rule {
    pattern *pattern;
    char *text; /* of the pattern; owned */
    const gufo_element_type *type;
    double number;
} name_rule;

typedef struct name_rules {
    const char *option; /* that they are from; NULL: without rules */
    name_rule *list;
    size_t count;
    const name_rule *costly; /* its pattern took too many steps; NULL: none did */
} name_rules;

/* Adds a rule whose pattern is the first `len` bytes of `text`.  Returns the exit code; *added is its
 * place. */
int name_rules_add(name_rules *rules, const char *option, const char *text, size_t len,
                   name_rule **added);
void name_rules_free(name_rules *rules);
/* The rule for a name; NULL: none. */
const name_rule *name_rules_find(name_rules *rules, gufo_str name);
/* Warns of patterns that match no tensor of a model.  Returns CODE_NO if some are given and none matches,
 * else CODE_OK: lists of patterns are made for many models. */
int name_rules_check(const name_rules *rules, const char *input, const gufo_model *model);

#endif
