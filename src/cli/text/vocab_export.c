/* gufo vocab --export: the vocabulary in the form of another program. */
#include "base/memory.h"
#include "cli/core/files/save.h"
#include "cli/core/terminal/text.h"
#include "cli/text/vocab.h"
#include "text/export/vocab_export.h"

static int save(const vocab_input *v, const char *path, const buffer *bytes, bool force)
{
    gufo_str text = {bytes->len > 0 ? (const char *)bytes->data : "", bytes->len};
    output_guard guard;
    int code;

    if (save_is_stdout(path)) {
        text_put_result(text, TEXT_LINES);
        return CODE_OK;
    }
    if (!input_guard(&v->in, &guard))
        return CODE_FAILED;
    code = save_bytes(path, text, force, &guard);
    guard_free(&guard);
    return code;
}

int vocab_export(const vocab_input *v, const vocab_options *options)
{
    const char *path = options->base.output != NULL
                           ? options->base.output
                           : vocab_forms[options->form - EXPORT_TOKENIZER_JSON];
    buffer bytes = {.allocator = &default_allocator};
    gufo_status status;
    gufo_error error;
    int code;

    if (options->form == EXPORT_TOKENIZER_JSON)
        status = tokenizer_json_write(v->in.model, v->vocab, &bytes, &error);
    else
        status = vocab_txt_write(v->vocab, &bytes, &error);
    code = status == GUFO_OK ? save(v, path, &bytes, options->base.shared->force)
                             : report_error(v->in.path, &error);
    buffer_free(&bytes);
    return code;
}
