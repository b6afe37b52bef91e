/* The vocabulary of a model folder: readers are tried in order, and the first whose files are there
 * reads it.  What all vocabularies have in common (special ids, flags, chat templates) follows. */
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/import.h"
#include "import/model_folder.h"
#include "import/tokenizers/reading.h"
#include "import/tokenizers/tokenizers.h"
#include "text/pretokenizers/pre_rules.h"

#include <string.h>

/* ==== tokenizer.json as it is ================================================================== */

/* The files of a tokenizer that has rules of its own: tokenizer.json, in a model folder or alone. */

#define TOKENIZER "tokenizer.json"

enum { LARGEST_FILE = 256 << 20 };

/* Reads a file into a text, whose memory is its allocator's. */
static gufo_status read_text(const source_folder *folder, const char *name, gufo_text *out,
                             bool *found, gufo_error *error)
{
    buffer bytes = {.allocator = mem_allocator(out->allocator)};
    gufo_status status = source_folder_read(folder, name, LARGEST_FILE, &bytes, found, error);

    if (status != GUFO_OK) {
        buffer_free(&bytes);
        return status;
    }
    mem_free(mem_allocator(out->allocator), out->data);
    out->data = (char *)bytes.data;
    out->len = bytes.len;
    out->room = bytes.capacity;
    return GUFO_OK;
}

gufo_status gufo_import_tokenizer(const char *path, gufo_text *json, gufo_text *config,
                                  gufo_error *error)
{
    const model_place place = model_place_of(path, false);
    const bool alone = place.file != NULL;
    bool found = false, ignored;
    gufo_status status = read_text(alone ? &place.from : &place.folder,
                                   alone ? place.file : TOKENIZER, json, &found, error);

    if (status == GUFO_OK && !found)
        return refuse(error, GUFO_E_NOT_FOUND, "no " TOKENIZER " is there");
    return status == GUFO_OK && !alone
               ? read_text(&place.folder, "tokenizer_config.json", config, &ignored, error)
               : status;
}

bool gufo_import_has_tokenizer(const char *path)
{
    const model_place place = model_place_of(path, false);

    return place.file != NULL ? str_ends(gufo_str_of(path), TOKENIZER)
                              : source_folder_has(&place.folder, TOKENIZER);
}

/* In the order in which they are tried where none is asked for. */
static const struct {
    const char *name;
    read_vocabulary *read;
    bool is_specific; /* only on request: its files are those of another reader, too */
} readers[] = {
    {"ugm", read_ugm, false},       {"spm", read_spm, false},
    {"phi3", read_phi3, true},      {"internlm2", read_internlm2, true},
    {"arctic", read_arctic, true},  {"chatglm3", read_chatglm3, true},
    {"gemma4", read_gemma4, true},  {"hf", read_hf, false},
    {"bpe", read_bpe, false},       {"xlmr", read_xlmr, false},
    {"nomic", read_nomic, true},    {"wpm", read_wpm, false},
    {"rwkv", read_rwkv, false},     {"mistral", read_mistral, false},
    {"qwen", read_qwen, false},     {"tiktoken", read_tiktoken, false},
    {"atomic", read_atomic, false},
};

enum { READERS = sizeof readers / sizeof *readers };

static gufo_status read_built_in(tokenizer_reading *r)
{
    gufo_status status =
        refuse(r->error, GUFO_E_NOT_FOUND,
               "the folder has no vocabulary: the model was trained with that of GPT-NeoX");

    reading_name_file(r, NULL);
    return import_advise(status, GUFO_ADVICE_VOCABULARY, r->error);
}

static size_t find_reader(gufo_str name)
{
    size_t i = 0;

    while (i < READERS && !gufo_str_equal(name, gufo_str_of(readers[i].name)))
        i++;
    return i;
}

/* Runs a reader, and the one that it may ask for instead, which asks for none. */
static gufo_status run_reader(tokenizer_reading *r, size_t index)
{
    gufo_status status;

    r->instead = NULL;
    status = readers[index].read(r);
    return status == GUFO_E_NOT_FOUND && r->instead != NULL
               ? readers[find_reader(gufo_str_of(r->instead))].read(r)
               : status;
}

static gufo_status read_named(tokenizer_reading *r, gufo_str name)
{
    size_t index = find_reader(name);

    return index < READERS ? run_reader(r, index)
                           : refuse(r->error, GUFO_E_ARGUMENT,
                                    "no reader of vocabularies is called %s", QUOTED(name));
}

static gufo_status fail_without(tokenizer_reading *r)
{
    gufo_str type = reading_content(json_member(r->model, "type"));

    if (type.len > 0)
        return reading_fail(r, GUFO_E_TYPE, "tokenizer.json", "a model of type %s is not supported",
                            QUOTED(type));
    if (r->unfit != NULL)
        return reading_fail(r, GUFO_E_TYPE, r->unfit, "%s", r->unfit_why);
    (void)refuse(r->error, GUFO_E_NOT_FOUND,
                 "no vocabulary (tokenizer.json, tokenizer.model ...) is in the folder");
    reading_name_file(r, NULL);
    return import_advise(GUFO_E_NOT_FOUND, GUFO_ADVICE_VOCABULARY, r->error);
}

static gufo_status read_any(tokenizer_reading *r)
{
    gufo_status status = GUFO_E_NOT_FOUND;

    for (size_t i = 0; i < READERS && status == GUFO_E_NOT_FOUND; i++)
        if (!readers[i].is_specific)
            status = run_reader(r, i);
    return status != GUFO_E_NOT_FOUND ? status : fail_without(r);
}

/* Mistral's own vocabulary comes before what is asked for if nothing else is there. */
static bool is_tekken(const tokenizer_reading *r)
{
    return reading_has(r, "tekken.json") && (r->config->is_mistral || r->json == NULL) &&
           !reading_has(r, "tokenizer.model");
}

/* The list says what is preferred where several would do: what is there decides. */
static gufo_status read_listed(tokenizer_reading *r, const char *names)
{
    gufo_status status = is_tekken(r) ? read_mistral(r) : GUFO_E_NOT_FOUND;

    for (gufo_str name = str_piece(&names, ','); name.len > 0 && status == GUFO_E_NOT_FOUND;
         name = str_piece(&names, ',')) {
        const char *space = memchr(name.data, ' ', name.len); /* a remark may follow */

        if (str_begins(name, "built-in"))
            return read_built_in(r);
        if (space != NULL)
            name.len = (size_t)(space - name.data);
        status = read_named(r, name);
    }
    return status != GUFO_E_NOT_FOUND ? status : read_any(r);
}

static gufo_status open_files(tokenizer_reading *r)
{
    gufo_status status = reading_open(r);

    if (status == GUFO_OK)
        status = reading_json(r, "added_tokens.json", &r->added);
    if (status == GUFO_OK)
        status = reading_json(r, "special_tokens_map.json", &r->special_map);
    if (status == GUFO_OK && r->json != NULL && r->model == NULL)
        return reading_fail(r, GUFO_E_MALFORMED, "tokenizer.json", "it has no \"model\"");
    return status;
}

static gufo_status set_ends(tokenizer_reading *r)
{
    static const char *const keys[] = {TOKENIZER_KEY("bos_token_id"), TOKENIZER_KEY("eos_token_id"),
                                       TOKENIZER_KEY("unknown_token_id")};
    gufo_status status = GUFO_OK;

    for (size_t i = 0; r->has_end && status == GUFO_OK && i < sizeof keys / sizeof *keys; i++)
        if (!gufo_document_find(r->document, keys[i], NULL))
            status = gufo_document_set_u32(r->document, keys[i], r->end, r->error);
    return status;
}

static gufo_status set_prefix(tokenizer_reading *r)
{
    static const char key[] = TOKENIZER_KEY("add_space_prefix");

    return !r->is_bare || gufo_document_find(r->document, key, NULL)
               ? GUFO_OK
               : gufo_document_set_bool(r->document, key, false, r->error);
}

/* A file of the folder as it is, if there is one. */
static gufo_status keep_file(tokenizer_reading *r, const char *name, const char *key)
{
    buffer bytes = {.allocator = r->allocator};
    bool found;
    gufo_status status = reading_file(r, name, &bytes, &found);

    if (status == GUFO_OK && found)
        status = gufo_document_set_str(r->document, key,
                                       (gufo_str){(const char *)bytes.data, bytes.len}, r->error);
    buffer_free(&bytes);
    return status;
}

/* Programs refuse files with a name that they do not know. */
static gufo_status check_pre(const tokenizer_reading *r)
{
    const char *pre = r->request->pre;

    return pre == NULL || pre_rules_find(gufo_str_of(pre)) != NULL
               ? GUFO_OK
               : refuse(r->error, GUFO_E_ARGUMENT, "no pre-tokenizer is called %s",
                        QUOTED(gufo_str_of(pre)));
}

gufo_status tokenizers_write(gufo_import *import, const tokenizer_request *request,
                             gufo_error *error)
{
    tokenizer_reading r = {.import = import,
                           .document = import->document,
                           .request = request,
                           .config = request->config,
                           .allocator = &import->allocator,
                           .error = error};
    gufo_status status = check_pre(&r);

    if (status == GUFO_OK)
        status = open_files(&r);
    if (status == GUFO_OK)
        status = request->readers != NULL ? read_listed(&r, request->readers) : read_any(&r);
    if (status == GUFO_OK)
        status = special_write(&r);
    if (status == GUFO_OK)
        status = set_ends(&r);
    if (status == GUFO_OK)
        status = templates_write(&r);
    if (status == GUFO_OK)
        status = set_prefix(&r);
    if (status == GUFO_OK && request->compare && r.json != NULL)
        status = compare_ids(&r);
    if (status == GUFO_OK && request->keep_json)
        status = keep_file(&r, "tokenizer.json", "tokenizer.huggingface.json");
    if (status == GUFO_OK && request->keep_world)
        status = keep_file(&r, WORLD_FILE, "tokenizer.rwkv.world");
    /* Sentences without a file of their own name it. */
    if (status != GUFO_OK && status != GUFO_E_NOT_FOUND && error != NULL && error->file[0] == '\0')
        source_folder_fail_in(&r.config->folder, NULL, error);
    tokenizer_file_free(r.json);
    json_decref(r.added);
    json_decref(r.special_map);
    return status;
}
