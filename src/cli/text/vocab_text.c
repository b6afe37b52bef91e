/* gufo vocab for people.
 *
 *     model.gguf
 *
 *     Vocabulary
 *       model          llama (SPM)
 *       tokens         32,000: 31,741 normal, 1 unknown, 2 control, 256 byte
 *       bos            1 "<s>"
 *       adds           BOS
 *       duplicates     none
 *       unreachable    3,417
 *
 *     Longest tokens (10 of 31,741)
 *       token                  id  bytes  type
 *       "               "   29871     48  normal  */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "cli/core/values/number.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/records/table.h"
#include "cli/core/terminal/text.h"
#include "cli/text/vocab.h"

enum { BEFORE_VALUE = 17, LEAST_VALUE = 20 };

/* ---- values --------------------------------------------------------------------------------- */

/* A label, and a value that is cut where a terminal ends. */
static void put_value(const char *label, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put_value(const char *label, const char *format, ...)
{
    size_t columns = stdout_columns();
    char text[TEXT_LINE];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    printf("  %-13s  ", label);
    if (columns > 0)
        text_put_wrapped(stdout, gufo_str_of(text), BEFORE_VALUE, BEFORE_VALUE,
                         columns > BEFORE_VALUE + LEAST_VALUE ? columns
                                                              : BEFORE_VALUE + LEAST_VALUE);
    else
        text_put(stdout, gufo_str_of(text), TEXT_PLAIN);
    putc('\n', stdout);
}

static void put_types(const vocab_report *r)
{
    char text[512] = "";
    size_t len = 0;

    for (int type = 0; type < VOCAB_TYPES; type++)
        if (r->types[type] > 0)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s %s %s", len > 0 ? "," : ":",
                                    human_grouped(r->types[type]).text, vocab_type_name(type));
    put_value("tokens", "%s%s", human_grouped(r->facts.size).text, text);
}

static void put_special(const vocab_report *r)
{
    gufo_text room = {0};

    for (unsigned i = 0; i < GUFO_SPECIAL_COUNT; i++) {
        uint32_t id = r->facts.special[i];

        if (id != GUFO_NO_TOKEN)
            put_value(gufo_special_name((gufo_special)i), "%" PRIu32 " %s", id,
                      vocab_quoted(r->vocab, id, &room).data);
    }
    gufo_text_free(&room);
}

static const char *describe_added(const gufo_vocab_facts *facts)
{
    if (facts->adds_bos)
        return facts->adds_sep ? "BOS and SEP" : facts->adds_eos ? "BOS and EOS" : "BOS";
    return facts->adds_eos ? "EOS" : "nothing";
}

static void put_flags(const vocab_report *r)
{
    const struct {
        bool set;
        const char *words;
    } flags[] = {
        {r->facts.space_prefix, "one is put before a text"},
        {r->facts.clean_spaces, "removes spaces before punctuation"},
        {r->facts.ignore_merges, "not of pieces that are tokens"},
    };

    put_value("adds", "%s", describe_added(&r->facts));
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].set)
            put_value(i == 0 ? "spaces" : i == 1 ? "decoding" : "merging", "%s", flags[i].words);
}

static void put_counts(const vocab_report *r)
{
    if (r->duplicates.count > 0)
        put_value("duplicates", "%s (--list=duplicates)", human_grouped(r->duplicates.count).text);
    else
        put_value("duplicates", "none");
    if (r->unreachable.count > 0)
        put_value("unreachable", "%s of %s (--list=unreachable)",
                  human_grouped(r->unreachable.count).text, human_grouped(r->tested).text);
    else
        put_value("unreachable", "none");
    if (r->options->text != NULL && r->text_tokens > 0)
        put_value("text", "%s, %s: %.2f bytes per token",
                  human_counted(r->text_bytes, "byte", "bytes").text,
                  human_counted(r->text_tokens, "token", "tokens").text,
                  (double)r->text_bytes / (double)r->text_tokens);
    else if (r->options->text != NULL)
        put_value("text", "%s, no tokens", human_counted(r->text_bytes, "byte", "bytes").text);
    if (r->facts.original != NULL)
        put_value("original", "%s", r->facts.original);
}

void vocab_text(const vocab_report *r)
{
    bool color = options_color(r->options->base.shared);

    table_name(color, r->path);
    fputs("\n\n", stdout);
    table_name(color, "Vocabulary");
    putc('\n', stdout);
    put_value("model", "%s (%s)", r->facts.model, r->facts.algorithm);
    if (r->facts.pre != NULL)
        put_value("pre-tokenizer", "%s", r->facts.pre);
    put_types(r);
    put_special(r);
    put_flags(r);
    put_counts(r);
    if (r->longest.count == 0)
        return;
    putc('\n', stdout);
    table_title(color, "Longest tokens", r->longest.count, r->facts.size);
    vocab_list_table(r, &r->longest);
}
