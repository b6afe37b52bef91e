/* Special tokens and chat templates of a model folder.  tokenizer_config.json has their texts, and tokenizer.json the
 * ids of these; what is left comes from config.json.  The post-processor of tokenizer.json puts some
 * of them before and behind a text, which the flags say. */
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/text.h"
#include "import/tokenizers/reading.h"
#include "text/pipeline/steps/step_reading.h"

#include <inttypes.h>
#include <string.h>

/* ==== chat templates =========================================================================== */

/* Chat templates of a model folder: in tokenizer_config.json, or in files of their own. */

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
    names[list->count++] = (gufo_str){own, name.len};
    return GUFO_OK;
}

/* Takes characters that keys do not have as "_". */
static gufo_status add_key_name(name_list *list, gufo_str name, gufo_error *error)
{
    gufo_status status = add_name(list, name, error);
    char *own = status == GUFO_OK ? (char *)list->names[list->count - 1].data : NULL;

    for (size_t i = 0; status == GUFO_OK && i < name.len; i++)
        if (!is_letter(own[i]) && !is_digit(own[i]))
            own[i] = '_';
    return status;
}

static gufo_status set_template(tokenizer_reading *r, name_list *list, gufo_str name, gufo_str text)
{
    gufo_status status;
    char *key;

    if (gufo_str_equal(name, gufo_str_of("default")))
        return gufo_document_set_str(r->document, MAIN_KEY, text, r->error);
    status = add_key_name(list, name, r->error);
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
    sort_items(list->names, (size_t)list->count, sizeof *list->names, is_before);
    return gufo_document_set_array(r->document, "tokenizer.chat_templates",
                                   &(gufo_items){GUFO_VALUE_STRING, list->count, list->names},
                                   r->error);
}

/* ---- in tokenizer_config.json --------------------------------------------------------------- */

static gufo_status take_list(tokenizer_reading *r, const json_t *value)
{
    name_list list = {.allocator = r->allocator};
    gufo_status status = GUFO_OK;
    size_t index, skipped = 0;
    json_t *entry;

    json_array_foreach(value, index, entry)
    {
        const json_t *name = json_object_get(entry, "name"),
                     *text = json_object_get(entry, "template");

        if (status != GUFO_OK)
            break;
        if (json_is_string(name) && json_is_string(text) && json_string_length(name) > 0)
            status = set_template(r, &list, json_str(name), json_str(text));
        else
            skipped++;
    }
    if (status == GUFO_OK && skipped > 0)
        status = import_warn(r->import, r->error,
                             "tokenizer_config.json: %s chat templates have no name or no text: "
                             "they are skipped",
                             GROUPED(skipped));
    if (status == GUFO_OK)
        status = set_names(r, &list);
    name_list_free(&list);
    return status;
}

static gufo_status take_value(tokenizer_reading *r, const json_t *value, const char *file)
{
    if (json_is_string(value))
        return gufo_document_set_str(r->document, MAIN_KEY, json_str(value), r->error);
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
    gufo_str text = {bytes.len > 0 ? (const char *)bytes.data : "", bytes.len};

    if (status == GUFO_OK && *found)
        status = gufo_utf8_valid_prefix(text) == text.len
                     ? set_template(r, list, name, text)
                     : reading_fail(r, GUFO_E_MALFORMED, file, "the template is not UTF-8");
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

typedef struct template_files {
    tokenizer_reading *reading;
    name_list names;
} template_files;

static gufo_status visit_file(void *context, gufo_str name, gufo_error *error)
{
    template_files *files = context;

    if (name.len <= strlen(SUFFIX) || !str_ends(name, SUFFIX) || name.data[0] == '.')
        return GUFO_OK;
    return files->names.count < MOST_TEMPLATES
               ? add_name(&files->names, name, error)
               : reading_fail(files->reading, GUFO_E_LIMIT, FOLDER, "more than %d templates",
                              (int)MOST_TEMPLATES);
}

/* In the order of their names: that of the folder differs between machines. */
static gufo_status take_folder(tokenizer_reading *r, name_list *list)
{
    template_files files = {r, {.allocator = r->allocator}};
    name_list *names = &files.names;
    gufo_status status =
        source_folder_list(&r->config->folder, FOLDER, visit_file, &files, r->error);

    if (status != GUFO_OK)
        reading_name_file(r, FOLDER);
    if (status == GUFO_OK && names->count > 0)
        sort_items(names->names, (size_t)names->count, sizeof *names->names, is_before);
    for (uint64_t i = 0; i < names->count && status == GUFO_OK; i++)
        status = take_named_file(r, list, names->names[i].data);
    name_list_free(names);
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
    const json_t *value = json_member(json, "chat_template");

    if (status == GUFO_OK && value != NULL)
        status = take_value(r, value, "chat_template.json");
    json_decref(json);
    return status;
}

gufo_status templates_write(tokenizer_reading *r)
{
    const json_t *value = json_member(r->config->tokenizer, "chat_template");
    gufo_status status;
    bool found;

    if (value != NULL)
        return take_value(r, value, "tokenizer_config.json");
    status = take_files(r, &found);
    return status == GUFO_OK && !found ? take_json_file(r) : status;
}

typedef enum special_kind {
    KIND_BOS,
    KIND_EOS,
    KIND_UNK,
    KIND_SEP,
    KIND_PAD,
    KIND_CLS,
    KIND_MASK,
    KIND_EOT, /* these two exist only where the post-processor makes them */
    KIND_EOM,
    KIND_COUNT,
} special_kind;

static const struct {
    const char *text, *id; /* in tokenizer_config.json, in config.json */
    const char *key;       /* NULL: GGUF has none */
} kinds[KIND_COUNT] = {
    {"bos_token", "bos_token_id", TOKENIZER_KEY("bos_token_id")},
    {"eos_token", "eos_token_id", TOKENIZER_KEY("eos_token_id")},
    {"unk_token", "unk_token_id", TOKENIZER_KEY("unknown_token_id")},
    {"sep_token", "sep_token_id", TOKENIZER_KEY("seperator_token_id")},
    {"pad_token", "pad_token_id", TOKENIZER_KEY("padding_token_id")},
    {"cls_token", "cls_token_id", NULL},
    {"mask_token", "mask_token_id", TOKENIZER_KEY("mask_token_id")},
    {"eot_token", "eot_token_id", TOKENIZER_KEY("eot_token_id")},
    {"eom_token", "eom_token_id", TOKENIZER_KEY("eom_token_id")},
};

enum { FLAG_UNSET, FLAG_FALSE, FLAG_TRUE };

static const struct {
    special_kind kind;
    const char *field, *key;
} flags[] = {
    {KIND_BOS, "add_bos_token", TOKENIZER_KEY("add_bos_token")},
    {KIND_EOS, "add_eos_token", TOKENIZER_KEY("add_eos_token")},
    {KIND_SEP, "add_sep_token", TOKENIZER_KEY("add_sep_token")},
};

typedef struct special_reading {
    tokenizer_reading *r;
    gufo_str texts[KIND_COUNT]; /* empty: none */
    bool used[KIND_COUNT];
    uint8_t add[KIND_COUNT];
} special_reading;

static void default_to(gufo_str *text, gufo_str otherwise)
{
    if (text->len == 0)
        *text = otherwise;
}

/* ==== special ids, flags ======================================================================= */

/* ---- post-processor ------------------------------------------------------------------------- */

static void take_roberta(special_reading *s, const processor *p)
{
    s->add[KIND_BOS] = s->add[KIND_EOS] = s->add[KIND_SEP] = FLAG_TRUE;
    default_to(&s->texts[KIND_CLS], p->cls.text);
    default_to(&s->texts[KIND_SEP], p->sep.text);
}

/* An element of a template; without a name: none, or one that cannot be read. */
static template_element element_at(const json_t *list, size_t index)
{
    step_reading quiet = {.part = ""};
    template_element element;

    return template_read_element(&quiet, json_array_get(list, index), &element) == GUFO_OK
               ? element
               : (template_element){.name = {"", 0}};
}

/* The text of a special token in a template; empty: another part. */
static gufo_str special_at(const json_t *list, size_t index)
{
    template_element element = element_at(list, index);

    return element.is_text ? (gufo_str){"", 0} : element.name;
}

static bool is_text(const json_t *list, size_t index, bool second)
{
    template_element element = element_at(list, index);

    return element.is_text && element.is_second == second;
}

static bool is_one_of(gufo_str text, gufo_str a, gufo_str b)
{
    return text.len > 0 && (gufo_str_equal(text, a) || gufo_str_equal(text, b));
}

static void take_first(special_reading *s, gufo_str first)
{
    default_to(&s->texts[KIND_BOS], first);
    default_to(&s->texts[KIND_CLS], first);
    s->add[KIND_BOS] =
        is_one_of(first, s->texts[KIND_BOS], s->texts[KIND_CLS]) ? FLAG_TRUE : FLAG_FALSE;
}

/* Another token than eos at the end ends texts; what eos was ends turns. */
static void take_last(special_reading *s, gufo_str last)
{
    special_kind turn = s->used[KIND_EOT] ? KIND_EOM : KIND_EOT;

    if (!gufo_str_equal(last, s->texts[KIND_EOS])) {
        if (!s->used[turn]) {
            s->texts[turn] = s->texts[KIND_EOS];
            s->used[turn] = true;
        }
        s->texts[KIND_EOS] = last;
    }
    s->add[KIND_EOS] = FLAG_TRUE;
}

/* What is between the texts of a pair. */
static void take_pair(special_reading *s, const json_t *pair, gufo_str first, gufo_str last)
{
    size_t begin = 0, end = json_array_size(pair);
    bool separates;
    gufo_str sep = s->texts[KIND_SEP], eos = s->texts[KIND_EOS];

    if (end > 0 && first.len > 0 && gufo_str_equal(special_at(pair, 0), first))
        begin++;
    if (end > begin && last.len > 0 && gufo_str_equal(special_at(pair, end - 1), last))
        end--;
    if (end - begin < 3 || end - begin > 4 || !is_text(pair, begin, false) ||
        !is_text(pair, end - 1, true))
        return;
    separates = last.len == 0 && is_one_of(special_at(pair, begin + 1), sep, eos);
    if (end - begin == 4)
        separates |= is_one_of(special_at(pair, begin + 2), sep, eos);
    s->add[KIND_SEP] = separates ? FLAG_TRUE : FLAG_FALSE;
    if (separates)
        default_to(&s->texts[KIND_SEP], eos);
}

static void take_template(special_reading *s, const processor *p)
{
    size_t count = json_array_size(p->single);
    gufo_str first = {"", 0}, last = {"", 0};

    if (count > 1) {
        first = special_at(p->single, 0);
        last = special_at(p->single, count - 1);
    }
    if (first.len > 0)
        take_first(s, first);
    if (last.len > 0)
        take_last(s, last);
    take_pair(s, p->pair, first, last);
}

static gufo_status take_step(step_reading *r, const processor *p, void *context)
{
    if (p->kind == PROCESSOR_TEMPLATE)
        take_template(context, p);
    else if (step_is(r, "RobertaProcessing"))
        take_roberta(context, p);
    return GUFO_OK;
}

/* Flags are for readers of the GGUF file: what cannot be read sets none. */
static void read_post_processor(special_reading *s)
{
    step_reading quiet = {.part = "post_processor"};

    (void)processor_each(&quiet, tokenizer_file_part(s->r->json, quiet.part), take_step, s);
}

/* ---- ids ------------------------------------------------------------------------------------ */

static gufo_status set_id(special_reading *s, special_kind kind, uint64_t id)
{
    tokenizer_reading *r = s->r;
    gufo_document_entry tokens;

    if (kinds[kind].key == NULL || gufo_document_find(r->document, kinds[kind].key, NULL))
        return GUFO_OK;
    if (!gufo_document_find(r->document, TOKENIZER_KEY("tokens"), &tokens) ||
        id >= tokens.value.as.array.count)
        return import_warn(r->import, r->error,
                           "%s is %" PRIu64 ", which is not the id of a token: it is ignored",
                           kinds[kind].id, id);
    return gufo_document_set_u32(r->document, kinds[kind].key, (uint32_t)id, r->error);
}

/* Ids of the texts, as tokenizer.json has them among its added tokens: the first of each text. */
static gufo_status find_ids(special_reading *s)
{
    const tokenizer_file *f = s->r->json;
    gufo_status status = GUFO_OK;

    for (unsigned kind = 0; status == GUFO_OK && kind < KIND_COUNT; kind++) {
        uint32_t i = 0;

        if (!s->used[kind] || s->texts[kind].len == 0)
            continue;
        while (i < f->added_count && !gufo_str_equal(f->added[i].content, s->texts[kind]))
            i++;
        if (i < f->added_count)
            status = set_id(s, (special_kind)kind, f->added[i].id);
    }
    return status;
}

static gufo_status take_configured(special_reading *s)
{
    const json_t *raw = s->r->config->raw, *text = json_object_get(raw, "text_config");
    gufo_status status = GUFO_OK;

    for (unsigned kind = 0; status == GUFO_OK && kind < KIND_COUNT; kind++) {
        const json_t *value = json_member(raw, kinds[kind].id);

        uint64_t id;

        if (s->used[kind] &&
            reading_id(value != NULL ? value : json_member(text, kinds[kind].id), &id))
            status = set_id(s, (special_kind)kind, id);
    }
    return status;
}

static gufo_status set_flags(const special_reading *s)
{
    tokenizer_reading *r = s->r;
    gufo_status status = GUFO_OK;

    for (size_t i = 0; status == GUFO_OK && i < sizeof flags / sizeof *flags; i++) {
        uint8_t add = s->add[flags[i].kind];

        if (add != FLAG_UNSET)
            status = gufo_document_set_bool(r->document, flags[i].key, add == FLAG_TRUE, r->error);
    }
    return status;
}

/* ---- normalizer ----------------------------------------------------------------------------- */

static gufo_status take_normalizer(step_reading *r, void *context)
{
    static const struct {
        const char *type, *field, *key; /* no field: the step alone says it */
    } sayings[] = {
        {"Lowercase", NULL, TOKENIZER_KEY("normalizer.lowercase")},
        {"StripAccents", NULL, TOKENIZER_KEY("normalizer.strip_accents")},
        {"BertNormalizer", "lowercase", TOKENIZER_KEY("normalizer.lowercase")},
        {"BertNormalizer", "strip_accents", TOKENIZER_KEY("normalizer.strip_accents")},
    };

    for (size_t i = 0; r->status == GUFO_OK && i < sizeof sayings / sizeof *sayings; i++) {
        const char *field = sayings[i].field;

        if (step_is(r, sayings[i].type) && (field == NULL || step_member(r, field) != NULL))
            r->status = gufo_document_set_bool(context, sayings[i].key,
                                               field == NULL || step_flag(r, field), r->error);
    }
    return r->status;
}

/* ---- all ------------------------------------------------------------------------------------ */

/* Classes of their own decide what is put before texts, whatever tokenizer.json says. */
static bool has_own_class(const tokenizer_reading *r)
{
    gufo_str name = reading_content(json_member(r->config->tokenizer, "tokenizer_class"));

    return name.len > 0 && !str_is_word(name, "PreTrainedTokenizerFast TokenizersBackend");
}

/* Without tokenizer_config.json no name says which token is which, but where readers would add a BOS
 * to texts of pieces it matters what the post-processor adds. */
static bool says_something(const tokenizer_reading *r)
{
    return r->json != NULL && (json_object_size(r->config->tokenizer) > 0 || r->has_pieces);
}

static special_reading read_texts(tokenizer_reading *r)
{
    special_reading s = {.r = r};

    for (unsigned kind = 0; kind < KIND_EOT; kind++) {
        s.used[kind] = true;
        s.texts[kind] = reading_content(json_member(r->config->tokenizer, kinds[kind].text));
    }
    default_to(&s.texts[KIND_BOS], s.texts[KIND_CLS]);
    default_to(&s.texts[KIND_EOS], s.texts[KIND_SEP]);
    if (says_something(r))
        read_post_processor(&s);
    if (r->has_pieces && s.add[KIND_BOS] == FLAG_UNSET && !has_own_class(r))
        s.add[KIND_BOS] = FLAG_FALSE;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        const json_t *said = json_object_get(r->config->tokenizer, flags[i].field);

        if (json_is_boolean(said))
            s.add[flags[i].kind] = json_is_true(said) ? FLAG_TRUE : FLAG_FALSE;
    }
    return s;
}

bool special_adds_bos(tokenizer_reading *r)
{
    return read_texts(r).add[KIND_BOS] == FLAG_TRUE;
}

gufo_status special_write(tokenizer_reading *r)
{
    special_reading s = read_texts(r);
    gufo_status status = GUFO_OK;

    if (says_something(r))
        status = find_ids(&s);
    if (status == GUFO_OK)
        status = take_configured(&s);
    if (status == GUFO_OK)
        status = set_flags(&s);
    return status == GUFO_OK ? reading_each_step(r, NORMALIZER, take_normalizer, r->document)
                             : status;
}
