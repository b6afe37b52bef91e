/* Findings, as `gufo validate` has them.
 *
 * Opening finds some; the rest is checked when somebody asks.  The page has no reader of tokenizer.json, which needs
 * a library that is not here. */
#include "module.h"

#include "cli/validate/advice.h"
#include "gufo/template.h"

#include <stdlib.h>

struct findings {
    gufo_finding_list *list;
    uint64_t counts[GUFO_ERROR + 1]; /* of all, also those that are not kept */
    bool complete;
};

/* ---- keeping -------------------------------------------------------------------------------- */

findings *findings_new(gufo_error *error)
{
    findings *f = calloc(1, sizeof(findings));

    if (f == NULL)
        (void)viewer_refuse(error, GUFO_E_MEMORY, "no memory for findings");
    else if ((f->list = gufo_finding_list_new(NULL, error)) == NULL) {
        free(f);
        f = NULL;
    }
    return f;
}

void findings_free(findings *f)
{
    if (f == NULL)
        return;
    gufo_finding_list_free(f->list);
    free(f);
}

void findings_add(void *context, const gufo_finding *finding)
{
    findings *f = context;

    f->counts[finding->rule->severity]++;
    gufo_finding_list_add(f->list, finding);
}

const gufo_finding_list *findings_list(const findings *f)
{
    return f->list;
}

bool findings_are_complete(const findings *f)
{
    return f->complete;
}

/* ---- checking ------------------------------------------------------------------------------- */

static bool is_whole(const gufo_model *model)
{
    for (size_t i = 0; i < gufo_model_shard_count(model); i++) {
        const gufo_model *file = gufo_model_shard(model, i);
        gufo_facts facts = gufo_model_facts(file);

        if (gufo_model_entry_count(file) != facts.claimed_metadata ||
            gufo_model_tensor_count(file) != facts.claimed_tensors)
            return false;
    }
    return true;
}

/* A file of a set that is looked at alone. */
static bool is_part(const gufo_model *model)
{
    uint64_t count;

    return gufo_model_shard_count(model) == 1 &&
           gufo_model_get_u64(model, "split.count", &count, NULL) == GUFO_OK && count > 1;
}

gufo_status findings_check(viewer_model *m, gufo_error *error)
{
    gufo_check_options options = {
        .path = m->files[0].name, .single = is_part(m->model), .judge = gufo_template_lint};
    gufo_status status;

    if (m->findings->complete)
        return GUFO_OK;
    m->findings->complete = true;
    status = gufo_model_check(m->model, findings_add, m->findings, error);
    if (status == GUFO_OK && is_whole(m->model))
        status = gufo_model_check_content(m->model, &options, findings_add, m->findings, error);
    return status;
}

/* ---- advice --------------------------------------------------------------------------------- */

/* The page knows the name of a file, and nothing of where it is. */
static advice_file file_of(const viewer_model *m, const gufo_finding *finding)
{
    bool is_set = m->file_count > 1;

    return (advice_file){.path = m->files[is_set ? finding->shard : 0].name,
                         .is_usable = gufo_model_damage(m->model) == NULL,
                         .is_shard = is_set || is_part(m->model),
                         .is_writable = true};
}

/* False without memory. */
static bool put_answer(answer *a,
                       void (*put)(FILE *out, const advice_file *file, const gufo_finding *finding),
                       const advice_file *file, const gufo_finding *finding)
{
    if (!answer_begin(a))
        return false;
    put(a->out, file, finding);
    return answer_end(a);
}

bool findings_advise(const viewer_model *m, const gufo_finding *finding, answer *words,
                     answer *command)
{
    const advice_file file = file_of(m, finding);

    return put_answer(words, advice_put_words, &file, finding) &&
           put_answer(command, advice_put_command, &file, finding);
}
