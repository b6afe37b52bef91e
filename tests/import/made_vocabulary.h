/* Folders with a vocabulary that tests make, and what a reader makes of them. */
#ifndef TEST_IMPORT_MADE_VOCABULARY_H
#define TEST_IMPORT_MADE_VOCABULARY_H

#include "sentencepiece_maker.h"
#include "tokenizers_folder.h"

/* ---- a folder of files ---------------------------------------------------------------------- */

typedef struct made_file {
    const char *name, *text;
} made_file;

typedef struct made_folder {
    folder place;
    vocabulary_folder read;
} made_folder;

/* Files up to one without a name; `pieces` become tokenizer.model, or what `model` is called. */
static inline void make_folder(made_folder *m, const char *architecture, const made_file *files)
{
    m->place = folder_new();
    for (; files->name != NULL; files++) {
        path_text path = folder_path(&m->place, files->name);

        write_file(path.text, files->text, strlen(files->text));
    }
    open_vocabulary(&m->read, m->place.path, architecture);
}

static inline void add_model(made_folder *m, const char *name, const made_piece *pieces,
                             size_t count, unsigned type)
{
    builder b = make_sentencepiece(pieces, count, type);
    path_text path = folder_path(&m->place, name);

    write_file(path.text, b.data, b.len);
    builder_free(&b);
}

static inline void remove_folder(made_folder *m)
{
    close_vocabulary(&m->read);
    folder_remove(&m->place);
}

static inline void must_read(made_folder *m, const char *readers)
{
    check_ok(read_vocabulary_folder(&m->read, readers), &m->read.error, "%s",
             readers != NULL ? readers : "any");
}

/* ---- keys ----------------------------------------------------------------------------------- */

static inline gufo_value value_of(const made_folder *m, const char *key)
{
    gufo_document_entry entry;

    check(gufo_document_find(m->read.import.document, key, &entry), "%s is missing", key);
    return entry.value;
}

static inline bool has_key(const made_folder *m, const char *key)
{
    return gufo_document_find(m->read.import.document, key, NULL);
}

static inline void check_text(const made_folder *m, const char *key, const char *expected)
{
    check_str(value_of(m, key).as.str, expected, "%s", key);
}

static inline void check_id(const made_folder *m, const char *key, uint64_t expected)
{
    check_u64(value_of(m, key).as.u, expected, "%s", key);
}

static inline void check_flag(const made_folder *m, const char *key, bool expected)
{
    check(value_of(m, key).as.b == expected, "%s", key);
}

static inline gufo_value element(const made_folder *m, const char *key, uint64_t index)
{
    const gufo_array array = value_of(m, key).as.array;
    gufo_error error = no_error();
    gufo_value value;

    check_ok(gufo_array_at(&array, index, &value, &error), &error, "%s", key);
    return value;
}

typedef struct made_token {
    const char *text;
    int type;
    float score;
} made_token;

static inline void check_tokens(const made_folder *m, const made_token *tokens, size_t count)
{
    bool scored = has_key(m, "tokenizer.ggml.scores");

    check_u64(value_of(m, "tokenizer.ggml.tokens").as.array.count, count, "tokens");
    for (size_t i = 0; i < count; i++) {
        check_str(element(m, "tokenizer.ggml.tokens", i).as.str, tokens[i].text, "token %zu", i);
        check(element(m, "tokenizer.ggml.token_type", i).as.i == tokens[i].type, "type of %zu", i);
        if (scored)
            check(element(m, "tokenizer.ggml.scores", i).as.f == (double)tokens[i].score,
                  "score of %zu", i);
    }
}

#endif
