/* Fuzz target: the memory that a model needs.  The first line is the options, numbers with blanks
 * between; the others are a header, which need not make sense:
 *
 *     1000 512 64 3 1 2 1 8 5 2 1
 *     general.architecture llama
 *     llama.block_count 2
 *     llama.attention.head_count 4,4
 *     : blk.0.attn_norm.weight 64
 *
 * Whatever it says, the estimate is an error or adds up, and what is found to fit does. */
#include "walk.h"

#include <stdlib.h>
#include <string.h>

#include <gufo/document.h>
#include <gufo/estimate.h>

enum { OPTIONS = 11, LINE = 400, ELEMENTS = 64 };

/* ---- the header ----------------------------------------------------------------------------- */

static gufo_status set_array(gufo_document *d, const char *key, char *text)
{
    uint32_t numbers[ELEMENTS];
    gufo_items items = {GUFO_VALUE_UINT32, 0, numbers};

    for (char *at = text; items.count < ELEMENTS && *at != '\0'; at += *at == ',') {
        char *start = at;

        numbers[items.count++] = (uint32_t)strtoul(at, &at, 10);
        if (at == start)
            break;
    }
    return gufo_document_set_array(d, key, &items, NULL);
}

/* The first letters of a value give its type. */
static gufo_status set_value(gufo_document *d, const char *key, char *text)
{
    uint64_t number = strtoull(text, NULL, 10);

    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return gufo_document_set_bool(d, key, text[0] == 't', NULL);
    if (strcmp(text, "nan") == 0 || strchr(text, '.') != NULL)
        return gufo_document_set_f32(d, key, strtof(text, NULL), NULL);
    if (text[0] == '-')
        return gufo_document_set_i32(d, key, (int32_t)strtol(text, NULL, 10), NULL);
    if (text[0] < '0' || text[0] > '9')
        return gufo_document_set_text(d, key, text, NULL);
    if (strchr(text, ',') != NULL)
        return set_array(d, key, text);
    return number > UINT32_MAX ? gufo_document_set_u64(d, key, number, NULL)
                               : gufo_document_set_u32(d, key, (uint32_t)number, NULL);
}

static gufo_status add_tensor(gufo_document *d, const char *name, const char *text)
{
    uint64_t dims[GUFO_MAX_DIMS];
    uint32_t count = 0;
    char *end;

    for (; count < GUFO_MAX_DIMS && *text != '\0'; text = end) {
        dims[count] = strtoull(text, &end, 10);
        if (end == text)
            break;
        count++;
    }
    return gufo_document_add_tensor(d, name, gufo_element_type_by_id(GUFO_TYPE_F16), count, dims,
                                    NULL);
}

/* What cannot be set is skipped. */
static void add_line(gufo_document *d, char *line)
{
    char *name = line[0] == ':' ? line + 2 : line, *value = strchr(name, ' ');

    if (value == NULL)
        return;
    *value++ = '\0';
    (void)(line[0] == ':' ? add_tensor(d, name, value) : set_value(d, name, value));
}

static gufo_document *read_header(const char *text, size_t size)
{
    gufo_document *d = gufo_document_new(NULL, NULL);

    must(d != NULL, "the machine has enough memory");
    for (const char *at = text, *end = text + size; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((stop != NULL ? stop : end) - at);
        char line[LINE];

        if (len > 2 && len < sizeof line && memchr(at, '\0', len) == NULL) {
            memcpy(line, at, len);
            line[len] = '\0';
            add_line(d, line);
        }
        at += len + 1;
    }
    return d;
}

/* ---- the options ---------------------------------------------------------------------------- */

static gufo_estimate_options read_options(const char *text)
{
    uint64_t n[OPTIONS] = {0};
    char *end;

    for (size_t i = 0; i < OPTIONS; i++, text = end)
        n[i] = strtoull(text, &end, 10);
    return (gufo_estimate_options){.n_ctx = n[0],
                                   .n_batch = n[1],
                                   .n_ubatch = n[2],
                                   .n_seq = n[3],
                                   .n_outputs = n[4],
                                   .n_rs_seq = n[5],
                                   .type_k = gufo_element_type_by_id((uint32_t)n[6]),
                                   .type_v = gufo_element_type_by_id((uint32_t)n[7]),
                                   .flash_attention = (gufo_flash_attention)(n[8] % 3),
                                   .kv_unified = n[8] & 4,
                                   .swa_full = n[8] & 8,
                                   .embeddings = n[8] & 16,
                                   .no_kv_offload = n[8] & 32,
                                   .has_gpu_layers = n[8] & 64,
                                   .n_devices = (uint32_t)n[9],
                                   .n_gpu_layers = n[10]};
}

/* ---- promises ------------------------------------------------------------------------------- */

static void check_estimate(const gufo_estimate *e, const gufo_estimate_options *o)
{
    must(e->device_count == 1 + o->n_devices, "the host and all devices are there");
    must(e->n_ctx % 256 == 0 && e->n_ctx == e->n_ctx_seq * e->n_streams, "contexts are rounded");
    for (uint32_t i = 0; i < e->device_count; i++) {
        const gufo_estimate_device *d = &e->devices[i];

        must(d->context_bytes == d->kv_bytes + d->state_bytes, "the context is cache and state");
        must(gufo_estimate_most_bytes(d) >= d->model_bytes, "sums do not wrap");
        must(d->compute_quality != GUFO_ESTIMATE_NOT_KNOWN || d->compute_bytes == 0, "no guess");
    }
}

static void check_fit(const gufo_estimator *estimator, gufo_estimate_options o, uint64_t limit)
{
    uint64_t limits[GUFO_ESTIMATE_MAX_DEVICES];
    gufo_estimate e;

    for (size_t i = 0; i < GUFO_ESTIMATE_MAX_DEVICES; i++)
        limits[i] = limit;
    if (gufo_estimator_fit(estimator,
                           &(gufo_estimate_limits){.host_bytes = limit, .device_bytes = limits}, &o,
                           &e, NULL) != GUFO_OK)
        return;
    check_estimate(&e, &o);
    for (uint32_t i = 0; i < e.device_count; i++)
        must(gufo_estimate_most_bytes(&e.devices[i]) <= limit, "what is found to fit does");
}

static void try_model(const gufo_model *model, const gufo_estimate_options *o,
                      const gufo_allocator *allocator)
{
    const gufo_estimator_options options = {.allocator = allocator};
    gufo_error error = {0};
    gufo_estimator *estimator = gufo_estimator_new(model, &options, &error);
    gufo_estimator *draft = gufo_estimator_new(model, &options, NULL);
    gufo_estimate e, with;

    must((estimator == NULL) == (error.code != GUFO_OK), "a failure says so");
    must(estimator != NULL || error.message[0] != '\0', "a failure has a sentence");
    if (estimator != NULL && gufo_estimator_run(estimator, o, &e, NULL) == GUFO_OK) {
        check_estimate(&e, o);
        check_fit(estimator, *o, gufo_estimate_most_bytes(&e.devices[0]));
        (void)!gufo_estimator_add_adapter(estimator, model, NULL);
        (void)!gufo_estimator_add_projector(estimator, model, NULL);
        must(gufo_estimator_add_draft(estimator, draft, NULL) == GUFO_OK, "a draft is taken");
        if (gufo_estimator_run(estimator, o, &with, NULL) == GUFO_OK)
            must(gufo_estimate_most_bytes(&with.devices[0]) >=
                     gufo_estimate_most_bytes(&e.devices[0]),
                 "a draft takes memory");
    }
    gufo_estimator_free(estimator);
    gufo_estimator_free(draft);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *end = size > 0 ? memchr(text, '\n', size) : NULL;
    size_t first = end != NULL ? (size_t)(end - text) : 0;
    char line[LINE] = "";
    const gufo_open_options flags = {.flags = GUFO_OPEN_METADATA_ONLY};
    counter count = {0};
    gufo_allocator allocator = counting_allocator(&count);
    gufo_estimate_options o;
    gufo_document *d;
    const void *bytes;
    size_t header;

    if (first == 0 || first >= sizeof line)
        return 0;
    memcpy(line, text, first);
    o = read_options(line);
    d = read_header(end + 1, size - first - 1);
    if (gufo_document_layout(d, NULL, NULL, NULL) == GUFO_OK &&
        gufo_document_header(d, &bytes, &header, NULL) == GUFO_OK) {
        gufo_model *model = gufo_model_open_memory(bytes, header, &flags, NULL);

        if (model != NULL)
            try_model(model, &o, &allocator);
        gufo_model_free(model);
    }
    gufo_document_free(d);
    must(count.held == 0 && count.blocks == 0, "everything is freed");
    return 0;
}
