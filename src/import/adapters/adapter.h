/* An adapter of PEFT: pairs of small matrices that are added to those of a model, its base.
 *
 *     adapter_config.json                    settings.c
 *     adapter_model.safetensors              pairs.c
 *         base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight   [rank, in]
 *         base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight   [out, rank]
 *
 * Each pair is a product (architectures/plan/plan.h) with the name of the weight that it is for, so that the
 * rules of the base's architecture apply to it as to that weight: what comes out is planned as two
 * tensors again. */
#ifndef IMPORT_ADAPTERS_ADAPTER_H
#define IMPORT_ADAPTERS_ADAPTER_H

#include <jansson.h>

#include "import/architectures/configuration/config.h"
#include "import/architectures/plan/plan.h"

/* rank_pattern or alpha_pattern: its keys are names of modules, or their ends; the first that fits
 * counts. */
typedef struct adapter_pattern {
    json_t *places; /* of names among the keys */
    uint64_t
        expressions_at; /* where expressions begin, which are not read; UINT64_MAX: none are there */
} adapter_pattern;

typedef struct adapter {
    const gufo_allocator *allocator;
    json_t *settings; /* adapter_config.json */
    char *path;       /* of it */
    adapter_pattern ranks, alphas;
    double alpha;  /* lora_alpha */
    double stored; /* what adapter.lora.alpha is: readers divide it by the rank */
    uint64_t rank; /* where no pattern says another */
    bool has_root; /* use_rslora: alpha is divided by the root of the rank */
    gufo_str base; /* base_model_name_or_path; "": it has none */
    /* What the rules see: products, and tensors that are whole; the files are those of the adapter. */
    checkpoint seen;
    products products;
    uint64_t parameters; /* of the weights that have pairs */
    uint64_t skipped;    /* weights of the base that are there, too */
} adapter;

/* ---- settings.c ----------------------------------------------------------------------------- */

/* Reads adapter_config.json in a folder.  The adapter is closed with adapter_close, also after a
 * failure.
 *   GUFO_E_NOT_FOUND  no such file
 *   GUFO_E_TYPE       an adapter of another kind: DoRA, prompts ...
 *   GUFO_E_MALFORMED  a rank or an alpha that makes no sense */
gufo_status adapter_open(adapter *a, const source_folder *folder, import_bounds *bounds,
                         const gufo_allocator *allocator, gufo_error *error);
void adapter_close(adapter *a);
/* The same of what the file says, which the adapter owns then; its allocator is set, and nothing else. */
gufo_status adapter_take(adapter *a, json_t *settings, gufo_error *error);

/* What the numbers of a pair are multiplied by so that readers, who know only the stored alpha, get the
 * scale that the settings give to a module with this rank; its rank is checked. */
gufo_status adapter_scale(const adapter *a, gufo_str module, uint64_t rank, double *scale,
                          gufo_error *error);

/* ---- pairs.c -------------------------------------------------------------------------------- */

/* Finds the pairs among the tensors of a checkpoint, for a base of this architecture. */
gufo_status adapter_pair(adapter *a, const checkpoint *c, const char *architecture,
                         gufo_error *error);
/* The same for names M.weight.loraA and .loraB, with matrices [in, rank] and [out, rank]: files before
 * GGUF.  Alpha and rank are set, from which `stored` follows. */
gufo_status adapter_pair_legacy(adapter *a, const checkpoint *c, gufo_error *error);

#endif
