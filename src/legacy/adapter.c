/* LoRA adapters of llama.cpp before GGUF (GGLA version 1):
 *
 *     "algg"  version  r  alpha           u32, i32
 *     dimensions  bytes of the name  type, dimensions, name, zeros up to a multiple of 32, data
 *     ...
 *
 * Names are those of weights with ".loraA" or ".loraB" behind them: of the files of that time
 * (layers.0.attention.wq.weight.loraA), later those of GGUF.  A is stored as [in, rank], B as
 * [out, rank].  The scale of all pairs is alpha / r, whatever their ranks are. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "import/architectures/operations/names.h"
#include "import/architectures/plan/plan.h"
#include "import/architectures/configuration/rules.h"
#include "import/containers/checkpoint.h"
#include "import/conversion/conversion.h"
#include "legacy/plan.h"
#include "quant/quantizer.h"

#define ARCHITECTURE_KEY "general.architecture"

enum { GGLA_VERSION = 1, MOST_RANK = 1 << 20 };

/* ---- the file ------------------------------------------------------------------------------- */

static gufo_status read_header(adapter *a, reader *r, gufo_error *error)
{
    uint8_t magic[4];
    uint32_t version = 0;
    int32_t rank = 0, alpha = 0;
    gufo_status status;

    r->inside = "the header";
    status = reader_bytes(r, magic, sizeof magic, error);
    if (status == GUFO_OK)
        status = reader_u32(r, &version, error);
    if (status == GUFO_OK && version != GGLA_VERSION)
        return fail_with(error, GUFO_E_VERSION, 4, "GGLA version %" PRIu32 " was never made",
                         version);
    if (status == GUFO_OK)
        status = reader_i32(r, &rank, error);
    if (status == GUFO_OK)
        status = reader_i32(r, &alpha, error);
    if (status == GUFO_OK && (rank < 1 || rank > MOST_RANK))
        return fail_with(error, GUFO_E_MALFORMED, 8, "the rank is %" PRId32, rank);
    if (status == GUFO_OK && alpha == 0)
        return fail_with(error, GUFO_E_MALFORMED, 12, "alpha is 0: the adapter has no effect");
    a->rank = (uint64_t)rank;
    a->alpha = alpha;
    return status;
}

static gufo_status read_shape(reader *r, uint64_t *shape, uint32_t dims, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint32_t i = dims; i > 0 && status == GUFO_OK; i--) { /* the contiguous one comes first */
        uint32_t size = 0;

        status = reader_u32(r, &size, error);
        shape[i - 1] = size;
        if (status == GUFO_OK && (size == 0 || size > INT32_MAX))
            status = fail_with(error, GUFO_E_MALFORMED, r->at - 4,
                               "a dimension has %" PRId32 " elements", (int32_t)size);
    }
    return status;
}

static gufo_status read_name(checkpoint *c, reader *r, uint32_t len, gufo_str *out,
                             gufo_error *error)
{
    char *text = checkpoint_memory(c, (uint64_t)len + 1);
    gufo_status status = text != NULL ? reader_bytes(r, text, len, error) : fail_memory(error);

    if (status != GUFO_OK)
        return status;
    text[len] = '\0';
    *out = (gufo_str){text, len};
    return memchr(text, '\0', len) == NULL
               ? GUFO_OK
               : fail_with(error, GUFO_E_MALFORMED, r->at - len, "a name has a NUL in it");
}

static gufo_status read_record(checkpoint *c, reader *r, gufo_error *error)
{
    static const char *const types[] = {"F32", "F16"};
    const uint64_t begin = r->at;
    uint32_t dims = 0, len = 0, type = 0;
    uint64_t shape[CHECKPOINT_MAX_DIMS];
    checkpoint_tensor t = {.n_dims = 2};
    gufo_status status;

    r->inside = "the header of a tensor";
    status = reader_u32(r, &dims, error);
    if (status == GUFO_OK)
        status = reader_u32(r, &len, error);
    if (status == GUFO_OK)
        status = reader_u32(r, &type, error);
    if (status == GUFO_OK && (dims != 2 || len == 0 || len > LEGACY_MAX_NAME || type > 1))
        return fail_with(error, GUFO_E_MALFORMED, begin,
                         "a tensor has %s dimensions, a name of %s bytes and type %" PRIu32
                         ": adapters have matrices of type 0 or 1",
                         GROUPED(dims), GROUPED(len), type);
    if (status == GUFO_OK)
        status = read_shape(r, shape, dims, error);
    if (status == GUFO_OK)
        status = read_name(c, r, len, &t.name, error);
    if (status != GUFO_OK)
        return status;
    t.number = number_by_name(gufo_str_of(types[type]));
    status = tensor_shape(&t, shape, begin, error);
    if (status == GUFO_OK)
        status =
            reader_skip(r, (LEGACY_ALIGNMENT - r->at % LEGACY_ALIGNMENT) % LEGACY_ALIGNMENT, error);
    t.offset = r->at;
    r->inside = "the data of a tensor";
    if (status == GUFO_OK)
        status = reader_skip(r, checkpoint_tensor_size(&t), error);
    return status == GUFO_OK ? checkpoint_add(c, &t, error) : status;
}

static gufo_status read_file(conversion *c, gufo_error *error)
{
    reader r = {.source = &c->checkpoint.files[0].source};
    gufo_status status = read_header(&c->adapter, &r, error);

    c->checkpoint.container = "GGLA";
    c->checkpoint.files[0].head = r.at;
    while (status == GUFO_OK && reader_left(&r) > 0)
        status = read_record(&c->checkpoint, &r, error);
    return status == GUFO_OK ? checkpoint_index_names(&c->checkpoint, error) : status;
}

/* ---- tensors -------------------------------------------------------------------------------- */

/* Names of GGUF, which later files have. */
static bool is_name_now(gufo_str name)
{
    uint64_t layer;
    size_t at, len;

    return layer_find(name, &layer, &at, &len) ||
           gufo_str_equal(name, gufo_str_of("token_embd.weight")) ||
           gufo_str_equal(name, gufo_str_of("output_norm.weight"));
}

static gufo_status add_pair(conversion *c, const product *p, gufo_error *error)
{
    char name[GUFO_MAX_NAME + 1];
    view v = {0};
    gufo_status status;

    if (is_name_now(p->own.name) && p->own.name.len <= GUFO_MAX_NAME)
        (void)snprintf(name, sizeof name, "%.*s", (int)p->own.name.len, p->own.name.data);
    else if (!names_map(c->config.architecture, p->own.name, name))
        return checkpoint_refuse(&c->adapter.seen, &p->own, GUFO_E_TYPE, error,
                                 "no rule for tensor %s: the names of %s do not have it",
                                 QUOTED(p->own.name), c->config.architecture);
    status = view_open(&v, &c->adapter.seen, &p->own, c->plan.allocator, error);
    if (status == GUFO_OK)
        status = plan_add(&c->plan, gufo_str_of(name), &v, &p->own, PLAN_TYPE_BY_NAME, error);
    view_free(&v);
    return checkpoint_fail(&c->adapter.seen, &p->own, status, error);
}

static gufo_status plan_pairs(conversion *c, gufo_error *error)
{
    gufo_status status = adapter_pair_legacy(&c->adapter, &c->checkpoint, error);

    if (status != GUFO_OK)
        return status;
    status = plan_begin(&c->plan, &c->adapter.seen, &c->base.allocator, error);
    c->plan.products = &c->adapter.products;
    for (uint64_t i = 0; i < c->adapter.products.count && status == GUFO_OK; i++)
        status = add_pair(c, &c->adapter.products.list[i], error);
    return status == GUFO_OK ? conversion_add_tensors(c, error) : status;
}

/* ---- keys ----------------------------------------------------------------------------------- */

static gufo_status set_keys(conversion *c, gufo_error *error)
{
    const struct {
        const char *key, *value;
    } texts[] = {{ARCHITECTURE_KEY, c->config.architecture},
                 {"general.type", "adapter"},
                 {"gufo.source.format", "GGLA version 1"},
                 {"adapter.type", "lora"}};
    gufo_document *d = c->base.document;
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < sizeof texts / sizeof *texts && status == GUFO_OK; i++)
        status = gufo_document_set_text(d, texts[i].key, texts[i].value, error);
    if (status == GUFO_OK)
        status = gufo_document_set_f32(d, "adapter.lora.alpha", (float)c->adapter.stored, error);
    return status == GUFO_OK ? gufo_document_set_u32(d, "general.quantization_version",
                                                     GUFO_QUANTIZATION_VERSION, error)
                             : status;
}

/* ---- opening -------------------------------------------------------------------------------- */

/* The rows of rotated matrices are in another order in Hugging Face's files of LLaMA than in GGML's, and the
 * converter of that time did not change it. */
static bool is_in_doubt(const conversion *c)
{
    if (strcmp(c->config.architecture, "llama") != 0)
        return false;
    for (uint64_t i = 0; i < c->plan.count; i++)
        if (strstr(c->plan.tensors[i].name, ".attn_q.") != NULL ||
            strstr(c->plan.tensors[i].name, ".attn_k.") != NULL)
            return true;
    return false;
}

static void set_facts(conversion *c)
{
    c->base.facts.origin = GUFO_IMPORT_ADAPTER;
    c->base.facts.family = c->config.architecture;
    c->base.facts.container = c->checkpoint.container;
    c->base.facts.version = GGLA_VERSION;
    c->base.facts.parts = 1;
    c->base.facts.size = c->checkpoint.files[0].source.size;
    if (is_in_doubt(c))
        c->base.facts.doubt =
            "the file does not say whether the rows of attn_q and attn_k are in the order of GGUF; "
            "where the adapter was trained with PEFT they are not: convert its folder instead";
}

/* The architecture that the caller gives, as such or among the keys that are known; empty: none. */
static gufo_str given_architecture(const gufo_legacy_options *options)
{
    gufo_document_entry entry;

    if (options->arch != NULL)
        return gufo_str_of(options->arch);
    return options->known != NULL && gufo_document_find(options->known, ARCHITECTURE_KEY, &entry) &&
                   entry.value.type == GUFO_VALUE_STRING
               ? entry.value.as.str
               : (gufo_str){"", 0};
}

static gufo_status set_architecture(conversion *c, gufo_str given, gufo_error *error)
{
    gufo_str arch = given.len > 0 ? given : gufo_str_of("llama");

    c->config.allocator = &c->base.allocator;
    c->config.architecture = mem_text(&c->base.allocator, arch);
    if (c->config.architecture == NULL)
        return fail_memory(error);
    return rules_know(c->config.architecture)
               ? GUFO_OK
               : refuse(error, GUFO_E_ARGUMENT, "no rules for the architecture %s", QUOTED(arch));
}

static gufo_status open_file(conversion *c, const char *path, const gufo_legacy_options *options,
                             gufo_error *error)
{
    const gufo_document_options document = {.allocator = &c->base.allocator};
    const gufo_str given = given_architecture(options);
    gufo_status status = set_architecture(c, given, error);

    c->checkpoint.allocator = c->adapter.allocator = c->plan.allocator = &c->base.allocator;
    c->is_adapter = true;
    if (status == GUFO_OK)
        status = checkpoint_add_file(&c->checkpoint, path, error);
    if (status == GUFO_OK)
        status = read_file(c, error);
    if (status != GUFO_OK)
        return status;
    c->base.document = gufo_document_new(&document, error);
    if (c->base.document == NULL)
        return GUFO_E_MEMORY;
    status = plan_pairs(c, error);
    if (status == GUFO_OK)
        status = set_keys(c, error);
    if (status == GUFO_OK && given.len == 0)
        status = import_add_setting(&c->base, gufo_str_of(ARCHITECTURE_KEY), GUFO_SETTING_ASSUMED,
                                    true, GUFO_VALUE_STRING,
                                    "nearly all adapters of that time are for LLaMA", error);
    if (status == GUFO_OK)
        status = import_name_assumed(&c->base, error);
    if (status == GUFO_OK)
        status = import_set_entries(&c->base, options->known, error);
    set_facts(c);
    return status == GUFO_OK ? import_open_model(&c->base, error) : status;
}

gufo_import *legacy_open_adapter(const char *path, const gufo_legacy_options *options,
                                 gufo_error *error)
{
    conversion *c = mem_object(options->allocator, sizeof *c, error);

    if (c == NULL)
        return NULL;
    c->base.kind = &conversion_kind;
    if (open_file(c, path, options, error) == GUFO_OK)
        return &c->base;
    fail_in(error, GUFO_FILE_INPUT, 0, path);
    gufo_import_free(&c->base);
    return NULL;
}
