/* The memory of the machine that reads pickles: its stack, its marks, its memo. */
#ifndef IMPORT_CONTAINERS_PICKLE_VALUES_H
#define IMPORT_CONTAINERS_PICKLE_VALUES_H

#include "import/containers/pickle.h"

gufo_status pickle_push(pickle *p, pickle_value value);
/* Takes the top of the stack, above the last mark. */
gufo_status pickle_pop(pickle *p, pickle_value *out);
/* The value `below` the top, which stays. */
gufo_status pickle_peek(pickle *p, uint64_t below, pickle_value *out);

gufo_status pickle_mark(pickle *p);
/* Removes the last mark: *first is the depth where it was. */
gufo_status pickle_unmark(pickle *p, uint64_t *first);

gufo_status pickle_memo_put(pickle *p, uint64_t index, pickle_value value);
gufo_status pickle_memo_get(pickle *p, uint64_t index, pickle_value *out);

/* An object with the values of the stack from `first` on, which it takes. */
gufo_status pickle_gather(pickle *p, pickle_kind kind, uint64_t first, pickle_value *out);

/* Forgets stack, marks and memo, for another pickle. */
void pickle_clear(pickle *p);

#endif
