/* Fuzz target: read anything as a tokenizer.json, vocab.json, vocab.txt or merges.txt, and look at all
 * that it says. */
#include "walk.h"

#include "text/formats/tokenizer_file.h"

static void look_at(gufo_str text)
{
    must(gufo_utf8_valid_prefix(text) == text.len, "texts are UTF-8");
}

static void look(const tokenizer_file *f)
{
    must(f->has_vocab || f->vocab_count == 0, "tokens are those of a vocabulary");
    must(f->has_merges || f->merge_count == 0, "merges are those of a list");
    for (uint32_t i = 0; i < f->vocab_count; i++) {
        const file_entry *found = tokenizer_file_find(f, f->vocab[i].text);

        look_at(f->vocab[i].text);
        must(found != NULL && gufo_str_equal(found->text, f->vocab[i].text), "a token is found");
        must(f->vocab_is_list ? found >= &f->vocab[i] && f->vocab[i].id == i
                              : found == &f->vocab[i],
             "the last one is found");
        must(!f->vocab_is_list || f->scores[i] - f->scores[i] == 0, "scores are finite");
    }
    for (uint32_t i = 0; i < f->merge_count; i++) {
        look_at(f->merges[i].left);
        look_at(f->merges[i].right);
    }
    for (uint32_t i = 0; i < f->added_count; i++) {
        look_at(f->added[i].content);
        must(tokenizer_file_find_added(f, f->added[i].content) >= &f->added[i],
             "the last added token is found");
    }
}

typedef tokenizer_file *read_file(gufo_str text, const gufo_allocator *allocator,
                                  gufo_error *error);

static void try(read_file *read, gufo_str text)
{
    counter count = {0};
    gufo_allocator allocator = counting_allocator(&count);
    gufo_error error = {.code = GUFO_OK};
    tokenizer_file *f = read(text, &allocator, &error);

    must(f != NULL || error.code != GUFO_OK, "a failure has a code");
    must(f != NULL || error.offset <= text.len || error.offset == GUFO_NO_OFFSET,
         "a failure is in the file");
    must(count.peak <= 64 * text.len + 4096, "memory depends on the file");
    if (f != NULL)
        look(f);
    tokenizer_file_free(f);
    must(count.held == 0, "all memory is given back");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gufo_str text = {(const char *)data, size};

    try(tokenizer_file_read, text);
    try(vocab_json_read, text);
    try(vocab_txt_read, text);
    try(merges_txt_read, text);
    return 0;
}
