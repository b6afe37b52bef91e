/* Chat templates of a model folder: in tokenizer_config.json, or in files of their own. */
#include "import/tokenizers/special.h"

#include <dirent.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/text.h"
#include "import/architectures/config_files.h"

#define MAIN_KEY "tokenizer.chat_template"
#define FOLDER "additional_chat_templates"
#define SUFFIX ".jinja"

enum { MOST_TEMPLATES = 256 };

/* ---- templates with names ------------------------------------------------------------------- */

typedef struct name_list {
    const gufo_allocator *allocator;
    gufo_str *names; /* own copies */
    uint64_t count, room;
} name_list;

static bool is_before(const void *a, const void *b)
{
    const gufo_str *first = a, *second = b;
    size_t len = first->len < second->len ? first->len : second->len;
    int order = memcmp(first->data, second->data, len);

    return order != 0 ? order < 0 : first->len < second->len;
}

static void name_list_free(name_list *list)
{
    for (uint64_t i = 0; i < list->count; i++)
        mem_free(list->allocator, (char *)list->names[i].data);
    mem_free(list->allocator, list->names);
}

/* Takes characters that keys do not have as "_". */
static gufo_status add_name(name_list *list, gufo_str name, gufo_error *error)
{
    gufo_str *names =
        mem_grow(list->allocator, list->names, list->count, &list->room, sizeof *names);
    char *own = mem_text(list->allocator, name);

    if (names != NULL)
        list->names = names;
    if (names == NULL || own == NULL) {
        mem_free(list->allocator, own);
        return fail_memory(error);
    }
    for (size_t i = 0; i < name.len; i++)
        if (!is_letter(own[i]) && !is_digit(own[i]))
            own[i] = '_';
    names[list->count++] = (gufo_str){own, name.len};
    return GUFO_OK;
}

static gufo_status set_template(tokenizer_reading *r, name_list *list, gufo_str name, gufo_str text)
{
    gufo_status status;
    char *key;

    if (gufo_str_equal(name, gufo_str_of("default")))
        return gufo_document_set_str(r->document, MAIN_KEY, text, r->error);
    status = add_name(list, name, r->error);
    if (status != GUFO_OK)
        return status;
    key = mem_join(r->allocator, gufo_str_of(MAIN_KEY "."), list->names[list->count - 1]);
    status = key != NULL ? gufo_document_set_str(r->document, key, text, r->error)
                         : fail_memory(r->error);
    mem_free(r->allocator, key);
    return status;
}

static gufo_status set_names(tokenizer_reading *r, name_list *list)
{
    if (list->count == 0)
        return GUFO_OK;
    sort_items(list->names, list->count, sizeof *list->names, is_before);
    return gufo_document_set_array(r->document, "tokenizer.chat_templates",
                                   &(gufo_items){GUFO_VALUE_STRING, list->count, list->names},
                                   r->error);
}

/* ---- in tokenizer_config.json --------------------------------------------------------------- */

static gufo_status take_list(tokenizer_reading *r, const json_t *value)
{
    name_list list = {.allocator = r->allocator};
    gufo_status status = GUFO_OK;
    size_t index;
    json_t *entry;

    json_array_foreach(value, index, entry)
    {
        const json_t *name = json_object_get(entry, "name"),
                     *text = json_object_get(entry, "template");

        if (status != GUFO_OK)
            break;
        status = json_is_string(name) && json_is_string(text) && json_string_length(name) > 0
                     ? set_template(r, &list, reading_text(name), reading_text(text))
                     : import_warn(r->import, r->error,
                                   "tokenizer_config.json: chat template %zu has no name or no "
                                   "text: it is skipped",
                                   index);
    }
    if (status == GUFO_OK)
        status = set_names(r, &list);
    name_list_free(&list);
    return status;
}

static gufo_status take_value(tokenizer_reading *r, const json_t *value, const char *file)
{
    if (json_is_string(value))
        return gufo_document_set_str(r->document, MAIN_KEY, reading_text(value), r->error);
    if (json_is_array(value))
        return take_list(r, value);
    return reading_fail(r, GUFO_E_MALFORMED, file, "\"chat_template\" is neither text nor a list");
}

/* ---- files ---------------------------------------------------------------------------------- */

/* A file of the folder as the template of a name. */
static gufo_status take_file(tokenizer_reading *r, name_list *list, gufo_str name, const char *file,
                             bool *found)
{
    buffer bytes = {.allocator = r->allocator};
    gufo_status status = reading_file(r, file, &bytes, found);

    if (status == GUFO_OK && *found)
        status = set_template(r, list, name,
                              (gufo_str){bytes.len > 0 ? (const char *)bytes.data : "", bytes.len});
    buffer_free(&bytes);
    return status;
}

static gufo_status take_named_file(tokenizer_reading *r, name_list *list, const char *name)
{
    gufo_str stem = {name, strlen(name) - strlen(SUFFIX)};
    char *file = mem_join(r->allocator, gufo_str_of(FOLDER "/"), gufo_str_of(name));
    gufo_status status;
    bool found;

    status = file != NULL ? take_file(r, list, stem, file, &found) : fail_memory(r->error);
    mem_free(r->allocator, file);
    return status;
}

static gufo_status take_folder(tokenizer_reading *r, name_list *list)
{
    char *start = mem_join(r->allocator, gufo_str_of(r->config->folder), gufo_str_of("/" FOLDER));
    DIR *folder = start != NULL ? opendir(start) : NULL;
    gufo_status status = start != NULL ? GUFO_OK : fail_memory(r->error);
    const struct dirent *entry;

    while (folder != NULL && status == GUFO_OK && (entry = readdir(folder)) != NULL) {
        gufo_str name = gufo_str_of(entry->d_name);

        if (name.len <= strlen(SUFFIX) || !str_ends(name, SUFFIX) || name.data[0] == '.')
            continue;
        status = list->count < MOST_TEMPLATES
                     ? take_named_file(r, list, entry->d_name)
                     : reading_fail(r, GUFO_E_LIMIT, FOLDER, "more than %d templates",
                                    (int)MOST_TEMPLATES);
    }
    if (folder != NULL)
        (void)closedir(folder);
    mem_free(r->allocator, start);
    return status;
}

static gufo_status take_files(tokenizer_reading *r, bool *found)
{
    name_list list = {.allocator = r->allocator};
    gufo_status status = take_file(r, &list, gufo_str_of("default"), "chat_template" SUFFIX, found);

    if (status == GUFO_OK && *found)
        status = take_folder(r, &list);
    if (status == GUFO_OK)
        status = set_names(r, &list);
    name_list_free(&list);
    return status;
}

static gufo_status take_json_file(tokenizer_reading *r)
{
    json_t *json;
    gufo_status status = reading_json(r, "chat_template.json", &json);
    const json_t *value = reading_member(json, "chat_template");

    if (status == GUFO_OK && value != NULL)
        status = take_value(r, value, "chat_template.json");
    json_decref(json);
    return status;
}

static gufo_status take_any(tokenizer_reading *r)
{
    const json_t *value = reading_member(r->config->tokenizer, "chat_template");
    gufo_status status;
    bool found;

    if (value != NULL)
        return take_value(r, value, "tokenizer_config.json");
    status = take_files(r, &found);
    return status == GUFO_OK && !found ? take_json_file(r) : status;
}

/* Models with the World vocabulary speak in one way, which their folders do not say. */
static const char world_template[] = "{% for message in messages %}"
                                     "{% if message['role'] == 'user' %}{{ 'User: ' }}"
                                     "{% elif message['role'] == 'assistant' %}{{ 'Assistant: ' }}"
                                     "{% else %}{{ 'System: ' }}{% endif %}"
                                     "{{ message['content'] | trim }}{{ '\n\n' }}"
                                     "{% endfor %}"
                                     "{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}";

/* What Qwen3 rerankers are asked, with places for the query and a document. */
static const char judge_template[] =
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and "
    "the Instruct provided. Note that the answer can only be \"yes\" or \"no\".<|im_end|>\n"
    "<|im_start|>user\n<Instruct>: Given a web search query, retrieve relevant passages that "
    "answer the query\n<Query>: {query}\n<Document>: {document}<|im_end|>\n"
    "<|im_start|>assistant\n<think>\n\n</think>\n\n";

static gufo_status take_judge(tokenizer_reading *r)
{
    const char *architecture = r->config->architecture;
    gufo_str rerank = gufo_str_of("rerank");
    bool is_reranker;
    gufo_status status;

    if (architecture == NULL || !str_is_word(gufo_str_of(architecture), "qwen3 qwen3vl"))
        return GUFO_OK;
    status = config_is_reranker(r->config, &is_reranker, r->error);
    if (status != GUFO_OK || !is_reranker)
        return status;
    status = gufo_document_set_text(r->document, MAIN_KEY ".rerank", judge_template, r->error);
    return status == GUFO_OK
               ? gufo_document_set_array(r->document, "tokenizer.chat_templates",
                                         &(gufo_items){GUFO_VALUE_STRING, 1, &rerank}, r->error)
               : status;
}

gufo_status templates_write(tokenizer_reading *r)
{
    gufo_status status = take_any(r);
    gufo_document_entry model;

    if (status == GUFO_OK)
        status = take_judge(r);
    if (status != GUFO_OK || gufo_document_find(r->document, MAIN_KEY, NULL) ||
        !gufo_document_find(r->document, TOKENIZER_KEY("model"), &model) ||
        !gufo_str_equal(model.value.as.str, gufo_str_of("rwkv")))
        return status;
    return gufo_document_set_text(r->document, MAIN_KEY, world_template, r->error);
}
