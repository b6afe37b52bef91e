/* What tokens cover, and the steps that make them. */
#include "text/tokenizers/trace.h"

static gufo_span in_whole_text(const tokenizing *t, gufo_span from)
{
    return (gufo_span){t->begin + from.begin, t->begin + from.end};
}

void trace_step(const tokenizing *t, gufo_tokenize_event step, gufo_span from)
{
    if (t->watch == NULL)
        return;
    step.span = in_whole_text(t, from);
    t->watch(t->watch_context, &step);
}

bool trace_token(const tokenizing *t, gufo_ids *out, gufo_tokenize_event step, gufo_span from)
{
    if (!ids_add(out, step.id))
        return false;
    if (t->spans) {
        if (!ids_reserve_spans(out))
            return false;
        out->spans[out->count - 1] = in_whole_text(t, from);
    }
    trace_step(t, step, from);
    return true;
}
