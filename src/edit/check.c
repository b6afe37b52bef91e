/* What an edit breaks: the findings about the result that the file does not have already.
 *
 * The check reads the result as any reader will, from the header that the document gives.  Two
 * findings are the same if rule and subject are the same; for keys and tensors that the edit touches
 * the message must be the same, too, because another wrong value is another fault. */
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/sort.h"
#include "edit/edit.h"
#include "gufo/schema.h"

/* A set of hashes, sorted when it is complete. */
typedef struct hashes {
    buffer list; /* of uint64_t */
    bool failed;
} hashes;

typedef struct comparison {
    uint64_t seed;
    hashes touched; /* names of keys and tensors */
    hashes before;  /* findings about the file */
    uint64_t seen;  /* findings about the result */
    bool model;     /* the edit touches what rules of GUFO_LEVEL_MODEL read */
    bool uncovers;  /* the result shows faults that the file hid */
    gufo_finding_fn *found;
    void *context;
} comparison;

/* ---- hashes --------------------------------------------------------------------------------- */

static void add_hash(hashes *h, uint64_t hash)
{
    void *room = buffer_extend(&h->list, sizeof hash);

    if (room != NULL)
        memcpy(room, &hash, sizeof hash);
    h->failed = h->failed || room == NULL;
}

static bool is_less(const void *a, const void *b)
{
    return *(const uint64_t *)a < *(const uint64_t *)b;
}

static void sort_hashes(hashes *h)
{
    if (h->list.len > 0)
        sort_items(h->list.data, h->list.len / sizeof(uint64_t), sizeof(uint64_t), is_less);
}

static bool has_hash(const hashes *h, uint64_t hash)
{
    const uint64_t *list = (const void *)h->list.data;
    const size_t count = h->list.len / sizeof hash;

    return count > 0 && list[last_begun(list, sizeof hash, count, hash)] == hash;
}

static uint64_t hash_name(const comparison *c, gufo_str name)
{
    uint64_t hash = c->seed;

    hash_chain(&hash, name.data, name.len);
    return hash;
}

/* Of a finding with this message, or with any: "". */
static uint64_t hash_finding(const comparison *c, const gufo_rule *rule, gufo_str subject,
                             const char *message)
{
    uint64_t hash = c->seed;

    hash_chain(&hash, rule->id, strlen(rule->id));
    hash_chain(&hash, subject.data, subject.len);
    hash_chain(&hash, message, strlen(message));
    return hash;
}

/* ---- before and after ----------------------------------------------------------------------- */

/* Keys that only rules of GUFO_LEVEL_STANDARD read (and those about file names). */
static bool is_description(gufo_str key)
{
    static const char front[] = "general.";

    return key.len > strlen(front) && memcmp(key.data, front, strlen(front)) == 0 &&
           !gufo_str_equal(key, gufo_str_of("general.architecture")) &&
           !gufo_str_equal(key, gufo_str_of("general.type"));
}

static void note_change(void *context, const gufo_change *change)
{
    comparison *c = context;

    c->model = c->model || change->kind >= GUFO_CHANGE_TENSOR_RENAMED ||
               !is_description(change->old_name) || !is_description(change->new_name);
    add_hash(&c->touched, hash_name(c, change->old_name));
    add_hash(&c->touched, hash_name(c, change->new_name));
}

static void note_finding(void *context, const gufo_finding *finding)
{
    comparison *c = context;

    add_hash(&c->before, hash_finding(c, finding->rule, finding->subject, finding->message));
    add_hash(&c->before, hash_finding(c, finding->rule, finding->subject, ""));
}

/* The check lists only some findings of a rule; the last one, without a subject, counts the rest.
 * So a finding that was not listed before need not be new. */
static bool is_new(const comparison *c, const gufo_finding *finding)
{
    gufo_str subject = finding->subject;

    if (has_hash(&c->touched, hash_name(c, subject)))
        return !has_hash(&c->before, hash_finding(c, finding->rule, subject, finding->message));
    return !c->uncovers && !has_hash(&c->before, hash_finding(c, finding->rule, subject, "")) &&
           !has_hash(&c->before, hash_finding(c, finding->rule, (gufo_str){"", 0}, ""));
}

static void count_finding(void *context, const gufo_finding *finding)
{
    (void)finding;
    ++((comparison *)context)->seen;
}

static void pass_new(void *context, const gufo_finding *finding)
{
    const comparison *c = context;
    gufo_finding result = *finding;

    result.offset = GUFO_NO_OFFSET; /* the result is not written yet */
    if (is_new(c, finding))
        c->found(c->context, &result);
}

/* ---- keys by which others are judged -------------------------------------------------------- */

static bool is_architecture(gufo_str value)
{
    return gufo_arch_find_str(value) != NULL;
}

static bool is_tokenizer(gufo_str value)
{
    return gufo_tokenizer_info_find_str(value) != NULL;
}

static const struct {
    const char *key;
    bool (*is_known)(gufo_str value);
} judges[] = {{"general.architecture", is_architecture}, {"tokenizer.ggml.model", is_tokenizer}};

/* Whether the edit gives one of them a known value: a missing or unknown one hid other faults. */
static bool uncovers_faults(const gufo_model *before, const gufo_model *after)
{
    gufo_str old, now;

    for (size_t i = 0; i < sizeof judges / sizeof *judges; i++)
        if (gufo_model_get_str(after, judges[i].key, &now, NULL) == GUFO_OK &&
            judges[i].is_known(now) &&
            (gufo_model_get_str(before, judges[i].key, &old, NULL) != GUFO_OK ||
             !judges[i].is_known(old)))
            return true;
    return false;
}

/* ---- the check ------------------------------------------------------------------------------ */

/* The result, which lives until the document changes. */
static gufo_model *open_result(gufo_edit *edit, gufo_error *error)
{
    const gufo_open_options options = {.flags = GUFO_OPEN_METADATA_ONLY | GUFO_OPEN_INCOMPLETE,
                                       .max_depth = GUFO_LARGEST_DEPTH,
                                       .allocator = &edit->allocator};
    const void *bytes;
    size_t size;

    if (gufo_document_layout(edit->document, NULL, NULL, error) != GUFO_OK ||
        gufo_document_header(edit->document, &bytes, &size, error) != GUFO_OK)
        return NULL;
    return gufo_model_open_memory(bytes, size, &options, error);
}

/* Most results have no findings: then there is nothing to compare. */
static gufo_status compare_findings(const gufo_edit *edit, const gufo_model *result,
                                    const gufo_check_options *options, comparison *c,
                                    gufo_error *error)
{
    gufo_status status = gufo_model_check_content(result, options, count_finding, c, error);

    if (status != GUFO_OK || c->seen == 0)
        return status;
    status = gufo_model_check_content(edit->model, options, note_finding, c, error);
    if (status != GUFO_OK)
        return status;
    if (c->before.failed || c->touched.failed)
        return fail_memory(error);
    sort_hashes(&c->before);
    sort_hashes(&c->touched);
    c->uncovers = uncovers_faults(edit->model, result);
    return gufo_model_check_content(result, options, pass_new, c, error);
}

static gufo_status check_result(gufo_edit *edit, const gufo_check_options *options, comparison *c,
                                gufo_error *error)
{
    gufo_model *result = open_result(edit, error);
    gufo_status status;

    if (result == NULL)
        return error->code;
    status = compare_findings(edit, result, options, c, error);
    gufo_model_free(result);
    return status;
}

gufo_status gufo_edit_check(gufo_edit *edit, const gufo_check_options *options,
                            gufo_finding_fn *found, void *context, gufo_error *error)
{
    comparison c = {.seed = hash_key_new().k0,
                    .touched.list.allocator = &edit->allocator,
                    .before.list.allocator = &edit->allocator,
                    .found = found,
                    .context = context};
    gufo_check_options how = options != NULL ? *options : (gufo_check_options){0};
    gufo_error ignored;
    gufo_status status;

    error = error != NULL ? error : &ignored;
    if (how.allocator == NULL)
        how.allocator = &edit->allocator;
    if (edit->applied)
        return refuse(error, GUFO_E_ARGUMENT, "the edit was applied already");
    status = gufo_document_changes(edit->document, note_change, &c, error);
    /* A large vocabulary takes longer to check than the whole edit to make. */
    if (!c.model && how.path == NULL &&
        (how.level == GUFO_LEVEL_DEFAULT || how.level == GUFO_LEVEL_MODEL))
        how.level = GUFO_LEVEL_STANDARD;
    if (status == GUFO_OK && (c.touched.list.len > 0 || c.touched.failed))
        status = check_result(edit, &how, &c, error);
    buffer_free(&c.touched.list);
    buffer_free(&c.before.list);
    return status;
}
