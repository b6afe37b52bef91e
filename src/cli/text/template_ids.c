/* The tokens of a prompt.  A template writes the special tokens that it needs; BOS is added where the
 * vocabulary adds one and the prompt does not begin with it. */
#include "cli/text/template.h"

#include "cli/core/values/json.h"
#include "cli/text/tokenize_write.h"

static int open_vocabulary(templating *t)
{
    gufo_error error;

    if (t->vocab == NULL)
        t->vocab = gufo_vocab_open(t->model, NULL, &error);
    return t->vocab != NULL ? CODE_OK : report_error(t->path, &error);
}

static int tokenize(templating *t, gufo_ids *ids)
{
    const gufo_run run = {.threads = (unsigned)t->options->base.shared->threads};
    const gufo_tokenize_options options = {.flags = GUFO_TOKENIZE_PARSE_SPECIAL, .run = &run};
    const gufo_str text = {t->out.data, t->out.len};
    gufo_error error;

    return gufo_tokenize(t->vocab, text, &options, ids, &error) == GUFO_OK
               ? CODE_OK
               : report_error(t->path, &error);
}

static bool lacks_bos(const templating *t, const gufo_ids *ids)
{
    const gufo_vocab_facts facts = gufo_vocab_describe(t->vocab);
    const uint32_t bos = facts.special[GUFO_SPECIAL_BOS];

    return facts.add_bos && bos != GUFO_NO_TOKEN && (ids->count == 0 || ids->ids[0] != bos);
}

static void write_ids(const templating *t, const gufo_ids *ids)
{
    const uint32_t bos = gufo_vocab_describe(t->vocab).special[GUFO_SPECIAL_BOS];
    token_writer w = token_writer_start(t->vocab, TOKENS_IDS, t->path);

    if (lacks_bos(t, ids))
        (void)token_writer_put(&w, &bos, NULL, 1);
    (void)token_writer_put(&w, ids->ids, NULL, ids->count);
    (void)token_writer_end(&w, CODE_OK);
}

static void write_json(const templating *t, const gufo_ids *ids)
{
    json_writer j = json_begin_document(t->path);

    if (t->options->name != NULL)
        json_write_text(&j, "name", t->options->name);
    json_write_str(&j, "text", (gufo_str){t->out.data, t->out.len});
    json_begin_array(&j, "ids");
    if (lacks_bos(t, ids))
        json_write_u64(&j, NULL, gufo_vocab_describe(t->vocab).special[GUFO_SPECIAL_BOS]);
    for (size_t i = 0; i < ids->count; i++)
        json_write_u64(&j, NULL, ids->ids[i]);
    json_end_array(&j);
    json_end_document(&j);
}

int template_write_ids(templating *t)
{
    gufo_ids ids = {0};
    int code = open_vocabulary(t);

    if (code == CODE_OK)
        code = tokenize(t, &ids);
    if (code == CODE_OK)
        (t->options->base.shared->json ? write_json : write_ids)(t, &ids);
    gufo_ids_free(&ids);
    return code;
}
