/* The files of a tokenizer.
 *
 * A vocabulary may have several forms.  Each is tried until one gives the same tokens when it is
 * converted; where none does, the first one stays for other programs, and gguf-metadata.json has the
 * tokens. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "import/export/parts.h"
#include "import/export/same_keys.h"
#include "import/export/sentencepiece_write.h"
#include "import/export/world_write.h"
#include "text/formats/vocab_export.h"

/* ---- forms ----------------------------------------------------------------------------------- */

typedef gufo_status write_form(const gufo_model *model, const model_tokens *tokens, buffer *out,
                               gufo_error *error);

static gufo_status write_bpe_pieces(const gufo_model *model, const model_tokens *tokens,
                                    buffer *out, gufo_error *error)
{
    return sentencepiece_write(model, tokens, false, out, error);
}

static gufo_status write_unigram(const gufo_model *model, const model_tokens *tokens, buffer *out,
                                 gufo_error *error)
{
    return sentencepiece_write(model, tokens, true, out, error);
}

static gufo_status write_json(const gufo_model *model, const model_tokens *tokens, buffer *out,
                              gufo_error *error)
{
    gufo_vocab *vocab = gufo_vocab_open(model, NULL, error);
    gufo_status status = vocab != NULL   ? tokenizer_json_write(model, vocab, out, error)
                         : error != NULL ? error->code
                                         : GUFO_E_MEMORY;

    (void)tokens;
    gufo_vocab_close(vocab);
    return status;
}

static gufo_status write_world(const gufo_model *model, const model_tokens *tokens, buffer *out,
                               gufo_error *error)
{
    (void)model;
    return world_write(tokens, out, error);
}

/* The forms of each model of tokenizers, in the order in which they are tried. */
static const struct form_row {
    const char *model;
    const char *file;
    write_form *write;
    bool with_added; /* it does not say which tokens were added */
} forms[] = {
    {"llama", "tokenizer.model", write_bpe_pieces, true},
    {"llama", "tokenizer.json", write_json, false},
    {"gpt2", "tokenizer.json", write_json, false},
    {"bert", "tokenizer.json", write_json, false},
    {"t5", "tokenizer.model", write_unigram, true},
    {"t5", "tokenizer.json", write_json, false},
    {"rwkv", "rwkv_vocab_v20230424.txt", write_world, false},
};

enum { FORMS = sizeof forms / sizeof *forms };

/* ---- trying ---------------------------------------------------------------------------------- */

static gufo_status add_form(const gufo_model *model, const model_tokens *tokens,
                            const struct form_row *form, export_files *files, gufo_error *error)
{
    buffer bytes = {.allocator = &default_allocator};
    gufo_status status = form->write(model, tokens, &bytes, error);

    if (status != GUFO_OK) {
        buffer_free(&bytes);
        return status;
    }
    status = export_add(files, form->file, &bytes, error);
    return status == GUFO_OK ? export_tokenizer_config(model, form->with_added, files, error)
                             : status;
}

/* The forms of the model's tokenizer until one is right.  *best: the first one that could be written;
 * *tried: the last. */
static gufo_status try_forms(const gufo_model *model, const model_tokens *tokens,
                             export_files *files, size_t *best, bool *right, gufo_error *error)
{
    gufo_str name = model_text(model, "tokenizer.ggml.model");
    const uint32_t before = files->count;
    gufo_status status = GUFO_OK;

    *best = FORMS;
    *right = false;
    for (size_t i = 0; i < FORMS && status == GUFO_OK && !*right; i++) {
        gufo_error reason;

        if (!gufo_str_equal(name, gufo_str_of(forms[i].model)))
            continue;
        export_drop(files, before);
        status = add_form(model, tokens, &forms[i], files, &reason);
        if (status == GUFO_E_MEMORY)
            return fail_memory(error);
        if (status == GUFO_OK) {
            *best = *best == FORMS ? i : *best;
            status = same_vocabulary(model, files, right, error);
        } else {
            status = export_warn(files, error, "%s cannot be written: %s", forms[i].file,
                                 reason.message);
        }
    }
    return status;
}

static gufo_status add_forms(const gufo_model *model, const model_tokens *tokens,
                             export_files *files, gufo_error *error)
{
    const uint32_t before = files->count;
    size_t best;
    bool right;
    gufo_status status = try_forms(model, tokens, files, &best, &right, error);

    if (status != GUFO_OK || right)
        return status;
    export_drop(files, before);
    if (best < FORMS)
        status = add_form(model, tokens, &forms[best], files, error);
    else
        status = export_tokenizer_config(model, false, files, error);
    return status == GUFO_OK ? export_warn(files, error,
                                           "no file of a tokenizer holds all of this vocabulary: "
                                           "gguf-metadata.json has what is missing")
                             : status;
}

/* The tokenizer.json that the model was made with. */
static gufo_status add_original(const gufo_model *model, gufo_str text, export_files *files,
                                gufo_error *error)
{
    buffer bytes = {.allocator = &default_allocator};
    gufo_status status;

    if (!buffer_append(&bytes, text.data, text.len))
        return fail_memory(error);
    status = export_add(files, "tokenizer.json", &bytes, error);
    return status == GUFO_OK ? export_tokenizer_config(model, false, files, error) : status;
}

gufo_status export_vocabulary(const gufo_model *model, export_files *files, gufo_error *error)
{
    gufo_str original = model_text(model, "tokenizer.huggingface.json");
    model_tokens tokens;
    gufo_status status;

    if (original.len > 0)
        return add_original(model, original, files, error);
    status = model_tokens_read(model, &tokens, error);
    if (status == GUFO_OK && tokens.count > 0)
        status = add_forms(model, &tokens, files, error);
    model_tokens_free(&tokens);
    return status;
}
