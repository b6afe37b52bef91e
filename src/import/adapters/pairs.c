/* The pairs of an adapter, by the names of its tensors.
 *
 *     base_model.model.  M  .lora_A.weight              A [rank, in]       with .lora_B
 *     base_model.model.  M  .lora_A.default.weight      the same: PEFT's name of the adapter
 *     base_model.model.  M  .lora_embedding_A           A [rank, tokens]   with .lora_embedding_B [n, rank]
 *
 * M.weight is B A, and of an embedding its transpose.  Weights of Conv1D (GPT-2) are stored as
 * [in, out], which the rules of their architectures turn over: M.weight is the transpose of B A there,
 * too.  Norms that were trained are whole tensors. */
#include "import/adapters/adapter.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/architectures/operations/operation.h"
#include "import/containers/checkpoint.h"

/* Half of a pair. */
typedef struct half {
    gufo_str module; /* M */
    bool second;     /* B */
    bool embedding;
} half;

/* A module while its pair is put together. */
typedef struct module {
    gufo_str name; /* M.weight */
    const checkpoint_tensor *halves[2];
    bool embedding;
} module;

typedef struct pairing {
    adapter *adapter;
    const checkpoint *checkpoint;
    tensor_rules rules;
    bool is_legacy;
    module *list;
    uint64_t count, room;
    name_index by_name;
} pairing;

/* ---- names ---------------------------------------------------------------------------------- */

static const struct half_row {
    const char *mark;
    bool second, embedding;
} half_rows[] = {
    {".lora_A", false, false},
    {".lora_B", true, false},
    {".lora_embedding_A", false, true},
    {".lora_embedding_B", true, true},
};

/* What other tensors of an adapter are, by a part of their names. */
static const struct stranger_row {
    const char *mark, *what;
} strangers[] = {
    {"lora_magnitude_vector", "is a magnitude of a DoRA adapter, which has no place in GGUF"},
    {"trainable_tokens", "has trained or added tokens, which gufo does not convert"},
    {"embed_tokens",
     "is a whole embedding: tokens were added, or modules_to_save names it; it is not "
     "converted"},
    {"lm_head",
     "is a whole head: tokens were added, or modules_to_save names it; it is not converted"},
    {"modules_to_save", "is a whole module (modules_to_save), which is not converted"},
    {".lora_a", "has a name of MLX: its adapters are not those of PEFT"},
    {".lora_b", "has a name of MLX: its adapters are not those of PEFT"},
    {"lora_down", "has a name of another format of adapters than PEFT's"},
    {"lora_up", "has a name of another format of adapters than PEFT's"},
    {".bias", "is a bias: adapters with biases are not converted"},
};

static gufo_str without_start(gufo_str name)
{
    static const char start[] = "base_model.model.";

    return str_begins(name, start) ? str_from(name, sizeof start - 1) : name;
}

/* Whether what follows the mark is ".weight" or nothing, with a name of the adapter or without. */
static bool is_end_of_half(gufo_str end, bool embedding)
{
    const char *dot = end.len > 0 ? memchr(end.data + 1, '.', end.len - 1) : NULL;

    if (end.len == 0)
        return embedding;
    if (*end.data != '.')
        return false;
    if (embedding)
        return dot == NULL && end.len > 1;
    return gufo_str_equal(end, gufo_str_of(".weight")) ||
           (dot != NULL &&
            gufo_str_equal(str_from(end, (size_t)(dot - end.data)), gufo_str_of(".weight")));
}

/* Whether a name is that of half of a pair. */
static bool read_half(gufo_str name, half *out)
{
    gufo_str rest = without_start(name);

    for (size_t i = 0; i < sizeof half_rows / sizeof *half_rows; i++) {
        const struct half_row *row = &half_rows[i];
        const char *at = str_search(rest, gufo_str_of(row->mark));
        size_t before = at != NULL ? (size_t)(at - rest.data) : 0;

        if (before == 0 ||
            !is_end_of_half(str_from(rest, before + strlen(row->mark)), row->embedding))
            continue;
        *out = (half){{rest.data, before}, row->second, row->embedding};
        return true;
    }
    return false;
}

/* M.weight.loraA, .loraB */
static bool read_legacy_half(gufo_str name, half *out)
{
    static const char ends[][16] = {".weight.loraA", ".weight.loraB"};

    for (uint32_t i = 0; i < 2; i++)
        if (str_ends(name, ends[i]) && name.len > strlen(ends[i])) {
            *out = (half){{name.data, name.len - strlen(ends[i])}, i == 1, false};
            return true;
        }
    return false;
}

static gufo_status fail_tensor(const pairing *p, const checkpoint_tensor *t, gufo_status code,
                               const char *what, gufo_error *error)
{
    return checkpoint_refuse(p->checkpoint, t, code, error, "tensor %s %s", QUOTED(t->name), what);
}

static gufo_status fail_stranger(const pairing *p, const checkpoint_tensor *t, gufo_error *error)
{
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        if (str_search(t->name, gufo_str_of(strangers[i].mark)) != NULL)
            return fail_tensor(p, t, GUFO_E_TYPE, strangers[i].what, error);
    return fail_tensor(
        p, t, GUFO_E_TYPE,
        "is neither half of a pair (lora_A, lora_B) nor a norm: modules_to_save names "
        "its module, or it is of another kind of adapter",
        error);
}

/* ---- what the rules see --------------------------------------------------------------------- */

/* M.weight. */
static gufo_status name_weight(adapter *a, gufo_str module_name, gufo_str *out, gufo_error *error)
{
    static const char end[] = ".weight";
    uint64_t size;
    char *text;

    if (!checked_add(module_name.len, sizeof end, &size))
        return fail_memory(error);
    text = checkpoint_memory(&a->seen, size);
    if (text == NULL)
        return fail_memory(error);
    memcpy(text, module_name.data, module_name.len);
    memcpy(text + module_name.len, end, sizeof end);
    *out = (gufo_str){text, module_name.len + sizeof end - 1};
    return GUFO_OK;
}

static gufo_str name_of_module(const void *owner, uint64_t index)
{
    const pairing *p = owner;

    return p->list[index].name;
}

static gufo_status find_module(pairing *p, const half *h, module **out, gufo_error *error)
{
    module fresh = {.embedding = h->embedding}, *list;
    uint64_t number;
    gufo_status status = name_weight(p->adapter, h->module, &fresh.name, error);

    if (status != GUFO_OK)
        return status;
    if (!name_index_find(&p->by_name, fresh.name, &number)) {
        list = mem_grow(p->adapter->allocator, p->list, p->count, &p->room, sizeof *list);
        if (list == NULL)
            return fail_memory(error);
        p->list = list;
        list[p->count] = fresh;
        status = name_index_grow(&p->by_name, p->count, p->adapter->allocator, error);
        if (status != GUFO_OK)
            return status;
        (void)name_index_add(&p->by_name, p->count, &number);
        number = p->count++;
    }
    *out = &p->list[number];
    return GUFO_OK;
}

static gufo_status add_half(pairing *p, const checkpoint_tensor *t, const half *h,
                            gufo_error *error)
{
    module *m = NULL;
    gufo_status status = find_module(p, h, &m, error);

    if (status != GUFO_OK)
        return status;
    if (m->halves[h->second] != NULL || m->embedding != h->embedding)
        return fail_tensor(p, t, GUFO_E_MALFORMED,
                           "is for a module that another pair is for, too: the file has several "
                           "adapters",
                           error);
    m->halves[h->second] = t;
    return GUFO_OK;
}

static gufo_status add_tensor(pairing *p, const checkpoint_tensor *t, gufo_error *error)
{
    checkpoint_tensor whole = *t;
    half h;

    if (p->is_legacy ? read_legacy_half(t->name, &h) : read_half(t->name, &h))
        return add_half(p, t, &h, error);
    if (p->is_legacy)
        return fail_tensor(p, t, GUFO_E_TYPE, "is neither half of a pair (loraA, loraB)", error);
    if (str_search(t->name, gufo_str_of("lora_")) == NULL &&
        str_ends(t->name, ".base_layer.weight")) {
        p->adapter->skipped++;
        return GUFO_OK;
    }
    if (t->n_dims != 1 || str_search(t->name, gufo_str_of("lora_")) != NULL ||
        (str_search(t->name, gufo_str_of("_layernorm")) == NULL &&
         str_search(t->name, gufo_str_of(".norm")) == NULL))
        return fail_stranger(p, t, error);
    whole.name = without_start(t->name);
    return checkpoint_add(&p->adapter->seen, &whole, error);
}

/* ---- products ------------------------------------------------------------------------------- */

/* The rank that A has: the slow axis of PEFT's, the fast one of old files. */
static uint64_t rank_of(const pairing *p, const checkpoint_tensor *a)
{
    return a->shape[p->is_legacy ? 1 : 0];
}

static gufo_status check_halves(const pairing *p, const module *m, gufo_error *error)
{
    const checkpoint_tensor *a = m->halves[0], *b = m->halves[1];

    if (a == NULL || b == NULL)
        return fail_tensor(p, a != NULL ? a : b, GUFO_E_MALFORMED,
                           a != NULL ? "has no other half: lora_B is missing"
                                     : "has no other half: lora_A is missing",
                           error);
    for (uint32_t i = 0; i < 2; i++)
        if (m->halves[i]->n_dims != 2 || m->halves[i]->elements == 0)
            return fail_tensor(p, m->halves[i], GUFO_E_TYPE,
                               "is not a matrix: pairs for convolutions are not converted", error);
    if (rank_of(p, a) != b->shape[1])
        return checkpoint_refuse(p->checkpoint, b, GUFO_E_MALFORMED, error,
                                 "tensor %s has rank %" PRIu64
                                 ", but its other half %s has rank %" PRIu64,
                                 QUOTED(b->name), b->shape[1], QUOTED(a->name), rank_of(p, a));
    return GUFO_OK;
}

/* Whether the rules of the architecture turn the weight over at first. */
static bool is_turned(const pairing *p, gufo_str name)
{
    rule_match ignored;

    for (uint64_t i = 0; i < p->rules.count; i++) {
        const tensor_rule *rule = &p->rules.list[i];

        if (rule->phase == RULE_SOURCE && rules_match(rule, name, &ignored))
            return rule->n_steps > 0 &&
                   (rule->steps[0].operation->flags & OPERATION_TRANSPOSES) != 0;
    }
    return false;
}

static void set_sizes(product *pair, const pairing *p, const module *m, bool turned)
{
    const checkpoint_tensor *a = m->halves[0], *b = m->halves[1];
    const uint32_t in = p->is_legacy ? 0 : 1; /* the axis of A */
    product_factor of_a, of_b;
    uint64_t along_a[CHECKPOINT_MAX_DIMS], along_b[CHECKPOINT_MAX_DIMS];

    checkpoint_tensor_strides(a, along_a);
    checkpoint_tensor_strides(b, along_b);
    of_a = (product_factor){.tensor = a, .side = along_a[in], .rank = along_a[1 - in]};
    of_b = (product_factor){.tensor = b, .side = along_b[0], .rank = along_b[1]};
    pair->rank = b->shape[1];
    pair->height = turned ? a->shape[in] : b->shape[0];
    pair->width = turned ? b->shape[0] : a->shape[in];
    pair->rows = turned ? of_a : of_b;
    pair->columns = turned ? of_b : of_a;
}

/* The scale of an old file is one for all pairs; the alpha that is stored fits the rank of the first one. */
static void set_legacy_scale(adapter *a, product *pair)
{
    if (a->products.count == 0)
        a->stored = a->alpha * (double)pair->rank / (double)a->rank;
    pair->scale =
        a->products.count == 0 ? 1 : (double)pair->rank / (double)a->products.list[0].rank;
}

static gufo_status set_scale(adapter *a, const pairing *p, const module *m, product *pair,
                             gufo_error *error)
{
    const gufo_str name = {m->name.data, m->name.len - strlen(".weight")};

    if (!p->is_legacy)
        return adapter_scale(a, name, pair->rank, &pair->scale, error);
    set_legacy_scale(a, pair);
    return GUFO_OK;
}

static gufo_status add_product(pairing *p, const module *m, uint64_t *end, gufo_error *error)
{
    adapter *a = p->adapter;
    product pair = {.own.name = m->name}, *list;
    gufo_status status = check_halves(p, m, error);

    if (status != GUFO_OK)
        return status;
    set_sizes(&pair, p, m, m->embedding || is_turned(p, m->name));
    status = set_scale(a, p, m, &pair, error);
    if (status == GUFO_OK)
        status = product_place(&pair, &a->seen, end, error);
    if (status != GUFO_OK && a->path != NULL)
        fail_in(error, GUFO_FILE_INPUT, 0, a->path);
    if (status != GUFO_OK)
        return status;
    list = mem_grow(a->allocator, a->products.list, a->products.count, &a->products.room,
                    sizeof *list);
    if (list == NULL)
        return fail_memory(error);
    a->products.list = list;
    list[a->products.count++] = pair;
    a->parameters += pair.own.elements;
    return checkpoint_add(&a->seen, &pair.own, error);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static gufo_status pair_all(pairing *p, gufo_error *error)
{
    uint64_t end = 0;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < p->checkpoint->tensor_count && status == GUFO_OK; i++)
        status = add_tensor(p, &p->checkpoint->tensors[i], error);
    for (uint64_t i = 0; i < p->count && status == GUFO_OK; i++)
        status = add_product(p, &p->list[i], &end, error);
    if (status == GUFO_OK && p->count == 0)
        status = refuse(error, GUFO_E_NOT_FOUND, "the adapter has no pairs (lora_A, lora_B)");
    return status == GUFO_OK ? checkpoint_index_names(&p->adapter->seen, error) : status;
}

/* `architecture`: whose rules say which weights are turned over; NULL: none are. */
static gufo_status make_pairs(pairing *p, const char *architecture, gufo_error *error)
{
    adapter *a = p->adapter;
    const checkpoint *c = p->checkpoint;
    gufo_status status = name_index_new(&p->by_name, 0, name_of_module, p, a->allocator, error);

    a->seen = (checkpoint){.allocator = a->allocator,
                           .folder = c->folder,
                           .container = c->container,
                           .layout = c->layout,
                           .files = c->files,
                           .file_count = c->file_count};
    a->products.files = c;
    if (status == GUFO_OK && architecture != NULL)
        status = rules_open(&p->rules, architecture, a->allocator, error);
    if (status == GUFO_OK)
        status = pair_all(p, error);
    rules_close(&p->rules);
    name_index_free(&p->by_name, a->allocator);
    mem_free(a->allocator, p->list);
    return status;
}

gufo_status adapter_pair(adapter *a, const checkpoint *c, const char *architecture,
                         gufo_error *error)
{
    pairing p = {.adapter = a, .checkpoint = c};

    return make_pairs(&p, architecture, error);
}

gufo_status adapter_pair_legacy(adapter *a, const checkpoint *c, gufo_error *error)
{
    pairing p = {.adapter = a, .checkpoint = c, .is_legacy = true};

    return make_pairs(&p, NULL, error);
}
