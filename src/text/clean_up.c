/* Clean-up as a filter.
 *
 * Three passes, each over the result of the one before:
 *
 *     say ' so ' , they 're here !     as tokens give it
 *     say ' so ', they 're here!       1: no space before ? ! . ,
 *     say'so ', they 're here!         2: an apostrophe between two spaces loses both
 *     say'so ', they're here!          3: no space before 's 'm 're 've
 *
 * A pass replaces texts from left to right.  It holds back what is the beginning of one of them, at
 * most three bytes, and so the passes can follow each other byte by byte. */
#include "text/clean_up.h"

#include "base/buffer.h"

#include <string.h>

typedef struct replacement {
    const char *found, *text;
} replacement;

enum { MOST_RULES = 5 };

/* None begins with another one of the same pass. */
static const replacement passes[CLEAN_PASSES][MOST_RULES] = {
    {{" ?", "?"}, {" !", "!"}, {" .", "."}, {" ,", ","}},
    {{" ' ", "'"}},
    {{" 's", "'s"}, {" 'm", "'m"}, {" 're", "'re"}, {" 've", "'ve"}},
};

/* The rule of a pass that begins with what is held; NULL: none. */
static const replacement *rule_of(const clean_up *clean, size_t pass)
{
    const replacement *rule = passes[pass];

    while (rule->found != NULL &&
           strncmp(rule->found, clean->held[pass].text, clean->held[pass].len) != 0)
        rule++;
    return rule->found != NULL ? rule : NULL;
}

/* `out` has room for it. */
static void put(clean_up *clean, size_t pass, char byte, gufo_text *out);

/* Passes the first held byte on. */
static void release(clean_up *clean, size_t pass, gufo_text *out)
{
    char first = clean->held[pass].text[0];

    clean->held[pass].len--;
    memmove(clean->held[pass].text, clean->held[pass].text + 1, clean->held[pass].len);
    put(clean, pass + 1, first, out);
}

static void put(clean_up *clean, size_t pass, char byte, gufo_text *out)
{
    const replacement *rule = NULL;

    if (pass == CLEAN_PASSES) {
        text_put_byte(out, byte);
        return;
    }
    clean->held[pass].text[clean->held[pass].len++] = byte;
    while (clean->held[pass].len > 0 && (rule = rule_of(clean, pass)) == NULL)
        release(clean, pass, out);
    if (clean->held[pass].len == 0 || rule->found[clean->held[pass].len] != '\0')
        return;
    clean->held[pass].len = 0;
    for (const char *at = rule->text; *at != '\0'; at++)
        put(clean, pass + 1, *at, out);
}

static size_t held(const clean_up *clean)
{
    size_t sum = 0;

    for (size_t pass = 0; pass < CLEAN_PASSES; pass++)
        sum += clean->held[pass].len;
    return sum;
}

/* Every rule begins with a space: what is before the first one is final if nothing is held. */
static gufo_str skip_plain(const clean_up *clean, gufo_str text, gufo_text *out)
{
    const char *space = held(clean) == 0 ? memchr(text.data, ' ', text.len) : text.data;
    size_t plain = space != NULL ? (size_t)(space - text.data) : text.len;

    if (plain > 0)
        (void)text_add(out, text.data, plain); /* has room */
    return (gufo_str){text.data + plain, text.len - plain};
}

bool clean_up_feed(clean_up *clean, gufo_str text, gufo_text *out)
{
    if (!text_reserve(out, text.len + held(clean)))
        return false;
    while (text.len > 0) {
        text = skip_plain(clean, text, out);
        if (text.len == 0)
            break;
        put(clean, 0, *text.data, out);
        text = (gufo_str){text.data + 1, text.len - 1};
    }
    return true;
}

bool clean_up_end(clean_up *clean, gufo_text *out)
{
    if (!text_reserve(out, held(clean)))
        return false;
    for (size_t pass = 0; pass < CLEAN_PASSES; pass++)
        while (clean->held[pass].len > 0)
            release(clean, pass, out);
    return true;
}
