/* What the steps of a pre-tokenizer share. */
#include "text/pipeline/steps/cut_step.h"

#include "base/memory.h"

void text_pieces_free(text_pieces *p)
{
    mem_free(p->text.allocator, p->list);
    work_text_free(&p->text);
    p->list = NULL;
    p->count = p->room = 0;
}

bool text_pieces_add(text_pieces *p, size_t begin, size_t end)
{
    text_piece *list;

    if (begin == end)
        return true;
    if (p->count == p->room) {
        list = mem_grow(p->text.allocator, p->list, p->count, &p->room, sizeof *list);
        if (list == NULL)
            return false;
        p->list = list;
    }
    p->list[p->count++] = (text_piece){(uint32_t)begin, (uint32_t)end};
    return true;
}

gufo_status cut_steps_add(cut_steps *steps, step_reading *r, const cut_kind *kind, void *step)
{
    struct cut_step *list =
        mem_grow(steps->allocator, steps->list, steps->count, &steps->room, sizeof *list);

    if (list == NULL) {
        if (step != NULL)
            kind->free(step, steps->allocator);
        return step_no_memory(r);
    }
    steps->list = list;
    list[steps->count++] = (struct cut_step){kind, step};
    return r->status;
}
