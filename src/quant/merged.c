/* What a model with merged adapters says of itself: it is another model than its base.
 *
 *     general.uuid                  new: made of the base, the adapters and their scales, and so the
 *                                   same for the same merge, whatever the type of the result
 *     general.base_model.count      1 + the number of adapters
 *     general.base_model.0.*        what the base says of itself: name, version, uuid ...
 *     general.base_model.1.* ...    the same of each adapter
 *
 * The parents of the base are those of the base alone. */
#include "quant/quantizer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/text.h"
#include "gufo/schema.h"
#include "schema/check/identity.h"

static bool is_parent_key(void *context, gufo_str key)
{
    (void)context;
    return str_begins(key, "general.base_model.");
}

/* What a file says of itself becomes what the merged one says of a parent. */
static gufo_status set_parent(gufo_document *document, const gufo_model *parent, size_t number,
                              gufo_error *error)
{
    static const char *const fields[] = {"name",         "author",      "version",
                                         "organization", "description", "url",
                                         "doi",          "repo_url",    "uuid"};
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < sizeof fields / sizeof *fields && status == GUFO_OK; i++) {
        char from[48], to[64];
        gufo_str text;

        (void)snprintf(from, sizeof from, "general.%s", fields[i]);
        (void)snprintf(to, sizeof to, "general.base_model.%zu.%s", number, fields[i]);
        if (gufo_get_str(parent, from, &text, NULL) == GUFO_OK && text.len > 0)
            status = gufo_document_set_str(document, to, text, error);
    }
    return status;
}

static void add_number(uint64_t *hash, double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof bits);
    store_u64(&bits, bits, HOST_IS_BIG_ENDIAN);
    hash_chain(hash, &bits, sizeof bits);
}

/* 64 bits of the merge; `seed` chooses which. */
static gufo_status hash_merge(const gufo_quantizer *q, uint64_t seed, uint64_t *hash,
                              gufo_error *error)
{
    gufo_status status = GUFO_OK;
    gufo_str uuid = {"", 0};

    *hash = seed;
    (void)gufo_get_str(q->input, "general.uuid", &uuid, NULL);
    hash_chain(hash, uuid.data, uuid.len);
    status = identity_add(q->input, IDENTITY_VECTORS, &q->allocator, hash, error);
    for (size_t i = 0; i < q->options.adapter_count && status == GUFO_OK; i++) {
        const gufo_quantize_adapter *a = &q->options.adapters[i];
        double alpha = 0;

        (void)gufo_key_f64(a->model, "adapter.lora.alpha", &alpha, NULL);
        add_number(hash, alpha);
        add_number(hash, a->scale != 0 ? a->scale : 1);
        status = identity_add(a->model, IDENTITY_ALL, &q->allocator, hash, error);
    }
    return status;
}

/* A UUID of version 8 (RFC 9562): of bits that the program chooses. */
static gufo_status set_uuid(const gufo_quantizer *q, gufo_document *document, gufo_error *error)
{
    uint64_t high, low;
    char text[40];
    gufo_status status = hash_merge(q, 1, &high, error);

    if (status == GUFO_OK)
        status = hash_merge(q, 2, &low, error);
    if (status != GUFO_OK)
        return status;
    (void)snprintf(text, sizeof text,
                   "%08" PRIx64 "-%04" PRIx64 "-8%03" PRIx64 "-%04" PRIx64 "-%012" PRIx64,
                   high >> 32, high >> 16 & 0xffff, high & 0xfff, (low >> 48 & 0x3fff) | 0x8000,
                   low & 0xffffffffffff);
    return gufo_document_set_text(document, "general.uuid", text, error);
}

gufo_status merged_set_keys(const gufo_quantizer *q, gufo_document *document, gufo_error *error)
{
    size_t count = q->options.adapter_count;
    gufo_status status;

    if (count == 0)
        return GUFO_OK;
    gufo_document_remove(document, is_parent_key, NULL, NULL);
    status = set_uuid(q, document, error);
    if (status == GUFO_OK)
        status =
            gufo_document_set_u32(document, "general.base_model.count", (uint32_t)count + 1, error);
    if (status == GUFO_OK)
        status = set_parent(document, q->input, 0, error);
    for (size_t i = 0; i < count && status == GUFO_OK; i++)
        status = set_parent(document, q->options.adapters[i].model, i + 1, error);
    return status;
}
