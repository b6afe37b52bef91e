/* gufo vocab FILE: what a vocabulary holds; gufo vocab diff A B: how two differ; --export: in the
 * form of another program. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/core/files/remote.h"
#include "cli/core/files/save.h"
#include "cli/core/terminal/text.h"
#include "cli/text/blocks.h"
#include "cli/text/vocab.h"
#include "cli/text/vocab_open.h"

static const char *const forms[] = {"tokenizer.json", "vocab.txt", NULL};

/* ---- command line --------------------------------------------------------------------------- */

static const command_option vocab_table[] = {
    {"text", "F", "Count the tokens of the text in the file F", OPTION_TEXT(vocab_options, text)},
    {"list", "WHAT",
     "List all tokens, or those that are special, longest, duplicates or unreachable",
     OPTION_CHOICE(vocab_options, listed, vocab_lists, LISTED_TOKENS)},
    OPTION_TOKENIZER(vocab_options),
    {"pre", "NAME", "Take this pre-tokenizer instead of tokenizer.ggml.pre",
     OPTION_TEXT(vocab_options, pre)},
    {"export", "FORMAT", "Write the vocabulary as tokenizer.json or vocab.txt",
     OPTION_CHOICE(vocab_options, form, forms, EXPORT_TOKENIZER_JSON)},
    {"output", "OUT", "Write to OUT (default: a file named FORMAT)", OPTION_OUTPUT},
    {0},
};

static bool is_diff(const shared_options *shared)
{
    return shared->arg_count > 1 && strcmp(shared->args[0], "diff") == 0;
}

static int check_arguments(const vocab_options *o)
{
    const shared_options *shared = o->base.shared;
    bool diff = is_diff(shared);
    int asked = (o->text != NULL) + (o->listed != LISTED_NONE) + (o->form != EXPORT_NONE);

    if (shared->arg_count != (diff ? 3 : 1))
        return report_usage(diff ? "diff compares two files" : "one FILE is needed");
    if (asked > (diff ? 0 : 1))
        return report_usage(diff ? "diff takes neither --text nor --list nor --export"
                                 : "--text, --list and --export exclude each other");
    if (o->form == EXPORT_NONE && o->base.output != NULL)
        return report_usage("-o is for --export");
    if (o->form != EXPORT_NONE && shared->json)
        return report_usage("--export and --json exclude each other");
    if (diff && path_is_standard(shared->args[1]) && path_is_standard(shared->args[2]))
        return report_usage("standard input cannot be both files");
    if (o->text != NULL && path_is_standard(o->text) && path_is_standard(shared->args[0]))
        return report_usage("standard input cannot be FILE and the text");
    return CODE_OK;
}

/* ---- counting, in the vocabulary and in a text ---------------------------------------------- */

enum { LONGEST = 10 };

static int count(vocab_report *r)
{
    const uint32_t special = GUFO_TOKEN_CONTROL | GUFO_TOKEN_UNKNOWN | GUFO_TOKEN_USER_DEFINED;
    const vocab_listed listed = r->options->listed;
    const gufo_vocab *vocab = r->vocab;
    gufo_status status = GUFO_OK;
    gufo_error error = {.code = GUFO_OK};

    gufo_vocab_count_types(vocab, r->types);
    if (listed == LISTED_NONE)
        status = gufo_vocab_count_lengths(vocab, r->lengths, &error);
    if (listed == LISTED_SPECIAL)
        status = gufo_vocab_tokens_with(vocab, special, &r->special, &error);
    if (status == GUFO_OK && (listed == LISTED_NONE || listed == LISTED_DUPLICATES))
        status = gufo_vocab_duplicates(vocab, &r->duplicates, &error);
    if (status == GUFO_OK && (listed == LISTED_NONE || listed == LISTED_LONGEST))
        status = gufo_vocab_longest(vocab, listed == LISTED_NONE ? LONGEST : SIZE_MAX, &r->longest,
                                    &error);
    if (status == GUFO_OK && (listed == LISTED_NONE || listed == LISTED_UNREACHABLE))
        status =
            gufo_vocab_unreachable(vocab, &r->options->run, &r->unreachable, &r->tested, &error);
    return status == GUFO_OK ? CODE_OK : report_error(r->path, &error);
}

static int count_text(vocab_report *r)
{
    gufo_tokenize_options options = {.run = &r->options->run};
    gufo_error error;
    gufo_tokenizer *tokenizer = gufo_tokenizer_new(r->vocab, &options, &error);
    gufo_status status = GUFO_OK;
    gufo_ids ids = {0};
    gufo_str block;
    blocks in;
    int code;

    if (tokenizer == NULL)
        return report_error(r->path, &error);
    code = blocks_open(&in, r->options->text);
    while (code == CODE_OK && status == GUFO_OK && (code = blocks_next(&in, &block)) == CODE_OK &&
           block.len > 0) {
        status = gufo_tokenizer_feed(tokenizer, block, &ids, &error);
        r->text_bytes += block.len;
        r->text_tokens += ids.count;
        ids.count = 0;
    }
    blocks_close(&in);
    if (code == CODE_OK && status == GUFO_OK)
        status = gufo_tokenizer_end(tokenizer, &ids, &error);
    r->text_tokens += ids.count;
    gufo_ids_free(&ids);
    gufo_tokenizer_free(tokenizer);
    return status == GUFO_OK ? code : report_error(r->path, &error);
}

/* ---- --export: the form of another program -------------------------------------------------- */

static int save(const vocab_input *v, const char *path, const gufo_text *bytes, bool force)
{
    const gufo_str text = {bytes->len > 0 ? bytes->data : "", bytes->len};
    gufo_guard guard;
    int code;

    if (save_is_stdout(path)) {
        text_put_result(text, TEXT_LINES);
        return CODE_OK;
    }
    if (!input_guard(&v->in, &guard))
        return CODE_FAILED;
    code = save_bytes(path, text, force, &guard);
    gufo_guard_free(&guard);
    return code;
}

static int export(const vocab_input *v, const vocab_options *options)
{
    const char *path = options->base.output != NULL ? options->base.output
                                                    : forms[options->form - EXPORT_TOKENIZER_JSON];
    gufo_text text = {0};
    gufo_status status;
    gufo_error error;
    int code;

    if (options->form == EXPORT_TOKENIZER_JSON)
        status = gufo_vocab_export_json(v->vocab, &v->source, &text, &error);
    else
        status = gufo_vocab_export_txt(v->vocab, &text, &error);
    code = status == GUFO_OK ? save(v, path, &text, options->base.shared->force)
                             : report_error(v->in.path, &error);
    gufo_text_free(&text);
    return code;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int report(const gufo_vocab *vocab, const vocab_options *options, const char *path)
{
    vocab_report r = {
        .options = options, .path = path, .vocab = vocab, .facts = gufo_vocab_describe(vocab)};
    int code = count(&r);

    if (code == CODE_OK && options->text != NULL)
        code = count_text(&r);
    if (code == CODE_OK && options->listed != LISTED_NONE)
        vocab_list(&r);
    else if (code == CODE_OK)
        vocab_facts(&r);
    gufo_ids_free(&r.special);
    gufo_ids_free(&r.longest);
    gufo_ids_free(&r.duplicates);
    gufo_ids_free(&r.unreachable);
    return code;
}

static int look(const vocab_options *options)
{
    const char *path = remote_shown(options->base.shared->args[0]);
    vocab_input v;
    int code = vocab_open_input(&v, path, &options->how);

    if (code == CODE_OK) {
        vocab_report_warnings(path, v.vocab);
        code = options->form != EXPORT_NONE ? export(&v, options) : report(v.vocab, options, path);
    }
    vocab_close_input(&v);
    return code;
}

static int vocab(void *context)
{
    vocab_options *options = context;
    int code = check_arguments(options);

    options->run.threads = (unsigned)options->base.shared->threads;
    options->how = (gufo_vocab_options){
        .tokenizer = options->tokenizer, .pre = options->pre, .run = &options->run};
    if (code != CODE_OK)
        return code;
    return is_diff(options->base.shared) ? vocab_diff(options) : look(options);
}

const command_line command_vocab = {
    .operands = {"FILE | diff A B", 1, 3, "FILE is needed, or diff and two files"},
    .doc = "Show what the vocabulary of FILE holds, or how those of A and B differ.\v"
           "A token is unreachable if the text that it gives becomes other tokens.  Bytes and "
           "parts of characters, which have no text of their own, do not count.  Exit status 1 "
           "means that the vocabularies of diff differ, 3 that a file has no vocabulary, or one "
           "that gufo does not support.",
    .examples = {{"gufo vocab --text=book.txt model.gguf", "Also counts the tokens of a text."},
                 {"gufo vocab diff old.gguf new.gguf", "Lists tokens that differ."},
                 {"gufo vocab --export=tokenizer.json model.gguf",
                  "Writes tokenizer.json for Hugging Face's libraries."}},
    COMMAND_OPTIONS(vocab_table, vocab_options),
    .run = vocab,
};
