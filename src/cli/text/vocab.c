/* gufo vocab FILE: what a vocabulary holds; gufo vocab diff A B: how two differ; --export: in the
 * form of another program. */
#include "cli/text/vocab.h"

#include <string.h>

#include "cli/commands.h"
#include "cli/text/vocab_open.h"

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
     OPTION_CHOICE(vocab_options, form, vocab_forms, EXPORT_TOKENIZER_JSON)},
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
    int forms = (o->text != NULL) + (o->listed != LISTED_NONE) + (o->form != EXPORT_NONE);

    if (shared->arg_count != (diff ? 3 : 1))
        return report_usage(diff ? "diff compares two files" : "one FILE is needed");
    if (forms > (diff ? 0 : 1))
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

/* ---- the whole ------------------------------------------------------------------------------ */

static int report(const vocab_input *v, const vocab_options *options, const char *path)
{
    vocab_report r = {.options = options,
                      .path = path,
                      .vocab = v->vocab,
                      .facts = gufo_vocab_describe(v->vocab)};
    int code = vocab_count(&r);

    if (code == CODE_OK && options->text != NULL)
        code = vocab_count_text(&r);
    if (code == CODE_OK && options->listed != LISTED_NONE)
        code = vocab_list(&r);
    else if (code == CODE_OK)
        (options->base.shared->json ? vocab_json : vocab_text)(&r);
    gufo_ids_free(&r.longest);
    gufo_ids_free(&r.duplicates);
    gufo_ids_free(&r.unreachable);
    return code;
}

static int look(const vocab_options *options)
{
    const char *path = options->base.shared->args[0];
    vocab_input v;
    int code = vocab_input_open(&v, path, options);

    if (code == CODE_OK)
        vocab_report_warnings(path, v.vocab);
    if (code == CODE_OK)
        code = options->form != EXPORT_NONE ? vocab_export(&v, options) : report(&v, options, path);
    vocab_input_close(&v);
    return code;
}

static int vocab(void *context)
{
    vocab_options *options = context;
    int code = check_arguments(options);

    options->run.threads = (unsigned)options->base.shared->threads;
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
