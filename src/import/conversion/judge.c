/* Whether the model that a checkpoint becomes is one that readers take: by the rules of check.h as
 * registry/convert_findings.tsv changes them, and by the rows "check" of the table convert_keys, which are
 * about what a configuration says and GGUF cannot.
 *
 * A finding is about a key or a tensor; who has to correct it edits config.json.  For a key the table
 * of origins says which fields it was made of.  For shapes every dimension is a witness: the key whose
 * dimensions fit nowhere is the wrong one.
 *
 *     token_embd   embedding_length 65 != 64                       embedding_length   0 fit, 2 do not
 *     ffn_up       embedding_length 65 != 64, feed_forward 128     feed_forward       1 fits */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "gufo/check.h"
#include "gufo/vocab.h"
#include "import/architectures/configuration/rules.h"
#include "import/conversion/conversion.h"
#include "import/json_file.h"

enum { MOST_KEYS = 64, FIELDS_SIZE = 320 };

/* What dimensions say about a key. */
typedef struct witness {
    gufo_str key;
    uint64_t fit, wrong;
} witness;

typedef struct judging {
    conversion *c;
    gufo_error *error;
    gufo_status status;
    bool failed;
    /* The first finding that is a failure, and the first one about a shape. */
    char sentence[GUFO_MESSAGE_SIZE], shape[GUFO_MESSAGE_SIZE];
    char key[GUFO_KEY_NAME_SIZE]; /* "": not about one */
    bool many_keys;               /* any of several may be wrong */
    witness witnesses[MOST_KEYS];
    size_t count;
} judging;

/* registry/convert_findings.tsv */
static const struct rule_row {
    const char *id, *key, *severity;
} rule_rows[] = {
#define ROW(rule, key, severity) {rule, key, severity},
#include "registry/convert_findings.inc"
#undef ROW
};

static const struct rule_row *row_of(const gufo_rule *broken)
{
    for (size_t i = 0; i < sizeof rule_rows / sizeof *rule_rows; i++)
        if (strcmp(rule_rows[i].id, broken->id) == 0)
            return &rule_rows[i];
    return NULL;
}

static bool is_by_dimensions(const struct rule_row *row)
{
    return row != NULL && strcmp(row->key, "dimensions") == 0;
}

static bool is_forced(const conversion *c)
{
    return (c->options.flags & (GUFO_CHECKPOINT_FORCE_CONFIG | GUFO_CHECKPOINT_NO_CHECK)) != 0;
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* "hidden_size (65), num_attention_heads (4)": fields with those of their values that are short. */
static void list_fields(json_t *fields, char out[FIELDS_SIZE])
{
    const char *name;
    json_t *value;
    size_t len = 0;

    out[0] = '\0';
    json_object_foreach(fields, name, value)
    {
        bool is_short = !json_is_array(value) && !json_is_object(value) && !json_is_string(value);
        char *text = is_short ? json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9)) : NULL;
        int more = text != NULL
                       ? snprintf(out + len, FIELDS_SIZE - len, "%s%s (%s)", len > 0 ? ", " : "",
                                  name, text)
                       : snprintf(out + len, FIELDS_SIZE - len, "%s%s", len > 0 ? ", " : "", name);

        free(text);
        if (more < 0 || (size_t)more >= FIELDS_SIZE - len)
            return;
        len += (size_t)more;
    }
}

/* The fields that a key was made of; "" if none is known, or the caller gave the key. */
static void name_fields(const conversion *c, const char *key, char out[FIELDS_SIZE])
{
    const gufo_document *known = c->options.known;
    bool is_given = known != NULL && gufo_document_find(known, key, NULL);

    list_fields(is_given ? NULL : json_object_get(c->origins, key), out);
}

/* ---- findings -------------------------------------------------------------------------------- */

static void copy_text(char *out, size_t size, gufo_str text)
{
    (void)snprintf(out, size, "%.*s", text.len < size ? (int)text.len : 0, text.data);
}

/* Encoder and decoder have keys of their own, where their blocks are numbered apart. */
static const char *part_of(gufo_str subject)
{
    static const char *const parts[] = {"encoder.", "decoder."};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (str_begins(subject, parts[i]))
            return parts[i];
    return "";
}

/* The key that a finding is about. */
static void put_key(const conversion *c, const gufo_finding *finding, const struct rule_row *row,
                    char out[GUFO_KEY_NAME_SIZE])
{
    if (row != NULL && row->key[0] != '\0' && !is_by_dimensions(row))
        (void)snprintf(out, GUFO_KEY_NAME_SIZE, "%s.%s%s", c->config.architecture,
                       part_of(finding->subject), row->key);
    else
        copy_text(out, GUFO_KEY_NAME_SIZE, finding->subject);
}

static void keep_failure(judging *j, const gufo_finding *finding, const struct rule_row *row)
{
    if (is_by_dimensions(row) && strncmp(row->id, "M3", 2) == 0 && j->shape[0] == '\0')
        copy_text(j->shape, sizeof j->shape, gufo_str_of(finding->message));
    if (j->failed)
        return;
    j->failed = true;
    j->many_keys = is_by_dimensions(row);
    copy_text(j->sentence, sizeof j->sentence, gufo_str_of(finding->message));
    put_key(j->c, finding, row, j->key);
}

static void warn(judging *j, const gufo_finding *finding, const struct rule_row *row, bool forced)
{
    char key[GUFO_KEY_NAME_SIZE], fields[FIELDS_SIZE];

    put_key(j->c, finding, row, key);
    name_fields(j->c, key, fields);
    j->status = import_warn(&j->c->base, j->error, "%s%s%s", fields, fields[0] != '\0' ? ": " : "",
                            finding->message);
    if (j->status == GUFO_OK && forced)
        j->status = import_note_forced(&j->c->base, j->error);
}

/* Warnings about keys and tensors of the architecture, too: its configuration is the place for them. */
static void take_finding(void *context, const gufo_finding *finding)
{
    judging *j = context;
    const struct rule_row *row = row_of(finding->rule);
    bool fails = finding->rule->severity == GUFO_ERROR ||
                 (row != NULL && strcmp(row->severity, "error") == 0);
    bool warns = finding->rule->severity == GUFO_WARNING &&
                 str_is_word((gufo_str){finding->rule->id, 2}, "M2 M3");

    if (j->status != GUFO_OK)
        return;
    if (fails && !is_forced(j->c))
        keep_failure(j, finding, row);
    else if (fails || warns)
        warn(j, finding, row, fails);
}

static void name_fields_of(const judging *j, size_t index, char out[FIELDS_SIZE])
{
    char key[GUFO_KEY_NAME_SIZE];

    copy_text(key, sizeof key, j->witnesses[index].key);
    name_fields(j->c, key, out);
}

static witness *find_witness(judging *j, gufo_str key)
{
    for (size_t i = 0; i < j->count; i++)
        if (gufo_str_equal(j->witnesses[i].key, key))
            return &j->witnesses[i];
    if (j->count == MOST_KEYS)
        return NULL;
    j->witnesses[j->count] = (witness){.key = key};
    return &j->witnesses[j->count++];
}

static void take_dimension(void *context, const gufo_str *keys, size_t count, bool fits)
{
    for (size_t i = 0; i < count; i++) {
        witness *w = find_witness(context, keys[i]);

        if (w != NULL) {
            w->fit += fits;
            w->wrong += !fits;
        }
    }
}

/* ---- the failure ----------------------------------------------------------------------------- */

/* Keys of the same fields speak with one voice. */
static void join_witnesses(judging *j)
{
    char fields[FIELDS_SIZE], others[FIELDS_SIZE];

    for (size_t i = 0; i < j->count; i++) {
        name_fields_of(j, i, fields);
        for (size_t k = i + 1; k < j->count; k++) {
            name_fields_of(j, k, others);
            if (fields[0] == '\0' || strcmp(fields, others) != 0)
                continue;
            j->witnesses[i].fit += j->witnesses[k].fit;
            j->witnesses[i].wrong += j->witnesses[k].wrong;
            j->witnesses[k--] = j->witnesses[--j->count];
        }
    }
}

/* The key that most dimensions speak against, of those that no more speak for than against; NULL: none.  A list
 * may be wrong for every other block. */
static const witness *guilty(const judging *j)
{
    const witness *worst = NULL;

    for (size_t i = 0; i < j->count; i++) {
        const witness *w = &j->witnesses[i];

        if (w->wrong > 0 && w->wrong >= w->fit &&
            (worst == NULL || w->fit * worst->wrong < worst->fit * w->wrong ||
             (w->fit * worst->wrong == worst->fit * w->wrong && w->wrong > worst->wrong)))
            worst = w;
    }
    return worst;
}

static gufo_status fail_field(const conversion *c, const char *fields, const char *sentence,
                              gufo_error *error)
{
    gufo_status status =
        refuse(error, GUFO_E_MALFORMED, "%s%s%s", fields, fields[0] != '\0' ? ": " : "", sentence);

    if (fields[0] != '\0')
        (void)config_failed(&c->config, status, error);
    return import_advise(status, GUFO_ADVICE_FORCE, error);
}

/* A field that is wrong: an error, or a warning that is noted. */
static gufo_status blame(conversion *c, const char *fields, const char *sentence, gufo_error *error)
{
    gufo_status status;

    if (!is_forced(c))
        return fail_field(c, fields, sentence, error);
    status = import_warn(&c->base, error, "%s: %s", fields, sentence);
    return status == GUFO_OK ? import_note_forced(&c->base, error) : status;
}

static gufo_status fail(judging *j)
{
    const witness *worst;
    const char *sentence = j->sentence;
    char fields[FIELDS_SIZE];

    join_witnesses(j);
    worst = j->many_keys ? guilty(j) : NULL;
    if (worst != NULL) {
        copy_text(j->key, sizeof j->key, worst->key);
        if (j->shape[0] != '\0')
            sentence = j->shape;
    }
    name_fields(j->c, j->key, fields);
    return fail_field(j->c, fields, sentence, j->error);
}

static gufo_status judge_model(conversion *c, gufo_error *error)
{
    judging j = {.c = c, .error = error};
    const gufo_check_options options = {.level = GUFO_LEVEL_MODEL,
                                        .allocator = &c->base.allocator,
                                        .dimension = take_dimension,
                                        .tokenizer_json = gufo_tokenizer_json_tokens};
    gufo_status status =
        gufo_model_check_content(c->base.opened, &options, take_finding, &j, error);

    if (status == GUFO_OK)
        status = j.status;
    return status == GUFO_OK && j.failed ? fail(&j) : status;
}

/* ---- what the configuration says ------------------------------------------------------------- */

/* "hidden_size (65)": a field of a row, with its value if that is a number. */
static void name_field(const expression_scope *scope, const char *field, char out[FIELDS_SIZE])
{
    expression_result result = {.made = NULL};
    json_t *value = NULL, *fields = json_object();

    if (expression_evaluate(scope, field, &result, NULL) == GUFO_OK &&
        term_is_number(&result.value))
        value = term_to_json(&result.value);
    (void)snprintf(out, FIELDS_SIZE, "%s", field);
    if (fields != NULL && value != NULL && json_object_set(fields, field, value) == 0)
        list_fields(fields, out);
    json_decref(fields);
    json_decref(value);
    expression_result_free(&result);
}

/* A row "check": its key is the field, its type whether the sentence is an error. */
static gufo_status doubt(void *context, const rule *row, gufo_error *error)
{
    conversion *c = context;
    const expression_scope scope = {.config = &c->config, .fields = c->config.edited};
    expression_result result = {.made = NULL};
    gufo_status status = expression_evaluate(&scope, row->value, &result, error);
    char sentence[GUFO_MESSAGE_SIZE] = "", field[FIELDS_SIZE];

    if (status == GUFO_OK && result.value.kind == TERM_TEXT)
        copy_text(sentence, sizeof sentence, result.value.text);
    expression_result_free(&result);
    if (status != GUFO_OK)
        return status;
    name_field(&scope, row->key, field);
    return strcmp(row->type, "error") == 0
               ? blame(c, field, sentence, error)
               : import_warn(&c->base, error, "%s: %s", field, sentence);
}

static gufo_status judge_fields(conversion *c, gufo_error *error)
{
    const expression_scope scope = {.config = &c->config,
                                    .fields = c->config.edited,
                                    .document = c->base.document,
                                    .checkpoint = &c->checkpoint};
    gufo_status status = rules_apply(&scope, c->config.rules, "check", doubt, c, error);

    return status == GUFO_OK && !is_tower(c) ? rules_apply(&scope, "@all", "check", doubt, c, error)
                                             : status;
}

/* ---- the vocabulary -------------------------------------------------------------------------- */

/* Whether the configuration gives so many tokens, or does not say how many. */
static bool is_size(const json_t *fields, uint64_t count)
{
    const json_t *size = json_object_get(fields, "vocab_size");

    return size == NULL || json_is_null(size) ||
           (json_is_number(size) && json_number_value(size) == (double)count);
}

static gufo_status fail_rows(conversion *c, uint64_t count, gufo_error *error)
{
    char fields[FIELDS_SIZE], sentence[64];
    json_t *size =
        json_pack("{s:O}", "vocab_size", json_object_get(c->config.fields, "vocab_size"));

    list_fields(size, fields);
    json_decref(size);
    (void)snprintf(sentence, sizeof sentence, "the embedding has %s rows", GROUPED(count));
    return blame(c, fields, sentence, error);
}

/* Frameworks refuse an embedding of another size than the configuration says, but not all architectures
 * have a key for it.  Rules may add rows, or leave some out. */
static gufo_status judge_rows(conversion *c, gufo_error *error)
{
    const model_config *config = &c->config;
    const checkpoint_tensor *read;
    const planned_tensor *planned;
    uint64_t index;

    if (!gufo_document_tensor_find(c->base.document, "token_embd.weight", &index, NULL))
        return GUFO_OK;
    planned = &c->plan.tensors[index];
    read = checkpoint_find(&c->checkpoint, planned_source(planned));
    if (read == NULL || read->packed != NULL || is_size(config->fields, planned->dims[1]) ||
        is_size(config->edited, planned->dims[1]) || is_size(config->fields, read->shape[0]))
        return GUFO_OK;
    return fail_rows(c, read->shape[0], error);
}

gufo_status conversion_judge(conversion *c, gufo_error *error)
{
    bool has_rules = !c->is_adapter && (c->options.flags & GUFO_CHECKPOINT_GENERIC) == 0;
    gufo_status status = GUFO_OK;

    if (has_rules && c->has_tensors)
        status = judge_fields(c, error);
    if (status == GUFO_OK && has_rules && c->has_tensors)
        status = judge_rows(c, error);
    if (status == GUFO_OK && (c->options.flags & GUFO_CHECKPOINT_NO_CHECK) == 0)
        status = judge_model(c, error);
    return status;
}
