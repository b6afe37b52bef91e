/* Why no known pre-tokenizer cuts texts as a tokenizer.json says: the nearest ones, which step is
 * another than the nearest one's, and texts that show it. */
#include "import/tokenizers/pre_reasons.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/advise.h"
#include "import/tokenizers/pre.h"
#include "text/formats/pre_steps.h"

enum { NEAREST = 3, EXAMPLES = 3, SHOWN = 12, LONGEST_STEP = 120, SENTENCE = 400 };

/* ---- names ---------------------------------------------------------------------------------- */

/* The nearest shapes, each by its first name, the nearest first. */
static size_t find_nearest(const known_names *known, const known_name *nearest[NEAREST])
{
    size_t count = 0;

    for (size_t i = 0; i < known->count; i++) {
        const known_name *name = &known->list[i];
        size_t at = 0;
        bool met = false;

        for (size_t k = 0; k < count; k++)
            met |= strcmp(nearest[k]->rules->shape, name->rules->shape) == 0;
        while (at < count && nearest[at]->differences <= name->differences)
            at++;
        if (met || at == NEAREST)
            continue;
        count += count < NEAREST;
        for (size_t k = count - 1; k > at; k--)
            nearest[k] = nearest[k - 1];
        nearest[at] = name;
    }
    return count;
}

static void write_nearest(const known_name *const nearest[NEAREST], size_t count, size_t probes,
                          char out[SENTENCE])
{
    size_t len = 0;

    out[0] = '\0';
    for (size_t i = 0; i < count && len < SENTENCE; i++)
        len += (size_t)snprintf(out + len, SENTENCE - len, "%s%s (%zu of %s texts differ)",
                                i > 0 ? ", " : "", nearest[i]->rules->shape,
                                nearest[i]->differences, GROUPED(probes));
}

/* ---- steps ---------------------------------------------------------------------------------- */

static gufo_str cut_step_text(gufo_str step)
{
    return (gufo_str){step.data, step.len < LONGEST_STEP ? step.len : LONGEST_STEP};
}

/* Compares the steps, a line each, with those of the nearest name. */
static void write_step(gufo_str steps, const char *nearest, char out[SENTENCE])
{
    const pre_step *row = pre_steps_of(nearest);
    const char *at = steps.data;
    size_t number = 1;

    out[0] = '\0';
    if (row == NULL || steps.len == 0)
        return;
    for (;; number++) {
        const char *end = memchr(at, '\n', (size_t)(steps.data + steps.len - at));
        gufo_str said = {at, end != NULL ? (size_t)(end - at) : 0},
                 known = row != NULL ? gufo_str_of(row->step) : (gufo_str){"", 0};

        if (!gufo_str_equal(said, known)) {
            (void)snprintf(out, SENTENCE, "; step %zu is %.*s, that of %s is %.*s", number,
                           (int)cut_step_text(said).len, said.data, nearest,
                           (int)cut_step_text(known).len, known.data);
            return;
        }
        if (end == NULL || row == NULL)
            return;
        at = end + 1;
        row = pre_step_is_last(row) ? NULL : row + 1;
    }
}

/* ---- examples ------------------------------------------------------------------------------- */

/* A text around a place, with bars where it is cut. */
static void write_cuts(gufo_str text, size_t middle, const cut_set *cuts, char out[SENTENCE])
{
    size_t begin = middle > SHOWN ? middle - SHOWN : 0, len = 0;

    while (begin > 0 && ((uint8_t)text.data[begin] & 0xC0) == 0x80)
        begin--;
    for (size_t at = begin; at < text.len && len + 2 < SENTENCE; at++) {
        if (at >= middle + SHOWN && ((uint8_t)text.data[at] & 0xC0) != 0x80)
            break;
        if (at > begin && cuts->at[at])
            out[len++] = '|';
        out[len++] = text.data[at];
    }
    out[len] = '\0';
}

static size_t first_difference(const byte_pairs *pairs, gufo_str text, const cut_set *a,
                               const cut_set *b)
{
    size_t at = 1;

    while (at < text.len && (a->at[at] == b->at[at] || !cut_is_material(pairs, text, at)))
        at++;
    return at;
}

static gufo_status write_examples(const probe_list *probes, const byte_pairs *pairs,
                                  const char *shape, const bool *differs, char *out, size_t room,
                                  gufo_error *error)
{
    gufo_status status = GUFO_OK;
    size_t shown = 0, len = 0;

    out[0] = '\0';
    for (size_t i = 0; status == GUFO_OK && i < probes->count && shown < EXAMPLES && len < room;
         i++) {
        char said[SENTENCE], known_text[SENTENCE];
        cut_set known;
        size_t at;

        if (!differs[i])
            continue;
        status = known_cut(probes, shape, probes->texts[i], &known, error);
        if (status != GUFO_OK)
            break;
        at = first_difference(pairs, probes->texts[i], &probes->cuts[i], &known);
        write_cuts(probes->texts[i], at, &probes->cuts[i], said);
        write_cuts(probes->texts[i], at, &known, known_text);
        len += (size_t)snprintf(out + len, room - len, "%s %s, not %s", shown++ > 0 ? ";" : "",
                                QUOTED(gufo_str_of(said)), QUOTED(gufo_str_of(known_text)));
    }
    return status;
}

/* ---- all ------------------------------------------------------------------------------------ */

gufo_status pre_reasons_fail(tokenizer_reading *r, const probe_list *probes,
                             const byte_pairs *pairs, const known_names *known)
{
    const known_name *nearest[NEAREST];
    size_t count = find_nearest(known, nearest), ignored;
    const char *shape = nearest[0]->rules->shape;
    char names[SENTENCE], step[SENTENCE], examples[GUFO_MESSAGE_SIZE];
    buffer steps = {.allocator = r->allocator};
    bool *differs = mem_array(r->allocator, probes->count, sizeof *differs);
    gufo_status status = differs == NULL ? fail_memory(r->error) : pre_spell(r, &steps);

    if (status == GUFO_OK)
        status = known_compare(probes, pairs, shape, SIZE_MAX, differs, &ignored, r->error);
    if (status == GUFO_OK)
        status = write_examples(probes, pairs, shape, differs, examples, sizeof examples, r->error);
    if (status == GUFO_OK) {
        write_nearest(nearest, count, probes->count, names);
        write_step((gufo_str){(const char *)steps.data, steps.len}, shape, step);
        status = reading_fail(r, GUFO_E_TYPE, "tokenizer.json",
                              "no name of tokenizer.ggml.pre cuts texts as the pre-tokenizer does. "
                              "Nearest: %s%s. It cuts%s",
                              names, step, examples);
        status = import_advise(status, GUFO_ADVICE_PRE, r->error);
    }
    buffer_free(&steps);
    mem_free(r->allocator, differs);
    return status;
}
