/* Names that are meant: patterns of the shell, regular expressions (a thin layer over PCRE2), suggestions. */
#include "cli/core/options/names.h"

#include "gufo/print.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- patterns of the shell ------------------------------------------------------------------ */

bool glob_matches(const char *glob, gufo_str name)
{
    char copy[GUFO_MAX_KEY + 1];

    if (glob == NULL)
        return true;
    if (name.len >= sizeof copy)
        return false;
    /* fnmatch takes C strings: `*` and `?` match a NUL inside a name, which must not cut it. */
    for (size_t i = 0; i < name.len; i++)
        copy[i] = name.data[i] != '\0' ? name.data[i] : '\1';
    copy[name.len] = '\0';
    return fnmatch(glob, copy, 0) == 0;
}

bool glob_next_entry(const char *glob, const gufo_model *model, uint64_t *next, gufo_entry *out)
{
    while (gufo_model_entry_at(model, (*next)++, out))
        if (glob_matches(glob, out->key))
            return true;
    return false;
}

bool glob_next_tensor(const char *glob, const gufo_model *model, uint64_t *next, gufo_tensor *out)
{
    while (gufo_model_tensor_at(model, (*next)++, out))
        if (glob_matches(glob, out->name))
            return true;
    return false;
}

bool glob_selects(const option_texts *globs, gufo_str name)
{
    bool selected = globs->count == 0;

    for (size_t i = 0; i < globs->count && !selected; i++)
        selected = glob_matches(globs->items[i], name);
    return selected;
}

/* ---- regular expressions -------------------------------------------------------------------- */

#ifdef GUFO_PCRE2

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct pattern {
    pcre2_code *code;
    pcre2_match_data *match;
};

pattern *pattern_new(const char *text, char message[PATTERN_MESSAGE])
{
    pattern *p = malloc(sizeof *p);
    PCRE2_UCHAR reason[PATTERN_MESSAGE / 2];
    PCRE2_SIZE at = 0;
    int failure = 0;

    snprintf(message, PATTERN_MESSAGE, "out of memory");
    if (p == NULL)
        return NULL;
    p->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
                            PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &failure, &at, NULL);
    p->match = p->code != NULL ? pcre2_match_data_create_from_pattern(p->code, NULL) : NULL;
    if (p->match != NULL)
        return p;
    if (p->code == NULL && pcre2_get_error_message(failure, reason, sizeof reason) > 0)
        snprintf(message, PATTERN_MESSAGE, "%s at character %zu", (const char *)reason,
                 (size_t)at + 1);
    pattern_free(p);
    return NULL;
}

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

const char *pattern_version(void)
{
    return TEXT(PCRE2_MAJOR) "." TEXT(PCRE2_MINOR);
}

void pattern_free(pattern *p)
{
    if (p == NULL)
        return;
    pcre2_match_data_free(p->match);
    pcre2_code_free(p->code);
    free(p);
}

pattern_answer pattern_match(const pattern *p, gufo_str name)
{
    int found = pcre2_match(p->code, (PCRE2_SPTR)name.data, name.len, 0, 0, p->match, NULL);

    if (found >= 0)
        return PATTERN_YES;
    return found == PCRE2_ERROR_NOMATCH ? PATTERN_NO : PATTERN_TOO_COSTLY;
}

#else

struct pattern {
    char unused;
};

pattern *pattern_new(const char *text, char message[PATTERN_MESSAGE])
{
    (void)text;
    snprintf(message, PATTERN_MESSAGE,
             "this is a minimal build of gufo, without PCRE2: build it without -DGUFO_MINIMAL=ON");
    return NULL;
}

const char *pattern_version(void)
{
    return NULL;
}

void pattern_free(pattern *p)
{
    free(p);
}

pattern_answer pattern_match(const pattern *p, gufo_str name)
{
    (void)p, (void)name;
    return PATTERN_NO;
}

#endif

/* ---- suggestions ---------------------------------------------------------------------------- */

suggestion suggest_start(gufo_str word)
{
    /* About a third of the letters may differ: with half of them "best" would be near "get". */
    return (suggestion){.word = word, .best = (word.len + 1) / 3 + 1};
}

/* Names of a folder come in any order. */
static bool is_before(gufo_str a, gufo_str b)
{
    int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);

    return order != 0 ? order < 0 : a.len < b.len;
}

bool suggest_offer(suggestion *s, gufo_str name)
{
    size_t distance = gufo_text_distance(name, s->word, s->best);
    bool tie = distance == s->best && s->name.len > 0;

    if (distance > s->best || (distance == s->best && !(tie && is_before(name, s->name))))
        return false;
    s->best = distance;
    s->name = name;
    return true;
}

const char *suggest_text(suggestion *s, const char *before)
{
    if (s->name.len > 0)
        snprintf(s->text, sizeof s->text, "; did you mean '%s%.*s'?", before, (int)s->name.len,
                 s->name.data);
    return s->text;
}
