/* gufo vocab --json. */
#include <math.h>

#include "cli/core/values/json.h"
#include "cli/text/vocab.h"

static void write_types(json_writer *j, const vocab_report *r)
{
    static const char *const keys[VOCAB_TYPES] = {"other",        "normal", "unknown", "control",
                                                  "user_defined", "unused", "byte"};

    json_begin_object(j, "types");
    for (int type = 0; type < VOCAB_TYPES; type++)
        if (r->types[type] > 0)
            json_write_u64(j, keys[type], r->types[type]);
    json_end_object(j);
}

static void write_special(json_writer *j, const vocab_report *r)
{
    json_begin_object(j, "special");
    for (unsigned i = 0; i < GUFO_SPECIAL_COUNT; i++) {
        gufo_token token;

        if (!gufo_vocab_token(r->vocab, r->facts.special[i], &token))
            continue;
        json_begin_object(j, gufo_special_name((gufo_special)i));
        json_write_u64(j, "id", r->facts.special[i]);
        json_write_str(j, "text", token.text);
        json_end_object(j);
    }
    json_end_object(j);
}

static void write_ids(json_writer *j, const char *key, const gufo_ids *ids)
{
    json_begin_array(j, key);
    for (size_t i = 0; i < ids->count; i++)
        json_write_u64(j, NULL, ids->ids[i]);
    json_end_array(j);
}

static void write_text(json_writer *j, const vocab_report *r)
{
    if (r->options->text == NULL)
        return;
    json_begin_object(j, "text");
    json_write_u64(j, "bytes", r->text_bytes);
    json_write_u64(j, "tokens", r->text_tokens);
    if (r->text_tokens > 0)
        json_write_f64(j, "bytes_per_token", (double)r->text_bytes / (double)r->text_tokens);
    else
        json_write_null(j, "bytes_per_token");
    json_end_object(j);
}

void vocab_json(const vocab_report *r)
{
    const gufo_vocab_facts *facts = &r->facts;
    json_writer j = json_begin_document(r->path);

    json_write_text(&j, "model", facts->model);
    json_write_text(&j, "algorithm", facts->algorithm);
    json_write_text(&j, "pre", facts->pre);
    json_write_u64(&j, "size", facts->size);
    write_types(&j, r);
    write_special(&j, r);
    json_write_bool(&j, "add_bos", facts->add_bos);
    json_write_bool(&j, "add_eos", facts->add_eos);
    json_write_bool(&j, "space_prefix", facts->space_prefix);
    json_write_bool(&j, "clean_spaces", facts->clean_spaces);
    json_write_bool(&j, "ignore_merges", facts->ignore_merges);
    json_write_text(&j, "original", facts->original);
    json_begin_array(&j, "longest");
    for (size_t i = 0; i < r->longest.count; i++)
        vocab_list_token(&j, r, r->longest.ids[i]);
    json_end_array(&j);
    write_ids(&j, "duplicates", &r->duplicates);
    write_ids(&j, "unreachable", &r->unreachable);
    write_text(&j, r);
    json_begin_array(&j, "warnings");
    for (uint64_t i = 0; gufo_vocab_warning_at(r->vocab, i) != NULL; i++)
        json_write_text(&j, NULL, gufo_vocab_warning_at(r->vocab, i));
    json_end_array(&j);
    json_end_document(&j);
}
