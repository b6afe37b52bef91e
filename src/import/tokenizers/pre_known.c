/* The known pre-tokenizers, run on texts that show their differences. */
#include "import/tokenizers/pre_known.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "text/vocabulary/escapes.h"

static const struct {
    const char *kind, *text; /* with escapes */
} table[] = {
#define ROW(kind, text) {kind, text},
#include "registry/pretokenizer_probes.inc"
#undef ROW
};

enum { PROBES = sizeof table / sizeof *table };

/* ---- texts ---------------------------------------------------------------------------------- */

static bool unescape(probe_list *probes)
{
    size_t begins[PROBES + 1];

    probes->bytes.allocator = probes->allocator;
    for (size_t i = 0; i < PROBES; i++) {
        begins[i] = probes->bytes.len;
        if (!add_unescaped(gufo_str_of(table[i].text), &probes->bytes))
            return false;
    }
    begins[PROBES] = probes->bytes.len;
    for (size_t i = 0; i < PROBES; i++)
        probes->texts[i] = (gufo_str){probes->bytes.data + begins[i], begins[i + 1] - begins[i]};
    return true;
}

gufo_status probe_list_make(probe_list *probes, pre_cutter *cutter, const gufo_allocator *allocator,
                            gufo_error *error)
{
    gufo_status status = GUFO_OK;

    *probes = (probe_list){.allocator = allocator, .count = PROBES};
    probes->texts = mem_array(allocator, PROBES, sizeof *probes->texts);
    probes->cuts = mem_array(allocator, PROBES, sizeof *probes->cuts);
    if (probes->texts == NULL || probes->cuts == NULL || !unescape(probes))
        return fail_memory(error);
    for (size_t i = 0; status == GUFO_OK && i < PROBES; i++)
        status = pre_cutter_run(cutter, probes->texts[i], &probes->cuts[i], error);
    return status;
}

void probe_list_free(probe_list *probes)
{
    gufo_text_free(&probes->bytes);
    if (probes->allocator == NULL)
        return;
    mem_free(probes->allocator, probes->texts);
    mem_free(probes->allocator, probes->cuts);
}

/* ---- known cuts ----------------------------------------------------------------------------- */

typedef struct cutting {
    cut_set *cuts;
    size_t at;
} cutting;

static gufo_status take_piece(void *context, gufo_str text, gufo_error *error)
{
    cutting *c = context;

    (void)error;
    c->at += text.len;
    c->cuts->at[c->at] = true;
    return GUFO_OK;
}

static gufo_status cut_text(pre_scratch *scratch, gufo_str text, cut_set *cuts, gufo_error *error)
{
    cutting c = {cuts, 0};
    gufo_status status;

    memset(cuts, 0, sizeof *cuts);
    status = pretokenizer_run(scratch, text, take_piece, &c, error);
    cuts->at[text.len] = false;
    return status;
}

static bool differ(const byte_pairs *pairs, gufo_str text, const cut_set *a, const cut_set *b)
{
    for (size_t at = 1; at < text.len; at++)
        if (a->at[at] != b->at[at] && cut_is_material(pairs, text, at))
            return true;
    return false;
}

static gufo_status compare(const probe_list *probes, const byte_pairs *pairs, pre_scratch *scratch,
                           size_t most, bool *differs, size_t *count, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    *count = 0;
    for (size_t i = 0; status == GUFO_OK && i < probes->count && *count < most; i++) {
        cut_set cuts;
        bool differing;

        status = cut_text(scratch, probes->texts[i], &cuts, error);
        differing = status == GUFO_OK && differ(pairs, probes->texts[i], &probes->cuts[i], &cuts);
        *count += differing;
        if (differs != NULL)
            differs[i] = differing;
    }
    return status;
}

gufo_status known_compare(const probe_list *probes, const byte_pairs *pairs, const char *shape,
                          size_t most, bool *differs, size_t *count, gufo_error *error)
{
    pretokenizer *known = pretokenizer_new(shape, probes->allocator, error);
    pre_scratch *scratch = known != NULL ? pre_scratch_new(known, probes->allocator, error) : NULL;
    gufo_status status = scratch != NULL
                             ? compare(probes, pairs, scratch, most, differs, count, error)
                             : GUFO_E_MEMORY;

    pre_scratch_free(scratch);
    pretokenizer_free(known);
    return status;
}

gufo_status known_cut(const probe_list *probes, const char *shape, gufo_str text, cut_set *cuts,
                      gufo_error *error)
{
    pretokenizer *known = pretokenizer_new(shape, probes->allocator, error);
    pre_scratch *scratch = known != NULL ? pre_scratch_new(known, probes->allocator, error) : NULL;
    gufo_status status = scratch != NULL ? cut_text(scratch, text, cuts, error) : GUFO_E_MEMORY;

    pre_scratch_free(scratch);
    pretokenizer_free(known);
    return status;
}
