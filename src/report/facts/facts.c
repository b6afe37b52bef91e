/* Sums over the tensors of a model. */
#include "report/facts/facts.h"

#include "base/checked.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/text.h"

#include "gufo/schema.h"

/* ---- roles ------------------------------------------------------------------------------------- */

const char *role_class_name(role_class kind)
{
    static const char *const names[] = {
        [ROLE_FEED_FORWARD] = "feed-forward", [ROLE_ATTENTION] = "attention",
        [ROLE_EMBEDDING] = "embedding",       [ROLE_OUTPUT] = "output",
        [ROLE_EXPERTS] = "experts",           [ROLE_RECURRENT] = "recurrent",
        [ROLE_OTHER] = "other tensors"};

    return names[kind];
}

role_class role_class_of(gufo_str role)
{
    static const struct {
        const char *part; /* of the name; the first that is in it counts */
        role_class kind;
    } parts[] = {
        {"norm", ROLE_OTHER},
        {"exp_probs", ROLE_EXPERTS},
        {"_exps", ROLE_EXPERTS},
        {"shexp", ROLE_EXPERTS},
        {"gate_inp", ROLE_EXPERTS},
        {"ffn", ROLE_FEED_FORWARD},
        {"attn", ROLE_ATTENTION},
        {"ssm_", ROLE_RECURRENT},
        {"time_mix", ROLE_RECURRENT},
        {"channel_mix", ROLE_RECURRENT},
        {"shortconv", ROLE_RECURRENT},
        {"embd", ROLE_EMBEDDING},
        {"token_types", ROLE_EMBEDDING},
        {"output", ROLE_OUTPUT},
        {"cls", ROLE_OUTPUT},
    };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (str_search(role, gufo_str_of(parts[i].part)) != NULL)
            return parts[i].kind;
    return ROLE_OTHER;
}

/* ---- sums -------------------------------------------------------------------------------------- */

gufo_str tensor_sum_name(const tensor_sum *sum)
{
    return sum->role.len > 0 ? sum->role : gufo_str_of("others");
}

static size_t find_row(const model_facts *f, gufo_str role, role_class kind, uint32_t type)
{
    size_t i = 0;

    while (i < f->sum_count && (f->sums[i].type != type || f->sums[i].kind != kind ||
                                !gufo_str_equal(f->sums[i].role, role)))
        i++;
    return i;
}

/* The row of a role and type.  Of many roles the last ones share a row for each part and type, so that sums of parts
 * and of types stay right; in a stranger's file with more types than rows, those that are left have none. */
static tensor_sum *find_sum(model_facts *f, gufo_str role, uint32_t type)
{
    role_class kind = role_class_of(role);
    size_t row = find_row(f, role, kind, type);

    if (row == f->sum_count && row >= MOST_NAMED_SUMS) {
        role = (gufo_str){0};
        row = find_row(f, role, kind, type);
    }
    if (row == f->sum_count && row >= MOST_SUMS - 1) {
        kind = ROLE_OTHER;
        type = UINT32_MAX;
        row = MOST_SUMS - 1;
    }
    if (row == f->sum_count) {
        f->sums[row] = (tensor_sum){.role = role, .kind = kind, .type = type};
        f->sum_count++;
    }
    return &f->sums[row];
}

static void add_tensor(model_facts *f, const gufo_tensor *tensor)
{
    tensor_sum *sum = find_sum(f, gufo_tensor_role(tensor->name, NULL), tensor->type);

    sum->tensors++;
    sum->bytes = capped_add(sum->bytes, tensor->size);
    sum->elements = capped_add(sum->elements, tensor->elements);
    f->bytes = capped_add(f->bytes, tensor->size);
}

/* By bytes, then by name and type: the order of a file is not that of its copy. */
static bool is_before(const void *a, const void *b)
{
    const tensor_sum *left = a, *right = b;

    if (left->bytes != right->bytes)
        return left->bytes > right->bytes;
    if (left->role.len != right->role.len)
        return left->role.len < right->role.len;
    if (!gufo_str_equal(left->role, right->role))
        return memcmp(left->role.data, right->role.data, left->role.len) < 0;
    return left->type < right->type;
}

/* ---- all of it ---------------------------------------------------------------------------------- */

bool facts_number(const model_facts *facts, const char *key, uint64_t *out)
{
    return facts->model != NULL && gufo_model_key_u64(facts->model, key, out, NULL) == GUFO_OK;
}

/* Of tensors with a slice for each expert a token uses a few. */
static void find_active(model_facts *f)
{
    uint64_t experts, used;
    gufo_tensor tensor;

    if (!facts_number(f, "{arch}.expert_count", &experts) ||
        !facts_number(f, "{arch}.expert_used_count", &used) || used >= experts)
        return;
    for (uint64_t i = 0; gufo_model_tensor_at(f->model, i, &tensor); i++) {
        const bool is_shared = tensor.n_dims > 2 && tensor.dims[2] == experts;

        f->active += (double)tensor.elements * (is_shared ? (double)used / (double)experts : 1);
    }
}

static bool sum_up(model_facts *f)
{
    bool whole = true;
    gufo_tensor tensor;

    for (uint64_t i = 0; whole && gufo_model_tensor_at(f->model, i, &tensor); i++) {
        uint32_t item = (uint32_t)i; /* a model has fewer than 2^32 */

        add_tensor(f, &tensor);
        whole = gufo_layers_add(f->layers, tensor.name, &item, NULL) == GUFO_OK;
    }
    sort_items(f->sums, f->sum_count, sizeof *f->sums, is_before);
    return whole;
}

bool facts_gather(model_facts *facts, const gufo_report_model *model,
                  const gufo_allocator *allocator)
{
    const gufo_layers_options options = {.allocator = allocator};

    *facts = (model_facts){
        .model = model->model, .title = model->name, .allocator = mem_allocator(allocator)};
    if (!facts_sort_findings(facts, model))
        return false;
    for (size_t i = 0; i < model->finding_count; i++)
        if ((unsigned)model->findings[i].severity < SEVERITIES)
            facts->found[model->findings[i].severity]++;
    if (model->model == NULL)
        return true;
    gufo_model_summarize(model->model, &facts->summary);
    (void)gufo_model_key_str(model->model, "general.name", &facts->title, NULL);
    (void)gufo_model_key_str(model->model, "general.architecture", &facts->architecture, NULL);
    (void)facts_number(facts, "{arch}.block_count", &facts->layers_announced);
    facts->layers = gufo_layers_new(&options, NULL);
    find_active(facts);
    return facts->layers != NULL && sum_up(facts);
}

void facts_free(model_facts *facts)
{
    gufo_layers_free(facts->layers);
    mem_free(facts->allocator, facts->findings);
    facts->layers = NULL;
    facts->findings = NULL;
}

/* ---- tensors ------------------------------------------------------------------------------------ */

bool facts_cell(const model_facts *facts, uint64_t layer, size_t role, gufo_tensor *out)
{
    uint32_t item;

    return gufo_layers_at(facts->layers, layer, role, &item) &&
           gufo_model_tensor_at(facts->model, item, out);
}

bool facts_other(const model_facts *facts, size_t index, gufo_str *role, gufo_tensor *out)
{
    uint32_t item;

    return gufo_layers_other(facts->layers, index, role, &item) &&
           gufo_model_tensor_at(facts->model, item, out);
}

bool facts_is_matrix(const gufo_tensor *tensor)
{
    return tensor->n_dims > 1 && tensor->dims[1] > 1;
}
