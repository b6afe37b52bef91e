/* From a view to a piece for the engine: rows, segments, a transpose. */
#ifndef IMPORT_ARCHITECTURES_PLAN_PIECES_H
#define IMPORT_ARCHITECTURES_PLAN_PIECES_H

#include "import/architectures/plan/tensors.h"
#include "import/architectures/plan/views.h"

/* Sets dimensions, type and piece of a tensor; the piece is freed with piece_release.  What it reads
 * through is the plan's. */
gufo_status piece_of_view(planned_tensor *t, const view *v, tensor_plan *plan, const checkpoint *c,
                          gufo_error *error);
/* Forgets a piece that has the numbers of one tensor of the checkpoint in their order: planned_piece
 * makes it again. */
void piece_forget_plain(planned_tensor *t, const view *v, const tensor_plan *plan);
void piece_release(planned_tensor *t, const gufo_allocator *a);
/* Puts the piece of a job that outlives the plan, and was made of this one, in its place. */
void piece_lend(planned_tensor *t, piece *of_job, const gufo_allocator *a);

#endif
